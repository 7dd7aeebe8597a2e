//! A failing answer as an error.

use super::verdict;
use crate::{Retryable, Verdict};
use http::{HeaderMap, Response, StatusCode};
use std::fmt;
use std::time::Duration;

/// An answer that is a failure: its status, and what it said about a retry.
///
/// ```
/// use http::{HeaderMap, StatusCode};
/// use retry_budget_runtime::http_1::StatusError;
/// use retry_budget_runtime::{Retryable, Verdict};
///
/// let error = StatusError::new(StatusCode::TOO_MANY_REQUESTS, &HeaderMap::new());
/// assert_eq!(error.to_string(), "the server answered 429 Too Many Requests");
/// assert_eq!(error.verdict(), Verdict::THROTTLING);
///
/// // The body knows better: a quota that is spent isn't there again in a second.
/// let body = r#"{"error": {"code": "insufficient_quota"}}"#;
/// let error = if body.contains("insufficient_quota") { error.with_verdict(Verdict::NEVER) } else { error };
/// assert_eq!(error.verdict(), Verdict::NEVER);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct StatusError {
    status: StatusCode,
    verdict: Verdict,
}

impl StatusError {
    /// The answer with this status and these headers, whose [`verdict`](super::verdict) it keeps.
    pub fn new(status: StatusCode, headers: &HeaderMap) -> Self {
        Self { status, verdict: verdict(status, headers) }
    }

    /// The same answer with another verdict, for what only its body says.
    pub fn with_verdict(self, verdict: impl Into<Verdict>) -> Self {
        Self { verdict: verdict.into(), ..self }
    }

    /// The answer's status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// How long the server said to wait, if the failure is worth a retry and it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        self.verdict.hint()
    }
}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server answered {}", self.status.as_str())?;
        if let Some(reason) = self.status.canonical_reason() {
            write!(f, " {reason}")?;
        }
        if self.verdict.is_given_up() {
            f.write_str(", and not to retry")
        } else if let Some(hint) = self.retry_after() {
            write!(f, ", and to retry after {hint:?}")
        } else {
            Ok(())
        }
    }
}

impl Retryable for StatusError {
    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn event_text(&self) -> Option<&dyn std::fmt::Display> {
        Some(self)
    }
}

/// By the status alone, where the headers are gone.
impl From<StatusCode> for StatusError {
    fn from(status: StatusCode) -> Self {
        Self { status, verdict: status.verdict() }
    }
}

/// `response.or_retry()?`: a failing answer becomes an error that knows whether it is worth a retry.
pub trait OrRetry: Sized + sealed::Sealed {
    /// The answer, or an error if its status is 400 or above.
    ///
    /// # Errors
    ///
    /// When the status says that the request failed, whether or not that is worth a retry.
    fn or_retry(self) -> Result<Self, StatusError>;
}

impl<B> OrRetry for Response<B> {
    fn or_retry(self) -> Result<Self, StatusError> {
        let status = self.status();
        if is_failure(status) { Err(StatusError::new(status, self.headers())) } else { Ok(self) }
    }
}

/// Whether the request failed: 400 and above. A redirect or "not modified" is an answer to somebody who asked for it.
pub(crate) fn is_failure(status: StatusCode) -> bool {
    status.as_u16() >= 400
}

mod sealed {
    pub trait Sealed {}
    impl<B> Sealed for http::Response<B> {}
}
