//! The attribute's own code, fed with text: the options up to the first line break, then the function.

#![no_main]
#![allow(dead_code)] // the fuzzer calls only some of it

#[path = "../../retry-budget-macros/src"]
mod macros {
    pub(crate) mod attribute;
    pub(crate) mod suggest;
}

use libfuzzer_sys::fuzz_target;
use macros::{attribute, suggest};
use proc_macro2::TokenStream;

fuzz_target!(|text: &str| {
    let (options, function) = text.split_once('\n').unwrap_or((text, "async fn f() -> Result<(), E> { Ok(()) }"));
    let (Ok(options), Ok(function)) = (options.parse::<TokenStream>(), function.parse::<TokenStream>()) else { return };
    attribute::retry_budget(options.clone(), function);
    attribute::retry(options);
});
