//! When a budget runs empty, and when it has recovered: one event each, however many calls it denies in between.
//!
//! It is noticed on the cold path alone, since a healthy call shall do nothing for it: the first denial is where a budget
//! runs empty, and that it has recovered shows when it is asked again and grants. A scrape of the metrics looks as well, so
//! that it doesn't take a failure to hear that there are none.
//!
//! A budget that is almost empty grants and denies in turn, while successes refill it and failures drain it. So a grant alone
//! says nothing: a budget has recovered when it has denied nothing for [`QUIET`] *and* was at least half full before it
//! granted. The time bounds the events, a pair of them in ten seconds at most, for every kind of budget; the level keeps a
//! service with little traffic quiet, where a bucket is often half a minute without an ask and still empty.
//!
//! Budgets with one name are one here, so that a map of a thousand hosts doesn't tell of each.

use super::table::Table;
use super::{Failure, events};
use crate::{Budget, Snapshot, Time};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// How long a budget must have denied nothing. Ours.
const QUIET: Duration = Duration::from_secs(10);

static EDGES: Table<Edge> = Table::new();

/// Each step is atomic by itself. When two threads are at an edge at once, one of them tells of it; a denial at the very
/// moment of a recovery may be counted with either outage.
#[derive(Default)]
pub(crate) struct Edge {
    /// All denials there ever were.
    denied: AtomicU64,
    /// The first denial of this outage; 0 when the budget isn't empty, otherwise nanoseconds + 1.
    since: AtomicU64,
    /// The denials before this outage.
    before: AtomicU64,
    /// The last denial, in nanoseconds.
    last: AtomicU64,
}

/// What an outage was.
#[derive(Debug, PartialEq, Eq)]
struct Outage {
    /// From the first denial to the last. Not to the moment at which the recovery is noticed: that may be long after.
    empty_for: Duration,
    denied: u64,
}

impl Edge {
    fn is_empty(&self) -> bool {
        self.since.load(Relaxed) > 0
    }

    /// Whether the budget runs empty with this denial.
    fn denied(&self, now: Time) -> bool {
        let before = self.denied.fetch_add(1, Relaxed);
        // Not the greatest: a clock that goes back shall not make it wait for the time it had shown.
        self.last.store(now.as_nanos(), Relaxed);
        let runs_empty = !self.is_empty()
            && self.since.compare_exchange(0, now.as_nanos().saturating_add(1), Relaxed, Relaxed).is_ok();
        if runs_empty {
            self.before.store(before, Relaxed);
        }
        runs_empty
    }

    /// The outage that is over now, if one is.
    fn recovered(&self, now: Time) -> Option<Outage> {
        let since = self.since.load(Relaxed);
        let last = Time::from_nanos(self.last.load(Relaxed));
        let denied = self.denied.load(Relaxed).saturating_sub(self.before.load(Relaxed));
        if since == 0 || now.since(last) < QUIET {
            return None;
        }
        self.since.compare_exchange(since, 0, Relaxed, Relaxed).ok()?;
        Some(Outage { empty_for: last.since(Time::from_nanos(since - 1)), denied })
    }
}

/// Before a budget is asked: where it stands, if it was empty.
pub(super) fn before(budget: &dyn Budget, now: Time) -> Option<&'static Edge> {
    let edge = EDGES.get("", budget.name());
    (edge.is_empty() && is_half_full(&budget.snapshot(now))).then_some(edge)
}

/// A budget that says nothing of a level is never less than half full.
fn is_half_full(snapshot: &Snapshot) -> bool {
    snapshot.available >= snapshot.limit.div_ceil(2)
}

/// A look from outside, by nobody who asks it for a retry.
#[cfg(feature = "metrics")]
pub(crate) fn look(snapshot: &Snapshot, now: Time) {
    let edge = EDGES.get("", &snapshot.name);
    let may_be = (edge.is_empty() && is_half_full(snapshot)).then_some(edge);
    granted(may_be, &snapshot.name, now);
}

/// It granted, or might.
pub(super) fn granted(before: Option<&'static Edge>, budget: &str, now: Time) {
    if let Some(Outage { empty_for, denied }) = before.and_then(|edge| edge.recovered(now)) {
        events::recovered(budget, empty_for, denied);
    }
}

/// It denied.
pub(super) fn denied(failure: &Failure<'_>, budget: &dyn Budget, now: Time) {
    // What never grants has not run empty.
    if EDGES.get("", budget.name()).denied(now) && budget.snapshot(now).kind != "never" {
        events::ran_empty(failure, budget.name());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_millis(seconds * 1_000)
    }

    #[test]
    fn a_clock_that_goes_back_or_jumps_neither_hides_an_edge_nor_makes_one() {
        let edge = Edge::default();
        assert!(edge.denied(at(1_000)));
        // back by 900 s: the outage goes on, and is over ten seconds after its last denial by this clock
        assert!(!edge.denied(at(100)));
        assert_eq!(edge.recovered(at(109)), None);
        let outage = Outage { empty_for: Duration::ZERO, denied: 2 };
        assert_eq!(edge.recovered(at(110)), Some(outage));
        assert_eq!(edge.recovered(at(200)), None, "once");
        // far ahead, and back to the beginning
        assert!(edge.denied(Time::MAX));
        assert!(!edge.denied(Time::ZERO));
        let outage = Outage { empty_for: Duration::ZERO, denied: 2 };
        assert_eq!(edge.recovered(at(10)), Some(outage));
    }

    #[test]
    fn threads_at_an_edge_tell_of_it_once() {
        for _ in 0..200 {
            let edge = Edge::default();
            let all_at_once = |tells: fn(&Edge) -> Option<u64>| -> Vec<u64> {
                std::thread::scope(|scope| {
                    let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| tells(&edge))).collect();
                    threads.into_iter().filter_map(|thread| thread.join().expect("no panic")).collect()
                })
            };
            assert_eq!(all_at_once(|edge| edge.denied(at(1)).then_some(1)), [1], "one warning");
            let denied = all_at_once(|edge| edge.recovered(at(11)).map(|outage| outage.denied));
            // those that came before the one that tells of it may count to the time before
            assert!(matches!(denied[..], [1..=4]), "one recovery: {denied:?}");
        }
    }
}
