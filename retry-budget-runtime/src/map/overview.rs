//! A map as operators see it.

use super::BudgetMap;
use crate::{Budget, Snapshot, Time};
use std::hash::Hash;

/// The state of a [`BudgetMap`] at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MapSnapshot {
    /// The map's name.
    pub name: &'static str,
    /// Keys that have a budget of their own.
    pub keys: usize,
    /// The most of them that there may be.
    pub max_keys: usize,
    /// Keys that had to go since the start of the process.
    pub evicted: u64,
    /// Calls that found the map full and were served by the overflow budget, since the start of the process. If it grows,
    /// `max_keys` is too small.
    pub overflowed: u64,
    /// The overflow budget, once it has served a call.
    pub overflow: Option<Snapshot>,
}

impl<K: Eq + Hash, B: Budget> BudgetMap<K, B> {
    /// The state of the map, for people and dashboards.
    pub fn snapshot(&self, now: Time) -> MapSnapshot {
        let (keys, evicted) = self.keys.get().map_or((0, 0), |keys| (keys.count(), keys.evicted()));
        MapSnapshot {
            name: self.settings.name,
            keys,
            max_keys: self.settings.max_keys,
            evicted,
            overflowed: self.overflowed(),
            overflow: self.overflow.get().map(|overflow| overflow.snapshot(now)),
        }
    }

    /// The keys that have the smallest part of their budgets left, the worst first, at most so many. Keys with a full
    /// budget aren't among them.
    ///
    /// Looks at every key, one part of the map after the other: for a dashboard, not for a call.
    pub fn most_spent(&self, count: usize, now: Time) -> Vec<(K, Snapshot)>
    where
        K: Clone,
    {
        let mut worst: Vec<(u128, K, Snapshot)> = Vec::new();
        if let Some(keys) = self.keys.get() {
            keys.each(|key, keyed| {
                let snapshot = keyed.snapshot(now);
                if snapshot.available < snapshot.limit {
                    let left = part_left(&snapshot);
                    let place = worst.partition_point(|(other, ..)| *other <= left);
                    if place < count {
                        worst.truncate(count - 1);
                        worst.insert(place, (left, key.clone(), snapshot));
                    }
                }
            });
        }
        worst.into_iter().map(|(_, key, snapshot)| (key, snapshot)).collect()
    }
}

/// What is left of the limit, as fine as the numbers are.
fn part_left(snapshot: &Snapshot) -> u128 {
    (u128::from(snapshot.available) << 64) / u128::from(snapshot.limit).max(1)
}
