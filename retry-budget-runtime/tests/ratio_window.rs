//! The ratio budget's window: how long something counts, and what a clock that misbehaves does to it.

use retry_budget_runtime::{Budget, Fate, Grant, RatioBudget, RatioBudgetBuilder, RetryKind, SettingsError, Time};
use std::time::Duration;

const MONTH: u64 = 30 * 24 * 3_600 * 1_000;
const MILLI: u64 = 1_000_000;
const HOUR: u64 = 3_600_000 * MILLI;

fn builder() -> RatioBudgetBuilder {
    RatioBudget::builder("partner")
}

fn begin(budget: &RatioBudget, times: u64, nanos: u64) {
    (0..times).for_each(|_| budget.begin(Time::from_nanos(nanos)));
}

fn ask(budget: &RatioBudget, nanos: u64) -> Option<Grant> {
    budget.try_retry(RetryKind::Transient, Time::from_nanos(nanos))
}

/// Asks until it is denied.
fn grants(budget: &RatioBudget, nanos: u64) -> usize {
    std::iter::from_fn(|| ask(budget, nanos)).count()
}

/// Windows of these lengths, in nanoseconds, with the length of their slots.
const WINDOWS: [(u64, u64); 4] = [
    (100 * MILLI, 10 * MILLI),
    (1_000 * MILLI, 100 * MILLI),
    (10_000 * MILLI, 1_000 * MILLI),
    (3_600_000 * MILLI, 360_000 * MILLI),
];

/// Slots in which something happens: the first ones, some around the turns of a ring of sixteen, and late ones.
const SLOTS: [u64; 12] = [0, 1, 5, 6, 7, 9, 10, 15, 16, 17, 31, 100_003];

#[test]
fn a_request_counts_for_nine_to_ten_slots() {
    for (window, slot) in WINDOWS {
        for first in SLOTS {
            for (begun, leaves) in
                [(first * slot, first * slot + window), ((first + 1) * slot - 1, (first + 10) * slot)]
            {
                let fresh = || builder().window(Duration::from_nanos(window)).min_retries(0).build();
                let budget = fresh();
                begin(&budget, 10, begun);
                assert_eq!(grants(&budget, leaves - 1), 1, "counts to the end: window {window}, slot {first}");
                let budget = fresh();
                begin(&budget, 10, begun);
                assert_eq!(grants(&budget, leaves), 0, "has left: window {window}, slot {first}");
            }
        }
    }
}

#[test]
fn a_retry_counts_for_nine_to_ten_slots() {
    for (window, slot) in WINDOWS {
        for first in SLOTS {
            for (granted, leaves) in
                [(first * slot, first * slot + window), ((first + 1) * slot - 1, (first + 10) * slot)]
            {
                let budget = builder().window(Duration::from_nanos(window)).min_retries(1).build();
                assert_eq!(grants(&budget, granted), 1);
                assert_eq!(grants(&budget, leaves - 1), 0, "counts to the end: window {window}, slot {first}");
                assert_eq!(grants(&budget, leaves), 1, "has left: window {window}, slot {first}");
            }
        }
    }
}

#[test]
fn how_often_somebody_asks_makes_no_difference() {
    for steps in [1, 3, 7, 10, 100] {
        let budget = builder().min_retries(0).build();
        begin(&budget, 10, 0);
        assert_eq!(grants(&budget, 0), 1);
        begin(&budget, 10, 5_000 * MILLI);
        // polled up to the moment at which the first ten requests and the retry leave
        for step in 0..steps {
            assert_eq!(grants(&budget, (5_000 + 5_000 * step / steps) * MILLI), usize::from(step == 0));
        }
        assert_eq!(grants(&budget, 9_999 * MILLI), 0);
        assert_eq!(grants(&budget, 10_000 * MILLI), 0, "one retry of the ten requests at 5 s is out");
        assert_eq!(grants(&budget, 15_000 * MILLI), 0, "nobody is left");
    }
}

