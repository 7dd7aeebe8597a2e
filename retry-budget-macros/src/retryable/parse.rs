//! Tokens → what each `#[retry(…)]` says.

use super::Mistakes;
use crate::suggest::nearest;
use proc_macro2::{Ident, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Data, DeriveInput, Error, ExprPath, Fields, Lit, Member, Meta, Path, Result, Token, parse_quote};

/// What the type and each of its variants say. A struct has no variants: everything is said on the type.
pub(super) struct Said {
    pub(super) on_type: Words,
    pub(super) on_variants: Vec<Words>,
}

/// The words on one type or variant, in the order of the source.
pub(super) struct Words {
    pub(super) words: Vec<Word>,
    /// A part could not be read: what is missing here may have been meant by it.
    pub(super) broken: bool,
}

/// One word, and where it stands.
pub(super) struct Word {
    pub(super) name: Ident,
    pub(super) meaning: Meaning,
}

pub(super) enum Meaning {
    Transient,
    Throttling,
    Never,
    Transparent,
    Exhausted,
    With(ExprPath),
    After(Member),
    NotSent,
    Crate(Path),
}

/// All words, for "did you mean".
const WORDS: [&str; 9] =
    ["transient", "throttling", "never", "transparent", "exhausted", "with", "after", "not_sent", "crate"];

/// What others call it, and what it is called here.
const ELSEWHERE: [(&[&str], &str); 8] = [
    (&["retryable", "retriable", "retry", "retries", "temporary", "recoverable", "timeout"], "transient"),
    (&["kind"], "transient` or `throttling"),
    (
        &["permanent", "fatal", "skip", "no_retry", "not_retryable", "abort", "ignore", "client", "unrecoverable"],
        "never",
    ),
    (&["throttled", "throttle", "rate_limited", "rate_limit", "ratelimited", "overloaded", "busy"], "throttling"),
    (&["retry_after", "delay", "wait", "hint", "backoff"], "after = field"),
    (&["from", "source", "inner", "forward", "delegate", "nested"], "transparent"),
    (&["classify", "when", "by", "func", "function", "predicate", "if"], "with = path"),
    (&["gave_up", "given_up", "give_up", "stopped"], "exhausted"),
];

impl Words {
    /// Nothing about retries, and nothing that might have been meant so.
    pub(super) fn is_silent(&self) -> bool {
        !self.broken && self.words.iter().all(|word| matches!(word.meaning, Meaning::Crate(_)))
    }
}

impl Said {
    /// The path to the crate's root in the expansion.
    pub(super) fn root(&self) -> Path {
        let written = self.on_type.words.iter().find_map(|word| match &word.meaning {
            Meaning::Crate(path) => Some(path.clone()),
            _ => None,
        });
        written.unwrap_or_else(|| parse_quote!(::retry_budget))
    }
}

/// Reads every `#[retry(…)]` in the input.
pub(super) fn said(input: &DeriveInput, mistakes: &mut Mistakes) -> Said {
    let on_type = words(&input.attrs, mistakes);
    let mut on_variants = Vec::new();
    match &input.data {
        Data::Enum(data) => {
            for variant in &data.variants {
                on_variants.push(words(&variant.attrs, mistakes));
                refuse_on_fields(&variant.fields, "variant", mistakes);
            }
        }
        Data::Struct(data) => refuse_on_fields(&data.fields, "struct", mistakes),
        Data::Union(_) => {}
    }
    Said { on_type, on_variants }
}

fn ours(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("retry"))
}

fn refuse_on_fields(fields: &Fields, owner: &str, mistakes: &mut Mistakes) {
    for (field, member) in fields.iter().zip(fields.members()) {
        for attr in ours(&field.attrs) {
            let member = member.to_token_stream();
            mistakes.at(
                attr,
                format!(
                    "`#[retry(…)]` goes on the {owner}, not on its field: `#[retry(transparent)]` there asks the error in \
                     this field, `#[retry(throttling, after = {member})]` waits as long as it says"
                ),
            );
        }
    }
}

fn words(attrs: &[Attribute], mistakes: &mut Mistakes) -> Words {
    let mut words = Words { words: Vec::new(), broken: false };
    for attr in ours(attrs) {
        if let Err(error) = attribute(attr, &mut words, mistakes) {
            words.broken = true;
            mistakes.push(error);
        }
    }
    words
}

fn attribute(attr: &Attribute, words: &mut Words, mistakes: &mut Mistakes) -> Result<()> {
    let form = "whether this is worth a retry stands in parentheses: `#[retry(transient)]`, `#[retry(throttling)]`, \
                `#[retry(never)]`, or `#[retry(transparent)]` to ask the error inside";
    match &attr.meta {
        Meta::List(list) if !list.tokens.is_empty() => {
            let read = |input: ParseStream<'_>| {
                list_of_words(input, words, mistakes);
                Ok(())
            };
            read.parse2(list.tokens.clone())
        }
        _ => Err(Error::new_spanned(attr, form)),
    }
}

