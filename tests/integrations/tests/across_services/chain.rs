//! A client and three services in a row, each of which asks the next, with three attempts at each step. The last one is
//! down.

use crate::servers::serve;
use axum::Router;
use axum::routing::get;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::TokioExecutor;
use retry_budget::tower_0_5::{PushbackLayer, RetryLayer};
use retry_budget::{Budget, RatioBudget, RetryPolicy, UNLIMITED};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;
use tower_layer::Layer;

/// Three attempts, no delay.
const QUICK: RetryPolicy = RetryPolicy::builder().base_delay(Duration::ZERO).build();

/// Longer than any test takes.
const HOUR: Duration = Duration::from_secs(3600);

/// Asks the next service, under a budget of its own.
#[derive(Clone)]
struct Hop {
    client: BoxCloneSyncService<Request<Full<Bytes>>, Response<Incoming>, Error>,
    next: SocketAddr,
}

impl Hop {
    fn to(next: SocketAddr, budget: Arc<dyn Budget>) -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http();
        let layer = RetryLayer::http(budget, QUICK).classify(|_: &Error| true);
        Self { client: BoxCloneSyncService::new(layer.layer(client)), next }
    }

    /// Only the status goes on: no service knows what headers another one sends.
    async fn ask(self) -> StatusCode {
        let request = Request::get(format!("http://{}/", self.next)).body(Full::default()).unwrap();
        self.client.oneshot(request).await.map_or(StatusCode::BAD_GATEWAY, |response| response.status())
    }
}

fn unlimited() -> Arc<dyn Budget> {
    Arc::new(UNLIMITED)
}

fn a_tenth() -> Arc<dyn Budget> {
    Arc::new(RatioBudget::builder("hop").window(HOUR).min_retries(0).try_build().unwrap())
}

/// Makes so many calls, one after the other, and says how many requests the last service got.
async fn requests_of_the_leaf(calls: u32, budget: fn() -> Arc<dyn Budget>, layer: Option<PushbackLayer>) -> u32 {
    let got = Arc::new(AtomicU32::new(0));
    let count = got.clone();
    let leaf = Router::new().route(
        "/",
        get(async move || {
            count.fetch_add(1, SeqCst);
            StatusCode::SERVICE_UNAVAILABLE
        }),
    );
    let mut next = serve(match &layer {
        Some(layer) => leaf.layer(layer.clone()),
        None => leaf,
    })
    .await;
    for _ in ["middle", "front"] {
        let hop = Hop::to(next, budget());
        let service = Router::new().route("/", get(move || hop.clone().ask()));
        next = serve(if layer.is_some() { service.layer(PushbackLayer::new()) } else { service }).await;
    }
    let client = Hop::to(next, budget());
    for _ in 0..calls {
        assert_eq!(client.clone().ask().await, StatusCode::SERVICE_UNAVAILABLE);
    }
    got.load(SeqCst)
}

fn layer() -> PushbackLayer {
    PushbackLayer::builder().window(HOUR).try_build().unwrap()
}

#[tokio::test]
async fn without_any_of_it_attempts_multiply() {
    assert_eq!(requests_of_the_leaf(10, unlimited, None).await, 270, "27 times the load");
}

#[tokio::test]
async fn a_budget_of_a_tenth_at_each_hop() {
    // the client makes 110 requests of 100 calls, the front 121 of those, the middle 133
    assert_eq!(requests_of_the_leaf(100, a_tenth, None).await, 133);
}

#[tokio::test]
async fn where_services_hear_of_it_only_the_last_hop_retries() {
    assert_eq!(requests_of_the_leaf(10, unlimited, Some(layer())).await, 30);
}

#[tokio::test]
async fn both_together_are_a_tenth_more() {
    let layer = layer();
    assert_eq!(requests_of_the_leaf(100, a_tenth, Some(layer.clone())).await, 110, "1.1 times the load");
    let counts = layer.counts();
    assert_eq!((counts.all, counts.retries), (110, 10), "it knows its retries by their headers");
}

#[tokio::test]
async fn a_service_that_gets_too_many_retries_ends_them() {
    // Sixteen calls are 48 requests, 32 of them retries. The next call's retry is the fiftieth request: it and all after
    // it, until four fifths of them are first attempts, are told not to come back.
    assert_eq!(requests_of_the_leaf(40, unlimited, Some(layer())).await, 16 * 3 + 2 + 23);
}
