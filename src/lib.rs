//! A budget for retries.
pub use retry_budget_runtime::*;
