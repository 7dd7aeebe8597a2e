//! How many of the last requests were retries.

use crate::budget::ratio::EMPTY;
use crate::budget::ratio::slots::Slots;
use crate::budget::ratio::window::{Usage, Window};
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
    slots: Slots,
    ratio: Millionths,
    min_requests: u64,
}

impl Load {
    pub(super) const fn new(limits: Limits) -> Result<Self, SettingsError> {
        let Ok(ratio) = Millionths::from_ratio(limits.ratio) else {
            return Err(SettingsError::new("ratio is a share of the requests, 0.000001 to 1: write 0.2 for 20 %"));
        };
        let slots = match Slots::of(limits.window) {
            Ok(slots) => slots,
            Err(error) => return Err(error),
        };
        Ok(Self { window: Window::new(EMPTY), slots, ratio, min_requests: limits.min_requests as u64 })
    }

    /// A request comes in, as the attempt with this number.
    pub(super) fn count(&self, attempt: u32, now: Time) {
        let slot = self.slots.at(now);
        self.window.request(slot);
        if attempt > 1 {
            // All are let in: it only counts.
            let _ = self.window.grant(slot, |_| true);
        }
    }

    /// Whether too many of the requests are retries.
    pub(super) fn is_too_much(&self, now: Time) -> bool {
        let Usage { requests, retries } = self.usage(now);
        requests >= self.min_requests && retries > self.ratio.of(requests)
    }

    pub(super) fn usage(&self, now: Time) -> Usage {
        self.window.usage(self.slots.at(now))
    }
}
