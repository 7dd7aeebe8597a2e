//! gRPC, as the layer sees it: an answer of status 200, with the outcome in a header where there is no message.

use crate::{PLENTY, SLOW};
use http::{Request, Response};
use retry_budget::tower_0_5::RetryLayer;
use retry_budget::{Budget, Time, TokenBudget};
use std::cell::Cell;
use std::convert::Infallible;
use std::future::ready;
use std::time::Duration;
use tokio::time::Instant;
use tower::ServiceExt;
use tower_layer::Layer;

/// Attempts of a request that gets these headers, and how long it takes.
async fn attempts(headers: &[(&str, &str)]) -> (u32, Duration) {
    attempts_under(&PLENTY, headers).await
}

async fn attempts_under(budget: impl Budget + Clone, headers: &[(&str, &str)]) -> (u32, Duration) {
    let (attempts, start) = (Cell::new(0), Instant::now());
    let server = tower::service_fn(|_: Request<()>| {
        attempts.set(attempts.get() + 1);
        let mut response = Response::builder().header("content-type", "application/grpc");
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        ready(Ok::<_, Infallible>(response.body(()).unwrap()))
    });
    let request = Request::post("/shop.Shop/Buy").header("content-type", "application/grpc").body(()).unwrap();
    RetryLayer::http(budget, SLOW).layer(server).oneshot(request).await.unwrap();
    (attempts.get(), start.elapsed())
}

#[tokio::test(start_paused = true)]
async fn by_its_status() {
    let secs = Duration::from_secs;
    assert_eq!(attempts(&[]).await, (1, secs(0)), "the outcome comes after the message");
    assert_eq!(attempts(&[("grpc-status", "0")]).await, (1, secs(0)));
    assert_eq!(attempts(&[("grpc-status", "14")]).await, (3, secs(3)), "unavailable: one second and two");
    for code in ["1", "2", "3", "4", "5", "6", "7", "9", "10", "11", "12", "13", "15", "16", "17", "-1", "", "fourteen"]
    {
        assert_eq!(attempts(&[("grpc-status", code)]).await, (1, secs(0)), "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_retry_costs() {
    for (code, left) in [("14", 472), ("8", 490)] {
        let budget = TokenBudget::builder("grpc").build();
        assert_eq!(attempts_under(&budget, &[("grpc-status", code)]).await.0, 3);
        assert_eq!(budget.snapshot(Time::ZERO).available, left);
    }
}

#[tokio::test(start_paused = true)]
async fn by_its_pushback() {
    let (count, took) = attempts(&[("grpc-status", "8"), ("grpc-retry-pushback-ms", "5000")]).await;
    assert_eq!((count, took.as_secs()), (3, 10), "twice five seconds, and no jitter");
    for dont in ["-1", "soon", ""] {
        assert_eq!(attempts(&[("grpc-status", "14"), ("grpc-retry-pushback-ms", dont)]).await.0, 1, "{dont}");
    }
}
