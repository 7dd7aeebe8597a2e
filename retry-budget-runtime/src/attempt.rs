//! Which attempt this is.

use crate::{RetryKind, Time};
use std::time::Duration;

/// One run of a call's body, as the body may see it.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    number: u32,
    after: Option<RetryKind>,
    deadline: Option<Time>,
    clock: fn() -> Time,
}

impl Attempt {
    pub(crate) const fn new(number: u32, after: Option<RetryKind>, deadline: Option<Time>) -> Self {
        Self { number, after, deadline, clock: Time::now }
    }

    pub(crate) const fn by_clock(self, clock: fn() -> Time) -> Self {
        Self { clock, ..self }
    }

    /// The attempt's number, which counts from 1.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Whether this is a retry.
    pub const fn is_retry(self) -> bool {
        self.number > 1
    }

    /// The kind of the failure before this attempt; `None` at the first.
    pub const fn last_failure(self) -> Option<RetryKind> {
        self.after
    }

    /// What is left of the call's time, to pass on to whom the body asks; `None` without a deadline. Reads a clock.
    pub fn remaining(self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.since((self.clock)()))
    }
}
