//! What a failure says about itself.

use crate::RetryKind;
use std::time::Duration;

/// Whether a failure is worth a retry, and what the other side said about it.
///
/// ```
/// use retry_budget_runtime::Verdict;
/// use std::time::Duration;
///
/// let told_to_wait = Verdict::THROTTLING.after(Duration::from_secs(3)); // Retry-After: 3
/// let refused = Verdict::TRANSIENT.not_sent(); // could not connect: nothing was processed
/// assert_eq!(Verdict::from(false), Verdict::NEVER);
/// assert_eq!(Verdict::from(true), Verdict::TRANSIENT);
/// # let _ = (told_to_wait, refused);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    kind: Option<RetryKind>,
    hint: Option<Duration>,
    sent: bool,
    given_up: bool,
}

impl Verdict {
    /// Not worth a retry: the next attempt would fail in the same way.
    pub const NEVER: Self = Self::of(None);
    /// Worth a retry after the usual delay.
    pub const TRANSIENT: Self = Self::of(Some(RetryKind::Transient));
    /// Worth a retry after a longer delay: the other side gets too much.
    pub const THROTTLING: Self = Self::of(Some(RetryKind::Throttling));

    const fn of(kind: Option<RetryKind>) -> Self {
        Self { kind, hint: None, sent: true, given_up: false }
    }

    /// The other side said how long to wait (Retry-After). `None` is no hint; zero is a hint like any other. Has no
    /// effect on [`NEVER`](Self::NEVER).
    pub fn after(mut self, hint: impl Into<Option<Duration>>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The request was certainly not processed: no connection, refused before processing. Such a failure may be
    /// retried even where the operation isn't idempotent.
    pub const fn not_sent(mut self) -> Self {
        self.sent = false;
        self
    }

    /// Somebody further on has given up already: a retry loop inside this call, or a server that says not to come back.
    /// Such a failure is worth a retry by its kind, and isn't retried: layers of loops would multiply their attempts.
    pub const fn given_up(mut self) -> Self {
        self.given_up = true;
        self
    }

    /// The kind of retry this is worth, if any.
    pub const fn kind(self) -> Option<RetryKind> {
        self.kind
    }

    /// How long the other side said to wait, if it did.
    pub const fn hint(self) -> Option<Duration> {
        self.hint
    }

    /// Whether somebody further on has given up already.
    pub const fn is_given_up(self) -> bool {
        self.given_up
    }

    /// Whether the request may have been processed.
    pub const fn may_have_been_processed(self) -> bool {
        self.sent
    }
}

/// `true` is transient, `false` never.
impl From<bool> for Verdict {
    fn from(transient: bool) -> Self {
        if transient { Self::TRANSIENT } else { Self::NEVER }
    }
}

/// `None` is never.
impl From<Option<RetryKind>> for Verdict {
    fn from(kind: Option<RetryKind>) -> Self {
        Self::of(kind)
    }
}

/// `None` is never: for a verdict that is found by looking inside, such as
/// `error.downcast_ref::<io::Error>().map(Retryable::verdict)`.
impl From<Option<Self>> for Verdict {
    fn from(verdict: Option<Self>) -> Self {
        verdict.unwrap_or(Self::NEVER)
    }
}

impl From<RetryKind> for Verdict {
    fn from(kind: RetryKind) -> Self {
        Self::of(Some(kind))
    }
}
