//! The keys and their budgets: found without waiting for other keys, never more than there may be.

use super::entry::Keyed;
use crate::{Budget, Time};
use dashmap::DashMap;
use std::borrow::Borrow;
use std::collections::VecDeque;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many keys a new one looks at, in a full map, for one that may go.
const CANDIDATES: usize = 8;

/// A key that is there is found under the read lock of its shard. What changes which keys there are happens under the
/// lock of `turn`, one after the other, so the map is never over its limit and no key is in it twice.
///
/// A budget leaves the map only under the write lock of its shard, and only while there is no handle to it. New handles
/// are made under that shard's lock, so none can come up in between.
pub(super) struct Keys<K, B> {
    budgets: DashMap<K, Keyed<B>>,
    /// All the keys, the next to be looked at first.
    turn: Mutex<VecDeque<K>>,
    limit: usize,
    evicted: AtomicU64,
}

/// Where a key stands that wasn't found at first.
pub(super) enum Room<B> {
    /// Somebody else has just brought it.
    Taken(Keyed<B>),
    Free,
    None,
}

/// What left the map: dropped when no lock is held any more.
type Evicted<K, B> = Option<(K, Keyed<B>)>;

impl<K: Eq + Hash, B: Budget> Keys<K, B> {
    pub(super) fn new(limit: usize) -> Self {
        Self { budgets: DashMap::new(), turn: Mutex::default(), limit, evicted: AtomicU64::new(0) }
    }

    #[inline]
    pub(super) fn find<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<Keyed<B>>
    where
        K: Borrow<Q>,
    {
        self.budgets.get(key).map(|found| found.value().clone())
    }

    /// Whether a new key could come in; makes room for it if need be.
    pub(super) fn room_for<Q: Eq + Hash + ?Sized>(&self, key: &Q, clock: fn() -> Time) -> Room<B>
    where
        K: Borrow<Q>,
    {
        let mut turn = self.turn();
        let (room, evicted) = self.look(key, &mut turn, clock);
        drop(turn);
        drop(evicted);
        room
    }

    /// Brings a key in, with the budget made for it. It gets the one that is there if somebody was faster, and none if
    /// there is no room after all.
    pub(super) fn bring(&self, key: K, made: Keyed<B>, clock: fn() -> Time) -> Option<Keyed<B>>
    where
        K: Clone,
    {
        let mut turn = self.turn();
        let (room, evicted) = self.look(&key, &mut turn, clock);
        if let Room::Free = room {
            self.budgets.insert(key.clone(), made.clone());
            turn.push_back(key);
        }
        drop(turn);
        drop(evicted);
        match room {
            Room::Taken(found) => Some(found),
            Room::Free => Some(made),
            Room::None => None,
        }
    }

    fn look<Q: Eq + Hash + ?Sized>(
        &self,
        key: &Q,
        turn: &mut VecDeque<K>,
        clock: fn() -> Time,
    ) -> (Room<B>, Evicted<K, B>)
    where
        K: Borrow<Q>,
    {
        if let Some(found) = self.find(key) {
            return (Room::Taken(found), None);
        }
        if turn.len() < self.limit {
            return (Room::Free, None);
        }
        match self.evict(turn, clock()) {
            Some(evicted) => (Room::Free, Some(evicted)),
            None => (Room::None, None),
        }
    }

    /// Takes out the first of a few keys that may go. Those that may not go to the end of the row.
    fn evict(&self, turn: &mut VecDeque<K>, now: Time) -> Evicted<K, B> {
        for _ in 0..CANDIDATES.min(turn.len()) {
            let evicted = self.budgets.remove_if_mut(turn.front()?, |_, keyed| keyed.is_spare(now));
            if evicted.is_some() {
                turn.pop_front();
                self.evicted.fetch_add(1, Relaxed);
                return evicted;
            }
            turn.rotate_left(1);
        }
        None
    }

    /// Calls that with each key and its budget. Waits for no call; keys that come or go meanwhile may be missing.
    pub(super) fn each(&self, mut look: impl FnMut(&K, &Keyed<B>)) {
        self.budgets.iter().for_each(|entry| look(entry.key(), entry.value()));
    }

    pub(super) fn count(&self) -> usize {
        self.turn().len()
    }

    pub(super) fn evicted(&self) -> u64 {
        self.evicted.load(Relaxed)
    }

    /// A panic of somebody's `Hash` or `Eq` leaves the row as it was.
    fn turn(&self) -> MutexGuard<'_, VecDeque<K>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