#[test]
fn after_a_month_of_idling_the_window_is_empty() {
    let budget = builder().min_retries(3).build();
    begin(&budget, 1_000, 0);
    assert_eq!(grants(&budget, 0), 100);
    let later = MONTH * MILLI;
    assert_eq!(budget.snapshot(Time::from_nanos(later)).requests, Some(0));
    assert_eq!(grants(&budget, later), 3);
    begin(&budget, 50, later);
    assert_eq!(grants(&budget, later), 2);
}

#[test]
fn a_clock_that_goes_back_counts_into_the_newest_slot() {
    let budget = builder().min_retries(0).build();
    begin(&budget, 10, 20_000 * MILLI);
    begin(&budget, 10, 0);
    assert_eq!(grants(&budget, 3_000 * MILLI), 2, "all twenty are in the window");
    // they leave together, ten slots after the newest
    begin(&budget, 10, 29_999 * MILLI);
    assert_eq!(grants(&budget, 29_999 * MILLI), 1);
    assert_eq!(budget.snapshot(Time::from_millis(29_999)).requests, Some(30));
    assert_eq!(budget.snapshot(Time::from_millis(30_000)).requests, Some(10));
}

#[test]
fn a_clock_that_stands_still_grants_no_more_than_the_share() {
    let budget = builder().min_retries(3).build();
    assert_eq!(grants(&budget, 0), 3);
    begin(&budget, 1_000_000, 0);
    assert_eq!(grants(&budget, 0), 100_000 - 3);
}

#[test]
fn a_clock_that_jumps_ahead_leaves_the_floor_only() {
    let budget = builder().min_retries(3).build();
    begin(&budget, 1_000, 0);
    for jump in 1..=5 {
        assert_eq!(grants(&budget, jump * MONTH * MILLI), 3);
    }
    // and back: no second floor, and no lock-out either
    assert_eq!(grants(&budget, 0), 0);
    begin(&budget, 40, 0);
    assert_eq!(grants(&budget, 0), 1);
}

#[test]
fn a_retry_may_be_given_back_whatever_the_clock_did() {
    let budget = builder().min_retries(3).build();
    let mut out: Vec<_> = std::iter::from_fn(|| ask(&budget, 0)).collect();
    // long after its slot has left, and its cell in any ring has had other users
    for slots in [16, 26, 42, 52, 160] {
        let now = slots * 1_000 * MILLI;
        let newer: Vec<_> = std::iter::from_fn(|| ask(&budget, now)).collect();
        assert_eq!(newer.len(), 3);
        budget.settle(out.remove(0), Fate::NotSent);
        assert_eq!(grants(&budget, now), 0, "{slots}");
        out.extend(newer);
    }
}

#[test]
fn a_grant_from_the_future_is_nobodys() {
    let budget = builder().min_retries(3).build();
    assert_eq!(grants(&budget, 0), 3);
    for slot in [1, 16, 1 << 34, u64::MAX] {
        budget.settle(Grant::new(1).in_slot(slot), Fate::NotSent);
        assert_eq!(grants(&budget, 0), 0);
    }
    assert_eq!(grants(&budget, 1_000 * MILLI), 0, "nor when its slot has come");
}

#[test]
fn the_end_of_time_is_a_slot_like_any_other() {
    for window in [Duration::from_millis(100), Duration::from_secs(10), Duration::from_secs(3_600)] {
        let budget = builder().window(window).min_retries(3).build();
        begin(&budget, 10, 0);
        for _ in 0..2 {
            begin(&budget, 20, u64::MAX);
        }
        assert_eq!(grants(&budget, u64::MAX), 4);
        begin(&budget, 10, 0);
        assert_eq!(grants(&budget, u64::MAX - 1), 1, "no panic, no lock-out, no free retries");
        let snapshot = budget.snapshot(Time::MAX);
        assert_eq!((snapshot.requests, snapshot.available), (Some(50), 0));
        let grant = {
            begin(&budget, 10, u64::MAX);
            ask(&budget, u64::MAX).expect("the sixth of sixty")
        };
        budget.settle(grant, Fate::NotSent);
        assert_eq!(grants(&budget, u64::MAX), 1);
    }
}

