//! Judges the options against each other and against the function.

use super::function::{Function, each_binding};
use super::options::{Kind, Options, Owner, Written};
use super::this;
use super::value::{Known, Value};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::time::Duration;
use syn::{Error, Expr, FnArg, Pat, PatIdent, ReceiverKind, Token, Type};

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

/// How an argument gets into an attempt so that it is there again for the next.
pub(super) enum Rebind {
    /// Cloned for each attempt; `at` is where the user asked for it.
    Clone { name: Ident, mutable: bool, at: Span },
    /// `&mut T`: lent to each attempt.
    Reborrow { name: Ident, mutable: bool },
    /// `mut r: &T`: copied for each attempt.
    Copy { name: Ident },
    /// Captured by unique reference, so that it need not be `Sync`.
    Unique { name: Ident },
    /// `&mut self`, captured by unique reference.
    UniqueSelf { name: Ident },
    /// `&mut self` that the body moves: lent to each attempt under another name.
    ReborrowSelf { name: Ident, this: Ident },
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

fn check_names(clone: &[Ident], keep: &[Ident], function: &Function, problems: &mut Vec<Error>) {
    for name in clone.iter().chain(keep) {
        if !function.argument(name) {
            let known: Vec<_> = function.bindings().iter().map(|binding| binding.ident.to_string()).collect();
            let known: Vec<_> = known.iter().map(String::as_str).collect();
            let near = crate::suggest::nearest(&name.to_string(), &known);
            let advice = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            problems.push(Error::new_spanned(name, format!("there is no argument `{name}`{advice}")));
        }
    }
    for name in clone {
        if name == "self" {
            problems.push(Error::new_spanned(
                name,
                "`self` can't be cloned for each attempt: clone what the body consumes, in the body",
            ));
        }
        if keep.contains(name) {
            problems.push(Error::new_spanned(
                name,
                format!("`clone({name})` starts each attempt from the original, `keep({name})` carries changes over: keep one of the two"),
            ));
        }
    }
}

/// A result that borrows from what an attempt borrows uniquely would still borrow it when the next attempt needs it.
fn check_borrow(function: &Function, problems: &mut Vec<Error>) {
    let mut check = |what: &str, lifetime: Option<&syn::Lifetime>, elided: bool| {
        let lifetime = lifetime.map(|lifetime| lifetime.ident.to_string());
        if let Some(place) = borrow(function.output.to_token_stream(), lifetime.as_deref(), elided) {
            problems.push(Error::new(
                place,
                format!(
                    "a result that borrows from `{what}` would keep it borrowed while it is tried again: return an owned \
                     value, or an index or key to look the borrow up with after the call"
                ),
            ));
        }
    };
    let receiver = function.signature.receiver();
    if let Some(receiver) = receiver
        && let ReceiverKind::Reference(_, lifetime, Some(_)) = &receiver.kind
    {
        check("&mut self", lifetime.as_ref(), true);
    }
    let references = function.signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(argument) => match &*argument.ty {
            Type::Reference(reference) => Some((argument, reference)),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    });
    let references: Vec<_> = references.collect();
    // What the result borrows without saying so, it borrows from `self` or from the only argument that can be borrowed from.
    let only = receiver.is_none() && references.len() == 1;
    for (argument, reference) in references {
        if reference.mutability.is_some() && (only || reference.lifetime.is_some()) {
            let name = argument.pat.to_token_stream().to_string();
            check(name.trim_start_matches("mut "), reference.lifetime.as_ref(), only);
        }
    }
}

/// A borrow of this lifetime or, if `elided`, one without a lifetime: a bare `&`, or `'_`.
fn borrow(tokens: TokenStream, lifetime: Option<&str>, elided: bool) -> Option<Span> {
    let mut tokens = tokens.into_iter().peekable();
    let mut after_name = false;
    while let Some(token) = tokens.next() {
        let is_lifetime = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '\'');
        match &token {
            TokenTree::Punct(punct) if elided && punct.as_char() == '&' && !tokens.peek().is_some_and(is_lifetime) => {
                return Some(punct.span());
            }
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                if let Some(TokenTree::Ident(name)) = tokens.peek()
                    && (elided && name == "_" || lifetime.is_some_and(|it| name == it))
                {
                    return Some(punct.span());
                }
            }
            // The arguments of `Fn(…)` borrow nothing here.
            TokenTree::Group(group) if !after_name => {
                if let Some(span) = borrow(group.stream(), lifetime, elided) {
                    return Some(span);
                }
            }
            _ => {}
        }
        after_name = matches!(token, TokenTree::Ident(_));
    }
    None
}

