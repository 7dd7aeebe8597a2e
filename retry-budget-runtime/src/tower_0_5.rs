//! Stacks of tower 0.5: a layer for clients, a policy for tower's own `Retry`, and a layer for servers.
//!
//! (Feature `tower-0_5`; the numbers are tower's version, whose types are used here.)
//!
//! # A client
//!
//! [`RetryLayer`] takes any budget. For HTTP it classifies responses by status and headers, retries what may be processed
//! twice, and tells the server which attempt a request is:
//!
//! ```
//! # extern crate retry_budget_runtime as retry_budget;
//! use http::{Request, Response};
//! use retry_budget::tower_0_5::RetryLayer;
//! use retry_budget::{RetryPolicy, TokenBudget};
//! use std::time::Duration;
//! use tower::Layer;
//! use tower::timeout::TimeoutLayer;
//! # use tower::BoxError;
//! # use std::future::{Ready, ready};
//! # use std::task::{Context, Poll};
//! # use tower::Service;
//!
//! pub static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
//!
//! # #[derive(Clone)]
//! # struct Client(u32);
//! # impl Service<Request<String>> for Client {
//! #     type Response = Response<String>;
//! #     type Error = BoxError;
//! #     type Future = Ready<Result<Response<String>, BoxError>>;
//! #     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> { Poll::Ready(Ok(())) }
//! #     fn call(&mut self, request: Request<String>) -> Self::Future {
//! #         let status = if request.headers().contains_key("x-retry-attempt") { 200 } else { 503 };
//! #         ready(Ok(Response::builder().status(status).body(String::new()).unwrap()))
//! #     }
//! # }
//! # let client = Client(0);
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(async {
//! let client = TimeoutLayer::new(Duration::from_secs(1)).layer(client); // each attempt
//! let client = RetryLayer::http(&PARTNER, RetryPolicy::REQUEST).layer(client);
//! let mut client = TimeoutLayer::new(Duration::from_secs(3)).layer(client); // the whole call
//! # std::future::poll_fn(|cx| client.poll_ready(cx)).await.unwrap();
//!
//! let response = client.call(Request::get("http://partner/bikes").body(String::new()).unwrap()).await.unwrap();
//! assert_eq!(response.status(), 200);
//! # });
//! ```
//!
//! Its errors are boxed, as in most stacks: the layer judges them by what is inside (tower's `Timeout`, an `io::Error`, …),
//! and [`find_verdict`](crate::find_verdict) under [`classify`](RetryLayer::classify) has an error of your own asked, too.
//! One that was given up comes back in an [`ExhaustedBox`](crate::ExhaustedBox).
//!
//! | beside the layer | above it | below it |
//! | --- | --- | --- |
//! | `Timeout` | the time of the whole call; when it cuts the call off in a wait, the cost of the retry goes back | the time of each attempt; its error is transient |
//! | `ConcurrencyLimit`, `RateLimit` | a permit is held through the waits | each attempt takes a permit, and none is held while a call waits |
//! | `Buffer` | makes the whole stack `Clone` | makes a service `Clone` that isn't; the layer needs that |
//! | `LoadShed` | works as ever | a retry for which the service isn't ready fails instead of waiting |
//! | what signs a request, or puts a time into it | each attempt has the same | each attempt has its own |
//!
//! Other protocols say what a failure is, and how a request is sent again: [`RetryLayer::new`] with
//! [`classify`](RetryLayer::classify), [`classify_ok`](RetryLayer::classify_ok) and [`requests`](RetryLayer::requests).
//! A body that can't be cloned, such as axum's and tonic's: [`HttpRequests`]. For a tonic client wrap the call and not the
//! channel: a request of gRPC has a body, and what it failed with often comes after the answer's headers.
//!
//! A `static` budget behind a layer is on the list of [`budgets`](crate::budgets()) once it is
//! [registered](crate::register).
//!
//! # A stack that has tower's `Retry`
//!
//! One line changes: `tower::retry::RetryLayer::new(`[`BudgetPolicy`]`::http(&PARTNER, RetryPolicy::REQUEST))`. It takes the
//! budgets that don't count calls when they begin, [`TokenBudget`](crate::TokenBudget) and
//! [`GrpcBudget`](crate::GrpcBudget), and knows a little less: see there.
//!
//! # A server
//!
//! [`PushbackLayer`] counts requests and retries, and adds `x-should-retry: false` (gRPC: `grpc-retry-pushback-ms: -1`) to
//! failing answers when another attempt wouldn't help. Clients that obey it don't retry, and neither do their callers. In a
//! chain of three services with three attempts at each step the last one gets 27 times its load when it is down; with the
//! layer in each of them and a budget of 10 % at each step, 1.1 times.
//!
//! The example `tower_stack` has a stack of a client, and a server with the layer.
//!
//! In axum it is `router.layer(PushbackLayer::new())`, in tonic `Server::builder().layer(PushbackLayer::new())`.

mod future;
mod grpc;
mod http;
mod layer;
mod policy;
mod pushback;
mod requests;
mod rules;

pub use self::http::{CloneBody, EmptyBody, HttpRequests, HttpResponses};
pub use future::RetryFuture;
pub use layer::{RetryLayer, RetryService};
pub use policy::{BudgetPolicy, CountsNoStart};
pub use pushback::{
    CallerAttempt, DontRetry, PushbackFuture, PushbackLayer, PushbackLayerBuilder, PushbackService, RequestCounts,
};
pub use requests::{CloneRequest, Cloned};
pub use rules::{ClassifyOk, EveryOk};

/// A request that took longer than tower's `Timeout` allows is transient.
impl crate::Retryable for tower::timeout::error::Elapsed {
    fn verdict(&self) -> crate::Verdict {
        crate::Verdict::TRANSIENT
    }
}
