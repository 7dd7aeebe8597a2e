//! The bucket: capacity and level in one word.

use crate::sync::{AtomicU64, Ordering::Relaxed};

/// `capacity: 32 | available: 32`. They share a word so that one load tells whether the bucket is full.
///
/// Nothing else is published through the word, so every access is relaxed: the compare-exchange alone makes each step
/// atomic.
#[derive(Debug)]
pub(crate) struct Bucket(AtomicU64);

impl Bucket {
    pub(crate) const fn word(capacity: u32, available: u32) -> u64 {
        (capacity as u64) << 32 | available as u64
    }

    // The upper and the lower half: truncation is what they are for.
    #[allow(clippy::cast_possible_truncation)]
    const fn parts(word: u64) -> (u32, u32) {
        ((word >> 32) as u32, word as u32)
    }

    pub(crate) const fn new(word: AtomicU64) -> Self {
        Self(word)
    }

    /// Takes `cost` tokens, or nothing when there are fewer.
    pub(crate) fn take(&self, cost: u32) -> bool {
        self.step(|capacity, available| Some((capacity, available.checked_sub(cost)?)))
    }

    /// Puts tokens back, as many as fit. A full bucket isn't written to.
    #[inline]
    pub(crate) fn give(&self, tokens: u32) {
        let (capacity, available) = self.halves();
        if available < capacity {
            self.give_some(tokens);
        }
    }

    #[cold]
    fn give_some(&self, tokens: u32) {
        self.step(|capacity, available| {
            let filled = available.saturating_add(tokens).min(capacity);
            (filled != available).then_some((capacity, filled))
        });
    }

    /// Tokens available, and capacity.
    pub(crate) fn level(&self) -> (u32, u32) {
        let (capacity, available) = self.halves();
        (available, capacity)
    }

    #[inline]
    fn halves(&self) -> (u32, u32) {
        Self::parts(self.0.load(Relaxed))
    }

    /// One atomic step from a state to the next; false when there is none to take.
    fn step(&self, next: impl Fn(u32, u32) -> Option<(u32, u32)>) -> bool {
        let mut word = self.0.load(Relaxed);
        loop {
            let (capacity, available) = Self::parts(word);
            let Some((capacity, available)) = next(capacity, available) else { return false };
            match self.0.compare_exchange_weak(word, Self::word(capacity, available), Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(changed) => word = changed,
            }
        }
    }
}
