//! A [`Run`] with a clock, a timer and a source of chance: what every async loop drives.

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
pub enum Step {
    /// The call is over: return the result as it is.
    Done,
    /// Wait this long and try again.
    Retry(Duration),
    /// A retry was wanted and none will be made: pause if told so, then return the error.
    Stop(StopReason, Option<Duration>),
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
    pub fn after<T, E: Retryable>(&mut self, result: &Result<T, E>) -> Step {
        match result {
            Ok(_) => self.succeeded(),
            Err(error) => self.failed(error.verdict()),
        }
    }

    /// An attempt has ended with this result; a function decides.
    #[inline]
    pub fn after_by<T, E, V: Into<Verdict>>(&mut self, result: &Result<T, E>, classify: impl FnOnce(&E) -> V) -> Step {
        match result {
            Ok(_) => self.succeeded(),
            Err(error) => self.failed(classify(error).into()),
        }
    }

    #[inline]
    pub(crate) fn succeeded(&mut self) -> Step {
        self.run.succeeded();
        Step::Done
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn failed(&mut self, verdict: Verdict) -> Step {
        match self.run.failed(self.policy, verdict, Time::now(), rand::random()) {
            Decision::Retry { delay } => Step::Retry(delay),
            Decision::Stop { reason: StopReason::NotRetryable, .. } => Step::Done,
            Decision::Stop { reason, pause } => Step::Stop(reason, pause),
        }
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
    pub fn pause(&self, pause: Option<Duration>) -> Wait {
        self.wait(pause.unwrap_or_default())
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
    pub fn tell_retry<T, E>(&self, result: &Result<T, E>, delay: Duration, on_retry: impl FnOnce(&RetryEvent<'_, E>)) {
        let attempt = self.run.attempt();
        if let (Err(error), Some(kind)) = (result, attempt.last_failure()) {
            let budget = self.run.budget().name();
            on_retry(&RetryEvent { error, attempt: attempt.number() - 1, kind, delay, budget });
        }
    }

    /// Tells of the stop.
    #[cold]
    pub fn tell_stop<T, E>(&self, result: &Result<T, E>, reason: StopReason, on_stop: impl FnOnce(&StopEvent<'_, E>)) {
        if let Err(error) = result {
            on_stop(&StopEvent { error, stop: &self.stop(reason) });
        }
    }

    /// The result the caller gets after a stop.
    #[allow(clippy::missing_errors_doc)] // the result goes through
    #[cold]
    pub fn give_up<T, E: Retryable>(&self, result: Result<T, E>, reason: StopReason) -> Result<T, E> {
        result.map_err(|error| error.exhausted(self.stop(reason)))
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
