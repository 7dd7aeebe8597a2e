//! Attempts and calls that may take only so long, and values that are failures.

use crate::PLENTY;
use retry_budget::{Elapsed, Exhausted, Limit, NEVER, Retryable, StopReason, Time, Timer, TokenBudget, retry_budget};
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;
use tokio::time::{Instant, sleep};

#[derive(Debug, thiserror::Error, Retryable)]
enum PartnerError {
    #[error("busy")]
    #[retry(throttling, after = after)]
    Busy { after: Option<Duration> },
    #[error("lost")]
    #[retry(transient)]
    Lost,
    #[error("out of time: {0}")]
    #[retry(transient)]
    Elapsed(#[from] Elapsed),
    #[error("gave up: {0}")]
    #[retry(exhausted)]
    GaveUp(Box<Exhausted<Self>>),
}

impl PartnerError {
    fn gave_up(self) -> (StopReason, Self) {
        match self {
            Self::GaveUp(gave_up) => (gave_up.stop().reason, gave_up.into_error()),
            other => panic!("{other}"),
        }
    }
}

fn seconds(started: Instant) -> f64 {
    // the timer counts whole milliseconds
    (started.elapsed().as_secs_f64() * 100.0).round() / 100.0
}

/// Fails at its first run at once, and takes forever from then on.
#[retry_budget(budget = PLENTY, attempt_timeout = "1s", base_delay = "500ms", jitter = "none")]
async fn slow(runs: &AtomicU32) -> Result<(), PartnerError> {
    if runs.fetch_add(1, SeqCst) == 0 {
        return Err(PartnerError::Lost);
    }
    sleep(Duration::from_secs(1000)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_takes_too_long_is_a_transient_failure() {
    let (runs, started) = (AtomicU32::new(0), Instant::now());
    let (reason, error) = slow(&runs).await.unwrap_err().gave_up();
    assert_eq!((runs.into_inner(), reason), (3, StopReason::AttemptsUsedUp));
    assert_eq!(
        error.to_string(),
        "out of time: attempt 3 timed out after 1s (the attempt before it failed: out of time: attempt 2 timed out \
         after 1s (the attempt before it failed: lost))"
    );
    assert!((seconds(started) - (0.5 + 1.0 + 1.0 + 1.0)).abs() < f64::EPSILON);
}

#[retry_budget(budget = budget, deadline = limit, jitter = "none", base_delay = "1s", max_attempts = 9)]
async fn before<D: retry_budget::IntoDeadline + Send>(
    budget: &TokenBudget,
    limit: D,
    attempt_takes: Duration,
) -> Result<(), PartnerError> {
    sleep(attempt_takes).await;
    Err(PartnerError::Lost)
}

const fn budget() -> TokenBudget {
    TokenBudget::builder("limits").build()
}

fn available(budget: &TokenBudget) -> u64 {
    retry_budget::Budget::snapshot(budget, Time::now()).available
}

#[tokio::test(start_paused = true)]
async fn no_wait_is_begun_that_ends_at_the_deadline() {
    // attempts at 0 and 1; the third would begin at 3
    let (budget, started) = (budget(), Instant::now());
    let (reason, error) = before(&budget, Duration::from_secs(3), Duration::ZERO).await.unwrap_err().gave_up();
    assert_eq!((reason, error.to_string()), (StopReason::Deadline, "lost".to_owned()));
    assert!(seconds(started) < 1.1, "{started:?}");
    assert_eq!(available(&budget), 486, "the wait that would be too long isn't charged");
    let started = Instant::now();
    let _ = before(&budget, Duration::from_millis(3_100), Duration::ZERO).await;
    assert!(seconds(started) > 2.9, "a little more time is a third attempt");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_cuts_a_running_attempt_off() {
    let (budget, started) = (budget(), Instant::now());
    let (reason, error) =
        before(&budget, Duration::from_millis(1_500), Duration::from_millis(400)).await.unwrap_err().gave_up();
    assert_eq!(reason, StopReason::Deadline);
    assert_eq!(
        error.to_string(),
        "out of time: the deadline passed in attempt 2, after 100ms (the attempt before it failed: lost)"
    );
    assert!(seconds(started) <= 1.51);
    assert_eq!(available(&budget), 486, "the retry was sent");
}

#[tokio::test(start_paused = true)]
async fn every_form_of_a_deadline() {
    let now = Instant::now();
    let later = now + Duration::from_secs(2);
    let attempts = |left: u64| (500 - left) / 14 + 1;
    let of = async |deadline: Box<dyn Fn(&'static TokenBudget) -> _>| {
        let budget: &'static TokenBudget = Box::leak(Box::new(budget()));
        let call: std::pin::Pin<Box<dyn Future<Output = Result<(), PartnerError>>>> = deadline(budget);
        assert!(call.await.is_err());
        attempts(available(budget))
    };
    assert_eq!(of(Box::new(move |b| Box::pin(before(b, later, Duration::ZERO)))).await, 2);
    let later = Instant::now() + Duration::from_secs(2);
    assert_eq!(of(Box::new(move |b| Box::pin(before(b, later.into_std(), Duration::ZERO)))).await, 2);
    assert_eq!(of(Box::new(|b| Box::pin(before(b, Some(Duration::from_secs(2)), Duration::ZERO)))).await, 2);
    assert_eq!(of(Box::new(|b| Box::pin(before(b, None::<Instant>, Duration::ZERO)))).await, 9);
    assert_eq!(of(Box::new(move |b| Box::pin(before(b, now, Duration::ZERO)))).await, 1, "one that is past");
    assert_eq!(of(Box::new(|b| Box::pin(before(b, Duration::MAX, Duration::ZERO)))).await, 9);
}

#[retry_budget(budget = PLENTY, deadline = "10s", attempt_timeout = "4s", attempt = attempt, jitter = "none", base_delay = "2s", on_stop = |event| seen.lock().unwrap().push(event.stop.reason))]
async fn both(seen: &Mutex<Vec<StopReason>>, left: &Mutex<Vec<u128>>) -> io::Result<()> {
    left.lock().unwrap().push(attempt.remaining().unwrap().as_millis().div_ceil(100));
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn the_shorter_of_two_limits_counts() {
    let (seen, left) = <(Mutex<Vec<_>>, Mutex<Vec<_>>)>::default();
    let error = both(&seen, &left).await.unwrap_err();
    // 0 to 4, 6 to 10
    assert_eq!(left.into_inner().unwrap(), [100, 40]);
    assert_eq!(seen.into_inner().unwrap(), [StopReason::Deadline]);
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    let elapsed = error.get_ref().unwrap().downcast_ref::<Elapsed>().unwrap();
    assert_eq!((elapsed.limit, elapsed.attempt), (Limit::Deadline, 2));
}

#[derive(Debug, PartialEq)]
struct NoDisplay(Option<Limit>);

#[retry_budget(budget = PLENTY, attempt_timeout = Duration::from_secs(1), elapsed = |elapsed| NoDisplay(Some(elapsed.limit)), classify = |_| true, max_attempts = 2)]
async fn by_function(runs: &AtomicU32) -> Result<(), NoDisplay> {
    if runs.fetch_add(1, SeqCst) == 0 {
        return Err(NoDisplay(None));
    }
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn somebody_elses_error() {
    assert_eq!(by_function(&AtomicU32::new(0)).await, Err(NoDisplay(Some(Limit::AttemptTimeout))));
    assert_eq!(by_function(&AtomicU32::new(1)).await, Err(NoDisplay(Some(Limit::AttemptTimeout))));
}

#[retry_budget(
    budget = PLENTY,
    classify_ok = |status| *status >= 500,
    on_stop = |event| assert!(matches!(event.error, Ok(503) | Err(_))),
)]
async fn status(runs: &AtomicU32, answers: [u16; 3]) -> io::Result<u16> {
    Ok(answers[runs.fetch_add(1, SeqCst) as usize])
}

#[tokio::test(start_paused = true)]
async fn a_value_can_be_a_failure() {
    let runs = AtomicU32::new(0);
    assert_eq!(status(&runs, [500, 200, 200]).await.unwrap(), 200);
    assert_eq!(runs.into_inner(), 2);
    let runs = AtomicU32::new(0);
    assert_eq!(status(&runs, [500, 502, 503]).await.unwrap(), 503, "the value comes back as it is");
    assert_eq!(runs.into_inner(), 3);
    assert_eq!(status(&AtomicU32::new(0), [404, 200, 200]).await.unwrap(), 404);
}

#[retry_budget(budget = PLENTY, retry_after_limit = "10s", jitter = "none")]
async fn hinted(after: Duration) -> Result<(), PartnerError> {
    Err(PartnerError::Busy { after: Some(after) })
}

#[tokio::test(start_paused = true)]
async fn hints_are_honoured_up_to_the_limit() {
    let started = Instant::now();
    let (reason, _) = hinted(Duration::from_secs(10)).await.unwrap_err().gave_up();
    assert_eq!((reason, started.elapsed().as_secs()), (StopReason::AttemptsUsedUp, 20));
    let started = Instant::now();
    let (reason, _) = hinted(Duration::from_millis(10_001)).await.unwrap_err().gave_up();
    assert_eq!((reason, started.elapsed().as_secs()), (StopReason::HintTooFar, 0));
}

#[retry_budget(budget = NEVER, deadline = "1s", when_empty = "pause", max_delay = "1h")]
async fn pauses() -> io::Result<()> {
    sleep(Duration::from_millis(600)).await;
    Err(io::ErrorKind::TimedOut.into())
}

#[tokio::test(start_paused = true)]
async fn a_pause_ends_by_the_deadline() {
    for _ in 0..50 {
        let started = Instant::now();
        assert!(pauses().await.is_err());
        assert!(seconds(started) <= 1.01, "{}", seconds(started));
    }
}

/// A clock that stands still, and a sleep that is over at once and is written down.
struct Instantly;

static SLEPT: Mutex<Vec<Duration>> = Mutex::new(Vec::new());

impl Timer for Instantly {
    type Sleep = std::future::Ready<()>;

    fn now() -> Time {
        Time::from_millis(7)
    }

    fn sleep(duration: Duration) -> Self::Sleep {
        SLEPT.lock().unwrap().push(duration);
        std::future::ready(())
    }
}

#[retry_budget(budget = PLENTY, timer = Instantly, jitter = "none")]
async fn by_another_timer(runs: &AtomicU32) -> io::Result<()> {
    runs.fetch_add(1, SeqCst);
    Err(io::ErrorKind::TimedOut.into())
}

#[test]
fn another_timer_needs_no_tokio() {
    let runs = AtomicU32::new(0);
    let mut call = std::pin::pin!(by_another_timer(&runs));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(call.as_mut().poll(&mut context).is_ready());
    assert_eq!(*SLEPT.lock().unwrap(), [Duration::from_millis(50), Duration::from_millis(100)]);
    assert_eq!(runs.load(SeqCst), 3);
}

/// Always has something to do, so that it uses up what tokio lets a task do before it yields.
#[retry_budget(budget = NEVER, attempt_timeout = "1s")]
async fn busy() -> io::Result<()> {
    loop {
        tokio::task::consume_budget().await;
        if tokio::task::coop::has_budget_remaining() {
            continue;
        }
        tokio::time::advance(Duration::from_millis(10)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_busy_attempt_is_cut_off_too() {
    assert_eq!(busy().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
}
