//! Judges the options against each other and against the function.

use super::arguments::{Rebind, check_borrow, check_names, rebind};
use super::function::Function;
use super::options::{Options, Written};
use super::value::{Known, Value};
use super::words::{Kind, Owner};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::time::Duration;
use syn::{Error, Expr};

/// Options and function that fit each other.
pub(super) struct Checked {
    pub(super) function: Function,
    /// Path of the crate.
    pub(super) runtime: TokenStream,
    pub(super) budget: Budget,
    pub(super) policy: Policy,
    pub(super) classify: Option<Expr>,
    pub(super) classify_ok: Option<Expr>,
    pub(super) limits: Limits,
    /// Whether what a loop inside gave up is tried again.
    pub(super) retries_nested: bool,
    pub(super) timer: Option<Expr>,
    pub(super) on_retry: Option<Expr>,
    pub(super) on_stop: Option<Expr>,
    pub(super) attempt: Option<Ident>,
    pub(super) once: Vec<(Ident, Expr)>,
    pub(super) rebinds: Vec<Rebind>,
}

/// Where the budget comes from.
pub(super) enum Budget {
    /// A path to a `static`.
    Static(Expr),
    /// Anything else that gives one.
    Expression(Expr),
    /// A `static` of the function's own.
    Own(Kind, Vec<Written<Value>>),
}

/// How long an attempt and the call may take.
pub(super) struct Limits {
    pub(super) attempt_timeout: Option<Value>,
    pub(super) deadline: Option<Value>,
    /// What makes the function's error of it.
    pub(super) elapsed: Option<Expr>,
}

impl Limits {
    pub(super) fn any(&self) -> bool {
        self.attempt_timeout.is_some() || self.deadline.is_some()
    }
}

pub(super) struct Policy {
    pub(super) base: Option<Expr>,
    pub(super) settings: Vec<Written<Value>>,
}

impl Policy {
    /// Whether a denied call may pause, as far as one can tell now.
    pub(super) fn may_pause(&self) -> bool {
        match self.settings.iter().find(|setting| setting.name == "when_empty") {
            Some(when_empty) => !when_empty.value.is_of_crate("WhenEmpty::Fail"),
            None => self.base.is_some(),
        }
    }

    /// Whether the whole policy is known to the compiler.
    pub(super) fn is_constant(&self) -> bool {
        self.base.is_none() && self.settings.iter().all(|setting| setting.value.known != Known::AtRunTime)
    }
}

pub(super) fn judge(mut options: Options, mut function: Function) -> Result<Checked, Vec<Error>> {
    let mut problems = Vec::new();
    if let Some(renamed) = function.renamed_self() {
        options.rename_self(&renamed);
    }
    let mentioned = options.mentioned();
    let Options { settings, budget, kind, policy, classify, classify_ok, attempt_timeout, deadline, elapsed, .. } =
        options;
    let Options { nested, timer, on_retry, on_stop, attempt, clone, keep, once, runtime, .. } = options;
    let (of_policy, of_kind): (Vec<_>, Vec<_>) =
        settings.into_iter().partition(|(owner, _)| matches!(owner, Owner::Policy));
    let policy = Policy {
        base: policy.map(|written| written.value),
        settings: of_policy.into_iter().map(|(_, setting)| setting).collect(),
    };
    check_delays(&policy, &mut problems);
    check_expressions(&policy, [&classify, &classify_ok, &on_retry, &on_stop, &elapsed], &mut problems);
    check_limits(attempt_timeout.as_ref(), deadline.as_ref(), elapsed.as_ref(), &mut problems);
    for (name, what) in
        once.iter().map(|(name, _)| (name, "once")).chain(attempt.iter().map(|it| (&it.value, "attempt")))
    {
        if function.argument(name) && !function.is_block {
            problems
                .push(Error::new_spanned(name, format!("`{name}` is an argument already: `{what}` binds a new name")));
        }
    }
    let budget = choose_budget(budget, kind, of_kind, &function, &mut problems);
    check_names(&clone, &keep, &function, &mut problems);
    check_borrow(&function, &mut problems);
    let rebinds = rebind(&mut function, &clone, &keep, &|name| mentioned.contains(&name.to_string()), &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Checked {
        function,
        runtime: runtime.map_or_else(|| quote!(::retry_budget), ToTokens::into_token_stream),
        budget,
        policy,
        classify: classify.map(|written| written.value),
        classify_ok: classify_ok.map(|written| written.value),
        limits: Limits {
            attempt_timeout: attempt_timeout.map(|written| written.value),
            deadline: deadline.map(|written| written.value),
            elapsed: elapsed.map(|written| written.value),
        },
        retries_nested: nested.is_some_and(|written| written.value.is_of_crate("retry")),
        timer: timer.map(|written| written.value),
        on_retry: on_retry.map(|written| written.value),
        on_stop: on_stop.map(|written| written.value),
        attempt: attempt.map(|written| written.value),
        once,
        rebinds,
    })
}

