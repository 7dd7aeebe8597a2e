//! The loop of the layer, as a future with a name: nothing is boxed but the waits.

use super::rules::Rules;
use super::{ClassifyOk, CloneRequest};
use crate::retry::call::{Call, Halt, Step, Wait};
use crate::{Budget, Classify, RetryPolicy};
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tower_service::Service;

pin_project! {
    /// A request on its way, with its retries.
    ///
    /// It may be dropped at any time. Dropped before a retry is sent, the cost of the retry goes back to the budget; also
    /// where it waits for the service to be ready.
    #[must_use = "futures do nothing unless awaited"]
    pub struct RetryFuture<S, B, C, K, R, Req>
    where
        S: Service<Req>,
        B: Budget,
    {
        call: Call<RetryPolicy, B>,
        rules: Rules<C, K, R>,
        // The next attempt's service and request. Nothing when there can't be one.
        again: Option<(S, Req)>,
        #[pin]
        state: State<S::Future, Result<S::Response, S::Error>>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<F, T> {
        Attempt {
            #[pin]
            attempt: F,
        },
        Waiting {
            wait: Wait<tokio::time::Sleep>,
        },
        GettingReady,
        Stopped {
            pause: Wait<tokio::time::Sleep>,
            end: Option<(T, Halt<T>)>,
        },
        Over,
    }
}

impl<S: Service<Req>, B: Budget, C, K, R, Req> RetryFuture<S, B, C, K, R, Req> {
    pub(super) fn new(
        mut call: Call<RetryPolicy, B>,
        rules: Rules<C, K, R>,
        again: Option<(S, Req)>,
        attempt: S::Future,
    ) -> Self {
        if again.is_none() {
            call.make_it_the_last();
        }
        Self { call, rules, again, state: State::Attempt { attempt } }
    }
}

impl<S, B, C, K, R, Req> Future for RetryFuture<S, B, C, K, R, Req>
where
    S: Service<Req>,
    B: Budget,
    C: Classify<S::Error>,
    K: ClassifyOk<S::Response>,
    R: CloneRequest<Req>,
{
    type Output = Result<S::Response, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let next = match this.state.as_mut().project() {
                StateProjection::Attempt { attempt } => {
                    let result = ready!(this.call.watch_now(|| attempt.poll(cx)));
                    match this.rules.after(this.call, &result) {
                        Step::Retry(delay) => State::Waiting { wait: this.call.wait(delay) },
                        Step::Stop(halt) => State::Stopped { pause: this.call.pause(&halt), end: Some((result, halt)) },
                        Step::Done => {
                            this.state.set(State::Over);
                            return Poll::Ready(result);
                        }
                    }
                }
                StateProjection::Waiting { wait } => {
                    ready!(Pin::new(wait).poll(cx));
                    State::GettingReady
                }
                StateProjection::GettingReady => {
                    let Some((service, _)) = this.again.as_mut() else { return Poll::Pending };
                    if let Err(error) = ready!(service.poll_ready(cx)) {
                        // Not sent, so dropping the call gives its cost back.
                        this.call.mark_given_up();
                        this.state.set(State::Over);
                        return Poll::Ready(Err(error));
                    }
                    let Some((mut service, mut request)) = this.again.take() else { return Poll::Pending };
                    this.call.start_retry();
                    let attempt = this.call.attempt();
                    let after_it = this.rules.requests.clone_request(&request);
                    this.rules.requests.tell_attempt(&mut request, attempt);
                    let attempt = this.call.watch_now(|| service.call(request));
                    *this.again = after_it.map(|request| (service, request));
                    if this.again.is_none() {
                        this.call.make_it_the_last();
                    }

                    State::Attempt { attempt }
                }
                StateProjection::Stopped { pause, end } => {
                    ready!(Pin::new(pause).poll(cx));
                    let Some((result, halt)) = end.take() else { return Poll::Pending };
                    this.state.set(State::Over);
                    if this.again.is_none() && this.call.attempt().number() == 1 {
                        // It could not be retried here. A loop further out, which makes the request, may.
                        this.call.pass_on();
                        return Poll::Ready(result);
                    }
                    return Poll::Ready(this.call.give_up(result, &halt));
                }
                StateProjection::Over => return Poll::Pending,
            };
            this.state.set(next);
        }
    }
}

impl<S: Service<Req>, B: Budget, C, K, R, Req> fmt::Debug for RetryFuture<S, B, C, K, R, Req> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryFuture").field("attempt", &self.call.attempt().number()).finish_non_exhaustive()
    }
}
