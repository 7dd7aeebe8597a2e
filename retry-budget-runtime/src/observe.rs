//! What `on_retry` and `on_stop` get to see.

use crate::{RetryKind, Stop};
use std::time::Duration;

/// A retry was granted; the call is about to wait for it.
#[derive(Debug)]
#[non_exhaustive]
pub struct RetryEvent<'a, E> {
    /// The error of the attempt that failed.
    pub error: &'a E,
    /// The number of the attempt that failed, which counts from 1.
    pub attempt: u32,
    /// Why the failure is worth a retry.
    pub kind: RetryKind,
    /// How long the call is going to wait.
    pub delay: Duration,
    /// The name of the call's budget.
    pub budget: &'a str,
}

/// A call stopped: a retry was wanted and none will be made.
#[derive(Debug)]
#[non_exhaustive]
pub struct StopEvent<'a, E> {
    /// The error of the last attempt, which the caller gets.
    pub error: &'a E,
    /// Why no further attempt is made.
    pub stop: &'a Stop,
}
