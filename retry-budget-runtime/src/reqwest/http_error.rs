//! A request that failed, by its answer or without one.

use super::answer::FailedAnswer;
use super::reqwest;
use crate::retryable::known::verdict_in_chain;
use crate::{Elapsed, Retryable, Verdict};
use ::http::StatusCode;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// A request that failed: a failing answer with its status and hint, or the client's own error.
///
/// Its text and its sources don't show the URL, which often has secrets in it.
#[derive(Debug)]
pub struct HttpError(Failure);

#[derive(Debug)]
enum Failure {
    Answer(Box<FailedAnswer>),
    Client(reqwest::Error),
    Elapsed(Elapsed),
    Other { error: Box<dyn Error + Send + Sync>, verdict: Verdict },
}

impl HttpError {
    /// A failure of something around the client: of a middleware, or in making a signature. An error that this crate
    /// knows, in its chain of sources, says whether it is worth a retry; without one it never is.
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let error = error.into();
        let verdict = verdict_in_chain(&*error).into();
        Self(Failure::Other { error, verdict })
    }

    /// The same with another verdict, for an error whose type can't be found in a box.
    #[cfg(feature = "reqwest-middleware-0_5")]
    #[allow(dead_code)] // in the versions that have no middleware
    pub(crate) fn judged(error: impl Into<Box<dyn Error + Send + Sync>>, verdict: Verdict) -> Self {
        Self(Failure::Other { error: error.into(), verdict })
    }

    /// The status of the answer, if there was one.
    pub fn status(&self) -> Option<StatusCode> {
        match &self.0 {
            Failure::Answer(answer) => Some(answer.status()),
            Failure::Client(error) => error.status(),
            Failure::Elapsed(_) | Failure::Other { .. } => None,
        }
    }

    /// How long the server said to wait, if the failure is worth a retry and it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        self.verdict().hint()
    }

    /// The failing answer, if there was one. Its body is empty, unless [`or_retry_by`](super::OrRetry::or_retry_by) read it.
    pub fn answer(&self) -> Option<&FailedAnswer> {
        match &self.0 {
            Failure::Answer(answer) => Some(answer),
            Failure::Client(_) | Failure::Elapsed(_) | Failure::Other { .. } => None,
        }
    }

    /// The client's own error, if it was that.
    pub fn client_error(&self) -> Option<&reqwest::Error> {
        match &self.0 {
            Failure::Client(error) => Some(error),
            Failure::Answer(_) | Failure::Elapsed(_) | Failure::Other { .. } => None,
        }
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Failure::Answer(answer) => answer.error().fmt(f),
            Failure::Client(error) => error.fmt(f),
            Failure::Elapsed(error) => error.fmt(f),
            Failure::Other { error, .. } => error.fmt(f),
        }
    }
}

/// It shows the error inside as its own, so that error's source is its source.
impl Error for HttpError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Failure::Answer(_) | Failure::Elapsed(_) => None,
            Failure::Client(error) => error.source(),
            Failure::Other { error, .. } => error.source(),
        }
    }
}

impl Retryable for HttpError {
    fn verdict(&self) -> Verdict {
        match &self.0 {
            Failure::Answer(answer) => answer.verdict(),
            Failure::Client(error) => error.verdict(),
            Failure::Elapsed(error) => error.verdict(),
            Failure::Other { verdict, .. } => *verdict,
        }
    }
}

impl From<FailedAnswer> for HttpError {
    fn from(answer: FailedAnswer) -> Self {
        Self(Failure::Answer(Box::new(answer)))
    }
}

/// The URL is taken out of the error.
impl From<reqwest::Error> for HttpError {
    fn from(error: reqwest::Error) -> Self {
        Self(Failure::Client(error.without_url()))
    }
}

/// For `attempt_timeout` and `deadline`.
impl From<Elapsed> for HttpError {
    fn from(elapsed: Elapsed) -> Self {
        Self(Failure::Elapsed(elapsed))
    }
}

pub(crate) fn verdict_of_known(error: &(dyn Error + 'static)) -> Option<Verdict> {
    let of_client = || error.downcast_ref::<reqwest::Error>().map(Retryable::verdict);
    error.downcast_ref::<HttpError>().map(Retryable::verdict).or_else(of_client)
}
