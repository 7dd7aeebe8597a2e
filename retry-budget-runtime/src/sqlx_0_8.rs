//! Databases with sqlx 0.8: which errors are worth a retry.
//!
//! (Feature `sqlx-0_8`, which has sqlx's major version in its name.)
//!
#![doc = include_str!("sqlx.md")]

crate::sqlx::retryable!(sqlx_0_8);
