//! Which errors are worth a retry.

mod boxed;
pub(crate) mod derived;
#[cfg(any(feature = "reqwest-0_13", feature = "reqwest-0_12"))]
pub(crate) mod hyper_errors;
pub(crate) mod known;
mod std_errors;

pub use known::find_verdict;

use crate::{Exhausted, Stop, Verdict};
use std::fmt::Display;
use std::sync::Arc;

/// An error that knows whether it is worth a retry.
///
/// Derive it for errors of your own (`#[derive(retry_budget::Retryable)]`), or write it:
///
/// ```
/// use retry_budget_runtime::{Retryable, Verdict};
/// use std::time::Duration;
///
/// #[derive(Debug)]
/// enum PartnerError {
///     NotFound,
///     Busy { retry_after: Option<Duration> },
///     Lost(std::io::Error),
/// }
///
/// impl Retryable for PartnerError {
///     fn verdict(&self) -> Verdict {
///         match self {
///             Self::NotFound => Verdict::NEVER,
///             Self::Busy { retry_after } => Verdict::THROTTLING.after(*retry_after),
///             Self::Lost(error) => error.verdict(),
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say which of its values are worth a retry",
    label = "this error isn't `Retryable`",
    note = "for an error of your own: `#[derive(Retryable)]`, and on its variants `#[retry(transient)]`, \
            `#[retry(throttling)]` or `#[retry(never)]`",
    note = "for the errors of anyhow, eyre, reqwest, tonic, redis, sqlx and others: a feature of retry-budget, such as \
            `anyhow-1`",
    note = "for somebody else's error: a function that decides, from `&{Self}` to a `bool`, an `Option<RetryKind>` or a \
            `Verdict`: in the attribute `classify = |error| …`, for the functions `Retry::new(…).classify(|error| …)`"
)]
pub trait Retryable {
    /// Whether this failure is worth a retry.
    fn verdict(&self) -> Verdict;

    /// How the error shows in the events of the feature `tracing`, where the code that made the call can't find out: under
    /// [`retry()`](crate::retry()), in a tower layer. Nothing unless it says otherwise; the derive says `Some(self)` where
    /// the error can be displayed.
    fn event_text(&self) -> Option<&dyn Display> {
        None
    }

    /// The error that the caller gets when a retry was wanted and none was made. Unless it says otherwise, the error
    /// as it is.
    #[must_use]
    fn exhausted(self, _stop: Stop) -> Self
    where
        Self: Sized,
    {
        self
    }
}

impl<T: Retryable> Retryable for Box<T> {
    fn verdict(&self) -> Verdict {
        (**self).verdict()
    }

    fn event_text(&self) -> Option<&dyn Display> {
        (**self).event_text()
    }

    fn exhausted(self, stop: Stop) -> Self {
        Self::new((*self).exhausted(stop))
    }
}

impl<T: Retryable> Retryable for Arc<T> {
    fn verdict(&self) -> Verdict {
        (**self).verdict()
    }

    fn event_text(&self) -> Option<&dyn Display> {
        (**self).event_text()
    }
}

impl<T: Retryable> Retryable for &T {
    fn verdict(&self) -> Verdict {
        (**self).verdict()
    }

    fn event_text(&self) -> Option<&dyn Display> {
        (**self).event_text()
    }
}

/// Never: the call has already been given up.
impl<E> Retryable for Exhausted<E> {
    fn verdict(&self) -> Verdict {
        Verdict::NEVER
    }
}
