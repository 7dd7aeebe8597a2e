//! Judges the options against each other and against the function.

use super::function::{Function, each_binding};
use super::options::{Kind, Options, Owner, Written};
use super::value::{Known, Value};
use proc_macro2::{Ident, Span, TokenStream};
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
}

pub(super) fn judge(options: Options, mut function: Function) -> Result<Checked, Vec<Error>> {
    let mut problems = Vec::new();
    let Options { settings, budget, kind, policy, classify, on_retry, on_stop, attempt, clone, keep, once, runtime } =
        options;
    let (of_policy, of_kind): (Vec<_>, Vec<_>) =
        settings.into_iter().partition(|(owner, _)| matches!(owner, Owner::Policy));
    let policy = Policy {
        base: policy.map(|written| written.value),
        settings: of_policy.into_iter().map(|(_, setting)| setting).collect(),
    };
    check_delays(&policy, &mut problems);
    check_expressions(&policy, [&classify, &on_retry, &on_stop], &mut problems);
    for (name, what) in
        once.iter().map(|(name, _)| (name, "once")).chain(attempt.iter().map(|it| (&it.value, "attempt")))
    {
        if function.argument(name) {
            problems
                .push(Error::new_spanned(name, format!("`{name}` is an argument already: `{what}` binds a new name")));
        }
    }
    let budget = choose_budget(budget, kind, of_kind, &function, &mut problems);
    check_names(&clone, &keep, &function, &mut problems);
    check_borrow(&function, &mut problems);
    let rebinds = rebind(&mut function, &clone, &keep, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Checked {
        function,
        runtime: runtime.map_or_else(|| quote!(::retry_budget), ToTokens::into_token_stream),
        budget,
        policy,
        classify: classify.map(|written| written.value),
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
            Expr::Path(path) if !path.path.get_ident().is_some_and(|name| function.argument(name)) => {
                Budget::Static(value)
            }
            _ => Budget::Expression(value),
        },
    }
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
}

/// What takes a function or a policy doesn't take a literal.
fn check_expressions(policy: &Policy, functions: [&Option<Written<Expr>>; 3], problems: &mut Vec<Error>) {
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

/// A result that borrows from `&mut self` would still borrow it when the next attempt needs it.
fn check_borrow(function: &Function, problems: &mut Vec<Error>) {
    let Some(receiver) = function.signature.receiver() else { return };
    let ReceiverKind::Reference(_, _, Some(_)) = receiver.kind else { return };
    if let Some(borrow) = elided_borrow(function.output.to_token_stream()) {
        problems.push(Error::new(
            borrow,
            "a result that borrows from `&mut self` would keep `self` borrowed while it is tried again: return an owned \
             value, or an index or key to look the borrow up with after the call",
        ));
    }
}

/// A `&` without a lifetime, or `'_`.
fn elided_borrow(tokens: TokenStream) -> Option<Span> {
    use proc_macro2::TokenTree;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_lifetime = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '\'');
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '&' && !tokens.peek().is_some_and(is_lifetime) => {
                return Some(punct.span());
            }
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                if matches!(tokens.peek(), Some(TokenTree::Ident(ident)) if ident == "_") {
                    return Some(punct.span());
                }
            }
            TokenTree::Group(group) => {
                if let Some(span) = elided_borrow(group.stream()) {
                    return Some(span);
                }
            }
            _ => {}
        }
    }
    None
}

/// Edits the signature, and says how each argument gets into the attempts.
fn rebind(function: &mut Function, clone: &[Ident], keep: &[Ident], problems: &mut Vec<Error>) -> Vec<Rebind> {
    let mut rebinds = Vec::new();
    let mut inputs = std::mem::take(&mut function.signature.inputs);
    for input in &mut inputs {
        match input {
            FnArg::Receiver(receiver) => rebinds.extend(rebind_self(receiver, function, keep, problems)),
            FnArg::Typed(argument) => {
                let whole = if let Pat::Ident(_) = &*argument.pat { reference(&argument.ty) } else { Reference::No };
                each_binding(&mut argument.pat, &mut |binding| {
                    rebinds.extend(rebind_argument(binding, whole, function, clone, keep, problems));
                });
            }
        }
    }
    function.signature.inputs = inputs;
    rebinds
}

fn rebind_self(
    receiver: &mut syn::Receiver,
    function: &Function,
    keep: &[Ident],
    problems: &mut Vec<Error>,
) -> Option<Rebind> {
    let kept = keep.iter().find(|name| *name == "self");
    let borrowed = match &receiver.kind {
        ReceiverKind::Reference(_, _, mutability) => Some(mutability.is_some()),
        ReceiverKind::Typed(_, ty) => match reference(ty) {
            Reference::Unique => Some(true),
            Reference::Shared => Some(false),
            Reference::No => None,
        },
        _ => None,
    };
    let self_token = Ident::new("self", receiver.self_token.span);
    match (borrowed, kept) {
        (Some(_), Some(kept)) => {
            problems.push(Error::new_spanned(kept, "`self` is borrowed: it is there for every attempt without `keep`"));
            None
        }
        (Some(true), None) => function.mentions("self").then_some(Rebind::UniqueSelf { name: self_token }),
        (Some(false), None) => None,
        (None, Some(_)) => {
            receiver.mutability.get_or_insert_with(|| Token![mut](receiver.self_token.span));
            Some(Rebind::Unique { name: self_token })
        }
        (None, None) => {
            if let Some(mutability) = &receiver.mutability {
                problems.push(Error::new_spanned(
                    quote!(#mutability #self_token),
                    "`self` is declared `mut`: what one attempt changes, the next one would see. If that is meant, write \
                     `keep(self)`; if not, take `&self`",
                ));
            }
            None
        }
    }
}

fn rebind_argument(
    binding: &mut PatIdent,
    reference: Reference,
    function: &Function,
    clone: &[Ident],
    keep: &[Ident],
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
        Reference::No => {
            if let Some(mutability) = &binding.mutability
                && binding.by_ref.is_none()
            {
                problems.push(Error::new_spanned(
                    quote!(#mutability #name),
                    format!(
                        "`{name}` is declared `mut`: what one attempt changes, the next one would see. Say which you want: \
                         `clone({name})` starts every attempt from the original, `keep({name})` carries changes over"
                    ),
                ));
            }
            None
        }
    }
}

#[derive(Clone, Copy)]
enum Reference {
    Unique,
    Shared,
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
