//! The async loop on a paused clock: what it waits, what it returns, and which budgets it takes.

use retry_budget_runtime::{
    Attempt, Budget, Jitter, RatioBudget, Retry, RetryKind, RetryPolicy, Retryable, Stop, StopReason, Time,
    TokenBudget, UNLIMITED, Verdict, WhenEmpty, retry,
};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::time::Instant;

const POLICY: RetryPolicy = RetryPolicy::builder().jitter(Jitter::None).build();

const fn token(capacity: u32) -> TokenBudget {
    TokenBudget::builder("partner").capacity(capacity).build()
}

fn left(budget: &dyn Budget) -> u64 {
    budget.snapshot(Time::ZERO).available
}

/// An error that says what it is told to say, and keeps what the loop tells it.
#[derive(Debug, PartialEq)]
struct Failure {
    verdict: Verdict,
    number: u32,
    told: Option<Stop>,
}

impl Retryable for Failure {
    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn exhausted(self, stop: Stop) -> Self {
        Self { told: Some(stop), ..self }
    }
}

fn failure(verdict: Verdict, attempt: Attempt) -> Result<u32, Failure> {
    Err(Failure { verdict, number: attempt.number(), told: None })
}

fn down(attempt: Attempt) -> Result<u32, Failure> {
    failure(Verdict::TRANSIENT, attempt)
}

/// When each attempt of a call started, in milliseconds after the first.
async fn starts(policy: &RetryPolicy, verdict: impl Fn(Attempt) -> Verdict) -> Vec<u128> {
    let begun = Instant::now();
    let starts = RefCell::new(Vec::new());
    let result = retry(&UNLIMITED, policy, async |attempt| {
        starts.borrow_mut().push(begun.elapsed().as_millis());
        failure(verdict(attempt), attempt)
    })
    .await;
    assert!(result.is_err());
    assert_eq!(begun.elapsed().as_millis(), *starts.borrow().last().unwrap(), "no wait after the last attempt");
    starts.into_inner()
}

#[tokio::test(start_paused = true)]
async fn it_waits_as_long_as_the_policy_says() {
    let policy = POLICY.to_builder().max_attempts(8).build();
    let transient = starts(&policy, |_| Verdict::TRANSIENT).await;
    assert_eq!(transient, [0, 50, 150, 350, 750, 1_550, 3_150, 5_150]);
    let throttling = starts(&POLICY, |_| Verdict::THROTTLING).await;
    assert_eq!(throttling, [0, 1_000, 3_000]);
    let told = starts(&POLICY, |_| Verdict::TRANSIENT.after(Duration::from_secs(7))).await;
    assert_eq!(told, [0, 7_000, 14_000]);
    let told_too_much = starts(&POLICY, |_| Verdict::TRANSIENT.after(Duration::from_secs(21))).await;
    assert_eq!(told_too_much, [0]);
}

