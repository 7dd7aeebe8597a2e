//! What a budget decided, counted for its snapshot.

use crate::sync::{AtomicU64, Ordering::Relaxed};

#[derive(Debug)]
pub(super) struct Tally {
    granted: AtomicU64,
    denied: AtomicU64,
}

impl Tally {
    pub(super) const fn new() -> Self {
        Self { granted: AtomicU64::new(0), denied: AtomicU64::new(0) }
    }

    pub(super) fn count<T>(&self, decision: Option<T>) -> Option<T> {
        let counter = if decision.is_some() { &self.granted } else { &self.denied };
        counter.fetch_add(1, Relaxed);
        decision
    }

    #[cfg(feature = "test-util")]
    pub(super) fn reset(&self) {
        self.granted.store(0, Relaxed);
        self.denied.store(0, Relaxed);
    }

    pub(super) fn granted(&self) -> u64 {
        self.granted.load(Relaxed)
    }

    pub(super) fn denied(&self) -> u64 {
        self.denied.load(Relaxed)
    }
}
