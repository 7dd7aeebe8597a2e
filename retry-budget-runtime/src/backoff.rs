//! How long to wait before a retry: a pure function of the policy, the retry's number and kind, the server's hint, and
//! chance.

use crate::{Jitter, RetryKind, RetryPolicy};
use std::time::Duration;

/// Two uniform numbers in [0, 1), made of 64 random bits.
#[derive(Clone, Copy)]
pub(crate) struct Chance {
    jitter: u32,
    spread: u32,
}

impl Chance {
    #[allow(clippy::cast_possible_truncation)] // the upper and the lower half
    pub(crate) const fn new(random: u64) -> Self {
        Self { jitter: (random >> 32) as u32, spread: random as u32 }
    }
}

/// The wait before retry number `retry`, which counts from 1.
///
/// `t = uniform[0, 1) × min(max_delay, base × 2^(retry − 1))`, the cap before the jitter, so that no jittered delay
/// exceeds it. The server's hint is a lower bound: `max(hint, t)` plus uniform `[0, max(base_delay, hint / 10))`, so
/// that a fleet that was told the same doesn't wake in step. Sources: AWS SDKs and Tools Reference Guide, "Retry
/// behavior"; AWS Architecture Blog, "Exponential Backoff And Jitter".
pub(crate) fn delay(
    policy: &RetryPolicy,
    retry: u32,
    kind: RetryKind,
    hint: Option<Duration>,
    chance: Chance,
) -> Duration {
    let base = match kind {
        RetryKind::Transient => policy.base_delay,
        RetryKind::Throttling => policy.throttling_base_delay,
    };
    let longest = doubled(base, retry.saturating_sub(1)).min(policy.max_delay);
    let delay = match policy.jitter {
        Jitter::Full => share(longest, chance.jitter),
        Jitter::Equal => longest / 2 + share(longest.saturating_sub(longest / 2), chance.jitter),
        Jitter::None => longest,
    };
    match hint {
        None => delay,
        Some(hint) if policy.jitter == Jitter::None => delay.max(hint),
        Some(hint) => {
            let spread = share(policy.base_delay.max(hint / 10), chance.spread);
            delay.max(hint).saturating_add(spread)
        }
    }
}

/// The pause of a denied call: uniform up to `max_delay`.
pub(crate) fn pause(policy: &RetryPolicy, chance: Chance) -> Duration {
    share(policy.max_delay, chance.jitter)
}

/// `base × 2^times`, or the longest duration there is.
fn doubled(base: Duration, times: u32) -> Duration {
    if base.is_zero() {
        return base;
    }
    let nanos = 1_u128.checked_shl(times).and_then(|factor| base.as_nanos().checked_mul(factor));
    nanos.map_or(Duration::MAX, from_nanos)
}

/// `duration × fraction / 2^32`, so always less than a positive `duration`.
fn share(duration: Duration, fraction: u32) -> Duration {
    from_nanos((duration.as_nanos() * u128::from(fraction)) >> 32)
}

