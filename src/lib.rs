//! A budget for retries.
pub use retry_budget_macros::retry_budget;
pub use retry_budget_runtime::*;
