//! The token budget, row by row: what each step leaves in the bucket, and how long the call waits.
//!
//! Unless a row says otherwise: capacity 500, costs 14 and 5, refund 1, three attempts, no jitter, delays from 50 ms
//! (1 s after throttling) up to 20 s.

use retry_budget_runtime::{
    Budget, CallEnd, Decision, Fate, Grant, Jitter, Retry, RetryKind, RetryPolicy, Run, Stop, StopReason, Time,
    TokenBudget, UNLIMITED, Verdict, retry,
};
use std::time::Duration;

const POLICY: RetryPolicy = RetryPolicy::AWS_STANDARD.to_builder().jitter(Jitter::None).build();

const fn attempts(max: u32) -> RetryPolicy {
    POLICY.to_builder().max_attempts(max).build()
}

const fn of_capacity(capacity: u32) -> TokenBudget {
    TokenBudget::builder("partner").capacity(capacity).build()
}

const fn with_left(tokens: u32) -> TokenBudget {
    TokenBudget::builder("partner").initial(tokens).build()
}

fn left(budget: &dyn Budget) -> u64 {
    budget.snapshot(Time::ZERO).available
}

/// One call, one line a step: what happens, tokens left after it, delay in milliseconds.
struct Call<'b> {
    run: Run<&'b TokenBudget>,
    policy: RetryPolicy,
}

impl<'b> Call<'b> {
    fn new(budget: &'b TokenBudget, policy: RetryPolicy) -> Self {
        Self { run: Run::begin(budget, Time::ZERO), policy }
    }

    fn fail(&mut self, verdict: Verdict) -> Decision {
        self.run.failed(&self.policy, verdict, Time::ZERO, 0)
    }

    fn retried(mut self, verdict: Verdict, tokens: u64, millis: u64) -> Self {
        assert_eq!(self.fail(verdict), Decision::Retry { delay: Duration::from_millis(millis) });
        assert_eq!(left(self.run.budget()), tokens);
        self.run.start_retry();
        self
    }

    fn fails(self, tokens: u64, millis: u64) -> Self {
        self.retried(Verdict::TRANSIENT, tokens, millis)
    }

    fn throttled(self, tokens: u64, millis: u64) -> Self {
        self.retried(Verdict::THROTTLING, tokens, millis)
    }

    fn stopped(mut self, verdict: Verdict, reason: StopReason, tokens: u64) {
        assert_eq!(self.fail(verdict), Decision::Stop { reason, pause: None });
        assert_eq!(left(self.run.budget()), tokens);
    }

    fn budget_empty(self, tokens: u64) {
        self.stopped(Verdict::TRANSIENT, StopReason::BudgetEmpty, tokens);
    }

    fn attempts_used_up(self, tokens: u64) {
        self.stopped(Verdict::TRANSIENT, StopReason::AttemptsUsedUp, tokens);
    }

    fn succeeds(mut self, tokens: u64) {
        self.run.succeeded();
        assert_eq!(left(self.run.budget()), tokens);
    }
}

/// Many calls on one bucket: what is asked, and tokens left after it.
struct Calls {
    budget: TokenBudget,
    out: Vec<Grant>,
}

use RetryKind::{Throttling, Transient};

impl Calls {
    fn on(budget: TokenBudget) -> Self {
        Self { budget, out: Vec::new() }
    }

    fn granted(mut self, kind: RetryKind, tokens: u64) -> Self {
        self.out.push(self.budget.try_retry(kind, Time::ZERO).expect("granted"));
        self.left(tokens)
    }

    fn all_granted(mut self, kind: RetryKind, times: usize, tokens: u64) -> Self {
        self.out.extend((0..times).map(|_| self.budget.try_retry(kind, Time::ZERO).expect("granted")));
        self.left(tokens)
    }

    fn denied(self, kind: RetryKind, tokens: u64) -> Self {
        assert_eq!(self.budget.try_retry(kind, Time::ZERO), None);
        self.left(tokens)
    }