#[test]
fn the_smallest_and_the_largest_ratio() {
    let smallest = builder().ratio(0.000_001).min_retries(0).build();
    begin(&smallest, 999_999, 0);
    assert_eq!(grants(&smallest, 0), 0);
    begin(&smallest, 1, 0);
    assert_eq!(grants(&smallest, 0), 1);

    let largest = builder().ratio(1.0).min_retries(0).build();
    assert_eq!(grants(&largest, 0), 0);
    for _ in 0..5 {
        begin(&largest, 100, 0);
        assert_eq!(grants(&largest, 0), 100);
    }
}

#[test]
fn the_largest_floor() {
    let budget = builder().min_retries(1 << 20).build();
    assert_eq!(grants(&budget, 0), 1 << 20);
    assert_eq!(grants(&budget, 9_999 * MILLI), 0);
    assert_eq!(grants(&budget, 10_000 * MILLI), 1 << 20);
}

#[test]
fn settings_out_of_range_are_refused() {
    let problem = |builder: RatioBudgetBuilder| {
        builder.try_build().as_ref().map_err(SettingsError::problem).err().unwrap_or("accepted")
    };
    for ratio in [0.0, -0.1, 0.000_000_4, 1.000_001, 10.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(problem(builder().ratio(ratio)).contains("ratio is a share of the requests"), "{ratio}");
    }
    for ratio in [0.000_001, 0.000_000_6, 1.0] {
        assert_eq!(problem(builder().ratio(ratio)), "accepted", "{ratio}");
    }
    for nanos in [0, 100 * MILLI - 1, HOUR + 1, u64::MAX] {
        let window = Duration::from_nanos(nanos);
        assert!(problem(builder().window(window)).contains("window is 100 ms to one hour"), "{window:?}");
    }
    assert!(problem(builder().window(Duration::MAX)).contains("window is 100 ms to one hour"));
    for nanos in [100 * MILLI, 100 * MILLI + 1, HOUR - 1, HOUR] {
        let window = Duration::from_nanos(nanos);
        assert_eq!(problem(builder().window(window)), "accepted", "{window:?}");
    }
    assert_eq!(problem(builder().min_retries(1 << 20)), "accepted");
    for floor in [(1 << 20) + 1, u32::MAX] {
        assert!(problem(builder().min_retries(floor)).contains("min_retries"), "{floor}");
    }
}

#[test]
fn looking_moves_nothing() {
    let budget = RatioBudget::builder("looked at").build();
    let now = Time::from_millis(1_000);
    for _ in 0..100 {
        budget.begin(now);
    }
    // the time since 1970 in milliseconds: a mistake that suggests itself
    let late = budget.snapshot(Time::from_millis(1_790_000_000_000));
    assert_eq!((late.requests, late.limit), (Some(0), 3));
    let seen = budget.snapshot(now);
    assert_eq!((seen.requests, seen.limit), (Some(100), 10));
    assert_eq!(budget.snapshot(Time::from_millis(11_000)).requests, Some(0), "the window goes on as before");
}

#[test]
fn a_grant_from_elsewhere_is_not_saved_up() {
    let budget = RatioBudget::builder("wronged").build();
    for _ in 0..1_000 {
        budget.settle(Grant::new(1), Fate::NotSent);
        budget.settle(Grant::new(1).in_slot(9), Fate::NotSent);
        budget.settle(Grant::new(1).in_slot(u64::MAX), Fate::NotSent);
    }
    assert_eq!(grants(&budget, 0), 3);
    assert_eq!(grants(&budget, 9_000 * MILLI), 0);
    assert_eq!(grants(&budget, 10_000 * MILLI), 3);
}
