//! The annotated function. Its body is never parsed: what the compiler says about it stays the compiler's own.

use super::frame::{self, Found, Frame};
use super::{instrument, this};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Error, FnArg, Pat, PatIdent, Result, ReturnType, Signature, Token, Type, Visibility};

pub(super) struct Function {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) signature: Signature,
    /// What stands around the body, where the function isn't `async` on the outside.
    pub(super) frame: Frame,
    /// What the body returns.
    pub(super) output: Type,
    pub(super) body: Group,
    /// The `async` before the body.
    pub(super) asyncness: Span,
    /// Whether this is a block in the middle of a function, whose names are those around it.
    pub(super) is_block: bool,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut attributes = input.call(Attribute::parse_outer)?;
        let visibility: Visibility = input.parse()?;
        refuse_other_items(input)?;
        let signature: Signature = input.parse()?;
        if let Some(constness) = &signature.constness {
            return Err(Error::new_spanned(constness, "a `const fn` can't wait between attempts"));
        }
        if let Some(variadic) = &signature.variadic {
            return Err(Error::new_spanned(variadic, "a variadic function can't be called again with its arguments"));
        }
        if input.peek(Token![;]) {
            return Err(Error::new_spanned(
                &signature.ident,
                "this function has no body to retry: put `#[retry_budget]` on the implementation",
            ));
        }
        if let Some(twice) = attributes.iter().find(|attribute| is_retry_budget(attribute)) {
            return Err(Error::new_spanned(
                twice,
                "`#[retry_budget]` twice on one function would multiply the attempts: keep one",
            ));
        }
        let body = parse_body(input)?;
        let body = hoist_inner_attributes(&body, &mut attributes)?;
        let Found { frame, body, asyncness, output } = find_body(&signature, body)?;
        let output = match (output, &signature.output) {
            (Some(output), _) => output,
            (None, ReturnType::Type(_, output)) => (**output).clone(),
            (None, ReturnType::Default) => return Err(Error::new(asyncness, NO_RESULT)),
        };
        if matches!(&output, Type::Never(_)) || matches!(&output, Type::Tuple(tuple) if tuple.elems.is_empty()) {
            return Err(Error::new_spanned(output, NO_RESULT));
        }
        Ok(Self { attributes, visibility, signature, frame, output, body, asyncness, is_block: false })
    }
}

/// The body: the function's own, or that of the future which it returns.
fn find_body(signature: &Signature, body: Group) -> Result<Found> {
    if let Some(asyncness) = &signature.asyncness {
        return Ok(Found { frame: Frame::default(), body, asyncness: asyncness.span, output: None });
    }
    let ReturnType::Type(_, output) = &signature.output else {
        return Err(Error::new_spanned(signature.fn_token, NOT_ASYNC));
    };
    let found = frame::find(&body);
    match (found, frame::future_output(output)) {
        (Some(Found { frame, body, asyncness, output }), future) => {
            Ok(Found { frame, body, asyncness, output: output.or(future) })
        }
        (None, _) if frame::is_future(output) => Err(Error::new_spanned(
            output,
            "to retry a function that returns a future, its body must end in the future itself: `async move { … }` or \
             `Box::pin(async move { … })`",
        )),
        (None, _) => Err(Error::new_spanned(signature.fn_token, NOT_ASYNC)),
    }
}

const NOT_ASYNC: &str = "`#[retry_budget]` retries an `async fn`: write `async fn`. For what isn't async there is the \
                         function `retry_budget::retry_blocking`";
const NO_RESULT: &str = "only a function that returns a `Result` can say that an attempt failed: return `Result<…, …>`";

fn refuse_other_items(input: ParseStream<'_>) -> Result<()> {
    let found = if input.peek(Token![struct]) || input.peek(Token![enum]) || input.peek(Token![union]) {
        "a type"
    } else if input.peek(Token![impl]) {
        "an `impl` block: put it on each function that leaves the process"
    } else if input.peek(Token![trait]) || (input.peek(Token![unsafe]) && input.peek2(Token![trait])) {
        "a trait: put it on the functions of its implementation, or on a default method"
    } else if input.peek(Token![mod]) {
        "a module: put it on each function that leaves the process"
    } else if input.peek(Token![static])
        || input.peek(Token![use])
        || input.peek(Token![type])
        || (input.peek(Token![const]) && !input.peek2(Token![fn]) && !input.peek2(Token![async]))
    {
        "this item"
    } else if input.peek(Token![let])
        || input.peek(Token![|])
        || input.peek(Token![move])
        || (input.peek(Token![async]) && (input.peek2(Token![|]) || input.peek2(Token![move])))
    {
        "a closure or a statement: for those there is the function `retry_budget::retry`"
    } else {
        return Ok(());
    };
    Err(input.error(format!("`#[retry_budget]` goes on an `async fn`, not on {found}")))
}