/// Reads word by word; after a mistake it goes on behind the next comma.
fn list_of_words(input: ParseStream<'_>, words: &mut Words, mistakes: &mut Mistakes) {
    while !input.is_empty() {
        match word(input).and_then(|word| end_of_word(input, &word.name).map(|()| word)) {
            Ok(word) => words.words.push(word),
            Err(error) => {
                words.broken = true;
                mistakes.push(error);
                rest_of_word(input);
            }
        }
        // Behind a word there is a comma or nothing, so this can't fail.
        let _: Result<Option<Token![,]>> = input.parse();
    }
}

fn rest_of_word(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let _: Result<TokenTree> = input.parse();
    }
}

fn end_of_word(input: ParseStream<'_>, name: &Ident) -> Result<()> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(());
    }
    let next: TokenTree = input.fork().parse()?;
    let message = match next {
        TokenTree::Ident(next) => format!("a comma is missing before `{next}`"),
        _ => format!("`{name}` ends before this: a comma or nothing can follow"),
    };
    Err(input.error(message))
}

fn word(input: ParseStream<'_>) -> Result<Word> {
    let name = name(input)?;
    let meaning = match name.to_string().as_str() {
        "transient" => alone(input, &name, Meaning::Transient)?,
        "throttling" => alone(input, &name, Meaning::Throttling)?,
        "never" => alone(input, &name, Meaning::Never)?,
        "transparent" => alone(input, &name, Meaning::Transparent)?,
        "exhausted" => alone(input, &name, Meaning::Exhausted)?,
        "not_sent" => alone(input, &name, Meaning::NotSent)?,
        "with" => Meaning::With(function(input, &name)?),
        "after" => Meaning::After(field(input, &name)?),
        "crate" => Meaning::Crate(root(input, &name)?),
        unknown => return Err(Error::new_spanned(&name, say_unknown(unknown))),
    };
    Ok(Word { name, meaning })
}

fn name(input: ParseStream<'_>) -> Result<Ident> {
    if let Ok(Lit::Str(quoted)) = input.fork().parse() {
        let word = quoted.value();
        let instead = if WORDS.contains(&word.as_str()) { word.as_str() } else { "transient" };
        return Err(Error::new_spanned(quoted, format!("a word without quotes: `{instead}`")));
    }
    let name = input
        .call(Ident::parse_any)
        .map_err(|error| Error::new(error.span(), format!("not a word of `#[retry(…)]`: {}", all_words())))?;
    if input.peek(Token![::]) {
        return Err(Error::new_spanned(name, "a word without a path: `transient`, `throttling`, `never`"));
    }
    Ok(name)
}

fn say_unknown(word: &str) -> String {
    let elsewhere = ELSEWHERE.iter().find(|(words, _)| words.contains(&word.to_lowercase().as_str()));
    match (elsewhere, nearest(word, &WORDS)) {
        (Some((_, here)), _) => format!("`{word}` is called `{here}` here"),
        (None, Some(here)) => format!("unknown word `{word}`; did you mean `{here}`?"),
        (None, None) => format!("unknown word `{word}`: {}", all_words()),
    }
}

fn all_words() -> &'static str {
    "there are `transient`, `throttling`, `never`, `transparent`, `with = path`, `exhausted`, and beside a kind `after = \
     field` and `not_sent`"
}

fn alone(input: ParseStream<'_>, name: &Ident, meaning: Meaning) -> Result<Meaning> {
    if input.peek(Token![=]) || input.peek(syn::token::Paren) {
        return Err(input.error(format!("`{name}` stands alone, without a value")));
    }
    Ok(meaning)
}

fn function(input: ParseStream<'_>, name: &Ident) -> Result<ExprPath> {
    let explain = "`with` takes the path of a function, from `&Self` to a `bool`, an `Option<RetryKind>` or a `Verdict`: \
                   `with = is_busy`";
    value(input, name, explain)
}

fn field(input: ParseStream<'_>, name: &Ident) -> Result<Member> {
    let explain = "`after` takes the field that says how long to wait, by its name or its index: `after = retry_after`, \
                   `after = 0`";
    value(input, name, explain)
}

fn root(input: ParseStream<'_>, name: &Ident) -> Result<Path> {
    let explain = "`crate` takes the path to this crate from where the type is: `crate = my_framework::retry_budget`";
    value(input, name, explain)
}

/// What stands behind the `=`.
fn value<T: Parse>(input: ParseStream<'_>, name: &Ident, explain: &str) -> Result<T> {
    if input.parse::<Option<Token![=]>>()?.is_none() || input.is_empty() || input.peek(Token![,]) {
        return Err(Error::new_spanned(name, explain));
    }
    if let Ok(Lit::Str(quoted)) = input.fork().parse() {
        return Err(Error::new_spanned(&quoted, format!("without quotes: `{name} = {}`", quoted.value())));
    }
    let start = input.span();
    input.parse().map_err(|_| Error::new(start, explain))
}
