//! reqwest's errors and answers, over real sockets: the same for each version.

#![allow(clippy::duplicate_mod)] // the same files for each version

mod with_0_12;
mod with_0_13;

use retry_budget::RetryPolicy;
use std::time::Duration;

/// No time between attempts, so that sockets are all there is to wait for.
const AT_ONCE: RetryPolicy =
    RetryPolicy::builder().base_delay(Duration::ZERO).throttling_base_delay(Duration::ZERO).build();

/// Loopback answers in less than a millisecond, on a busy machine in some more; what doesn't is never going to.
const SHORT: Duration = Duration::from_millis(500);
