//! The arguments: how each gets into an attempt so that it is there again for the next, and which can't.

use super::function::{Function, each_binding};
use super::this;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Error, FnArg, Pat, PatIdent, ReceiverKind, Token, Type};

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

pub(super) fn check_names(clone: &[Ident], keep: &[Ident], function: &Function, problems: &mut Vec<Error>) {
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
        if name == "self" && function.argument(name) {
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
pub(super) fn check_borrow(function: &Function, problems: &mut Vec<Error>) {
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

impl Rebind {
    fn name(&self) -> &Ident {
        match self {
            Self::Clone { name, .. }
            | Self::Reborrow { name, .. }
            | Self::Copy { name }
            | Self::Unique { name }
            | Self::UniqueSelf { name }
            | Self::ReborrowSelf { name, .. } => name,
        }
    }
}

/// Edits the arguments, and says how each gets into the attempts.
pub(super) fn rebind(
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
    // Of arguments that exclude each other by `#[cfg]`, two can have one name.
    let mut names = Vec::new();
    rebinds.retain(|rebind| {
        let name = rebind.name().to_string();
        let is_new = !names.contains(&name);
        names.push(name);
        is_new
    });
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
        if binding.by_ref.is_some() {
            return binding.mutability.map(|_| Rebind::Reborrow { name, mutable: false });
        }
        binding.mutability.get_or_insert_with(|| Token![mut](name.span()));
        return Some(Rebind::Unique { name });
    }
    match reference {
        Reference::Unique => {
            let mutable = binding.mutability.take().is_some();
            function.mentions(&name.to_string()).then_some(Rebind::Reborrow { name, mutable })
        }
        Reference::Shared => binding.mutability.take().map(|_| Rebind::Copy { name }),
        Reference::Into if binding.mutability.is_none() => None,
        Reference::No | Reference::Into if binding.by_ref.is_some() => {
            let by_ref = &binding.by_ref;
            let mutability = binding.mutability.as_ref()?;
            problems.push(Error::new_spanned(
                quote!(#by_ref #mutability #name),
                format!(
                    "`{name}` is declared `ref mut`: what one attempt changes, the next one would see. If that is meant, \
                     write `keep({name})`"
                ),
            ));
            None
        }
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
