//! Retry-After in all its forms, and what is none.

use super::headers;
use http::HeaderMap;
use proptest::prelude::*;
use retry_budget::http_1::{OrRetry, StatusError, retry_after};
use retry_budget::{NEVER, Retry, RetryPolicy, Retryable, Stop, StopReason, UNLIMITED, Verdict, retry, retry_budget};
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// Sun, 06 Nov 1994 08:49:37 GMT, the date in RFC 9110's examples.
const NOW: u64 = 784_111_777;

fn hint<V: AsRef<[u8]>>(lines: &[(&'static str, V)]) -> Option<Duration> {
    retry_after(&headers(lines), UNIX_EPOCH + Duration::from_secs(NOW))
}

fn retry_after_of(value: impl AsRef<[u8]>) -> Option<Duration> {
    hint(&[("retry-after", value)])
}

#[test]
fn seconds() {
    let secs = Duration::from_secs;
    assert_eq!(retry_after_of("120"), Some(secs(120)));
    assert_eq!(retry_after_of("0"), Some(secs(0)));
    assert_eq!(retry_after_of(" 7 "), Some(secs(7)));
    assert_eq!(retry_after_of("007"), Some(secs(7)));
    assert_eq!(retry_after_of("1.5"), Some(Duration::from_millis(1500)));
    assert_eq!(retry_after_of("315576000"), Some(secs(315_576_000)), "ten years");
    assert_eq!(retry_after_of("18446744073709551616"), Some(Duration::MAX), "2^64");
    assert_eq!(retry_after_of("9".repeat(400)), Some(Duration::MAX));
    assert_eq!(retry_after(&HeaderMap::new(), SystemTime::now()), None);
}

#[test]
fn no_number() {
    for value in
        ["", " ", "-1", "-0", "+3", "1e3", "0x10", "inf", "NaN", "1.", ".5", ".", "1.5.2", "1,5", "3s", "3 4", "soon"]
    {
        assert_eq!(retry_after_of(value), None, "{value:?}");
        assert_eq!(hint(&[("retry-after-ms", value)]), None, "{value:?}");
    }
    assert_eq!(retry_after_of(b"\xb3"), None, "not ASCII: a superscript three");
    assert_eq!(retry_after_of("٣"), None, "a digit, and not ASCII");
}

#[test]
fn dates() {
    let secs = Duration::from_secs;
    for (later, expected) in [
        ("Sun, 06 Nov 1994 08:49:57 GMT", 20),
        ("Sunday, 06-Nov-94 08:49:57 GMT", 20),
        ("Sun Nov  6 08:49:57 1994", 20),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ("Sun, 06 Nov 1994 08:49:36 GMT", 0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Sat, 06 Nov 2004 08:49:37 GMT", 315_619_200), // 365 × 10 + 3 days
    ] {
        assert_eq!(retry_after_of(later), Some(secs(expected)), "{later}");
    }
    for other in [
        "1994-11-06T08:49:57Z",
        "Sun, 06 Nov 1994 08:49:57 UTC",
        "Sun, 06 Nov 1994 08:49:57 +0000",
        "Mon, 06 Nov 1994 08:49:57 GMT", // it was a Sunday
        "06 Nov 1994",
        "Sun, 31 Feb 1994 08:49:57 GMT",
        "Sun, 06 Nov 1994 25:49:57 GMT",
        "Sun, 06 Nov 10000 08:49:57 GMT",
    ] {
        assert_eq!(retry_after_of(other), None, "{other}");
    }
}

#[test]
fn a_date_counts_from_the_answers_own_date() {
    let later = ("retry-after", "Sun, 06 Nov 1994 08:49:57 GMT");
    let an_hour_behind = ("date", "Sun, 06 Nov 1994 07:49:37 GMT");
    assert_eq!(hint(&[later, an_hour_behind]), Some(Duration::from_secs(3620)), "whatever this machine's clock says");
    assert_eq!(hint(&[later, ("date", "today")]), Some(Duration::from_secs(20)));
}

#[test]
fn milliseconds() {
    let millis = Duration::from_millis;
    assert_eq!(hint(&[("retry-after-ms", "250")]), Some(millis(250)));
    assert_eq!(hint(&[("retry-after-ms", "0.5")]), Some(Duration::from_micros(500)));
    assert_eq!(hint(&[("retry-after-ms", "250"), ("retry-after", "1")]), Some(millis(250)), "the finer one");
    assert_eq!(
        hint(&[("retry-after-ms", "-250"), ("retry-after", "1")]),
        Some(millis(1000)),
        "the one that can be read"
    );
    assert_eq!(hint(&[("grpc-retry-pushback-ms", "250")]), Some(millis(250)));
    assert_eq!(hint(&[("grpc-retry-pushback-ms", "-1"), ("retry-after", "1")]), Some(millis(1000)));
    assert_eq!(hint(&[("retry-after-ms", "9".repeat(30))]), Some(Duration::MAX));
}

#[test]
fn several_headers() {
    let of = |values: &[&'static str]| hint(&values.iter().map(|value| ("retry-after", *value)).collect::<Vec<_>>());
    assert_eq!(of(&["3", "10", "5"]), Some(Duration::from_secs(10)), "the longest");
    assert_eq!(of(&["", "4", "-9"]), Some(Duration::from_secs(4)), "the one that can be read");
    assert_eq!(of(&["3, 10"]), None, "a list is no form of this header");
    let dates = ["Sun, 06 Nov 1994 08:49:47 GMT", "Sun, 06 Nov 1994 08:49:57 GMT"];
    assert_eq!(of(&dates), Some(Duration::from_secs(20)));
}

proptest! {
    /// Whatever the bytes: an answer, and no panic.
    #[test]
    fn any_header_value(value: Vec<u8>, name in 0_usize..5, now: u32) {
        let value: Vec<u8> = value.into_iter().filter(|byte| *byte >= 32 && *byte != 127).collect();
        let name = ["retry-after", "retry-after-ms", "grpc-retry-pushback-ms", "x-should-retry", "date"][name];
        let headers = headers(&[(name, value.as_slice()), ("retry-after", b"Sun, 06 Nov 1994 08:49:57 GMT")]);
        let now = UNIX_EPOCH + Duration::from_secs(now.into());
        let hint = retry_after(&headers, now);
        prop_assert!(name == "retry-after" || hint.is_some());
        let _ = retry_budget::http_1::verdict_at(http::StatusCode::SERVICE_UNAVAILABLE, &headers, now);
    }

    /// What looks like a date as well.
    #[test]
    fn nearly_a_date(text in "(Sun|Sunday|Mon), [0-9]{2}[ -](Nov|Feb|Xyz)[ -][0-9]{2,4} [0-9]{2}:[0-9]{2}:[0-9]{2}( GMT)?") {
        let _ = retry_after_of(text);
    }
}

/// A partner that says when to come back.
fn told(value: &str) -> Result<(), StatusError> {
    http::Response::builder().status(429).header("retry-after", value).body(()).unwrap().or_retry().map(drop)
}

/// What a call that is told this does within its limits: how long it waits, and why it stops.
async fn waits(value: &str) -> (Duration, StopReason) {
    let start = Instant::now();
    let policy = RetryPolicy::builder().max_attempts(2).build();
    let stopped = retry(&UNLIMITED, &policy, async |_| told(value)).explained().await.unwrap_err();
    (start.elapsed(), stopped.stop().reason)
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_never_shorter_than_the_hint_nor_much_longer() {
    for (value, least) in [("3", 3), ("20", 20), ("0", 0)] {
        let (waited, reason) = waits(value).await;
        // the usual delay of a throttling failure is up to a second
        let most = (least + least / 10 + 1).max(2);
        assert!((Duration::from_secs(least)..=Duration::from_secs(most)).contains(&waited), "{value}: {waited:?}");
        assert_eq!(reason, StopReason::AttemptsUsedUp, "{value}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_above_the_limit_is_never_waited_for() {
    for value in ["21", "20.001", "315576000", "18446744073709551616", "Fri, 31 Dec 9999 23:59:59 GMT"] {
        assert_eq!(waits(value).await, (Duration::ZERO, StopReason::HintTooFar), "{value}");
    }
    for value in ["", "-1", "soon", "\u{b3}"] {
        let (waited, reason) = waits(value).await;
        assert!(waited <= Duration::from_secs(1), "no hint, so the usual delay: {value}: {waited:?}");
        assert_eq!(reason, StopReason::AttemptsUsedUp, "{value}");
    }
}

static STOPS: Mutex<Vec<Stop>> = Mutex::new(Vec::new());

#[retry_budget(
    budget = UNLIMITED,
    deadline = "5s",
    elapsed = |_| unreachable!("no attempt takes any time"),
    on_stop = |event| STOPS.lock().unwrap().push(event.stop.clone())
)]
async fn within_five_seconds(value: &str) -> Result<(), StatusError> {
    told(value)
}

#[tokio::test(start_paused = true)]
async fn no_wait_ends_at_or_past_the_deadline() {
    for value in ["5", "6", "20"] {
        let start = Instant::now();
        within_five_seconds(value).await.unwrap_err();
        assert_eq!(start.elapsed(), Duration::ZERO, "{value}");
        assert_eq!(STOPS.lock().unwrap().pop().unwrap().reason, StopReason::Deadline, "{value}");
    }
    let start = Instant::now();
    within_five_seconds("3").await.unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(5));
    let stop = STOPS.lock().unwrap().pop().unwrap();
    assert_eq!((stop.reason, stop.attempts), (StopReason::Deadline, 2), "there was time for one wait");
}

#[tokio::test(start_paused = true)]
async fn an_obeyed_dont_is_a_call_that_was_given_up() {
    let dont = async |_| {
        let dont = http::Response::builder().status(503).header("x-should-retry", "false").body(()).unwrap();
        dont.or_retry().map(drop)
    };
    let stopped = retry(&UNLIMITED, &RetryPolicy::REQUEST, dont).explained().await.unwrap_err();
    assert_eq!((stopped.stop().reason, stopped.stop().attempts), (StopReason::GaveUpInside, 1));
    assert_eq!(stopped.error().verdict(), Verdict::TRANSIENT.given_up());

    // so the loops around it in the same task don't come back either, whatever they make of the error
    let outer = Retry::new(&NEVER, &RetryPolicy::REQUEST)
        .classify(|_: &StatusError| true)
        .run(async |_| retry(&UNLIMITED, &RetryPolicy::REQUEST, dont).await);
    assert_eq!(outer.explained().await.unwrap_err().stop().reason, StopReason::GaveUpInside);
}
