//! What can go wrong with the partner, and what of it is worth a retry.

use reqwest::StatusCode;
use retry_budget::Retryable;

/// Why the partner's answer isn't there.
#[derive(Debug, thiserror::Error, Retryable)]
pub enum PartnerError {
    /// It doesn't like the request, and won't like it the next time either.
    #[error("the partner refused")]
    #[retry(never)]
    Refused(#[source] reqwest::Error),
    /// It says that it gets too many requests.
    #[error("the partner gets too many requests")]
    #[retry(throttling)]
    Throttled(#[source] reqwest::Error),
    /// It failed, or didn't answer in time, or can't be reached.
    #[error("the partner is in trouble")]
    #[retry(transient)]
    Unavailable(#[source] reqwest::Error),
}

impl From<reqwest::Error> for PartnerError {
    fn from(error: reqwest::Error) -> Self {
        match error.status() {
            Some(StatusCode::TOO_MANY_REQUESTS) => Self::Throttled(error),
            Some(status) if status.is_client_error() => Self::Refused(error),
            _ => Self::Unavailable(error),
        }
    }
}
