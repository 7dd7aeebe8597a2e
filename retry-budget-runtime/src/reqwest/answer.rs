//! An answer that is a failure, with as much of its body as anybody looks at.

use super::reqwest::Response;
use crate::http_1::{self, StatusError};
use crate::{Retryable, Verdict};
use ::http::{HeaderMap, StatusCode};
use std::borrow::Cow;
use std::mem;

/// A body is read up to here.
const MOST: usize = 64 * 1024;

/// Whether this answer is worth a retry, by its status and headers: for `classify_ok = verdict`.
pub fn verdict(response: &Response) -> Verdict {
    http_1::verdict(response.status(), response.headers())
}

/// A failing answer.
#[derive(Clone, Debug)]
pub struct FailedAnswer {
    error: StatusError,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl FailedAnswer {
    pub(super) fn new(response: &mut Response) -> Self {
        let error = StatusError::new(response.status(), response.headers());
        Self { error, headers: mem::take(response.headers_mut()), body: Vec::new() }
    }

    /// Reads the body, up to the limit. What can't be read isn't there: the status has said already that it failed.
    pub(super) async fn read_body(&mut self, mut response: Response) {
        while self.body.len() < MOST
            && let Ok(Some(chunk)) = response.chunk().await
        {
            let room = MOST - self.body.len();
            self.body.extend_from_slice(&chunk[..room.min(chunk.len())]);
        }
    }

    pub(super) fn judged(self, verdict: Verdict) -> Self {
        Self { error: self.error.with_verdict(verdict), ..self }
    }

    pub(super) const fn error(&self) -> &StatusError {
        &self.error
    }

    /// The answer's status.
    pub fn status(&self) -> StatusCode {
        self.error.status()
    }

    /// The answer's headers.
    pub const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The body, its first 64 KiB, or what came of it before the connection broke. Empty where nobody has read it.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The body as text; what isn't UTF-8 in it is replaced.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// What the status and the headers say (see [`http_1`]), or what was made of it by
    /// [`or_retry_by`](super::OrRetry::or_retry_by).
    pub fn verdict(&self) -> Verdict {
        self.error.verdict()
    }
}
