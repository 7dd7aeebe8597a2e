//! Functions under the attribute, compiled once in each edition, with every lint that a crate can ask for. Nothing that
//! the attribute writes may warn, or allow what is forbidden here.
#![deny(warnings, unused, future_incompatible, nonstandard_style, let_underscore, rust_2018_idioms)]
#![deny(rust_2021_compatibility, rust_2024_compatibility, clippy::all, clippy::pedantic, clippy::nursery)]
#![deny(single_use_lifetimes, trivial_casts, trivial_numeric_casts, unused_qualifications, unused_lifetimes)]
#![deny(unreachable_pub, variant_size_differences, unit_bindings, redundant_lifetimes, unused_results)]
#![deny(meta_variable_misuse, explicit_outlives_requirements, missing_debug_implementations)]
#![allow(clippy::future_not_send)] // the plain functions aren't either

#[path = "methods.rs"]
mod methods;
#[path = "no_prelude.rs"]
mod no_prelude;
#[path = "plain.rs"]
mod plain;
#[path = "unsafe_functions.rs"]
mod unsafe_functions;

use retry_budget::{Retryable, TokenBudget};
use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) static PLENTY: TokenBudget = TokenBudget::builder("plenty").capacity(1 << 30).build();

#[derive(Debug, PartialEq, Eq, Retryable)]
#[retry(transient)]
pub(crate) struct Lost;

/// Fails twice, then says how often it was called.
#[derive(Debug, Default)]
pub(crate) struct Partner(AtomicU32);

impl Partner {
    pub(crate) fn answer(&self) -> Result<u32, Lost> {
        let calls = self.0.fetch_add(1, Ordering::SeqCst) + 1;
        if calls < 3 { Err(Lost) } else { Ok(calls) }
    }

    pub(crate) async fn ask(&self) -> Result<u32, Lost> {
        tokio::task::yield_now().await;
        self.answer()
    }
}

/// Runs a test on a paused clock.
fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(test)
}
