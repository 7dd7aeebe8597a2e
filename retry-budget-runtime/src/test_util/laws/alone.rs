//! What holds on one thread.

use super::calls::{Dice, KINDS, NOW, asks, does_not_ask, grants, grants_while, spent};
use crate::{Budget, CallEnd, Fate, Grant, RetryKind, Time};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// How many retries are spent before a law is looked at.
const SPENT: [usize; 5] = [0, 1, 2, 5, 20];

const ELSEWHERE: [(u32, u64); 6] =
    [(0, 0), (1, 0), (1, 3_600), (1_000, 36_000), (u32::MAX, u64::MAX), (7, u64::MAX - 1)];

/// Also when nothing is left.
pub(super) fn nothing_blocks<B: Budget + 'static>(make: &impl Fn() -> B) {
    let budget = Arc::new(make());
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        let granted = grants(&*budget, RetryKind::Transient, NOW);
        // nobody waits for the answer any more: that was said already
        let _ = done.send(granted + grants(&*budget, RetryKind::Throttling, NOW));
    });
    // When the thread has panicked it has said so; the law of any order repeats it.
    let blocked = is_done.recv_timeout(Duration::from_secs(5)) == Err(mpsc::RecvTimeoutError::Timeout);
    assert!(!blocked, "a budget never blocks: calls that failed, retried and ended weren't done after five seconds");
}

pub(super) fn first_attempts_are_free<B: Budget>(make: &impl Fn() -> B) {
    let ends =
        [("succeeded", CallEnd::FirstTry), ("failed for good", CallEnd::Failed), ("were dropped", CallEnd::Dropped)];
    for retries in SPENT {
        for kind in KINDS {
            for (what, end) in ends {
                let budget = spent(make, retries);
                for _ in 0..100 {
                    budget.begin(NOW);
                    if end == CallEnd::Failed {
                        budget.final_failure(None);
                    }
                    budget.end(end);
                }
                let before = grants_while(&spent(make, retries), 1, kind, NOW);
                let after = grants_while(&budget, 1, kind, NOW);
                assert!(
                    before <= after,
                    "first attempts are free: after 100 calls that {what} {after} {kind} retries were granted, {before} \
                     without them",
                );
            }
        }
    }
}

pub(super) fn what_was_not_sent_goes_back<B: Budget>(make: &impl Fn() -> B) {
    let lives = [
        (Fate::NotSent, CallEnd::Dropped),
        (Fate::Succeeded, CallEnd::AfterRetry),
        (Fate::Failed, CallEnd::Failed),
        (Fate::Dropped, CallEnd::Dropped),
    ];
    for retries in SPENT {
        for kind in KINDS {
            for (fate, end) in lives {
                for calls in [1, 7, 50] {
                    let (asked, silent) = (spent(make, retries), spent(make, retries));
                    for _ in 0..calls {
                        asks(&asked, kind, fate, end);
                        does_not_ask(&silent, kind, end);
                    }
                    let (after, without) = (grants(&asked, kind, NOW), grants(&silent, kind, NOW));
                    let what = format!(
                        "after {calls} {kind} retries that were settled as {fate:?} {after} more were granted, {without} \
                         when none had been asked for",
                    );
                    if fate == Fate::NotSent {
                        assert!(after >= without, "what was never sent goes back in full: {what}");
                    }
                    assert!(after <= without, "no more goes back than was taken: {what}");
                }
            }
        }
    }
}

pub(super) fn grants_of_elsewhere_do_no_harm<B: Budget>(make: &impl Fn() -> B) {
    for kind in KINDS {
        for fate in [Fate::Succeeded, Fate::Failed, Fate::NotSent, Fate::Dropped] {
            let (given, alone) = (make(), make());
            let full = fill(&given) && fill(&alone);
            for _ in 0..20 {
                for (cost, slot) in ELSEWHERE {
                    given.settle(Grant::new(cost).in_slot(slot), fate);
                }
            }
            snapshot_is_sound(&given);
            let (after, before) = (grants(&given, kind, NOW), grants(&alone, kind, NOW));
            assert!(
                after <= before || !full,
                "a grant of elsewhere does no harm: settled as {fate:?}, such grants made a full budget grant {after} \
                 {kind} retries, {before} without them",
            );
        }
    }
}

/// Whether a few thousand successes are enough to fill it.
fn fill(budget: &impl Budget) -> bool {
    (0..10_000).any(|_| {
        budget.begin(NOW);
        budget.end(CallEnd::FirstTry);
        let snapshot = budget.snapshot(NOW);
        snapshot.available >= snapshot.limit
    })
}

pub(super) fn a_clock_that_goes_back_frees_nothing<B: Budget>(make: &impl Fn() -> B) {
    for kind in KINDS {
        let (steady, turned) = (make(), make());
        grants(&steady, kind, NOW);
        grants(&turned, kind, NOW);
        for back in [Time::from_millis(3_599_999), Time::from_millis(1), Time::ZERO] {
            let (now, then) = (grants(&steady, kind, NOW), grants(&turned, kind, back));
            assert!(
                then <= now,
                "a clock that goes back frees nothing: {then} {kind} retries were granted then, {now} by one that stands \
                 still",
            );
        }
    }
}

pub(super) fn any_order_is_answered<B: Budget>(make: &impl Fn() -> B) {
    let times = [Time::ZERO, Time::from_millis(1), NOW, Time::from_nanos(u64::MAX - 1), Time::MAX];
    let fates = [Fate::Succeeded, Fate::Failed, Fate::NotSent, Fate::Dropped];
    let ends = [CallEnd::FirstTry, CallEnd::AfterRetry, CallEnd::Failed, CallEnd::Dropped];
    for seed in 0..20 {
        let budget = make();
        let mut dice = Dice(seed);
        let mut out = Vec::new();
        for _ in 0..1_000 {
            match dice.roll() % 7 {
                0 => budget.begin(dice.one_of(&times)),
                1 | 2 => out.extend(budget.try_retry(dice.one_of(&KINDS), dice.one_of(&times))),
                3 => budget.final_failure(dice.one_of(&[None, Some(KINDS[0]), Some(KINDS[1])])),
                4 => {
                    if let Some(grant) = out.pop() {
                        budget.settle(grant, dice.one_of(&fates));
                    }
                }
                5 => {
                    let (cost, slot) = dice.one_of(&ELSEWHERE);
                    budget.settle(Grant::new(cost).in_slot(slot), dice.one_of(&fates));
                }
                _ => budget.end(dice.one_of(&ends)),
            }
            snapshot_is_sound(&budget);
        }
    }
}

fn snapshot_is_sound(budget: &impl Budget) {
    let snapshot = budget.snapshot(NOW);
    assert_eq!(snapshot.name, budget.name(), "a snapshot has the budget's name");
    let (available, limit) = (snapshot.available, snapshot.limit);
    assert!(available <= limit, "a snapshot has no more available than its limit: {available} of {limit}");
}