/// Edits the arguments, and says how each gets into the attempts.
fn rebind(
    function: &mut Function,
    clone: &[Ident],
    keep: &[Ident],
    in_options: &dyn Fn(&Ident) -> bool,
    problems: &mut Vec<Error>,
) -> Vec<Rebind> {
    let mut rebinds = Vec::new();
    if function.is_block {
        let cloned = |name: &Ident| Rebind::Clone { name: name.clone(), mutable: false, at: name.span() };
        let kept = |name: &Ident| Rebind::Unique { name: name.clone() };
        return clone.iter().map(cloned).chain(keep.iter().map(kept)).collect();
    }
    let renamed_self = function.renamed_self();
    let mut inputs = std::mem::take(&mut function.signature.inputs);
    let mut bound_again = std::mem::take(&mut function.frame.arguments);
    let is_bound_again = |name: &Ident| {
        bound_again.iter().any(|binding| matches!(&binding.pattern, Pat::Ident(again) if again.ident == *name))
    };
    // The argument as it is bound last: in the signature, or by `#[async_trait]` before the body.
    let mut references = Vec::new();
    for input in &mut inputs {
        match input {
            FnArg::Receiver(receiver) => {
                rebinds.extend(rebind_self(receiver, renamed_self.as_ref(), function, keep, in_options, problems));
            }
            FnArg::Typed(argument) => {
                let whole = match (&*argument.pat, reference(&argument.ty)) {
                    (Pat::Ident(_), whole) => whole,
                    (_, Reference::No) => Reference::No,
                    (_, Reference::Shared | Reference::Unique | Reference::Into) => Reference::Into,
                };
                each_binding(&mut argument.pat, &mut |binding| {
                    references.push((binding.ident.clone(), whole));
                    // `#[async_trait]` takes patterns apart in the body
                    let taken_apart = renamed_self.is_some() && binding.ident.to_string().starts_with("__arg");
                    if !is_bound_again(&binding.ident) && !taken_apart {
                        rebinds.extend(rebind_argument(binding, whole, function, clone, keep, in_options, problems));
                    }
                });
            }
        }
    }
    for argument in &mut bound_again {
        let unknown = if let Pat::Ident(_) = &argument.pattern { Reference::No } else { Reference::Into };
        each_binding(&mut argument.pattern, &mut |binding| {
            let whole = references.iter().find(|(name, _)| *name == binding.ident).map_or(unknown, |(_, it)| *it);
            if binding.ident == "__self" {
                if keep.iter().any(|name| name == "self") {
                    binding.mutability.get_or_insert_with(|| Token![mut](binding.ident.span()));
                }
            } else {
                rebinds.extend(rebind_argument(binding, whole, function, clone, keep, in_options, problems));
            }
        });
    }
    function.signature.inputs = inputs;
    function.frame.arguments = bound_again;
    rebinds
}

