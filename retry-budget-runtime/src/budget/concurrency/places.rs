//! Calls and retries in progress, in one word.

use crate::sync::{AtomicU64, Ordering::Relaxed};

/// `active: 32 | retries: 32`. They share a word so that the pair is never torn: a grant holds for the very number of
/// calls that it was decided on.
///
/// Nothing else is published through the word, so every access is relaxed: each step is one atomic operation.
#[derive(Debug)]
pub(crate) struct Places(AtomicU64);

/// What is in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) active: u32,
    pub(crate) retries: u32,
}

const ONE_CALL: u64 = 1 << 32;

impl Taken {
    // The upper and the lower half: truncation is what they are for.
    #[allow(clippy::cast_possible_truncation)]
    const fn of(word: u64) -> Self {
        Self { active: (word >> 32) as u32, retries: word as u32 }
    }

    const fn word(self) -> u64 {
        (self.active as u64) << 32 | self.retries as u64
    }
}

impl Places {
    pub(crate) const fn new(word: AtomicU64) -> Self {
        Self(word)
    }

    /// A call begins. (Four billion at a time would wrap to none, and leave the retries alone.)
    #[inline]
    pub(crate) fn enter(&self) {
        self.0.fetch_add(ONE_CALL, Relaxed);
    }

    /// A call ends. One that never began changes nothing when no other is active.
    #[inline]
    pub(crate) fn leave(&self) {
        self.step(|taken| Some(Taken { active: taken.active.checked_sub(1)?, ..taken }));
    }

    /// Takes a place for a retry if `allows` says so of what is in progress.
    pub(crate) fn take(&self, allows: impl Fn(Taken) -> bool) -> bool {
        self.step(|taken| allows(taken).then_some(Taken { retries: taken.retries.checked_add(1)?, ..taken }))
    }

    /// A retry is over, or was never sent. One that was never granted changes nothing when no other is in progress.
    pub(crate) fn give_back(&self) {
        self.step(|taken| Some(Taken { retries: taken.retries.checked_sub(1)?, ..taken }));
    }

    /// Nothing is in progress any more.
    #[cfg(feature = "test-util")]
    pub(crate) fn clear(&self) {
        self.0.store(0, Relaxed);
    }

    pub(crate) fn taken(&self) -> Taken {
        Taken::of(self.0.load(Relaxed))
    }

    /// One atomic step from a state to the next; false when there is none to take.
    #[inline]
    fn step(&self, next: impl Fn(Taken) -> Option<Taken>) -> bool {
        let mut word = self.0.load(Relaxed);
        loop {
            let Some(next) = next(Taken::of(word)) else { return false };
            match self.0.compare_exchange_weak(word, next.word(), Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(changed) => word = changed,
            }
        }
    }
}
