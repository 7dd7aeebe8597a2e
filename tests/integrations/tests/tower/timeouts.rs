//! Tower's `Timeout` below the layer is the time of each attempt, above it the time of the whole call.

use crate::{BoxError, SLOW};
use retry_budget::tower_0_5::RetryLayer;
use retry_budget::{Budget, Retryable, Time, TokenBudget};
use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;
use tokio::time::Instant;
use tower::timeout::TimeoutLayer;
use tower::timeout::error::Elapsed;
use tower::{ServiceBuilder, ServiceExt};

/// Calls a server that never answers, with a second for each attempt and a second and two between them: gives the
/// attempts, the milliseconds, and what the budget has left of 500.
async fn call(whole: Duration) -> (u32, u128, u64) {
    let (attempts, budget, start) = (AtomicU32::new(0), TokenBudget::builder("slow").build(), Instant::now());
    let service = ServiceBuilder::new()
        .layer(TimeoutLayer::new(whole))
        .layer(RetryLayer::new(&budget, SLOW).classify(|error: &BoxError| error.downcast_ref().map(Elapsed::verdict)))
        .layer(TimeoutLayer::new(Duration::from_secs(1)))
        .service_fn(|()| {
            attempts.fetch_add(1, SeqCst);
            pending::<Result<(), BoxError>>()
        });
    assert!(service.oneshot(()).await.unwrap_err().is::<Elapsed>());
    (attempts.load(SeqCst), start.elapsed().as_millis(), budget.snapshot(Time::ZERO).available)
}

#[tokio::test(start_paused = true)]
async fn of_each_attempt_and_of_the_whole_call() {
    assert_eq!(call(Duration::from_secs(60)).await, (3, 6_000, 472), "three attempts and two waits");
    assert_eq!(call(Duration::from_millis(500)).await, (1, 500, 500), "in the first attempt");
    assert_eq!(call(Duration::from_millis(1_500)).await, (1, 1_500, 500), "in the first wait: its cost goes back");
    assert_eq!(call(Duration::from_millis(2_500)).await, (2, 2_500, 486), "in the second attempt");
}
