//! A share of the calls and a floor under it.

use super::settings::Millionths;
use crate::sync::{AtomicU64, Ordering::Relaxed};

/// `ratio in millionths: 32 | floor: 32`. They share a word so that a decision never sees the one of before a change
/// and the other of after it.
#[derive(Debug)]
pub(super) struct Share(AtomicU64);

impl Share {
    pub(super) const fn new(ratio: Millionths, floor: u32) -> Self {
        Self(AtomicU64::new((ratio.get() as u64) << 32 | floor as u64))
    }

    // The upper and the lower half: truncation is what they are for.
    #[allow(clippy::cast_possible_truncation)]
    pub(super) fn get(&self) -> (Millionths, u32) {
        let word = self.0.load(Relaxed);
        (Millionths::new((word >> 32) as u32), word as u32)
    }

    pub(super) fn set_to(&self, other: &Self) {
        self.0.store(other.0.load(Relaxed), Relaxed);
    }

    /// This share of `count`, rounded down, or the floor where that is more.
    pub(super) fn of(&self, count: u64) -> u64 {
        let (ratio, floor) = self.get();
        ratio.of(count).max(floor.into())
    }
}
