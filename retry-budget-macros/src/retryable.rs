//! `#[derive(Retryable)]`: parse what `#[retry(…)]` says, judge it against the type, write the impl. Where something is
//! wrong, an impl that never retries is written beside the errors, so that nothing else turns red.

mod answer;
mod check;
mod expand;
mod parse;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{DeriveInput, Error};

/// The impl, or the errors and a stand-in.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let mut mistakes = Mistakes::default();
    let said = parse::said(&input, &mut mistakes);
    let plan = check::plan(&input, &said, &mut mistakes);
    match mistakes.0 {
        None => expand::retryable(&input, &said.root(), &plan),
        Some(errors) => {
            let mut tokens = errors.into_compile_error();
            expand::fallback(&input, &said.root()).to_tokens(&mut tokens);
            tokens
        }
    }
}

/// Every mistake in one derive; they are reported together.
#[derive(Default)]
struct Mistakes(Option<Error>);

impl Mistakes {
    fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.push(Error::new_spanned(tokens, message));
    }

    fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            none => *none = Some(error),
        }
    }

    const fn none_yet(&self) -> bool {
        self.0.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::{File, parse2};

    /// Every sequence of up to three of these, on a variant, on an enum and on a struct, gives Rust that parses.
    #[test]
    fn whatever_the_words_are_they_give_an_impl_or_errors() {
        let pieces =
            "transient transparent exhausted not_sent after=0 with=f crate=a crate = , :: 5 \"never\" {,} |e|e";
        let mut layer = vec![String::new()];
        let mut sequences = layer.clone();
        for _ in 0..3 {
            layer =
                layer.iter().flat_map(|words| pieces.split(' ').map(move |piece| format!("{words} {piece}"))).collect();
            sequences.extend_from_slice(&layer);
        }
        for words in sequences {
            for input in [
                format!("enum E {{ #[retry({words})] A {{ wait: u8 }}, #[retry(transient)] B(#[from] T) }}"),
                format!("#[retry({words})] enum E<T: U = u8> {{ A(T), B(#[from] u8) }}"),
                format!("#[retry({words})] struct S<'a, const N: usize>(&'a T);"),
            ] {
                let expansion = derive(input.parse().unwrap());
                assert!(parse2::<File>(expansion.clone()).is_ok(), "{input}: {expansion}");
            }
        }
    }
}
