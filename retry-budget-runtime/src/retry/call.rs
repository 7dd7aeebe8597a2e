//! A [`Run`] with a clock, a timer and a source of chance: what every async loop drives.

use super::here::{Here, Name, Shows, Told};
use super::inside::{self, Watched};
use super::limited::Limited;
use crate::retryable::derived::{Judged, Opinion};
use crate::tell::{self, Failure};
use crate::{
    Attempt, Budget, Decision, Elapsed, IntoDeadline, Limit, RetryEvent, RetryKind, RetryPolicy, Run, Stop, StopEvent,
    StopReason, Time, Timer, TokioTimer, Verdict,
};
use std::borrow::Borrow;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// One call in progress, with a policy of its own or somebody else's.
#[derive(Debug)]
pub struct Call<P, B: Budget, T = TokioTimer> {
    run: Run<B>,
    policy: P,
    /// Whether a loop inside of this attempt gave up.
    gave_up_inside: bool,
    timer: PhantomData<fn() -> T>,
}

/// What a loop does next.
#[derive(Debug)]
pub enum Step<R> {
    /// The call is over: return the result as it is.
    Done,
    /// Wait this long and try again.
    Retry(Duration),
    /// A retry was wanted and none will be made: pause if told so, then return what [`Call::give_up`] makes of the
    /// result.
    Stop(Halt<R>),
}

/// Why a call stops, and what becomes of its result.
#[derive(Debug)]
pub struct Halt<R> {
    pub(crate) reason: StopReason,
    pause: Option<Duration>,
    exhausted: Becomes<R>,
}

/// What a result becomes when its call is given up.
pub(crate) type Becomes<R> = fn(R, Stop) -> R;

impl<R> Halt<R> {
    /// How long to pause before the result is returned.
    pub(crate) fn pause(&self) -> Duration {
        self.pause.unwrap_or_default()
    }

    /// What becomes of the result; nothing where a loop inside has had its say already.
    pub(crate) fn becomes(&self) -> Option<Becomes<R>> {
        (self.reason != StopReason::GaveUpInside).then_some(self.exhausted)
    }
}

/// An attempt was cut off: by which limit, and after how long.
pub(crate) type Cut = (Limit, Duration);

/// What an attempt comes to: a `Result`.
#[diagnostic::on_unimplemented(
    message = "only a function that returns a `Result` can say that an attempt failed",
    label = "this is no `Result`",
    note = "return `Result<{Self}, …>`"
)]
pub trait Attempted {
    /// What it brings back.
    type Value;
    /// What it fails with.
    type Error;

    /// The result by reference.
    #[allow(clippy::missing_errors_doc)] // it is what it is
    fn outcome(&self) -> Result<&Self::Value, &Self::Error>;

    /// A result that failed.
    fn failed(error: Self::Error) -> Self;

    /// The same result with another error.
    #[must_use]
    fn map_error(self, map: impl FnOnce(Self::Error) -> Self::Error) -> Self;
}

impl<T, E> Attempted for Result<T, E> {
    type Value = T;
    type Error = E;

    #[inline]
    fn outcome(&self) -> Result<&T, &E> {
        self.as_ref()
    }

    fn failed(error: E) -> Self {
        Err(error)
    }

    #[inline]
    fn map_error(self, map: impl FnOnce(E) -> E) -> Self {
        self.map_err(map)
    }
}

/// An error that an attempt which was cut off can fail with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't say that an attempt was cut off",
    label = "`attempt_timeout` and `deadline` return this error, which isn't `From<retry_budget::Elapsed>`",
    note = "for an error of your own, a variant: `#[error(\"out of time: {{0}}\")] #[retry(transient)] \
            Elapsed(#[from] retry_budget::Elapsed)`",
    note = "for somebody else's error: `elapsed = |elapsed| …` beside the limit, from an `Elapsed` to `{Self}`"
)]
pub trait FromElapsed {
    /// The error.
    fn from_elapsed(elapsed: Elapsed) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<Elapsed>> FromElapsed for E {
    fn from_elapsed(elapsed: Elapsed) -> Self {
        elapsed.into()
    }
}

impl<P: Borrow<RetryPolicy>, B: Budget, T: Timer> Call<P, B, T> {
    /// The first attempt starts.
    #[inline]
    pub fn begin(budget: B, policy: P) -> Self {
        let now = if budget.reads_clock() { T::now() } else { Time::ZERO };
        Self { run: Run::begin(budget, now), policy, gave_up_inside: false, timer: PhantomData }
    }

    /// Sets the time by which the call must be over.
    pub fn until(&mut self, deadline: impl IntoDeadline) {
        if let Some(deadline) = deadline.into_deadline(T::now()) {
            self.run.until(deadline);
        }
    }

