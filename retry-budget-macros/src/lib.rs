//! The attribute and the derive of the `retry-budget` crate.

mod retryable;
mod suggest;

use proc_macro::TokenStream;

/// Lets an error say which of its values are worth a retry.
#[proc_macro_derive(Retryable, attributes(retry))]
pub fn derive_retryable(input: TokenStream) -> TokenStream {
    retryable::derive(input.into()).into()
}
