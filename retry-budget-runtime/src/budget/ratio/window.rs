//! A sliding window of requests and retries, exact at every grant, without a lock.
//!
//! Time is cut into slots, numbered from zero; the window is the newest slot and the nine before it.
//!
//! - `now` holds the newest slot that anybody has seen and the number of retries granted since the start. It moves only
//!   by compare-exchange, so a grant is one atomic step: what was read before it still holds when it succeeds.
//! - `starts` holds, for the last sixteen slots, what `now` was when the slot began. The retries of a window are the
//!   difference between the count now and the count at the window's start. Whoever first sees a new slot writes the
//!   missing entries and only then moves `now`; anybody can do it for anybody, so nobody waits.
//! - `requests` and `returned` count the first attempts and the retries given back, per slot. A slot that has left the
//!   window is never cleared: the cell's lap says whose count it holds, and the next user of the cell replaces it.
//!
//! A late writer can make a retry count longer, or a request shorter, than a patient observer would; never the other
//! way, so there is never a grant too many.

#[cfg(feature = "test-util")]
use crate::sync::Ordering::Release;
use crate::sync::{
    AtomicU64,
    Ordering::{AcqRel, Acquire},
};
use std::cmp::Ordering::{Equal, Greater, Less};

/// Slots in a window.
pub(crate) const SLOTS: u64 = 10;
/// Cells of one ring: a power of two above `SLOTS`.
const RING: u64 = 16;
pub(crate) type Ring = [AtomicU64; 16];
/// The newest slot there can be: 11 years of the shortest slots. Later times count into it.
const LAST_SLOT: u64 = (1 << 35) - 1;
/// Where a slot's count stops: far enough below 2³² that threads which all add one at the same time don't reach it.
const MOST_COUNTED: u64 = 1 << 31;
/// The most retries that can be told apart within a window.
const MOST_GRANTED: u64 = (1 << 29) - 1;

#[derive(Debug)]
pub(crate) struct Window {
    cells: Cells,
}

/// The words of a window, all zero at the start.
#[derive(Debug)]
pub(crate) struct Cells {
    pub(crate) now: AtomicU64,
    pub(crate) starts: Ring,
    pub(crate) requests: Ring,
    pub(crate) returned: Ring,
}

/// What a window holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) requests: u64,
    pub(crate) retries: u64,
}

/// `slot: 35 | granted: 29`, the latter wrapping.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Moment {
    slot: u64,
    granted: u64,
}

impl Moment {
    const fn of(word: u64) -> Self {
        Self { slot: word >> 29, granted: word & MOST_GRANTED }
    }

    const fn word(self) -> u64 {
        self.slot << 29 | self.granted
    }
}

impl Window {
    pub(crate) const fn new(cells: Cells) -> Self {
        Self { cells }
    }

    /// As new.
    #[cfg(feature = "test-util")]
    pub(crate) fn clear(&self) {
        let Cells { now, starts, requests, returned } = &self.cells;
        for cell in [starts, requests, returned].into_iter().flatten().chain([now]) {
            cell.store(0, Release);
        }
    }

    /// A first attempt began in this slot.
    #[inline]
    pub(crate) fn request(&self, slot: u64) {
        count(&self.cells.requests, self.move_to(slot).slot);
    }

    /// Grants a retry in this slot if `allows` says so of the window; gives the slot it was counted in.
    pub(crate) fn grant(&self, slot: u64, allows: impl Fn(Usage) -> bool) -> Option<u64> {
        loop {
            let now = self.move_to(slot);
            let Some(usage) = self.usage_between(first_slot(now.slot), now) else { continue };
            if usage.retries >= MOST_GRANTED || !allows(usage) {
                return None;
            }
            let next = Moment { slot: now.slot, granted: (now.granted + 1) & MOST_GRANTED };
            if self.cells.now.compare_exchange(now.word(), next.word(), AcqRel, Acquire).is_ok() {
                return Some(now.slot);
            }
        }
    }

    /// A retry granted in this slot was never sent.
    ///
    /// In no slot more is given back than was granted, whosever the grant is. When the slot has no more to give, either
    /// the grant isn't ours, or somebody moved on in the moment of the grant, so that it counts in a later slot.
    pub(crate) fn give_back(&self, mut slot: u64) {
        loop {
            let cell = cell(&self.cells.returned, slot);
            let word = cell.load(Acquire);
            // Read after the count: what others have given back is seen as granted.
            let Some(granted) = self.granted_in(slot, self.now()) else { return };
            let Some(next) = one_more(word, slot) else { return };
            if lap_and_count(next).1 > granted {
                slot += 1;
            } else if cell.compare_exchange_weak(word, next, AcqRel, Acquire).is_ok() {
                return;
            }
        }
    }

    /// Retries granted in one slot; nothing when it isn't in the window.
    fn granted_in(&self, slot: u64, now: Moment) -> Option<u64> {
        if slot > now.slot || slot < first_slot(now.slot) {
            return None;
        }
        let start_of = |slot| {
            let start = Moment::of(cell(&self.cells.starts, slot).load(Acquire));
            (start.slot == slot).then_some(start.granted)
        };
        let end = if slot == now.slot { now.granted } else { start_of(slot + 1)? };
        Some(end.wrapping_sub(start_of(slot)?) & MOST_GRANTED)
    }

