//! The settings of a map.

use super::parent::Parent;
use super::{BudgetMap, Make};
use crate::{Budget, SettingsError, Time};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

const MOST_KEYS: usize = 1 << 20;

/// Settings of a [`BudgetMap`].
#[must_use = "a builder does nothing until `build(…)`"]
pub struct BudgetMapBuilder<K, B> {
    pub(super) name: &'static str,
    pub(super) max_keys: usize,
    pub(super) name_of: Option<fn(&K) -> String>,
    pub(super) clock: fn() -> Time,
    parent: Option<&'static dyn Budget>,
    shared_parent: Option<Arc<dyn Budget>>,
    budgets: PhantomData<fn() -> B>,
}

impl<K, B> BudgetMapBuilder<K, B> {
    pub(super) const fn new(name: &'static str) -> Self {
        Self {
            name,
            max_keys: 1_024,
            name_of: None,
            clock: Time::now,
            parent: None,
            shared_parent: None,
            budgets: PhantomData,
        }
    }

    /// The most keys that have a budget of their own at a time: 1 to 1,048,576, 1,024 unless given. Those that find the
    /// map full share the overflow budget. Take a few times the number of keys that are in trouble at once.
    pub const fn max_keys(mut self, keys: usize) -> Self {
        self.max_keys = keys;
        self
    }

    /// A budget that bounds all keys together, those in the overflow included: a retry is granted by the key's budget and
    /// by this one, or not at all.
    pub const fn parent(mut self, parent: &'static dyn Budget) -> Self {
        self.parent = Some(parent);
        self
    }

    /// The same with a budget that is made at run time.
    pub fn shared_parent(mut self, parent: Arc<dyn Budget>) -> Self {
        self.shared_parent = Some(parent);
        self
    }

    /// Gives each key's budget a name of its own, made when the key is new: in errors, events and snapshots. Unless
    /// given, all have the name of the map.
    ///
    /// A metric with such a label has a series for each key that ever came: do it only where the keys are few and known.
    pub const fn name_keys(mut self, name_of: fn(&K) -> String) -> Self {
        self.name_of = Some(name_of);
        self
    }

    /// The clock that the calls are run by, [`Time::now`] unless given. It is read only when a new key finds the map full,
    /// to see which budgets are full by then. For calls with a timer of your own: its [`now`](crate::Timer::now).
    pub const fn clock(mut self, clock: fn() -> Time) -> Self {
        self.clock = clock;
        self
    }

    /// The map, for a `static`. `make` makes a key's budget, and for `None` the overflow budget.
    ///
    /// `make` is called without a lock held. When several calls bring the same new key at once, each makes a budget, and
    /// all use the one that came first. If it panics, the call that brought the key panics, and the map is as it was.
    ///
    /// A wrong setting of a `static` does not compile:
    ///
    /// ```compile_fail,E0080
    /// # use retry_budget_runtime::{BudgetMap, TokenBudget};
    /// static HOSTS: BudgetMap<String, TokenBudget> =
    ///     BudgetMap::builder("hosts").max_keys(0).build(|_| TokenBudget::builder("hosts").build());
    /// ```
    ///
    /// # Panics
    ///
    /// When a setting is out of its range. In a `static` that is a compile error at your line; for settings known only at
    /// run time use [`try_build`](Self::try_build).
    #[track_caller]
    pub const fn build(self, make: fn(Option<&K>) -> B) -> BudgetMap<K, B> {
        match self.check() {
            Ok(()) => BudgetMap::new(self, Make::Plain(make)),
            Err(error) => panic!("{}", error.problem()),
        }
    }

    /// The map, or what is wrong with its settings. `make` is what [`build`](Self::build) says, and may capture what it
    /// needs.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range.
    pub fn try_build(
        self,
        make: impl Fn(Option<&K>) -> B + Send + Sync + 'static,
    ) -> Result<BudgetMap<K, B>, SettingsError> {
        self.check()?;
        Ok(BudgetMap::new(self, Make::Boxed(Box::new(make))))
    }

    const fn check(&self) -> Result<(), SettingsError> {
        if self.max_keys == 0 || self.max_keys > MOST_KEYS {
            return Err(SettingsError::new("max_keys is 1 to 1048576 keys, 1024 unless given"));
        }
        if self.parent.is_some() && self.shared_parent.is_some() {
            return Err(SettingsError::new("parent and shared_parent are one setting: give one of them"));
        }
        Ok(())
    }

    pub(super) fn parent_of_all(&self) -> Option<Parent> {
        match (self.parent, &self.shared_parent) {
            (Some(parent), _) => Some(Parent::Static(parent)),
            (None, Some(parent)) => Some(Parent::Shared(Arc::clone(parent))),
            (None, None) => None,
        }
    }

    /// The name of a key's budget, or of the overflow budget.
    pub(super) fn name_for(&self, key: Option<&K>) -> Cow<'static, str> {
        match (self.name_of, key) {
            (Some(name_of), Some(key)) => Cow::Owned(name_of(key)),
            _ => Cow::Borrowed(self.name),
        }
    }
}

impl<K, B> fmt::Debug for BudgetMapBuilder<K, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BudgetMapBuilder")
            .field("name", &self.name)
            .field("max_keys", &self.max_keys)
            .finish_non_exhaustive()
    }
}
