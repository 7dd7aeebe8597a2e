//! The budget of the SRE book: retries are a share of the requests.

pub(crate) mod slots;
pub(crate) mod window;

use super::settings::{Millionths, SettingsError};
use super::share::Share;
use super::tally::Tally;
use super::{Budget, Fate, Grant, RetryKind, Snapshot};
use crate::sync::AtomicU64;
use crate::{BudgetSettings, Time};
use slots::Slots;
use std::time::Duration;
use window::{Cells, Usage, Window};

/// Retries may be a share of the requests of the last few seconds.
///
/// Within a sliding window, `allowed = max(min_retries, ratio × requests)`, where the requests are the first attempts
/// begun in it; a retry is granted while the retries granted in the window are fewer. A retry counts in the moment in
/// which it was granted, however long its wait; one that is never sent, because its call was dropped while it waited,
/// is taken off again.
///
/// Source: client-side retry budgets in the [SRE book], "Handling Overload", 10 % a client. The book gives no window
/// and no floor; those are ours.
///
/// The window slides in ten steps, so that a request or a retry counts for nine to ten tenths of it. The allowance of a
/// healthy window is free at the moment an outage begins: an outage of half a window can see `1 + 2 × ratio` times its
/// load, one of many windows `1 + ratio`.
///
/// A call counts when it begins: that is one clock read and one atomic increment of a counter that all callers share.
///
/// ```
/// use retry_budget_runtime::RatioBudget;
/// use std::time::Duration;
///
/// // Linkerd's and Finagle's usual numbers
/// pub static PARTNER: RatioBudget =
///     RatioBudget::builder("partner").ratio(0.2).window(Duration::from_secs(10)).min_retries(100).build();
/// ```
///
/// A wrong setting of a `static` does not compile:
///
/// ```compile_fail
/// # use retry_budget_runtime::RatioBudget;
/// static PARTNER: RatioBudget = RatioBudget::builder("partner").ratio(10.0).build();
/// ```
///
/// [SRE book]: https://sre.google/sre-book/handling-overload/
#[derive(Debug)]
pub struct RatioBudget {
    window: Window,
    share: Share,
    slots: Slots,
    tally: Tally,
    name: &'static str,
    #[cfg(feature = "test-util")]
    built: RatioBudgetBuilder,
}

impl RatioBudget {
    /// Starts a budget with the default settings: ratio 0.1, a window of 10 seconds, at least 3 retries in it.
    pub const fn builder(name: &'static str) -> RatioBudgetBuilder {
        RatioBudgetBuilder { name, ratio: 0.1, window: Duration::from_secs(10), min_retries: 3 }
    }

    /// Changes the limits while the budget is in use: `change` gets the present settings and gives those that are to
    /// hold from the next decision on.
    ///
    /// The requests and retries in the window stay counted. What was granted before stays granted. `change` is called again when another thread has changed the
    /// limits meanwhile.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range, or `window` another than the present one: the counts belong to it; then nothing has changed.
    pub fn reconfigure(
        &self,
        change: impl FnMut(RatioBudgetBuilder) -> RatioBudgetBuilder,
    ) -> Result<(), SettingsError> {
        super::change::change(
            || self.settings(),
            change,
            |settings| settings.try_build().and_then(|new| self.with_the_same_window(new)),
            |new| self.limit_as(new),
        )
    }

    /// Back to what it was when it was built: limits, fill and counts. For tests; no call of this budget should be in
    /// progress.
    #[cfg(feature = "test-util")]
    pub fn reset(&self) {
        let _turn = super::change::turn();
        let new = self.built.build();
        self.limit_as(&new);
        self.window.clear();
        self.tally.reset();
    }

    /// The present settings.
    fn settings(&self) -> RatioBudgetBuilder {
        let (ratio, min_retries) = self.share.get();
        RatioBudgetBuilder { name: self.name, ratio: ratio.ratio(), window: self.slots.window(), min_retries }
    }

