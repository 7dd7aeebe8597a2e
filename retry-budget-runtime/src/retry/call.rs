//! A [`Run`] with a clock, a timer and a source of chance: what every async loop drives.

use crate::retryable::derived::Opinion;
use crate::{
    Attempt, Budget, Decision, RetryEvent, RetryPolicy, Retryable, Run, Stop, StopEvent, StopReason, Time, Verdict,
};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// One call in progress.
#[derive(Debug)]
pub struct Call<'p, B: Budget> {
    run: Run<B>,
    policy: &'p RetryPolicy,
}

/// What a loop does next.
#[derive(Debug)]
pub enum Step<E> {
    /// The call is over: return the result as it is.
    Done,
    /// Wait this long and try again.
    Retry(Duration),
    /// A retry was wanted and none will be made: pause if told so, then return what [`Call::give_up`] makes of the
    /// result.
    Stop(Halt<E>),
}

/// Why a call stops, and what becomes of its error.
#[derive(Debug)]
pub struct Halt<E> {
    pub(crate) reason: StopReason,
    pub(crate) pause: Option<Duration>,
    pub(crate) exhausted: fn(E, Stop) -> E,
}

/// What an attempt comes to: a `Result`.
#[diagnostic::on_unimplemented(
    message = "only a function that returns a `Result` can say that an attempt failed",
    label = "this is no `Result`",
    note = "return `Result<{Self}, …>`"
)]
pub trait Attempted {
    /// What it fails with.
    type Error;

    /// The error, if it failed.
    fn error(&self) -> Option<&Self::Error>;

    /// The same result with another error.
    #[must_use]
    fn map_error(self, map: impl FnOnce(Self::Error) -> Self::Error) -> Self;
}

impl<T, E> Attempted for Result<T, E> {
    type Error = E;

    #[inline]
    fn error(&self) -> Option<&E> {
        self.as_ref().err()
    }

    #[inline]
    fn map_error(self, map: impl FnOnce(E) -> E) -> Self {
        self.map_err(map)
    }
}

impl<'p, B: Budget> Call<'p, B> {
    /// The first attempt starts.
    #[inline]
    pub fn begin(budget: B, policy: &'p RetryPolicy) -> Self {
        let now = if budget.reads_clock() { Time::now() } else { Time::ZERO };
        Self { run: Run::begin(budget, now), policy }
    }

    /// The attempt that is about to run.
    pub fn attempt(&self) -> Attempt {
        self.run.attempt()
    }

    /// An attempt has ended with this result; the error decides for itself.
    #[inline]
    pub fn after<R: Attempted>(&mut self, result: &R) -> Step<R::Error>
    where
        R::Error: Retryable,
    {
        match result.error() {
            None => self.succeeded(),
            Some(error) => self.failed(error.verdict(), R::Error::exhausted),
        }
    }

    /// An attempt has ended with this result; a function decides.
    #[inline]
    pub fn after_by<R: Attempted, V: Opinion>(
        &mut self,
        result: &R,
        classify: impl FnOnce(&R::Error) -> V,
    ) -> Step<R::Error> {
        match result.error() {
            None => self.succeeded(),
            Some(error) => self.failed(classify(error).verdict(), |error, _| error),
        }
    }

    #[inline]
    pub(crate) fn succeeded<E>(&mut self) -> Step<E> {
        self.run.succeeded();
        Step::Done
    }

    #[cold]
    pub(crate) fn failed<E>(&mut self, verdict: Verdict, exhausted: fn(E, Stop) -> E) -> Step<E> {
        match self.decide(verdict) {
            Decision::Retry { delay } => Step::Retry(delay),
            Decision::Stop { reason: StopReason::NotRetryable, .. } => Step::Done,
            Decision::Stop { reason, pause } => Step::Stop(Halt { reason, pause, exhausted }),
        }
    }

    #[cold]
    #[inline(never)]
    fn decide(&mut self, verdict: Verdict) -> Decision {
        self.run.failed(self.policy, verdict, Time::now(), rand::random())
    }

    /// The time between two attempts, or before a denied call returns. Boxed, so that a call that never waits has no
    /// room for it in its future.
    #[cold]
    #[inline(never)]
    pub fn wait(&self, delay: Duration) -> Wait {
        Wait((!delay.is_zero()).then(|| Box::pin(tokio::time::sleep(delay))))
    }

    /// The pause of a denied call, none when there is nothing to pause for.
    #[cold]
    pub fn pause<E>(&self, halt: &Halt<E>) -> Wait {
        self.wait(halt.pause.unwrap_or_default())
    }

    /// The wait is over.
    pub fn start_retry(&mut self) {
        self.run.start_retry();
    }

    /// What a stop for this reason means for this call.
    pub fn stop(&self, reason: StopReason) -> Stop {
        self.run.stop(reason)
    }

    /// Tells of the retry that is about to be waited for.
    #[cold]
    pub fn tell_retry<R: Attempted>(
        &self,
        result: &R,
        delay: Duration,
        on_retry: impl FnOnce(&RetryEvent<'_, R::Error>),
    ) {
        let attempt = self.run.attempt();
        if let (Some(error), Some(kind)) = (result.error(), attempt.last_failure()) {
            let budget = self.run.budget().name();
            on_retry(&RetryEvent { error, attempt: attempt.number() - 1, kind, delay, budget });
        }
    }

    /// Tells of the stop.
    #[cold]
    pub fn tell_stop<R: Attempted>(
        &self,
        result: &R,
        halt: &Halt<R::Error>,
        on_stop: impl FnOnce(&StopEvent<'_, R::Error>),
    ) {
        if let Some(error) = result.error() {
            on_stop(&StopEvent { error, stop: &self.stop(halt.reason) });
        }
    }

    /// The result the caller gets after a stop.
    #[cold]
    pub fn give_up<R: Attempted>(&self, result: R, halt: &Halt<R::Error>) -> R {
        result.map_error(|error| (halt.exhausted)(error, self.stop(halt.reason)))
    }
}

/// A wait that is over at once when it is zero, without asking for a timer.
#[derive(Debug)]
pub struct Wait(Option<Pin<Box<tokio::time::Sleep>>>);

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().map_or(Poll::Ready(()), |sleep| sleep.as_mut().poll(cx))
    }
}
