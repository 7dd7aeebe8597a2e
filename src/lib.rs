//! A budget for retries.
#[doc(inline)]
pub use retry_budget_macros::{Retryable, retry_budget};
pub use retry_budget_runtime::*;
