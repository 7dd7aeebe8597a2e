//! Time as budgets see it: a number that comes in as an argument.

use std::sync::OnceLock;
use std::time::Duration;

/// A moment: nanoseconds since the process first read its clock.
///
/// Budgets and [`Run`](crate::Run) never read a clock; whoever drives them passes the time in. That makes them
/// exact under test and usable on simulated time. Unlike [`std::time::Instant`], a `Time` can be made from a number,
/// has a zero, and its arithmetic saturates instead of panicking.
///
/// ```
/// use retry_budget_runtime::Time;
/// use std::time::Duration;
///
/// let start = Time::ZERO;
/// let later = start + Duration::from_millis(250);
/// assert_eq!(later.since(start), Duration::from_millis(250));
/// assert_eq!(start.since(later), Duration::ZERO, "a clock that went back counts as one that stood still");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The moment at which the process first read its clock.
    pub const ZERO: Self = Self(0);

    /// The latest moment there is, 584 years after [`ZERO`](Self::ZERO).
    pub const MAX: Self = Self(u64::MAX);

    /// The time that tokio's clock shows now, so that a paused clock (`tokio::time::pause`) stands still here too.
    pub fn now() -> Self {
        static ORIGIN: OnceLock<std::time::Instant> = OnceLock::new();
        let now = tokio::time::Instant::now().into_std();
        let origin = *ORIGIN.get_or_init(|| now);
        Self::ZERO + now.saturating_duration_since(origin)
    }

    /// A moment this many nanoseconds after [`ZERO`](Self::ZERO).
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A moment this many milliseconds after [`ZERO`](Self::ZERO), or [`MAX`](Self::MAX) when that is past it.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Nanoseconds since [`ZERO`](Self::ZERO).
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time that has passed since `earlier`, zero when `earlier` is later than this.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Saturates at [`Time::MAX`].
impl std::ops::Add<Duration> for Time {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Time::MAX + Duration::from_nanos(1), Time::MAX);
        assert_eq!(Time::ZERO + Duration::MAX, Time::MAX);
        assert_eq!(Time::from_millis(u64::MAX), Time::MAX);
        assert_eq!(Time::MAX.since(Time::ZERO).as_nanos(), u128::from(u64::MAX));
    }

    #[tokio::test(start_paused = true)]
    async fn follows_the_paused_clock() {
        let before = Time::now();
        tokio::time::advance(Duration::from_secs(7)).await;
        assert_eq!(Time::now().since(before), Duration::from_secs(7));
    }
}
