//! Functions that people write, under the attribute: how often the body runs, what comes back, and that the future can
//! go where the plain one could.
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery, rust_2024_compatibility)]
#![forbid(unsafe_code)]
// a test has no documentation and no outside
#![allow(missing_docs, unreachable_pub, clippy::missing_errors_doc, clippy::must_use_candidate)]
// the plain functions aren't `Send` either
#![allow(clippy::future_not_send)]

mod arguments;
mod attributes;
mod block;
mod bodies;
mod budgets;
mod events;
mod futures;
mod generated;
mod keyed;
mod limits;
mod names;
mod nested;
mod oddities;
mod receivers;
mod results;
mod sending;
mod services;
mod settings;
mod traits;
mod types;

use retry_budget::{Retryable, TokenBudget, Verdict};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Enough for every test of this file together.
pub static PLENTY: TokenBudget = TokenBudget::builder("plenty").capacity(1 << 30).build();

/// Retryable; says which attempt it comes from.
#[derive(Debug, PartialEq, Eq)]
pub struct Lost(pub u32);

impl Retryable for Lost {
    fn verdict(&self) -> Verdict {
        Verdict::TRANSIENT
    }
}

/// Counts the runs of a body, and fails all but the last of them.
#[derive(Debug, Default)]
pub struct Flaky {
    runs: AtomicU32,
    succeeds_at: u32,
}

impl Flaky {
    pub const fn succeeds_at(attempt: u32) -> Self {
        Self { runs: AtomicU32::new(0), succeeds_at: attempt }
    }

    pub fn run(&self) -> Result<u32, Lost> {
        let run = self.runs.fetch_add(1, SeqCst) + 1;
        if run >= self.succeeds_at { Ok(run) } else { Err(Lost(run)) }
    }

    /// The same across an await point.
    pub async fn run_later(&self) -> Result<u32, Lost> {
        tokio::task::yield_now().await;
        self.run()
    }

    /// Something that is only known at run time.
    pub const fn pause(&self) -> std::time::Duration {
        std::time::Duration::from_secs(self.succeeds_at as u64)
    }

    pub fn runs(&self) -> u32 {
        self.runs.load(SeqCst)
    }
}
