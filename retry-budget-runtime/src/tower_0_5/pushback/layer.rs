//! The layer and its service.

use super::answer::Protocol;
use super::future::PushbackFuture;
use super::load::{Limits, Load};
use super::{CallerAttempt, RequestCounts};
use crate::http_1::AttemptHeaders;
use crate::retry::inside::watching;
use crate::tower_0_5::grpc;
use crate::{SettingsError, Time};
use http::request::Parts;
use http::{Request, Response};
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_layer::Layer;
use tower_service::Service;

/// For servers: tells the callers when not to come back.
///
/// A failing answer (429, 500, 502, 503, 504; UNAVAILABLE and `RESOURCE_EXHAUSTED` of gRPC) gets the header
/// `x-should-retry: false`, or, where it is gRPC, `grpc-retry-pushback-ms: -1`,
///
/// - when a retry loop inside this request gave up: the callers' retries would multiply its attempts. (It is seen as
///   loops see each other, so in the same task; work that the handler spawned isn't seen.)
/// - when more than a fifth of at least 50 requests of the last 10 seconds were retries: the callers are at it already, and
///   it doesn't help;
/// - when the handler says so, by [`DontRetry`](super::DontRetry) among the answer's extensions.
///
/// A header that is there already stays as it is, and a success has none. Clients that obey it, ours among them, count it
/// as given up: their callers hear of it too, so that in a chain of services only the one that is next to the trouble
/// retries.
///
/// The attempt's number is the largest that any of five headers says: [`AttemptHeaders::read`]. The handler finds it as
/// [`CallerAttempt`] among the request's extensions. Who can reach the service can send such headers: say whom to
/// [trust](Self::trust), or [nobody](Self::trust_nobody). Untrue ones take other callers' retries away, no more.
///
/// It works in every server of tower services: axum's `Router::layer`, tonic's `Server::builder().layer`. All services
/// that one layer makes, and its clones, count together.
///
/// ```
/// use http::{Request, Response};
/// use retry_budget_runtime::tower_0_5::{DontRetry, PushbackLayer};
/// use tower_layer::Layer;
/// use tower_service::Service;
/// # use std::{convert::Infallible, future::{Ready, ready}, task::{Context, Poll}};
///
/// # struct Handler;
/// # impl Service<Request<()>> for Handler {
/// #     type Response = Response<()>;
/// #     type Error = Infallible;
/// #     type Future = Ready<Result<Response<()>, Infallible>>;
/// #     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> { Poll::Ready(Ok(())) }
/// #     fn call(&mut self, request: Request<()>) -> Self::Future {
/// let mut answer = Response::builder().status(503).body(()).unwrap();
/// answer.extensions_mut().insert(DontRetry); // the handler knows that it won't help
/// #         ready(Ok(answer))
/// #     }
/// # }
/// # let handler = Handler;
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let mut service = PushbackLayer::new().layer(handler);
/// let answer = service.call(Request::new(())).await.unwrap();
/// assert_eq!(answer.headers()["x-should-retry"], "false");
/// # });
/// ```
#[derive(Clone)]
pub struct PushbackLayer<T = fn(&Parts) -> bool> {
    load: Arc<Load>,
    headers: AttemptHeaders,
    trusts: T,
}

impl PushbackLayer {
    /// With the default limits: 20 % of at least 50 requests in 10 seconds. Trusts every caller.
    pub fn new() -> Self {
        Self::counting(
            const {
                match Load::new(Limits::DEFAULT) {
                    Ok(load) => load,
                    Err(_) => panic!("the defaults are in range"),
                }
            },
        )
    }

    /// Other limits.
    pub const fn builder() -> PushbackLayerBuilder {
        PushbackLayerBuilder { limits: Limits::DEFAULT }
    }

    fn counting(load: Load) -> Self {
        Self { load: Arc::new(load), headers: AttemptHeaders::new(), trusts: |_| true }
    }
}

impl<T> PushbackLayer<T> {
    /// Takes no attempt number from callers of whom this says no. Their requests count as first attempts.
    ///
    /// It sees the request's head, in whose extensions servers put what they know of the caller (axum: `ConnectInfo`).
    ///
    /// ```
    /// use retry_budget_runtime::tower_0_5::PushbackLayer;
    ///
    /// let layer = PushbackLayer::new().trust(|request| request.headers.contains_key("x-behind-our-gateway"));
    /// # let _ = layer;
    /// ```
    pub fn trust<F: Fn(&Parts) -> bool>(self, trusts: F) -> PushbackLayer<F> {
        PushbackLayer { load: self.load, headers: self.headers, trusts }
    }

    /// Takes no attempt number from anybody: for a server that strangers can reach.
    pub fn trust_nobody(self) -> PushbackLayer {
        PushbackLayer { load: self.load, headers: self.headers, trusts: |_| false }
    }

    /// Another name than `x-retry-attempt` for the header that clients of this crate send.
    pub fn attempt_headers(self, headers: AttemptHeaders) -> Self {
        Self { headers, ..self }
    }

    /// The requests of the last seconds, for people and dashboards.
    pub fn counts(&self) -> RequestCounts {
        let usage = self.load.usage(Time::now());
        RequestCounts { all: usage.requests, retries: usage.retries }
    }
}

impl Default for PushbackLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for PushbackLayer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushbackLayer").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl<S, T: Clone> Layer<S> for PushbackLayer<T> {
    type Service = PushbackService<S, T>;

    fn layer(&self, service: S) -> Self::Service {
        PushbackService { service, layer: self.clone() }
    }
}

/// Limits of a [`PushbackLayer`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing until `try_build()`"]
pub struct PushbackLayerBuilder {
    limits: Limits,
}

impl PushbackLayerBuilder {
    /// The share of the requests that may be retries: above 0 and at most 1, 0.2 unless given. With 1 their number is
    /// never too much.
    pub const fn ratio(mut self, ratio: f64) -> Self {
        self.limits.ratio = ratio;
        self
    }

    /// The requests in the window below which no share is too much: 50 unless given.
    pub const fn min_requests(mut self, requests: u32) -> Self {
        self.limits.min_requests = requests;
        self
    }

    /// How far back requests count: 100 ms to one hour, 10 s unless given. It slides in ten steps.
    pub const fn window(mut self, window: Duration) -> Self {
        self.limits.window = window;
        self
    }

    /// The layer, or what is wrong with its limits. It trusts every caller.
    ///
    /// # Errors
    ///
    /// When a limit is out of its range.
    pub fn try_build(self) -> Result<PushbackLayer, SettingsError> {
        Load::new(self.limits).map(PushbackLayer::counting)
    }
}

/// The service that [`PushbackLayer`] makes.
#[derive(Clone, Debug)]
pub struct PushbackService<S, T = fn(&Parts) -> bool> {
    service: S,
    layer: PushbackLayer<T>,
}

impl<S, T, A, B> Service<Request<A>> for PushbackService<S, T>
where
    S: Service<Request<A>, Response = Response<B>>,
    T: Fn(&Parts) -> bool,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = PushbackFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let PushbackLayer { load, headers, trusts } = &self.layer;
        let (mut parts, body) = request.into_parts();
        let attempt = if trusts(&parts) { headers.read(&parts.headers) } else { 1 };
        load.count(attempt, Time::now());
        parts.extensions.insert(CallerAttempt(attempt));
        let protocol = if grpc::is_grpc(&parts.headers) { Protocol::Grpc } else { Protocol::Http };
        let mut gave_up = false;
        let answer = watching(&mut gave_up, || self.service.call(Request::from_parts(parts, body)));
        PushbackFuture::new(answer, gave_up, protocol, load.clone())
    }
}