    /// What the window that ends with this slot holds. Only looks: the window stays where it is.
    pub(crate) fn usage(&self, slot: u64) -> Usage {
        loop {
            let now = self.now();
            let last = slot.min(LAST_SLOT).max(now.slot);
            if first_slot(last) > now.slot {
                return Usage { requests: 0, retries: 0 };
            }
            if let Some(usage) = self.usage_between(first_slot(last), now) {
                return usage;
            }
        }
    }

    /// What the slots from this one to the newest hold; nothing when the window is moving on.
    fn usage_between(&self, first: u64, now: Moment) -> Option<Usage> {
        let start = Moment::of(cell(&self.cells.starts, first).load(Acquire));
        if start.slot != first {
            // Somebody has seen a slot sixteen ahead and is about to move there.
            self.move_to(start.slot);
            return None;
        }
        let sum = |ring| (first..=now.slot).map(|slot| counted(ring, slot)).sum::<u64>();
        let granted = granted_since(start, now);
        // When so many were granted that they can't be told apart, what was given back doesn't count.
        let given_back = if granted == MOST_GRANTED { 0 } else { sum(&self.cells.returned) };
        Some(Usage { requests: sum(&self.cells.requests), retries: granted.saturating_sub(given_back) })
    }

    #[inline]
    fn now(&self) -> Moment {
        Moment::of(self.cells.now.load(Acquire))
    }

    /// Makes this slot the newest, unless a newer one has been seen: a clock that goes back counts there.
    #[inline]
    fn move_to(&self, slot: u64) -> Moment {
        let now = self.now();
        if slot <= now.slot { now } else { self.move_on(slot.min(LAST_SLOT)) }
    }

    #[cold]
    fn move_on(&self, slot: u64) -> Moment {
        loop {
            let now = self.now();
            if slot <= now.slot {
                return now;
            }
            for new in first_slot(slot).max(now.slot + 1)..=slot {
                let start = Moment { slot: new, granted: now.granted };
                replace_older(cell(&self.cells.starts, new), start.word(), |word| Moment::of(word).slot < new);
            }
            let next = Moment { slot, granted: now.granted };
            // If it fails, somebody has moved on or granted a retry: look again.
            let _ = self.cells.now.compare_exchange(now.word(), next.word(), AcqRel, Acquire);
        }
    }
}

const fn first_slot(last: u64) -> u64 {
    last.saturating_sub(SLOTS - 1)
}

#[allow(clippy::cast_possible_truncation)] // below RING
fn cell(ring: &Ring, slot: u64) -> &AtomicU64 {
    &ring[(slot % RING) as usize]
}

const fn granted_since(start: Moment, now: Moment) -> u64 {
    now.granted.wrapping_sub(start.granted) & MOST_GRANTED
}

/// Adds one to a slot's count.
///
/// Where the cell is this slot's already, that is one unconditional increment: callers on other cores can't make it fail.
/// If the cell has gone to a later slot meanwhile, the request counts there. That is right too: this caller is still at it
/// then, and one who came then with the time of before would count there as well.
#[inline]
fn count(ring: &Ring, slot: u64) {
    let cell = cell(ring, slot);
    let mut word = cell.load(Acquire);
    loop {
        let (lap, count) = lap_and_count(word);
        if lap >= slot / RING {
            if count < MOST_COUNTED {
                cell.fetch_add(1, AcqRel);
            }
            return;
        }
        match cell.compare_exchange_weak(word, first_of(slot), AcqRel, Acquire) {
            Ok(_) => return,
            Err(changed) => word = changed,
        }
    }
}

/// What a cell holds when it has become this slot's, with one counted.
const fn first_of(slot: u64) -> u64 {
    ((slot / RING) << 32) | 1
}

/// What a cell holds when this slot has one more; nothing when the cell already belongs to a later slot.
fn one_more(word: u64, slot: u64) -> Option<u64> {
    let (held, count) = lap_and_count(word);
    let lap = slot / RING;
    match held.cmp(&lap) {
        Greater => None,
        Equal => Some(lap << 32 | (count + 1).min(MOST_COUNTED)),
        Less => Some(first_of(slot)),
    }
}

fn counted(ring: &Ring, slot: u64) -> u64 {
    let (lap, count) = lap_and_count(cell(ring, slot).load(Acquire));
    if lap == slot / RING { count } else { 0 }
}

/// `lap: 32 | count: 32`.
const fn lap_and_count(word: u64) -> (u64, u64) {
    (word >> 32, word & u32::MAX as u64)
}

fn replace_older(cell: &AtomicU64, new: u64, older: impl Fn(u64) -> bool) {
    let mut word = cell.load(Acquire);
    while older(word) {
        match cell.compare_exchange_weak(word, new, AcqRel, Acquire) {
            Ok(_) => return,
            Err(changed) => word = changed,
        }
    }
}
