//! The layer for HTTP: what is retried, what the server gets to see, and whose word is obeyed.

use crate::recorder::{Recorder, Told};
use crate::{Lost, PLENTY, QUICK};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use retry_budget::http_1::AttemptHeaders;
use retry_budget::tower_0_5::{BudgetPolicy, CloneRequest, EmptyBody, HttpRequests, RetryLayer};
use retry_budget::{Budget, CallEnd, RetryKind, TokenBudget};
use std::cell::RefCell;
use std::future::ready;
use std::time::Duration;
use tower::ServiceExt;
use tower_layer::Layer;
use tower_service::Service;

type Answer = Result<Response<&'static str>, Lost>;

/// A server with a list of answers, the last of which it repeats, and the requests it got.
struct Server<B, F> {
    got: RefCell<Vec<Request<B>>>,
    answer: F,
}

impl<B, F: Fn(usize) -> Answer> Server<B, F> {
    fn new(answer: F) -> Self {
        Self { got: RefCell::default(), answer }
    }

    fn service(&self) -> impl Service<Request<B>, Response = Response<&'static str>, Error = Lost> + Clone {
        tower::service_fn(|request| {
            self.got.borrow_mut().push(request);
            ready((self.answer)(self.got.borrow().len()))
        })
    }

    /// What it got in a header, attempt by attempt.
    fn heard(&self, name: &str) -> Vec<String> {
        let value = |headers: &HeaderMap| headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        self.got.borrow().iter().map(|request| value(request.headers())).collect()
    }
}

fn status(status: u16) -> Answer {
    answer(status, &[])
}

#[allow(clippy::unnecessary_wraps)] // an answer, where others get lost
fn answer(status: u16, headers: &[(&str, &str)]) -> Answer {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    Ok(response.body("text").unwrap())
}

fn get() -> Request<String> {
    Request::get("http://partner/bikes?free").header("accept", "text/plain").body("body".to_owned()).unwrap()
}

#[tokio::test]
async fn a_failing_status_is_retried_and_a_later_answer_comes_back() {
    let server = Server::new(|n| if n < 3 { status(503) } else { status(200) });
    let response = RetryLayer::http(&PLENTY, QUICK).layer(server.service()).oneshot(get()).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let got = server.got.borrow();
    assert_eq!(got.len(), 3);
    for request in &*got {
        assert_eq!(
            (request.method(), request.uri().to_string()),
            (&Method::GET, "http://partner/bikes?free".to_owned())
        );
        assert_eq!((request.headers()["accept"].as_bytes(), &**request.body()), (&b"text/plain"[..], "body"));
    }
}

#[tokio::test]
async fn the_last_answer_comes_back_as_it_is() {
    let server = Server::new(|_| answer(502, &[("x-trace", "7")]));
    let response = RetryLayer::http(&PLENTY, QUICK).layer(server.service()).oneshot(get()).await.unwrap();
    assert_eq!((response.status(), *response.body()), (StatusCode::BAD_GATEWAY, "text"));
    assert_eq!((server.got.borrow().len(), &response.headers()["x-trace"]), (3, &"7".parse().unwrap()));
}

#[tokio::test]
async fn what_is_no_failure_costs_nothing_and_refunds() {
    static BUDGET: TokenBudget = TokenBudget::builder("http").initial(0).build();
    for code in [200, 204, 302, 404, 501] {
        let server = Server::new(|_| status(code));
        RetryLayer::http(&BUDGET, QUICK).layer(server.service()).oneshot(get()).await.unwrap();
        assert_eq!(server.got.borrow().len(), 1);
    }
    assert_eq!(BUDGET.snapshot(retry_budget::Time::ZERO).available, 5);
}

#[tokio::test]
async fn the_server_hears_from_the_second_attempt_on() {
    let server = Server::new(|_| status(503));
    RetryLayer::http(&PLENTY, QUICK).layer(server.service()).oneshot(get()).await.unwrap();
    assert_eq!(server.heard("x-retry-attempt"), ["", "2", "3"]);
    assert_eq!(server.heard("grpc-previous-rpc-attempts"), ["", "1", "2"]);
}

