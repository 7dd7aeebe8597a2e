//! The words in one place → one answer.

use super::Mistakes;
use super::parse::{Meaning, Word, Words};
use crate::suggest::nearest;
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{ExprPath, Field, Fields, Member};

/// How a variant, or a struct, answers whether it is worth a retry.
#[derive(Clone)]
pub(super) enum Answer<'a> {
    Never,
    Worth { kind: Kind, not_sent: bool, after: Option<&'a Member> },
    AskInner(Part<'a>),
    AskFunction(&'a ExprPath),
    GivenUp(Part<'a>),
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Transient,
    Throttling,
}

/// The only field of a variant or struct.
#[derive(Clone)]
pub(super) struct Part<'a> {
    pub(super) member: Member,
    pub(super) field: &'a Field,
}

impl Answer<'_> {
    pub(super) const fn may_retry(&self) -> bool {
        matches!(self, Self::Worth { .. } | Self::AskInner(_) | Self::AskFunction(_))
    }
}

/// Where the words stand.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Struct(&'a Ident, &'a Fields),
    /// On the enum itself: a default for variants that say nothing.
    Enum,
    Variant(&'a Ident, &'a Fields),
}

/// What the words come to. `None` when they give no answer, or are wrong.
pub(super) fn answer<'a>(said: &'a Words, place: Place<'a>, mistakes: &mut Mistakes) -> Option<Answer<'a>> {
    repeated(said, mistakes);
    let words: Vec<&Word> = said.words.iter().filter(|word| belongs(word, place, mistakes)).collect();
    let main = words.iter().copied().find(|word| word.meaning.is_answer());
    for word in &words {
        match main {
            Some(main) if word.meaning.is_answer() => contradiction(main, word, mistakes),
            Some(main) => refuse_beside(main, word, mistakes),
            // The word that it stands beside may be the one that could not be read.
            None if said.broken => {}
            None => refuse_on_its_own(word, mistakes),
        }
    }
    let mut fields = Chosen { place, mistakes };
    match &main?.meaning {
        Meaning::Never => Some(Answer::Never),
        Meaning::With(path) => Some(Answer::AskFunction(path)),
        Meaning::Transparent => fields.only(main?, "the error to ask").map(Answer::AskInner),
        Meaning::Exhausted => fields.only(main?, "a `Box<Exhausted<Self>>`").map(Answer::GivenUp),
        Meaning::Transient => fields.worth(Kind::Transient, &words),
        Meaning::Throttling => fields.worth(Kind::Throttling, &words),
        Meaning::After(_) | Meaning::NotSent | Meaning::Crate(_) => None,
    }
}

impl Meaning {
    /// Whether the word is an answer by itself; the others say more about one.
    const fn is_answer(&self) -> bool {
        !matches!(self, Self::After(_) | Self::NotSent | Self::Crate(_))
    }
}

fn repeated(said: &Words, mistakes: &mut Mistakes) {
    for word in &said.words {
        if said.words.iter().filter(|other| other.name == word.name).count() > 1 {
            mistakes.at(&word.name, format!("`{}` is said more than once", word.name));
        }
    }
}

/// Whether a word has a meaning in this place; it is a mistake if not.
fn belongs(word: &Word, place: Place<'_>, mistakes: &mut Mistakes) -> bool {
    let message = match (&word.meaning, place) {
        (Meaning::Crate(_), Place::Variant(..)) => "`crate = …` goes on the enum, once for all variants",
        (Meaning::Transparent, Place::Enum) => {
            "`transparent` goes on each variant that has an error inside; a default for the whole enum is `transient`, \
             `throttling`, `never` or `with = path`"
        }
        (Meaning::After(_), Place::Enum) => {
            "`after = …` goes on the variant that has the field: `#[retry(throttling, after = retry_after)]`"
        }
        (Meaning::Exhausted, Place::Enum) => {
            "`exhausted` goes on one variant, with one field: `#[retry(exhausted)] GaveUp(Box<Exhausted<Self>>)`"
        }
        (Meaning::Exhausted, Place::Struct(..)) => {
            "`exhausted` is for a variant of an enum; a struct has no other form for a call that was given up"
        }
        _ => return true,
    };
    mistakes.at(&word.name, message);
    false
}

fn contradiction(main: &Word, word: &Word, mistakes: &mut Mistakes) {
    let (first, second) = (&main.name, &word.name);
    if first != second {
        mistakes.at(
            second,
            format!(
                "`{second}` contradicts `{first}`: say one of `transient`, `throttling`, `never`, `transparent`, `with = \
                 path` and `exhausted`"
            ),
        );
    }
}

