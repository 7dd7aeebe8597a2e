//! A budget for retries.
#[doc(inline)]
pub use retry_budget_macros::Retryable;
pub use retry_budget_runtime::*;
