//! Judges what is said against the type.

use super::Mistakes;
use super::answer::{Answer, Place, answer};
use super::parse::{Meaning, Said, Words};
use proc_macro2::Ident;
use syn::{Data, DataEnum, DeriveInput, Field, Fields, Variant};

/// What the expansion is written from: one case for a struct, one for each variant of an enum.
pub(super) struct Plan<'a> {
    pub(super) cases: Vec<Case<'a>>,
}

/// A variant, or a struct as a whole.
pub(super) struct Case<'a> {
    /// `None` is the struct itself.
    pub(super) variant: Option<&'a Ident>,
    pub(super) fields: &'a Fields,
    pub(super) answer: Answer<'a>,
}

/// Judges the whole type. The plan is complete when there is no mistake.
pub(super) fn plan<'a>(input: &'a DeriveInput, said: &'a Said, mistakes: &mut Mistakes) -> Plan<'a> {
    match &input.data {
        Data::Struct(data) => of_struct(&input.ident, &data.fields, &said.on_type, mistakes),
        Data::Enum(data) => of_enum(&input.ident, data, said, mistakes),
        Data::Union(data) => {
            mistakes
                .at(data.union_token, "a union doesn't know what is in it: derive `Retryable` on a struct or an enum");
            Plan { cases: Vec::new() }
        }
    }
}

fn of_struct<'a>(name: &'a Ident, fields: &'a Fields, said: &'a Words, mistakes: &mut Mistakes) -> Plan<'a> {
    let answer = answer(said, Place::Struct(name, fields), mistakes);
    if said.is_silent() && mistakes.none_yet() {
        mistakes.at(
            name,
            format!(
                "nothing says whether `{name}` is worth a retry: `#[retry(transient)]`, `#[retry(throttling)]` or \
                 `#[retry(never)]`; around another error `#[retry(transparent)]`"
            ),
        );
    }
    let cases = answer.into_iter().map(|answer| Case { variant: None, fields, answer }).collect();
    Plan { cases }
}

fn of_enum<'a>(name: &'a Ident, data: &'a DataEnum, said: &'a Said, mistakes: &mut Mistakes) -> Plan<'a> {
    let default = answer(&said.on_type, Place::Enum, mistakes);
    let mut cases = Vec::new();
    let mut exhausted: Option<&Ident> = None;
    for (variant, words) in data.variants.iter().zip(&said.on_variants) {
        let place = Place::Variant(&variant.ident, &variant.fields);
        let own = answer(words, place, mistakes);
        if let Some(Answer::GivenUp(_)) = own {
            match exhausted {
                Some(first) => second_exhausted(words, first, mistakes),
                None => exhausted = Some(&variant.ident),
            }
        }
        if words.is_silent() && said.on_type.is_silent() {
            must_say_if_converted(variant, mistakes);
        }
        let answer = own.or_else(|| default.clone()).unwrap_or(Answer::Never);
        cases.push(Case { variant: Some(&variant.ident), fields: &variant.fields, answer });
    }
    let something = default.is_some() || cases.is_empty() || cases.iter().any(|case| case.answer.may_retry());
    if !something && mistakes.none_yet() {
        nothing_is_retried(name, mistakes);
    }
    Plan { cases }
}

fn second_exhausted(words: &Words, first: &Ident, mistakes: &mut Mistakes) {
    for word in words.words.iter().filter(|word| matches!(word.meaning, Meaning::Exhausted)) {
        mistakes.at(
            &word.name,
            format!("a call that was given up can go to one variant only, and `{first}` is `exhausted` already"),
        );
    }
}

/// `?` makes such a variant out of another error without a word in the code: whether that is worth a retry has to be
/// said.
fn must_say_if_converted(variant: &Variant, mistakes: &mut Mistakes) {
    let converted = |field: &Field| field.attrs.iter().any(|attr| attr.path().is_ident("from"));
    if variant.fields.iter().any(converted) {
        let name = &variant.ident;
        mistakes.at(
            name,
            format!(
                "`?` turns another error into `{name}`, and nothing says whether that is worth a retry: \
                 `#[retry(transparent)]` asks the error inside; or say `transient`, `throttling`, `never` or `with = path`"
            ),
        );
    }
}

fn nothing_is_retried(name: &Ident, mistakes: &mut Mistakes) {
    mistakes.at(
        name,
        format!(
            "no variant of `{name}` is ever worth a retry: say which are, with `#[retry(transient)]`, \
             `#[retry(throttling)]` or `#[retry(transparent)]` on them; if none is meant to be, say `#[retry(never)]` on \
             the enum"
        ),
    );
}
