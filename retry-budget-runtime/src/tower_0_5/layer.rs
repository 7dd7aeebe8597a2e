//! The layer and its service.

use super::future::RetryFuture;
use super::rules::Rules;
use super::{ClassifyOk, CloneRequest, Cloned, EveryOk, HttpRequests, HttpResponses};
use crate::retry::call::Call;
use crate::retry::here::Name;
use crate::{Attaching, Budget, By, Classify, OwnVerdict, RetryPolicy, Verdict};
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// Retries the requests that fail, as the policy says and the budget grants.
///
/// Takes every [`Budget`]. Errors decide for themselves ([`Retryable`](crate::Retryable)) unless
/// [`classify`](Self::classify) says otherwise; responses are successes unless [`classify_ok`](Self::classify_ok) does;
/// requests are cloned by `Clone` unless [`requests`](Self::requests) says how.
///
/// ```
/// use retry_budget_runtime::{RetryPolicy, TokenBudget, tower_0_5::RetryLayer};
/// use tower_layer::Layer;
/// use tower_service::Service;
/// # use std::{convert::Infallible, future::{Ready, ready}, io, task::{Context, Poll}};
///
/// pub static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
///
/// # #[derive(Clone, Default)]
/// # struct Client(u32);
/// # impl Service<&'static str> for Client {
/// #     type Response = String;
/// #     type Error = io::Error;
/// #     type Future = Ready<io::Result<String>>;
/// #     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> { Poll::Ready(Ok(())) }
/// #     fn call(&mut self, name: &'static str) -> Self::Future { self.0 += 1; ready(Ok(format!("hello {name}"))) }
/// # }
/// # let client = Client::default();
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let mut client = RetryLayer::new(&PARTNER, RetryPolicy::REQUEST).layer(client);
/// # std::future::poll_fn(|cx| client.poll_ready(cx)).await.unwrap();
/// assert_eq!(client.call("Alexanderplatz").await.unwrap(), "hello Alexanderplatz");
/// # });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RetryLayer<B, C = OwnVerdict, K = EveryOk, R = Cloned> {
    budget: B,
    policy: RetryPolicy,
    rules: Rules<C, K, R>,
}

impl<B: Budget + Clone> RetryLayer<B> {
    /// Retries under this budget: a `&'static`, an `Arc`, or anything else that is a budget and `Clone`.
    pub const fn new(budget: B, policy: RetryPolicy) -> Self {
        Self { budget, policy, rules: Rules::DEFAULT }
    }
}

impl<B: Budget + Clone> RetryLayer<B, OwnVerdict, HttpResponses, HttpRequests> {
    /// The same for HTTP: responses are classified by status and headers ([`HttpResponses`]); requests that may be
    /// processed twice are sent again, and tell the server which attempt they are ([`HttpRequests`]).
    pub const fn http(budget: B, policy: RetryPolicy) -> Self {
        Self { budget, policy, rules: Rules::HTTP }
    }
}

impl<B, C, K, R> RetryLayer<B, C, K, R> {
    /// Decides which errors are worth a retry: to a `bool` (true is transient), an `Option<RetryKind>` or a [`Verdict`].
    pub fn classify<E, V, F>(self, classify: F) -> RetryLayer<B, By<F>, K, R>
    where
        F: Fn(&E) -> V,
        V: Into<Verdict>,
    {
        self.with(|rules| rules.errors(By(classify)))
    }

    /// Decides which responses are failures all the same, in the same way. When the call stops, the last response is
    /// returned as it is.
    pub fn classify_ok<T, V, F>(self, classify_ok: F) -> RetryLayer<B, C, By<F>, R>
    where
        F: Fn(&T) -> V,
        V: Into<Verdict>,
    {
        self.with(|rules| rules.responses(By(classify_ok)))
    }

    /// What the calls are called in events (feature `tracing`) and metrics (feature `metrics`).
    pub const fn named(mut self, call: &'static str) -> Self {
        self.rules.name = Name::new(call);
        self
    }

    /// Says how a request is sent again.
    pub fn requests<R2>(self, requests: R2) -> RetryLayer<B, C, K, R2> {
        self.with(|rules| rules.requests(requests))
    }

    fn with<C2, K2, R2>(self, change: impl FnOnce(Rules<C, K, R>) -> Rules<C2, K2, R2>) -> RetryLayer<B, C2, K2, R2> {
        RetryLayer { budget: self.budget, policy: self.policy, rules: change(self.rules) }
    }
}

impl<B, C, K, R> RetryLayer<B, By<C>, K, R> {
    /// The error says what becomes of it when a call is given up ([`Retryable::exhausted`](crate::Retryable::exhausted)),
    /// though a function classifies it: see [`Retry::attach_stop`](crate::Retry::attach_stop).
    pub fn attach_stop(self) -> RetryLayer<B, Attaching<C>, K, R> {
        self.with(|rules| {
            let Rules { name, errors, responses, requests } = rules;
            Rules { name, errors: Attaching(errors), responses, requests }
        })
    }
}

impl<S, B: Clone, C: Clone, K: Clone, R: Clone> Layer<S> for RetryLayer<B, C, K, R> {
    type Service = RetryService<S, B, C, K, R>;

    fn layer(&self, service: S) -> Self::Service {
        RetryService { service, layer: self.clone() }
    }
}

/// The service that [`RetryLayer`] makes.
///
/// It is ready when the service inside is, so backpressure reaches the caller; and the service inside is asked whether it
/// is ready before every retry too. An error of that question ends the call: it comes back as it is.
///
/// Each call holds a clone of the service inside for its retries. A service that isn't `Clone` becomes so by tower's
/// `Buffer`.
#[derive(Clone, Copy, Debug)]
pub struct RetryService<S, B, C = OwnVerdict, K = EveryOk, R = Cloned> {
    service: S,
    layer: RetryLayer<B, C, K, R>,
}

impl<S, B, C, K, R> RetryService<S, B, C, K, R> {
    /// The service inside.
    pub const fn get_ref(&self) -> &S {
        &self.service
    }

    /// The service inside.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.service
    }

    /// The service inside.
    pub fn into_inner(self) -> S {
        self.service
    }
}

impl<S, B, C, K, R, Req> Service<Req> for RetryService<S, B, C, K, R>
where
    S: Service<Req> + Clone,
    B: Budget + Clone,
    C: Classify<S::Error> + Clone,
    K: ClassifyOk<S::Response> + Clone,
    R: CloneRequest<Req> + Clone,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = RetryFuture<S, B, C, K, R, Req>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Req) -> Self::Future {
        let RetryLayer { budget, policy, rules } = &self.layer;
        let mut call = Call::begin(budget.clone(), rules.policy(*policy, &request));
        // The service that is ready makes the first attempt; the clone isn't ready, and is asked before it makes one.
        let again = rules.requests.clone_request(&request).map(|request| (self.service.clone(), request));
        let attempt = call.watch_now(|| self.service.call(request));
        RetryFuture::new(call, rules.clone(), again, attempt)
    }
}