    /// The retry granted last succeeds.
    fn retry_succeeds(mut self, tokens: u64) -> Self {
        self.budget.settle(self.out.pop().expect("a retry is out"), Fate::Succeeded);
        self.budget.end(CallEnd::AfterRetry);
        self.left(tokens)
    }

    fn first_tries(self, times: usize, tokens: u64) -> Self {
        for _ in 0..times {
            self.budget.begin(Time::ZERO);
            self.budget.end(CallEnd::FirstTry);
        }
        self.left(tokens)
    }

    fn left(self, tokens: u64) -> Self {
        assert_eq!(left(&self.budget), tokens);
        self
    }
}

#[test]
fn t1_a_success_gives_the_last_cost_back() {
    Call::new(&of_capacity(500), POLICY).fails(486, 50).fails(472, 100).succeeds(486);
}

#[test]
fn t2_attempts_are_used_up() {
    Call::new(&of_capacity(500), POLICY).fails(486, 50).fails(472, 100).attempts_used_up(472);
}

#[test]
fn t3_the_last_tokens_are_granted() {
    Call::new(&with_left(14), POLICY).fails(0, 50).budget_empty(0);
}

#[test]
fn t4_an_empty_budget_grants_nothing() {
    Call::new(&with_left(0), POLICY).budget_empty(0);
}

#[test]
fn t5_delays_double() {
    Call::new(&of_capacity(500), attempts(5))
        .fails(486, 50)
        .fails(472, 100)
        .fails(458, 200)
        .fails(444, 400)
        .attempts_used_up(444);
}

#[test]
fn t6_delays_are_capped() {
    let policy = attempts(5).to_builder().max_delay(Duration::from_millis(200)).build();
    Call::new(&of_capacity(500), policy).fails(486, 50).fails(472, 100).fails(458, 200).fails(444, 200);
}

#[test]
fn t7_a_denial_leaves_what_is_there() {
    Call::new(&with_left(20), attempts(5)).fails(6, 50).budget_empty(6);
}

#[test]
fn t8_the_next_call_finds_what_was_refunded() {
    let budget = with_left(30);
    Call::new(&budget, attempts(5)).fails(16, 50).fails(2, 100).succeeds(16);
    Call::new(&budget, attempts(5)).fails(2, 50).succeeds(16);
}

#[test]
fn t9_throttling_costs_less_and_waits_longer() {
    Call::new(&of_capacity(500), POLICY).throttled(495, 1_000).succeeds(500);
}

#[test]
fn t10_two_retries_of_thirty() {
    Calls::on(of_capacity(30)).granted(Transient, 16).granted(Transient, 2).denied(Transient, 2).retry_succeeds(16);
}

#[test]
fn t11_successes_refill_up_to_capacity() {
    let drained = TokenBudget::builder("partner").capacity(20).initial(0).build();
    Calls::on(drained).first_tries(20, 20).first_tries(1, 20);
}

#[test]
fn t12_a_failure_that_is_not_retryable_is_free() {
    Call::new(&with_left(450), POLICY).stopped(Verdict::NEVER, StopReason::NotRetryable, 450);
}

#[test]
fn t13_the_exponent_counts_all_retries_and_the_kind_picks_the_base() {
    Call::new(&of_capacity(500), attempts(8))
        .throttled(495, 1_000)
        .throttled(490, 2_000)
        .fails(476, 200)
        .fails(462, 400)
        .fails(448, 800)
        .fails(434, 1_600)
        .throttled(429, 20_000)
        .attempts_used_up(429);
}

