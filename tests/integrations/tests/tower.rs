//! The layer for tower: what tower's own tests expect of a retry, and what a budget expects.

extern crate retry_budget as retry_budget_runtime;

#[path = "../../../retry-budget-runtime/tests/support/recorder.rs"]
mod recorder;

#[path = "tower/budgets.rs"]
mod budgets;
#[path = "tower/dropping.rs"]
mod dropping;
#[path = "tower/expectations.rs"]
mod expectations;
#[path = "tower/grpc.rs"]
mod grpc;
#[path = "tower/http.rs"]
mod http_messages;
#[path = "tower/layers.rs"]
mod layers;
#[path = "tower/readiness.rs"]
mod readiness;
#[path = "tower/requests.rs"]
mod requests;
#[path = "tower/timeouts.rs"]
mod timeouts;

use retry_budget::{RetryPolicy, Retryable, UNLIMITED, Unlimited, Verdict};
use std::time::Duration;
use tower_test::mock;

type BoxError = tower::BoxError;
type Mock = mock::Mock<&'static str, &'static str>;
type Handle = mock::Handle<&'static str, &'static str>;

/// Three attempts, no delay.
const QUICK: RetryPolicy = RetryPolicy::builder().base_delay(Duration::ZERO).build();

/// Three attempts, a second and two seconds apart.
const SLOW: RetryPolicy =
    RetryPolicy::builder().base_delay(Duration::from_secs(1)).jitter(retry_budget::Jitter::None).build();

static PLENTY: Unlimited = UNLIMITED;

/// A request that got lost, before or after it was sent.
#[derive(Debug)]
struct Lost {
    sent: bool,
}

impl Retryable for Lost {
    fn verdict(&self) -> Verdict {
        if self.sent { Verdict::TRANSIENT } else { Verdict::TRANSIENT.not_sent() }
    }
}

fn every_error(_: &BoxError) -> bool {
    true
}
