//! The life of a call as its budget is told it: the order of the decision, and what is settled when.

#[path = "support/recorder.rs"]
mod recorder;

use recorder::{Recorder, Told, assert_lawful};
use retry_budget_runtime::{
    CallEnd, Decision, Fate, Jitter, RetryKind, RetryPolicy, Run, StopReason, Time, UNLIMITED, Verdict, WhenEmpty,
};
use std::time::Duration;

const POLICY: RetryPolicy = RetryPolicy::builder().jitter(Jitter::None).build();
const TRANSIENT: Option<RetryKind> = Some(RetryKind::Transient);
const THROTTLING: Option<RetryKind> = Some(RetryKind::Throttling);

fn begin(budget: &Recorder) -> Run<&Recorder> {
    Run::begin(budget, Time::ZERO)
}

fn fail(run: &mut Run<&Recorder>, policy: &RetryPolicy, verdict: Verdict) -> Decision {
    run.failed(policy, verdict, Time::ZERO, 0)
}

fn stop(reason: StopReason) -> Decision {
    Decision::Stop { reason, pause: None }
}

fn retry(millis: u64) -> Decision {
    Decision::Retry { delay: Duration::from_millis(millis) }
}

/// The first failure of a call on a generous budget: what is decided, and what the budget was told.
fn first_failure(policy: RetryPolicy, verdict: Verdict) -> (Decision, Vec<Told>) {
    let budget = Recorder::granting(u64::MAX);
    let mut run = begin(&budget);
    let decision = fail(&mut run, &policy, verdict);
    drop(run);
    assert_lawful(&budget.told());
    (decision, budget.told())
}

fn ends_without_asking(kind: Option<RetryKind>) -> Vec<Told> {
    vec![Told::Begin, Told::Final(kind), Told::End(CallEnd::Failed)]
}

#[test]
fn a_first_try_asks_for_nothing() {
    let budget = Recorder::granting(1);
    begin(&budget).succeeded();
    assert_eq!(budget.told(), [Told::Begin, Told::End(CallEnd::FirstTry)]);
}

#[test]
fn a_failure_that_is_not_worth_a_retry_is_not_charged() {
    let (decision, told) = first_failure(POLICY, Verdict::NEVER);
    assert_eq!(decision, stop(StopReason::NotRetryable));
    assert_eq!(told, ends_without_asking(None));
    // and a hint doesn't make it one
    let (decision, told) = first_failure(POLICY, Verdict::NEVER.after(Duration::ZERO).not_sent());
    assert_eq!(decision, stop(StopReason::NotRetryable));
    assert_eq!(told, ends_without_asking(None));
}

#[test]
fn no_attempts_left_is_not_charged() {
    let once = POLICY.to_builder().max_attempts(1).build();
    let (decision, told) = first_failure(once, Verdict::THROTTLING);
    assert_eq!(decision, stop(StopReason::AttemptsUsedUp));
    assert_eq!(told, ends_without_asking(THROTTLING));
}

#[test]
fn a_hint_above_the_limit_is_not_charged() {
    let limit = Duration::from_secs(20);
    for hint in [limit + Duration::from_nanos(1), Duration::MAX] {
        let (decision, told) = first_failure(POLICY, Verdict::TRANSIENT.after(hint));
        assert_eq!(decision, stop(StopReason::HintTooFar), "{hint:?}");
        assert_eq!(told, ends_without_asking(TRANSIENT));
    }
    // at the limit it is honoured, though it is above max_delay
    let (decision, _) = first_failure(POLICY, Verdict::TRANSIENT.after(limit));
    assert_eq!(decision, Decision::Retry { delay: limit });
}

#[test]
fn what_may_not_run_twice_is_not_charged() {
    let unsafe_twice = POLICY.to_builder().idempotent(false).build();
    let (decision, told) = first_failure(unsafe_twice, Verdict::TRANSIENT);
    assert_eq!(decision, stop(StopReason::NotIdempotent));
    assert_eq!(told, ends_without_asking(TRANSIENT));
    let (decision, _) = first_failure(unsafe_twice, Verdict::TRANSIENT.not_sent());
    assert_eq!(decision, retry(50));
}

