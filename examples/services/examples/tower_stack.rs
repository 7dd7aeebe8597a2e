//! A stack of tower layers around an HTTP client, with a retry budget in it; and the partner that it asks, whose server
//! says when not to come back.
//!
//! ```text
//! cargo run -p retry-budget-examples --example tower_stack
//! ```
//!
//! The partner is a server on loopback. It is well, then fails a third of the requests, then all, and then it is well
//! again.

use axum::routing::get;
use axum::{Extension, Router};
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::TokioExecutor;
use retry_budget::tower_0_5::{CallerAttempt, PushbackLayer, RetryLayer};
use retry_budget::{Budget, RetryPolicy, Retryable, Time, TokenBudget, Verdict};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;
use tower::timeout::error::Elapsed;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt};

/// One budget for everything that asks the partner. It is small, so that a short example can empty it.
static PARTNER: TokenBudget = TokenBudget::builder("partner").capacity(200).build();

/// For requests that somebody waits for, in a hurry.
const POLICY: RetryPolicy = RetryPolicy::builder().base_delay(Duration::from_millis(5)).build();

/// Calls in each state of the partner, all at once.
const CALLS: u32 = 100;

/// The client's stack. An attempt goes through it from the top to the bottom.
fn stack() -> impl Service<Request<Full<Bytes>>, Response = StatusCode, Error = BoxError, Future: Send> + Clone {
    ServiceBuilder::new()
        .layer(TimeoutLayer::new(Duration::from_secs(2))) // the whole call
        .layer(RetryLayer::http(&PARTNER, POLICY).classify(classify))
        .layer(ConcurrencyLimitLayer::new(8)) // attempts at a time; a call that waits for its retry takes no place
        .layer(TimeoutLayer::new(Duration::from_millis(500))) // each attempt
        .service(Client::builder(TokioExecutor::new()).build_http())
        .map_response(|response| response.status())
}

/// Which errors are worth a retry. (Of responses the status and the headers say it.)
fn classify(error: &BoxError) -> Verdict {
    let of_the_client = |error: &Error| {
        if error.is_connect() { Verdict::TRANSIENT.not_sent() } else { Verdict::TRANSIENT }
    };
    let timeout = error.downcast_ref::<Elapsed>().map(Retryable::verdict);
    timeout.or_else(|| error.downcast_ref().map(of_the_client)).into()
}

/// How many of three requests the partner fails, and what it has got.
#[derive(Default)]
struct Partner {
    fails: AtomicU32,
    requests: AtomicU32,
    retries: AtomicU32,
}

impl Partner {
    fn answer(&self, CallerAttempt(number): CallerAttempt) -> StatusCode {
        let before = self.requests.fetch_add(1, Relaxed);
        self.retries.fetch_add(u32::from(number > 1), Relaxed);
        if before % 3 < self.fails.load(Relaxed) { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK }
    }
}

/// A server on loopback, which ends with the program.
async fn serve(partner: Arc<Partner>) -> std::io::Result<SocketAddr> {
    let bikes = async move |Extension(attempt)| partner.answer(attempt);
    let router = Router::new().route("/bikes", get(bikes)).layer(PushbackLayer::new());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let partner = Arc::new(Partner::default());
    let url = format!("http://{}/bikes", serve(partner.clone()).await?);
    let client = stack();

    println!("                            calls  succeed  requests  retries  load   tokens left");
    for (state, fails) in [("well", 0), ("fails a third", 1), ("is down", 3), ("is well again", 0)] {
        partner.fails.store(fails, Relaxed);
        partner.requests.store(0, Relaxed);
        partner.retries.store(0, Relaxed);
        let (mut calls, mut succeed) = (JoinSet::new(), 0);
        for _ in 0..CALLS {
            let request = Request::get(&url).body(Full::default())?;
            calls.spawn(client.clone().oneshot(request));
        }
        while let Some(call) = calls.join_next().await {
            succeed += u32::from(call?.is_ok_and(|status| status.is_success()));
        }
        let (requests, retries) = (partner.requests.load(Relaxed), partner.retries.load(Relaxed));
        let tokens = PARTNER.snapshot(Time::now()).available;
        println!(
            "the partner {state:<14}  {CALLS:>5}  {succeed:>7}  {requests:>8}  {retries:>7}  {:>4.2}  {tokens:>12}",
            f64::from(requests) / f64::from(CALLS),
        );
    }
    println!(
        "\nThree attempts each would have been a load of 3.00 while it was down. What ended them earlier: the budget,"
    );
    println!("and the partner's `x-should-retry: false` once more than a fifth of its requests were retries.");
    Ok(())
}
