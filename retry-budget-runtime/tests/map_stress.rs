//! Threads that hammer a map in which keys come and go: nothing granted twice, nothing lost.

use retry_budget_runtime::{Budget, BudgetMap, CallEnd, Fate, RetryKind, Time, TokenBudget};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::thread;

const THREADS: u64 = 8;

/// Runs the same work in all threads at once, each with dice of its own.
fn hammer(work: impl Fn(&mut Dice) + Sync) {
    let start = Barrier::new(usize::try_from(THREADS).expect("few"));
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                start.wait();
                work(&mut Dice(number));
            });
        }
    });
}

/// Numbers that look random, a different row for each seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % sides as u64).expect("below sides")
    }
}

fn left(budget: &impl Budget) -> u64 {
    budget.snapshot(Time::ZERO).available
}

/// What was sent for each key, by its own budget and by the overflow.
fn counters<const N: usize>() -> [AtomicU64; N] {
    std::array::from_fn(|_| AtomicU64::new(0))
}

#[test]
fn every_token_is_accounted_for() {
    const KEYS: usize = 48;
    // 60 retries a key, 1,000 for all of them, and nothing refills
    let parent = Arc::new(TokenBudget::builder("parent").capacity(14_013).success_refund(0).build());
    let hosts: BudgetMap<usize, TokenBudget> = BudgetMap::builder("hosts")
        .max_keys(12)
        .shared_parent(parent.clone())
        .try_build(|_| TokenBudget::builder("hosts").capacity(850).success_refund(0).build())
        .unwrap();
    let (by_own, by_overflow) = (counters::<KEYS>(), AtomicU64::new(0));
    hammer(|dice| {
        for _ in 0..30_000 {
            let key = dice.roll(KEYS);
            let budget = hosts.get(&key);
            budget.begin(Time::ZERO);
            let Some(grant) = budget.try_retry(RetryKind::Transient, Time::ZERO) else {
                budget.end(CallEnd::Failed);
                continue;
            };
            if dice.roll(8) == 0 {
                if budget.is_overflow() { &by_overflow } else { &by_own[key] }.fetch_add(1, SeqCst);
                budget.settle(grant, Fate::Failed);
            } else {
                let fate = if dice.roll(2) == 0 { Fate::NotSent } else { Fate::Succeeded };
                budget.settle(grant, fate);
            }
            budget.end(CallEnd::Dropped);
        }
    });
    let own: u64 = by_own.iter().map(|sent| sent.load(SeqCst)).sum();
    let overflow = by_overflow.load(SeqCst);
    assert_eq!(left(&parent), 14_013 - 14 * (own + overflow));
    for (key, sent) in by_own.iter().enumerate() {
        let sent = sent.load(SeqCst);
        match hosts.peek(&key) {
            Some(budget) => assert_eq!(left(&budget), 850 - 14 * sent, "key {key}"),
            None => assert_eq!(sent, 0, "key {key} is gone, so it had spent nothing"),
        }
    }
    let snapshot = hosts.snapshot(Time::ZERO);
    assert_eq!(snapshot.overflow.map(|overflow| overflow.available), Some(850 - 14 * overflow));
    assert_eq!(snapshot.keys, 12);
    assert!(own > 600 && overflow > 20, "the test would be idle: {own}, {overflow}");
}

#[test]
fn all_threads_together_get_what_the_parent_has() {
    let parent = Arc::new(TokenBudget::builder("parent").capacity(14_013).build());
    let hosts: BudgetMap<usize, TokenBudget> = BudgetMap::builder("hosts")
        .max_keys(12)
        .shared_parent(parent.clone())
        .try_build(|_| TokenBudget::builder("hosts").build())
        .unwrap();
    let sent = AtomicU64::new(0);
    hammer(|dice| {
        for _ in 0..5_000 {
            if let Some(grant) = hosts.get(&dice.roll(200)).try_retry(RetryKind::Transient, Time::ZERO) {
                sent.fetch_add(1, SeqCst);
                assert_eq!(grant.cost(), 14);
            }
        }
    });
    let snapshot = parent.snapshot(Time::ZERO);
    // twelve keys and the overflow have 35 each
    assert_eq!((sent.load(SeqCst), snapshot.available), (13 * 35, 14_013 - 14 * 13 * 35));
    assert_eq!((snapshot.granted, snapshot.denied), (13 * 35, 0));
}

#[test]
fn no_key_has_two_budgets_at_a_time() {
    const KEYS: usize = 24;
    // one retry at a time, which always comes back: so all keys but those in use may go, at any moment
    let hosts: BudgetMap<usize, TokenBudget> =
        BudgetMap::builder("hosts").max_keys(6).build(|_| TokenBudget::builder("hosts").capacity(14).build());
    let out = counters::<KEYS>();
    let granted = AtomicU64::new(0);
    hammer(|dice| {
        for _ in 0..40_000 {
            let key = dice.roll(KEYS);
            let budget = hosts.get(&key);
            let Some(grant) = budget.try_retry(RetryKind::Transient, Time::ZERO) else { continue };
            if !budget.is_overflow() {
                assert_eq!(out[key].fetch_add(1, SeqCst), 0, "key {key}: granted twice");
                if dice.roll(4) == 0 {
                    thread::yield_now();
                }
                out[key].fetch_sub(1, SeqCst);
                granted.fetch_add(1, SeqCst);
            }
            budget.settle(grant, if dice.roll(2) == 0 { Fate::NotSent } else { Fate::Succeeded });
        }
    });
    let snapshot = hosts.snapshot(Time::ZERO);
    assert!(snapshot.keys <= 6);
    assert!(hosts.most_spent(1, Time::ZERO).is_empty(), "all came back");
    let granted = granted.load(SeqCst);
    assert!(snapshot.evicted > 10_000 && granted > 10_000, "the test would be idle: {snapshot:?}, {granted}");
}