fn is_retry_budget(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "retry_budget")
}

fn parse_body(input: ParseStream<'_>) -> Result<Group> {
    input.step(|cursor| match cursor.group(Delimiter::Brace) {
        Some((inside, span, rest)) => {
            let mut body = Group::new(Delimiter::Brace, inside.token_stream());
            body.set_span(span.span());
            Ok((body, rest))
        }
        None => Err(cursor.error("expected the function's body in braces")),
    })
}

/// `#![…]` at the head of the body is only allowed at the head of a function.
fn hoist_inner_attributes(body: &Group, attributes: &mut Vec<Attribute>) -> Result<Group> {
    let split = |input: ParseStream<'_>| Ok((input.call(Attribute::parse_inner)?, input.parse::<TokenStream>()?));
    let starts_with_pound =
        matches!(body.stream().into_iter().next(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#');
    if !starts_with_pound {
        return Ok(body.clone());
    }
    let (inner, rest) = syn::parse::Parser::parse2(split, body.stream())?;
    attributes.extend(inner.into_iter().map(|mut attribute| {
        attribute.style = syn::AttrStyle::Outer;
        attribute
    }));
    let mut group = Group::new(Delimiter::Brace, rest);
    group.set_span(body.span());
    Ok(group)
}

/// Cuts what stands in `retry!(…)` into the options and the block `async || -> Result<…> { … }`.
pub(super) fn split_block(tokens: TokenStream) -> (TokenStream, Result<Function>) {
    let trees: Vec<_> = tokens.into_iter().collect();
    let comma = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',');
    let start = (0..trees.len()).find(|&at| {
        matches!(&trees[at], TokenTree::Ident(word) if word == "async") && (at == 0 || comma(&trees[at - 1]))
    });
    let Some(start) = start else {
        let closure = trees.iter().position(|tree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == '|'));
        if let Some(closure) = closure
            && (closure == 0 || comma(&trees[closure - 1]))
        {
            let options = trees[..closure].iter().cloned().collect();
            let place = trees[closure].span();
            return (options, Err(Error::new(place, "the block is async: `async || -> Result<…, …> { … }`")));
        }
        let options = trees.into_iter().collect();
        return (options, Err(Error::new(Span::call_site(), BLOCK)));
    };
    let options = trees[..start].iter().cloned().collect();
    let block = trees[start..].iter().cloned().collect();
    (options, syn::parse::Parser::parse2(parse_block, block))
}

const BLOCK: &str =
    "after the options stands the block to retry: `retry!(budget = PARTNER, async || -> Result<…, …> { … }).await`";

fn parse_block(input: ParseStream<'_>) -> Result<Function> {
    let asyncness: Token![async] = input.parse()?;
    if input.peek(Token![move]) {
        return Err(input.error(
            "the first attempt would move what it uses away from the second: without `move` the block borrows, and \
             `clone(name)` gives each attempt a clone",
        ));
    }
    if input.peek(Token![||]) {
        input.parse::<Token![||]>()?;
    } else if input.peek(Token![|]) {
        input.parse::<Token![|]>()?;
        if !input.peek(Token![|]) {
            return Err(
                input.error("the block takes no arguments: `attempt = attempt` beside the options names the attempt")
            );
        }
        input.parse::<Token![|]>()?;
    } else {
        return Err(input.error(BLOCK));
    }
    if !input.peek(Token![->]) {
        return Err(Error::new_spanned(
            asyncness,
            "say what the block returns, so that `?` knows its error: `async || -> Result<…, …> { … }`",
        ));
    }
    input.parse::<Token![->]>()?;
    let output: Type = input.parse()?;
    let body = parse_body(input)?;
    input.parse::<Option<Token![,]>>()?;
    if !input.is_empty() {
        return Err(input.error("the block comes last: options stand before it"));
    }
    Ok(Function {
        attributes: Vec::new(),
        visibility: Visibility::Inherited,
        signature: syn::parse_quote!(fn retry()),
        frame: Frame::default(),
        output,
        body,
        asyncness: asyncness.span,
        is_block: true,
    })
}

