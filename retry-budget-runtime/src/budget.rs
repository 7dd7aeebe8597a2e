//! What a budget is: the life of a call, seen from the budget.

mod bucket;
mod change;
mod concurrency;
mod credit;
mod forward;
mod grpc;
mod limitless;
pub(crate) mod ratio;
pub(crate) mod settings;
mod share;
mod tally;
mod token;

use crate::{BudgetSettings, Time};

pub use concurrency::{ConcurrencyBudget, ConcurrencyBudgetBuilder};
pub use credit::{CreditBudget, CreditBudgetBuilder};
pub use grpc::{GrpcBudget, GrpcBudgetBuilder};
pub use limitless::{NEVER, Never, UNLIMITED, Unlimited};
pub use ratio::{RatioBudget, RatioBudgetBuilder};
pub use settings::SettingsError;
pub use token::{TokenBudget, TokenBudgetBuilder};

/// Limits the retries of all calls that share it.
///
/// The methods follow the life of a call. A **call** is one invocation, its first attempt and its retries; an
/// **attempt** is one run of the body. For every call a budget sees, in this order:
///
/// 1. [`begin`](Self::begin), once;
/// 2. for every failed attempt either [`try_retry`](Self::try_retry), when everything else allows a retry, or
///    [`final_failure`](Self::final_failure), when something doesn't;
/// 3. for every [`Grant`] exactly one [`settle`](Self::settle), before the next ask;
/// 4. [`end`](Self::end), once, also when the call's future is dropped.
///
/// A budget never blocks, delays or fails a first attempt. All methods must be callable from many threads at once and
/// never panic; `settle` and `end` are called from `Drop`.
///
/// # A budget of your own
///
/// A budget that allows a fixed number of retries over its whole life, for a one-off migration:
///
/// ```
/// use retry_budget_runtime::{Budget, Fate, Grant, RetryKind, Snapshot, Time};
/// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
///
/// pub struct Total {
///     left: AtomicU32,
///     limit: u32,
/// }
///
/// impl Budget for Total {
///     fn name(&self) -> &str {
///         "migration"
///     }
///     fn try_retry(&self, _kind: RetryKind, _now: Time) -> Option<Grant> {
///         self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).ok()?;
///         Some(Grant::new(1))
///     }
///     fn settle(&self, _grant: Grant, fate: Fate) {
///         if fate == Fate::NotSent {
///             // the retry never happened, so it costs nothing
///             let _ = self.left.fetch_update(Relaxed, Relaxed, |left| (left < self.limit).then_some(left + 1));
///         }
///     }
///     fn snapshot(&self, _now: Time) -> Snapshot {
///         Snapshot::new("migration", "total").level(self.left.load(Relaxed).into(), self.limit.into())
///     }
/// }
/// ```
///
/// With the feature `test-util`, `test_util::check_laws(|| …)` checks in a test that it keeps the laws that all budgets
/// keep, under threads too.
pub trait Budget: Send + Sync {
    /// The name under which operators see this budget.
    fn name(&self) -> &str;

    /// Whether [`begin`](Self::begin) needs the time. If not, it gets [`Time::ZERO`], and a call whose first attempt
    /// succeeds reads no clock.
    fn reads_clock(&self) -> bool {
        false
    }

    /// A call's first attempt starts. Called once a call.
    fn begin(&self, _now: Time) {}

    /// An attempt failed in a way that is worth a retry, and attempts and time are left: may it be retried? The
    /// decision and what it takes from the budget are one atomic step.
    fn try_retry(&self, kind: RetryKind, now: Time) -> Option<Grant>;

    /// An attempt failed and no retry is asked for: the failure isn't worth one (`None`), or it is and something else
    /// than the budget stops the call.
    fn final_failure(&self, _kind: Option<RetryKind>) {}

    /// What became of a granted retry. Called once a grant.
    fn settle(&self, _grant: Grant, _fate: Fate) {}

    /// The call is over. Called once a call.
    fn end(&self, _end: CallEnd) {}

    /// The state of the budget, for people and dashboards.
    fn snapshot(&self, now: Time) -> Snapshot;

    /// Changes the limits while the budget is in use: what [`configure`](crate::configure()) does to a budget whose name
    /// it has settings for. It registers no budget and configures none itself.
    ///
    /// All of the settings hold from the next decision on, or none. A bucket stays filled to the same fraction; what is
    /// counted stays counted.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range or belongs to another kind of budget; for a budget that says nothing of it,
    /// always.
    fn configure(&self, _settings: &BudgetSettings) -> Result<(), SettingsError> {
        Err(SettingsError::new("this budget's limits can't be changed while it runs"))
    }

    /// Where the budget itself lies, behind whatever pointers: so the registry tells two from one.
    #[doc(hidden)]
    fn place(&self) -> usize {
        std::ptr::from_ref(self).cast::<()>().addr()
    }
}

/// Why a failure is worth a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RetryKind {
    /// Something went wrong that may well go right next time: a lost connection, a timeout, a 503.
    Transient,
    /// The other side said that it gets too much: a 429, `RESOURCE_EXHAUSTED`, `SlowDown`.
    Throttling,
}

