//! The retry loop around the rest of a client's middleware.

use crate::http_1::{AttemptHeaders, is_idempotent};
use crate::reqwest_0_13::verdict;
use crate::retry::call::{Call, Step, as_it_is};
use crate::retry::here::{Here, Name};
use crate::{Budget, RetryPolicy, Retryable, Stop, TokioTimer};
use async_trait::async_trait;
use http::Extensions;
use reqwest_0_13::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};
use std::fmt;

/// Retries the requests of a client, under a budget and a policy: see [the module](crate::reqwest_middleware_0_5).
pub struct RetryMiddleware<B> {
    budget: B,
    policy: RetryPolicy,
    name: Name,
    attempt_headers: AttemptHeaders,
    is_idempotent: Box<dyn Fn(&Request) -> bool + Send + Sync>,
}

impl<B: Budget> RetryMiddleware<B> {
    /// Retries under this budget and policy. A policy that isn't [`idempotent`](RetryPolicy::idempotent) holds for every
    /// request.
    pub fn new(budget: B, policy: RetryPolicy) -> Self {
        Self {
            budget,
            policy,
            name: Name::UNKNOWN,
            attempt_headers: AttemptHeaders::new(),
            is_idempotent: Box::new(|request| is_idempotent(request.method(), request.headers())),
        }
    }

    /// Says which requests are safe to process twice, in place of their methods and headers.
    ///
    /// ```
    /// use retry_budget_runtime::reqwest_middleware_0_5::RetryMiddleware;
    /// use retry_budget_runtime::{NEVER, RetryPolicy};
    ///
    /// let middleware = RetryMiddleware::new(NEVER, RetryPolicy::REQUEST)
    ///     .idempotent_if(|request| request.method().is_idempotent() || request.url().path() == "/search");
    /// # let _ = middleware;
    /// ```
    pub fn idempotent_if(self, is_idempotent: impl Fn(&Request) -> bool + Send + Sync + 'static) -> Self {
        Self { is_idempotent: Box::new(is_idempotent), ..self }
    }

    /// The headers that tell which attempt it is; [`AttemptHeaders::OFF`] for none.
    pub fn attempt_headers(self, attempt_headers: AttemptHeaders) -> Self {
        Self { attempt_headers, ..self }
    }

    /// What the calls are called in events (feature `tracing`) and metrics (feature `metrics`).
    pub fn named(self, call: &'static str) -> Self {
        Self { name: Name::new(call), ..self }
    }

    fn policy_for(&self, request: &Request) -> RetryPolicy {
        self.policy.idempotent_if(|| (self.is_idempotent)(request))
    }

    /// What comes after an attempt. Errors don't show in events: their text has the URL, which often has secrets in it.
    fn after(&self, call: &mut Call<RetryPolicy, &B>, result: &Result<Response>) -> Step<Result<Response>> {
        let here = || Here::named(self.name);
        call.after_value(result, verdict, here())
            .unwrap_or_else(|| call.after_by(result, Retryable::verdict, as_it_is, here()))
    }
}

impl<B: fmt::Debug> fmt::Debug for RetryMiddleware<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { budget, policy, .. } = self;
        f.debug_struct("RetryMiddleware").field("budget", budget).field("policy", policy).finish_non_exhaustive()
    }
}

#[async_trait]
impl<B: Budget + 'static> Middleware for RetryMiddleware<B> {
    async fn handle(&self, mut request: Request, extensions: &mut Extensions, next: Next<'_>) -> Result<Response> {
        let mut call = Call::<_, _, TokioTimer>::begin(&self.budget, self.policy_for(&request));
        loop {
            let spare = request.try_clone();
            if spare.is_none() {
                call.make_it_the_last();
            }
            let wait = {
                let result = call.watch(next.clone().run(request, extensions)).await;
                match (self.after(&mut call, &result), spare) {
                    (Step::Retry(wait), Some(spare)) => {
                        request = spare;
                        wait
                    }
                    (Step::Stop(halt), spare) => {
                        call.pause(&halt).await;
                        let stop = call.stop(halt.reason);
                        let result = if spare.is_none() && stop.attempts == 1 {
                            // It could not be retried here. A loop further out, which makes the request, may.
                            call.pass_on();
                            result
                        } else {
                            call.give_up(result, &halt)
                        };
                        return with_stop(result, stop);
                    }
                    (Step::Done | Step::Retry(_), _) => return result,
                }
            };
            call.wait(wait).await;
            call.start_retry();
            self.attempt_headers.write(call.attempt(), request.headers_mut());
        }
    }
}

/// An answer tells why it is the last; unless a loop inside of this one has told already.
fn with_stop(mut result: Result<Response>, stop: Stop) -> Result<Response> {
    if let Ok(response) = &mut result {
        response.extensions_mut().get_or_insert_with(|| stop);
    }
    result
}
