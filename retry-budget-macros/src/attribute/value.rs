//! The value of one setting: a literal is judged here, at its own token; anything else is the compiler's to judge.

use super::duration;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use std::time::Duration;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprUnary, Lit, LitStr, UnOp};

/// What a setting takes.
#[derive(Clone, Copy)]
pub(super) enum Takes {
    /// A whole number in this range, with what to say about one outside of it.
    Count { least: u64, most: u64, problem: &'static str },
    /// A share of the requests.
    Share,
    /// A number in this range, with what to say about one outside of it.
    Amount { least: f64, most: f64, problem: &'static str },
    /// A duration.
    Duration,
    /// How far back a budget looks: 100 ms to one hour.
    Window,
    /// One of these words, each with the Rust value it stands for.
    Word(&'static [(&'static str, &'static str)]),
    /// `true` or `false`.
    Flag,
}

/// A value, written as an argument for its builder's method.
#[derive(Clone)]
pub(super) struct Value {
    pub(super) span: Span,
    pub(super) known: Known,
    pub(super) argument: Argument,
}

#[derive(Clone)]
pub(super) enum Argument {
    Tokens(TokenStream),
    /// A path within the crate.
    OfCrate(&'static str),
    Duration(Duration),
    /// The same, as the user wrote it.
    Written(TokenStream, Duration),
}

/// When a value is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// To the macro.
    Now,
    /// To the compiler: a constant, by its capitals.
    InConst,
    /// At run time only.
    AtRunTime,
}

impl Takes {
    pub(super) fn read(self, option: &str, expr: &Expr) -> Result<Value, Error> {
        let problem = |message: String| Err(Error::new_spanned(expr, message));
        let now = |argument| Ok(Value { span: expr.span(), known: Known::Now, argument });
        let tokens = |known| Value { span: expr.span(), known, argument: Argument::Tokens(expr.to_token_stream()) };
        let literal = match expr {
            Expr::Lit(literal) => &literal.lit,
            Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr: inner, .. }) if matches!(&**inner, Expr::Lit(_)) => {
                return problem(self.negative(option));
            }
            Expr::Path(path) if self.is_bare_word(path) => {
                let word = path.path.to_token_stream().to_string();
                let word = word.to_lowercase();
                return problem(format!("write the word in quotes: `{option} = \"{word}\"`"));
            }
            Expr::Call(call) if matches!(self, Self::Duration | Self::Window) => {
                return match written_duration(call) {
                    Some(duration) if self.has(duration) => now(Argument::Written(expr.to_token_stream(), duration)),
                    Some(_) => problem(format!("`{option}` is \"100ms\" to \"1h\"")),
                    None => Ok(tokens(Known::AtRunTime)),
                };
            }
            Expr::Path(path) if is_constant(&path.path) => return Ok(tokens(Known::InConst)),
            _ => return Ok(tokens(Known::AtRunTime)),
        };
        match (self, literal) {
            (Self::Count { least, most, problem: text }, Lit::Int(int)) => match int.base10_parse::<u64>() {
                Ok(number) if (least..=most).contains(&number) => Ok(tokens(Known::Now)),
                Ok(number) if number < least => problem(text.to_owned()),
                _ => problem(format!("`{option}` is at most {most}")),
            },
            (Self::Count { .. }, _) => problem(format!("`{option}` takes a whole number, such as `{option} = 3`")),
            (Self::Duration | Self::Window, Lit::Str(text)) => match duration::parse(&text.value()) {
                Ok(duration) if self.has(duration) => now(Argument::Duration(duration)),
                Ok(_) => problem(format!("`{option}` is \"100ms\" to \"1h\"")),
                Err(message) => problem(message),
            },
            (Self::Duration | Self::Window, Lit::Int(int)) => {
                let number = int.base10_digits();
                problem(format!("a duration needs a unit: \"{number}ms\" or \"{number}s\""))
            }
            (Self::Duration | Self::Window, _) => problem(format!("`{option}` takes a duration: {}", duration::FORM)),
            (Self::Share, literal) => match read_share(literal) {
                Ok(()) => now(Argument::Tokens(as_float(literal))),
                Err(message) => problem(message),
            },
            (Self::Amount { least, most, problem: text }, literal) => match number(literal) {
                Some(number) if (least..=most).contains(&number) => now(Argument::Tokens(as_float(literal))),
                _ => problem(text.to_owned()),
            },
            (Self::Word(words), Lit::Str(text)) => match words.iter().find(|(word, _)| *word == text.value()) {
                Some((_, path)) => now(Argument::OfCrate(path)),
                None => Err(unknown_word(option, text, words)),
            },
            (Self::Word(words), _) => problem(format!("`{option}` takes a word: {}", list(words))),
            (Self::Flag, Lit::Bool(_)) => Ok(tokens(Known::Now)),
            (Self::Flag, _) => problem(format!("`{option}` takes `true` or `false`")),
        }
    }

    /// What to say about a negative number.
    fn negative(self, option: &str) -> String {
        match self {
            Self::Count { problem, .. } | Self::Amount { problem, .. } => problem.to_owned(),
            Self::Duration | Self::Window => format!("a duration is {}", duration::FORM),
            Self::Share => format!("`{option}` is a share of the requests, such as 0.1 for 10 %"),
            Self::Word(words) => format!("`{option}` takes a word: {}", list(words)),
            Self::Flag => format!("`{option}` takes `true` or `false`"),
        }
    }

    /// Whether a duration is in the range.
    fn has(self, duration: Duration) -> bool {
        !matches!(self, Self::Window) || (Duration::from_millis(100)..=Duration::from_secs(3600)).contains(&duration)
    }

    /// A word that somebody forgot to put in quotes.
    fn is_bare_word(self, path: &syn::ExprPath) -> bool {
        let Self::Word(words) = self else { return false };
        let Some(written) = path.path.get_ident().map(ToString::to_string) else { return false };
        words.iter().any(|(word, _)| written.eq_ignore_ascii_case(word))
    }
}

/// The words of an option, for a message.
pub(super) fn list<T>(words: &[(&str, T)]) -> String {
    words.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

pub(super) fn unknown_word<T>(option: &str, text: &LitStr, words: &[(&str, T)]) -> Error {
    let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
    let value = text.value();
    let hint =
        crate::suggest::nearest(&value, &known).map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
    Error::new_spanned(text, format!("`{option}` is one of {}, not \"{value}\"{hint}", list(words)))
}

/// `Duration::from_secs(5)` and its like, which can be judged like a literal.
fn written_duration(call: &syn::ExprCall) -> Option<Duration> {
    let Expr::Path(function) = &*call.func else { return None };
    let mut path = function.path.segments.iter().rev();
    let (unit, ty) = (path.next()?.ident.to_string(), path.next()?);
    let Some(Expr::Lit(syn::ExprLit { lit: Lit::Int(number), .. })) = call.args.first() else { return None };
    let number = number.base10_parse().ok()?;
    if ty.ident != "Duration" || call.args.len() != 1 {
        return None;
    }
    match unit.as_str() {
        "from_secs" => Some(Duration::from_secs(number)),
        "from_millis" => Some(Duration::from_millis(number)),
        "from_micros" => Some(Duration::from_micros(number)),
        "from_nanos" => Some(Duration::from_nanos(number)),
        _ => None,
    }
}

/// Whether a path names a constant: its last name is in capitals.
fn is_constant(path: &syn::Path) -> bool {
    let Some(last) = path.segments.last() else { return false };
    let name = last.ident.to_string();
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}

fn number(literal: &Lit) -> Option<f64> {
    match literal {
        Lit::Float(float) => float.base10_parse().ok(),
        Lit::Int(int) => int.base10_parse().ok(),
        _ => None,
    }
}

/// The number with a decimal point, as Rust wants it for an `f64`.
fn as_float(literal: &Lit) -> TokenStream {
    match literal {
        Lit::Int(int) if int.suffix().is_empty() => {
            syn::LitFloat::new(&format!("{}.0", int.base10_digits()), int.span()).to_token_stream()
        }
        _ => literal.to_token_stream(),
    }
}

fn read_share(literal: &Lit) -> Result<(), String> {
    let number = match literal {
        Lit::Float(_) | Lit::Int(_) => number(literal),
        Lit::Str(text) => match text.value().trim_end_matches([' ', '%']).parse::<f64>() {
            Ok(percent) => return Err(format!("a ratio is a number: did you mean `{}`?", percent / 100.0)),
            Err(_) => None,
        },
        _ => None,
    };
    match number {
        Some(ratio) if (0.000_000_5..=1.0).contains(&ratio) => Ok(()),
        Some(percent) if percent > 1.0 && percent <= 100.0 => Err(format!(
            "a ratio is a share of the requests, above 0 and at most 1: did you mean `{}` for {percent} %?",
            percent / 100.0
        )),
        Some(_) => Err("a ratio is a share of the requests, at least 0.000001 and at most 1".to_owned()),
        None => Err("a ratio is a number above 0 and at most 1, such as 0.1 for 10 %".to_owned()),
    }
}

impl Value {
    /// The value if it is a literal duration.
    pub(super) fn literal_duration(&self) -> Option<Duration> {
        match self.argument {
            Argument::Duration(duration) | Argument::Written(_, duration) => Some(duration),
            _ => None,
        }
    }

    /// What isn't a literal.
    pub(super) fn tokens(&self) -> Option<&TokenStream> {
        match &self.argument {
            Argument::Tokens(tokens) => Some(tokens),
            _ => None,
        }
    }

    /// Changes what isn't a literal.
    pub(super) fn map_tokens(&mut self, map: impl FnOnce(TokenStream) -> TokenStream) {
        if let Argument::Tokens(tokens) = &mut self.argument {
            *tokens = map(std::mem::take(tokens));
        }
    }

    /// Whether this is the word that stands for this path within the crate.
    pub(super) fn is_of_crate(&self, path: &str) -> bool {
        matches!(self.argument, Argument::OfCrate(word) if word == path)
    }

    /// The argument of the builder's method; `runtime` is the path of the crate.
    pub(super) fn to_argument(&self, runtime: &TokenStream) -> TokenStream {
        match &self.argument {
            Argument::Tokens(tokens) | Argument::Written(tokens, _) => tokens.clone(),
            Argument::OfCrate(path) => {
                let path: TokenStream = path.parse().unwrap_or_default();
                quote_spanned!(self.span=> #runtime::#path)
            }
            Argument::Duration(duration) => {
                let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
                quote_spanned!(self.span=> ::core::time::Duration::new(#seconds, #nanos))
            }
        }
    }
}
