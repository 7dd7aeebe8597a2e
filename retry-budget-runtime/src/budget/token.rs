//! The token bucket of the AWS SDKs: retries cost tokens, successes give some back.

use super::bucket::Bucket;
use super::settings::SettingsError;
use super::tally::Tally;
use super::{Budget, CallEnd, Fate, Grant, RetryKind, Snapshot};
use crate::sync::{AtomicU32, AtomicU64, Ordering::Relaxed};
use crate::{BudgetSettings, Time};

/// A bucket of tokens that retries empty and successes refill.
///
/// A retry after a transient failure costs [`transient_cost`](TokenBudgetBuilder::transient_cost) tokens, after a
/// throttling one [`throttling_cost`](TokenBudgetBuilder::throttling_cost). A retry is granted while the bucket can pay
/// for it. A call that succeeds at its first attempt puts
/// [`success_refund`](TokenBudgetBuilder::success_refund) back, one that succeeds after retries the cost of its last
/// retry. A retry that was granted and never sent, because the call was dropped while it waited, goes back in full.
///
/// Source: the standard retry mode of the AWS SDKs ([retry behavior], AWS SDKs and Tools Reference Guide), with the
/// costs announced for 2026; the classic SDKs charge 5 for a transient failure and 10 for a timeout. Unlike most SDKs,
/// the cost travels with the call, so that no other call's success can take its refund, and a retry that was never
/// sent is given back.
///
/// With independent failures at rate `e` and three attempts the default bucket drains above `e` = 0.2149. It refills by
/// successes only: at zero and one call a minute it takes 14 minutes until the next retry, so below about a call a
/// second take a [`RatioBudget`](crate::RatioBudget), whose floor comes with time.
///
/// A healthy call costs one load of a word that nobody writes while the bucket is full, and reads no clock.
///
/// ```
/// use retry_budget_runtime::TokenBudget;
///
/// pub static PARTNER: TokenBudget = TokenBudget::builder("partner").capacity(300).build();
/// ```
///
/// A wrong setting of a `static` does not compile:
///
/// ```compile_fail
/// # use retry_budget_runtime::TokenBudget;
/// static PARTNER: TokenBudget = TokenBudget::builder("partner").capacity(0).build();
/// ```
///
/// [retry behavior]: https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
#[derive(Debug)]
pub struct TokenBudget {
    bucket: Bucket,
    success_refund: AtomicU32,
    transient_cost: AtomicU32,
    throttling_cost: AtomicU32,
    tally: Tally,
    name: &'static str,
    #[cfg(feature = "test-util")]
    built: TokenBudgetBuilder,
}

/// Two cache lines at most.
const _: () = assert!(size_of::<TokenBudget>() <= 128);

impl TokenBudget {
    /// Starts a budget with the default settings: capacity 500, costs 14 and 5, refund 1.
    pub const fn builder(name: &'static str) -> TokenBudgetBuilder {
        TokenBudgetBuilder {
            name,
            capacity: 500,
            initial: None,
            transient_cost: 14,
            throttling_cost: 5,
            success_refund: 1,
        }
    }

    /// Changes the limits while the budget is in use: `change` gets the present settings and gives those that are to
    /// hold from the next decision on.
    ///
    /// The bucket stays filled to the same fraction, rounded down: 250 of 500 tokens become 150 of 300. `initial` is for a new
    /// bucket, and doesn't matter here. What was granted before stays granted. `change` is called again when another thread has changed the
    /// limits meanwhile.
    ///
    /// ```
    /// use retry_budget_runtime::{Budget, Time, TokenBudget};
    ///
    /// static PARTNER: TokenBudget = TokenBudget::builder("partner").initial(250).build();
    ///
    /// PARTNER.reconfigure(|settings| settings.capacity(300))?;
    /// let snapshot = PARTNER.snapshot(Time::now());
    /// assert_eq!((snapshot.available, snapshot.limit), (150, 300));
    /// # Ok::<(), retry_budget_runtime::SettingsError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When a setting is out of its range; then nothing has changed.
    pub fn reconfigure(
        &self,
        change: impl FnMut(TokenBudgetBuilder) -> TokenBudgetBuilder,
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
        self.bucket.set_to(&new.bucket);
        self.tally.reset();
    }

    /// The present settings.
    fn settings(&self) -> TokenBudgetBuilder {
        TokenBudgetBuilder {
            name: self.name,
            capacity: self.bucket.level().1,
            initial: None,
            transient_cost: self.transient_cost.load(Relaxed),
            throttling_cost: self.throttling_cost.load(Relaxed),
            success_refund: self.success_refund.load(Relaxed),
        }
    }

    fn limit_as(&self, new: &Self) {
        self.bucket.resize(new.bucket.level().1);
        for (own, new) in [
            (&self.transient_cost, &new.transient_cost),
            (&self.throttling_cost, &new.throttling_cost),
            (&self.success_refund, &new.success_refund),
        ] {
            own.store(new.load(Relaxed), Relaxed);
        }
    }