/// `after` and `not_sent` go with a kind only.
fn refuse_beside(main: &Word, word: &Word, mistakes: &mut Mistakes) {
    let name = &word.name;
    if matches!(word.meaning, Meaning::Crate(_)) {
        return;
    }
    let reason = match main.meaning {
        Meaning::Never => "`never` is never retried: leave it out, or say `transient` or `throttling`",
        Meaning::Exhausted => "a call that was given up is never retried: leave it out",
        Meaning::Transparent => "the error inside a `transparent` one says that itself: leave it out",
        Meaning::With(_) => match word.meaning {
            Meaning::After(_) => "the function of `with` says that itself: `Verdict::THROTTLING.after(…)`",
            _ => "the function of `with` says that itself: `Verdict::TRANSIENT.not_sent()`",
        },
        _ => return,
    };
    mistakes.at(name, format!("`{name}` goes with `transient` or `throttling`; {reason}"));
}

fn refuse_on_its_own(word: &Word, mistakes: &mut Mistakes) {
    let name = &word.name;
    let form = match &word.meaning {
        Meaning::After(field) => format!("throttling, after = {}", field.to_token_stream()),
        Meaning::NotSent => "transient, not_sent".to_owned(),
        _ => return,
    };
    mistakes.at(name, format!("`{name}` goes with a kind: `{form}`"));
}

/// Picks the fields that words refer to.
struct Chosen<'a, 'm> {
    place: Place<'a>,
    mistakes: &'m mut Mistakes,
}

impl<'a> Chosen<'a, '_> {
    fn worth(&mut self, kind: Kind, words: &[&'a Word]) -> Option<Answer<'a>> {
        let not_sent = words.iter().any(|word| matches!(word.meaning, Meaning::NotSent));
        let after = words.iter().find_map(|word| match &word.meaning {
            Meaning::After(member) => Some(member),
            _ => None,
        });
        match after {
            Some(member) if !self.exists(member) => None,
            _ => Some(Answer::Worth { kind, not_sent, after }),
        }
    }

    fn only(&mut self, word: &Word, what: &str) -> Option<Part<'a>> {
        let (name, fields) = self.fields()?;
        let mut all = fields.members().zip(fields);
        if let (Some((member, field)), None) = (all.next(), all.next()) {
            return Some(Part { member, field });
        }
        let count = fields.len();
        let advice = match (&word.meaning, count) {
            (Meaning::Transparent, 0) => "; say `transient`, `throttling` or `never` instead",
            (Meaning::Transparent, _) => "; to decide by more than one field: `with = path`",
            (_, 0) => ": `GaveUp(Box<Exhausted<Self>>)`",
            _ => "",
        };
        let count = if count == 0 { "none".to_owned() } else { count.to_string() };
        let word = &word.name;
        self.mistakes.at(word, format!("`{word}` takes exactly one field, {what}, and `{name}` has {count}{advice}"));
        None
    }

    fn exists(&mut self, wanted: &Member) -> bool {
        let Some((name, fields)) = self.fields() else { return false };
        if fields.members().any(|member| member == *wanted) {
            return true;
        }
        let advice = no_such_field(wanted, fields);
        let wanted_text = wanted.to_token_stream();
        self.mistakes.at(wanted, format!("`{name}` has no field `{wanted_text}`{advice}"));
        false
    }

    const fn fields(&self) -> Option<(&'a Ident, &'a Fields)> {
        match self.place {
            Place::Struct(name, fields) | Place::Variant(name, fields) => Some((name, fields)),
            Place::Enum => None,
        }
    }
}

fn no_such_field(wanted: &Member, fields: &Fields) -> String {
    let names: Vec<String> = fields.members().map(|member| member.to_token_stream().to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let near = match wanted {
        Member::Named(wanted) => nearest(&wanted.to_string(), &names),
        Member::Unnamed(_) => None,
    };
    match (fields, near, names.as_slice()) {
        (_, _, []) => ": it has no fields".to_owned(),
        (_, Some(near), _) => format!("; did you mean `{near}`?"),
        (Fields::Unnamed(_), _, _) => "; its fields have no names, count them from zero: `after = 0`".to_owned(),
        (_, _, [only]) => format!("; its field is `{only}`"),
        (_, _, several) => format!("; its fields are `{}`", several.join("`, `")),
    }
}
