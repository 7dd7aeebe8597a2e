//! The attribute and the derive of the `retry-budget` crate.

mod attribute;
mod suggest;

use proc_macro::TokenStream;

/// Runs an `async fn` in a retry loop under a budget.
#[proc_macro_attribute]
pub fn retry_budget(options: TokenStream, item: TokenStream) -> TokenStream {
    attribute::retry_budget(options.into(), item.into()).into()
}
