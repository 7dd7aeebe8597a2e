//! The layer for servers: what it counts, when it says not to come back, and when it doesn't.

use http::request::Parts;
use http::{Request, Response};
use retry_budget::http_1::AttemptHeaders;
use retry_budget::tower_0_5::{CallerAttempt, DontRetry, PushbackLayer, RequestCounts, RetryLayer};
use retry_budget::{NEVER, RetryPolicy, UNLIMITED, retry, retry_blocking};
use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;
use tokio::time::advance;
use tower::ServiceExt;
use tower_layer::Layer;

const QUICK: RetryPolicy = RetryPolicy::builder().base_delay(Duration::ZERO).build();

fn request(headers: &[(&str, &str)]) -> Request<()> {
    let mut request = Request::builder();
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap()
}

fn response(status: u16, headers: &[(&str, &str)]) -> Response<()> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(()).unwrap()
}

/// What `x-should-retry` and `grpc-retry-pushback-ms` say.
fn said(response: &Response<()>) -> [&str; 2] {
    ["x-should-retry", "grpc-retry-pushback-ms"]
        .map(|name| response.headers().get(name).map_or("", |value| value.to_str().unwrap()))
}

/// Passes a request on to a handler that answers so.
async fn ask<T>(layer: &PushbackLayer<T>, request: Request<()>, answer: Response<()>) -> Response<()>
where
    T: Fn(&Parts) -> bool + Clone,
{
    let mut answer = Some(answer);
    let handler = tower::service_fn(move |_: Request<()>| ready(Ok::<_, Infallible>(answer.take().unwrap())));
    layer.layer(handler).oneshot(request).await.unwrap()
}

/// The same, where the handler says that a retry won't help.
async fn ask_in_vain(request: Request<()>, mut answer: Response<()>) -> Response<()> {
    answer.extensions_mut().insert(DontRetry);
    ask(&PushbackLayer::new(), request, answer).await
}

const GRPC: &[(&str, &str)] = &[("content-type", "application/grpc")];

#[tokio::test]
async fn an_answer_that_fails_and_no_other() {
    for status in [429, 500, 502, 503, 504] {
        assert_eq!(said(&ask_in_vain(request(&[]), response(status, &[])).await), ["false", ""], "{status}");
        assert_eq!(said(&ask_in_vain(request(GRPC), response(status, &[])).await), ["", "-1"], "{status}");
    }
    for status in [200, 204, 302, 400, 404, 408, 501, 505, 520] {
        assert_eq!(said(&ask_in_vain(request(&[]), response(status, &[])).await), ["", ""], "{status}");
        assert_eq!(said(&ask_in_vain(request(GRPC), response(status, &[])).await), ["", ""], "{status}");
    }
}

#[tokio::test]
async fn of_grpc_the_two_that_say_the_server_cannot() {
    for kind in ["application/grpc", "application/grpc+proto", "application/grpc-web+proto", "Application/gRPC"] {
        for code in 0..=16 {
            let code = code.to_string();
            let answer = response(200, &[("content-type", kind), ("grpc-status", &code)]);
            let expected = if ["8", "14"].contains(&&*code) { ["", "-1"] } else { ["", ""] };
            assert_eq!(said(&ask_in_vain(request(&[("content-type", kind)]), answer).await), expected, "{code}");
        }
    }
    // the answer says that it is gRPC, though the request didn't
    let answer = response(200, &[("content-type", "application/grpc"), ("grpc-status", "14")]);
    assert_eq!(said(&ask_in_vain(request(&[]), answer).await), ["", "-1"]);
    // what isn't gRPC may have a header of this name
    let answer = response(200, &[("content-type", "application/json"), ("grpc-status", "14")]);
    assert_eq!(said(&ask_in_vain(request(&[]), answer).await), ["", ""]);
}

#[tokio::test]
async fn never_over_a_header_that_is_there() {
    for there in ["true", "false", "", "perhaps"] {
        let answer = response(503, &[("x-should-retry", there)]);
        assert_eq!(said(&ask_in_vain(request(&[]), answer).await), [there, ""]);
    }
    for there in ["0", "250", "-1", ""] {
        let answer = response(
            200,
            &[("content-type", "application/grpc"), ("grpc-status", "14"), ("grpc-retry-pushback-ms", there)],
        );
        assert_eq!(said(&ask_in_vain(request(GRPC), answer).await), ["", there]);
    }
}

#[tokio::test]
async fn without_a_reason_it_says_nothing() {
    assert_eq!(said(&ask(&PushbackLayer::new(), request(&[]), response(503, &[])).await), ["", ""]);
}

