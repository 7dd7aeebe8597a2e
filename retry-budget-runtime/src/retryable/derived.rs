//! What `#[derive(Retryable)]` asks of the types beside the error.

use crate::{Exhausted, Retryable, Stop, Verdict};
use std::fmt::Display;
use std::time::Duration;

/// The error inside a variant that is `transparent`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say which of its values are worth a retry",
    label = "`transparent` asks this error, and it isn't `Retryable`",
    note = "if it is your own: `#[derive(Retryable)]` on it",
    note = "if it is of anyhow, eyre, reqwest, tonic, redis, sqlx or others: a feature of retry-budget, such as \
            `anyhow-1`",
    note = "if it is somebody else's: instead of `transparent` say `transient`, `throttling` or `never`, or decide with a \
            function: `with = path`"
)]
pub trait Inner {
    /// What it answers.
    fn verdict(&self) -> Verdict;
}

#[diagnostic::do_not_recommend]
impl<T: Retryable> Inner for T {
    fn verdict(&self) -> Verdict {
        Retryable::verdict(self)
    }
}

/// A field that says how long to wait: `after = field`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a time to wait",
    label = "the field must be a `Duration` or an `Option<Duration>`",
    note = "for a field of another type: `#[retry(with = path)]`, a function that returns \
            `Verdict::THROTTLING.after(Duration::from_secs(…))`"
)]
pub trait Hint {
    /// The time to wait, if there is one.
    fn hint(&self) -> Option<Duration>;
}

impl Hint for Duration {
    fn hint(&self) -> Option<Duration> {
        Some(*self)
    }
}

impl Hint for Option<Duration> {
    fn hint(&self) -> Option<Duration> {
        *self
    }
}

/// What the function of `with = path` returns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say whether to retry",
    label = "this function must return a `bool` (true is transient), an `Option<RetryKind>` or a `Verdict`"
)]
pub trait Opinion {
    /// As a verdict.
    fn verdict(self) -> Verdict;
}

#[diagnostic::do_not_recommend]
impl<V: Into<Verdict>> Opinion for V {
    fn verdict(self) -> Verdict {
        self.into()
    }
}

/// The field of the variant that is `exhausted`, in an error `E`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't hold a call that was given up",
    label = "write `Box<Exhausted<Self>>`",
    note = "or a type of your own that is `From<Exhausted<{E}>>`"
)]
pub trait GivenUp<E> {
    /// Takes the call in.
    fn given_up(exhausted: Exhausted<E>) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E, T: From<Exhausted<E>>> GivenUp<E> for T {
    fn given_up(exhausted: Exhausted<E>) -> Self {
        Self::from(exhausted)
    }
}

/// The error of an annotated function. (Of its two ways nobody can go the second: see [`Budgeted`].)
///
/// [`Budgeted`]: crate::__private::Budgeted
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say which of its values are worth a retry",
    label = "this error isn't `Retryable`",
    note = "for an error of your own: `#[derive(Retryable)]`, and on its variants `#[retry(transient)]`, \
            `#[retry(throttling)]` or `#[retry(never)]`",
    note = "for the errors of anyhow, eyre, reqwest, tonic, redis, sqlx and others: a feature of retry-budget, such as \
            `anyhow-1`",
    note = "for somebody else's error: `classify = |error| …` beside the other options, from `&{Self}` to a `bool`, an \
            `Option<RetryKind>` or a `Verdict`"
)]
pub trait Judged<Way> {
    /// Whether this failure is worth a retry.
    fn judge(&self) -> Verdict;

    /// How it shows.
    fn event_text(&self) -> Option<&dyn Display>;

    /// What the caller gets when none was made.
    #[must_use]
    fn give_up(self, stop: Stop) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: Retryable> Judged<crate::__private::Itself> for E {
    #[inline]
    fn judge(&self) -> Verdict {
        self.verdict()
    }

    fn event_text(&self) -> Option<&dyn Display> {
        Retryable::event_text(self)
    }

    fn give_up(self, stop: Stop) -> Self {
        self.exhausted(stop)
    }
}

#[diagnostic::do_not_recommend]
impl<E: crate::__private::Nothing> Judged<crate::__private::NoWay> for E {
    fn judge(&self) -> Verdict {
        Verdict::NEVER
    }

    fn event_text(&self) -> Option<&dyn Display> {
        None
    }

    fn give_up(self, _stop: Stop) -> Self {
        self
    }
}
