//! A key's budget, and the handle through which calls use it.

use super::parent::Parent;
use crate::{Budget, CallEnd, Fate, Grant, RetryKind, Snapshot, Time};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The budget of one key of a [`BudgetMap`](super::BudgetMap), as [`get`](super::BudgetMap::get) gives it.
///
/// It holds the budget and nothing of the map: no lock, no guard, no borrow. So it is `Send` and `Sync` where the budget
/// is, it may live across awaits, and as long as it or a clone of it lives, the map keeps the budget for its key.
///
/// With a parent, a retry is granted by both or by none; everything else that happens to a call is told to both. A
/// [`snapshot`](Budget::snapshot) is that of the key's own budget, under the name that [`name`](Budget::name) gives.
pub struct Keyed<B>(Arc<Entry<B>>);

struct Entry<B> {
    budget: B,
    parent: Option<Parent>,
    name: Cow<'static, str>,
    is_overflow: bool,
}

impl<B: Budget> Keyed<B> {
    pub(super) fn new(budget: B, parent: Option<Parent>, name: Cow<'static, str>, is_overflow: bool) -> Self {
        Self(Arc::new(Entry { budget, parent, name, is_overflow }))
    }

    /// The key's own budget, without the parent.
    pub fn budget(&self) -> &B {
        &self.0.budget
    }

    /// Whether this is the budget that serves all keys that found the map full.
    pub fn is_overflow(&self) -> bool {
        self.0.is_overflow
    }

    /// Whether the map's handle is the only one, and a new budget in this one's place would grant no more.
    ///
    /// `get_mut` is the proof: it sees all that was done through handles that are gone, and while the map holds on to
    /// `&mut self` nobody can get a new one.
    pub(super) fn is_spare(&mut self, now: Time) -> bool {
        Arc::get_mut(&mut self.0).is_some_and(|entry| is_full(&entry.budget, now))
    }
}

/// Nothing spent, nothing in progress, and no request that counts.
fn is_full(budget: &impl Budget, now: Time) -> bool {
    let snapshot = budget.snapshot(now);
    snapshot.available >= snapshot.limit && snapshot.requests.unwrap_or(0) == 0
}

impl<B: Budget> Budget for Keyed<B> {
    fn name(&self) -> &str {
        &self.0.name
    }

    #[inline]
    fn reads_clock(&self) -> bool {
        self.0.budget.reads_clock() || self.0.parent.as_ref().is_some_and(Parent::reads_clock)
    }

    #[inline]
    fn begin(&self, now: Time) {
        self.0.budget.begin(now);
        if let Some(parent) = &self.0.parent {
            parent.begin(now);
        }
    }

    /// The key's own first: what is taken and given back when the parent denies is missed by this key alone.
    fn try_retry(&self, kind: RetryKind, now: Time) -> Option<Grant> {
        let own = self.0.budget.try_retry(kind, now);
        let Some(parent) = &self.0.parent else { return own };
        let Some(own) = own else {
            parent.final_failure(Some(kind));
            return None;
        };
        if let Some(parents) = parent.try_retry(kind, now) {
            return Some(own.and(parents));
        }
        self.0.budget.settle(own, Fate::NotSent);
        None
    }

    fn final_failure(&self, kind: Option<RetryKind>) {
        self.0.budget.final_failure(kind);
        if let Some(parent) = &self.0.parent {
            parent.final_failure(kind);
        }
    }

    fn settle(&self, grant: Grant, fate: Fate) {
        let Some(parent) = &self.0.parent else { return self.0.budget.settle(grant, fate) };
        let (own, parents) = grant.split();
        self.0.budget.settle(own, fate);
        if let Some(parents) = parents {
            parent.settle(parents, fate);
        }
    }

    #[inline]
    fn end(&self, end: CallEnd) {
        self.0.budget.end(end);
        if let Some(parent) = &self.0.parent {
            parent.end(end);
        }
    }

    fn snapshot(&self, now: Time) -> Snapshot {
        Snapshot { name: self.0.name.clone().into_owned(), ..self.0.budget.snapshot(now) }
    }
}

impl<B> Clone for Keyed<B> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<B: fmt::Debug> fmt::Debug for Keyed<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed").field("name", &self.0.name).field("budget", &self.0.budget).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RatioBudget, TokenBudget};

    /// What `Arc` allocates: two counters beside the entry.
    const fn allocated<B>() -> usize {
        2 * size_of::<usize>() + size_of::<Entry<B>>()
    }

    #[test]
    fn a_budget_of_a_key_takes_less_than_a_kilobyte() {
        assert!(allocated::<TokenBudget>() <= 192, "{}", allocated::<TokenBudget>());
        assert!(allocated::<RatioBudget>() <= 600, "{}", allocated::<RatioBudget>());
        assert_eq!(size_of::<Keyed<RatioBudget>>(), size_of::<usize>(), "a handle is a pointer");
    }
}
