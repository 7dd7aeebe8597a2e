//! A call may be dropped at any point: what was never sent is not paid for.

use crate::recorder::{Recorder, Told, assert_lawful};
use crate::{Mock, SLOW, every_error};
use retry_budget::tower_0_5::RetryLayer;
use retry_budget::{Budget, CallEnd, Fate, Time, TokenBudget};
use std::time::Duration;
use tokio_test::{assert_ready_ok, task};
use tower_layer::Layer;
use tower_test::mock;

/// Goes through a call that fails each time, step by step, and drops it after that many.
async fn walk<B: Budget + Clone>(budget: B, steps: usize) {
    let (inner, mut handle): (Mock, _) = mock::pair();
    let mut service = mock::Spawn::new(RetryLayer::new(budget, SLOW).classify(every_error).layer(inner));
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));
    for step in 0..steps {
        if step % 2 == 0 {
            let (_, answer) = handle.next_request().await.unwrap();
            answer.send_error("down"); // from here on it waits, or is over
        } else {
            tokio::time::advance(Duration::from_secs(2)).await; // the wait is over: the retry is sent
        }
        assert_eq!(call.poll().is_ready(), step == 4);
    }
}

/// What a token budget has left of 500, and what another is told.
async fn dropped_after(steps: usize) -> (u64, Vec<Told>) {
    let (budget, recorder) = (TokenBudget::builder("partner").build(), Recorder::granting(9));
    walk(&budget, steps).await;
    walk(&recorder, steps).await;
    assert_lawful(&recorder.told());
    (budget.snapshot(Time::ZERO).available, recorder.told())
}

#[tokio::test(start_paused = true)]
async fn at_every_step_of_a_call_that_fails() {
    let steps = [
        (500, "in the first attempt"),
        (500, "waiting for the first retry: it goes back"),
        (486, "in the first retry: it was sent"),
        (486, "waiting for the second retry: it goes back, the first stays"),
        (472, "in the second retry"),
        (472, "after the end"),
    ];
    for (number, (tokens, when)) in steps.into_iter().enumerate() {
        assert_eq!(dropped_after(number).await.0, tokens, "{when}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_budget_is_told() {
    let [first, dropped] = [Told::Begin, Told::End(CallEnd::Dropped)];
    assert_eq!(dropped_after(0).await.1, [first, dropped]);
    assert_eq!(dropped_after(1).await.1, [first, Told::Granted(1), Told::Settled(1, Fate::NotSent), dropped]);
    assert_eq!(dropped_after(2).await.1, [first, Told::Granted(1), Told::Settled(1, Fate::Dropped), dropped]);
}

#[tokio::test(start_paused = true)]
async fn before_its_first_poll() {
    let recorder = Recorder::granting(9);
    let (inner, _handle): (Mock, _) = mock::pair();
    let mut service = mock::Spawn::new(RetryLayer::new(&recorder, SLOW).classify(every_error).layer(inner));
    assert_ready_ok!(service.poll_ready());
    drop(service.call("hello"));
    assert_eq!(recorder.told(), [Told::Begin, Told::End(CallEnd::Dropped)]);
}
