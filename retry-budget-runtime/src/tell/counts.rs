//! How calls went, counted by the names of call and budget. Kept here and handed to the recorder when it is asked for: a call
//! that is counted takes no lock of a recorder, and one that is installed late misses nothing.

use super::Failure;
use super::table::Table;
use crate::{RetryKind, StopReason};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

static COUNTS: Table<Counts> = Table::new();

#[derive(Default)]
struct Counts {
    ok: Striped,
    ok_after_retry: AtomicU64,
    retries: [AtomicU64; RetryKind::ALL.len()],
    stops: [AtomicU64; StopReason::ALL.len()],
}

/// What every healthy call adds to: a counter a thread, for up to eight threads; others share. Each is on lines of its own
/// (two of them, since processors fetch pairs), so that cores don't wait for each other's.
#[derive(Default)]
struct Striped([Stripe; STRIPES]);

#[derive(Default)]
#[repr(align(128))]
struct Stripe(AtomicU64);

const STRIPES: usize = 8;

impl Striped {
    #[inline]
    fn add_one(&self) {
        self.0[own_stripe() % STRIPES].0.fetch_add(1, Relaxed);
    }

    fn sum(&self) -> u64 {
        self.0.iter().map(|stripe| stripe.0.load(Relaxed)).sum()
    }
}

/// This thread's number.
#[inline]
fn own_stripe() -> usize {
    const NONE: usize = usize::MAX;
    thread_local! {
        static OWN: Cell<usize> = const { Cell::new(NONE) };
    }
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    OWN.with(|own| {
        if own.get() == NONE {
            own.set(NEXT.fetch_add(1, Relaxed) % STRIPES);
        }
        own.get()
    })
}

#[inline(never)]
pub(super) fn succeeded(call: &'static str, budget: &str, attempt: u32) {
    let counts = COUNTS.get(call, budget);
    if attempt == 1 {
        counts.ok.add_one();
    } else {
        counts.ok_after_retry.fetch_add(1, Relaxed);
    }
}

pub(super) fn retry(failure: &Failure<'_>, budget: &str) {
    if let Some(kind) = failure.kind {
        COUNTS.get(failure.told.name.get(), budget).retries[kind as usize].fetch_add(1, Relaxed);
    }
}

pub(super) fn stopped(failure: &Failure<'_>, budget: &str, reason: StopReason) {
    COUNTS.get(failure.told.name.get(), budget).stops[reason as usize].fetch_add(1, Relaxed);
}

/// How calls of one name under budgets of one name went, so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) ok: u64,
    pub(crate) ok_after_retry: u64,
    retries: [u64; RetryKind::ALL.len()],
    /// The failures that aren't worth a retry are among them.
    stops: [u64; StopReason::ALL.len()],
}

impl Totals {
    fn add(&mut self, counts: &Counts) {
        self.ok += counts.ok.sum();
        self.ok_after_retry += counts.ok_after_retry.load(Relaxed);
        for (total, count) in self.retries.iter_mut().zip(&counts.retries) {
            *total += count.load(Relaxed);
        }
        for (total, count) in self.stops.iter_mut().zip(&counts.stops) {
            *total += count.load(Relaxed);
        }
    }

    pub(crate) fn retries(&self) -> impl Iterator<Item = (RetryKind, u64)> {
        RetryKind::ALL.into_iter().zip(self.retries)
    }

    /// Calls that stopped though a retry was wanted.
    pub(crate) fn stops(&self) -> impl Iterator<Item = (StopReason, u64)> {
        StopReason::ALL.into_iter().zip(self.stops).filter(|(reason, _)| *reason != StopReason::NotRetryable)
    }

    /// Calls whose failure isn't worth a retry.
    pub(crate) fn failed(&self) -> u64 {
        self.stops[StopReason::NotRetryable as usize]
    }

    pub(crate) fn denied(&self) -> u64 {
        self.stops[StopReason::BudgetEmpty as usize]
    }
}

/// All there is.
pub(crate) fn totals() -> HashMap<(&'static str, &'static str), Totals> {
    let mut totals: HashMap<_, Totals> = HashMap::new();
    for (call, budget, counts) in COUNTS.iter() {
        totals.entry((call, budget)).or_default().add(counts);
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_reasons_stand_at_their_numbers() {
        for (at, kind) in RetryKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at);
        }
        for (at, reason) in StopReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, at);
        }
    }

    #[test]
    fn no_thread_loses_a_count() {
        let threads = 3 * STRIPES;
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| (0..1_000).for_each(|_| succeeded("counts::tests", "partner", 1)));
            }
        });
        assert_eq!(totals()[&("counts::tests", "partner")].ok, 24_000);
    }
}
