//! Calls as the laws make them: lives in the right order, and how many retries a budget has for them.

use crate::{Budget, CallEnd, Fate, RetryKind, Time};

pub(super) const KINDS: [RetryKind; 2] = [RetryKind::Transient, RetryKind::Throttling];

/// Calls that fail at once: more than a small budget has retries for.
const CALLS: usize = 300;

/// Where the laws begin, an hour after the start of the clock.
pub(super) const NOW: Time = Time::from_millis(3_600_000);

/// How many of many calls that fail at once may retry. All the retries fail too.
pub(super) fn grants(budget: &impl Budget, kind: RetryKind, now: Time) -> usize {
    grants_while(budget, CALLS, kind, now)
}

/// How many of many failures may be retried while that many calls are in progress.
pub(super) fn grants_while(budget: &impl Budget, calls: usize, kind: RetryKind, now: Time) -> usize {
    (0..calls).for_each(|_| budget.begin(now));
    let granted: Vec<_> = (0..CALLS).filter_map(|_| budget.try_retry(kind, now)).collect();
    let count = granted.len();
    for grant in granted {
        budget.settle(grant, Fate::Failed);
    }
    (0..calls).for_each(|_| budget.end(CallEnd::Failed));
    count
}

/// A call that fails once, asks, and ends so; a denied one fails.
pub(super) fn asks(budget: &impl Budget, kind: RetryKind, fate: Fate, end: CallEnd) {
    budget.begin(NOW);
    if let Some(grant) = budget.try_retry(kind, NOW) {
        budget.settle(grant, fate);
    }
    budget.end(end);
}

/// A call that fails once in the same way, doesn't ask, and ends so.
pub(super) fn does_not_ask(budget: &impl Budget, kind: RetryKind, end: CallEnd) {
    budget.begin(NOW);
    budget.final_failure(Some(kind));
    budget.end(end);
}

/// A new budget of which that many retries are spent.
pub(super) fn spent<B: Budget>(make: &impl Fn() -> B, retries: usize) -> B {
    let budget = make();
    (0..retries).for_each(|_| asks(&budget, RetryKind::Transient, Fate::Failed, CallEnd::Failed));
    budget
}

/// Numbers that look random, the same in each run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let index = usize::try_from(self.roll()).unwrap_or(0) % choices.len();
        choices[index]
    }
}
