//! What is written between the parentheses of `#[retry_budget(…)]`.

use super::function::mentions;
use super::value::{self, Takes, Value};
use super::words::{Kind, NESTED, OTHERS, Owner, setting_of, unknown, without_name};
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, LitStr, Path, Result, Token};

/// One option as it was written.
#[derive(Clone)]
pub(super) struct Written<T> {
    pub(super) name: Ident,
    pub(super) value: T,
}

/// All options as they were written, each in the order of its appearance.
#[derive(Default)]
pub(super) struct Options {
    pub(super) settings: Vec<(Owner, Written<Value>)>,
    pub(super) budget: Option<Written<Expr>>,
    pub(super) kind: Option<Written<Kind>>,
    pub(super) policy: Option<Written<Expr>>,
    pub(super) classify: Option<Written<Expr>>,
    pub(super) classify_ok: Option<Written<Expr>>,
    pub(super) attempt_timeout: Option<Written<Value>>,
    pub(super) deadline: Option<Written<Value>>,
    pub(super) elapsed: Option<Written<Expr>>,
    pub(super) nested: Option<Written<Value>>,
    pub(super) timer: Option<Written<Expr>>,
    pub(super) on_retry: Option<Written<Expr>>,
    pub(super) on_stop: Option<Written<Expr>>,
    pub(super) attempt: Option<Written<Ident>>,
    pub(super) clone: Vec<Ident>,
    pub(super) keep: Vec<Ident>,
    pub(super) once: Vec<(Ident, Expr)>,
    pub(super) runtime: Option<Path>,
}