#[test]
fn the_first_obstacle_is_the_reason() {
    let far = Duration::from_secs(21);
    let all = POLICY.to_builder().max_attempts(1).idempotent(false).build();
    assert_eq!(first_failure(all, Verdict::NEVER.after(far)).0, stop(StopReason::NotRetryable));
    assert_eq!(first_failure(all, Verdict::TRANSIENT.after(far)).0, stop(StopReason::NotIdempotent));
    assert_eq!(first_failure(all, Verdict::TRANSIENT.not_sent().after(far)).0, stop(StopReason::AttemptsUsedUp));
    let hint = all.to_builder().max_attempts(2).idempotent(true).build();
    assert_eq!(first_failure(hint, Verdict::TRANSIENT.after(far)).0, stop(StopReason::HintTooFar));
    // and the budget comes last
    let empty = Recorder::granting(0);
    assert_eq!(fail(&mut begin(&empty), &hint, Verdict::TRANSIENT.after(far)), stop(StopReason::HintTooFar));
    assert_eq!(fail(&mut begin(&empty), &hint, Verdict::TRANSIENT), stop(StopReason::BudgetEmpty));
}

#[test]
fn a_denial_is_the_budgets_own_and_no_final_failure() {
    let budget = Recorder::granting(0);
    assert_eq!(fail(&mut begin(&budget), &POLICY, Verdict::TRANSIENT), stop(StopReason::BudgetEmpty));
    assert_eq!(budget.told(), [Told::Begin, Told::Denied, Told::End(CallEnd::Failed)]);
}

#[test]
fn a_grant_is_settled_before_the_next_ask() {
    let budget = Recorder::granting(2);
    let mut run = begin(&budget);
    assert_eq!(fail(&mut run, &POLICY, Verdict::TRANSIENT), retry(50));
    run.start_retry();
    assert_eq!(fail(&mut run, &POLICY, Verdict::THROTTLING), retry(2_000));
    run.start_retry();
    assert_eq!(fail(&mut run, &POLICY, Verdict::THROTTLING), stop(StopReason::AttemptsUsedUp));
    drop(run);
    let life = [
        Told::Begin,
        Told::Granted(1),
        Told::Settled(1, Fate::Failed),
        Told::Granted(2),
        Told::Settled(2, Fate::Failed),
        Told::Final(THROTTLING),
        Told::End(CallEnd::Failed),
    ];
    assert_eq!(budget.told(), life);
}

#[test]
fn a_success_after_a_retry_settles_it() {
    let budget = Recorder::granting(1);
    let mut run = begin(&budget);
    assert_eq!(fail(&mut run, &POLICY, Verdict::TRANSIENT), retry(50));
    run.start_retry();
    run.succeeded();
    drop(run);
    let life = [Told::Begin, Told::Granted(1), Told::Settled(1, Fate::Succeeded), Told::End(CallEnd::AfterRetry)];
    assert_eq!(budget.told(), life);
}

#[test]
fn dropped_during_the_first_attempt() {
    let budget = Recorder::granting(1);
    drop(begin(&budget));
    assert_eq!(budget.told(), [Told::Begin, Told::End(CallEnd::Dropped)]);
}

#[test]
fn dropped_while_waiting_the_retry_was_not_sent() {
    let budget = Recorder::granting(1);
    let mut run = begin(&budget);
    assert_eq!(fail(&mut run, &POLICY, Verdict::TRANSIENT), retry(50));
    drop(run);
    let life = [Told::Begin, Told::Granted(1), Told::Settled(1, Fate::NotSent), Told::End(CallEnd::Dropped)];
    assert_eq!(budget.told(), life);
}

#[test]
fn dropped_during_a_retry_the_load_was_real() {
    let budget = Recorder::granting(1);
    let mut run = begin(&budget);
    assert_eq!(fail(&mut run, &POLICY, Verdict::TRANSIENT), retry(50));
    run.start_retry();
    drop(run);
    let life = [Told::Begin, Told::Granted(1), Told::Settled(1, Fate::Dropped), Told::End(CallEnd::Dropped)];
    assert_eq!(budget.told(), life);
}

#[test]
fn dropped_after_the_end_nothing_more_is_said() {
    for grants in [0, 1] {
        let budget = Recorder::granting(grants);
        let mut run = begin(&budget);
        let _ = fail(&mut run, &POLICY, Verdict::TRANSIENT);
        run.start_retry();
        run.succeeded();
        let told = budget.told();
        drop(run);
        assert_eq!(budget.told(), told);
        assert_lawful(&told);
    }
}

#[test]
fn a_hint_is_never_undercut() {
    for jitter in [Jitter::None, Jitter::Equal, Jitter::Full] {
        let policy = POLICY.to_builder().jitter(jitter).retry_after_limit(Duration::MAX).build();
        for hint in [Duration::ZERO, Duration::from_millis(1), Duration::from_secs(3), Duration::MAX] {
            for random in [0, 1 << 31, 1 << 63, u64::MAX] {
                let mut run = Run::begin(&UNLIMITED, Time::ZERO);
                let decision = run.failed(&policy, Verdict::TRANSIENT.after(hint), Time::ZERO, random);
                let Decision::Retry { delay } = decision else { panic!("{decision:?}") };
                // max(hint, t) with t up to base_delay, plus less than max(base_delay, hint / 10)
                let base = Duration::from_millis(50);
                let most = hint.max(base).saturating_add(base.max(hint / 10));
                assert!(hint <= delay && delay <= most, "{jitter:?} {hint:?} {delay:?}");
            }
        }
    }
}

