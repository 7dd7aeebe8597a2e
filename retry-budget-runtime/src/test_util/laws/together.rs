//! What holds when threads come at once.

use super::calls::{KINDS, NOW, asks, grants, spent};
use crate::{Budget, CallEnd, Fate, RetryKind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

const THREADS: usize = 4;

/// Each thread's asks in a round: together more than a small budget grants.
const ASKS: usize = 40;

/// Calls that have all begun, and ask at once.
pub(super) fn threads_get_no_more<B: Budget>(make: &impl Fn() -> B) {
    let rounds: Vec<_> = (0..1_000).map(|round| (begun(spent(make, round % 3)), AtomicUsize::new(0))).collect();
    at_once(|start| {
        for (budget, granted) in &rounds {
            start.wait();
            let mine: Vec<_> = (0..ASKS).filter_map(|_| budget.try_retry(RetryKind::Transient, NOW)).collect();
            granted.fetch_add(mine.len(), Relaxed);
            start.wait();
            for grant in mine {
                budget.settle(grant, Fate::Failed);
            }
        }
    });
    let allowed: Vec<_> = (0..3).map(|retries| in_a_row(&begun(spent(make, retries)))).collect();
    for (round, (_, granted)) in rounds.iter().enumerate() {
        let (granted, allowed) = (granted.load(Relaxed), allowed[round % 3]);
        assert!(
            granted <= allowed,
            "threads get no more: {granted} retries were granted to {THREADS} threads at once, {allowed} one after the \
             other",
        );
    }
}

fn begun<B: Budget>(budget: B) -> B {
    (0..THREADS * ASKS).for_each(|_| budget.begin(NOW));
    budget
}

fn in_a_row(budget: &impl Budget) -> usize {
    (0..THREADS * ASKS).filter_map(|_| budget.try_retry(RetryKind::Transient, NOW)).count()
}

/// Calls that are dropped in their wait, all over.
pub(super) fn what_threads_give_back_is_not_lost<B: Budget>(make: &impl Fn() -> B) {
    const CALLS: usize = 2_000;
    let drops = |budget: &B, kind| {
        for _ in 0..CALLS {
            asks(budget, kind, Fate::NotSent, CallEnd::Dropped);
        }
    };
    for kind in KINDS {
        for retries in [0, 2, 5] {
            let (together, alone) = (spent(make, retries), spent(make, retries));
            at_once(|start| {
                start.wait();
                drops(&together, kind);
            });
            (0..THREADS).for_each(|_| drops(&alone, kind));
            let (after, expected) = (grants(&together, kind, NOW), grants(&alone, kind, NOW));
            assert!(
                after >= expected,
                "what threads give back isn't lost: {after} {kind} retries were granted after they had been dropped, \
                 {expected} when it was one after the other",
            );
            assert!(
                after <= expected,
                "threads give back no more than they took: {after} {kind} retries were granted after they had been \
                 dropped, {expected} when it was one after the other",
            );
        }
    }
}

fn at_once(work: impl Fn(&Barrier) + Sync) {
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| work(&start));
        }
    });
}
