//! A body that `#[tracing::instrument]` has wrapped: `let __tracing_instrument_future = async move { … };`.
//!
//! With the loop around it, the second attempt would find its arguments moved into the first. The block is awaited
//! where it is made, so it may as well borrow them.

use super::arguments::Rebind;
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

/// The body with tracing's blocks borrowing, if it is one of tracing's.
pub(super) fn lent(body: TokenStream, rebinds: &[Rebind]) -> Option<TokenStream> {
    let trees: Vec<_> = body.into_iter().collect();
    let at = trees.iter().position(|tree| is(tree, "__tracing_instrument_future"))?;
    Some(lend_at(&trees, at + 2, rebinds))
}

/// Takes the `move` away from the `async move { … }` at this place, and from the one that it begins with.
fn lend_at(trees: &[TokenTree], at: usize, rebinds: &[Rebind]) -> TokenStream {
    let (before, rest) = trees.split_at(at.min(trees.len()));
    let [asyncness, moves, TokenTree::Group(block), after @ ..] = rest else {
        return trees.iter().cloned().collect();
    };
    if !is(asyncness, "async") || !is(moves, "move") || block.delimiter() != Delimiter::Brace {
        return trees.iter().cloned().collect();
    }
    let inside: Vec<_> = block.stream().into_iter().collect();
    // `match async move { … }.await { … }`, `let x = async move { … }.await;`
    let next = match &inside[..] {
        [first, ..] if is(first, "match") => 1,
        [first, name, ..] if is(first, "let") && (is(name, "x") || is(name, "__match_scrutinee")) => 3,
        _ => inside.len(),
    };
    let lets = rebinds.iter().map(bound_again);
    let inside = lend_at(&inside, next, rebinds);
    let inside = kept_outside(inside, rebinds);
    let mut lending = Group::new(Delimiter::Brace, quote!(#(#lets)* #inside));
    lending.set_span(block.span());
    quote!(#(#before)* #asyncness #lending #(#after)*)
}

/// What has to be said again in each block, so that it captures as the one around it does.
fn bound_again(rebind: &Rebind) -> TokenStream {
    let site = Span::mixed_site();
    match rebind {
        Rebind::Reborrow { name, .. } => quote_spanned!(site=> let #name = &mut *#name;),
        Rebind::Copy { .. } => TokenStream::new(),
        Rebind::Clone { name, .. } | Rebind::Unique { name } => quote_spanned!(site=> let _ = &mut #name;),
        Rebind::UniqueSelf { name } => quote_spanned!(site=> let _ = &mut *#name;),
        Rebind::ReborrowSelf { this, .. } => quote_spanned!(site=> let #this = &mut *#this;),
    }
}

/// `#[async_trait]` inside moves every argument once more: `let name = name;`.
fn kept_outside(tokens: TokenStream, rebinds: &[Rebind]) -> TokenStream {
    let trees: Vec<_> = tokens.into_iter().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < trees.len() {
        if let [word, TokenTree::Ident(name), equals, TokenTree::Ident(value), end, ..] = &trees[at..]
            && is(word, "let")
            && is_punct(equals, '=')
            && is_punct(end, ';')
        {
            let unique_self = rebinds.iter().any(|rebind| matches!(rebind, Rebind::UniqueSelf { .. }));
            if name == "__self" && value == "self" && unique_self {
                out.extend(quote!(#word #name #equals &mut *#value #end));
                at += 5;
                continue;
            }
            let unique = |rebind: &Rebind| matches!(rebind, Rebind::Unique { name: unique } if unique == name);
            if name == value && rebinds.iter().any(unique) {
                at += 5;
                continue;
            }
        }
        out.push(trees[at].clone());
        at += 1;
    }
    out.into_iter().collect()
}

fn is(tree: &TokenTree, word: &str) -> bool {
    matches!(tree, TokenTree::Ident(ident) if ident == word)
}

fn is_punct(tree: &TokenTree, char: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == char)
}
