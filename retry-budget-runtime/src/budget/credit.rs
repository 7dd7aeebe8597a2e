//! The budget of one process among many: every call earns a part of a retry.

use super::bucket::Bucket;
use super::settings::{Millionths, SettingsError, to_millionths};
use super::tally::Tally;
use super::{Budget, Fate, Grant, RetryKind, Snapshot};
use crate::sync::{AtomicU32, AtomicU64, Ordering::Relaxed};
use crate::{BudgetSettings, Time};

/// Every call earns a part of a retry, and a retry spends a whole one: for one process among many.
///
/// `begin` adds [`ratio`](CreditBudgetBuilder::ratio) of a retry, up to [`burst`](CreditBudgetBuilder::burst) of them; a
/// retry is granted while a whole one is there, and takes it. One that was granted and never sent, because its call was
/// dropped while it waited, goes back. Success and failure change nothing. A new process begins with a *random fraction*
/// of one retry.
///
/// # When to take it
///
/// Where processes come and go: serverless, autoscaling, batch jobs, anything where each process is small and they are
/// many. With any other kind each new process brings a budget of its own, and processes are started when things get
/// tight: a thousand environments with 500 tokens each may send 35,000 retries before the first of them is denied. With
/// this kind a fleet of any size, each process on its own, keeps to its ratio without any coordination: over any number
/// of processes, however short-lived, the expected number of retries is at most `ratio` × calls, and exactly that when
/// all fail. The random fraction does it: ten thousand processes with one call each, all of which fail, are granted 1,000
/// retries, give or take 30, where a budget that starts at zero would never grant any of them one and a full one all.
///
/// Simulated in an outage in which a fleet scales out to three times its size, its worst ten seconds come to 0.7 to 1.2
/// times what the ratio allows the fleet (0.95 with a burst of 1); full token buckets come to 2.9 to 9 times.
///
/// # What it can't do
///
/// A process that fails can't use what the healthy ones don't: when a fifth of the processes fail, two thirds of the
/// retries that the fleet could afford are denied. And it has no floor: a single process with little traffic wants a
/// [`RatioBudget`](crate::RatioBudget).
///
/// Source: ours. The share is that of the [SRE book], "Handling Overload": 10 %.
///
/// A healthy call costs one load of a word that nobody writes while the credit is full, and reads no clock.
///
/// ```
/// use retry_budget_runtime::CreditBudget;
///
/// pub static PARTNER: CreditBudget = CreditBudget::builder("partner").ratio(0.1).build();
/// ```
///
/// A wrong setting of a `static` does not compile:
///
/// ```compile_fail
/// # use retry_budget_runtime::CreditBudget;
/// static PARTNER: CreditBudget = CreditBudget::builder("partner").burst(0).build();
/// ```
///
/// [SRE book]: https://sre.google/sre-book/handling-overload/
#[derive(Debug)]
pub struct CreditBudget {
    /// In millionths of a retry.
    credit: Bucket,
    /// In millionths of a retry.
    ratio: AtomicU32,
    tally: Tally,
    name: &'static str,
    #[cfg(feature = "test-util")]
    built: CreditBudgetBuilder,
}

/// One retry, in millionths.
const ONE: u32 = 1_000_000;

impl CreditBudget {
    /// Starts a budget with the default settings: ratio 0.1, a burst of 2, at the start a random fraction of a retry.
    pub const fn builder(name: &'static str) -> CreditBudgetBuilder {
        CreditBudgetBuilder { name, ratio: 0.1, burst: 2, initial: None }
    }

    /// Changes the limits while the budget is in use: `change` gets the present settings and gives those that are to
    /// hold from the next decision on.
    ///
    /// The credit stays the same fraction of `burst`, rounded down to a millionth. `initial` is for a new budget, and doesn't
    /// matter here. What was granted before stays granted. `change` is called again when another thread has changed the
    /// limits meanwhile.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range; then nothing has changed.
    pub fn reconfigure(
        &self,
        change: impl FnMut(CreditBudgetBuilder) -> CreditBudgetBuilder,
    ) -> Result<(), SettingsError> {
        super::change::change(
            || self.settings(),
            change,
            |settings| settings.at_any_level().try_build(),
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
        self.credit.set_to(&new.credit);
        self.tally.reset();
    }

    /// The present settings.
    fn settings(&self) -> CreditBudgetBuilder {
        CreditBudgetBuilder {
            name: self.name,
            ratio: Millionths::new(self.ratio.load(Relaxed)).ratio(),
            burst: self.credit.level().1 / ONE,
            initial: None,
        }
    }

    fn limit_as(&self, new: &Self) {
        self.credit.resize(new.credit.level().1);
        self.ratio.store(new.ratio.load(Relaxed), Relaxed);
    }

    #[inline]
    fn credit(&self) -> &Bucket {
        self.credit.drawn(|| rand::random_range(0..ONE))
    }
}

impl Budget for CreditBudget {
    fn name(&self) -> &str {
        self.name
    }

