//! A call may be dropped at every await: nothing leaks, and what was never sent is not paid for.

#[path = "support/awaits.rs"]
mod awaits;
#[path = "support/recorder.rs"]
mod recorder;

use awaits::{Down, POLICY, call, polled};
use recorder::{Recorder, Told, assert_lawful};
use retry_budget_runtime::{Budget, CallEnd, Fate, Time, TokenBudget, WhenEmpty, retry};
use std::pin::pin;
use std::time::Duration;

/// Tokens left of 500 when a call is dropped after that many polls.
async fn left_after(polls: usize, succeeds_at: u32) -> (u64, bool) {
    let budget = TokenBudget::builder("partner").build();
    let done = {
        let call = pin!(call(&budget, &POLICY, succeeds_at));
        polled(call, polls).await
    };
    (budget.snapshot(Time::ZERO).available, done)
}

#[tokio::test(start_paused = true)]
async fn dropped_at_every_await_of_a_call_that_fails() {
    let left = [
        (500, "before it began"),
        (500, "in the first attempt"),
        (500, "in the first attempt"),
        (500, "waiting for the first retry: it goes back"),
        (486, "in the first retry: it was sent"),
        (486, "in the first retry: it was sent"),
        (486, "waiting for the second retry: it goes back, the first stays"),
        (472, "in the second retry"),
        (472, "in the second retry"),
        (472, "after the end"),
    ];
    for (polls, (tokens, when)) in left.into_iter().enumerate() {
        assert_eq!(left_after(polls, u32::MAX).await, (tokens, polls == 9), "{when}");
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_at_every_await_of_a_call_that_succeeds() {
    for (polls, tokens) in [500, 500, 500, 500, 486, 486, 500].into_iter().enumerate() {
        assert_eq!(left_after(polls, 2).await, (tokens, polls == 6), "after {polls} polls");
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_budget_is_told_at_every_await() {
    let first = Told::Begin;
    let dropped = Told::End(CallEnd::Dropped);
    let failed = [Told::Granted(1), Told::Settled(1, Fate::Failed)];
    let lives: [(usize, Vec<Told>); 8] = [
        (1, vec![first, dropped]),
        (2, vec![first, dropped]),
        (3, vec![first, Told::Granted(1), Told::Settled(1, Fate::NotSent), dropped]),
        (4, vec![first, Told::Granted(1), Told::Settled(1, Fate::Dropped), dropped]),
        (5, vec![first, Told::Granted(1), Told::Settled(1, Fate::Dropped), dropped]),
        (6, vec![first, failed[0], failed[1], Told::Granted(2), Told::Settled(2, Fate::NotSent), dropped]),
        (7, vec![first, failed[0], failed[1], Told::Granted(2), Told::Settled(2, Fate::Dropped), dropped]),
        (8, vec![first, failed[0], failed[1], Told::Granted(2), Told::Settled(2, Fate::Dropped), dropped]),
    ];
    for (polls, life) in lives {
        let budget = Recorder::granting(9);
        {
            let call = pin!(call(&budget, &POLICY, u32::MAX));
            assert!(!polled(call, polls).await);
        }
        assert_eq!(budget.told(), life, "after {polls} polls");
        assert_lawful(&life);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_polls_never_began() {
    let budget = Recorder::granting(9);
    drop(call(&budget, &POLICY, 1));
    assert_eq!(budget.told(), []);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_over_and_not_polled_has_sent_nothing() {
    let budget = TokenBudget::builder("partner").build();
    {
        let mut call = pin!(call(&budget, &POLICY, u32::MAX));
        assert!(!polled(call.as_mut(), 3).await);
        tokio::time::advance(Duration::from_secs(60)).await;
    }
    assert_eq!(budget.snapshot(Time::ZERO).available, 500);
}

#[tokio::test(start_paused = true)]
async fn dropped_in_the_pause_of_a_denied_call() {
    let pausing = POLICY.to_builder().when_empty(WhenEmpty::Pause).max_delay(Duration::from_secs(1_000_000)).build();
    let budget = Recorder::granting(0);
    {
        let call = pin!(call(&budget, &pausing, u32::MAX));
        assert!(!polled(call, 3).await, "it pauses for days");
    }
    assert_eq!(budget.told(), [Told::Begin, Told::Denied, Told::End(CallEnd::Failed)]);
}

#[tokio::test(start_paused = true)]
async fn cut_off_by_a_timeout() {
    let budget = TokenBudget::builder("partner").build();
    let never_done = retry(&budget, &POLICY, async |attempt| {
        if attempt.is_retry() {
            std::future::pending::<()>().await;
        }
        Err::<(), _>(Down)
    });
    assert!(tokio::time::timeout(Duration::from_millis(49), never_done).await.is_err());
    assert_eq!(budget.snapshot(Time::ZERO).available, 500, "cut off in the wait");
    let never_done = retry(&budget, &POLICY, async |attempt| {
        if attempt.is_retry() {
            std::future::pending::<()>().await;
        }
        Err::<(), _>(Down)
    });
    assert!(tokio::time::timeout(Duration::from_millis(51), never_done).await.is_err());
    assert_eq!(budget.snapshot(Time::ZERO).available, 486, "cut off in the retry");
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_body_is_a_drop() {
    for (panics_at, life) in [
        (1, vec![Told::Begin, Told::End(CallEnd::Dropped)]),
        (2, vec![Told::Begin, Told::Granted(1), Told::Settled(1, Fate::Dropped), Told::End(CallEnd::Dropped)]),
    ] {
        let budget = std::sync::Arc::new(Recorder::granting(9));
        let shared = budget.clone();
        let task = tokio::spawn(async move {
            retry(shared, &POLICY, async move |attempt| {
                assert_ne!(attempt.number(), panics_at, "on purpose");
                Err::<(), _>(Down)
            })
            .await
        });
        assert!(task.await.unwrap_err().is_panic());
        assert_eq!(budget.told(), life);
    }
}