impl Options {
    /// Reads as much as can be read, with everything that is wrong.
    pub(super) fn parse(tokens: TokenStream) -> (Self, Vec<Error>) {
        let mut options = Self::default();
        let mut problems = Vec::new();
        let mut seen: Vec<Ident> = Vec::new();
        let kind = kind_among(&tokens);
        let read = |input: ParseStream<'_>| {
            while !input.is_empty() {
                if let Err(problem) = options.read_one(input, kind, &mut seen) {
                    problems.push(problem);
                    skip_to_comma(input)?;
                }
                if !input.is_empty() && input.parse::<Token![,]>().is_err() {
                    problems.push(input.error("options are separated by commas: a `,` is missing before this"));
                    if input.peek(syn::Ident::peek_any) {
                        continue;
                    }
                    skip_to_comma(input)?;
                    let _: Option<Token![,]> = input.parse()?;
                }
            }
            Ok(())
        };
        let read = read.parse2(tokens);
        problems.extend(read.err());
        problems.extend(repeated(&seen));
        (options, problems)
    }

    /// The names that stand in the options' expressions.
    pub(super) fn mentioned(&self) -> Vec<String> {
        let exprs = [
            &self.budget,
            &self.policy,
            &self.classify,
            &self.classify_ok,
            &self.elapsed,
            &self.on_retry,
            &self.on_stop,
        ];
        let exprs = exprs.into_iter().flatten().map(|written| &written.value);
        let exprs = exprs.chain(self.once.iter().map(|(_, expr)| expr)).map(quote::ToTokens::to_token_stream);
        let limits = [&self.attempt_timeout, &self.deadline].into_iter().flatten();
        let values = limits.chain(self.settings.iter().map(|(_, written)| written));
        let values = values.filter_map(|written| written.value.tokens()).cloned();
        let mut names = Vec::new();
        exprs.chain(values).for_each(|tokens| collect_names(tokens, &mut names));
        names
    }

    /// In a body where `self` is called something else, an option means the same `self`.
    pub(super) fn rename_self(&mut self, renamed: &Ident) {
        let exprs = [
            &mut self.budget,
            &mut self.policy,
            &mut self.classify,
            &mut self.classify_ok,
            &mut self.elapsed,
            &mut self.on_retry,
            &mut self.on_stop,
        ];
        let exprs = exprs.into_iter().flatten().map(|written| &mut written.value);
        for expr in exprs.chain(self.once.iter_mut().map(|(_, expr)| expr)) {
            let tokens = quote::ToTokens::to_token_stream(expr);
            if mentions(tokens.clone(), "self") {
                *expr = Expr::Verbatim(with_self_renamed(tokens, renamed));
            }
        }
        let limits = [&mut self.attempt_timeout, &mut self.deadline].into_iter().flatten();
        for value in limits.chain(self.settings.iter_mut().map(|(_, written)| written)) {
            value.value.map_tokens(|tokens| with_self_renamed(tokens, renamed));
        }
    }

    fn read_one(&mut self, input: ParseStream<'_>, kind: Kind, seen: &mut Vec<Ident>) -> Result<()> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error("expected an option, such as `max_attempts = 3`"));
        }
        let name = Ident::parse_any(input)?;
        seen.push(name.clone());
        let text = name.to_string();
        if let Some(setting) = setting_of(&text, kind) {
            let expr = value_of(input, &name, &format!("{text} = …"))?;
            let value = setting.takes.read(&text, &expr)?;
            self.settings.push((setting.owner, Written { name, value }));
            return Ok(());
        }
        let Some((_, form)) = OTHERS.iter().find(|(known, _)| *known == text) else {
            return Err(if input.is_empty() || input.peek(Token![,]) || input.peek(Token![::]) {
                without_name(&name)
            } else {
                unknown(&name)
            });
        };
        match text.as_str() {
            "clone" => self.clone.extend(names_of(input, &name, form)?),
            "keep" => self.keep.extend(names_of(input, &name, form)?),
            "once" => self.once.extend(bindings_of(input, &name, form)?),
            "kind" => {
                let value = read_kind(&value_of(input, &name, form)?)?;
                self.kind.get_or_insert(Written { name, value });
            }
            "attempt_timeout" | "deadline" | "nested" => {
                let takes = if text == "nested" { NESTED } else { Takes::Duration };
                let value = takes.read(&text, &value_of(input, &name, form)?)?;
                if value.literal_duration().is_some_and(|limit| limit.is_zero()) {
                    return Err(Error::new(value.span, format!("`{text}` of nothing would cut off every attempt")));
                }
                let slot = match text.as_str() {
                    "attempt_timeout" => &mut self.attempt_timeout,
                    "deadline" => &mut self.deadline,
                    _ => &mut self.nested,
                };
                slot.get_or_insert(Written { name, value });
            }
            "attempt" => {
                let value = value_of(input, &name, form)?;
                let value = syn::parse2(quote::ToTokens::to_token_stream(&value)).map_err(|_| {
                    Error::new_spanned(&value, "`attempt` takes the name under which the body sees the attempt")
                })?;
                self.attempt.get_or_insert(Written { name, value });
            }
            "crate" => {
                let value = value_of(input, &name, form)?;
                let Expr::Path(path) = value else {
                    return Err(Error::new_spanned(
                        value,
                        "`crate` takes the path under which `retry_budget` is found",
                    ));
                };
                self.runtime.get_or_insert(path.path);
            }
            _ => {
                let value = value_of(input, &name, form)?;
                if text == "timer" && !is_type(&value) {
                    return Err(Error::new_spanned(
                        value,
                        "`timer` takes a type, not a value: one that implements `retry_budget::Timer`, by its path",
                    ));
                }
                let slot = match text.as_str() {
                    "budget" => &mut self.budget,
                    "policy" => &mut self.policy,
                    "classify" => &mut self.classify,
                    "classify_ok" => &mut self.classify_ok,
                    "elapsed" => &mut self.elapsed,
                    "timer" => &mut self.timer,
                    "on_retry" => &mut self.on_retry,
                    _ => &mut self.on_stop,
                };
                slot.get_or_insert(Written { name, value });
            }
        }
        Ok(())
    }
}

/// Whether an expression is a path, which can be a type's.
fn is_type(value: &Expr) -> bool {
    match value {
        Expr::Path(_) => true,
        Expr::Group(group) => is_type(&group.expr),
        _ => false,
    }
}

/// The kind that is written somewhere among the options: what a setting takes may depend on it.
fn kind_among(tokens: &TokenStream) -> Kind {
    let tokens: Vec<_> = tokens.clone().into_iter().collect();
    let kinds = tokens.windows(3).filter_map(|words| match words {
        [TokenTree::Ident(name), TokenTree::Punct(_), value] if name == "kind" => {
            let word: LitStr = syn::parse2(value.clone().into()).ok()?;
            Kind::ALL.iter().find(|(name, _)| *name == word.value())
        }
        _ => None,
    });
    kinds.map(|(_, kind)| *kind).next().unwrap_or(Kind::Token)
}

