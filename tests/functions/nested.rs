//! Layers of loops don't multiply their attempts.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::{RetryPolicy, Retryable, StopReason, Verdict, retry, retry_blocking, retry_budget};
use std::io;
use std::sync::Mutex;

const QUICK: RetryPolicy = RetryPolicy::builder().base_delay(std::time::Duration::ZERO).build();

#[retry_budget(budget = PLENTY)]
async fn leaf(partner: &Flaky) -> Result<u32, Lost> {
    partner.run_later().await
}

/// Another type, which says nothing of what happened inside.
#[retry_budget(budget = PLENTY)]
async fn middle(partner: &Flaky) -> io::Result<u32> {
    tokio::task::yield_now().await;
    let answer = leaf(partner).await;
    tokio::task::yield_now().await;
    answer.map_err(|_| io::ErrorKind::ConnectionReset.into())
}

#[retry_budget(budget = PLENTY, classify = |_| true, on_stop = |event| stops.lock().unwrap().push(event.stop.reason))]
async fn top(partner: &Flaky, stops: &Mutex<Vec<StopReason>>) -> Result<u32, String> {
    let (answer, other) = tokio::join!(middle(partner), tokio::task::yield_now());
    let () = other;
    answer.map_err(|error| error.to_string())
}

#[tokio::test(start_paused = true)]
async fn three_layers_make_three_attempts() {
    let (partner, stops) = (Flaky::succeeds_at(u32::MAX), Mutex::default());
    assert!(top(&partner, &stops).await.is_err());
    assert_eq!(partner.runs(), 3);
    assert_eq!(stops.into_inner().unwrap(), [StopReason::GaveUpInside]);
}

#[tokio::test(start_paused = true)]
async fn a_loop_inside_that_succeeds_leaves_no_mark() {
    /// The leaf succeeds at its second attempt; what comes after it fails twice.
    #[retry_budget(budget = PLENTY)]
    async fn outer(partner: &Flaky, after: &Flaky) -> Result<u32, Lost> {
        leaf(partner).await?;
        after.run()
    }
    let (partner, after) = (Flaky::succeeds_at(2), Flaky::succeeds_at(3));
    assert_eq!(outer(&partner, &after).await, Ok(3));
    assert_eq!((partner.runs(), after.runs()), (4, 3));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_recovers_leaves_no_mark() {
    /// Two layers around a leaf that is given up; the inner one has something else to return.
    #[retry_budget(budget = PLENTY)]
    async fn with_fallback(partner: &Flaky) -> Result<u32, Lost> {
        Ok(leaf(partner).await.unwrap_or(7))
    }
    #[retry_budget(budget = PLENTY)]
    async fn outer(partner: &Flaky, after: &Flaky) -> Result<u32, Lost> {
        let fallback = with_fallback(partner).await?;
        after.run()?;
        Ok(fallback)
    }
    // within one attempt of `outer` the leaf gave up and was recovered from; that `after` fails is another matter
    let (partner, after) = (Flaky::succeeds_at(u32::MAX), Flaky::succeeds_at(2));
    assert_eq!(outer(&partner, &after).await, Ok(7));
    assert_eq!((partner.runs(), after.runs()), (6, 2));
}

#[tokio::test(start_paused = true)]
async fn nested_retry_opts_out() {
    #[retry_budget(budget = PLENTY, nested = "retry", max_attempts = 2)]
    async fn insists(partner: &Flaky) -> Result<u32, Lost> {
        leaf(partner).await
    }
    #[retry_budget(budget = PLENTY)]
    async fn above(partner: &Flaky) -> Result<u32, Lost> {
        insists(partner).await
    }
    let partner = Flaky::succeeds_at(u32::MAX);
    assert_eq!(above(&partner).await, Err(Lost(6)));
    assert_eq!(partner.runs(), 6, "the loop that insists gives up in the end, and the one above doesn't go on");
}

#[tokio::test(start_paused = true)]
async fn a_sibling_task_is_not_seen() {
    #[retry_budget(budget = PLENTY, base_delay = "10ms", jitter = "none")]
    async fn alone(partner: &Flaky) -> Result<u32, Lost> {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        partner.run()
    }
    // on one thread, a task that gives up again and again while another is between its polls
    let noise = tokio::spawn(async {
        for _ in 0..100 {
            let _ = leaf(&Flaky::succeeds_at(u32::MAX)).await;
        }
    });
    for _ in 0..50 {
        assert_eq!(alone(&Flaky::succeeds_at(3)).await, Ok(3));
    }
    noise.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn functions_and_blocking_loops_are_layers_too() {
    let partner = Flaky::succeeds_at(u32::MAX);
    let by_function = retry(&PLENTY, &RetryPolicy::REQUEST, async |_| leaf(&partner).await).await;
    assert_eq!((by_function, partner.runs()), (Err(Lost(3)), 3));

    let partner = Flaky::succeeds_at(u32::MAX);
    let blocking = retry_blocking(&PLENTY, &QUICK, |_| retry_blocking(&PLENTY, &QUICK, |_| partner.run()));
    assert_eq!((blocking, partner.runs()), (Err(Lost(3)), 3));

    let partner = Flaky::succeeds_at(u32::MAX);
    let block = retry_budget::retry!(budget = PLENTY, async || -> Result<u32, Lost> { leaf(&partner).await }).await;
    assert_eq!((block, partner.runs()), (Err(Lost(3)), 3));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_not_to_come_back_has_given_up() {
    #[derive(Debug)]
    struct DoNotRetry;
    impl Retryable for DoNotRetry {
        fn verdict(&self) -> Verdict {
            Verdict::TRANSIENT.given_up()
        }
    }
    #[retry_budget(budget = PLENTY)]
    async fn told(partner: &Flaky) -> Result<u32, DoNotRetry> {
        partner.run().map_err(|_| DoNotRetry)
    }
    #[retry_budget(budget = PLENTY)]
    async fn above(partner: &Flaky) -> Result<u32, Lost> {
        told(partner).await.map_err(|_| Lost(0))
    }
    let partner = Flaky::succeeds_at(u32::MAX);
    assert_eq!(above(&partner).await, Err(Lost(0)));
    assert_eq!(partner.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_has_something_else_to_try_says_so() {
    #[retry_budget(budget = PLENTY, nested = "retry")]
    async fn replica_then_primary(replica: &Flaky, primary: &Flaky) -> Result<u32, Lost> {
        if let Ok(run) = leaf(replica).await {
            return Ok(run);
        }
        primary.run()
    }
    let (replica, primary) = (Flaky::succeeds_at(u32::MAX), Flaky::succeeds_at(2));
    assert_eq!(replica_then_primary(&replica, &primary).await, Ok(2));
    assert_eq!((replica.runs(), primary.runs()), (6, 2));
}
