//! From a status to a verdict.

use super::hint::{hint, is_told_not_to_retry};
use crate::{Retryable, Verdict};
use http::{HeaderMap, Response, StatusCode};
use std::time::{Duration, SystemTime};

/// Whether an answer with this status and these headers is worth a retry: see [the table](crate::http_1).
///
/// A hint that is a date, in an answer that doesn't say its own date, is taken relative to this machine's clock.
///
/// ```
/// use http::{HeaderMap, HeaderValue, StatusCode};
/// use retry_budget_runtime::Verdict;
/// use retry_budget_runtime::http_1::verdict;
/// use std::time::Duration;
///
/// let mut headers = HeaderMap::new();
/// assert_eq!(verdict(StatusCode::SERVICE_UNAVAILABLE, &headers), Verdict::TRANSIENT);
/// assert_eq!(verdict(StatusCode::NOT_FOUND, &headers), Verdict::NEVER);
///
/// headers.insert("retry-after", HeaderValue::from_static("3"));
/// let told_to_wait = Verdict::THROTTLING.after(Duration::from_secs(3));
/// assert_eq!(verdict(StatusCode::SERVICE_UNAVAILABLE, &headers), told_to_wait);
///
/// headers.insert("x-should-retry", HeaderValue::from_static("false"));
/// assert_eq!(verdict(StatusCode::SERVICE_UNAVAILABLE, &headers), told_to_wait.given_up());
/// ```
pub fn verdict(status: StatusCode, headers: &HeaderMap) -> Verdict {
    judge(status, headers, clock)
}

/// The same at a given time.
pub fn verdict_at(status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Verdict {
    judge(status, headers, || Some(now))
}

/// [`verdict`] of a whole response: for `classify_ok = verdict_of`.
pub fn verdict_of<B>(response: &Response<B>) -> Verdict {
    verdict(response.status(), response.headers())
}

fn judge(status: StatusCode, headers: &HeaderMap, now: impl FnOnce() -> Option<SystemTime>) -> Verdict {
    let by_status = status.verdict();
    if by_status == Verdict::NEVER {
        return Verdict::NEVER;
    }
    let hint = hint(headers, now);
    let too_much = status == StatusCode::SERVICE_UNAVAILABLE && hint.is_some();
    let verdict = if too_much { Verdict::THROTTLING } else { by_status };
    heeding(verdict, hint, headers)
}

/// A verdict that comes from elsewhere than the status, with what the headers say about the retry.
#[cfg(any(feature = "tonic-0_14", feature = "tower-0_5"))]
pub(crate) fn heed(verdict: Verdict, headers: &HeaderMap) -> Verdict {
    heeding(verdict, hint(headers, clock), headers)
}

fn heeding(verdict: Verdict, hint: Option<Duration>, headers: &HeaderMap) -> Verdict {
    let verdict = verdict.after(hint);
    if is_told_not_to_retry(headers) { verdict.given_up() } else { verdict }
}

/// A browser's wasm has no such clock: to ask for it would panic.
fn clock() -> Option<SystemTime> {
    (!cfg!(all(target_family = "wasm", target_os = "unknown"))).then(SystemTime::now)
}

/// By the status alone: see [the table](crate::http_1). Where the headers are known too, use [`verdict`].
impl Retryable for StatusCode {
    fn verdict(&self) -> Verdict {
        match self.as_u16() {
            429 | 529 => Verdict::THROTTLING,
            408 | 425 | 500 | 502..=504 | 520..=527 | 530 => Verdict::TRANSIENT,
            _ => Verdict::NEVER,
        }
    }
}