#[tokio::test]
async fn by_a_name_of_its_own_or_not_at_all() {
    for (name, heard) in [("x-shop-attempt", ["", "2", "3"]), ("", ["", "", ""])] {
        let server = Server::new(|_| status(503));
        let requests = HttpRequests::new().attempt_headers(AttemptHeaders::named(name).unwrap());
        let layer = RetryLayer::http(&PLENTY, QUICK).requests(requests);
        layer.layer(server.service()).oneshot(get()).await.unwrap();
        assert_eq!(server.heard("x-shop-attempt"), heard);
        assert_eq!(server.heard("x-retry-attempt"), ["", "", ""]);
        assert_eq!(server.heard("grpc-previous-rpc-attempts")[2].is_empty(), name.is_empty());
    }
}

#[tokio::test]
async fn towers_own_retry_does_the_same() {
    let server = Server::new(|n| if n < 3 { status(503) } else { status(200) });
    let layer = tower::retry::RetryLayer::new(BudgetPolicy::http(&PLENTY, QUICK));
    let response = layer.layer(server.service()).oneshot(get()).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(server.heard("x-retry-attempt"), ["", "2", "3"]);
    assert_eq!(server.heard("grpc-previous-rpc-attempts"), ["", "1", "2"]);
}

/// Attempts of a request with this method and headers that gets lost, or gets a 503.
async fn attempts(method: Method, header: Option<(&str, &str)>, any: bool, failure: fn() -> Answer) -> usize {
    let server = Server::new(|_| failure());
    let mut request = Request::builder().method(method);
    if let Some((name, value)) = header {
        request = request.header(name, value);
    }
    let requests = if any { HttpRequests::new().any_method() } else { HttpRequests::new() };
    let layer = RetryLayer::http(&PLENTY, QUICK).requests(requests);
    let _ = layer.layer(server.service()).oneshot(request.body(String::new()).unwrap()).await;
    server.got.borrow().len()
}

#[tokio::test]
async fn the_method_says_what_may_be_processed_twice() {
    let lost = || Err(Lost { sent: true });
    let not_sent = || Err(Lost { sent: false });
    for method in [Method::GET, Method::HEAD, Method::OPTIONS, Method::TRACE, Method::PUT, Method::DELETE] {
        assert_eq!(attempts(method.clone(), None, false, lost).await, 3, "{method}");
    }
    for method in [Method::POST, Method::PATCH, Method::CONNECT, Method::from_bytes(b"BUY").unwrap()] {
        assert_eq!(attempts(method.clone(), None, false, lost).await, 1, "{method}");
        assert_eq!(attempts(method.clone(), None, false, || status(503)).await, 1, "{method}");
        assert_eq!(attempts(method.clone(), None, false, not_sent).await, 3, "{method}, never processed");
        assert_eq!(attempts(method.clone(), None, true, lost).await, 3, "{method}, told so");
        assert_eq!(
            attempts(method.clone(), Some(("idempotency-key", "7")), false, lost).await,
            3,
            "{method}, with a key"
        );
    }
    assert_eq!(attempts(Method::POST, Some(("content-type", "application/grpc+proto")), false, lost).await, 3);
    assert_eq!(attempts(Method::POST, Some(("content-type", "application/json")), false, lost).await, 1);
}

/// What axum and tonic have: it can't be cloned.
type BoxBody = UnsyncBoxBody<Bytes, std::convert::Infallible>;