fn from_nanos(nanos: u128) -> Duration {
    const SECOND: u128 = 1_000_000_000;
    let Ok(seconds) = u64::try_from(nanos / SECOND) else { return Duration::MAX };
    // A remainder of a second fits.
    #[allow(clippy::cast_possible_truncation)]
    let rest = (nanos % SECOND) as u32;
    Duration::new(seconds, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Duration as D;

    const NONE: u64 = 0;
    const HALF: u64 = (1 << 63) | (1 << 31);
    const ALMOST_ONE: u64 = u64::MAX;

    fn policy(base: D, max: D, jitter: Jitter) -> RetryPolicy {
        RetryPolicy::builder().base_delay(base).max_delay(max).jitter(jitter).build()
    }

    fn transient(policy: &RetryPolicy, retry: u32, random: u64) -> D {
        delay(policy, retry, RetryKind::Transient, None, Chance::new(random))
    }

    fn hinted(jitter: Jitter, hint: D, random: u64) -> D {
        let policy = policy(D::from_millis(50), D::from_secs(2), jitter);
        delay(&policy, 1, RetryKind::Transient, Some(hint), Chance::new(random))
    }

    #[test]
    fn the_ladder_doubles_up_to_the_cap() {
        let policy = policy(D::from_millis(50), D::from_secs(20), Jitter::None);
        let ladder: Vec<_> = (1..=11).map(|retry| transient(&policy, retry, ALMOST_ONE).as_millis()).collect();
        assert_eq!(ladder, [50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 20_000, 20_000]);
    }

    #[test]
    fn the_kind_picks_the_base() {
        let policy = policy(D::from_millis(50), D::from_secs(20), Jitter::None);
        let throttling = |retry| delay(&policy, retry, RetryKind::Throttling, None, Chance::new(NONE)).as_millis();
        assert_eq!([1, 2, 5, 6].map(throttling), [1_000, 2_000, 16_000, 20_000]);
    }

    #[test]
    fn full_jitter_reaches_from_zero_to_just_below_the_delay() {
        let policy = policy(D::from_millis(64), D::from_secs(20), Jitter::Full);
        assert_eq!(transient(&policy, 1, NONE), D::ZERO);
        assert_eq!(transient(&policy, 1, HALF), D::from_millis(32));
        assert_eq!(transient(&policy, 1, ALMOST_ONE), D::from_nanos(63_999_999));
        assert_eq!(transient(&policy, 3, HALF), D::from_millis(128));
    }

    #[test]
    fn equal_jitter_reaches_from_half_to_just_below_the_delay() {
        let policy = policy(D::from_millis(64), D::from_secs(20), Jitter::Equal);
        assert_eq!(transient(&policy, 1, NONE), D::from_millis(32));
        assert_eq!(transient(&policy, 1, HALF), D::from_millis(48));
        assert_eq!(transient(&policy, 1, ALMOST_ONE), D::from_nanos(63_999_999));
    }

    #[test]
    fn the_cap_comes_before_the_jitter() {
        let policy = policy(D::from_secs(1), D::from_secs(2), Jitter::Full);
        assert_eq!(transient(&policy, 9, HALF), D::from_secs(1));
        assert!(transient(&policy, 9, ALMOST_ONE) < D::from_secs(2));
    }

    #[test]
    fn the_exponent_saturates() {
        for jitter in [Jitter::Full, Jitter::Equal, Jitter::None] {
            for (base, max) in
                [(D::from_nanos(1), D::MAX), (D::MAX, D::MAX), (D::from_secs(u64::MAX), D::MAX), (D::ZERO, D::MAX)]
            {
                let policy = policy(base, max, jitter);
                for retry in [0, 1, 2, 64, 95, 96, 128, 129, 1000, u32::MAX] {
                    for random in [NONE, HALF, ALMOST_ONE] {
                        assert!(transient(&policy, retry, random) <= max);
                    }
                }
            }
        }
        let endless = policy(D::from_nanos(1), D::MAX, Jitter::None);
        assert_eq!(transient(&endless, 64, NONE), D::from_nanos(1 << 63));
        assert_eq!(transient(&endless, 65, NONE), D::new(18_446_744_073, 709_551_616), "2^64 ns");
        assert_eq!(transient(&endless, u32::MAX, NONE), D::MAX);
    }

    #[test]
    fn no_delay_stays_no_delay() {
        let policy = policy(D::ZERO, D::from_secs(2), Jitter::Full);
        assert_eq!(transient(&policy, u32::MAX, ALMOST_ONE), D::ZERO);
    }

    #[test]
    fn a_hint_is_never_undercut_and_spreads_a_fleet() {
        // a tenth of the hint is more than base_delay
        assert_eq!(hinted(Jitter::Full, D::from_secs(10), NONE), D::from_secs(10));
        assert_eq!(hinted(Jitter::Full, D::from_secs(10), HALF), D::from_millis(10_500));
        // base_delay is more than a tenth of the hint
        assert_eq!(hinted(Jitter::Full, D::from_millis(100), HALF), D::from_millis(125));
        // a hint of zero: the usual delay, plus up to base_delay
        assert_eq!(hinted(Jitter::Full, D::ZERO, HALF), D::from_millis(50));
        // a hint below the usual delay
        assert_eq!(hinted(Jitter::None, D::from_millis(20), NONE), D::from_millis(50));
        assert_eq!(hinted(Jitter::None, D::from_secs(10), ALMOST_ONE), D::from_secs(10));
        assert_eq!(hinted(Jitter::Full, D::MAX, ALMOST_ONE), D::MAX);
    }

    #[test]
    fn a_pause_is_uniform_up_to_the_cap() {
        let policy = policy(D::from_millis(50), D::from_secs(2), Jitter::None);
        assert_eq!(pause(&policy, Chance::new(NONE)), D::ZERO);
        assert_eq!(pause(&policy, Chance::new(HALF)), D::from_secs(1));
        assert!(pause(&policy, Chance::new(ALMOST_ONE)) < D::from_secs(2));
    }
}