fn rebind_self(
    receiver: &mut syn::Receiver,
    renamed: Option<&Ident>,
    function: &Function,
    keep: &[Ident],
    in_options: &dyn Fn(&Ident) -> bool,
    problems: &mut Vec<Error>,
) -> Option<Rebind> {
    let kept = keep.iter().find(|name| *name == "self");
    let borrowed = match &receiver.kind {
        ReceiverKind::Reference(_, _, mutability) => Some(mutability.is_some()),
        ReceiverKind::Typed(_, ty) => match reference(ty) {
            Reference::Unique => Some(true),
            Reference::Shared => Some(false),
            Reference::No | Reference::Into => None,
        },
        _ => None,
    };
    let name = renamed.cloned().unwrap_or_else(|| Ident::new("self", receiver.self_token.span));
    match (borrowed, kept) {
        (Some(_), Some(kept)) => {
            problems.push(Error::new_spanned(kept, "`self` is borrowed: it is there for every attempt without `keep`"));
            None
        }
        // Not where an option borrows from `self` too: then the body may still use other parts of it.
        (Some(true), None) if in_options(&name) => None,
        (Some(true), None) if !function.mentions(&name.to_string()) => None,
        (Some(true), None) if renamed.is_some() => Some(Rebind::Reborrow { name, mutable: false }),
        (Some(true), None) if function.moves_self() => {
            let this = Ident::new(this::NAME, receiver.self_token.span);
            Some(Rebind::ReborrowSelf { name, this })
        }
        (Some(true), None) => Some(Rebind::UniqueSelf { name }),
        (Some(false), None) => None,
        (None, Some(_)) => {
            if renamed.is_none() {
                receiver.mutability.get_or_insert_with(|| Token![mut](receiver.self_token.span));
            }
            Some(Rebind::Unique { name })
        }
        (None, None) => {
            if let Some(mutability) = &receiver.mutability {
                let self_token = &receiver.self_token;
                problems.push(Error::new_spanned(
                    quote!(#mutability #self_token),
                    "`self` is declared `mut`: what one attempt changes, the next one would see. If that is meant, write \
                     `keep(self)`; if not, take `&self`",
                ));
                return None;
            }
            let captured = renamed.is_none() && function.mentions("self") && !in_options(&name);
            captured.then(|| {
                receiver.mutability = Some(Token![mut](receiver.self_token.span));
                Rebind::Unique { name }
            })
        }
    }
}

fn rebind_argument(
    binding: &mut PatIdent,
    reference: Reference,
    function: &Function,
    clone: &[Ident],
    keep: &[Ident],
    in_options: &dyn Fn(&Ident) -> bool,
    problems: &mut Vec<Error>,
) -> Option<Rebind> {
    let name = binding.ident.clone();
    if let Some(asked) = clone.iter().find(|asked| **asked == name) {
        let mutable = binding.mutability.take().is_some();
        return Some(Rebind::Clone { name, mutable, at: asked.span() });
    }
    if keep.contains(&name) {
        if binding.by_ref.is_none() {
            binding.mutability.get_or_insert_with(|| Token![mut](name.span()));
        }
        return Some(Rebind::Unique { name });
    }
    match reference {
        Reference::Unique => {
            let mutable = binding.mutability.take().is_some();
            function.mentions(&name.to_string()).then_some(Rebind::Reborrow { name, mutable })
        }
        Reference::Shared => binding.mutability.take().map(|_| Rebind::Copy { name }),
        Reference::Into if binding.mutability.is_none() => None,
        Reference::No | Reference::Into if binding.by_ref.is_some() => None,
        Reference::No | Reference::Into => {
            if let Some(mutability) = &binding.mutability {
                problems.push(Error::new_spanned(
                    quote!(#mutability #name),
                    format!(
                        "`{name}` is declared `mut`: what one attempt changes, the next one would see. Say which you want: \
                         `clone({name})` starts every attempt from the original, `keep({name})` carries changes over"
                    ),
                ));
                return None;
            }
            // Captured by shared reference it would have to be `Sync` for the future to be `Send`.
            let captured = function.mentions(&name.to_string()) && !in_options(&name);
            captured.then(|| {
                binding.mutability = Some(Token![mut](name.span()));
                Rebind::Unique { name }
            })
        }
    }
}

#[derive(Clone, Copy)]
enum Reference {
    Unique,
    Shared,
    /// A pattern into a reference, or into what may be one: what its names are is up to the compiler.
    Into,
    No,
}

fn reference(ty: &Type) -> Reference {
    match ty {
        Type::Reference(reference) if reference.mutability.is_some() => Reference::Unique,
        Type::Reference(_) => Reference::Shared,
        Type::Group(group) => reference(&group.elem),
        Type::Paren(paren) => reference(&paren.elem),
        _ => Reference::No,
    }
}
