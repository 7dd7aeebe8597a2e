//! anyhow: an application's errors, judged by what is inside of them.
//!
//! (Feature `anyhow-1`, which has the crate's version in its name.)
//!
#![doc = include_str!("retryable/in_chain.md")]
//!
//! It is put around by [`context`](anyhow::Error::context), so `error.downcast_ref::<Stop>()` finds it, and `{error:#}` shows
//! it first. Your own errors are found by `downcast_ref` as before.
//!
//! ```
//! # extern crate retry_budget_runtime as retry_budget;
//! # mod retry_budget { pub use retry_budget_macros::*; pub use retry_budget_runtime::*; }
//! use anyhow::{Context, Result};
//! use retry_budget::{NEVER, Retryable, Stop, StopReason, find_verdict, retry_budget};
//! use std::io;
//!
//! #[derive(Debug, thiserror::Error, Retryable)]
//! enum PartnerError {
//!     #[error("the partner has too much to do")]
//!     #[retry(throttling)]
//!     Busy,
//!     #[error("no such station")]
//!     #[retry(never)]
//!     NoSuchStation,
//! }
//!
//! # fn ask(station: u32) -> io::Result<u32> { if station == 1 { Ok(0) } else { Err(io::ErrorKind::TimedOut.into()) } }
//! // `NEVER` grants no retry, so that there is a stop to see
//! #[retry_budget(budget = NEVER, classify = |error| find_verdict::<PartnerError>(&**error))]
//! async fn bikes(station: u32) -> Result<u32> {
//!     match ask(station).context("no answer")? {
//!         0 => Err(PartnerError::Busy.into()),
//!         bikes => Ok(bikes),
//!     }
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(async {
//! let error = bikes(1).await.unwrap_err();
//! assert_eq!(error.downcast_ref::<Stop>().unwrap().reason, StopReason::BudgetEmpty);
//! assert!(matches!(error.downcast_ref(), Some(PartnerError::Busy)));
//!
//! let error = bikes(2).await.unwrap_err();
//! assert_eq!(format!("{error:#}"), "retry budget `NEVER` is empty (1 attempt): no answer: timed out");
//! # });
//! ```
//!
//! Without the attribute, [`retry()`](crate::retry()) asks the error; beside `Retry::new(…).classify(…)` say
//! [`attach_stop`](crate::Retry::attach_stop). An error of your own that was put around another by `context(error)` is no
//! part of the chain: `downcast_ref` finds it.

use crate::retryable::known::verdict_in_chain;
use crate::{Retryable, Stop, Verdict};
use std::fmt::Display;

/// See [the module](self).
impl Retryable for anyhow::Error {
    fn verdict(&self) -> Verdict {
        verdict_in_chain(&**self).into()
    }

    fn event_text(&self) -> Option<&dyn Display> {
        Some(self)
    }

    fn exhausted(self, stop: Stop) -> Self {
        self.context(stop)
    }
}