    #[inline]
    fn begin(&self, _now: Time) {
        // One that is full has been drawn.
        self.credit.give(|| {
            self.credit();
            self.ratio.load(Relaxed)
        });
    }

    fn try_retry(&self, _kind: RetryKind, _now: Time) -> Option<Grant> {
        self.tally.count(self.credit().take(ONE).then_some(Grant::new(1)))
    }

    fn settle(&self, _grant: Grant, fate: Fate) {
        if fate == Fate::NotSent {
            self.credit().give(|| ONE);
        }
    }

    fn snapshot(&self, _now: Time) -> Snapshot {
        let (available, limit) = self.credit().level();
        Snapshot::new(self.name, "credit")
            .level(available.into(), limit.into())
            .decided(self.tally.granted(), self.tally.denied())
    }

    fn configure(&self, settings: &BudgetSettings) -> Result<(), SettingsError> {
        settings.only(&["ratio", "burst"])?;
        self.reconfigure(|mut new| {
            new.ratio = settings.ratio.unwrap_or(new.ratio);
            new.burst = settings.burst.unwrap_or(new.burst);
            new
        })
    }
}

/// Settings of a [`CreditBudget`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "a builder does nothing until `build()`"]
pub struct CreditBudgetBuilder {
    name: &'static str,
    ratio: f64,
    burst: u32,
    initial: Option<f64>,
}

impl CreditBudgetBuilder {
    /// Retries that a call earns: above 0 and at most 1, 0.1 unless given; 0.1 is 10 %. Held in millionths.
    pub const fn ratio(mut self, ratio: f64) -> Self {
        self.ratio = ratio;
        self
    }

    /// The most retries that can be saved up: 1 to 4000, 2 unless given. Every process may hold that many, so it is the
    /// slack of the fleet: raise it only where a few processes have much traffic.
    pub const fn burst(mut self, retries: u32) -> Self {
        self.burst = retries;
        self
    }

    /// What a new process has, in retries: 0 to burst, held in millionths. Unless given it is drawn at the first use,
    /// uniformly from 0 up to 1, which is what keeps a fleet to its ratio: give a number in tests and simulations only.
    pub const fn initial(mut self, retries: f64) -> Self {
        self.initial = Some(retries);
        self
    }

    /// The same limits, whatever is left of them.
    const fn at_any_level(mut self) -> Self {
        self.initial = None;
        self
    }

    /// The budget, for a `static`.
    ///
    /// # Panics
    ///
    /// When a setting is out of its range. In a `static` that is a compile error at your line; for settings known only
    /// at run time use [`try_build`](Self::try_build).
    #[track_caller]
    pub const fn build(self) -> CreditBudget {
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
    pub const fn try_build(self) -> Result<CreditBudget, SettingsError> {
        let ratio = match Millionths::from_ratio(self.ratio) {
            Ok(ratio) => ratio,
            Err(error) => return Err(error),
        };
        if self.burst == 0 || self.burst > 4_000 {
            return Err(SettingsError::new("burst is 1 to 4000 retries; a budget that never grants is `NEVER`"));
        }
        let initial = match self.initial {
            None => Bucket::NOT_DRAWN,
            Some(retries) if 0.0 <= retries && retries <= self.burst as f64 => to_millionths(retries),
            Some(_) => return Err(SettingsError::new("initial is 0 to burst (2 unless given), in retries")),
        };
        Ok(CreditBudget {
            credit: Bucket::new(AtomicU64::new(Bucket::word(self.burst * ONE, initial))),
            ratio: AtomicU32::new(ratio.get()),
            tally: Tally::new(),
            name: self.name,
            #[cfg(feature = "test-util")]
            built: self,
        })
    }
}