fn value_of(input: ParseStream<'_>, name: &Ident, form: &str) -> Result<Expr> {
    if !input.peek(Token![=]) || input.peek(Token![==]) || input.peek(Token![=>]) {
        return Err(if input.is_empty() || input.peek(Token![,]) {
            Error::new_spanned(name, format!("`{name}` needs a value: `{form}`"))
        } else {
            input.error(format!("write `{form}`"))
        });
    }
    let equals: Token![=] = input.parse()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(Error::new_spanned(equals, format!("`{name}` needs a value: `{form}`")));
    }
    // On a fork, so that the rest of a value that can't be read can be skipped.
    let ahead = input.fork();
    let value = ahead.parse().map_err(|error: Error| {
        // The end of the options has no place of its own.
        if ahead.is_empty() {
            Error::new_spanned(name, format!("the value of `{name}` isn't complete: {error}"))
        } else {
            error
        }
    })?;
    syn::parse::discouraged::Speculative::advance_to(input, &ahead);
    Ok(value)
}

fn names_of(input: ParseStream<'_>, name: &Ident, form: &str) -> Result<Vec<Ident>> {
    let names: Punctuated<Ident, Token![,]> = in_parentheses(input, name, form, Ident::parse_any)?;
    Ok(names.into_iter().collect())
}

fn bindings_of(input: ParseStream<'_>, name: &Ident, form: &str) -> Result<Vec<(Ident, Expr)>> {
    let bindings = in_parentheses(input, name, form, |input: ParseStream<'_>| {
        let key: Ident = input.parse()?;
        if !input.peek(Token![=]) {
            return Err(Error::new_spanned(
                &key,
                format!("`once` binds a name to a value that is made once for all attempts: `once({key} = …)`"),
            ));
        }
        input.parse::<Token![=]>()?;
        Ok((key, input.parse()?))
    })?;
    Ok(bindings.into_iter().collect())
}

fn in_parentheses<T>(
    input: ParseStream<'_>,
    name: &Ident,
    form: &str,
    item: fn(ParseStream<'_>) -> Result<T>,
) -> Result<Punctuated<T, Token![,]>> {
    if !input.peek(syn::token::Paren) {
        return Err(Error::new_spanned(name, format!("write `{form}`")));
    }
    let inside;
    syn::parenthesized!(inside in input);
    if inside.is_empty() {
        return Err(Error::new_spanned(name, format!("write `{form}`")));
    }
    Punctuated::parse_terminated_with(&inside, item)
}

fn read_kind(value: &Expr) -> Result<Kind> {
    if let Expr::Path(path) = value
        && let Some(ident) = path.path.get_ident()
    {
        return Err(Error::new_spanned(value, format!("write the kind in quotes: `kind = \"{ident}\"`")));
    }
    let text: LitStr = syn::parse2(quote::ToTokens::to_token_stream(value))
        .map_err(|_| Error::new_spanned(value, format!("`kind` is one of {}", value::list(Kind::ALL))))?;
    match Kind::ALL.iter().find(|(word, _)| *word == text.value()) {
        Some((_, kind)) => Ok(*kind),
        None => Err(value::unknown_word("kind", &text, Kind::ALL)),
    }
}

fn repeated(seen: &[Ident]) -> Vec<Error> {
    let twice = |name: &&Ident| {
        !matches!(name.to_string().as_str(), "clone" | "keep" | "once")
            && seen.iter().filter(|other| *other == *name).count() > 1
    };
    seen.iter()
        .filter(twice)
        .map(|name| Error::new_spanned(name, format!("`{name}` is given more than once: keep one")))
        .collect()
}

fn skip_to_comma(input: ParseStream<'_>) -> Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        TokenTree::parse(input)?;
    }
    Ok(())
}

fn collect_names(tokens: TokenStream, names: &mut Vec<String>) {
    for tree in tokens {
        match tree {
            TokenTree::Ident(ident) => names.push(ident.to_string()),
            TokenTree::Group(group) => collect_names(group.stream(), names),
            _ => {}
        }
    }
}

fn with_self_renamed(tokens: TokenStream, renamed: &Ident) -> TokenStream {
    let rename = |tree| match tree {
        TokenTree::Ident(ident) if ident == "self" => {
            let mut renamed = renamed.clone();
            renamed.set_span(renamed.span().located_at(ident.span()));
            TokenTree::Ident(renamed)
        }
        TokenTree::Group(group) => {
            let mut inside = Group::new(group.delimiter(), with_self_renamed(group.stream(), renamed));
            inside.set_span(group.span());
            TokenTree::Group(inside)
        }
        other => other,
    };
    tokens.into_iter().map(rename).collect()
}