#[test]
fn a_pause_follows_a_denial_only() {
    let pausing = POLICY.to_builder().when_empty(WhenEmpty::Pause).build();
    let half = 1 << 63;
    let stopped = |grants, policy: RetryPolicy, verdict| {
        let budget = Recorder::granting(grants);
        begin(&budget).failed(&policy, verdict, Time::ZERO, half)
    };
    // uniform up to max_delay, which is 2 s
    let paused = Decision::Stop { reason: StopReason::BudgetEmpty, pause: Some(Duration::from_secs(1)) };
    assert_eq!(stopped(0, pausing, Verdict::TRANSIENT), paused);
    assert_eq!(stopped(0, pausing, Verdict::NEVER), stop(StopReason::NotRetryable));
    let far = Verdict::TRANSIENT.after(Duration::MAX);
    assert_eq!(stopped(0, pausing, far), stop(StopReason::HintTooFar));
    let once = pausing.to_builder().max_attempts(1).build();
    assert_eq!(stopped(0, once, Verdict::TRANSIENT), stop(StopReason::AttemptsUsedUp));
    let unsafe_twice = pausing.to_builder().idempotent(false).build();
    assert_eq!(stopped(0, unsafe_twice, Verdict::TRANSIENT), stop(StopReason::NotIdempotent));
    assert_eq!(stopped(1, pausing, Verdict::TRANSIENT), retry(50));
}

#[test]
fn attempts_without_end() {
    let endless = POLICY.to_builder().max_attempts(u32::MAX).build();
    let budget = Recorder::granting(100);
    let mut run = begin(&budget);
    for attempt in 1..=100 {
        assert_eq!(run.attempt().number(), attempt);
        let capped = (50_u64 << (attempt - 1).min(20)).min(2_000);
        assert_eq!(fail(&mut run, &endless, Verdict::TRANSIENT), retry(capped));
        run.start_retry();
    }
    assert_eq!(fail(&mut run, &endless, Verdict::TRANSIENT), stop(StopReason::BudgetEmpty));
    assert_eq!(run.stop(StopReason::BudgetEmpty).attempts, 101);
}

#[test]
fn an_attempt_knows_its_number_and_the_failure_before_it() {
    let budget = Recorder::granting(2);
    let mut run = begin(&budget);
    let seen = |run: &Run<&Recorder>| {
        let attempt = run.attempt();
        (attempt.number(), attempt.is_retry(), attempt.last_failure())
    };
    assert_eq!(seen(&run), (1, false, None));
    let _ = fail(&mut run, &POLICY, Verdict::THROTTLING);
    assert_eq!(seen(&run), (2, true, THROTTLING));
    run.start_retry();
    assert_eq!(seen(&run), (2, true, THROTTLING));
    let _ = fail(&mut run, &POLICY, Verdict::TRANSIENT);
    assert_eq!(seen(&run), (3, true, TRANSIENT));
}

#[test]
fn a_stop_tells_attempts_budget_and_time() {
    let budget = Recorder::granting(1);
    let mut run = begin(&budget);
    let _ = run.failed(&POLICY, Verdict::TRANSIENT, Time::from_millis(400), 0);
    run.start_retry();
    let decision = run.failed(&POLICY, Verdict::TRANSIENT, Time::from_millis(1_650), 0);
    assert_eq!(decision, stop(StopReason::BudgetEmpty));
    let said = run.stop(StopReason::BudgetEmpty);
    assert_eq!((said.reason, said.attempts, said.budget.as_str()), (StopReason::BudgetEmpty, 2, "recorder"));
    assert_eq!(said.since_first_failure, Duration::from_millis(1_250));
}

#[test]
fn a_clock_that_goes_back_during_a_call_is_no_time_at_all() {
    let budget = Recorder::granting(1);
    let mut run = begin(&budget);
    let _ = run.failed(&POLICY, Verdict::TRANSIENT, Time::MAX, 0);
    run.start_retry();
    let _ = run.failed(&POLICY, Verdict::TRANSIENT, Time::ZERO, 0);
    assert_eq!(run.stop(StopReason::BudgetEmpty).since_first_failure, Duration::ZERO);
}
