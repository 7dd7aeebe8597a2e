//! A call whose first attempt succeeds allocates nothing; one that waits allocates the wait.

use allocation_counter::measure;
use retry_budget::{RatioBudget, RetryPolicy, TokenBudget, retry, retry_budget};
use std::future::Future;
use std::io;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

static TOKEN: TokenBudget = TokenBudget::builder("token").build();
static RATIO: RatioBudget = RatioBudget::builder("ratio").build();

#[retry_budget(budget = TOKEN)]
async fn token(fails: bool) -> io::Result<[u64; 5]> {
    if fails { Err(io::ErrorKind::TimedOut.into()) } else { Ok([7; 5]) }
}

#[retry_budget(budget = RATIO)]
async fn ratio(fails: bool) -> io::Result<[u64; 5]> {
    if fails { Err(io::ErrorKind::TimedOut.into()) } else { Ok([7; 5]) }
}

async fn function(fails: bool) -> io::Result<[u64; 5]> {
    retry(&TOKEN, &RetryPolicy::REQUEST, async |_| if fails { Err(io::ErrorKind::TimedOut.into()) } else { Ok([7; 5]) })
        .await
}

/// Allocations made until the future is ready, or waits.
fn allocations<T>(future: impl Future<Output = T>) -> (u64, Poll<T>) {
    let mut future = pin!(future);
    let mut polled = Poll::Pending;
    let counted = measure(|| polled = future.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    (counted.count_total, polled)
}

#[tokio::test(start_paused = true)]
async fn none_where_the_first_attempt_succeeds() {
    if cfg!(feature = "metrics") {
        // the first call of a place makes its counters
        let _ = (allocations(token(false)), allocations(ratio(false)), allocations(function(false)));
    }
    assert!(matches!(allocations(token(false)), (0, Poll::Ready(Ok(_)))));
    assert!(matches!(allocations(ratio(false)), (0, Poll::Ready(Ok(_)))));
    assert!(matches!(allocations(function(false)), (0, Poll::Ready(Ok(_)))));
}

#[tokio::test(start_paused = true)]
async fn one_for_a_wait() {
    // the thread's random generator is made at its first draw, and a first failure makes its budget known to operators
    let _ = (allocations(token(true)), allocations(ratio(true)), allocations(function(true)));
    // once in 2^32 runs the jitter is zero and there is nothing to wait for
    assert!(matches!(allocations(token(true)), (1, Poll::Pending)));
    assert!(matches!(allocations(ratio(true)), (1, Poll::Pending)));
    assert!(matches!(allocations(function(true)), (1, Poll::Pending)));
}
