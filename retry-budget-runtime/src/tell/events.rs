//! The events of the feature `tracing`. They are of the target `retry_budget`, and in the span in which the call is made.

use super::Failure;
use crate::StopReason;
use std::time::Duration;
use tracing::{debug, info, warn};

const TARGET: &str = "retry_budget";

impl Failure<'_> {
    fn call(&self) -> Option<&'static str> {
        let name = self.told.name.get();
        (!name.is_empty()).then_some(name)
    }

    fn kind(&self) -> Option<&'static str> {
        self.kind.map(crate::RetryKind::as_str)
    }
}

pub(super) fn retry(failure: &Failure<'_>, budget: &str, delay: Duration) {
    debug!(
        target: TARGET,
        budget,
        call = failure.call(),
        kind = failure.kind(),
        attempt = failure.attempt,
        delay = ?delay,
        error = failure.told.error.map(tracing::field::display),
        "an attempt failed and is retried"
    );
}

/// A failure that isn't worth a retry is the caller's alone.
pub(super) fn stopped(failure: &Failure<'_>, budget: &str, reason: StopReason) {
    if reason == StopReason::NotRetryable {
        return;
    }
    debug!(
        target: TARGET,
        budget,
        call = failure.call(),
        kind = failure.kind(),
        attempt = failure.attempt,
        reason = reason.as_str(),
        error = failure.told.error.map(tracing::field::display),
        "an attempt failed and is not retried"
    );
}

pub(super) fn ran_empty(failure: &Failure<'_>, budget: &str) {
    warn!(
        target: TARGET,
        budget,
        call = failure.call(),
        error = failure.told.error.map(tracing::field::display),
        "a retry budget ran empty: failures come back without a retry"
    );
}

pub(super) fn recovered(budget: &str, empty_for: Duration, denied: u64) {
    info!(target: TARGET, budget, empty_for = ?empty_for, denied, "a retry budget has recovered");
}
