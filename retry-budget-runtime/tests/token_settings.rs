//! The token budget's settings at the ends of their ranges, and what a refund may do there.

use retry_budget_runtime::{
    Budget, CallEnd, Decision, Fate, Grant, Jitter, RetryKind, RetryPolicy, Run, SettingsError, Time, TokenBudget,
    TokenBudgetBuilder, Verdict,
};

const MOST: u32 = 1 << 31;

fn builder() -> TokenBudgetBuilder {
    TokenBudget::builder("partner")
}

fn left(budget: &TokenBudget) -> u64 {
    budget.snapshot(Time::ZERO).available
}

fn refused(builder: TokenBudgetBuilder) -> &'static str {
    builder.try_build().as_ref().map_err(SettingsError::problem).expect_err("out of range")
}

fn accepted(builder: TokenBudgetBuilder) -> TokenBudget {
    builder.try_build().expect("in range")
}

#[test]
fn capacity_is_1_to_two_to_the_31() {
    for capacity in [0, MOST + 1, u32::MAX] {
        assert!(refused(builder().capacity(capacity)).contains("capacity is 1 to 2147483648"), "{capacity}");
    }
    let one = accepted(builder().capacity(1).transient_cost(1));
    assert_eq!(one.snapshot(Time::ZERO).limit, 1);
    let most = accepted(builder().capacity(MOST));
    assert_eq!((left(&most), most.snapshot(Time::ZERO).limit), (1 << 31, 1 << 31));
}

#[test]
fn a_new_bucket_holds_0_to_capacity() {
    for initial in [0, 1, 500] {
        assert_eq!(left(&accepted(builder().initial(initial))), u64::from(initial));
    }
    assert_eq!(left(&accepted(builder())), 500, "full unless told");
    assert_eq!(left(&accepted(builder().capacity(30))), 30, "full unless told");
    for initial in [501, u32::MAX] {
        assert!(refused(builder().initial(initial)).contains("initial"), "{initial}");
    }
    assert_eq!(left(&accepted(builder().initial(MOST).capacity(MOST))), 1 << 31, "in whatever order");
}

#[test]
fn a_refund_is_0_to_capacity() {
    for refund in [0, 1, 500] {
        let budget = accepted(builder().success_refund(refund).initial(0));
        budget.end(CallEnd::FirstTry);
        assert_eq!(left(&budget), u64::from(refund));
    }
    for refund in [501, u32::MAX] {
        assert!(refused(builder().success_refund(refund)).contains("success_refund"), "{refund}");
    }
}

#[test]
fn costs_start_at_1_and_0() {
    assert!(refused(builder().transient_cost(0)).contains("transient_cost"));
    let free = accepted(builder().throttling_cost(0).initial(0));
    assert_eq!(free.try_retry(RetryKind::Throttling, Time::ZERO), Some(Grant::new(0)));
    assert_eq!(free.try_retry(RetryKind::Transient, Time::ZERO), None);
}

#[test]
fn the_cheaper_cost_is_at_most_capacity() {
    let ten = builder().capacity(10);
    assert!(refused(ten.transient_cost(11).throttling_cost(11)).contains("above capacity"));
    assert!(refused(ten.transient_cost(u32::MAX).throttling_cost(u32::MAX)).contains("above capacity"));
    accepted(ten.transient_cost(10).throttling_cost(u32::MAX));
    accepted(ten.transient_cost(u32::MAX).throttling_cost(10));
    accepted(ten.transient_cost(u32::MAX).throttling_cost(0));
}

#[test]
#[should_panic(expected = "capacity is 1 to 2147483648 tokens")]
fn build_panics_where_try_build_refuses() {
    let _ = builder().capacity(0).build();
}

