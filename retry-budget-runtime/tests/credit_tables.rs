//! The credit budget, row by row: each call earns a part of a retry, a retry takes a whole one. In millionths.

use retry_budget_runtime::{Budget, CallEnd, CreditBudget, Fate, Grant, RetryKind, Time};

const fn starting_with(initial: f64) -> CreditBudget {
    CreditBudget::builder("partner").initial(initial).build()
}

/// What is asked of a budget, and its credit after it.
struct Steps {
    budget: CreditBudget,
    out: Vec<Grant>,
}

impl Steps {
    fn on(budget: CreditBudget) -> Self {
        Self { budget, out: Vec::new() }
    }

    fn credit(self, millionths: u64) -> Self {
        assert_eq!(self.budget.snapshot(Time::ZERO).available, millionths);
        self
    }

    fn begin(self, calls: u32, millionths: u64) -> Self {
        (0..calls).for_each(|_| self.budget.begin(Time::ZERO));
        self.credit(millionths)
    }

    fn granted(mut self, millionths: u64) -> Self {
        self.out.push(self.budget.try_retry(RetryKind::Transient, Time::ZERO).expect("granted"));
        self.credit(millionths)
    }

    fn denied(self, millionths: u64) -> Self {
        assert_eq!(self.budget.try_retry(RetryKind::Transient, Time::ZERO), None);
        self.credit(millionths)
    }

    /// What became of the retry granted last.
    fn settled(mut self, fate: Fate, millionths: u64) -> Self {
        self.budget.settle(self.out.pop().expect("a retry is out"), fate);
        self.credit(millionths)
    }

    fn ended(self, end: CallEnd, millionths: u64) -> Self {
        self.budget.end(end);
        self.credit(millionths)
    }
}

#[test]
fn c1_ten_calls_earn_a_retry() {
    Steps::on(starting_with(0.0)).begin(9, 900_000).denied(900_000).begin(1, 1_000_000).granted(0).denied(0);
}

#[test]
fn c2_the_last_part_of_a_retry() {
    Steps::on(starting_with(0.95)).begin(1, 1_050_000).granted(50_000).denied(50_000);
}

#[test]
fn c3_as_many_as_the_burst_are_saved_up() {
    Steps::on(starting_with(0.0)).begin(100, 2_000_000).granted(1_000_000).granted(0).denied(0);
}

#[test]
fn c4_what_is_not_sent_goes_back_and_what_failed_does_not() {
    Steps::on(starting_with(0.0))
        .begin(10, 1_000_000)
        .granted(0)
        .settled(Fate::NotSent, 1_000_000)
        .granted(0)
        .settled(Fate::Failed, 0);
}

#[test]
fn success_failure_and_the_end_of_a_call_change_nothing() {
    for fate in [Fate::Succeeded, Fate::Failed, Fate::Dropped] {
        let mut steps = Steps::on(starting_with(1.5)).granted(500_000).settled(fate, 500_000);
        for end in [CallEnd::FirstTry, CallEnd::AfterRetry, CallEnd::Failed, CallEnd::Dropped] {
            steps = steps.ended(end, 500_000);
        }
        steps.budget.final_failure(Some(RetryKind::Transient));
        steps.budget.final_failure(None);
        steps.credit(500_000);
    }
}

#[test]
fn a_refund_is_capped() {
    // 1.5, granted, and meanwhile nine others begin: 1.4 and the whole one that goes back make 2.0
    Steps::on(starting_with(1.5)).granted(500_000).begin(9, 1_400_000).settled(Fate::NotSent, 2_000_000);
}

#[test]
fn a_throttling_failure_costs_the_same() {
    let budget = starting_with(1.0);
    assert!(budget.try_retry(RetryKind::Throttling, Time::ZERO).is_some());
    assert!(budget.try_retry(RetryKind::Throttling, Time::ZERO).is_none());
}

/// Retries granted to a process with that many calls, each of which fails and asks once.
fn granted(budget: &CreditBudget, calls: u32) -> u64 {
    for _ in 0..calls {
        budget.begin(Time::ZERO);
        if let Some(grant) = budget.try_retry(RetryKind::Transient, Time::ZERO) {
            budget.settle(grant, Fate::Failed);
        }
        budget.end(CallEnd::Failed);
    }
    budget.snapshot(Time::ZERO).granted
}

#[test]
fn c5_ten_thousand_processes_with_one_call_each() {
    // each draws for itself: 1,000 are expected, with a standard deviation of sqrt(10,000 × 0.1 × 0.9) = 30
    let of_a_fleet = || (0..10_000).map(|_| granted(&CreditBudget::builder("partner").build(), 1)).sum::<u64>();
    let retries = of_a_fleet();
    assert!((800..=1_200).contains(&retries), "{retries}: more than six standard deviations off");
    // initials spread evenly over [0, 1): a tenth of them is at 0.9 or above
    let even = (0..10_000).map(|process| granted(&starting_with(f64::from(process) / 1e4), 1)).sum::<u64>();
    assert_eq!(even, 1_000);
}

#[test]
fn a_fleet_of_any_size_keeps_to_its_ratio() {
    // the same hundred thousand calls, over more and more processes
    for processes in [1, 10, 100, 1_000, 10_000, 100_000] {
        let calls = 100_000 / processes;
        let initial = |process| (f64::from(process) + 0.5) / f64::from(processes);
        let retries = (0..processes).map(|process| granted(&starting_with(initial(process)), calls)).sum::<u64>();
        assert_eq!(retries, 10_000, "{processes} processes");
    }
}

#[test]
fn c6_a_process_is_granted_what_it_earned() {
    for initial in [0_u32, 1, 99_999, 100_000, 500_000, 899_999, 900_000, 999_999] {
        for ratio in [1_u32, 70_000, 100_000, 290_000, 1_000_000] {
            for calls in [0, 1, 3, 9, 10, 11, 99, 100, 1_000] {
                let budget = CreditBudget::builder("partner")
                    .initial(f64::from(initial) / 1e6)
                    .ratio(f64::from(ratio) / 1e6)
                    .build();
                // ⌊initial + ratio × calls⌋, and at the burst of 2 nothing is cut, since each call asks
                let expected = (u64::from(initial) + u64::from(ratio) * u64::from(calls)) / 1_000_000;
                assert_eq!(granted(&budget, calls), expected.min(calls.into()), "{initial} {ratio} {calls}");
            }
        }
    }
}