    fn cost(&self, kind: RetryKind) -> u32 {
        let cost = match kind {
            RetryKind::Transient => &self.transient_cost,
            RetryKind::Throttling => &self.throttling_cost,
        };
        cost.load(Relaxed)
    }
}

impl Budget for TokenBudget {
    fn name(&self) -> &str {
        self.name
    }

    fn try_retry(&self, kind: RetryKind, _now: Time) -> Option<Grant> {
        let cost = self.cost(kind);
        self.tally.count(self.bucket.take(cost).then_some(Grant::new(cost)))
    }

    fn settle(&self, grant: Grant, fate: Fate) {
        match fate {
            Fate::Succeeded | Fate::NotSent => self.bucket.give(|| grant.cost()),
            Fate::Failed | Fate::Dropped => {}
        }
    }

    #[inline]
    fn end(&self, end: CallEnd) {
        if end == CallEnd::FirstTry {
            self.bucket.give(|| self.success_refund.load(Relaxed));
        }
    }

    fn snapshot(&self, _now: Time) -> Snapshot {
        let (available, capacity) = self.bucket.level();
        Snapshot::new(self.name, "token")
            .level(available.into(), capacity.into())
            .decided(self.tally.granted(), self.tally.denied())
    }

    fn configure(&self, settings: &BudgetSettings) -> Result<(), SettingsError> {
        settings.only(&["capacity", "transient_cost", "throttling_cost", "success_refund"])?;
        self.reconfigure(|mut new| {
            new.capacity = settings.capacity.unwrap_or(new.capacity);
            new.transient_cost = settings.transient_cost.unwrap_or(new.transient_cost);
            new.throttling_cost = settings.throttling_cost.unwrap_or(new.throttling_cost);
            new.success_refund = settings.success_refund.unwrap_or(new.success_refund);
            new
        })
    }
}

/// Settings of a [`TokenBudget`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "a builder does nothing until `build()`"]
pub struct TokenBudgetBuilder {
    name: &'static str,
    capacity: u32,
    initial: Option<u32>,
    transient_cost: u32,
    throttling_cost: u32,
    success_refund: u32,
}

impl TokenBudgetBuilder {
    /// The most tokens the bucket holds: 1 to 2³¹, 500 unless given. With the default costs 500 pay for 35 retries in
    /// a row. It must pay for the cheaper of the two kinds of retry: with less than 14 and the default costs, transient
    /// failures are never retried.
    pub const fn capacity(mut self, tokens: u32) -> Self {
        self.capacity = tokens;
        self
    }

    /// The tokens a new bucket holds: 0 to capacity, capacity unless given. An environment that serves one request at
    /// a time wants few.
    pub const fn initial(mut self, tokens: u32) -> Self {
        self.initial = Some(tokens);
        self
    }

    /// What a retry after a transient failure costs: at least 1, 14 unless given.
    pub const fn transient_cost(mut self, tokens: u32) -> Self {
        self.transient_cost = tokens;
        self
    }

    /// What a retry after a throttling failure costs: 5 unless given. It may be 0: the server's hints do the pacing.
    pub const fn throttling_cost(mut self, tokens: u32) -> Self {
        self.throttling_cost = tokens;
        self
    }

    /// What a call that succeeds at its first attempt puts back: 0 to capacity, 1 unless given.
    pub const fn success_refund(mut self, tokens: u32) -> Self {
        self.success_refund = tokens;
        self
    }

    /// The same limits, whatever is in the bucket.
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
    pub const fn build(self) -> TokenBudget {
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
    pub const fn try_build(self) -> Result<TokenBudget, SettingsError> {
        let initial = match self.initial {
            Some(tokens) => tokens,
            None => self.capacity,
        };
        if self.capacity == 0 || self.capacity > 1 << 31 {
            return Err(SettingsError::new(
                "capacity is 1 to 2147483648 tokens; a budget that never grants is `NEVER`",
            ));
        }
        if initial > self.capacity {
            return Err(SettingsError::new("initial is above capacity: a new bucket holds at most that"));
        }
        if self.success_refund > self.capacity {
            return Err(SettingsError::new("success_refund is above capacity"));
        }
        if self.transient_cost == 0 {
            return Err(SettingsError::new("transient_cost is at least 1: free retries are `UNLIMITED`"));
        }
        if self.transient_cost > self.capacity && self.throttling_cost > self.capacity {
            return Err(SettingsError::new(
                "transient_cost (14 unless given) and throttling_cost (5 unless given) are both above capacity: the \
                 budget would never grant",
            ));
        }
        Ok(TokenBudget {
            bucket: Bucket::new(AtomicU64::new(Bucket::word(self.capacity, initial))),
            success_refund: AtomicU32::new(self.success_refund),
            transient_cost: AtomicU32::new(self.transient_cost),
            throttling_cost: AtomicU32::new(self.throttling_cost),
            tally: Tally::new(),
            name: self.name,
            #[cfg(feature = "test-util")]
            built: self,
        })
    }
}
