//! gRPC's retry throttling: failures take tokens, and retries stop while fewer than half are left.

use super::bucket::Bucket;
use super::settings::{SettingsError, to_thousandths};
use super::tally::Tally;
use super::{Budget, CallEnd, Grant, RetryKind, Snapshot};
use crate::sync::{AtomicU32, AtomicU64, Ordering::Relaxed};
use crate::{BudgetSettings, Time};

/// Failures take tokens, successes give a part of one back, and retries are granted while more than half are there.
///
/// Every failed attempt that is worth a retry takes one token, also when its call has no attempts left; every call that
/// succeeds, retried or not, puts [`token_ratio`](GrpcBudgetBuilder::token_ratio) back, up to
/// [`max_tokens`](GrpcBudgetBuilder::max_tokens). A retry is granted when more than half of the tokens are left after the
/// failure it would answer. The retry itself costs nothing, so there is nothing to give back when it isn't sent: what
/// counted was the failure. A failure that isn't worth a retry doesn't count.
///
/// Source: [gRPC proposal A6], "Throttling Retry Attempts and Hedged RPCs", where both settings have no defaults; 10 and
/// 0.1 are those of its example. Tokens are held in thousandths, rounded where A6 cuts.
///
/// Take it to have in one place what gRPC clients in other languages do, or to stop retrying as soon as a share of the
/// *attempts* fails (above about `token_ratio` failures for each success), however few retries there were. It is quick to
/// stop: with the defaults at the fifth failure in a row. It is slow to return: from empty, after 61 successes.
///
/// A healthy call costs one load of a word that nobody writes while all tokens are there, and reads no clock.
///
/// ```
/// use retry_budget_runtime::GrpcBudget;
///
/// pub static PARTNER: GrpcBudget = GrpcBudget::builder("partner").max_tokens(100).token_ratio(0.5).build();
/// ```
///
/// A wrong setting of a `static` does not compile:
///
/// ```compile_fail
/// # use retry_budget_runtime::GrpcBudget;
/// static PARTNER: GrpcBudget = GrpcBudget::builder("partner").max_tokens(2).build();
/// ```
///
/// [gRPC proposal A6]: https://github.com/grpc/proposal/blob/master/A6-client-retries.md
#[derive(Debug)]
pub struct GrpcBudget {
    /// In thousandths of a token.
    tokens: Bucket,
    /// In thousandths of a token.
    token_ratio: AtomicU32,
    tally: Tally,
    name: &'static str,
    #[cfg(feature = "test-util")]
    built: GrpcBudgetBuilder,
}

/// One token, in thousandths.
const ONE: u32 = 1_000;

impl GrpcBudget {
    /// Starts a budget with the default settings: 10 tokens, a tenth of one back for a success.
    pub const fn builder(name: &'static str) -> GrpcBudgetBuilder {
        GrpcBudgetBuilder { name, max_tokens: 10, token_ratio: 0.1 }
    }

    /// Changes the limits while the budget is in use: `change` gets the present settings and gives those that are to
    /// hold from the next decision on.
    ///
    /// The tokens stay the same fraction of `max_tokens`, rounded down to a thousandth. What was granted before stays granted. `change` is called again when another thread has changed the
    /// limits meanwhile.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range; then nothing has changed.
    pub fn reconfigure(&self, change: impl FnMut(GrpcBudgetBuilder) -> GrpcBudgetBuilder) -> Result<(), SettingsError> {
        super::change::change(|| self.settings(), change, GrpcBudgetBuilder::try_build, |new| self.limit_as(new))
    }

    /// Back to what it was when it was built: limits, fill and counts. For tests; no call of this budget should be in
    /// progress.
    #[cfg(feature = "test-util")]
    pub fn reset(&self) {
        let _turn = super::change::turn();
        let new = self.built.build();
        self.limit_as(&new);
        self.tokens.set_to(&new.tokens);
        self.tally.reset();
    }

    /// The present settings.
    fn settings(&self) -> GrpcBudgetBuilder {
        GrpcBudgetBuilder {
            name: self.name,
            max_tokens: self.tokens.level().1 / ONE,
            token_ratio: f64::from(self.token_ratio.load(Relaxed)) / f64::from(ONE),
        }
    }

    fn limit_as(&self, new: &Self) {
        self.tokens.resize(new.tokens.level().1);
        self.token_ratio.store(new.token_ratio.load(Relaxed), Relaxed);
    }
}

impl Budget for GrpcBudget {
    fn name(&self) -> &str {
        self.name
    }

    fn try_retry(&self, _kind: RetryKind, _now: Time) -> Option<Grant> {
        self.tally.count(self.tokens.lose(ONE).then_some(Grant::new(0)))
    }

    fn final_failure(&self, kind: Option<RetryKind>) {
        if kind.is_some() {
            self.tokens.lose(ONE);
        }
    }

    #[inline]
    fn end(&self, end: CallEnd) {
        match end {
            CallEnd::FirstTry | CallEnd::AfterRetry => self.tokens.give(|| self.token_ratio.load(Relaxed)),
            CallEnd::Failed | CallEnd::Dropped => {}
        }
    }

    fn snapshot(&self, _now: Time) -> Snapshot {
        let (available, limit) = self.tokens.level();
        Snapshot::new(self.name, "grpc")
            .level(available.into(), limit.into())
            .decided(self.tally.granted(), self.tally.denied())
    }

    fn configure(&self, settings: &BudgetSettings) -> Result<(), SettingsError> {
        settings.only(&["max_tokens", "token_ratio"])?;
        self.reconfigure(|mut new| {
            new.max_tokens = settings.max_tokens.unwrap_or(new.max_tokens);
            new.token_ratio = settings.token_ratio.unwrap_or(new.token_ratio);
            new
        })
    }
}

/// Settings of a [`GrpcBudget`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "a builder does nothing until `build()`"]
pub struct GrpcBudgetBuilder {
    name: &'static str,
    max_tokens: u32,
    token_ratio: f64,
}

impl GrpcBudgetBuilder {
    /// The tokens there are at the start and at most: 3 to 1000, 10 unless given. (One or two could never grant: a
    /// failure takes one, and more than half must be left.)
    pub const fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = tokens;
        self
    }

    /// What a call that succeeds puts back: 0.001 to 1000 tokens, 0.1 unless given. Held in thousandths.
    pub const fn token_ratio(mut self, tokens: f64) -> Self {
        self.token_ratio = tokens;
        self
    }

    /// The budget, for a `static`.
    ///
    /// # Panics
    ///
    /// When a setting is out of its range. In a `static` that is a compile error at your line; for settings known only
    /// at run time use [`try_build`](Self::try_build).
    #[track_caller]
    pub const fn build(self) -> GrpcBudget {
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
    pub const fn try_build(self) -> Result<GrpcBudget, SettingsError> {
        if self.max_tokens < 3 || self.max_tokens > 1_000 {
            return Err(SettingsError::new(
                "max_tokens is 3 to 1000: a failure takes one, and more than half must be left for a retry",
            ));
        }
        let token_ratio = to_thousandths(self.token_ratio);
        if token_ratio == 0 || self.token_ratio > 1_000.0 {
            return Err(SettingsError::new("token_ratio is 0.001 to 1000 tokens, 0.1 unless given"));
        }
        let max_tokens = self.max_tokens * ONE;
        Ok(GrpcBudget {
            tokens: Bucket::new(AtomicU64::new(Bucket::word(max_tokens, max_tokens))),
            token_ratio: AtomicU32::new(token_ratio),
            tally: Tally::new(),
            name: self.name,
            #[cfg(feature = "test-util")]
            built: self,
        })
    }
}