#[test]
fn t14_the_ladder() {
    let policy = attempts(12);
    let mut run = Run::begin(&UNLIMITED, Time::ZERO);
    for millis in [50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 20_000, 20_000] {
        let decision = run.failed(&policy, Verdict::TRANSIENT, Time::ZERO, u64::MAX);
        assert_eq!(decision, Decision::Retry { delay: Duration::from_millis(millis) });
        run.start_retry();
    }
    let reason = StopReason::AttemptsUsedUp;
    let decision = run.failed(&policy, Verdict::TRANSIENT, Time::ZERO, u64::MAX);
    assert_eq!(decision, Decision::Stop { reason, pause: None });
}

#[test]
fn t15_grants_denials_and_refunds_mixed() {
    Calls::on(of_capacity(30))
        .granted(Transient, 16)
        .granted(Transient, 2)
        .denied(Transient, 2)
        .retry_succeeds(16)
        .granted(Transient, 2)
        .first_tries(1, 3)
        .denied(Transient, 3)
        .denied(Throttling, 3)
        .first_tries(2, 5)
        .granted(Throttling, 0);
}

#[test]
fn t16_a_refund_is_capped() {
    Calls::on(of_capacity(30)).granted(Transient, 16).first_tries(5, 21).retry_succeeds(30);
}

#[test]
fn t17_thirty_five_transient_retries() {
    Calls::on(of_capacity(500))
        .all_granted(Transient, 35, 10)
        .denied(Transient, 10)
        .all_granted(Throttling, 2, 0)
        .denied(Throttling, 0);
}

#[test]
fn t18_a_hundred_throttling_retries() {
    Calls::on(of_capacity(500))
        .all_granted(Throttling, 100, 0)
        .denied(Throttling, 0)
        .first_tries(13, 13)
        .denied(Transient, 13)
        .first_tries(1, 14)
        .granted(Transient, 0);
}

#[test]
fn t19_a_kind_that_is_never_affordable() {
    Calls::on(of_capacity(13))
        .denied(Transient, 13)
        .granted(Throttling, 8)
        .granted(Throttling, 3)
        .denied(Throttling, 3)
        .denied(Transient, 3);
}

#[test]
fn t20_the_last_cost_and_not_both() {
    Call::new(&of_capacity(30), POLICY).fails(16, 50).throttled(11, 2_000).succeeds(16);
}

/// Fails every time; gives the attempts made and why the loop stopped.
async fn always_fails(budget: &TokenBudget, verdict: Verdict) -> (u32, Stop) {
    let mut attempts = 0;
    let result = Retry::new(budget, &POLICY)
        .classify(|_: &&str| verdict)
        .run(async |_| {
            attempts += 1;
            Err::<(), _>("down")
        })
        .explained()
        .await;
    let gave_up = result.expect_err("it always fails");
    assert_eq!(*gave_up.error(), "down");
    (attempts, gave_up.stop().clone())
}

#[tokio::test(start_paused = true)]
async fn t21_the_loop_is_stopped_by_the_budget() {
    let budget = of_capacity(14);
    let (attempts, stop) = always_fails(&budget, Verdict::TRANSIENT).await;
    assert_eq!((attempts, stop.attempts, stop.reason), (2, 2, StopReason::BudgetEmpty));
    assert_eq!((stop.budget.as_str(), left(&budget)), ("partner", 0));
}

#[tokio::test(start_paused = true)]
async fn t22_the_loop_gives_the_error_itself() {
    let budget = of_capacity(500);
    let mut attempts = 0;
    let result = retry(&budget, &POLICY, async |_| {
        attempts += 1;
        Err::<(), _>(std::io::Error::from(std::io::ErrorKind::ConnectionReset))
    })
    .await;
    assert_eq!(result.expect_err("it always fails").kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!((attempts, left(&budget)), (3, 472));
}

#[tokio::test(start_paused = true)]
async fn t23_the_loop_does_not_retry_what_is_not_retryable() {
    let budget = of_capacity(500);
    let (attempts, stop) = always_fails(&budget, Verdict::NEVER).await;
    assert_eq!((attempts, stop.attempts, stop.reason), (1, 1, StopReason::NotRetryable));
    assert_eq!(left(&budget), 500);
}