#[test]
fn the_largest_bucket_neither_overflows_nor_wraps() {
    let budget = accepted(builder().capacity(MOST).transient_cost(MOST).success_refund(MOST));
    let all = budget.try_retry(RetryKind::Transient, Time::ZERO).expect("a full bucket affords it");
    assert_eq!((all.cost(), left(&budget)), (MOST, 0));
    for _ in 0..3 {
        budget.end(CallEnd::FirstTry);
        assert_eq!(left(&budget), 1 << 31);
    }
    budget.settle(all, Fate::Succeeded);
    assert_eq!(left(&budget), 1 << 31);
    // one short of full, then the largest refund there can be
    let nearly = accepted(builder().capacity(MOST).transient_cost(1));
    let one = nearly.try_retry(RetryKind::Transient, Time::ZERO).expect("granted");
    assert_eq!(left(&nearly), (1 << 31) - 1);
    nearly.settle(Grant::new(u32::MAX), Fate::NotSent);
    assert_eq!(left(&nearly), 1 << 31, "a grant that isn't this budget's fills it and no more");
    nearly.settle(one, Fate::NotSent);
    assert_eq!(left(&nearly), 1 << 31);
}

#[test]
fn a_full_bucket_stays_full_however_much_comes_back() {
    // below, at, and above the gain that is added in one step; often enough to leave half a word behind
    for refund in [1 << 17, (1 << 17) + 1, MOST] {
        let budget = accepted(builder().capacity(MOST).success_refund(refund));
        for _ in 0..3 {
            let lost = budget.try_retry(RetryKind::Transient, Time::ZERO).expect("affordable");
            budget.settle(lost, Fate::Failed);
            assert_eq!(left(&budget), u64::from(MOST - 14));
            for _ in 0..3_000 {
                budget.end(CallEnd::FirstTry);
                assert_eq!(left(&budget), u64::from(MOST));
            }
        }
    }
}

#[test]
fn only_what_succeeded_or_was_never_sent_comes_back() {
    for (fate, after) in [(Fate::Succeeded, 100), (Fate::NotSent, 100), (Fate::Failed, 86), (Fate::Dropped, 86)] {
        let budget = accepted(builder().initial(100));
        let grant = budget.try_retry(RetryKind::Transient, Time::ZERO).expect("granted");
        assert_eq!(left(&budget), 86);
        budget.settle(grant, fate);
        assert_eq!(left(&budget), after, "{fate:?}");
    }
}

#[test]
fn only_a_first_try_is_refunded_at_the_end_of_a_call() {
    for (end, after) in
        [(CallEnd::FirstTry, 101), (CallEnd::AfterRetry, 100), (CallEnd::Failed, 100), (CallEnd::Dropped, 100)]
    {
        let budget = accepted(builder().initial(100));
        budget.end(end);
        assert_eq!(left(&budget), after, "{end:?}");
    }
}

/// What a call changes in a bucket that is half full, by how many of its three attempts fail.
fn change(transient_cost: u32, failures: u32) -> f64 {
    const POLICY: RetryPolicy = RetryPolicy::AWS_STANDARD.to_builder().jitter(Jitter::None).build();
    let budget = accepted(builder().transient_cost(transient_cost).initial(250));
    let mut run = Run::begin(&budget, Time::ZERO);
    for _ in 0..failures {
        if let Decision::Retry { .. } = run.failed(&POLICY, Verdict::TRANSIENT, Time::ZERO, 0) {
            run.start_retry();
        }
    }
    run.succeeded();
    let after = u32::try_from(left(&budget)).expect("at most 500");
    f64::from(after) - 250.0
}

/// What a call changes on average when each attempt fails with this probability.
fn drift(cost: u32, rate: f64) -> f64 {
    let of = |failures| change(cost, failures);
    (1.0 - rate) * (of(0) + rate * of(1) + rate.powi(2) * of(2)) + rate.powi(3) * of(3)
}

#[test]
fn the_bucket_drains_above_its_break_even_and_fills_below() {
    assert!(drift(14, 0.20) > 0.0);
    assert!(drift(14, 0.23) < 0.0);
    assert!(drift(5, 0.30) > 0.0);
    assert!(drift(5, 0.34) < 0.0);
    // income 1 - e, expected drain c × e² × (1 + e)
    for rate in [0.1_f64, 0.2149, 0.5, 1.0] {
        let expected = (1.0 - rate) - 14.0 * rate.powi(2) * (1.0 + rate);
        assert!((drift(14, rate) - expected).abs() < 1e-9, "{rate}");
    }
    assert!(drift(14, 0.2149).abs() < 0.001);
    assert!(drift(5, 0.3207).abs() < 0.001);
}
