//! The bucket: capacity and level in one word. What one unit of it is, is for the budgets that have one to say.

use crate::sync::{AtomicU64, Ordering::Relaxed};

/// `capacity: 32 | available: 32`. They share a word so that one load tells whether the bucket is full.
///
/// Nothing else is published through the word, so every access is relaxed: the compare-exchange alone makes each step
/// atomic.
#[derive(Debug)]
pub(crate) struct Bucket(AtomicU64);

/// A gain up to here is added in one unconditional step. It takes sixteen thousand threads, all stopped between the look
/// and the step, for the sum to leave its half of the word.
const SMALL_GAIN: u32 = 1 << 17;

impl Bucket {
    /// A level that no bucket has: it is drawn at first use.
    pub(crate) const NOT_DRAWN: u32 = u32::MAX;

    pub(crate) const fn word(capacity: u32, available: u32) -> u64 {
        (capacity as u64) << 32 | available as u64
    }

    // The upper and the lower half: truncation is what they are for.
    #[allow(clippy::cast_possible_truncation)]
    const fn parts(word: u64) -> (u32, u32) {
        ((word >> 32) as u32, word as u32)
    }

    /// Capacity and what of it is available: what was given beyond capacity is nobody's.
    const fn state(word: u64) -> (u32, u32) {
        let (capacity, available) = Self::parts(word);
        (capacity, if available > capacity && available != Self::NOT_DRAWN { capacity } else { available })
    }

    pub(crate) const fn new(word: AtomicU64) -> Self {
        Self(word)
    }

    /// The same bucket, with something in it: the first use of one whose level isn't drawn yet draws it.
    #[inline]
    pub(crate) fn drawn(&self, draw: impl Fn() -> u32) -> &Self {
        if self.halves().1 == Self::NOT_DRAWN {
            self.fill_once(draw());
        }
        self
    }

    #[cold]
    fn fill_once(&self, level: u32) {
        self.step(|capacity, available| (available == Self::NOT_DRAWN).then_some((capacity, level.min(capacity))));
    }

    /// Takes `cost`, or nothing when there is less.
    pub(crate) fn take(&self, cost: u32) -> bool {
        self.step(|capacity, available| Some((capacity, available.checked_sub(cost)?))).is_some()
    }

    /// Takes `loss`, or what there is of it; whether what this very step left is more than half of the capacity.
    pub(crate) fn lose(&self, loss: u32) -> bool {
        let left = self.step(|capacity, available| Some((capacity, available.saturating_sub(loss))));
        left.is_some_and(|(capacity, available)| available > capacity / 2)
    }

    /// Puts back as much as fits. A full bucket isn't written to, and doesn't even ask for the gain.
    #[inline]
    pub(crate) fn give(&self, gain: impl FnOnce() -> u32) {
        let (capacity, available) = self.halves();
        if available < capacity {
            self.give_some(gain());
        }
    }

    /// A small gain may come to lie above capacity, where it is nobody's: that is as if it had been cut, and callers on
    /// other cores can't make the step fail.
    #[cold]
    fn give_some(&self, gain: u32) {
        if gain <= SMALL_GAIN {
            self.0.fetch_add(gain.into(), Relaxed);
        } else {
            self.step(|capacity, available| Some((capacity, available.saturating_add(gain).min(capacity))));
        }
    }

    /// Another capacity, filled to the same fraction, rounded down. A level that isn't drawn yet stays so.
    pub(crate) fn resize(&self, new: u32) {
        self.step(|capacity, available| {
            if available == Self::NOT_DRAWN {
                return Some((new, available));
            }
            // At most `new`, since no more is available than fits.
            #[allow(clippy::cast_possible_truncation)]
            let level = (u64::from(available) * u64::from(new) / u64::from(capacity)) as u32;
            Some((new, level))
        });
    }

    /// Holds what another one holds.
    #[cfg(feature = "test-util")]
    pub(crate) fn set_to(&self, other: &Self) {
        self.0.store(other.0.load(Relaxed), Relaxed);
    }

    /// What is available, and capacity.
    pub(crate) fn level(&self) -> (u32, u32) {
        let (capacity, available) = Self::state(self.0.load(Relaxed));
        (available, capacity)
    }

    #[inline]
    fn halves(&self) -> (u32, u32) {
        Self::parts(self.0.load(Relaxed))
    }

    /// One atomic step to the next state, which it gives; nothing when there is none to take.
    fn step(&self, next: impl Fn(u32, u32) -> Option<(u32, u32)>) -> Option<(u32, u32)> {
        let mut word = self.0.load(Relaxed);
        loop {
            let (capacity, available) = Self::state(word);
            let state = next(capacity, available)?;
            let next = Self::word(state.0, state.1);
            if next == word {
                return Some(state);
            }
            match self.0.compare_exchange_weak(word, next, Relaxed, Relaxed) {
                Ok(_) => return Some(state),
                Err(changed) => word = changed,
            }
        }
    }
}