/// A handler with a loop that gives up, and then answers so.
async fn gives_up_and_answers(status: u16) -> Response<()> {
    let handler = tower::service_fn(|_: Request<()>| async move {
        let lost = retry(NEVER, &QUICK, async |_| {
            tokio::task::yield_now().await;
            Err::<(), _>(io::Error::from(io::ErrorKind::TimedOut))
        });
        lost.await.unwrap_err();
        tokio::task::yield_now().await;
        Ok::<_, Infallible>(response(status, &[]))
    });
    PushbackLayer::new().layer(handler).oneshot(request(&[])).await.unwrap()
}

#[tokio::test]
async fn a_loop_inside_that_gave_up() {
    assert_eq!(said(&gives_up_and_answers(503).await), ["false", ""]);
    assert_eq!(said(&gives_up_and_answers(200).await), ["", ""], "the handler had something else to answer with");
    assert_eq!(said(&gives_up_and_answers(404).await), ["", ""]);
}

#[tokio::test]
async fn a_loop_inside_that_is_not_async() {
    let handler = tower::service_fn(|_: Request<()>| {
        let lost = retry_blocking(NEVER, &QUICK, |_| Err::<(), _>(io::Error::from(io::ErrorKind::TimedOut)));
        ready(Ok::<_, Infallible>(response(if lost.is_ok() { 200 } else { 503 }, &[])))
    });
    let answer = PushbackLayer::new().layer(handler).oneshot(request(&[])).await.unwrap();
    assert_eq!(said(&answer), ["false", ""], "it gave up within `Service::call`");
}

#[tokio::test]
async fn what_another_request_gave_up_counts_for_nothing() {
    gives_up_and_answers(503).await;
    assert_eq!(said(&ask(&PushbackLayer::new(), request(&[]), response(503, &[])).await), ["", ""]);
}

#[tokio::test]
async fn a_loop_that_succeeded_in_the_end() {
    let handler = tower::service_fn(|_: Request<()>| async move {
        let lost = || io::Error::from(io::ErrorKind::TimedOut);
        let second = retry(&UNLIMITED, &QUICK, async |attempt| attempt.is_retry().then_some(()).ok_or_else(lost));
        second.await.unwrap();
        Ok::<_, Infallible>(response(503, &[]))
    });
    let answer = PushbackLayer::new().layer(handler).oneshot(request(&[])).await.unwrap();
    assert_eq!(said(&answer), ["", ""]);
}

#[tokio::test]
async fn a_loop_around_it_in_the_same_task_sees_it_too() {
    let attempts = AtomicU32::new(0);
    let handler = tower::service_fn(|_: Request<()>| {
        attempts.fetch_add(1, SeqCst);
        async {
            let lost = retry(NEVER, &QUICK, async |_| Err::<(), _>(io::Error::from(io::ErrorKind::TimedOut)));
            lost.await.map(|()| response(200, &[]))
        }
    });
    let service = RetryLayer::new(&UNLIMITED, QUICK)
        .classify(|_: &String| true)
        .layer(PushbackLayer::new().layer(handler).map_err(|_| "it failed".to_owned()));
    service.oneshot(request(&[])).await.unwrap_err();
    assert_eq!(attempts.load(SeqCst), 1);
}

/// Sends requests, so many of them retries.
async fn send<T: Fn(&Parts) -> bool + Clone>(layer: &PushbackLayer<T>, requests: u64, retries: u64) {
    for number in 0..requests {
        let headers: &[_] = if number < retries { &[("x-retry-attempt", "2")] } else { &[] };
        ask(layer, request(headers), response(200, &[])).await;
    }
}

/// Whether a failing answer to a first attempt is told not to come back.
async fn says_dont<T: Fn(&Parts) -> bool + Clone>(layer: &PushbackLayer<T>) -> bool {
    let answer = ask(layer, request(&[]), response(503, &[])).await;
    said(&answer) == ["false", ""]
}

#[tokio::test(start_paused = true)]
async fn more_than_a_fifth_of_at_least_fifty_requests() {
    for (requests, retries, dont) in [
        (48, 48, false), // 49 with the one that fails
        (49, 10, false), // a fifth of 50
        (49, 11, true),
        (99, 20, false),
        (99, 21, true),
        (1_000, 200, false),
        (1_000, 201, true),
    ] {
        let layer = PushbackLayer::new();
        send(&layer, requests, retries).await;
        assert_eq!(says_dont(&layer).await, dont, "{retries} of {requests}");
    }
}

#[tokio::test(start_paused = true)]
async fn in_ten_seconds() {
    let layer = PushbackLayer::new();
    // slots are aligned to whole seconds of the process's clock; this moment would be an edge of a window of 11 s, too
    let into_eleven = retry_budget::Time::now().as_nanos() % 11_000_000_000;
    advance(Duration::from_nanos(11_000_000_000 - into_eleven)).await;
    send(&layer, 60, 60).await;
    assert!(says_dont(&layer).await);
    advance(Duration::from_millis(9_999)).await;
    assert!(says_dont(&layer).await);
    assert_eq!(format!("{layer:?}"), "PushbackLayer { counts: RequestCounts { all: 62, retries: 60 }, .. }");
    advance(Duration::from_millis(1)).await;
    assert_eq!((layer.counts().all, layer.counts().retries), (1, 0), "only the last one is of these ten seconds");
    assert!(!says_dont(&layer).await);
}

