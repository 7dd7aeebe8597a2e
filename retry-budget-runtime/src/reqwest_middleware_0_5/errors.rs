//! The errors of clients with middleware.

use crate::reqwest_0_13::{HttpError, sealed};
use crate::{Retryable, Verdict};
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
        match error {
            Error::Reqwest(error) => error.into(),
            Error::Middleware(error) => {
                let verdict = error.verdict();
                Self::judged(error, verdict)
            }
        }
    }
}

/// `OrRetry` works on what its `send` gives.
impl sealed::OfClient for Error {}
