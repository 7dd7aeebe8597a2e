//! A request that failed, by its answer or without one.

use super::answer::FailedAnswer;
use super::reqwest;
use crate::{Elapsed, Retryable, Verdict};
use ::http::StatusCode;
use std::error::Error;
use std::time::Duration;

/// A request that failed: a failing answer with its status and hint, or the client's own error.
///
/// Its text and its sources don't show the URL, which often has secrets in it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct HttpError(Failure);

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{}", .0.error())]
    Answer(Box<FailedAnswer>),
    #[error(transparent)]
    Client(reqwest::Error),
    #[error(transparent)]
    Elapsed(Elapsed),
}

impl HttpError {
    /// The status of the answer, if there was one.
    pub fn status(&self) -> Option<StatusCode> {
        match &self.0 {
            Failure::Answer(answer) => Some(answer.status()),
            Failure::Client(error) => error.status(),
            Failure::Elapsed(_) => None,
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
            Failure::Client(_) | Failure::Elapsed(_) => None,
        }
    }

    /// The client's own error, if it was that.
    pub fn client_error(&self) -> Option<&reqwest::Error> {
        match &self.0 {
            Failure::Client(error) => Some(error),
            Failure::Answer(_) | Failure::Elapsed(_) => None,
        }
    }
}

impl Retryable for HttpError {
    fn verdict(&self) -> Verdict {
        match &self.0 {
            Failure::Answer(answer) => answer.verdict(),
            Failure::Client(error) => error.verdict(),
            Failure::Elapsed(error) => error.verdict(),
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