    /// The attempt that is about to run.
    pub fn attempt(&self) -> Attempt {
        self.run.attempt().by_clock(T::now)
    }

    /// Runs an attempt, and notes whether a retry loop inside of it gives up.
    #[inline]
    pub fn watch<F: Future>(&mut self, attempt: F) -> Watched<'_, F> {
        Watched::new(&mut self.gave_up_inside, attempt)
    }

    /// The same, within the time that the attempt and the call may take.
    pub fn watch_within<F: Future>(
        &mut self,
        attempt_timeout: Option<Duration>,
        attempt: F,
    ) -> Watched<'_, Limited<F, T::Sleep>> {
        let left = self.run.deadline().map(|deadline| (Limit::Deadline, deadline.since(T::now())));
        let cut = match (attempt_timeout, left) {
            (Some(timeout), Some((_, left))) if left <= timeout => Some((Limit::Deadline, left)),
            (Some(timeout), _) => Some((Limit::AttemptTimeout, timeout)),
            (None, left) => left,
        };
        self.watch(Limited::new(attempt, cut.map(|cut| (T::sleep(cut.1), cut))))
    }

    /// The same on the spot: for an attempt that isn't async, and for one poll of an attempt that somebody else holds.
    #[inline]
    pub(crate) fn watch_now<R>(&mut self, attempt: impl FnOnce() -> R) -> R {
        inside::watching(&mut self.gave_up_inside, attempt)
    }

    /// What a loop inside gave up doesn't count.
    pub fn forget_inside(&mut self) {
        self.gave_up_inside = false;
    }

    /// An attempt has ended with this result; the error decides for itself.
    #[inline]
    pub fn after<Way, R: Attempted<Error: Judged<Way>>>(&mut self, result: &R, here: Here<impl Shows<R>>) -> Step<R> {
        match result.outcome() {
            Ok(_) => self.succeeded(here.name),
            Err(error) => self.failed(error.judge(), exhausted, result, here),
        }
    }

    /// An attempt has ended with this result; a function decides.
    #[inline]
    pub fn after_by<R: Attempted, V: Opinion>(
        &mut self,
        result: &R,
        classify: impl FnOnce(&R::Error) -> V,
        becomes: fn(R, Stop) -> R,
        here: Here<impl Shows<R>>,
    ) -> Step<R> {
        match result.outcome() {
            Ok(_) => self.succeeded(here.name),
            Err(error) => self.failed(classify(error).verdict(), becomes, result, here),
        }
    }

    /// What comes after a value that a function takes for a failure; nothing if it doesn't, or there is no value.
    #[inline]
    pub fn after_value<R: Attempted, V: Opinion>(
        &mut self,
        result: &R,
        classify_ok: impl FnOnce(&R::Value) -> V,
        here: Here<impl Shows<R>>,
    ) -> Option<Step<R>> {
        let verdict = classify_ok(result.outcome().ok()?).verdict();
        verdict.kind().is_some().then(|| self.failed(verdict, as_it_is, result, here))
    }

    /// The error of an attempt that a limit has cut off, for people.
    #[cold]
    pub fn elapsed(&self, (limit, after): Cut, error_before: Option<String>) -> Elapsed {
        Elapsed { limit, attempt: self.run.attempt().number(), after, error_before }
    }

    /// A limit has cut the attempt off; the error decides for itself what it becomes.
    #[cold]
    pub fn after_cut<Way, R: Attempted<Error: Judged<Way>>>(
        &mut self,
        cut: Cut,
        result: &R,
        here: Here<impl Shows<R>>,
    ) -> Step<R> {
        self.cut_off(cut, exhausted, result, here)
    }

    /// A limit has cut the attempt off, where a function decides.
    #[cold]
    pub fn after_cut_by<R>(
        &mut self,
        cut: Cut,
        becomes: fn(R, Stop) -> R,
        result: &R,
        here: Here<impl Shows<R>>,
    ) -> Step<R> {
        self.cut_off(cut, becomes, result, here)
    }

    fn cut_off<R>(&mut self, (limit, _): Cut, exhausted: Becomes<R>, result: &R, here: Here<impl Shows<R>>) -> Step<R> {
        match limit {
            Limit::AttemptTimeout => self.failed(Verdict::TRANSIENT, exhausted, result, here),
            Limit::Deadline => {
                let reason = StopReason::Deadline;
                self.failure(None, here.told(result)).stopped(self.run.budget(), reason);
                self.run.deadline_passed(T::now());
                Step::Stop(Halt { reason, pause: None, exhausted })
            }
        }
    }

    #[inline]
    fn succeeded<R>(&mut self, name: Name) -> Step<R> {
        self.run.succeeded();
        tell::succeeded(name, self.run.budget(), self.run.attempt().number());
        Step::Done
    }

    #[cold]
    fn failed<R>(&mut self, verdict: Verdict, exhausted: Becomes<R>, result: &R, here: Here<impl Shows<R>>) -> Step<R> {
        match self.decide(verdict, here.told(result)) {
            Decision::Retry { delay } => Step::Retry(delay),
            Decision::Stop { reason: StopReason::NotRetryable, .. } => {
                self.pass_on();
                Step::Done
            }
            Decision::Stop { reason, pause } => Step::Stop(Halt { reason, pause, exhausted }),
        }
    }

    #[cold]
    #[inline(never)]
    fn decide(&mut self, verdict: Verdict, told: Told<'_>) -> Decision {
        let verdict = if self.gave_up_inside { verdict.given_up() } else { verdict };
        let now = T::now();
        let failure = self.failure(verdict.kind(), told);
        let before = Failure::before(self.run.budget(), now);
        let decision = self.run.failed(self.policy.borrow(), verdict, now, rand::random());
        failure.decided(&decision, before, self.run.budget(), now);
        decision
    }

    fn failure<'t>(&self, kind: Option<RetryKind>, told: Told<'t>) -> Failure<'t> {
        Failure { told, attempt: self.run.attempt().number(), kind }
    }

    /// The time between two attempts. Boxed, so that a call that never waits has no room for it in its future.
    #[cold]
    #[inline(never)]
    pub fn wait(&self, delay: Duration) -> Wait<T::Sleep> {
        Wait((!delay.is_zero()).then(|| Box::pin(T::sleep(delay))))
    }

    /// The pause of a denied call, none when there is nothing to pause for.
    #[cold]
    pub fn pause<R>(&self, halt: &Halt<R>) -> Wait<T::Sleep> {
        self.wait(halt.pause())
    }

    /// The wait is over.
    pub fn start_retry(&mut self) {
        self.gave_up_inside = false;
        self.run.start_retry();
    }

    /// What a stop for this reason means for this call.
    pub fn stop(&self, reason: StopReason) -> Stop {
        self.run.stop(reason)
    }

    /// Tells of the retry that is about to be waited for.
    #[cold]
    pub fn tell_retry<F>(&self, failure: &F, delay: Duration, on_retry: impl FnOnce(&RetryEvent<'_, F>)) {
        let attempt = self.run.attempt();
        if let Some(kind) = attempt.last_failure() {
            let budget = self.run.budget().name();
            on_retry(&RetryEvent { error: failure, attempt: attempt.number() - 1, kind, delay, budget });
        }
    }

    /// Tells of the stop.
    #[cold]
    pub fn tell_stop<F, R>(&self, failure: &F, halt: &Halt<R>, on_stop: impl FnOnce(&StopEvent<'_, F>)) {
        on_stop(&StopEvent { error: failure, stop: &self.stop(halt.reason) });
    }

    /// Tells the loops around this one that it has given up. To be called in the poll in which the call returns.
    #[allow(clippy::unused_self)] // it is this call that has given up
    pub(crate) fn mark_given_up(&self) {
        inside::give_up();
    }

    /// Tells the loops around this one what a loop inside of it told.
    pub(crate) fn pass_on(&self) {
        if self.gave_up_inside {
            inside::give_up();
        }
    }

    /// The result that the caller gets after a stop.
    #[cold]
    pub fn give_up<R>(&self, result: R, halt: &Halt<R>) -> R {
        self.mark_given_up();
        match halt.becomes() {
            Some(becomes) => becomes(result, self.stop(halt.reason)),
            None => result,
        }
    }
}

#[cfg(any(feature = "tower-0_5", feature = "reqwest-middleware-0_5"))]
impl<B: Budget, T> Call<RetryPolicy, B, T> {
    /// The attempt that is about to run is the last one, whatever the policy says.
    pub(crate) fn make_it_the_last(&mut self) {
        self.policy.max_attempts = 1;
    }
}

pub(crate) fn exhausted<Way, R: Attempted<Error: Judged<Way>>>(result: R, stop: Stop) -> R {
    result.map_error(|error| error.give_up(stop))
}

pub(crate) fn as_it_is<R>(result: R, _stop: Stop) -> R {
    result
}

/// A wait that is over at once when it is zero, without asking for a timer.
#[derive(Debug)]
pub struct Wait<S>(Option<Pin<Box<S>>>);

impl<S: Future<Output = ()>> Future for Wait<S> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().map_or(Poll::Ready(()), |sleep| sleep.as_mut().poll(cx))
    }
}