#[tokio::test(start_paused = true)]
async fn jitter_stays_within_the_delay() {
    let policy = RetryPolicy::builder().max_attempts(2).build();
    let mut waits = Vec::new();
    for _ in 0..200 {
        waits.push(starts(&policy, |_| Verdict::TRANSIENT).await[1]);
    }
    // tokio's timer rounds up to its next millisecond
    assert!(waits.iter().all(|&wait| wait <= 51), "{waits:?}");
    assert!(waits.iter().any(|&wait| wait < 25) && waits.iter().any(|&wait| wait >= 25), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn the_value_of_the_attempt_that_succeeds() {
    let budget = token(500);
    let result =
        retry(&budget, &POLICY, async |attempt| if attempt.is_retry() { Ok(attempt.number()) } else { down(attempt) })
            .await;
    assert_eq!(result, Ok(2));
    assert_eq!(left(&budget), 500, "the retry succeeded, so its cost came back");
}

#[tokio::test(start_paused = true)]
async fn the_last_error_and_what_it_was_told() {
    let budget = token(500);
    let error = retry(&budget, &POLICY, async |attempt| down(attempt)).await.unwrap_err();
    assert_eq!(error.number, 3);
    let told = error.told.expect("a retry was wanted");
    assert_eq!((told.reason, told.attempts), (StopReason::AttemptsUsedUp, 3));
    assert_eq!(told.since_first_failure, Duration::from_millis(150));

    let never = retry(&budget, &POLICY, async |attempt| failure(Verdict::NEVER, attempt)).await.unwrap_err();
    assert_eq!((never.number, never.told), (1, None), "no retry was wanted");
}

#[tokio::test(start_paused = true)]
async fn explained_says_why() {
    let reasons = [
        (POLICY, Verdict::NEVER, StopReason::NotRetryable),
        (POLICY.to_builder().max_attempts(1).build(), Verdict::TRANSIENT, StopReason::AttemptsUsedUp),
        (POLICY, Verdict::TRANSIENT, StopReason::BudgetEmpty),
        (POLICY, Verdict::TRANSIENT.after(Duration::MAX), StopReason::HintTooFar),
        (POLICY.to_builder().idempotent(false).build(), Verdict::TRANSIENT, StopReason::NotIdempotent),
    ];
    for (policy, verdict, reason) in reasons {
        let empty = TokenBudget::builder("partner").initial(0).build();
        let gave_up = retry(&empty, &policy, async |attempt| failure(verdict, attempt)).explained().await.unwrap_err();
        assert_eq!((gave_up.stop().reason, gave_up.stop().attempts), (reason, 1));
        assert_eq!(gave_up.stop().budget, "partner");
        assert_eq!(gave_up.verdict(), Verdict::NEVER, "a layer above doesn't try again");
        assert_eq!(gave_up.into_error().number, 1);
    }
    let fine = retry(&UNLIMITED, &POLICY, async |_| Ok::<_, Failure>(7)).explained().await;
    assert_eq!(fine.unwrap(), 7);
}

#[tokio::test(start_paused = true)]
async fn a_function_classifies_what_does_not_itself() {
    async fn cost<V: Into<Verdict>>(classify: impl Fn(&&str) -> V) -> u64 {
        let budget = token(500);
        let policy = POLICY.to_builder().max_attempts(2).build();
        let result = Retry::new(&budget, &policy).classify(classify).run(async |_| Err::<(), _>("down")).await;
        assert_eq!(result, Err("down"));
        500 - left(&budget)
    }
    assert_eq!(cost(|_| true).await, 14);
    assert_eq!(cost(|_| false).await, 0);
    assert_eq!(cost(|_| Some(RetryKind::Throttling)).await, 5);
    assert_eq!(cost(|_| None::<RetryKind>).await, 0);
    assert_eq!(cost(|_| RetryKind::Transient).await, 14);
    assert_eq!(cost(|_| Verdict::THROTTLING.after(Duration::from_secs(1))).await, 5);
    assert_eq!(cost(|error| *error == "down").await, 14);
    assert_eq!(cost(|error| *error == "up").await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_pauses_if_told_so() {
    let pausing = POLICY.to_builder().when_empty(WhenEmpty::Pause).build();
    let empty = TokenBudget::builder("partner").initial(0).build();
    let mut paused = Vec::new();
    for _ in 0..100 {
        let begun = Instant::now();
        let error = retry(&empty, &pausing, async |attempt| down(attempt)).await.unwrap_err();
        assert_eq!(error.told.unwrap().reason, StopReason::BudgetEmpty);
        paused.push(begun.elapsed());
    }
    let (half, most) = (Duration::from_secs(1), Duration::from_millis(2_001));
    assert!(paused.iter().all(|&pause| pause <= most), "{paused:?}");
    assert!(paused.iter().any(|&pause| pause < half) && paused.iter().any(|&pause| pause > half), "{paused:?}");

    let begun = Instant::now();
    let _ = retry(&empty, &POLICY, async |attempt| down(attempt)).await;
    assert_eq!(begun.elapsed(), Duration::ZERO, "it fails at once unless told to pause");
}

#[test]
fn no_delay_needs_no_timer() {
    let at_once =
        POLICY.to_builder().base_delay(Duration::ZERO).throttling_base_delay(Duration::ZERO).max_attempts(4).build();
    let without_timer = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for verdict in [Verdict::TRANSIENT, Verdict::THROTTLING, Verdict::TRANSIENT.after(Duration::ZERO)] {
        let result = without_timer.block_on(retry(&UNLIMITED, &at_once, async |attempt| failure(verdict, attempt)));
        assert_eq!(result.unwrap_err().number, 4);
    }
}

/// Takes a budget in any of its clothes through a call with two retries.
async fn takes(budget: impl Budget) {
    let result = retry(budget, &POLICY, async |attempt| down(attempt)).await;
    assert_eq!(result.unwrap_err().number, 3);
}

#[tokio::test(start_paused = true)]
async fn a_budget_behind_any_pointer() {
    static STATIC: TokenBudget = token(500);
    static LAZY: LazyLock<TokenBudget> = LazyLock::new(|| token(500));
    static LAZY_DYN: LazyLock<Box<dyn Budget>> = LazyLock::new(|| Box::new(token(500)));

    takes(&STATIC).await;
    assert_eq!(left(&STATIC), 472);
    takes(&&STATIC).await;
    assert_eq!(left(&STATIC), 444);
    takes(&STATIC as &dyn Budget).await;
    assert_eq!(left(&STATIC), 416);
    takes(&*LAZY).await;
    takes(&LAZY).await;
    assert_eq!(left(&*LAZY), 444);
    takes(&LAZY_DYN).await;
    assert_eq!(left(&*LAZY_DYN), 472);

    let shared = Arc::new(token(500));
    takes(shared.clone()).await;
    takes(&shared).await;
    let shared: Arc<dyn Budget> = shared;
    takes(shared.clone()).await;
    assert_eq!(left(&shared), 416);

    let boxed: Box<dyn Budget> = Box::new(token(500));
    takes(&boxed).await;
    assert_eq!(left(&boxed), 472);
    takes(boxed).await;
    takes(token(28)).await;
}

#[tokio::test(start_paused = true)]
async fn a_pointer_forwards_the_clock_too() {
    // a budget that reads the clock must see it through any pointer: forty requests now, none later
    let ratio: Arc<dyn Budget> = Arc::new(RatioBudget::builder("partner").min_retries(0).build());
    for _ in 0..40 {
        let _ = retry(&ratio, &POLICY, async |attempt| Ok::<_, Failure>(attempt.number())).await;
    }
    let requests = |at| ratio.snapshot(at).requests;
    assert_eq!(requests(Time::now()), Some(40));
    tokio::time::advance(Duration::from_secs(5)).await;
    let _ = retry(&ratio, &POLICY, async |attempt| Ok::<_, Failure>(attempt.number())).await;
    assert_eq!(requests(Time::now()), Some(41));
    tokio::time::advance(Duration::from_secs(6)).await;
    assert_eq!(requests(Time::now()), Some(1));
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_tasks_share_a_token_budget() {
    let budget = Arc::new(token(500));
    let attempts = Arc::new(AtomicU32::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..10_000 {
        let (budget, attempts) = (budget.clone(), attempts.clone());
        tasks.spawn(async move {
            retry(budget, &POLICY, async move |attempt| {
                attempts.fetch_add(1, Relaxed);
                down(attempt)
            })
            .await
        });
    }
    assert!(tasks.join_all().await.iter().all(Result::is_err));
    // 500 pay for 35 retries of 14, and 10 are left
    assert_eq!(attempts.load(Relaxed), 10_035);
    assert_eq!(left(&budget), 10);
    assert_eq!(budget.snapshot(Time::ZERO).granted, 35);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_tasks_share_a_ratio_budget() {
    let budget = Arc::new(RatioBudget::builder("partner").build());
    let attempts = Arc::new(AtomicU32::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..10_000 {
        let (budget, attempts) = (budget.clone(), attempts.clone());
        tasks.spawn(async move {
            retry(budget, &POLICY, async move |attempt| {
                attempts.fetch_add(1, Relaxed);
                // every call has begun before the first fails
                tokio::time::sleep(Duration::from_millis(10)).await;
                down(attempt)
            })
            .await
        });
    }
    assert!(tasks.join_all().await.iter().all(Result::is_err));
    assert_eq!(attempts.load(Relaxed), 11_000, "a tenth of the requests, all of it within a second");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_can_be_spawned() {
    fn is_send<F: Future + Send + 'static>(future: F) -> F {
        future
    }
    static BUDGET: TokenBudget = token(500);
    let at_once = POLICY.to_builder().base_delay(Duration::ZERO).build();
    let call = is_send(async move {
        retry(&BUDGET, &at_once, async |attempt| if attempt.number() == 3 { Ok(7) } else { down(attempt) })
            .explained()
            .await
            .map_err(|gave_up| gave_up.stop().reason)
    });
    assert_eq!(tokio::spawn(call).await.unwrap(), Ok(7));
    // an error that isn't `Send` doesn't keep the call from being so: it is gone before the wait
    let call = is_send(async {
        Retry::new(&BUDGET, &RetryPolicy::REQUEST).classify(|_: &&str| false).run(async |_| Err::<(), _>("down")).await
    });
    assert_eq!(tokio::spawn(call).await.unwrap(), Err("down"));
}

#[tokio::test(start_paused = true)]
async fn an_operation_may_borrow_and_change_what_is_around_it() {
    let mut log = Vec::new();
    let station = String::from("Alexanderplatz");
    let not_sync = Cell::new(0);
    let result = retry(&UNLIMITED, &POLICY, async |attempt| {
        log.push(format!("{station} {}", attempt.number()));
        not_sync.set(not_sync.get() + 1);
        tokio::task::yield_now().await;
        down(attempt)
    })
    .await;
    assert!(result.is_err());
    assert_eq!(log, ["Alexanderplatz 1", "Alexanderplatz 2", "Alexanderplatz 3"]);
    assert_eq!(not_sync.get(), 3);
}
