//! Envoy's retry budget: retries in progress are a share of the calls in progress.

mod places;

use super::settings::{Millionths, SettingsError};
use super::share::Share;
use super::tally::Tally;
use super::{Budget, CallEnd, Fate, Grant, RetryKind, Snapshot};
use crate::sync::AtomicU64;
use crate::{BudgetSettings, Time};
use places::{Places, Taken};

/// At each moment, retries may be a share of the calls in progress.
///
/// `limit = max(min_retry_concurrency, ratio × active)`, rounded down, where the active calls are those between their
/// begin and their end, the one that asks included; a retry is granted while fewer retries are in progress. A grant
/// holds its place from the decision, through the wait, until the retried attempt has ended or the call is dropped.
///
/// Source: `retry_budget` of Envoy's [circuit breakers] (`budget_percent` 20, `min_retry_concurrency` 3). Envoy counts
/// streams, so that there a retry counts twice, and the request that has just failed doesn't count at all: with 100 % and
/// no floor it never retries a single request. This one does.
///
/// Take it where attempts last long or their number varies much: it bounds what the other side works on at the same time,
/// not how much it gets in a second. With short attempts and long waits a place is mostly held by the wait, so that it
/// grants less; with attempts that fail at once it grants the same place again and again, and a
/// [`RatioBudget`](crate::RatioBudget) is the better bound.
///
/// Every call counts at its begin and at its end: two atomic steps on a word that all callers share. No clock. A call
/// whose future is leaked (`std::mem::forget`) stays in progress.
///
/// ```
/// use retry_budget_runtime::ConcurrencyBudget;
///
/// pub static PARTNER: ConcurrencyBudget = ConcurrencyBudget::builder("partner").min_retry_concurrency(10).build();
/// ```
///
/// A wrong setting of a `static` does not compile:
///
/// ```compile_fail
/// # use retry_budget_runtime::ConcurrencyBudget;
/// static PARTNER: ConcurrencyBudget = ConcurrencyBudget::builder("partner").ratio(20.0).build();
/// ```
///
/// [circuit breakers]: https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/cluster/v3/circuit_breaker.proto
#[derive(Debug)]
pub struct ConcurrencyBudget {
    places: Places,
    share: Share,
    tally: Tally,
    name: &'static str,
    #[cfg(feature = "test-util")]
    built: ConcurrencyBudgetBuilder,
}

impl ConcurrencyBudget {
    /// Starts a budget with the default settings: ratio 0.2, at least 3 retries at a time.
    pub const fn builder(name: &'static str) -> ConcurrencyBudgetBuilder {
        ConcurrencyBudgetBuilder { name, ratio: 0.2, min_retry_concurrency: 3 }
    }

    /// Changes the limits while the budget is in use: `change` gets the present settings and gives those that are to
    /// hold from the next decision on.
    ///
    /// The calls and retries in progress stay as they are. What was granted before stays granted. `change` is called again when another thread has changed the
    /// limits meanwhile.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range; then nothing has changed.
    pub fn reconfigure(
        &self,
        change: impl FnMut(ConcurrencyBudgetBuilder) -> ConcurrencyBudgetBuilder,
    ) -> Result<(), SettingsError> {
        super::change::change(|| self.settings(), change, ConcurrencyBudgetBuilder::try_build, |new| self.limit_as(new))
    }

    /// Back to what it was when it was built: limits, fill and counts. For tests; no call of this budget should be in
    /// progress.
    #[cfg(feature = "test-util")]
    pub fn reset(&self) {
        let _turn = super::change::turn();
        let new = self.built.build();
        self.limit_as(&new);
        self.places.clear();
        self.tally.reset();
    }

    /// The present settings.
    fn settings(&self) -> ConcurrencyBudgetBuilder {
        let (ratio, min_retry_concurrency) = self.share.get();
        ConcurrencyBudgetBuilder { name: self.name, ratio: ratio.ratio(), min_retry_concurrency }
    }

    fn limit_as(&self, new: &Self) {
        self.share.set_to(&new.share);
    }
}

impl Budget for ConcurrencyBudget {
    fn name(&self) -> &str {
        self.name
    }

    #[inline]
    fn begin(&self, _now: Time) {
        self.places.enter();
    }

    fn try_retry(&self, _kind: RetryKind, _now: Time) -> Option<Grant> {
        let granted = self.places.take(|taken| u64::from(taken.retries) < self.share.of(taken.active.into()));
        self.tally.count(granted.then_some(Grant::new(1)))
    }

    fn settle(&self, _grant: Grant, _fate: Fate) {
        self.places.give_back();
    }

    #[inline]
    fn end(&self, _end: CallEnd) {
        self.places.leave();
    }

    fn snapshot(&self, _now: Time) -> Snapshot {
        let Taken { active, retries } = self.places.taken();
        let limit = self.share.of(active.into());
        Snapshot::new(self.name, "concurrency")
            .level(limit.saturating_sub(retries.into()), limit)
            .requests(active.into())
            .decided(self.tally.granted(), self.tally.denied())
    }

    fn configure(&self, settings: &BudgetSettings) -> Result<(), SettingsError> {
        settings.only(&["ratio", "min_retry_concurrency"])?;
        self.reconfigure(|mut new| {
            new.ratio = settings.ratio.unwrap_or(new.ratio);
            new.min_retry_concurrency = settings.min_retry_concurrency.unwrap_or(new.min_retry_concurrency);
            new
        })
    }
}

/// Settings of a [`ConcurrencyBudget`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "a builder does nothing until `build()`"]
pub struct ConcurrencyBudgetBuilder {
    name: &'static str,
    ratio: f64,
    min_retry_concurrency: u32,
}

impl ConcurrencyBudgetBuilder {
    /// Retries in progress per call in progress: above 0 and at most 1, 0.2 unless given; 0.2 is 20 %. Held in
    /// millionths.
    pub const fn ratio(mut self, ratio: f64) -> Self {
        self.ratio = ratio;
        self
    }

    /// Retries that may be in progress however few the calls: at most 2²⁰, 3 unless given. It is a floor, not added to
    /// the share.
    pub const fn min_retry_concurrency(mut self, retries: u32) -> Self {
        self.min_retry_concurrency = retries;
        self
    }

    /// The budget, for a `static`.
    ///
    /// # Panics
    ///
    /// When a setting is out of its range. In a `static` that is a compile error at your line; for settings known only
    /// at run time use [`try_build`](Self::try_build).
    #[track_caller]
    pub const fn build(self) -> ConcurrencyBudget {
        match self.try_build() {
            Ok(budget) => budget,
            Err(error) => panic!("{}", error.problem()),
        }
    }

    /// The budget, or what is wrong with its settings.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range.
    pub const fn try_build(self) -> Result<ConcurrencyBudget, SettingsError> {
        let ratio = match Millionths::from_ratio(self.ratio) {
            Ok(ratio) => ratio,
            Err(error) => return Err(error),
        };
        if self.min_retry_concurrency > 1 << 20 {
            return Err(SettingsError::new("min_retry_concurrency is at most 1048576 retries at a time"));
        }
        Ok(ConcurrencyBudget {
            places: Places::new(AtomicU64::new(0)),
            share: Share::new(ratio, self.min_retry_concurrency),
            tally: Tally::new(),
            name: self.name,
            #[cfg(feature = "test-util")]
            built: self,
        })
    }
}