impl Function {
    /// Where a message about the error type belongs: the last argument of `Result<…>`.
    pub(super) fn error_span(&self) -> Span {
        if let Type::Path(path) = &self.output
            && let Some(last) = path.path.segments.last()
            && let syn::PathArguments::AngleBracketed(arguments) = &last.arguments
            && let Some(error) = arguments.args.last()
        {
            return error.span();
        }
        self.output.span()
    }

    /// Whether the body mentions a name, in its tokens or as `{name` in a string to format.
    pub(super) fn mentions(&self, name: &str) -> bool {
        mentions(self.body.stream(), name)
    }

    /// Whether the body moves `self`, so that only one attempt could have it.
    pub(super) fn moves_self(&self) -> bool {
        let body = self.body.stream();
        this::is_moved(&instrument::lent(body.clone(), &[]).unwrap_or(body))
    }

    /// The argument that is just this name.
    pub(super) fn argument(&self, name: &syn::Ident) -> bool {
        // A block sees no signature; what is written like a local is one.
        if self.is_block {
            return !name.to_string().contains(char::is_uppercase);
        }
        name == "self" && self.signature.receiver().is_some() || self.bindings().iter().any(|it| it.ident == *name)
    }

    /// What `self` is called in the body, where that is something else.
    pub(super) fn renamed_self(&self) -> Option<syn::Ident> {
        self.frame.arguments.iter().find_map(|argument| match &argument.pattern {
            Pat::Ident(binding) if binding.ident == "__self" => Some(binding.ident.clone()),
            _ => None,
        })
    }

    /// All names that the arguments bind, but for `self`.
    pub(super) fn bindings(&self) -> Vec<PatIdent> {
        let mut found = Vec::new();
        for input in &self.signature.inputs {
            if let FnArg::Typed(argument) = input {
                each_binding(&mut argument.pat.clone(), &mut |binding| found.push(binding.clone()));
            }
        }
        for argument in &self.frame.arguments {
            each_binding(&mut argument.pattern.clone(), &mut |binding| found.push(binding.clone()));
        }
        found
    }
}

/// Visits every name that a pattern binds.
pub(super) fn each_binding(pat: &mut Pat, visit: &mut dyn FnMut(&mut PatIdent)) {
    match pat {
        Pat::Ident(ident) => {
            visit(ident);
            if let Some((_, inner)) = &mut ident.subpat {
                each_binding(inner, visit);
            }
        }
        Pat::Paren(paren) => each_binding(&mut paren.pat, visit),
        Pat::Reference(reference) => {
            let before = reference.pat.to_token_stream().to_string();
            each_binding(&mut reference.pat, visit);
            // `&mut x` is another pattern than `&(mut x)`
            if reference.pat.to_token_stream().to_string() != before && matches!(&*reference.pat, Pat::Ident(_)) {
                let inner = reference.pat.to_token_stream();
                *reference.pat = syn::parse_quote!((#inner));
            }
        }
        Pat::Type(typed) => each_binding(&mut typed.pat, visit),
        Pat::Slice(slice) => slice.elems.iter_mut().for_each(|pat| each_binding(pat, visit)),
        Pat::Tuple(tuple) => tuple.elems.iter_mut().for_each(|pat| each_binding(pat, visit)),
        Pat::TupleStruct(tuple) => tuple.elems.iter_mut().for_each(|pat| each_binding(pat, visit)),
        Pat::Struct(fields) => fields.fields.iter_mut().for_each(|field| each_binding(&mut field.pat, visit)),
        _ => {}
    }
}

/// Whether a name stands in these tokens, or as `{name` in a string to format.
pub(super) fn mentions(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Literal(literal) => {
            let text = literal.to_string();
            text.match_indices(name).any(|(at, _)| text[..at].ends_with('{'))
        }
        TokenTree::Punct(_) => false,
    })
}

/// The type with every `impl …` in it replaced by `_`, so that it can stand in an expression.
pub(super) fn without_impl(tokens: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(ident) if ident == "impl" => {
                out.extend(syn::Token![_](ident.span()).into_token_stream());
                let mut depth = 0_u32;
                let mut arrow = false;
                while let Some(next) = tokens.peek() {
                    if let TokenTree::Punct(punct) = next {
                        match punct.as_char() {
                            ',' if depth == 0 => break,
                            '>' if !arrow && depth == 0 => break,
                            '>' if !arrow => depth -= 1,
                            '<' => depth += 1,
                            _ => {}
                        }
                        arrow = punct.as_char() == '-';
                    } else {
                        arrow = false;
                    }
                    tokens.next();
                }
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), without_impl(group.stream()));
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
            }
            other => out.extend([other]),
        }
    }
    out
}
