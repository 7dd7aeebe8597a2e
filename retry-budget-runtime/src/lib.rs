//! The budgets, the policy and the retry loop behind the [`retry-budget`] crate.
//!
//! Applications depend on `retry-budget`, which re-exports everything here beside the attribute and the derive. This
//! crate is for libraries that want a [`Budget`] or [`Retryable`] without building a macro.
//!
//! To follow one call: [`retry()`] → [`Run::begin`] → the operation → [`Run::failed`] → [`Budget::try_retry`] → wait.
//!
//! [`retry-budget`]: https://docs.rs/retry-budget

// reqwest's versions share their source.
#![allow(clippy::duplicate_mod)]

#[cfg(feature = "anyhow-1")]
pub mod anyhow_1;
mod attempt;
#[cfg(feature = "aws-sdk-1")]
pub mod aws_sdk_1;
mod backoff;
mod budget;
mod elapsed;
#[cfg(feature = "eyre-0_6")]
pub mod eyre_0_6;
#[cfg(feature = "http-1")]
pub mod http_1;
#[cfg(feature = "map")]
mod map;
#[cfg(feature = "metrics")]
pub mod metrics;
mod observe;
mod policy;
#[cfg(feature = "redis-1")]
pub mod redis_1;
mod registry;
#[cfg(any(feature = "reqwest-0_13", feature = "reqwest-0_12"))]
mod reqwest;
#[cfg(feature = "reqwest-middleware-0_5")]
pub mod reqwest_middleware_0_5;
mod retry;
mod retryable;
mod run;
mod settings;
#[cfg(any(feature = "sqlx-0_8", feature = "sqlx-0_9"))]
mod sqlx;
#[cfg(feature = "sqlx-0_8")]
pub mod sqlx_0_8;
#[cfg(feature = "sqlx-0_9")]
pub mod sqlx_0_9;
mod stop;
mod switch;
mod sync;
mod tell;
#[cfg(feature = "test-util")]
pub mod test_util;
mod time;
mod timer;
#[cfg(feature = "tonic-0_14")]
pub mod tonic_0_14;
#[cfg(feature = "tower-0_5")]
pub mod tower_0_5;
mod verdict;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use attempt::Attempt;
pub use budget::{
    Budget, CallEnd, ConcurrencyBudget, ConcurrencyBudgetBuilder, CreditBudget, CreditBudgetBuilder, Fate, Grant,
    GrpcBudget, GrpcBudgetBuilder, NEVER, Never, RatioBudget, RatioBudgetBuilder, RetryKind, SettingsError, Snapshot,
    TokenBudget, TokenBudgetBuilder, UNLIMITED, Unlimited,
};
pub use elapsed::{Elapsed, IntoDeadline, Limit};
#[cfg(feature = "map")]
pub use map::{BudgetMap, BudgetMapBuilder, Keyed, MapSnapshot};
pub use observe::{RetryEvent, StopEvent};
pub use policy::{Jitter, RetryPolicy, RetryPolicyBuilder, WhenEmpty};
pub use registry::{Configured, Registered, budgets, configure, register};
#[cfg(feature = "reqwest-0_12")]
pub use reqwest::reqwest_0_12;
#[cfg(feature = "reqwest-0_13")]
pub use reqwest::reqwest_0_13;
pub use retry::{Attaching, By, Classify, Outcome, OwnVerdict, Retry, Retrying, retry, retry_blocking};
pub use retryable::{Retryable, find_verdict};
pub use run::{Decision, Run};
pub use settings::{BudgetSettings, EnvError, Settings};
pub use stop::{Exhausted, ExhaustedBox, Stop, StopReason};
pub use switch::{retries_are_on, set_retries};
pub use time::Time;
pub use timer::{Timer, TokioTimer};
pub use verdict::Verdict;
