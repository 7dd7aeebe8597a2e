//! The words of the options: what there is, what each takes, and what other libraries call it.

use super::value::Takes;
use crate::suggest::nearest;
use proc_macro2::Ident;
use std::collections::HashSet;
use syn::Error;

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
pub(super) struct Setting {
    name: &'static str,
    pub(super) owner: Owner,
    pub(super) takes: Takes,
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

pub(super) const NESTED: Takes = Takes::Word(&[("stop", "stop"), ("retry", "retry")]);

/// Options that are no settings, each with the form it is written in.
pub(super) const OTHERS: &[(&str, &str)] = &[
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

/// The setting of this name: that of the kind if it has one, else that of any other.
pub(super) fn setting_of(name: &str, kind: Kind) -> Option<&'static Setting> {
    let mut rows = SETTINGS.iter().filter(|row| row.name == name);
    rows.clone().find(|row| row.owner == Owner::Kind(kind)).or_else(|| rows.next())
}

/// A word that stands alone: most likely the budget.
pub(super) fn without_name(name: &Ident) -> Error {
    let text = name.to_string();
    if text.chars().any(char::is_uppercase) || text == "self" || text == "super" {
        return Error::new_spanned(
            name,
            format!("say what this is: `budget = {name}` for the budget that calls share"),
        );
    }
    unknown(name)
}

pub(super) fn unknown(name: &Ident) -> Error {
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
