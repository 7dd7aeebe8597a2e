//! The ratio budget, row by row: `allowed = max(min_retries, ratio × requests)`, and what a window holds.

use retry_budget_runtime::{Budget, CallEnd, Fate, Grant, RatioBudget, RetryKind, Time};
use std::time::Duration;

const fn with_floor(min_retries: u32) -> RatioBudget {
    RatioBudget::builder("partner").ratio(0.1).window(Duration::from_secs(10)).min_retries(min_retries).build()
}

/// A budget at a time that the steps set, in milliseconds.
struct Steps {
    budget: RatioBudget,
    now: Time,
    out: Vec<Grant>,
}

impl Steps {
    fn on(budget: RatioBudget) -> Self {
        Self { budget, now: Time::ZERO, out: Vec::new() }
    }

    fn at(mut self, millis: u64) -> Self {
        self.now = Time::from_millis(millis);
        self
    }

    fn requests(self, count: u64) -> Self {
        (0..count).for_each(|_| self.budget.begin(self.now));
        self
    }

    fn ask(&self) -> Option<Grant> {
        self.budget.try_retry(RetryKind::Transient, self.now)
    }

    fn granted(mut self, times: usize) -> Self {
        for nth in 1..=times {
            let grant = self.ask().unwrap_or_else(|| panic!("the {nth}th is granted"));
            self.out.push(grant);
        }
        self
    }

    fn denied(self) -> Self {
        assert_eq!(self.ask(), None);
        self
    }

    /// That many are granted, and then no more.
    fn granted_exactly(self, times: usize) -> Self {
        self.granted(times).denied()
    }

    /// The calls that wait for this many retries are dropped.
    fn dropped_unsent(mut self, times: usize) -> Self {
        for grant in self.out.drain(..times) {
            self.budget.settle(grant, Fate::NotSent);
            self.budget.end(CallEnd::Dropped);
        }
        self
    }
}

#[test]
fn the_share_of_the_requests_or_the_floor() {
    for (requests, retries_so_far, ratio, floor, grant) in [
        (0, 0, 0.1, 3, true),
        (0, 3, 0.1, 3, false),
        (5, 0, 0.1, 0, false),
        (9, 0, 0.1, 0, false),
        (10, 0, 0.1, 0, true),
        (19, 1, 0.1, 0, false),
        (20, 1, 0.1, 0, true),
        (50, 4, 0.1, 3, true),
        (50, 5, 0.1, 3, false),
        (1_000, 99, 0.1, 3, true),
        (1_000, 100, 0.1, 3, false),
        (100, 28, 0.29, 0, true),
        (10, 5, 0.6, 0, true),
    ] {
        let budget = RatioBudget::builder("partner").ratio(ratio).min_retries(floor).build();
        let steps = Steps::on(budget).requests(requests).granted(retries_so_far);
        assert_eq!(steps.ask().is_some(), grant, "{requests} {retries_so_far} {ratio} {floor}");
    }
}

#[test]
fn pairs_of_request_and_ask_get_their_exact_share() {
    let budget = RatioBudget::builder("partner").ratio(0.75).min_retries(0).build();
    let mut steps = Steps::on(budget);
    let mut grants = 0;
    for _ in 0..10_000 {
        steps = steps.requests(1);
        grants += u32::from(steps.ask().is_some());
    }
    assert_eq!(grants, 7_500);
}

#[test]
fn r1_retries_leave_with_their_slot() {
    let steps = Steps::on(with_floor(3)).requests(50);
    let grants = (0..20).filter(|_| steps.ask().is_some()).count();
    assert_eq!(grants, 5);
    steps.at(999).denied().at(1_000).denied().at(9_999).denied().at(10_000).granted_exactly(3);
}

#[test]
fn r2_the_floor_is_not_added_to_the_share() {
    Steps::on(with_floor(3)).granted_exactly(3);
    Steps::on(with_floor(3)).granted_exactly(3).requests(39).denied();
    Steps::on(with_floor(3)).requests(39).granted_exactly(3);
    Steps::on(with_floor(3)).requests(40).granted_exactly(4);
}