fn choose_budget(
    budget: Option<Written<Expr>>,
    kind: Option<Written<Kind>>,
    settings: Vec<(Owner, Written<Value>)>,
    function: &Function,
    problems: &mut Vec<Error>,
) -> Budget {
    if let (Some(budget), Some(kind)) = (&budget, &kind) {
        for name in [&budget.name, &kind.name] {
            problems.push(Error::new_spanned(
                name,
                "`budget` shares a budget, `kind` makes one of the function's own: keep one of the two",
            ));
        }
    }
    let chosen = kind.map_or(Kind::Token, |kind| kind.value);
    for (owner, Written { name, .. }) in &settings {
        let Owner::Kind(owner) = *owner else { continue };
        let owners = Kind::with(name);
        if budget.is_some() {
            let builder = builder(owner);
            let such_as = if owners.len() > 1 { ", such as" } else { ":" };
            problems.push(Error::new_spanned(
                name,
                format!("`{name}` belongs where the budget is declared{such_as} `{builder}::builder(\"…\").{name}(…).build()`"),
            ));
        } else if owner != chosen {
            let owners: Vec<_> = owners.iter().map(|kind| format!("`kind = \"{}\"`", kind.name())).collect();
            let (owners, chosen) = (owners.join(" or "), chosen.name());
            problems.push(Error::new_spanned(
                name,
                format!("`{name}` is a setting of {owners}, and this budget is of kind \"{chosen}\""),
            ));
        }
    }
    match budget {
        None => Budget::Own(chosen, settings.into_iter().map(|(_, setting)| setting).collect()),
        Some(Written { value, .. }) => match &value {
            Expr::Lit(_) => {
                problems.push(Error::new_spanned(
                    &value,
                    "a budget is shared by its path: declare `static PARTNER: TokenBudget = \
                     TokenBudget::builder(\"partner\").build();` and write `budget = PARTNER`",
                ));
                Budget::Expression(value)
            }
            made if builds(made.to_token_stream()) => {
                problems.push(Error::new_spanned(
                    &value,
                    "this would make a new, full budget at every call, which limits nothing: declare it once, `static PARTNER: \
                     TokenBudget = …;`, and write `budget = PARTNER`",
                ));
                Budget::Expression(value)
            }
            Expr::Path(path) if !path.path.get_ident().is_some_and(|name| function.argument(name)) => {
                Budget::Static(value)
            }
            _ => Budget::Expression(value),
        },
    }
}

/// Whether an expression calls a builder.
pub(super) fn builds(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "builder" || word == "build" || word == "try_build",
        TokenTree::Group(group) => builds(group.stream()),
        _ => false,
    })
}

pub(super) fn builder(kind: Kind) -> &'static str {
    match kind {
        Kind::Token => "TokenBudget",
        Kind::Ratio => "RatioBudget",
        Kind::Credit => "CreditBudget",
        Kind::Concurrency => "ConcurrencyBudget",
        Kind::Grpc => "GrpcBudget",
    }
}

/// `base_delay` is at most `max_delay`. Said at both places; where one isn't given, its default counts.
fn check_delays(policy: &Policy, problems: &mut Vec<Error>) {
    if policy.base.is_some() {
        return; // what a policy brings is only known at run time, and brought into range there
    }
    let given = |name: &str| policy.settings.iter().find(|setting| setting.name == name);
    let literal = |setting: Option<&Written<Value>>, default| match setting {
        Some(setting) => setting.value.literal_duration(),
        None => Some(default),
    };
    let (base, max) = (given("base_delay"), given("max_delay"));
    let base_delay = literal(base, Duration::from_millis(50));
    let max_delay = literal(max, Duration::from_secs(2));
    if let (Some(base_delay), Some(max_delay)) = (base_delay, max_delay)
        && base_delay > max_delay
    {
        let message = match (base, max) {
            (Some(_), Some(_)) => "`base_delay` is above `max_delay`".to_owned(),
            (Some(_), None) => {
                "`base_delay` is above `max_delay`, which is \"2s\" unless given: give a longer `max_delay`".to_owned()
            }
            _ => "`max_delay` is below `base_delay`, which is \"50ms\" unless given: give a shorter `base_delay`"
                .to_owned(),
        };
        problems.extend([base, max].into_iter().flatten().map(|setting| Error::new(setting.value.span, &message)));
    }
    if let (Some(throttling), Some(max_delay)) = (given("throttling_base_delay"), max_delay)
        && throttling.value.literal_duration().is_some_and(|delay| delay > max_delay)
    {
        problems.push(Error::new(
            throttling.value.span,
            "`throttling_base_delay` is above `max_delay` (\"2s\" unless given), which caps it: give a longer `max_delay`",
        ));
    }
}

/// What takes a function or a policy doesn't take a literal.
fn check_expressions(policy: &Policy, functions: [&Option<Written<Expr>>; 5], problems: &mut Vec<Error>) {
    if let Some(base @ Expr::Lit(_)) = &policy.base {
        problems.push(Error::new_spanned(base, "`policy` takes a `RetryPolicy`, such as `RetryPolicy::BACKGROUND`"));
    }
    for Written { name, value } in functions.into_iter().flatten() {
        match value {
            Expr::Lit(_) => {
                problems.push(Error::new_spanned(value, format!("`{name}` takes a function or a closure")));
            }
            Expr::Closure(closure) if closure.asyncness.is_some() => problems.push(Error::new_spanned(
                closure.asyncness,
                format!("`{name}` is called between two attempts and can't be async: take the `async` away"),
            )),
            _ => {}
        }
    }
}

fn check_limits(
    attempt_timeout: Option<&Written<Value>>,
    deadline: Option<&Written<Value>>,
    elapsed: Option<&Written<Expr>>,
    problems: &mut Vec<Error>,
) {
    if let (Some(elapsed), None, None) = (elapsed, attempt_timeout, deadline) {
        problems.push(Error::new_spanned(
            &elapsed.name,
            "`elapsed` makes the error of an attempt that was cut off: give `attempt_timeout` or `deadline` too",
        ));
    }
    let literal = |written: Option<&Written<Value>>| Some((written?.value.span, written?.value.literal_duration()?));
    if let (Some((timeout_at, timeout)), Some((deadline_at, deadline))) = (literal(attempt_timeout), literal(deadline))
        && timeout >= deadline
    {
        for place in [timeout_at, deadline_at] {
            problems.push(Error::new(
                place,
                "`deadline` is for the whole call, `attempt_timeout` for each attempt: it must be shorter, or nothing can \
                 be retried",
            ));
        }
    }
}
