//! The two ends: no retry at all, and no limit at all.

use super::{Budget, Grant, RetryKind, Snapshot};
use crate::Time;

/// The type of [`NEVER`].
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Never;

/// The type of [`UNLIMITED`].
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Unlimited;

/// Grants no retry: for tests, and to switch retries off in one place.
pub static NEVER: Never = Never;

/// Grants every retry: the plain "three attempts each" that this crate exists to replace. For tests, comparisons and a
/// migration's first step.
pub static UNLIMITED: Unlimited = Unlimited;

impl Budget for Never {
    fn name(&self) -> &'static str {
        "NEVER"
    }

    fn try_retry(&self, _kind: RetryKind, _now: Time) -> Option<Grant> {
        None
    }

    fn snapshot(&self, _now: Time) -> Snapshot {
        Snapshot::new(self.name(), "never")
    }
}

impl Budget for Unlimited {
    fn name(&self) -> &'static str {
        "UNLIMITED"
    }

    fn try_retry(&self, _kind: RetryKind, _now: Time) -> Option<Grant> {
        Some(Grant::new(0))
    }

    fn snapshot(&self, _now: Time) -> Snapshot {
        Snapshot::new(self.name(), "unlimited").level(u64::MAX, u64::MAX)
    }
}
