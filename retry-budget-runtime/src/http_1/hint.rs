//! Reads from headers how long a server says to wait, and whether it says not to come back at all.

use http::header::{DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use std::time::{Duration, SystemTime};

/// How long to wait, in milliseconds: finer than Retry-After, and sent beside it by several APIs.
pub const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// Whether the server thinks that a retry makes sense: `true` or `false`.
pub const X_SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// gRPC's word for both: milliseconds to wait, or -1 for "don't". Source: gRPC proposal A6, "Pushback".
pub const GRPC_RETRY_PUSHBACK_MS: HeaderName = HeaderName::from_static("grpc-retry-pushback-ms");

/// How long the server says to wait: its hint.
///
/// The first of these that is there and can be read:
///
/// 1. `retry-after-ms`, in milliseconds;
/// 2. `grpc-retry-pushback-ms`, in milliseconds;
/// 3. `Retry-After`, in seconds;
/// 4. `Retry-After`, as a date (RFC 9110: any of the three forms of an HTTP date). It is taken relative to the answer's own
///    `Date`, so that it doesn't matter if this machine's clock is wrong; without one, relative to `now`.
///
/// A number may have a fraction. One that is too large for a [`Duration`] is the longest there is, and a date that is past
/// is zero. What can't be read is taken for not there: a negative number, an empty value, a date of any other form, text
/// that isn't ASCII. Where a header is there several times, the longest wait counts.
///
/// ```
/// use http::{HeaderMap, HeaderValue};
/// use retry_budget_runtime::http_1::retry_after;
/// use std::time::{Duration, SystemTime, UNIX_EPOCH};
///
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", HeaderValue::from_static("120"));
/// assert_eq!(retry_after(&headers, SystemTime::now()), Some(Duration::from_secs(120)));
///
/// headers.insert("retry-after", HeaderValue::from_static("Thu, 01 Jan 1970 00:00:30 GMT"));
/// let now = UNIX_EPOCH + Duration::from_secs(10);
/// assert_eq!(retry_after(&headers, now), Some(Duration::from_secs(20)));
/// ```
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    hint(headers, || Some(now))
}

/// The same; the clock is only read for a date.
pub(super) fn hint(headers: &HeaderMap, now: impl FnOnce() -> Option<SystemTime>) -> Option<Duration> {
    longest(headers, &RETRY_AFTER_MS, |text| number(text, 1e-3))
        .or_else(|| longest(headers, &GRPC_RETRY_PUSHBACK_MS, |text| number(text, 1e-3)))
        .or_else(|| longest(headers, &RETRY_AFTER, |text| number(text, 1.0)))
        .or_else(|| {
            let until = longest(headers, &RETRY_AFTER, date)?;
            let now = longest(headers, &DATE, date).or_else(now)?;
            Some(until.duration_since(now).unwrap_or_default())
        })
}

/// Whether the server says not to retry: `x-should-retry: false`, or a `grpc-retry-pushback-ms` that is negative or no
/// number at all.
pub fn is_told_not_to_retry(headers: &HeaderMap) -> bool {
    let any = |name: &HeaderName, says_no: fn(&HeaderValue) -> bool| headers.get_all(name).iter().any(says_no);
    any(&X_SHOULD_RETRY, |value| text(value).is_some_and(|text| text.eq_ignore_ascii_case("false")))
        || any(&GRPC_RETRY_PUSHBACK_MS, |value| text(value).and_then(|text| number(text, 1e-3)).is_none())
}

/// The longest wait, or latest date, that the values of this name say.
fn longest<T: Ord>(headers: &HeaderMap, name: &HeaderName, read: impl Fn(&str) -> Option<T>) -> Option<T> {
    headers.get_all(name).iter().filter_map(|value| read(text(value)?)).max()
}

fn text(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok().map(str::trim)
}

fn date(text: &str) -> Option<SystemTime> {
    httpdate::parse_http_date(text).ok()
}

/// Digits, with or without a fraction, in this unit.
fn number(text: &str, unit_in_secs: f64) -> Option<Duration> {
    // Rust reads more than that: signs, exponents, infinities.
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let secs = text.parse::<f64>().ok()? * unit_in_secs;
    Some(Duration::try_from_secs_f64(secs).unwrap_or(Duration::MAX))
}