impl RetryKind {
    /// Each of them, in the order of their numbers.
    #[cfg(feature = "metrics")]
    pub(crate) const ALL: [Self; 2] = [Self::Transient, Self::Throttling];

    /// The kind's name in lower case, as labels and logs show it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Throttling => "throttling",
        }
    }
}

impl std::fmt::Display for RetryKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Leave for one retry, and what it cost.
///
/// It travels with the call and comes back to its budget in [`Budget::settle`], which consumes it: a grant can't be
/// settled twice.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a grant that isn't settled is never refunded"]
pub struct Grant(Parts);

#[derive(Debug, PartialEq, Eq)]
enum Parts {
    One {
        cost: u32,
        slot: u64,
    },
    /// A budget that is made of several is rare: the grants of the others are no larger for it.
    Two(Box<(Grant, Grant)>),
}

impl Grant {
    /// A grant that cost this much, in the budget's own unit.
    pub const fn new(cost: u32) -> Self {
        Self(Parts::One { cost, slot: 0 })
    }

    /// The same grant, marked with the period of time it was counted in, for budgets that count by time.
    pub const fn in_slot(mut self, slot: u64) -> Self {
        self.mark(slot);
        self
    }

    const fn mark(&mut self, new: u64) {
        match &mut self.0 {
            Parts::One { slot, .. } => *slot = new,
            Parts::Two(parts) => parts.0.mark(new),
        }
    }

    /// This grant and another budget's in one, for a budget that is made of two: it shows this one's cost and slot, and
    /// [`split`](Self::split) gives both back. Allocates.
    ///
    /// ```
    /// use retry_budget_runtime::Grant;
    ///
    /// let both = Grant::new(14).and(Grant::new(1).in_slot(7));
    /// assert_eq!((both.cost(), both.slot()), (14, 0));
    /// assert_eq!(both.split(), (Grant::new(14), Some(Grant::new(1).in_slot(7))));
    /// ```
    pub fn and(self, other: Self) -> Self {
        Self(Parts::Two(Box::new((self, other))))
    }

    /// The two grants that were put together by [`and`](Self::and), or this one alone.
    pub fn split(self) -> (Self, Option<Self>) {
        match self.0 {
            Parts::Two(parts) => (parts.0, Some(parts.1)),
            one @ Parts::One { .. } => (Self(one), None),
        }
    }

    /// What the grant cost.
    pub const fn cost(&self) -> u32 {
        match &self.0 {
            Parts::One { cost, .. } => *cost,
            Parts::Two(parts) => parts.0.cost(),
        }
    }

    /// The mark given by [`in_slot`](Self::in_slot), 0 without one.
    pub const fn slot(&self) -> u64 {
        match &self.0 {
            Parts::One { slot, .. } => *slot,
            Parts::Two(parts) => parts.0.slot(),
        }
    }
}

/// What became of a granted retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fate {
    /// It was sent and succeeded.
    Succeeded,
    /// It was sent and failed.
    Failed,
    /// The call was dropped while it waited for the retry: nothing was sent.
    NotSent,
    /// The call was dropped during the retry: the load was real, the outcome isn't known.
    Dropped,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallEnd {
    /// Its first attempt succeeded.
    FirstTry,
    /// It succeeded after at least one retry.
    AfterRetry,
    /// Its last attempt failed.
    Failed,
    /// Its future was dropped before it was done, or its body panicked.
    Dropped,
}

/// The state of a budget at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The budget's name.
    pub name: String,
    /// The kind of budget: `"token"`, `"ratio"`, `"credit"`, `"concurrency"`, `"grpc"`, or what a budget of your own
    /// calls itself.
    pub kind: &'static str,
    /// What is left, in the budget's own unit: tokens for a token budget, retries in this window for a ratio budget,
    /// retries at this moment for a concurrency budget, millionths of a retry for a credit budget, thousandths of a
    /// token for a gRPC budget.
    pub available: u64,
    /// What there is when nothing has been spent, in the same unit.
    pub limit: u64,
    /// The calls that the limit is made of, where the budget counts them: first attempts in the window of a ratio
    /// budget, calls in progress for a concurrency budget.
    pub requests: Option<u64>,
    /// Retries granted since the start of the process.
    pub granted: u64,
    /// Retries denied since the start of the process.
    pub denied: u64,
}

impl Snapshot {
    /// A snapshot in which everything else is zero.
    pub fn new(name: impl Into<String>, kind: &'static str) -> Self {
        Self { name: name.into(), kind, available: 0, limit: 0, requests: None, granted: 0, denied: 0 }
    }

    /// Sets what is left and what there is at most.
    #[must_use]
    pub fn level(mut self, available: u64, limit: u64) -> Self {
        self.available = available;
        self.limit = limit;
        self
    }

    /// Sets the number of calls that the limit is made of.
    #[must_use]
    pub fn requests(mut self, requests: u64) -> Self {
        self.requests = Some(requests);
        self
    }

    /// Sets how many retries were granted and denied.
    #[must_use]
    pub fn decided(mut self, granted: u64, denied: u64) -> Self {
        self.granted = granted;
        self.denied = denied;
        self
    }
}
