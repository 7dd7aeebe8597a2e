//! The error of an attempt that a limit cut off.

use crate::{Retryable, Time, Verdict};
use std::fmt;
use std::io;
use std::time::{Duration, Instant};

/// Which limit cut an attempt off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// The time that each attempt may take.
    AttemptTimeout,
    /// The time that the whole call may take.
    Deadline,
}

/// An attempt was cut off by `attempt_timeout` or by `deadline`.
///
/// The function's own error is made of it: by `From<Elapsed>`, which exists for [`std::io::Error`], `Box<dyn Error>`, the
/// errors of anyhow and eyre, and those of the integrations, and which `thiserror`'s `#[from]` writes; or by the option
/// `elapsed = …`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct Elapsed {
    /// Which limit it was.
    pub limit: Limit,
    /// The number of the attempt that was cut off, which counts from 1.
    pub attempt: u32,
    /// How long the attempt had been running.
    pub after: Duration,
    /// What the attempt before it failed with, where that can be displayed.
    pub error_before: Option<String>,
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, attempt, after, error_before } = self;
        match limit {
            Limit::AttemptTimeout => write!(f, "attempt {attempt} timed out after {after:?}")?,
            Limit::Deadline => write!(f, "the deadline passed in attempt {attempt}, after {after:?}")?,
        }
        if let Some(error) = error_before {
            write!(f, " (the attempt before it failed: {error})")?;
        }
        Ok(())
    }
}

/// Transient where an attempt took too long, never where the whole call did.
impl Retryable for Elapsed {
    fn verdict(&self) -> Verdict {
        match self.limit {
            Limit::AttemptTimeout => Verdict::TRANSIENT,
            Limit::Deadline => Verdict::NEVER,
        }
    }

    fn event_text(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }
}

/// A `TimedOut` with the [`Elapsed`] inside.
impl From<Elapsed> for io::Error {
    fn from(elapsed: Elapsed) -> Self {
        Self::new(io::ErrorKind::TimedOut, elapsed)
    }
}

/// What `deadline = …` takes: a `Duration` from now, an `Instant` of std or tokio, or an `Option` of one of them, so that
/// what is left of an incoming request can be passed on.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no deadline",
    label = "a deadline is a `Duration` from now, an `Instant`, or an `Option` of either"
)]
pub trait IntoDeadline {
    /// The deadline, if there is one; `now` is the time at which the call begins.
    fn into_deadline(self, now: Time) -> Option<Time>;
}

impl IntoDeadline for Duration {
    fn into_deadline(self, now: Time) -> Option<Time> {
        Some(now + self)
    }
}

impl IntoDeadline for tokio::time::Instant {
    fn into_deadline(self, now: Time) -> Option<Time> {
        Some(now + self.saturating_duration_since(Self::now()))
    }
}

impl IntoDeadline for Instant {
    fn into_deadline(self, now: Time) -> Option<Time> {
        tokio::time::Instant::from_std(self).into_deadline(now)
    }
}

impl<D: IntoDeadline> IntoDeadline for Option<D> {
    fn into_deadline(self, now: Time) -> Option<Time> {
        self.and_then(|deadline| deadline.into_deadline(now))
    }
}
