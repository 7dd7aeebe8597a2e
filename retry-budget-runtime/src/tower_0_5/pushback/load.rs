//! How many of the last requests were retries.

use crate::budget::ratio::EMPTY;
use crate::budget::ratio::window::{SLOTS, Usage, Window};
use crate::budget::settings::Millionths;
use crate::{SettingsError, Time};
use std::time::Duration;

/// What is settled about it before there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) ratio: f64,
    pub(super) min_requests: u32,
    pub(super) window: Duration,
}

impl Limits {
    pub(super) const DEFAULT: Self = Self { ratio: 0.2, min_requests: 50, window: Duration::from_secs(10) };
}

/// All requests of the last seconds, and those of them that were retries.
#[derive(Debug)]
pub(super) struct Load {
    window: Window,
    slot_nanos: u64,
    ratio: Millionths,
    min_requests: u64,
}

impl Load {
    pub(super) const fn new(limits: Limits) -> Result<Self, SettingsError> {
        let Ok(ratio) = Millionths::from_ratio(limits.ratio) else {
            return Err(SettingsError::new("ratio is a share of the requests, 0.000001 to 1: write 0.2 for 20 %"));
        };
        let nanos = limits.window.as_nanos();
        if nanos < Duration::from_millis(100).as_nanos() || nanos > Duration::from_secs(3600).as_nanos() {
            return Err(SettingsError::new("window is 100 ms to one hour"));
        }
        // At most an hour in nanoseconds: 42 bits.
        #[allow(clippy::cast_possible_truncation)]
        let slot_nanos = (nanos / SLOTS as u128) as u64;
        Ok(Self { window: Window::new(EMPTY), slot_nanos, ratio, min_requests: limits.min_requests as u64 })
    }

    /// A request comes in, as the attempt with this number.
    pub(super) fn count(&self, attempt: u32, now: Time) {
        self.window.request(self.slot(now));
        if attempt > 1 {
            // All are let in: it only counts.
            let _ = self.window.grant(self.slot(now), |_| true);
        }
    }

    /// Whether too many of the requests are retries.
    pub(super) fn is_too_much(&self, now: Time) -> bool {
        let Usage { requests, retries } = self.usage(now);
        requests >= self.min_requests && retries > self.ratio.of(requests)
    }

    pub(super) fn usage(&self, now: Time) -> Usage {
        self.window.usage(self.slot(now))
    }

    fn slot(&self, now: Time) -> u64 {
        now.as_nanos() / self.slot_nanos
    }
}