#[test]
fn r3_requests_leave_with_their_slot() {
    Steps::on(with_floor(0)).at(999).requests(10).at(9_999).granted_exactly(1);
    Steps::on(with_floor(0)).at(999).requests(10).at(10_000).denied();
}

#[test]
fn r4_no_floor_no_retry_before_the_share_is_one() {
    Steps::on(with_floor(0)).requests(9).denied().requests(1).granted_exactly(1);
}

#[test]
fn r5_what_was_given_back_does_not_count_twice() {
    Steps::on(with_floor(3)).granted_exactly(3).at(2_000).dropped_unsent(3).at(10_000).granted_exactly(3);
}

#[test]
fn r6_a_retry_given_back_leaves_the_slot_it_was_counted_in() {
    Steps::on(with_floor(3))
        .granted(3)
        .at(2_000)
        .dropped_unsent(1)
        .granted_exactly(1)
        .at(10_000)
        .granted_exactly(2)
        .at(12_000)
        .granted_exactly(1);
}

#[test]
fn only_a_retry_that_was_not_sent_comes_back() {
    for (fate, after) in [(Fate::NotSent, 1), (Fate::Dropped, 0), (Fate::Failed, 0), (Fate::Succeeded, 0)] {
        let budget = with_floor(3);
        let mut steps = Steps::on(budget).granted_exactly(3);
        let grant = steps.out.remove(0);
        steps.budget.settle(grant, fate);
        assert_eq!(steps.budget.snapshot(steps.now).available, after, "{fate:?}");
        let _ = steps.granted_exactly(usize::try_from(after).unwrap());
    }
}

#[test]
fn both_kinds_share_the_allowance() {
    let steps = Steps::on(with_floor(3)).granted(2);
    assert!(steps.budget.try_retry(RetryKind::Throttling, steps.now).is_some());
    assert!(steps.budget.try_retry(RetryKind::Throttling, steps.now).is_none());
    let _ = steps.denied();
}

#[test]
fn a_success_or_a_failure_changes_nothing() {
    let steps = Steps::on(with_floor(3)).requests(7).granted(2);
    let before = steps.budget.snapshot(steps.now);
    for end in [CallEnd::FirstTry, CallEnd::AfterRetry, CallEnd::Failed, CallEnd::Dropped] {
        steps.budget.end(end);
    }
    steps.budget.final_failure(Some(RetryKind::Transient));
    steps.budget.final_failure(None);
    assert_eq!(steps.budget.snapshot(steps.now), before);
}

#[test]
fn a_snapshot_shows_the_window() {
    let steps = Steps::on(with_floor(3)).at(4_000).requests(70).granted(2);
    let snapshot = steps.budget.snapshot(Time::from_millis(13_999));
    assert_eq!((snapshot.name.as_str(), snapshot.kind), ("partner", "ratio"));
    assert_eq!((snapshot.available, snapshot.limit, snapshot.requests), (5, 7, Some(70)));
    assert_eq!((snapshot.granted, snapshot.denied), (2, 0));
    let snapshot = steps.budget.snapshot(Time::from_millis(14_000));
    assert_eq!((snapshot.available, snapshot.limit, snapshot.requests), (3, 3, Some(0)));
    assert_eq!((snapshot.granted, snapshot.denied), (2, 0), "since the start, not in the window");
}

#[test]
fn grants_of_elsewhere_take_off_what_is_out_and_no_more() {
    let budget = with_floor(3);
    let grants = || (0..10).filter_map(|_| budget.try_retry(RetryKind::Transient, Time::from_millis(5_000))).count();
    let foreign = || {
        for slot in (0..=20).chain([u64::MAX - 1, u64::MAX]) {
            (0..100).for_each(|_| budget.settle(Grant::new(u32::MAX).in_slot(slot), Fate::NotSent));
        }
    };
    foreign();
    assert_eq!(grants(), 3, "nothing was out");
    foreign();
    assert_eq!(grants(), 3, "three were out");
    let left = |millis| budget.snapshot(Time::from_millis(millis)).available;
    assert_eq!((left(5_000), left(14_999), left(15_000)), (0, 0, 3));
}
