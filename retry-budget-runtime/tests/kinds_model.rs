//! The kinds without a clock against slow models that add up everything that ever happened.

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::{collection, prop_assert_eq};
use retry_budget_runtime::{
    Budget, CallEnd, ConcurrencyBudget, CreditBudget, Fate, Grant, GrpcBudget, RetryKind, Time,
};

/// What happens to a budget: to the call, or the retry, of this number modulo their count.
#[derive(Clone, Copy, Debug)]
enum Step {
    Begin,
    Ask(RetryKind),
    Final(Option<RetryKind>),
    Settle(usize, Fate),
    End(CallEnd),
}

fn kind() -> impl Strategy<Value = RetryKind> {
    prop_oneof![Just(RetryKind::Transient), Just(RetryKind::Throttling)]
}

fn step() -> impl Strategy<Value = Step> {
    let fate = prop_oneof![Just(Fate::Succeeded), Just(Fate::Failed), Just(Fate::NotSent), Just(Fate::Dropped)];
    let end =
        prop_oneof![Just(CallEnd::FirstTry), Just(CallEnd::AfterRetry), Just(CallEnd::Failed), Just(CallEnd::Dropped)];
    prop_oneof![
        5 => Just(Step::Begin),
        5 => kind().prop_map(Step::Ask),
        1 => proptest::option::of(kind()).prop_map(Step::Final),
        3 => (any::<usize>(), fate).prop_map(|(which, fate)| Step::Settle(which, fate)),
        4 => end.prop_map(Step::End),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    collection::vec(step(), 1..400)
}

/// Everything that ever happened, with what was granted.
#[derive(Debug)]
enum Event {
    Began,
    Granted,
    CountedFailure,
    Settled(Fate),
    Ended(CallEnd),
}

/// Does to the budget what the steps say, and checks each decision and each level against the model.
fn compare(
    budget: &impl Budget,
    steps: &[Step],
    level: impl Fn(&[Event]) -> u64,
    grants: impl Fn(&[Event]) -> bool,
) -> Result<(), proptest::test_runner::TestCaseError> {
    let mut events = Vec::new();
    let mut out: Vec<Grant> = Vec::new();
    for (nth, &step) in steps.iter().enumerate() {
        match step {
            Step::Begin => {
                budget.begin(Time::ZERO);
                events.push(Event::Began);
            }
            Step::Ask(kind) => {
                let grant = budget.try_retry(kind, Time::ZERO);
                prop_assert_eq!(grant.is_some(), grants(&events), "step {}", nth);
                events.push(Event::CountedFailure);
                if let Some(grant) = grant {
                    out.push(grant);
                    events.push(Event::Granted);
                }
            }
            Step::Final(kind) => {
                budget.final_failure(kind);
                events.extend(kind.map(|_| Event::CountedFailure));
            }
            Step::Settle(which, fate) if !out.is_empty() => {
                budget.settle(out.swap_remove(which % out.len()), fate);
                events.push(Event::Settled(fate));
            }
            Step::Settle(..) => {}
            Step::End(end) => {
                budget.end(end);
                events.push(Event::Ended(end));
            }
        }
        prop_assert_eq!(budget.snapshot(Time::ZERO).available, level(&events), "after step {}", nth);
    }
    Ok(())
}

/// Adds up changes from a start, never below 0 and never above `most`.
fn sum(start: i64, most: i64, changes: impl Iterator<Item = i64>) -> i64 {
    changes.fold(start, |level, change| (level + change).clamp(0, most))
}

fn level(number: i64) -> u64 {
    u64::try_from(number).expect("never negative")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn credit(
        millionths in prop_oneof![Just(1_u32), Just(100_000), Just(1_000_000), 1..=1_000_000_u32],
        burst in prop_oneof![1..5_u32, Just(4_000)],
        initial in 0..=1_000_000_u32,
        steps in steps(),
    ) {
        let budget = CreditBudget::builder("partner")
            .ratio(f64::from(millionths) / 1e6)
            .burst(burst)
            .initial(f64::from(initial) / 1e6)
            .build();
        let credit = |events: &[Event]| {
            let changes = events.iter().map(|event| match event {
                Event::Began => millionths.into(),
                Event::Granted => -1_000_000,
                Event::Settled(Fate::NotSent) => 1_000_000,
                _ => 0,
            });
            sum(initial.into(), i64::from(burst) * 1_000_000, changes)
        };
        compare(&budget, &steps, |events| level(credit(events)), |events| credit(events) >= 1_000_000)?;
    }

    #[test]
    fn grpc(
        max_tokens in prop_oneof![Just(3_u32), Just(10), 3..20_u32],
        thousandths in prop_oneof![Just(100_u32), Just(1), 1..3_000_u32],
        steps in steps(),
    ) {
        let budget = GrpcBudget::builder("partner")
            .max_tokens(max_tokens)
            .token_ratio(f64::from(thousandths) / 1e3)
            .build();
        let most = i64::from(max_tokens) * 1_000;
        let tokens = |events: &[Event]| {
            let changes = events.iter().map(|event| match event {
                Event::CountedFailure => -1_000,
                Event::Ended(CallEnd::FirstTry | CallEnd::AfterRetry) => thousandths.into(),
                _ => 0,
            });
            sum(most, most, changes)
        };
        // more than half is left after the failure that asks
        let grants = |events: &[Event]| (tokens(events) - 1_000) * 2 > most;
        compare(&budget, &steps, |events| level(tokens(events)), grants)?;
    }

    #[test]
    fn concurrency(
        percent in prop_oneof![Just(20_u32), Just(50), Just(100), 1..=100_u32],
        floor in 0..5_u32,
        steps in steps(),
    ) {
        let budget = ConcurrencyBudget::builder("partner")
            .ratio(f64::from(percent) / 100.0)
            .min_retry_concurrency(floor)
            .build();
        // an end without a begin, which no call makes, changes nothing when no call is active
        let active = |events: &[Event]| {
            sum(0, i64::MAX, events.iter().map(|event| match event {
                Event::Began => 1,
                Event::Ended(_) => -1,
                _ => 0,
            }))
        };
        let retries = |events: &[Event]| {
            let granted = events.iter().filter(|event| matches!(event, Event::Granted)).count();
            granted - events.iter().filter(|event| matches!(event, Event::Settled(_))).count()
        };
        let free = |events: &[Event]| {
            let share = level(active(events)) * u64::from(percent) / 100;
            share.max(floor.into()).saturating_sub(retries(events) as u64)
        };
        compare(&budget, &steps, free, |events| free(events) > 0)?;
    }
}
