//! How one call retries: attempts and delays. What all calls together may do is the budget's business.

use crate::SettingsError;
use std::time::Duration;

/// How often one call is tried, and how long it waits in between.
///
/// A policy is plain data, made at compile time where its numbers are known then:
///
/// ```
/// use retry_budget_runtime::RetryPolicy;
/// use std::time::Duration;
///
/// const NIGHTLY: RetryPolicy = RetryPolicy::BACKGROUND.to_builder().max_attempts(20).build();
///
/// let from_a_file = RetryPolicy::builder().base_delay(Duration::from_secs(5)).try_build();
/// assert_eq!(
///     from_a_file.unwrap_err().to_string(),
///     "base_delay is above max_delay (2 s unless given): give a longer max_delay, or a shorter base_delay",
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    pub(crate) max_attempts: u32,
    pub(crate) base_delay: Duration,
    pub(crate) max_delay: Duration,
    pub(crate) throttling_base_delay: Duration,
    pub(crate) jitter: Jitter,
    pub(crate) when_empty: WhenEmpty,
    pub(crate) retry_after_limit: Duration,
    pub(crate) idempotent: bool,
}

/// How much of a delay is left to chance, so that clients that failed together don't come back together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Jitter {
    /// Uniform between zero and the whole delay. Source: AWS Architecture Blog, "Exponential Backoff And Jitter".
    #[default]
    Full,
    /// Half the delay, plus uniform up to the other half.
    Equal,
    /// The delay as it is: for tests.
    None,
}

/// What a call does when the budget denies its retry, or all retries are [switched off](crate::set_retries).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenEmpty {
    /// It returns its error at once: right for request handlers, whose caller waits.
    #[default]
    Fail,
    /// It waits, uniformly up to `max_delay`, and then returns its error: right for workers in a loop. A worker whose
    /// denied call fails at once calls again at once, so that an empty budget would *raise* the load. It never waits
    /// for the budget to grant: nobody would send, so nobody would succeed, so a token bucket would never refill.
    Pause,
}

impl RetryPolicy {
    /// For calls that somebody waits for: 3 attempts, delays from 50 ms (1 s after throttling) doubling up to 2 s with
    /// full jitter, hints honoured up to 20 s, fails at once when the budget is empty.
    ///
    /// Attempts, base delays and jitter are those of the AWS SDKs' standard mode as announced for 2026; the cap of 2 s
    /// (theirs is 20 s) suits a call that somebody waits for.
    pub const REQUEST: Self = Self {
        max_attempts: 3,
        base_delay: Duration::from_millis(50),
        max_delay: Duration::from_secs(2),
        throttling_base_delay: Duration::from_secs(1),
        jitter: Jitter::Full,
        when_empty: WhenEmpty::Fail,
        retry_after_limit: Duration::from_secs(20),
        idempotent: true,
    };

    /// For loops, queues and batches: 10 attempts, delays from 500 ms (1 s after throttling) doubling up to 30 s, hints
    /// honoured up to 2 minutes, pauses when the budget is empty.
    pub const BACKGROUND: Self = Self {
        max_attempts: 10,
        base_delay: Duration::from_millis(500),
        max_delay: Duration::from_secs(30),
        when_empty: WhenEmpty::Pause,
        retry_after_limit: Duration::from_secs(120),
        ..Self::REQUEST
    };

    /// The AWS SDKs' standard mode as announced for 2026: 3 attempts, delays from 50 ms (1 s after throttling) doubling
    /// up to 20 s with full jitter; the rest as in [`REQUEST`](Self::REQUEST). Source: AWS SDKs and Tools Reference
    /// Guide, "Retry behavior".
    pub const AWS_STANDARD: Self = Self { max_delay: Duration::from_secs(20), ..Self::REQUEST };

    /// Starts from [`REQUEST`](Self::REQUEST).
    pub const fn builder() -> RetryPolicyBuilder {
        Self::REQUEST.to_builder()
    }

    /// Starts from this policy.
    pub const fn to_builder(self) -> RetryPolicyBuilder {
        RetryPolicyBuilder { policy: self }
    }

    /// Attempts of one call at most, the first included.
    pub const fn max_attempts(&self) -> u32 {
        self.max_attempts
    }

    /// The delay before the first retry.
    pub const fn base_delay(&self) -> Duration {
        self.base_delay
    }

    /// The delay before the first retry after a throttling failure.
    pub const fn throttling_base_delay(&self) -> Duration {
        self.throttling_base_delay
    }

    /// How much of a delay is left to chance.
    pub const fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// Whether the operation may run twice.
    pub const fn idempotent(&self) -> bool {
        self.idempotent
    }

