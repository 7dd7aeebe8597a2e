//! Every kind of budget when a call is dropped at any await, or panics: what is left, and that nothing stays taken.

#[path = "support/awaits.rs"]
mod awaits;

use awaits::{Down, POLICY, call, polled};
use retry_budget_runtime::{Budget, ConcurrencyBudget, CreditBudget, GrpcBudget, Time, retry};
use std::pin::pin;
use std::sync::Arc;

fn credit() -> CreditBudget {
    CreditBudget::builder("partner").burst(4).initial(3.0).build()
}

fn concurrency() -> ConcurrencyBudget {
    ConcurrencyBudget::builder("partner").ratio(1.0).min_retry_concurrency(0).build()
}

fn grpc() -> GrpcBudget {
    GrpcBudget::builder("partner").build()
}

/// What is left in a budget, and calls in progress where it counts them.
type State = (u64, Option<u64>);

fn state(budget: &dyn Budget) -> State {
    let snapshot = budget.snapshot(Time::ZERO);
    (snapshot.available, snapshot.requests)
}

/// The budget just before and just after a call is dropped that has been polled so often.
async fn around_drop(budget: impl Budget, polls: usize, succeeds_at: u32) -> (State, State) {
    let before = {
        let call = pin!(call(&budget, &POLICY, succeeds_at));
        polled(call, polls).await;
        state(&budget)
    };
    (before, state(&budget))
}

const NEVER: u32 = u32::MAX;

#[tokio::test(start_paused = true)]
async fn credit_at_every_await() {
    let failing = [
        (3_000_000, 3_000_000, "before it began"),
        (3_100_000, 3_100_000, "in the first attempt"),
        (3_100_000, 3_100_000, "in the first attempt"),
        (2_100_000, 3_100_000, "waiting for the first retry: it goes back"),
        (2_100_000, 2_100_000, "in the first retry: it was sent"),
        (2_100_000, 2_100_000, "in the first retry: it was sent"),
        (1_100_000, 2_100_000, "waiting for the second retry: it goes back, the first stays"),
        (1_100_000, 1_100_000, "in the second retry"),
        (1_100_000, 1_100_000, "in the second retry"),
        (1_100_000, 1_100_000, "after the end"),
    ];
    for (polls, (before, after, when)) in failing.into_iter().enumerate() {
        assert_eq!(around_drop(credit(), polls, NEVER).await, ((before, None), (after, None)), "{when}");
    }
    let succeeding = [3_000_000, 3_100_000, 3_100_000, 3_100_000, 2_100_000, 2_100_000, 2_100_000];
    for (polls, after) in succeeding.into_iter().enumerate() {
        assert_eq!(around_drop(credit(), polls, 2).await.1, (after, None), "after {polls} polls");
    }
}

#[tokio::test(start_paused = true)]
async fn concurrency_at_every_await() {
    // one call, which may have one retry: places free, and calls in progress
    let idle = (0, Some(0));
    let (waiting_or_retried, in_first) = ((0, Some(1)), (1, Some(1)));
    for polls in 0..=9 {
        let before = match polls {
            0 | 9 => idle,
            1 | 2 => in_first,
            _ => waiting_or_retried,
        };
        assert_eq!(around_drop(concurrency(), polls, NEVER).await, (before, idle), "after {polls} polls");
    }
    for polls in 0..=6 {
        assert_eq!(around_drop(concurrency(), polls, 2).await.1, idle, "after {polls} polls");
    }
}

#[tokio::test(start_paused = true)]
async fn grpc_at_every_await() {
    // what counts is the failure: a retry costs nothing and gives nothing back
    for (polls, left) in [10, 10, 10, 9, 9, 9, 8, 8, 8, 7].into_iter().enumerate() {
        let left = (left * 1_000, None);
        assert_eq!(around_drop(grpc(), polls, NEVER).await, (left, left), "after {polls} polls");
    }
    for (polls, left) in [10_000, 10_000, 10_000, 9_000, 9_000, 9_000, 9_100].into_iter().enumerate() {
        assert_eq!(around_drop(grpc(), polls, 2).await.1, (left, None), "after {polls} polls");
    }
}

/// What is left after a call whose body panics in this attempt.
async fn after_panic(budget: impl Budget + 'static, panics_at: u32) -> State {
    let budget = Arc::new(budget);
    let shared = budget.clone();
    let task = tokio::spawn(async move {
        retry(shared, &POLICY, async move |attempt| {
            assert_ne!(attempt.number(), panics_at, "on purpose");
            Err::<(), _>(Down)
        })
        .await
    });
    assert!(task.await.unwrap_err().is_panic());
    state(&budget)
}

#[tokio::test(start_paused = true)]
async fn a_panic_leaves_nothing_taken() {
    for (panics_at, credit_left, grpc_left) in [(1, 3_100_000, 10_000), (2, 2_100_000, 9_000), (3, 1_100_000, 8_000)] {
        assert_eq!(after_panic(credit(), panics_at).await, (credit_left, None));
        assert_eq!(after_panic(concurrency(), panics_at).await, (0, Some(0)));
        assert_eq!(after_panic(grpc(), panics_at).await, (grpc_left, None));
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_calls_dropped_all_over_leave_nothing_taken() {
    let budget = Arc::new(ConcurrencyBudget::builder("partner").build());
    for polls in (0..=9).cycle().take(1_000) {
        let call = pin!(call(budget.clone(), &POLICY, NEVER));
        polled(call, polls).await;
    }
    assert_eq!(state(&budget), (3, Some(0)));
}
