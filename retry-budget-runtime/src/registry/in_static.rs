//! How the registry learns of a budget.

use super::add;
use crate::{Budget, BudgetSettings, CallEnd, Fate, Grant, RetryKind, SettingsError, Snapshot, Time};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether a place in the code has told the registry of its budget; a `static` of each such place.
#[derive(Debug, Default)]
pub struct Seen(AtomicBool);

impl Seen {
    /// Not yet.
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }
}

/// A budget that is a `static`: at the first failure the registry learns of it; with the feature `metrics` at the end of the
/// first call.
#[derive(Debug)]
pub struct InStatic<B: 'static> {
    budget: &'static B,
    seen: &'static Seen,
}

impl<B: Budget> InStatic<B> {
    /// A budget and the place at which it is used.
    #[inline]
    pub const fn new(budget: &'static B, seen: &'static Seen) -> Self {
        Self { budget, seen }
    }

    #[inline]
    fn note(&self) {
        if !self.seen.0.load(Relaxed) {
            self.note_first();
        }
    }

    #[cold]
    fn note_first(&self) {
        add(self.budget);
        self.seen.0.store(true, Relaxed);
    }
}

impl<B: Budget> Budget for InStatic<B> {
    #[inline]
    fn name(&self) -> &str {
        self.budget.name()
    }

    #[inline]
    fn reads_clock(&self) -> bool {
        self.budget.reads_clock()
    }

    #[inline]
    fn begin(&self, now: Time) {
        self.budget.begin(now);
    }

    fn try_retry(&self, kind: RetryKind, now: Time) -> Option<Grant> {
        self.note();
        self.budget.try_retry(kind, now)
    }

    fn final_failure(&self, kind: Option<RetryKind>) {
        self.note();
        self.budget.final_failure(kind);
    }

    #[inline]
    fn settle(&self, grant: Grant, fate: Fate) {
        self.budget.settle(grant, fate);
    }

    #[inline]
    fn end(&self, end: CallEnd) {
        // A dashboard shows a budget while all is well, too.
        #[cfg(feature = "metrics")]
        self.note();
        self.budget.end(end);
    }

    fn snapshot(&self, now: Time) -> Snapshot {
        self.budget.snapshot(now)
    }

    fn configure(&self, settings: &BudgetSettings) -> Result<(), SettingsError> {
        self.budget.configure(settings)
    }

    fn place(&self) -> usize {
        self.budget.place()
    }
}