#[tokio::test]
async fn a_body_that_cannot_be_cloned_is_sent_once_and_none_is_sent_again() {
    let layer = RetryLayer::http(&PLENTY, QUICK).requests(HttpRequests::new().bodies(EmptyBody));
    for (body, attempts) in
        [(Full::from("bikes").boxed_unsync(), 1), (BoxBody::default(), 3), (Full::default().boxed_unsync(), 3)]
    {
        let server = Server::new(|_| status(503));
        layer.clone().layer(server.service()).oneshot(Request::get("/").body(body).unwrap()).await.unwrap();
        assert_eq!(server.got.borrow().len(), attempts);
    }
    let server = Server::new(|n| if n == 1 { status(503) } else { status(200) });
    layer.layer(server.service()).oneshot(Request::get("/").body(BoxBody::default()).unwrap()).await.unwrap();
    let last = server.got.borrow_mut().pop().unwrap();
    assert!(last.into_body().collect().await.unwrap().to_bytes().is_empty());
}

#[tokio::test]
async fn a_body_is_cloned_as_the_user_says() {
    let short = |body: &Vec<u8>| (body.len() < 10).then(|| body.clone());
    for (body, attempts) in [(vec![7; 9], 3), (vec![7; 10], 1)] {
        let server = Server::new(|_| status(503));
        let layer = RetryLayer::http(&PLENTY, QUICK).requests(HttpRequests::new().bodies(short));
        layer.layer(server.service()).oneshot(Request::put("/").body(body).unwrap()).await.unwrap();
        assert_eq!(server.got.borrow().len(), attempts);
    }
}

#[test]
fn a_clone_is_like_the_request() {
    let mut request = Request::patch("https://partner/bikes").version(http::Version::HTTP_2).body("body").unwrap();
    request.headers_mut().append("x-a", "1".parse().unwrap());
    request.headers_mut().append("x-a", "2".parse().unwrap());
    request.extensions_mut().insert(7_u8);
    let clone = HttpRequests::new().clone_request(&request).unwrap();
    assert_eq!((clone.method(), clone.uri(), clone.version()), (request.method(), request.uri(), request.version()));
    assert_eq!((clone.headers(), clone.extensions().get(), *clone.body()), (request.headers(), Some(&7_u8), "body"));
}

#[tokio::test(start_paused = true)]
async fn a_hint_is_waited_for_and_one_too_far_stops_the_call() {
    let start = tokio::time::Instant::now();
    let server = Server::new(|n| if n == 1 { answer(503, &[("retry-after", "7")]) } else { status(200) });
    let policy = QUICK.to_builder().base_delay(Duration::ZERO).build();
    RetryLayer::http(&PLENTY, policy).layer(server.service()).oneshot(get()).await.unwrap();
    let waited = start.elapsed();
    assert!(waited >= Duration::from_secs(7) && waited < Duration::from_secs(8), "{waited:?}");

    let server = Server::new(|_| answer(429, &[("retry-after", "21")]));
    RetryLayer::http(&PLENTY, policy).layer(server.service()).oneshot(get()).await.unwrap();
    assert_eq!(server.got.borrow().len(), 1);
}

#[tokio::test]
async fn a_servers_dont_is_obeyed_and_counts_as_given_up() {
    for header in [("x-should-retry", "false"), ("grpc-retry-pushback-ms", "-1")] {
        let (server, inner, outer) =
            (Server::new(|_| answer(503, &[header])), Recorder::granting(9), Recorder::granting(9));
        let inside = RetryLayer::http(&inner, QUICK).layer(server.service());
        // a loop around it, which doesn't see the header
        let inside = inside.map_response(|response| Response::builder().status(response.status()).body("").unwrap());
        RetryLayer::http(&outer, QUICK).layer(inside).oneshot(get()).await.unwrap();
        assert_eq!(server.got.borrow().len(), 1);
        let stopped = [Told::Begin, Told::Final(Some(RetryKind::Transient)), Told::End(CallEnd::Failed)];
        assert_eq!((inner.told(), outer.told()), (stopped.to_vec(), stopped.to_vec()));
    }
    let server = Server::new(|_| answer(503, &[("x-should-retry", "true")]));
    RetryLayer::http(&PLENTY, QUICK).layer(server.service()).oneshot(get()).await.unwrap();
    assert_eq!(server.got.borrow().len(), 3);
}