    /// The policy for one request: it isn't idempotent where this one isn't, or this says no.
    #[cfg(any(feature = "tower-0_5", feature = "reqwest-middleware-0_5"))]
    pub(crate) fn idempotent_if(self, is_idempotent: impl FnOnce() -> bool) -> Self {
        Self { idempotent: self.idempotent && is_idempotent(), ..self }
    }

    /// The longest delay that is computed; a server's hint may be longer.
    pub const fn max_delay(&self) -> Duration {
        self.max_delay
    }

    /// The longest hint of a server that is honoured.
    pub const fn retry_after_limit(&self) -> Duration {
        self.retry_after_limit
    }

    /// What a denied call does.
    pub const fn when_empty(&self) -> WhenEmpty {
        self.when_empty
    }
}

/// The same as [`RetryPolicy::REQUEST`].
impl Default for RetryPolicy {
    fn default() -> Self {
        Self::REQUEST
    }
}

/// Settings of a [`RetryPolicy`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing until `build()`"]
pub struct RetryPolicyBuilder {
    policy: RetryPolicy,
}

impl RetryPolicyBuilder {
    /// Attempts of one call at most, the first included: at least 1, which means never retry.
    pub const fn max_attempts(mut self, attempts: u32) -> Self {
        self.policy.max_attempts = attempts;
        self
    }

    /// The delay before the first retry, doubled for each one after it. At most `max_delay`; zero means no delay.
    pub const fn base_delay(mut self, delay: Duration) -> Self {
        self.policy.base_delay = delay;
        self
    }

    /// The longest delay, jitter included.
    pub const fn max_delay(mut self, delay: Duration) -> Self {
        self.policy.max_delay = delay;
        self
    }

    /// The base delay of a retry after a throttling failure. `max_delay` caps it.
    pub const fn throttling_base_delay(mut self, delay: Duration) -> Self {
        self.policy.throttling_base_delay = delay;
        self
    }

    /// How much of a delay is left to chance.
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.policy.jitter = jitter;
        self
    }

    /// What a call does when the budget denies its retry, or all retries are [switched off](crate::set_retries).
    pub const fn when_empty(mut self, when_empty: WhenEmpty) -> Self {
        self.policy.when_empty = when_empty;
        self
    }

    /// The longest hint of a server (Retry-After) that is honoured; it may be above `max_delay`. Beyond it the call
    /// stops at once: retrying earlier than told only burns budget. The wait itself is up to a tenth longer than the
    /// hint, so that a fleet that was told the same doesn't come back at once.
    pub const fn retry_after_limit(mut self, limit: Duration) -> Self {
        self.policy.retry_after_limit = limit;
        self
    }

    /// Whether the operation may run twice. If not, only failures that say the request was never processed
    /// ([`Verdict::not_sent`](crate::Verdict::not_sent)) are retried.
    pub const fn idempotent(mut self, idempotent: bool) -> Self {
        self.policy.idempotent = idempotent;
        self
    }

    /// The policy, for a `const` or a `static`.
    ///
    /// # Panics
    ///
    /// When a setting is out of its range. In a `const` or `static` that is a compile error at your line; for settings
    /// known only at run time use [`try_build`](Self::try_build).
    #[track_caller]
    pub const fn build(self) -> RetryPolicy {
        match self.try_build() {
            Ok(policy) => policy,
            Err(error) => panic!("{}", error.problem()),
        }
    }

    /// The policy, or what is wrong with its settings.
    ///
    /// # Errors
    ///
    /// When `max_attempts` is 0, or `base_delay` is above `max_delay`.
    pub const fn try_build(self) -> Result<RetryPolicy, SettingsError> {
        if self.policy.max_attempts == 0 {
            return Err(SettingsError::new(
                "max_attempts counts the first call, so it is at least 1; 1 means never retry",
            ));
        }
        if self.policy.base_delay.as_nanos() > self.policy.max_delay.as_nanos() {
            return Err(SettingsError::new(
                "base_delay is above max_delay (2 s unless given): give a longer max_delay, or a shorter base_delay",
            ));
        }
        Ok(self.policy)
    }

    /// The policy, with what is out of range brought into it: 0 attempts act as 1, and a `base_delay` above `max_delay`
    /// as `max_delay`. For settings that are only known at run time, where failing a call over them would be worse.
    pub const fn build_in_range(mut self) -> RetryPolicy {
        if self.policy.max_attempts == 0 {
            self.policy.max_attempts = 1;
        }
        if self.policy.base_delay.as_nanos() > self.policy.max_delay.as_nanos() {
            self.policy.base_delay = self.policy.max_delay;
        }
        self.policy
    }
}
