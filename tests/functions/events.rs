//! What a call tells while it runs, and when it stops.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::{Attempt, NEVER, RetryEvent, RetryKind, StopEvent, StopReason, retry_budget};
use std::sync::Mutex;
use std::time::Duration;

type Log = Mutex<Vec<String>>;

#[retry_budget(
    budget = PLENTY,
    jitter = "none",
    on_retry = |event| log.lock().unwrap().push(format!("{} failed ({}): {:?}, {:?}, {}", event.attempt, event.kind, event.error, event.delay, event.budget)),
    on_stop = |event| log.lock().unwrap().push(format!("{:?}: {}", event.error, event.stop)),
)]
async fn observed(partner: &Flaky, log: &Log) -> Result<u32, Lost> {
    partner.run_later().await
}

static SEEN: Mutex<Vec<(u32, StopReason)>> = Mutex::new(Vec::new());

fn note_retry<E>(event: &RetryEvent<'_, E>) {
    assert_eq!(event.kind, RetryKind::Transient);
}

fn note_stop<E>(event: &StopEvent<'_, E>) {
    SEEN.lock().unwrap().push((event.stop.attempts, event.stop.reason));
}

#[retry_budget(budget = NEVER, on_retry = note_retry, on_stop = note_stop)]
async fn observed_by_functions(partner: &Flaky) -> Result<u32, Lost> {
    partner.run_later().await
}

#[retry_budget(budget = PLENTY, attempt = n)]
async fn sees_the_attempt(partner: &Flaky) -> Result<Vec<u32>, Lost> {
    let Attempt { .. } = n;
    assert_eq!(n.is_retry(), n.number() > 1);
    assert_eq!(n.last_failure(), n.is_retry().then_some(RetryKind::Transient));
    let run = partner.run_later().await?;
    Ok(vec![run, n.number()])
}

#[retry_budget(budget = NEVER, when_empty = "pause", max_delay = "4s")]
async fn pauses(partner: &Flaky) -> Result<u32, Lost> {
    partner.run_later().await
}

#[tokio::test(start_paused = true)]
async fn retries_and_stops_are_told() {
    let log = Log::default();
    let started = tokio::time::Instant::now();
    assert_eq!(observed(&Flaky::succeeds_at(9), &log).await, Err(Lost(3)));
    assert_eq!(started.elapsed(), Duration::from_millis(150));
    assert_eq!(
        log.into_inner().unwrap(),
        [
            "1 failed (transient): Lost(1), 50ms, plenty",
            "2 failed (transient): Lost(2), 100ms, plenty",
            "Lost(3): no attempts left (3 attempts, 150ms after the first failure)",
        ]
    );
    let log = Log::default();
    assert_eq!(observed(&Flaky::succeeds_at(1), &log).await, Ok(1));
    assert!(log.into_inner().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn functions_are_told() {
    assert_eq!(observed_by_functions(&Flaky::succeeds_at(9)).await, Err(Lost(1)));
    assert_eq!(*SEEN.lock().unwrap(), [(1, StopReason::BudgetEmpty)]);
}

#[tokio::test(start_paused = true)]
async fn the_body_sees_its_attempt() {
    assert_eq!(sees_the_attempt(&Flaky::succeeds_at(3)).await, Ok(vec![3, 3]));
}

#[tokio::test(start_paused = true)]
async fn a_denied_worker_pauses() {
    let mut longest = Duration::ZERO;
    for _ in 0..100 {
        let started = tokio::time::Instant::now();
        assert_eq!(pauses(&Flaky::succeeds_at(9)).await, Err(Lost(1)));
        longest = longest.max(started.elapsed());
    }
    // 100 draws from [0, 4 s), rounded up to the timer's millisecond; all below 2 s once in 2^100 runs
    assert!(longest > Duration::from_secs(2) && longest <= Duration::from_secs(4), "{longest:?}");
}
