//! A call may be dropped at every await. Dropped in the wait for a retry, the retry was not sent and its cost goes back;
//! dropped in an attempt, the load was real and the cost stays.

use retry_budget::{Budget, RatioBudget, Time, TokenBudget, retry_budget};
use std::future::Future;
use std::io;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

/// Three attempts, each of which stops at an await once and then fails.
#[retry_budget(budget = budget, base_delay = "1s", max_delay = "1s", jitter = "none")]
async fn failing(budget: &dyn Budget) -> io::Result<()> {
    tokio::task::yield_now().await;
    Err(io::ErrorKind::TimedOut.into())
}

/// Polls the future above until it has stopped this often, then drops it. True if it was done before.
async fn stop_at(budget: &dyn Budget, stops: usize) -> bool {
    let mut call = pin!(failing(budget));
    for stop in 0..stops {
        let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_ready() {
            return true;
        }
        // every second stop is a wait of a second
        if stop % 2 == 1 && stop + 1 < stops {
            tokio::time::advance(Duration::from_millis(1_001)).await;
        }
    }
    false
}

#[tokio::test(start_paused = true)]
async fn the_token_budget_gets_back_what_was_not_sent() {
    // not polled, attempt 1, wait, attempt 2, wait, attempt 3, done
    let left = [500, 500, 500, 486, 486, 472, 472];
    for (stops, left) in left.into_iter().enumerate() {
        let budget = TokenBudget::builder("dropped").build();
        assert_eq!(stop_at(&budget, stops).await, stops == 6);
        assert_eq!(budget.snapshot(Time::now()).available, left, "dropped at stop {stops}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_ratio_budget_gets_back_what_was_not_sent() {
    let left = [3, 3, 3, 2, 2, 1, 1];
    for (stops, left) in left.into_iter().enumerate() {
        let budget = RatioBudget::builder("dropped").window(Duration::from_secs(60)).build();
        assert_eq!(stop_at(&budget, stops).await, stops == 6);
        assert_eq!(budget.snapshot(Time::now()).available, left, "dropped at stop {stops}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_drop() {
    #[retry_budget(budget = budget, base_delay = "1s", jitter = "none", attempt = attempt)]
    async fn panics_at_the_second(budget: &TokenBudget) -> io::Result<()> {
        assert!(!attempt.is_retry(), "on purpose");
        Err(io::ErrorKind::TimedOut.into())
    }
    static BUDGET: TokenBudget = TokenBudget::builder("panics").build();
    let call = tokio::spawn(panics_at_the_second(&BUDGET));
    assert!(call.await.unwrap_err().is_panic());
    assert_eq!(BUDGET.snapshot(Time::now()).available, 486);
}
