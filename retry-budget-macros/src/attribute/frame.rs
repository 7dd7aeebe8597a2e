//! What stands around the body in a function that isn't `async` on the outside: another attribute has been there
//! already (`#[async_trait]`, `#[tokio::test]`), or the function returns a future that it makes with `async move`.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::{GenericArgument, Pat, PathArguments, Result, Type, TypeParamBound};

/// The tokens around the body, from the inside to the outside.
#[derive(Default)]
pub(super) struct Frame {
    /// The arguments, as `#[async_trait]` binds them before the body.
    pub(super) arguments: Vec<Binding>,
    layers: Vec<Layer>,
}

/// `let PATTERN = …;`
pub(super) struct Binding {
    pub(super) pattern: Pat,
    rest: TokenStream,
}

struct Layer {
    before: TokenStream,
    after: TokenStream,
    around: Option<(Delimiter, Span)>,
}

/// The body, found.
pub(super) struct Found {
    pub(super) frame: Frame,
    pub(super) body: Group,
    pub(super) asyncness: Span,
    /// What the body returns, where the frame says so.
    pub(super) output: Option<Type>,
}

impl Frame {
    /// Puts what now stands for the body back into its place.
    pub(super) fn around(&self, body: TokenStream) -> TokenStream {
        let arguments = self.arguments.iter().map(|Binding { pattern, rest }| quote!(let #pattern #rest));
        let mut inside = quote!(#(#arguments)*);
        let mut layers = self.layers.iter();
        if let Some(Layer { before, after, around }) = layers.next() {
            // The arguments' bindings stand between what the innermost layer begins with and the body.
            let (head, tail) = split_at_return(before);
            inside = quote!(#head #inside #tail #body #after);
            inside = enclosed(inside, *around);
        } else {
            inside = body;
        }
        for Layer { before, after, around } in layers {
            inside = enclosed(quote!(#before #inside #after), *around);
        }
        inside
    }
}

fn enclosed(tokens: TokenStream, around: Option<(Delimiter, Span)>) -> TokenStream {
    let Some((delimiter, span)) = around else { return tokens };
    let mut group = Group::new(delimiter, tokens);
    group.set_span(span);
    TokenTree::Group(group).into()
}

/// Finds the body in a function's braces.
pub(super) fn find(function: &Group) -> Option<Found> {
    let trees: Vec<_> = function.stream().into_iter().collect();
    let braces = (Delimiter::Brace, function.span());
    if let [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(_), rest @ ..] = &trees[..]
        && word == "let"
        && name == "body"
        && let [TokenTree::Ident(asyncness), TokenTree::Group(body), ..] = rest
        && asyncness == "async"
    {
        // #[tokio::test]: let body = async { … };
        let layer = layer(&trees[..4], &trees[5..], Some(braces));
        let frame = Frame { layers: vec![layer], ..Frame::default() };
        return Some(Found { frame, body: body.clone(), asyncness: asyncness.span(), output: None });
    }
    if let Some(found) = at_the_end(&trees, braces) {
        return Some(found);
    }
    // Box::pin(async move { … })
    let [before @ .., TokenTree::Group(arguments)] = &trees[..] else { return None };
    if !matches!(before.last(), Some(TokenTree::Ident(pin)) if pin == "pin") {
        return None;
    }
    let inner: Vec<_> = arguments.stream().into_iter().collect();
    let mut found = at_the_end(&inner, (arguments.delimiter(), arguments.span()))?;
    found.frame.layers.push(layer(before, &[], Some(braces)));
    Some(found)
}

/// `async { … }` or `async move { … }` as the last thing, perhaps with `.boxed()` or a comma behind it.
fn at_the_end(trees: &[TokenTree], around: (Delimiter, Span)) -> Option<Found> {
    let end = trees
        .iter()
        .rposition(|tree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace))?;
    let behind: String = trees[end + 1..].iter().map(ToString::to_string).collect();
    if !matches!(behind.as_str(), "" | "," | ".boxed()" | ".boxed_local()") {
        return None;
    }
    let TokenTree::Group(block) = &trees[end] else { return None };
    let asyncness = match &trees[..end] {
        [.., TokenTree::Ident(asyncness), TokenTree::Ident(word)] if asyncness == "async" && word == "move" => {
            asyncness
        }
        [.., TokenTree::Ident(asyncness)] if asyncness == "async" => asyncness,
        _ => return None,
    };
    let outer = layer(&trees[..end], &trees[end + 1..], Some(around));
    if let Some(mut found) = in_async_trait(block) {
        found.asyncness = asyncness.span();
        found.frame.layers.push(outer);
        return Some(found);
    }
    let frame = Frame { layers: vec![outer], ..Frame::default() };
    Some(Found { frame, body: block.clone(), asyncness: asyncness.span(), output: None })
}

/// `if let … { … } let argument = argument; … let __ret: T = { BODY }; … __ret`, which `#[async_trait]` writes.
fn in_async_trait(block: &Group) -> Option<Found> {
    let trees: Vec<_> = block.stream().into_iter().collect();
    let start = trees.windows(3).position(|window| {
        matches!(window, [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(colon)]
            if word == "let" && name == "__ret" && colon.as_char() == ':')
    })?;
    let equals = start + 3 + end_of_type(&trees[start + 3..], '=')?;
    let TokenTree::Group(body) = trees.get(equals + 1)? else { return None };
    let output = syn::parse2(trees[start + 3..equals].iter().cloned().collect()).ok()?;
    let first = trees[..start].iter().rposition(
        |tree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && is_return(group)),
    );
    let head = first.map_or(0, |at| at + 1);
    let arguments = bindings.parse2(trees[head..start].iter().cloned().collect()).ok()?;
    let mut before: Vec<_> = trees[..head].to_vec();
    before.extend_from_slice(&trees[start..=equals]);
    let layer = layer(&before, &trees[equals + 2..], Some((Delimiter::Brace, block.span())));
    let frame = Frame { arguments, layers: vec![layer] };
    Some(Found { frame, body: body.clone(), asyncness: Span::call_site(), output: Some(output) })
}

/// The block of `if let Some(__ret) = None { return __ret; }`.
fn is_return(group: &Group) -> bool {
    group.stream().into_iter().any(|tree| matches!(tree, TokenTree::Ident(ident) if ident == "return"))
}

/// Cuts `… let __ret: T =` before its `let`.
fn split_at_return(before: &TokenStream) -> (TokenStream, TokenStream) {
    let trees: Vec<_> = before.clone().into_iter().collect();
    let at = trees.windows(2).position(
        |window| matches!(window, [TokenTree::Ident(word), TokenTree::Ident(name)] if word == "let" && name == "__ret"),
    );
    let (head, tail) = trees.split_at(at.unwrap_or(trees.len()));
    (head.iter().cloned().collect(), tail.iter().cloned().collect())
}

fn bindings(input: syn::parse::ParseStream<'_>) -> Result<Vec<Binding>> {
    let mut bindings = Vec::new();
    while !input.is_empty() {
        input.parse::<syn::Token![let]>()?;
        let pattern = Pat::parse_single(input)?;
        let mut rest = TokenStream::new();
        while !input.is_empty() {
            let tree: TokenTree = input.parse()?;
            let ends = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == ';');
            rest.extend([tree]);
            if ends {
                break;
            }
        }
        bindings.push(Binding { pattern, rest });
    }
    Ok(bindings)
}

fn layer(before: &[TokenTree], after: &[TokenTree], around: Option<(Delimiter, Span)>) -> Layer {
    Layer { before: before.iter().cloned().collect(), after: after.iter().cloned().collect(), around }
}

/// Where a type ends before this character.
fn end_of_type(trees: &[TokenTree], end: char) -> Option<usize> {
    let mut depth = 0_u32;
    let mut arrow = false;
    for (at, tree) in trees.iter().enumerate() {
        let TokenTree::Punct(punct) = tree else {
            arrow = false;
            continue;
        };
        match punct.as_char() {
            found if found == end && depth == 0 => return Some(at),
            '<' => depth += 1,
            '>' if !arrow => depth = depth.saturating_sub(1),
            _ => {}
        }
        arrow = punct.as_char() == '-';
    }
    None
}

/// `T` of a `Future<Output = T>` anywhere in a type.
pub(super) fn future_output(ty: &Type) -> Option<Type> {
    let in_bounds = |bounds: &syn::punctuated::Punctuated<TypeParamBound, syn::Token![+]>| {
        bounds.iter().find_map(|bound| match bound {
            TypeParamBound::Trait(bound) => output_of(&bound.path),
            _ => None,
        })
    };
    match ty {
        Type::ImplTrait(opaque) => in_bounds(&opaque.bounds),
        Type::TraitObject(object) => in_bounds(&object.bounds),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
            // the aliases of the futures crate
            let alias = last.ident == "BoxFuture" || last.ident == "LocalBoxFuture";
            arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) if alias => Some(ty.clone()),
                GenericArgument::Type(ty) => future_output(ty),
                _ => None,
            })
        }
        Type::Group(group) => future_output(&group.elem),
        Type::Paren(paren) => future_output(&paren.elem),
        _ => None,
    }
}

fn output_of(path: &syn::Path) -> Option<Type> {
    let last = path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    if last.ident != "Future" {
        return None;
    }
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(assoc) if assoc.ident == "Output" => Some(assoc.ty.clone()),
        _ => None,
    })
}

/// Whether a type is, or holds, a future.
pub(super) fn is_future(ty: &Type) -> bool {
    future_output(ty).is_some() || ty.to_token_stream().to_string().contains("Future")
}
