//! The credit budget's settings at the ends of their ranges, and the fraction that it draws.

use retry_budget_runtime::{
    Budget, CallEnd, CreditBudget, CreditBudgetBuilder, Fate, Grant, RetryKind, SettingsError, Time,
};

static A_STATIC: CreditBudget = CreditBudget::builder("a static").build();

const fn builder() -> CreditBudgetBuilder {
    CreditBudget::builder("partner")
}

fn credit(budget: &CreditBudget) -> u64 {
    budget.snapshot(Time::ZERO).available
}

fn limit(budget: &CreditBudget) -> u64 {
    budget.snapshot(Time::ZERO).limit
}

fn refused(builder: CreditBudgetBuilder) -> &'static str {
    builder.try_build().as_ref().map_err(SettingsError::problem).expect_err("out of range")
}

fn accepted(builder: CreditBudgetBuilder) -> CreditBudget {
    builder.try_build().expect("in range")
}

#[test]
fn burst_is_1_to_4000() {
    for burst in [0, 4_001, u32::MAX] {
        assert!(refused(builder().burst(burst)).contains("burst is 1 to 4000"), "{burst}");
    }
    assert_eq!(limit(&accepted(builder().burst(1))), 1_000_000);
    assert_eq!(limit(&accepted(builder())), 2_000_000, "2 unless told");
    assert_eq!(limit(&accepted(builder().burst(4_000))), 4_000_000_000);
}

#[test]
fn a_ratio_is_above_0_and_at_most_1() {
    for ratio in [0.0, -0.1, 0.000_000_4, 1.000_001, f64::NAN, f64::INFINITY] {
        assert!(refused(builder().ratio(ratio)).contains("ratio"), "{ratio}");
    }
    for (ratio, earned) in [(0.000_001, 1), (0.29, 290_000), (1.0, 1_000_000)] {
        let budget = accepted(builder().ratio(ratio).initial(0.0));
        budget.begin(Time::ZERO);
        assert_eq!(credit(&budget), earned);
    }
    let budget = accepted(builder().initial(0.0));
    budget.begin(Time::ZERO);
    assert_eq!(credit(&budget), 100_000, "0.1 unless told");
}

#[test]
fn a_new_process_has_0_to_burst() {
    for (initial, millionths) in [(0.0, 0), (-0.0, 0), (0.000_001, 1), (0.95, 950_000), (2.0, 2_000_000)] {
        assert_eq!(credit(&accepted(builder().initial(initial))), millionths);
    }
    for initial in [-0.1, 2.000_001, 3.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(refused(builder().initial(initial)).contains("initial"), "{initial}");
    }
    assert_eq!(credit(&accepted(builder().initial(4_000.0).burst(4_000))), 4_000_000_000, "in whatever order");
}

#[test]
#[should_panic(expected = "burst is 1 to 4000 retries")]
fn build_panics_where_try_build_refuses() {
    let _ = builder().burst(0).build();
}

#[test]
fn unless_told_it_draws_a_fraction_of_a_retry_once() {
    let first = credit(&A_STATIC);
    assert!(first < 1_000_000);
    assert_eq!(credit(&A_STATIC), first, "and keeps it");
    A_STATIC.begin(Time::ZERO);
    assert_eq!(credit(&A_STATIC), first + 100_000);
    // whatever uses it first
    let first_uses: [fn(&CreditBudget); 4] = [
        |budget| budget.begin(Time::ZERO),
        |budget| assert_eq!(budget.try_retry(RetryKind::Transient, Time::ZERO), None, "less than one"),
        |budget| budget.settle(Grant::new(1), Fate::NotSent),
        |budget| budget.end(CallEnd::FirstTry),
    ];
    for first_use in first_uses {
        let budget = accepted(builder());
        first_use(&budget);
        assert!(credit(&budget) <= 2_000_000);
        for _ in 0..20 {
            budget.begin(Time::ZERO);
        }
        assert_eq!(credit(&budget), 2_000_000);
    }
}

#[test]
fn what_it_draws_is_uniform() {
    let mut tenths = [0_u32; 10];
    let mut sum = 0;
    for _ in 0..10_000 {
        let drawn = credit(&accepted(builder()));
        tenths[usize::try_from(drawn / 100_000).expect("below one")] += 1;
        sum += drawn;
    }
    // 1,000 in each tenth, with a standard deviation of 30; the mean one half, with one of 0.0029
    assert!(tenths.iter().all(|tenth| (800..=1_200).contains(tenth)), "{tenths:?}");
    assert!((4_800_000_000..=5_200_000_000).contains(&sum), "{sum}");
}

#[test]
fn the_largest_budget_neither_overflows_nor_wraps() {
    let budget = accepted(builder().burst(4_000).initial(4_000.0).ratio(1.0));
    budget.begin(Time::ZERO);
    assert_eq!(credit(&budget), 4_000_000_000);
    let one = budget.try_retry(RetryKind::Transient, Time::ZERO).expect("granted");
    for _ in 0..500 {
        budget.settle(Grant::new(u32::MAX).in_slot(u64::MAX), Fate::NotSent);
        budget.begin(Time::MAX);
    }
    budget.settle(one, Fate::NotSent);
    assert_eq!(credit(&budget), 4_000_000_000, "a grant that isn't this budget's fills it and no more");
}
