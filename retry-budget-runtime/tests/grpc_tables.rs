//! The gRPC budget, row by row: what each counted failure and each success leaves, in thousandths of a token.

use retry_budget_runtime::{
    Budget, CallEnd, Decision, Fate, Grant, GrpcBudget, RetryKind, RetryPolicy, Run, StopReason, Time, Verdict,
};
use std::time::Duration;

const fn of(max_tokens: u32, token_ratio: f64) -> GrpcBudget {
    GrpcBudget::builder("partner").max_tokens(max_tokens).token_ratio(token_ratio).build()
}

fn left(budget: &GrpcBudget) -> u64 {
    budget.snapshot(Time::ZERO).available
}

/// `F` is a counted failure and `S` a success, with what is left after it; `y` and `n` say whether a retry is allowed.
fn plays(budget: &GrpcBudget, steps: &str) {
    for step in steps.split("; ") {
        let (what, decision) = step.split_once(' ').unwrap_or((step, ""));
        let tokens: f64 = what[1..].parse().expect("a number");
        match &what[..1] {
            "F" => {
                let granted = budget.try_retry(RetryKind::Transient, Time::ZERO).is_some();
                assert_eq!(if granted { "y" } else { "n" }, decision, "{step} of {steps}");
            }
            _ => budget.end(CallEnd::FirstTry),
        }
        #[allow(clippy::cast_precision_loss)] // at most 1,000,000
        let level = left(budget) as f64 / 1e3;
        assert!((level - tokens).abs() < 1e-9, "{level} after {step} of {steps}");
    }
}

#[test]
fn g1_a_large_ratio() {
    plays(
        &of(4, 1.6),
        "F3 y; S4; F3 y; F2 n; F1 n; F0 n; F0 n; S1.6; S3.2; F2.2 y; F1.2 n; S2.8; F1.8 n; S3.4; F2.4 y",
    );
}

#[test]
fn g2_exactly_half_is_not_more_than_half() {
    plays(&of(4, 0.8), "F3 y; F2 n; F1 n; F0 n; F0 n; S0.8; S1.6; S2.4; S3.2; S4; S4; F3 y; F2 n");
}

#[test]
fn g3_the_fifth_failure_in_a_row() {
    plays(&of(10, 0.1), "F9 y; F8 y; F7 y; F6 y; F5 n");
}

#[test]
fn g4_back_above_half() {
    let budget = of(10, 0.1);
    plays(&budget, "F9 y; F8 y; F7 y; F6 y; F5 n; S5.1; S5.2; S5.3; S5.4; S5.5");
    plays(&budget, "F4.5 n");
    for _ in 0..10 {
        budget.end(CallEnd::FirstTry);
    }
    assert_eq!(left(&budget), 5_500);
    for _ in 0..15 {
        budget.end(CallEnd::AfterRetry);
    }
    assert_eq!(left(&budget), 7_000);
    plays(&budget, "F6 y");
}

#[test]
fn g5_the_smallest_budget() {
    plays(&of(3, 0.1), "F2 y; F1 n");
}

#[test]
fn g6_a_ratio_is_rounded_to_thousandths() {
    let budget = of(10, 0.546_6);
    for _ in 0..10 {
        budget.final_failure(Some(RetryKind::Throttling));
    }
    assert_eq!(left(&budget), 0);
    plays(&budget, "S0.547");
}

#[test]
fn from_empty_it_takes_61_successes_until_the_next_retry() {
    for (successes, granted) in [(60, false), (61, true)] {
        let budget = of(10, 0.1);
        (0..12).for_each(|_| budget.final_failure(Some(RetryKind::Transient)));
        (0..successes).for_each(|_| budget.end(CallEnd::FirstTry));
        assert_eq!(budget.try_retry(RetryKind::Transient, Time::ZERO).is_some(), granted, "{successes}");
    }
}

#[test]
fn a_failure_counts_whether_or_not_it_asks() {
    for (kind, after) in [(Some(RetryKind::Transient), 9_000), (Some(RetryKind::Throttling), 9_000), (None, 10_000)] {
        let budget = of(10, 0.1);
        budget.final_failure(kind);
        assert_eq!(left(&budget), after, "{kind:?}");
    }
}

#[test]
fn a_call_that_succeeds_counts_once_and_one_that_does_not_never() {
    for (end, after) in
        [(CallEnd::FirstTry, 9_100), (CallEnd::AfterRetry, 9_100), (CallEnd::Failed, 9_000), (CallEnd::Dropped, 9_000)]
    {
        let budget = of(10, 0.1);
        budget.final_failure(Some(RetryKind::Transient));
        budget.begin(Time::ZERO);
        budget.end(end);
        assert_eq!(left(&budget), after, "{end:?}");
    }
}

#[test]
fn a_retry_costs_nothing_and_gives_nothing_back() {
    for fate in [Fate::Succeeded, Fate::Failed, Fate::NotSent, Fate::Dropped] {
        let budget = of(10, 0.1);
        let grant = budget.try_retry(RetryKind::Transient, Time::ZERO).expect("granted");
        assert_eq!((left(&budget), grant.cost()), (9_000, 0));
        budget.settle(grant, fate);
        budget.settle(Grant::new(u32::MAX).in_slot(u64::MAX), fate);
        assert_eq!(left(&budget), 9_000, "{fate:?}");
    }
}

/// A call of three attempts that fails in these ways and then succeeds: tokens after each step.
fn call(verdicts: &[Verdict]) -> (Vec<u64>, Option<StopReason>) {
    let policy = RetryPolicy::REQUEST;
    let budget = of(10, 0.1);
    let mut run = Run::begin(&budget, Time::ZERO);
    let mut levels = Vec::new();
    for &verdict in verdicts {
        let decision = run.failed(&policy, verdict, Time::ZERO, 0);
        levels.push(left(&budget));
        if let Decision::Stop { reason, .. } = decision {
            drop(run);
            assert_eq!(left(&budget), *levels.last().expect("just pushed"), "the end of a failed call is free");
            return (levels, Some(reason));
        }
        run.start_retry();
    }
    run.succeeded();
    levels.push(left(&budget));
    (levels, None)
}

#[test]
fn the_failures_of_a_call() {
    let down = Verdict::TRANSIENT;
    assert_eq!(call(&[]), (vec![10_000], None));
    assert_eq!(call(&[down]), (vec![9_000, 9_100], None));
    assert_eq!(call(&[down, Verdict::THROTTLING]), (vec![9_000, 8_000, 8_100], None));
    assert_eq!(call(&[down; 3]), (vec![9_000, 8_000, 7_000], Some(StopReason::AttemptsUsedUp)), "the last one too");
    assert_eq!(call(&[Verdict::NEVER]), (vec![10_000], Some(StopReason::NotRetryable)));
    // the server says: never again
    assert_eq!(call(&[down.after(Duration::MAX)]), (vec![9_000], Some(StopReason::HintTooFar)));
}
