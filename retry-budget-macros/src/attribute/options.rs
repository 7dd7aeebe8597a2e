//! What is written between the parentheses of `#[retry_budget(…)]`.

use super::value::{self, Takes, Value};
use crate::suggest::nearest;
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, LitStr, Path, Result, Token};

/// Which builder a setting belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Policy,
    Kind(Kind),
}

/// The kinds of budget a function can have of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Token,
    Ratio,
    Credit,
    Concurrency,
    Grpc,
}

impl Kind {
    pub(super) const ALL: &[(&'static str, Self)] = &[
        ("token", Self::Token),
        ("ratio", Self::Ratio),
        ("credit", Self::Credit),
        ("concurrency", Self::Concurrency),
        ("grpc", Self::Grpc),
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Ratio => "ratio",
            Self::Credit => "credit",
            Self::Concurrency => "concurrency",
            Self::Grpc => "grpc",
        }
    }

    /// The kinds that have this setting.
    pub(super) fn with(setting: &Ident) -> Vec<Self> {
        let of = |owner| if let Owner::Kind(kind) = owner { Some(kind) } else { None };
        SETTINGS.iter().filter(|row| setting == row.name).filter_map(|row| of(row.owner)).collect()
    }
}

/// A setting: an option that is a method of a builder. One that several kinds have is a row for each.
struct Setting {
    name: &'static str,
    owner: Owner,
    takes: Takes,
}

const JITTER: Takes = Takes::Word(&[("full", "Jitter::Full"), ("equal", "Jitter::Equal"), ("none", "Jitter::None")]);
const WHEN_EMPTY: Takes = Takes::Word(&[("fail", "WhenEmpty::Fail"), ("pause", "WhenEmpty::Pause")]);
const TOKENS: &str = "takes a number of tokens, at most 2147483648";

const SETTINGS: &[Setting] = &{
    use Owner::{Kind as Of, Policy};
    const fn setting(name: &'static str, owner: Owner, takes: Takes) -> Setting {
        Setting { name, owner, takes }
    }
    const fn count(least: u64, most: u64, problem: &'static str) -> Takes {
        Takes::Count { least, most, problem }
    }
    [
        setting(
            "max_attempts",
            Policy,
            count(1, u32::MAX as u64, "`max_attempts` counts the first call, so it is at least 1; 1 means never retry"),
        ),
        setting("base_delay", Policy, Takes::Duration),
        setting("max_delay", Policy, Takes::Duration),
        setting("throttling_base_delay", Policy, Takes::Duration),
        setting("jitter", Policy, JITTER),
        setting("when_empty", Policy, WHEN_EMPTY),
        setting("retry_after_limit", Policy, Takes::Duration),
        setting("idempotent", Policy, Takes::Flag),
        setting(
            "capacity",
            Of(Kind::Token),
            count(
                1,
                1 << 31,
                "`capacity` is 1 to 2147483648 tokens; a budget that never grants is `budget = retry_budget::NEVER`",
            ),
        ),
        setting("initial", Of(Kind::Token), count(0, 1 << 31, TOKENS)),
        setting(
            "transient_cost",
            Of(Kind::Token),
            count(
                1,
                u32::MAX as u64,
                "`transient_cost` is at least 1 token; free retries are `budget = retry_budget::UNLIMITED`",
            ),
        ),
        setting("throttling_cost", Of(Kind::Token), count(0, u32::MAX as u64, TOKENS)),
        setting("success_refund", Of(Kind::Token), count(0, 1 << 31, TOKENS)),
        setting("ratio", Of(Kind::Ratio), Takes::Share),
        setting("window", Of(Kind::Ratio), Takes::Window),
        setting("min_retries", Of(Kind::Ratio), count(0, 1 << 20, "`min_retries` is 0 to 1048576 retries in a window")),
        setting("ratio", Of(Kind::Credit), Takes::Share),
        setting(
            "burst",
            Of(Kind::Credit),
            count(
                1,
                4_000,
                "`burst` is 1 to 4000 retries; a budget that never grants is `budget = retry_budget::NEVER`",
            ),
        ),
        setting(
            "initial",
            Of(Kind::Credit),
            Takes::Amount { least: 0.0, most: 4_000.0, problem: "`initial` is 0 to `burst`, in retries, such as 0.5" },
        ),
        setting("ratio", Of(Kind::Concurrency), Takes::Share),
        setting(
            "min_retry_concurrency",
            Of(Kind::Concurrency),
            count(0, 1 << 20, "`min_retry_concurrency` is 0 to 1048576 retries at a time"),
        ),
        setting(
            "max_tokens",
            Of(Kind::Grpc),
            count(
                3,
                1_000,
                "`max_tokens` is 3 to 1000: a failure takes one, and more than half must be left for a retry",
            ),
        ),
        setting(
            "token_ratio",
            Of(Kind::Grpc),
            Takes::Amount {
                least: 0.000_5,
                most: 1_000.0,
                problem: "`token_ratio` is 0.001 to 1000 tokens, which a success puts back",
            },
        ),
    ]
};

