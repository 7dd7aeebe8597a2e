//! Which keys go when the map is full, and that nothing of what was spent or is out goes with them.

use retry_budget_runtime::{
    Budget, BudgetMap, CallEnd, ConcurrencyBudget, Decision, Fate, Jitter, Keyed, RatioBudget, RetryKind, RetryPolicy,
    Run, Time, TokenBudget, Verdict,
};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

const POLICY: RetryPolicy = RetryPolicy::builder().jitter(Jitter::None).build();

fn hosts(max_keys: usize) -> BudgetMap<String, TokenBudget> {
    BudgetMap::builder("hosts").max_keys(max_keys).build(|_| TokenBudget::builder("hosts").capacity(28).build())
}

fn left(budget: &impl Budget) -> u64 {
    budget.snapshot(Time::ZERO).available
}

fn spend(budget: &impl Budget) -> bool {
    budget.try_retry(RetryKind::Transient, Time::ZERO).is_some()
}

/// Which of these have a budget of their own.
fn there<'k, B: Budget>(map: &BudgetMap<String, B>, keys: &[&'k str]) -> Vec<&'k str> {
    keys.iter().copied().filter(|key| map.peek(*key).is_some()).collect()
}

fn evicted_and_overflowed<K: Eq + std::hash::Hash, B: Budget>(map: &BudgetMap<K, B>) -> (u64, u64) {
    let snapshot = map.snapshot(Time::ZERO);
    assert!(snapshot.keys <= snapshot.max_keys);
    (snapshot.evicted, snapshot.overflowed)
}

#[test]
fn a_key_with_a_full_budget_makes_room_for_a_new_one() {
    let hosts = hosts(2);
    for host in ["a", "b", "c", "d"] {
        assert!(!hosts.get(host).is_overflow());
    }
    assert_eq!(there(&hosts, &["a", "b", "c", "d"]), ["c", "d"], "the oldest goes first");
    assert_eq!(evicted_and_overflowed(&hosts), (2, 0));
}

#[test]
fn none_goes_while_there_is_room() {
    let hosts = hosts(3);
    for host in ["a", "b", "c", "a", "b", "c"] {
        hosts.get(host);
    }
    assert_eq!(there(&hosts, &["a", "b", "c"]), ["a", "b", "c"]);
    assert_eq!(evicted_and_overflowed(&hosts), (0, 0));
}

#[test]
fn a_key_with_anything_spent_stays() {
    let hosts = hosts(2);
    spend(&hosts.get("a"));
    for host in ["b", "c", "d", "e"] {
        assert!(!hosts.get(host).is_overflow());
    }
    assert_eq!(there(&hosts, &["a", "b", "c", "d", "e"]), ["a", "e"]);
    assert_eq!(left(&hosts.get("a")), 14);
}

#[test]
fn a_key_goes_once_it_has_recovered() {
    let hosts = hosts(1);
    let a = hosts.get("a");
    spend(&a);
    (0..13).for_each(|_| a.end(CallEnd::FirstTry));
    drop(a);
    assert!(hosts.get("b").is_overflow(), "27 of 28");
    hosts.get("a").end(CallEnd::FirstTry);
    assert!(!hosts.get("b").is_overflow());
    assert_eq!(there(&hosts, &["a", "b"]), ["b"]);
    hosts.get("b");
    assert_eq!(left(&hosts.get("a")), 28, "it comes back as it went");
}

#[test]
fn a_key_in_use_stays_although_its_budget_is_full() {
    let hosts = hosts(2);
    let a = hosts.get("a");
    for host in ["b", "c", "d"] {
        assert!(!hosts.get(host).is_overflow());
    }
    spend(&a);
    assert_eq!(left(&hosts.get("a")), 14, "the same budget");
    let other = a.clone();
    drop(a);
    (0..14).for_each(|_| other.end(CallEnd::FirstTry));
    hosts.get("e");
    assert_eq!(there(&hosts, &["a", "d", "e"]), ["a", "e"], "a clone is a use");
    drop(other);
    hosts.get("f");
    assert_eq!(there(&hosts, &["a", "e", "f"]), ["e", "f"]);
}

/// A call whose first attempt failed and that waits for its retry.
fn waiting(budget: Keyed<TokenBudget>) -> Run<Keyed<TokenBudget>> {
    let mut run = Run::begin(budget, Time::ZERO);
    let decision = run.failed(&POLICY, Verdict::TRANSIENT, Time::ZERO, 0);
    assert!(matches!(decision, Decision::Retry { .. }));
    run
}

