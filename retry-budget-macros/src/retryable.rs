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