const NESTED: Takes = Takes::Word(&[("stop", "stop"), ("retry", "retry")]);

/// Options that are no settings, each with the form it is written in.
const OTHERS: &[(&str, &str)] = &[
    ("budget", "budget = PARTNER"),
    ("kind", "kind = \"token\""),
    ("policy", "policy = POLICY"),
    ("classify", "classify = |error| …"),
    ("classify_ok", "classify_ok = |value| …"),
    ("attempt_timeout", "attempt_timeout = \"1s\""),
    ("deadline", "deadline = \"3s\""),
    ("elapsed", "elapsed = |elapsed| …"),
    ("nested", "nested = \"retry\""),
    ("timer", "timer = MyTimer"),
    ("on_retry", "on_retry = |event| …"),
    ("on_stop", "on_stop = |event| …"),
    ("attempt", "attempt = attempt"),
    ("clone", "clone(argument)"),
    ("keep", "keep(argument)"),
    ("once", "once(key = EXPR)"),
    ("crate", "crate = path::to::retry_budget"),
];

/// What other libraries call things, and what to write here.
const OTHER_WORDS: &[(&[&str], &str)] = &[
    (
        &["name"],
        "a budget has no name to share by: declare `static PARTNER: TokenBudget = …` once and write `budget = PARTNER`",
    ),
    (
        &["max_retries", "retries", "times", "max_times", "num_retries"],
        "write `max_attempts`, which counts the first call too: 2 retries are `max_attempts = 3`",
    ),
    (&["attempts", "max_tries", "tries", "max_attempt"], "write `max_attempts`, which counts the first call too"),
    (
        &["delay", "min_delay", "initial_delay", "initial_backoff", "backoff", "interval"],
        "write `base_delay`: it doubles with each retry, up to `max_delay`",
    ),
    (&["max_backoff", "cap", "max_interval"], "write `max_delay`"),
    (&["retry_after_max", "max_retry_after"], "write `retry_after_limit`"),
    (
        &["when", "retry_if", "retryable", "condition", "retry_on", "predicate"],
        "write `classify = |error| …`, which gives `true` for what is worth a retry",
    ),
    (&["notify", "on_error", "before_sleep"], "write `on_retry = |event| …`"),
    (
        &["timeout", "request_timeout", "per_try_timeout", "time_limit", "timeout_per_attempt"],
        "write `attempt_timeout = \"1s\"` for each attempt, `deadline = \"3s\"` for the whole call",
    ),
    (
        &["total_timeout", "total_delay", "max_elapsed_time", "max_duration", "max_total_delay", "overall_timeout"],
        "write `deadline = \"3s\"`",
    ),
    (&["sleep", "sleeper"], "write `timer = MyTimer`, a type with a clock and a sleep"),
    (&["factor", "multiplier", "exponent"], "a delay always doubles: write `base_delay` and `max_delay`"),
    (
        &["percent", "retry_percent", "budget_percent", "retry_ratio", "percent_can_retry"],
        "write `kind = \"ratio\", ratio = 0.1` for 10 %",
    ),
    (&["ttl"], "write `kind = \"ratio\", window = \"10s\"`"),
    (
        &["min_retries_per_sec", "min_per_sec", "reserve"],
        "write `kind = \"ratio\", min_retries = …`, the retries allowed in each window",
    ),
    (&["tokens"], "write `kind = \"token\", capacity = …`"),
];

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
            if mentions_self(&tokens) {
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

/// The setting of this name: that of the kind if it has one, else that of any other.
fn setting_of(name: &str, kind: Kind) -> Option<&'static Setting> {
    let mut rows = SETTINGS.iter().filter(|row| row.name == name);
    rows.clone().find(|row| row.owner == Owner::Kind(kind)).or_else(|| rows.next())
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

/// A word that stands alone: most likely the budget.
fn without_name(name: &Ident) -> Error {
    let text = name.to_string();
    if text.chars().any(char::is_uppercase) || text == "self" || text == "super" {
        return Error::new_spanned(
            name,
            format!("say what this is: `budget = {name}` for the budget that calls share"),
        );
    }
    unknown(name)
}

fn unknown(name: &Ident) -> Error {
    let text = name.to_string();
    if let Some((_, advice)) = OTHER_WORDS.iter().find(|(words, _)| words.contains(&text.as_str())) {
        return Error::new_spanned(name, format!("there is no option `{text}`: {advice}"));
    }
    let mut known: Vec<_> =
        SETTINGS.iter().map(|setting| setting.name).chain(OTHERS.iter().map(|(name, _)| *name)).collect();
    let mut seen = HashSet::new();
    known.retain(|name| seen.insert(*name));
    let advice = match nearest(&text, &known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the options are {}", known.join(", ")),
    };
    Error::new_spanned(name, format!("there is no option `{text}`; {advice}"))
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

fn mentions_self(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == "self",
        TokenTree::Group(group) => mentions_self(&group.stream()),
        _ => false,
    })
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