#[test]
fn a_grant_that_is_out_comes_back_to_its_budget() {
    let hosts = hosts(3);
    let run = waiting(hosts.get("a"));
    for number in 0..100 {
        assert!(!hosts.get(&format!("{number}")).is_overflow());
    }
    assert_eq!(evicted_and_overflowed(&hosts), (98, 0));
    assert_eq!(left(&hosts.get("a")), 14, "taken while the call waits");
    drop(run);
    assert_eq!(left(&hosts.get("a")), 28, "not sent: given back to the very budget that others see");
    // full and unused by now, so that it may go
    for host in ["x", "y", "z"] {
        hosts.get(host);
    }
    assert_eq!(there(&hosts, &["a", "x", "y", "z"]), ["x", "y", "z"]);
}

#[test]
fn who_finds_no_room_shares_one_budget() {
    let hosts = hosts(2);
    spend(&hosts.get("a"));
    spend(&hosts.get("b"));
    let (c, d) = (hosts.get("c"), hosts.get("d"));
    assert!(c.is_overflow() && d.is_overflow());
    assert_eq!((c.name(), c.snapshot(Time::ZERO).limit), ("hosts", 28));
    assert!(spend(&c) && spend(&d));
    assert!(!spend(&c) && !spend(&hosts.get("e")), "two retries for all of them");
    assert_eq!(there(&hosts, &["a", "b", "c", "d", "e"]), ["a", "b"]);
    assert_eq!((left(&hosts.get("a")), left(&hosts.get("b"))), (14, 14), "the others have their own");
    assert_eq!(evicted_and_overflowed(&hosts), (0, 3));
    assert_eq!(hosts.snapshot(Time::ZERO).overflow.map(|overflow| (overflow.available, overflow.denied)), Some((0, 2)));
}

#[test]
fn who_was_served_by_the_overflow_gets_a_budget_once_there_is_room() {
    let hosts = hosts(1);
    spend(&hosts.get("a"));
    let call = waiting(hosts.get("b"));
    assert!(call.budget().is_overflow());
    (0..14).for_each(|_| hosts.get("a").end(CallEnd::FirstTry));
    assert!(!hosts.get("b").is_overflow());
    drop(call);
    assert_eq!(left(&hosts.get("b")), 28, "the grant went back to the overflow, where it came from");
    assert_eq!(hosts.snapshot(Time::ZERO).overflow.map(|overflow| overflow.available), Some(28));
}

#[test]
fn a_new_key_looks_at_eight_keys_and_no_more() {
    let hosts: BudgetMap<u32, TokenBudget> =
        BudgetMap::builder("hosts").max_keys(20).build(|_| TokenBudget::builder("hosts").capacity(28).build());
    for key in 0..20 {
        let budget = hosts.get(&key);
        if key < 9 {
            spend(&budget);
        }
    }
    assert!(hosts.get(&100).is_overflow(), "keys 0 to 7 have spent something");
    assert!(!hosts.get(&100).is_overflow(), "key 8 has as well, key 9 may go");
    assert!(hosts.peek(&9).is_none() && (0..20).filter(|key| hosts.peek(key).is_some()).count() == 19);
    for key in 101..111 {
        assert!(!hosts.get(&key).is_overflow(), "keys 10 to 19 go in turn");
    }
    assert!((0..9).all(|key| hosts.peek(&key).is_some()));
    assert!((10..20).all(|key| hosts.peek(&key).is_none()));
}

static NOW: AtomicU64 = AtomicU64::new(0);

#[test]
fn a_ratio_budget_goes_when_its_window_is_empty() {
    let hosts: BudgetMap<String, RatioBudget> = BudgetMap::builder("hosts")
        .max_keys(1)
        .clock(|| Time::from_millis(NOW.load(SeqCst)))
        .build(|_| RatioBudget::builder("hosts").build());
    let a = hosts.get("a");
    a.begin(Time::ZERO);
    a.end(CallEnd::FirstTry);
    drop(a);
    let at = |millis| {
        NOW.store(millis, SeqCst);
        !hosts.get("b").is_overflow()
    };
    assert!(!at(0) && !at(9_999), "a request in the window, though no retry was granted");
    assert!(at(10_000));
    assert_eq!(there(&hosts, &["a", "b"]), ["b"]);
}

#[test]
fn a_concurrency_budget_goes_when_no_call_is_in_progress() {
    let hosts: BudgetMap<String, ConcurrencyBudget> =
        BudgetMap::builder("hosts").max_keys(1).build(|_| ConcurrencyBudget::builder("hosts").build());
    hosts.get("a").begin(Time::ZERO);
    assert!(hosts.get("b").is_overflow());
    hosts.get("a").end(CallEnd::FirstTry);
    assert!(!hosts.get("b").is_overflow());
}

#[test]
fn a_grant_without_a_handle_is_still_spent() {
    let hosts = hosts(1);
    let grant = hosts.get("a").try_retry(RetryKind::Transient, Time::ZERO).expect("granted");
    assert!(hosts.get("b").is_overflow());
    hosts.get("a").settle(grant, Fate::NotSent);
    assert!(!hosts.get("b").is_overflow());
}