    fn with_the_same_window(&self, new: Self) -> Result<Self, SettingsError> {
        if new.slots == self.slots {
            Ok(new)
        } else {
            Err(SettingsError::new("window can't change while the budget runs: the counts belong to it"))
        }
    }

    fn limit_as(&self, new: &Self) {
        self.share.set_to(&new.share);
    }
}

impl Budget for RatioBudget {
    fn name(&self) -> &str {
        self.name
    }

    fn reads_clock(&self) -> bool {
        true
    }

    #[inline]
    fn begin(&self, now: Time) {
        self.window.request(self.slots.at(now));
    }

    fn try_retry(&self, _kind: RetryKind, now: Time) -> Option<Grant> {
        let granted = self.window.grant(self.slots.at(now), |usage| usage.retries < self.share.of(usage.requests));
        self.tally.count(granted.map(|slot| Grant::new(1).in_slot(slot)))
    }

    fn settle(&self, grant: Grant, fate: Fate) {
        if fate == Fate::NotSent {
            self.window.give_back(grant.slot());
        }
    }

    fn snapshot(&self, now: Time) -> Snapshot {
        let Usage { requests, retries } = self.window.usage(self.slots.at(now));
        let allowed = self.share.of(requests);
        Snapshot::new(self.name, "ratio")
            .level(allowed.saturating_sub(retries), allowed)
            .requests(requests)
            .decided(self.tally.granted(), self.tally.denied())
    }

    fn configure(&self, settings: &BudgetSettings) -> Result<(), SettingsError> {
        settings.only(&["ratio", "min_retries"])?;
        self.reconfigure(|mut new| {
            new.ratio = settings.ratio.unwrap_or(new.ratio);
            new.min_retries = settings.min_retries.unwrap_or(new.min_retries);
            new
        })
    }
}

// A const, so that each budget starts with cells of its own.
#[allow(clippy::declare_interior_mutable_const)]
pub(crate) const EMPTY: Cells = {
    const ZERO: AtomicU64 = AtomicU64::new(0);
    Cells { now: ZERO, starts: [ZERO; 16], requests: [ZERO; 16], returned: [ZERO; 16] }
};

/// Settings of a [`RatioBudget`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "a builder does nothing until `build()`"]
pub struct RatioBudgetBuilder {
    name: &'static str,
    ratio: f64,
    window: Duration,
    min_retries: u32,
}

impl RatioBudgetBuilder {
    /// Retries per request: above 0 and at most 1, 0.1 unless given; 0.1 is 10 %. Held in millionths.
    pub const fn ratio(mut self, ratio: f64) -> Self {
        self.ratio = ratio;
        self
    }

    /// How far back requests and retries count: 100 ms to one hour, 10 s unless given.
    pub const fn window(mut self, window: Duration) -> Self {
        self.window = window;
        self
    }

    /// Retries allowed in a window however few the requests: at most 2²⁰, 3 unless given. It is a floor, not added to
    /// the share.
    pub const fn min_retries(mut self, retries: u32) -> Self {
        self.min_retries = retries;
        self
    }

    /// The budget, for a `static`.
    ///
    /// # Panics
    ///
    /// When a setting is out of its range. In a `static` that is a compile error at your line; for settings known only
    /// at run time use [`try_build`](Self::try_build).
    #[track_caller]
    pub const fn build(self) -> RatioBudget {
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
    pub const fn try_build(self) -> Result<RatioBudget, SettingsError> {
        let ratio = match Millionths::from_ratio(self.ratio) {
            Ok(ratio) => ratio,
            Err(error) => return Err(error),
        };
        let slots = match Slots::of(self.window) {
            Ok(slots) => slots,
            Err(error) => return Err(error),
        };
        if self.min_retries > 1 << 20 {
            return Err(SettingsError::new("min_retries is at most 1048576 retries in a window"));
        }
        Ok(RatioBudget {
            window: Window::new(EMPTY),
            share: Share::new(ratio, self.min_retries),
            slots,
            tally: Tally::new(),
            name: self.name,
            #[cfg(feature = "test-util")]
            built: self,
        })
    }
}
