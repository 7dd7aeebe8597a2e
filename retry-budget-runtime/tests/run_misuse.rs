//! A run that is driven in a wrong order, at random: it never panics, and its budget is still told a lawful life.

#[path = "support/recorder.rs"]
mod recorder;

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::{collection, prop_assert, prop_assert_eq};
use recorder::{Recorder, Told, assert_lawful};
use retry_budget_runtime::{CallEnd, Decision, Fate, RetryPolicy, Run, StopReason, Time, Verdict};
use std::time::Duration;

fn begin(budget: &Recorder) -> Run<&Recorder> {
    Run::begin(budget, Time::ZERO)
}

fn fail(run: &mut Run<&Recorder>) -> Decision {
    run.failed(&RetryPolicy::REQUEST, Verdict::TRANSIENT, Time::ZERO, 0)
}

const OVER: Decision = Decision::Stop { reason: StopReason::NotRetryable, pause: None };

#[test]
fn a_call_succeeds_once() {
    let budget = Recorder::granting(9);
    let mut run = begin(&budget);
    run.succeeded();
    run.succeeded();
    assert_eq!(fail(&mut run), OVER);
    run.start_retry();
    run.succeeded();
    drop(run);
    assert_eq!(budget.told(), [Told::Begin, Told::End(CallEnd::FirstTry)]);
}

#[test]
fn a_call_fails_once() {
    let budget = Recorder::granting(0);
    let mut run = begin(&budget);
    assert_eq!(fail(&mut run), Decision::Stop { reason: StopReason::BudgetEmpty, pause: None });
    assert_eq!(fail(&mut run), OVER);
    run.succeeded();
    drop(run);
    assert_eq!(budget.told(), [Told::Begin, Told::Denied, Told::End(CallEnd::Failed)]);
}

#[test]
fn the_end_of_a_call_keeps_its_time() {
    let budget = Recorder::granting(1);
    let mut run = begin(&budget);
    let at = |millis, run: &mut Run<&Recorder>| {
        run.failed(&RetryPolicy::REQUEST, Verdict::TRANSIENT, Time::from_millis(millis), 0)
    };
    let _ = at(0, &mut run);
    let _ = at(300, &mut run);
    let _ = at(900, &mut run);
    run.succeeded();
    assert_eq!(run.stop(StopReason::BudgetEmpty).since_first_failure, Duration::from_millis(300));
}

#[test]
fn a_retry_that_nobody_started_still_ends() {
    let budget = Recorder::granting(1);
    let mut run = begin(&budget);
    let _ = fail(&mut run);
    let _ = fail(&mut run);
    let failed =
        [Told::Begin, Told::Granted(1), Told::Settled(1, Fate::Failed), Told::Denied, Told::End(CallEnd::Failed)];
    assert_eq!(budget.told(), failed);

    let budget = Recorder::granting(1);
    let mut run = begin(&budget);
    let _ = fail(&mut run);
    run.succeeded();
    let succeeded = [Told::Begin, Told::Granted(1), Told::Settled(1, Fate::Succeeded), Told::End(CallEnd::AfterRetry)];
    assert_eq!(budget.told(), succeeded);
}

#[test]
fn a_first_attempt_cannot_be_started_as_a_retry() {
    let budget = Recorder::granting(1);
    let mut run = begin(&budget);
    run.start_retry();
    let _ = fail(&mut run);
    drop(run);
    assert_eq!(budget.told()[2], Told::Settled(1, Fate::NotSent), "the start came before the grant");
}

#[derive(Clone, Debug)]
enum Act {
    Fail(Verdict, u64, u64),
    Start,
    Succeed,
}

fn act() -> impl Strategy<Value = Act> {
    let hint = prop_oneof![
        4 => Just(None),
        1 => (0..30_u64).prop_map(|seconds| Some(Duration::from_secs(seconds))),
        1 => Just(Some(Duration::MAX)),
    ];
    let kind = prop_oneof![4 => Just(Verdict::TRANSIENT), 4 => Just(Verdict::THROTTLING), 1 => Just(Verdict::NEVER)];
    let verdict = (kind, hint, any::<bool>()).prop_map(|(verdict, hint, sent)| {
        let verdict = verdict.after(hint);
        if sent { verdict } else { verdict.not_sent() }
    });
    prop_oneof![
        5 => (verdict, any::<u64>(), any::<u64>()).prop_map(|(verdict, now, random)| Act::Fail(verdict, now, random)),
        4 => Just(Act::Start),
        1 => Just(Act::Succeed),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_done_the_budget_is_told_a_lawful_life(
        grants in 0..6_u64,
        max_attempts in 1..8_u32,
        idempotent in any::<bool>(),
        acts in collection::vec(act(), 0..20),
    ) {
        let policy = RetryPolicy::builder().max_attempts(max_attempts).idempotent(idempotent).build();
        let budget = Recorder::granting(grants);
        let mut run = begin(&budget);
        let mut retries = 0;
        for act in acts {
            match act {
                Act::Fail(verdict, now, random) => {
                    if let Decision::Retry { delay } = run.failed(&policy, verdict, Time::from_nanos(now), random) {
                        retries += 1;
                        let hint = verdict.hint();
                        prop_assert!(hint.is_none_or(|hint| hint <= delay && hint <= policy.retry_after_limit()));
                        prop_assert!(hint.is_some() || delay <= policy.max_delay());
                    }
                    prop_assert!(run.attempt().number() <= max_attempts);
                }
                Act::Start => run.start_retry(),
                Act::Succeed => run.succeeded(),
            }
        }
        drop(run);
        let told = budget.told();
        assert_lawful(&told);
        let granted = told.iter().filter(|told| matches!(told, Told::Granted(_))).count() as u64;
        prop_assert_eq!(granted, retries);
        prop_assert!(granted <= grants && granted < max_attempts.into());
    }
}
