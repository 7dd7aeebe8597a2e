//! Why a call stopped, for the log and for those who catch it on purpose.

mod exhausted_box;

pub use exhausted_box::ExhaustedBox;

use crate::retryable::known;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Why a call that failed was not tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// The failure isn't worth a retry.
    NotRetryable,
    /// Every attempt that the policy allows was made.
    AttemptsUsedUp,
    /// The budget denied the retry.
    BudgetEmpty,
    /// The server said to wait longer than the policy's `retry_after_limit`.
    HintTooFar,
    /// The call's deadline passed, or would pass before the next attempt.
    Deadline,
    /// A retry loop inside this call has given up already.
    GaveUpInside,
    /// The operation isn't idempotent, and the failed attempt may have been processed.
    NotIdempotent,
    /// All retries of the process are switched off: see [`set_retries`](crate::set_retries).
    SwitchedOff,
}

impl StopReason {
    /// Each of them, in the order of their numbers.
    #[cfg(feature = "metrics")]
    pub(crate) const ALL: [Self; 8] = [
        Self::NotRetryable,
        Self::AttemptsUsedUp,
        Self::BudgetEmpty,
        Self::HintTooFar,
        Self::Deadline,
        Self::GaveUpInside,
        Self::NotIdempotent,
        Self::SwitchedOff,
    ];

    /// The reason's name in snake case, as labels and logs show it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotRetryable => "not_retryable",
            Self::AttemptsUsedUp => "attempts_used_up",
            Self::BudgetEmpty => "budget_empty",
            Self::HintTooFar => "hint_too_far",
            Self::Deadline => "deadline",
            Self::GaveUpInside => "gave_up_inside",
            Self::NotIdempotent => "not_idempotent",
            Self::SwitchedOff => "switched_off",
        }
    }
}

/// Why and when a call stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct Stop {
    /// Why no further attempt was made.
    pub reason: StopReason,
    /// Attempts made, the first included.
    pub attempts: u32,
    /// The name of the call's budget.
    pub budget: String,
    /// Time between the first failure and the stop; zero when they are the same.
    pub since_first_failure: Duration,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        known::stop_shown();
        let Self { reason, attempts, budget, since_first_failure } = self;
        let attempt = if *attempts == 1 { "attempt" } else { "attempts" };
        match reason {
            StopReason::NotRetryable => f.write_str("not worth a retry")?,
            StopReason::AttemptsUsedUp => f.write_str("no attempts left")?,
            StopReason::BudgetEmpty => write!(f, "retry budget `{budget}` is empty")?,
            StopReason::HintTooFar => f.write_str("told to wait longer than retry_after_limit")?,
            StopReason::Deadline => f.write_str("no time left before the deadline")?,
            StopReason::GaveUpInside => f.write_str("a retry loop inside has given up")?,
            StopReason::NotIdempotent => f.write_str("not safe to repeat")?,
            StopReason::SwitchedOff => f.write_str("retries are switched off")?,
        }
        write!(f, " ({attempts} {attempt}")?;
        let millis = u64::try_from(since_first_failure.as_millis()).unwrap_or(u64::MAX);
        if millis > 0 {
            write!(f, ", {:?} after the first failure", Duration::from_millis(millis))?;
        }
        f.write_str(")")
    }
}

/// A call that was given up: why it stopped, and its last error as [`source`](std::error::Error::source).
///
/// It is never worth a retry itself, so layers above don't multiply attempts.
///
/// ```
/// use retry_budget_runtime::{retry, RetryPolicy, NEVER};
/// use std::{error::Error, io};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let gave_up = retry(&NEVER, &RetryPolicy::REQUEST, async |_| {
///     Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionReset))
/// })
/// .explained()
/// .await
/// .unwrap_err();
///
/// assert_eq!(gave_up.to_string(), "retry budget `NEVER` is empty (1 attempt)");
/// assert_eq!(gave_up.source().unwrap().to_string(), "connection reset");
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhausted<E> {
    stop: Stop,
    error: E,
}

impl<E> fmt::Display for Exhausted<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stop.fmt(f)
    }
}

impl<E: Error + 'static> Error for Exhausted<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

impl<E> Exhausted<E> {
    /// Puts the two together.
    pub const fn new(error: E, stop: Stop) -> Self {
        Self { stop, error }
    }

    /// Why the call stopped.
    pub const fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The error of the last attempt.
    pub const fn error(&self) -> &E {
        &self.error
    }

    /// The error of the last attempt.
    pub fn into_error(self) -> E {
        self.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_a_millisecond_is_not_told() {
        let text = |since_first_failure| {
            let budget = "partner".to_owned();
            Stop { reason: StopReason::AttemptsUsedUp, attempts: 2, budget, since_first_failure }.to_string()
        };
        assert_eq!(text(Duration::from_micros(999)), "no attempts left (2 attempts)");
        assert_eq!(text(Duration::from_micros(1_999)), "no attempts left (2 attempts, 1ms after the first failure)");
    }
}