#[tokio::test]
async fn each_of_the_five_headers_tells_of_a_retry() {
    let layer = PushbackLayer::new();
    for (name, value) in [
        ("x-retry-attempt", "2"),
        ("grpc-previous-rpc-attempts", "1"),
        ("x-envoy-attempt-count", "2"),
        ("amz-sdk-request", "attempt=2; max=3"),
        ("x-stainless-retry-count", "1"),
    ] {
        ask(&layer, request(&[(name, value)]), response(200, &[])).await;
    }
    ask(&layer, request(&[("x-retry-attempt", "1"), ("x-envoy-attempt-count", "1")]), response(200, &[])).await;
    assert_eq!((layer.counts().all, layer.counts().retries), (6, 5));
}

#[tokio::test]
async fn the_handler_learns_the_number() {
    let handler = tower::service_fn(|request: Request<()>| {
        let CallerAttempt(number) = *request.extensions().get().unwrap();
        ready(Ok::<_, Infallible>(number))
    });
    let number = async |layer: PushbackLayer, headers: &[(&str, &str)]| {
        let handler = handler.map_response(|number| {
            let mut response = response(200, &[]);
            response.extensions_mut().insert(number);
            response
        });
        *layer.layer(handler).oneshot(request(headers)).await.unwrap().extensions().get::<u32>().unwrap()
    };
    let all = [("x-retry-attempt", "3"), ("x-envoy-attempt-count", "4"), ("x-shop-attempt", "7")];
    assert_eq!(number(PushbackLayer::new(), &all).await, 4);
    assert_eq!(number(PushbackLayer::new(), &[]).await, 1);
    assert_eq!(number(PushbackLayer::new().trust_nobody(), &all).await, 1);
    let named = PushbackLayer::default().attempt_headers(AttemptHeaders::named("x-shop-attempt").unwrap());
    assert_eq!(number(named, &all).await, 7);
}

#[tokio::test]
async fn untrusted_callers_are_counted_and_not_believed() {
    let nobody = PushbackLayer::new().trust_nobody();
    send(&nobody, 60, 60).await;
    assert_eq!((nobody.counts().all, nobody.counts().retries), (60, 0));
    assert!(!says_dont(&nobody).await);

    let ours = PushbackLayer::new().trust(|parts| parts.headers.contains_key("x-ours"));
    ask(&ours, request(&[("x-retry-attempt", "2")]), response(200, &[])).await;
    ask(&ours, request(&[("x-retry-attempt", "2"), ("x-ours", "")]), response(200, &[])).await;
    assert_eq!((ours.counts().all, ours.counts().retries), (2, 1));
}

#[tokio::test]
async fn limits_of_ones_own() {
    let layer =
        PushbackLayer::builder().ratio(0.5).min_requests(3).window(Duration::from_secs(3600)).try_build().unwrap();
    send(&layer, 1, 1).await;
    assert!(!says_dont(&layer).await, "two requests");
    send(&layer, 1, 1).await;
    assert!(!says_dont(&layer).await, "half of four");
    send(&layer, 2, 2).await;
    assert!(says_dont(&layer).await, "four of seven");

    let none_is_enough = PushbackLayer::builder().min_requests(0).try_build().unwrap();
    assert!(!says_dont(&none_is_enough).await, "no retry is none too many");
}

#[test]
fn limits_out_of_range_are_refused() {
    for ratio in [0.0, -0.2, 1.1, 20.0, f64::NAN, f64::INFINITY] {
        assert!(PushbackLayer::builder().ratio(ratio).try_build().is_err(), "{ratio}");
    }
    for window in [Duration::ZERO, Duration::from_millis(99), Duration::from_secs(3601), Duration::MAX] {
        assert!(PushbackLayer::builder().window(window).try_build().is_err(), "{window:?}");
    }
    assert!(PushbackLayer::builder().ratio(1.0).window(Duration::from_millis(100)).try_build().is_ok());
}

#[tokio::test]
async fn an_error_passes_through() {
    let handler = tower::service_fn(|_: Request<()>| ready(Err::<Response<()>, _>("broken")));
    assert_eq!(PushbackLayer::new().layer(handler).oneshot(request(&[])).await.unwrap_err(), "broken");
}

#[test]
fn counts_start_at_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _enter = runtime.enter();
    assert_eq!(PushbackLayer::new().counts(), RequestCounts::default());
}
