//! Databases with sqlx 0.9: which errors are worth a retry.
//!
//! (Feature `sqlx-0_9`, which has sqlx's major version in its name.)
//!
#![doc = include_str!("sqlx.md")]

crate::sqlx::retryable!(sqlx_0_9);
