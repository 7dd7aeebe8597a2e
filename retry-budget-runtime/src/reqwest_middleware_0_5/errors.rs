//! The errors of clients with middleware.

use crate::reqwest_0_13::{FailedAnswer, HttpError, OrRetry, sealed};
use crate::{Retryable, Verdict};
use reqwest_0_13::Response;
use reqwest_middleware::Error;

/// The client's own error decides; of a middleware's error its chain of sources is searched for one that this crate knows.
impl Retryable for Error {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Reqwest(error) => error.verdict(),
            Self::Middleware(error) => error.verdict(),
        }
    }
}

impl From<Error> for HttpError {
    fn from(error: Error) -> Self {
        let verdict = error.verdict();
        match error {
            Error::Reqwest(error) => error.into(),
            Error::Middleware(error) => Self::judged(error, verdict),
        }
    }
}

impl sealed::Sealed for Result<Response, Error> {}

impl OrRetry for Result<Response, Error> {
    fn or_retry(self) -> Result<Response, HttpError> {
        self?.or_retry()
    }

    async fn or_retry_by<F>(self, judge: F) -> Result<Response, HttpError>
    where
        F: FnOnce(&FailedAnswer) -> Verdict + Send,
    {
        self?.or_retry_by(judge).await
    }
}
