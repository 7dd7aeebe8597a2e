//! The retry state machine: one call, from its first attempt to its end. No I/O, no clock, no randomness of its own.

use crate::backoff::{self, Chance};
use crate::{
    Attempt, Budget, CallEnd, Fate, Grant, RetryKind, RetryPolicy, Stop, StopReason, Time, Verdict, WhenEmpty,
};
use std::mem;
use std::time::Duration;

/// One call as its budget sees it, for those who own their loop.
///
/// Everything comes in as an argument: the policy, the time, and 64 random bits for the jitter. The attribute,
/// [`retry`](crate::retry()) and everything else in this crate drive this very type.
///
/// Dropping a run tells the budget what happened: a retry that was granted and not started goes back in full, one that
/// was started stays paid for.
///
/// ```
/// use retry_budget_runtime::{Decision, RetryPolicy, Run, Time, TokenBudget, Verdict};
/// use std::time::Duration;
///
/// static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
/// let policy = RetryPolicy::REQUEST;
///
/// let mut run = Run::begin(&PARTNER, Time::ZERO);
/// // the first attempt failed, ten milliseconds later; half of the possible jitter
/// match run.failed(&policy, Verdict::TRANSIENT, Time::from_millis(10), u64::MAX / 2) {
///     Decision::Retry { delay } => assert!(delay < Duration::from_millis(25)), // wait this long
///     Decision::Stop { reason, .. } => panic!("{}", run.stop(reason)),
/// }
/// run.start_retry();
/// assert_eq!(run.attempt().number(), 2);
/// run.succeeded();
/// ```
#[derive(Debug)]
pub struct Run<B: Budget> {
    budget: B,
    deadline: Time,
    attempt: u32,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    First,
    Retry(Retry),
    Over { nanos_since_first_failure: u64 },
}

const OVER: Phase = Phase::Over { nanos_since_first_failure: 0 };

#[derive(Debug)]
struct Retry {
    grant: Grant,
    after: RetryKind,
    first_failure: Time,
    started: bool,
}

fn over(first_failure: Time, now: Time) -> Phase {
    Phase::Over { nanos_since_first_failure: now.as_nanos().saturating_sub(first_failure.as_nanos()) }
}

/// What to do about a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Wait, then call [`Run::start_retry`] and try again.
    Retry {
        /// How long to wait.
        delay: Duration,
    },
    /// Return the error.
    Stop {
        /// Why.
        reason: StopReason,
        /// How long to wait before returning it, when the policy says to pause a denied call.
        pause: Option<Duration>,
    },
}

impl<B: Budget> Run<B> {
    /// A call's first attempt starts.
    ///
    /// `now` is passed on to the budget; [`Time::ZERO`] will do if [`Budget::reads_clock`] says no.
    #[inline]
    pub fn begin(budget: B, now: Time) -> Self {
        budget.begin(now);
        Self { budget, deadline: Time::MAX, attempt: 1, phase: Phase::First }
    }

    /// Sets the time by which the whole call must be over: no wait is begun that would end at or after it. To cut off an
    /// attempt that is running then is up to the loop, which tells by [`deadline_passed`](Self::deadline_passed).
    pub fn until(&mut self, deadline: Time) {
        self.deadline = deadline;
    }

    /// The time by which the whole call must be over, if there is one.
    pub fn deadline(&self) -> Option<Time> {
        (self.deadline < Time::MAX).then_some(self.deadline)
    }

    /// The attempt that is running, or, while the call waits, the one that comes.
    pub fn attempt(&self) -> Attempt {
        let after = match &self.phase {
            Phase::Retry(retry) => Some(retry.after),
            Phase::First | Phase::Over { .. } => None,
        };
        Attempt::new(self.attempt, after, self.deadline())
    }

    /// The attempt succeeded: the call is over.
    #[inline]
    pub fn succeeded(&mut self) {
        if let Phase::First = self.phase {
            self.phase = OVER;
            self.budget.end(CallEnd::FirstTry);
        } else {
            self.succeeded_after_retry();
        }
    }

