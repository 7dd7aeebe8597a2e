//! The bucket: capacity and level in one word. What one unit of it is, is for the budgets that have one to say.

use crate::sync::{AtomicU64, Ordering::Relaxed};

/// `missing: 32 | capacity: 32`. They share a word so that one load tells whether the bucket is full; what is missing is
/// held instead of what is there, so that full is zero.
///
/// A gain may come to lie above capacity; what is missing is below zero then, and whoever next gives something puts it
/// right.
///
/// Nothing else is published through the word, so every access is relaxed: each step is one atomic operation.
#[derive(Debug)]
pub(crate) struct Bucket(AtomicU64);

const ONE_MISSING: u64 = 1 << 32;
/// More than any bucket can miss. Above it what is missing is below zero.
const NOT_DRAWN: u32 = 0xF000_0000;

/// A gain up to here is added in one unconditional step. It takes two thousand threads, all stopped between the look and
/// the step, for what is missing to be taken for much.
const SMALL_GAIN: u32 = 1 << 17;

impl Bucket {
    /// A level that no bucket has: it is drawn at first use.
    pub(crate) const NOT_DRAWN: u32 = u32::MAX;

    /// A capacity below `0xF000_0000`, and no more available than that.
    pub(crate) const fn word(capacity: u32, available: u32) -> u64 {
        let missing = if available == Self::NOT_DRAWN { NOT_DRAWN } else { capacity - available };
        (missing as u64) << 32 | capacity as u64
    }

    /// Capacity and what of it is available.
    #[allow(clippy::cast_possible_truncation)] // the lower half is what it is for
    const fn state(word: u64) -> (u32, u32) {
        let (missing, capacity) = ((word >> 32) as u32, word as u32);
        let available = match missing {
            0..NOT_DRAWN => capacity - missing,
            NOT_DRAWN => Self::NOT_DRAWN,
            _ => capacity,
        };
        (capacity, available)
    }

    pub(crate) const fn new(word: AtomicU64) -> Self {
        Self(word)
    }

    /// The same bucket, with something in it: the first use of one whose level isn't drawn yet draws it.
    #[inline]
    pub(crate) fn drawn(&self, draw: impl Fn() -> u32) -> &Self {
        if self.missing() == u64::from(NOT_DRAWN) {
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
        if self.missing() != 0 {
            self.give_some(gain());
        }
    }

    #[inline]
    fn missing(&self) -> u64 {
        self.0.load(Relaxed) >> 32
    }

    /// A small gain may come to lie above capacity, where it is nobody's: that is as if it had been cut, and callers on
    /// other cores can't make the step fail.
    #[cold]
    fn give_some(&self, gain: u32) {
        if gain <= SMALL_GAIN && self.missing() < u64::from(NOT_DRAWN) {
            self.0.fetch_sub(u64::from(gain) * ONE_MISSING, Relaxed);
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
