//! The retry loop around the rest of a client's middleware.

use crate::reqwest_0_13::verdict;
use crate::retry::call::{Call, Step, as_it_is};
use crate::{Budget, RetryPolicy, Retryable, Stop};
use async_trait::async_trait;
use http::Extensions;
use reqwest_0_13::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};
use std::fmt;

/// Retries the requests of a client, under a budget and a policy: see [the module](crate::reqwest_middleware_0_5).
pub struct RetryMiddleware<B> {
    budget: B,
    policy: RetryPolicy,
    is_idempotent: Box<dyn Fn(&Request) -> bool + Send + Sync>,
}

impl<B: Budget> RetryMiddleware<B> {
    /// Retries under this budget and policy. A policy that isn't [`idempotent`](RetryPolicy::idempotent) holds for all
    /// methods.
    pub fn new(budget: B, policy: RetryPolicy) -> Self {
        Self { budget, policy, is_idempotent: Box::new(|request| request.method().is_idempotent()) }
    }

    /// Says which requests are safe to send twice, in place of their methods.
    ///
    /// ```
    /// use retry_budget_runtime::reqwest_middleware_0_5::RetryMiddleware;
    /// use retry_budget_runtime::{NEVER, RetryPolicy};
    ///
    /// let middleware = RetryMiddleware::new(NEVER, RetryPolicy::REQUEST).idempotent_if(|request| {
    ///     request.method().is_idempotent() || request.headers().contains_key("idempotency-key")
    /// });
    /// # let _ = middleware;
    /// ```
    pub fn idempotent_if(self, is_idempotent: impl Fn(&Request) -> bool + Send + Sync + 'static) -> Self {
        Self { is_idempotent: Box::new(is_idempotent), ..self }
    }

    fn policy_for(&self, request: &Request) -> RetryPolicy {
        let policy = self.policy.to_builder();
        let policy = if (self.is_idempotent)(request) { policy } else { policy.idempotent(false) };
        let body_can_be_cloned = request.body().is_none_or(|body| body.as_bytes().is_some());
        let policy = if body_can_be_cloned { policy } else { policy.max_attempts(1) };
        policy.build_in_range()
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
        let policy = self.policy_for(&request);
        let mut call = Call::<_>::begin(&self.budget, &policy);
        loop {
            let spare = request.try_clone();
            let wait = {
                let result = call.watch(next.clone().run(request, extensions)).await;
                let step = call
                    .after_value(&result, verdict)
                    .unwrap_or_else(|| call.after_by(&result, Retryable::verdict, as_it_is));
                match (step, spare) {
                    (Step::Retry(wait), Some(spare)) => {
                        request = spare;
                        wait
                    }
                    (Step::Stop(halt), _) => {
                        call.pause(&halt).await;
                        return with_stop(call.give_up(result, &halt), call.stop(halt.reason));
                    }
                    // A request without a spare has one attempt only.
                    (Step::Done | Step::Retry(_), _) => return result,
                }
            };
            call.wait(wait).await;
            call.start_retry();
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