    /// The attempt failed. What now?
    ///
    /// The order: is the failure worth a retry? Has a loop further inside given up? Are retries
    /// [switched off](crate::set_retries)? Is it safe to repeat? Are attempts
    /// left? Is the server's hint within the limit? Is there time for the wait? Only then is the budget asked, so that
    /// nothing is charged that isn't used.
    ///
    /// `random` is 64 uniformly random bits. After the end of a call the answer is [`StopReason::NotRetryable`].
    pub fn failed(&mut self, policy: &RetryPolicy, verdict: Verdict, now: Time, random: u64) -> Decision {
        let first_failure = match mem::replace(&mut self.phase, OVER) {
            Phase::First => now,
            Phase::Retry(retry) => {
                self.budget.settle(retry.grant, Fate::Failed);
                retry.first_failure
            }
            ended @ Phase::Over { .. } => {
                self.phase = ended;
                return Decision::Stop { reason: StopReason::NotRetryable, pause: None };
            }
        };
        let chance = Chance::new(random);
        match self.ask(policy, verdict, now, chance) {
            Ok((grant, after, delay)) => {
                self.attempt = self.attempt.saturating_add(1);
                self.phase = Phase::Retry(Retry { grant, after, first_failure, started: false });
                Decision::Retry { delay }
            }
            Err(reason) => {
                self.phase = over(first_failure, now);
                self.budget.end(CallEnd::Failed);
                // Without retries a worker's calls fail as fast as with an empty budget.
                let denied = matches!(reason, StopReason::BudgetEmpty | StopReason::SwitchedOff);
                let pauses = denied && policy.when_empty == WhenEmpty::Pause;
                let pause = pauses.then(|| backoff::pause(policy, chance).min(self.deadline.since(now)));
                Decision::Stop { reason, pause }
            }
        }
    }

    /// The deadline passed while an attempt was running, and cut it off. That says nothing about the other side: to the
    /// budget it is a call that was dropped.
    pub fn deadline_passed(&mut self, now: Time) {
        let first_failure = match &self.phase {
            Phase::First => now,
            Phase::Retry(retry) => retry.first_failure,
            Phase::Over { .. } => return,
        };
        self.dropped();
        self.phase = over(first_failure, now);
    }

    /// The wait is over and the retry starts: from here on its load is real.
    pub fn start_retry(&mut self) {
        if let Phase::Retry(retry) = &mut self.phase {
            retry.started = true;
        }
    }

    /// What a stop for this reason means for this call.
    pub fn stop(&self, reason: StopReason) -> Stop {
        let since_first_failure = match self.phase {
            Phase::Over { nanos_since_first_failure } => Duration::from_nanos(nanos_since_first_failure),
            Phase::First | Phase::Retry(_) => Duration::ZERO,
        };
        Stop { reason, attempts: self.attempt, budget: self.budget.name().to_owned(), since_first_failure }
    }

    /// The call's budget.
    pub const fn budget(&self) -> &B {
        &self.budget
    }

    fn ask(
        &self,
        policy: &RetryPolicy,
        verdict: Verdict,
        now: Time,
        chance: Chance,
    ) -> Result<(Grant, RetryKind, Duration), StopReason> {
        let Some(kind) = verdict.kind() else {
            self.budget.final_failure(None);
            return Err(StopReason::NotRetryable);
        };
        let delay = backoff::delay(policy, self.attempt, kind, verdict.hint(), chance);
        if let Some(reason) = self.obstacle(policy, verdict, now + delay) {
            self.budget.final_failure(Some(kind));
            return Err(reason);
        }
        let grant = self.budget.try_retry(kind, now).ok_or(StopReason::BudgetEmpty)?;
        Ok((grant, kind, delay))
    }

    /// What stands in the way of a retry that would start then, but for the budget.
    fn obstacle(&self, policy: &RetryPolicy, verdict: Verdict, start: Time) -> Option<StopReason> {
        if verdict.is_given_up() {
            Some(StopReason::GaveUpInside)
        } else if !crate::retries_are_on() {
            Some(StopReason::SwitchedOff)
        } else if !policy.idempotent && verdict.may_have_been_processed() {
            Some(StopReason::NotIdempotent)
        } else if self.attempt >= policy.max_attempts {
            Some(StopReason::AttemptsUsedUp)
        } else if verdict.hint().is_some_and(|hint| hint > policy.retry_after_limit) {
            Some(StopReason::HintTooFar)
        } else if self.deadline < Time::MAX && start >= self.deadline {
            Some(StopReason::Deadline)
        } else {
            None
        }
    }

    #[cold]
    #[inline(never)]
    fn succeeded_after_retry(&mut self) {
        if let Some(retry) = self.close_retry() {
            self.budget.settle(retry.grant, Fate::Succeeded);
            self.budget.end(CallEnd::AfterRetry);
        }
    }

    #[cold]
    #[inline(never)]
    fn dropped(&mut self) {
        if let Some(retry) = self.close_retry() {
            let fate = if retry.started { Fate::Dropped } else { Fate::NotSent };
            self.budget.settle(retry.grant, fate);
        }
        self.budget.end(CallEnd::Dropped);
    }

    /// Ends the call and gives the retry it was at, if it was at one.
    fn close_retry(&mut self) -> Option<Retry> {
        match mem::replace(&mut self.phase, OVER) {
            Phase::Retry(retry) => Some(retry),
            Phase::First => None,
            ended @ Phase::Over { .. } => {
                self.phase = ended;
                None
            }
        }
    }
}

/// The call was dropped before it was done, or its body panicked.
impl<B: Budget> Drop for Run<B> {
    #[inline]
    fn drop(&mut self) {
        if !matches!(self.phase, Phase::Over { .. }) {
            self.dropped();
        }
    }
}
