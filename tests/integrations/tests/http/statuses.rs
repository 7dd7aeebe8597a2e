//! Status → verdict, and what the headers change about it.

use super::headers;
use http::{HeaderMap, Response, StatusCode};
use retry_budget::http_1::{OrRetry, StatusError, is_told_not_to_retry, verdict, verdict_at, verdict_of};
use retry_budget::{Retryable, Verdict};
use std::time::{Duration, UNIX_EPOCH};

fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap()
}

#[test]
fn each_status_there_is() {
    let transient = [408, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530];
    let throttling = [429, 529];
    for code in 100..=999 {
        let expected = match code {
            _ if transient.contains(&code) => Verdict::TRANSIENT,
            _ if throttling.contains(&code) => Verdict::THROTTLING,
            _ => Verdict::NEVER,
        };
        assert_eq!(status(code).verdict(), expected, "{code}");
        assert_eq!(verdict(status(code), &HeaderMap::new()), expected, "{code}");
    }
}

#[test]
fn a_hint_makes_503_throttling_and_leaves_the_others() {
    let three = headers(&[("retry-after", "3")]);
    let secs = Duration::from_secs;
    assert_eq!(verdict(status(503), &three), Verdict::THROTTLING.after(secs(3)));
    assert_eq!(verdict(status(500), &three), Verdict::TRANSIENT.after(secs(3)));
    assert_eq!(verdict(status(429), &three), Verdict::THROTTLING.after(secs(3)));
    assert_eq!(verdict(status(404), &three), Verdict::NEVER, "no hint, no nothing");
    assert_eq!(verdict(status(503), &headers(&[("retry-after", "0")])), Verdict::THROTTLING.after(secs(0)));
    assert_eq!(verdict(status(503), &headers(&[("retry-after", "soon")])), Verdict::TRANSIENT, "as if not there");
    let date = headers(&[("retry-after", "Thu, 01 Jan 1970 00:00:30 GMT")]);
    assert_eq!(verdict_at(status(503), &date, UNIX_EPOCH + secs(10)), Verdict::THROTTLING.after(secs(20)));
    assert_eq!(verdict(status(503), &date), Verdict::THROTTLING.after(secs(0)), "by this machine's clock it is past");
    let response = Response::builder().status(503).header("retry-after", "3").body(()).unwrap();
    assert_eq!(verdict_of(&response), Verdict::THROTTLING.after(secs(3)));
}

#[test]
fn a_server_that_says_dont() {
    for (name, value, says_dont) in [
        ("x-should-retry", "false", true),
        ("x-should-retry", " FALSE ", true),
        ("x-should-retry", "true", false),
        ("x-should-retry", "", false),
        ("x-should-retry", "falsehood", false),
        ("grpc-retry-pushback-ms", "-1", true),
        ("grpc-retry-pushback-ms", "-9000", true),
        ("grpc-retry-pushback-ms", "what?", true),
        ("grpc-retry-pushback-ms", "", true),
        ("grpc-retry-pushback-ms", "0", false),
        ("grpc-retry-pushback-ms", "250", false),
    ] {
        let headers = headers(&[(name, value)]);
        assert_eq!(is_told_not_to_retry(&headers), says_dont, "{name}: {value}");
        for (code, kind) in [(500, Verdict::TRANSIENT), (429, Verdict::THROTTLING)] {
            assert_eq!(verdict(status(code), &headers).kind(), kind.kind(), "worth it by its kind: {name}: {value}");
            assert_eq!(verdict(status(code), &headers).is_given_up(), says_dont, "{name}: {value}");
        }
        assert_eq!(verdict(status(404), &headers), Verdict::NEVER, "{name}: {value}");
        assert_eq!(verdict(status(200), &headers), Verdict::NEVER, "{name}: {value}");
    }
    assert!(is_told_not_to_retry(&headers(&[("x-should-retry", "true"), ("x-should-retry", "false")])));
    assert!(is_told_not_to_retry(&headers(&[("grpc-retry-pushback-ms", b"\xff" as &[u8])])));
    assert!(!is_told_not_to_retry(&headers(&[("x-should-retry", b"\xff" as &[u8])])));
    assert!(!is_told_not_to_retry(&HeaderMap::new()));
    let true_is_nothing = headers(&[("x-should-retry", "true")]);
    assert_eq!(verdict(status(404), &true_is_nothing), Verdict::NEVER, "true makes nothing retryable");
    assert_eq!(verdict(status(500), &true_is_nothing), Verdict::TRANSIENT);
}

fn answer(code: u16, name: &str, value: &str) -> Response<()> {
    Response::builder().status(code).header(name, value).body(()).unwrap()
}

#[test]
fn failing_answers_become_errors_that_tell() {
    for code in [100, 200, 204, 302, 304, 399] {
        assert!(answer(code, "retry-after", "3").or_retry().is_ok(), "{code}");
    }
    let error = |code, name, value| answer(code, name, value).or_retry().unwrap_err();
    let busy = error(429, "retry-after", "3");
    assert_eq!(busy.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(busy.retry_after(), Some(Duration::from_secs(3)));
    assert_eq!(busy.verdict(), Verdict::THROTTLING.after(Duration::from_secs(3)));
    assert_eq!(busy.to_string(), "the server answered 429 Too Many Requests, and to retry after 3s");
    assert_eq!(error(404, "a", "b").to_string(), "the server answered 404 Not Found");
    assert_eq!(error(404, "a", "b").verdict(), Verdict::NEVER);
    assert_eq!(error(530, "a", "b").to_string(), "the server answered 530");
    assert_eq!(error(999, "a", "b").to_string(), "the server answered 999");
    let dont = error(500, "x-should-retry", "false");
    assert_eq!(dont.to_string(), "the server answered 500 Internal Server Error, and not to retry");
    assert_eq!(dont.verdict(), Verdict::TRANSIENT.given_up());
    let spent = busy.with_verdict(false);
    assert_eq!((spent.verdict(), spent.retry_after()), (Verdict::NEVER, None));
    assert_eq!(StatusError::from(StatusCode::BAD_GATEWAY).verdict(), Verdict::TRANSIENT);
}
