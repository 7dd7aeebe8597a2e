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

/// From here on a number of active calls is one below zero: somebody is ending a call that never began.
const BELOW_ZERO: u32 = 1 << 31;

impl Taken {
    // The upper and the lower half: truncation is what they are for.
    #[allow(clippy::cast_possible_truncation)]
    const fn of(word: u64) -> Self {
        let active = (word >> 32) as u32;
        Self { active: if active < BELOW_ZERO { active } else { 0 }, retries: word as u32 }
    }
}

impl Places {
    pub(crate) const fn new(word: AtomicU64) -> Self {
        Self(word)
    }

    /// A call begins. (Two billion at a time would look like none, and leave the retries alone.)
    #[inline]
    pub(crate) fn enter(&self) {
        self.0.fetch_add(ONE_CALL, Relaxed);
    }

    /// A call ends: one unconditional step, which callers on other cores can't make fail. One that never began is put
    /// right at once; until then others see a call fewer than there are, never more.
    #[inline]
    pub(crate) fn leave(&self) {
        if Taken::of(self.0.fetch_sub(ONE_CALL, Relaxed)).active == 0 {
            self.enter();
        }
    }

    /// Takes a place for a retry if `allows` says so of what is in progress.
    pub(crate) fn take(&self, allows: impl Fn(Taken) -> bool) -> bool {
        self.change_retries(|taken| if allows(taken) { taken.retries.checked_add(1) } else { None })
    }

    /// A retry is over, or was never sent. One that was never granted changes nothing when no other is in progress.
    pub(crate) fn give_back(&self) {
        self.change_retries(|taken| taken.retries.checked_sub(1));
    }

    /// Nothing is in progress any more.
    #[cfg(feature = "test-util")]
    pub(crate) fn clear(&self) {
        self.0.store(0, Relaxed);
    }

    pub(crate) fn taken(&self) -> Taken {
        Taken::of(self.0.load(Relaxed))
    }

    /// One atomic step to another number of retries; false when there is none to take.
    fn change_retries(&self, next: impl Fn(Taken) -> Option<u32>) -> bool {
        let mut word = self.0.load(Relaxed);
        loop {
            let Some(retries) = next(Taken::of(word)) else { return false };
            let changed = word >> 32 << 32 | u64::from(retries);
            match self.0.compare_exchange_weak(word, changed, Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(other) => word = other,
            }
        }
    }
}
