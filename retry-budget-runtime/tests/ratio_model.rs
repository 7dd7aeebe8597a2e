//! The ratio budget against a slow model that keeps every event, under times that no sane clock would show.

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::{collection, prop_assert_eq};
use retry_budget_runtime::{Budget, Fate, Grant, RatioBudget, RetryKind, Time};
use std::collections::VecDeque;
use std::time::Duration;

/// What a window is, as simply as it can be said.
struct Model {
    millionths: u64,
    floor: u64,
    slot_nanos: u64,
    newest: u64,
    requests: VecDeque<u64>,
    retries: VecDeque<u64>,
}

impl Model {
    /// Moves to the slot of this time and lets leave what is ten slots old.
    fn at(&mut self, now: u64) {
        self.newest = self.newest.max(now / self.slot_nanos);
        let newest = self.newest;
        self.requests.retain(|slot| slot + 10 > newest);
        self.retries.retain(|slot| slot + 10 > newest);
    }

    fn request(&mut self, now: u64) {
        self.at(now);
        self.requests.push_back(self.newest);
    }

    /// Requests and retries in the window as it would be at this time. Looking changes nothing.
    fn seen_at(&self, now: u64) -> (u64, u64) {
        let newest = self.newest.max(now / self.slot_nanos);
        let count = |events: &VecDeque<u64>| events.iter().filter(|&&slot| slot + 10 > newest).count() as u64;
        (count(&self.requests), count(&self.retries))
    }

    fn allowed(&self) -> u64 {
        self.allowed_of(self.requests.len() as u64)
    }

    fn allowed_of(&self, requests: u64) -> u64 {
        (requests * self.millionths / 1_000_000).max(self.floor)
    }

    fn ask(&mut self, now: u64) -> bool {
        self.at(now);
        let granted = (self.retries.len() as u64) < self.allowed();
        if granted {
            self.retries.push_back(self.newest);
        }
        granted
    }

    fn give_back(&mut self, slot: u64) {
        if let Some(found) = self.retries.iter().position(|&held| held == slot) {
            self.retries.remove(found);
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Requests(u8),
    Asks(u8),
    /// Of the retries that are out, this one (modulo their number) was never sent.
    GiveBack(usize),
    /// The clock goes on by this many nanoseconds.
    Pause(u64),
    /// The clock goes back by this many.
    Back(u64),
    Look,
}

fn step(slot: u64) -> impl Strategy<Value = Step> {
    let pause = prop_oneof![
        4 => 0..2 * slot,
        2 => 0..20 * slot,
        1 => Just(slot),
        1 => Just(10 * slot),
        1 => Just(16 * slot),
        1 => 0..1_000_000 * slot,
    ];
    prop_oneof![
        4 => any::<u8>().prop_map(Step::Requests),
        4 => (0_u8..20).prop_map(Step::Asks),
        2 => any::<usize>().prop_map(Step::GiveBack),
        4 => pause.prop_map(Step::Pause),
        1 => (0..30 * slot).prop_map(Step::Back),
        1 => Just(Step::Look),
    ]
}

/// Millionths, floor, length of a slot, and what happens.
fn story() -> impl Strategy<Value = (u32, u32, u64, Vec<Step>)> {
    let millionths = prop_oneof![Just(1_u32), Just(100_000), Just(290_000), Just(1_000_000), 1..=1_000_000_u32];
    let slot = prop_oneof![Just(10_000_000_u64), Just(1_000_000_000), Just(360_000_000_000)];
    (millionths, 0..20_u32, slot).prop_flat_map(|(millionths, floor, slot)| {
        (Just(millionths), Just(floor), Just(slot), collection::vec(step(slot), 1..150))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_budget_does_what_the_model_does((millionths, floor, slot_nanos, steps) in story()) {
        let budget = RatioBudget::builder("partner")
            .ratio(f64::from(millionths) / 1e6)
            .window(Duration::from_nanos(10 * slot_nanos))
            .min_retries(floor)
            .build();
        let mut model = Model {
            millionths: millionths.into(),
            floor: floor.into(),
            slot_nanos,
            newest: 0,
            requests: VecDeque::new(),
            retries: VecDeque::new(),
        };
        let mut now = 0_u64;
        let mut out: Vec<(Grant, u64)> = Vec::new();
        for step in steps {
            match step {
                Step::Requests(count) => for _ in 0..count {
                    budget.begin(Time::from_nanos(now));
                    model.request(now);
                },
                Step::Asks(count) => for _ in 0..count {
                    let grant = budget.try_retry(RetryKind::Transient, Time::from_nanos(now));
                    prop_assert_eq!(grant.is_some(), model.ask(now), "at {}", now);
                    out.extend(grant.map(|grant| (grant, model.newest)));
                },
                Step::GiveBack(which) if !out.is_empty() => {
                    let (grant, slot) = out.swap_remove(which % out.len());
                    budget.settle(grant, Fate::NotSent);
                    model.give_back(slot);
                }
                Step::GiveBack(_) => {}
                Step::Pause(nanos) => now += nanos,
                Step::Back(nanos) => now = now.saturating_sub(nanos),
                Step::Look => {
                    let snapshot = budget.snapshot(Time::from_nanos(now));
                    let (requests, retries) = model.seen_at(now);
                    let allowed = model.allowed_of(requests);
                    prop_assert_eq!(snapshot.requests, Some(requests));
                    prop_assert_eq!(snapshot.limit, allowed);
                    prop_assert_eq!(snapshot.available, allowed.saturating_sub(retries));
                }
            }
        }
    }
}
