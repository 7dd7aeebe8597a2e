//! The concurrency budget's settings at the ends of their ranges, and what comes in an order that no call has.

use retry_budget_runtime::{
    Budget, CallEnd, ConcurrencyBudget, ConcurrencyBudgetBuilder, Fate, Grant, RetryKind, SettingsError, Time,
};

const fn builder() -> ConcurrencyBudgetBuilder {
    ConcurrencyBudget::builder("partner")
}

fn refused(builder: ConcurrencyBudgetBuilder) -> &'static str {
    builder.try_build().as_ref().map_err(SettingsError::problem).expect_err("out of range")
}

/// The limit with that many calls active.
fn limit(builder: ConcurrencyBudgetBuilder, active: u32) -> u64 {
    let budget = builder.try_build().expect("in range");
    (0..active).for_each(|_| budget.begin(Time::ZERO));
    budget.snapshot(Time::ZERO).limit
}

fn grants(budget: &ConcurrencyBudget) -> u32 {
    let mut granted = 0;
    while let Some(_held) = budget.try_retry(RetryKind::Throttling, Time::ZERO) {
        granted += 1;
    }
    granted
}

#[test]
fn a_ratio_is_above_0_and_at_most_1() {
    for ratio in [0.0, -0.1, 0.000_000_4, 1.000_001, 20.0, f64::NAN, f64::INFINITY] {
        assert!(refused(builder().ratio(ratio)).contains("ratio"), "{ratio}");
    }
    let no_floor = builder().min_retry_concurrency(0);
    assert_eq!(limit(no_floor.ratio(0.000_001), 999_999), 0);
    assert_eq!(limit(no_floor.ratio(0.000_001), 1_000_000), 1);
    assert_eq!(limit(no_floor.ratio(0.29), 100), 29);
    assert_eq!(limit(no_floor.ratio(1.0), 12_345), 12_345);
    assert_eq!(limit(no_floor, 100), 20, "0.2 unless told");
}

#[test]
fn a_floor_is_at_most_two_to_the_20() {
    for floor in [(1 << 20) + 1, u32::MAX] {
        assert!(refused(builder().min_retry_concurrency(floor)).contains("at most 1048576"), "{floor}");
    }
    assert_eq!(limit(builder().min_retry_concurrency(1 << 20), 0), 1 << 20);
    assert_eq!(limit(builder().min_retry_concurrency(0), 0), 0);
    assert_eq!(limit(builder(), 0), 3, "3 unless told");
    assert_eq!(grants(&builder().min_retry_concurrency(1 << 20).build()), 1 << 20);
}

#[test]
#[should_panic(expected = "min_retry_concurrency is at most 1048576")]
fn build_panics_where_try_build_refuses() {
    let _ = builder().min_retry_concurrency(u32::MAX).build();
}

#[test]
fn what_never_began_can_not_end() {
    let budget = builder().ratio(1.0).min_retry_concurrency(0).build();
    for _ in 0..100 {
        budget.end(CallEnd::Dropped);
        budget.settle(Grant::new(u32::MAX).in_slot(u64::MAX), Fate::NotSent);
    }
    let snapshot = budget.snapshot(Time::MAX);
    assert_eq!((snapshot.requests, snapshot.limit, snapshot.available), (Some(0), 0, 0));
    for active in 1..=3 {
        budget.begin(Time::ZERO);
        assert_eq!(grants(&budget), 1, "the place of call {active}");
    }
    // grants of elsewhere free what is taken, and no more than that
    for _ in 0..100 {
        budget.settle(Grant::new(1), Fate::Succeeded);
    }
    assert_eq!(grants(&budget), 3);
}
