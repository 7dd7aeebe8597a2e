//! Time, cut into the slots of a window.

use super::window::SLOTS;
use crate::{SettingsError, Time};
use std::time::Duration;

/// The slots of windows of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slots {
    nanos: u64,
}

impl Slots {
    pub(crate) const fn of(window: Duration) -> Result<Self, SettingsError> {
        let nanos = window.as_nanos();
        if nanos < Duration::from_millis(100).as_nanos() || nanos > Duration::from_secs(3600).as_nanos() {
            return Err(SettingsError::new("window is 100 ms to one hour"));
        }
        // At most an hour in nanoseconds: 42 bits.
        #[allow(clippy::cast_possible_truncation)]
        let nanos = (nanos / SLOTS as u128) as u64;
        Ok(Self { nanos })
    }

    /// The number of the slot that this moment is in.
    pub(crate) const fn at(self, now: Time) -> u64 {
        now.as_nanos() / self.nanos
    }

    pub(crate) const fn window(self) -> Duration {
        Duration::from_nanos(self.nanos * SLOTS)
    }
}
