//! From what a request came to, to an error that knows whether it is worth a retry.

use super::answer::FailedAnswer;
use super::http_error::HttpError;
use super::reqwest::{Error, Response};
use crate::Verdict;
use crate::http_1::is_failure;
use std::future::Future;

/// `client.get(url).send().await.or_retry()?`: a failing answer, and a request without one, become an [`HttpError`] that
/// knows whether it is worth a retry.
///
/// For a [`Response`], and for the `Result` that `send` gives.
pub trait OrRetry: Sized + sealed::Sealed {
    /// The answer, or an error if there is none or its status is 400 or above.
    ///
    /// The error keeps the status and the server's hint, where `error_for_status` would lose the hint.
    ///
    /// # Errors
    ///
    /// When the request failed, whether or not that is worth a retry.
    fn or_retry(self) -> Result<Response, HttpError>;

    /// [`or_retry`](Self::or_retry) with a look at the body of a failing answer, for what only the body says.
    ///
    /// The function gets the answer with the first 64 KiB of its body, and decides; [`FailedAnswer::verdict`] is what the
    /// status and the headers say. The error keeps the answer: [`HttpError::answer`].
    ///
    /// The body is read within the attempt. So give it a time limit: `attempt_timeout`, or the client's own.
    ///
    /// # Errors
    ///
    /// As `or_retry`.
    fn or_retry_by<F>(self, judge: F) -> impl Future<Output = Result<Response, HttpError>> + Send
    where
        F: FnOnce(&FailedAnswer) -> Verdict + Send;
}

impl OrRetry for Response {
    fn or_retry(mut self) -> Result<Response, HttpError> {
        if is_failure(self.status()) { Err(FailedAnswer::new(&mut self).into()) } else { Ok(self) }
    }

    async fn or_retry_by<F>(mut self, judge: F) -> Result<Response, HttpError>
    where
        F: FnOnce(&FailedAnswer) -> Verdict + Send,
    {
        if !is_failure(self.status()) {
            return Ok(self);
        }
        let mut answer = FailedAnswer::new(&mut self);
        answer.read_body(self).await;
        let verdict = judge(&answer);
        Err(answer.judged(verdict).into())
    }
}

/// `E` is the client's own error, or that of a client around it.
impl<E> OrRetry for Result<Response, E>
where
    HttpError: From<E>,
    E: sealed::OfClient + Send,
{
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

pub(crate) mod sealed {
    use super::{Error, Response};

    pub trait Sealed {}
    impl Sealed for Response {}
    impl<E: OfClient> Sealed for Result<Response, E> {}

    pub trait OfClient {}
    impl OfClient for Error {}
}
