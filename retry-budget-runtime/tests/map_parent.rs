//! One budget above all keys: a retry is granted by both or by none, and both are told what becomes of it.

#[path = "support/recorder.rs"]
mod recorder;

use recorder::{Recorder, Told, assert_lawful};
use retry_budget_runtime::test_util::check_laws;
use retry_budget_runtime::{
    Budget, BudgetMap, CallEnd, Decision, Fate, Grant, GrpcBudget, Jitter, Keyed, NEVER, RatioBudget, RetryKind,
    RetryPolicy, Run, Time, TokenBudget, UNLIMITED, Verdict,
};
use std::sync::Arc;

const POLICY: RetryPolicy = RetryPolicy::builder().jitter(Jitter::None).build();

fn token(capacity: u32) -> TokenBudget {
    TokenBudget::builder("hosts").capacity(capacity).build()
}

/// A map of token budgets of two retries each, under this parent.
fn under(parent: &Arc<impl Budget + 'static>) -> BudgetMap<String, TokenBudget> {
    BudgetMap::builder("hosts").max_keys(3).shared_parent(parent.clone()).try_build(|_| token(28)).unwrap()
}

fn left(budget: &impl Budget) -> u64 {
    budget.snapshot(Time::ZERO).available
}

fn ask(budget: &impl Budget) -> Option<Grant> {
    budget.try_retry(RetryKind::Transient, Time::ZERO)
}

#[test]
fn all_keys_together_get_what_the_parent_has() {
    let parent = Arc::new(token(3 * 14));
    let hosts = under(&parent);
    let granted: Vec<_> = ["a", "b", "a", "c", "b", "d"].map(|host| ask(&hosts.get(host)).is_some()).into();
    assert_eq!(granted, [true, true, true, false, false, false]);
    assert_eq!(left(&parent), 0);
    assert_eq!(["a", "b", "c"].map(|host| left(&hosts.get(host))), [0, 14, 28], "what the parent denied isn't spent");
}

#[test]
fn the_overflow_is_under_the_parent_too() {
    let parent = Arc::new(token(4 * 14));
    let hosts = under(&parent);
    for host in ["a", "b", "c"] {
        drop(ask(&hosts.get(host)));
    }
    let overflow = hosts.get("d");
    assert!(overflow.is_overflow());
    assert!(ask(&overflow).is_some());
    assert_eq!((left(&parent), left(&overflow)), (0, 14));
    assert!(ask(&hosts.get("e")).is_none());
    assert_eq!(left(&overflow), 14);
}

#[test]
fn a_parent_isnt_asked_for_what_the_key_denies() {
    let parent = Arc::new(token(500));
    let hosts = under(&parent);
    let granted = (0..5).filter(|_| ask(&hosts.get("a")).is_some()).count();
    let snapshot = parent.snapshot(Time::ZERO);
    assert_eq!((granted, snapshot.granted, snapshot.denied, snapshot.available), (2, 2, 0, 472));
}

#[test]
fn both_are_told_what_became_of_the_retry() {
    for (fate, left_of_both) in [
        (Fate::NotSent, (28, 500)),
        (Fate::Succeeded, (28, 500)),
        (Fate::Failed, (14, 486)),
        (Fate::Dropped, (14, 486)),
    ] {
        let parent = Arc::new(token(500));
        let a = under(&parent).get("a");
        let grant = ask(&a).expect("granted");
        assert_eq!((left(&a), left(&parent)), (14, 486));
        a.settle(grant, fate);
        assert_eq!((left(&a), left(&parent)), left_of_both, "{fate:?}");
    }
}

#[test]
fn each_gets_its_own_grant_back() {
    // the key pays 14, the parent 20
    let parent = Arc::new(TokenBudget::builder("parent").transient_cost(20).build());
    let a = under(&parent).get("a");
    let grant = ask(&a).expect("granted");
    assert_eq!((grant.cost(), left(&a), left(&parent)), (14, 14, 480));
    a.settle(grant, Fate::NotSent);
    assert_eq!((left(&a), left(&parent)), (28, 500));
}

#[test]
fn a_grant_goes_back_to_the_slot_of_the_parents_window() {
    // one retry a window
    let parent = Arc::new(RatioBudget::builder("parent").min_retries(1).build());
    let hosts = under(&parent);
    let a = hosts.get("a");
    let ask_at = |millis| a.try_retry(RetryKind::Transient, Time::from_millis(millis));
    let grant = ask_at(5_000).expect("granted");
    assert!(ask_at(7_000).is_none());
    a.settle(grant, Fate::NotSent);
    let later = ask_at(7_000).expect("the window is free again");
    assert!(ask_at(15_000).is_none(), "what counts is the second grant, at 7 s");
    a.settle(later, Fate::Failed);
    assert!(ask_at(16_999).is_none());
    assert!(ask_at(17_000).is_some());
}

#[test]
fn a_call_is_lawful_for_both() {
    use Told::{Begin, Denied, End, Final, Granted, Settled};

    let told_of = |own_grants, parent_grants| {
        let (own, parent) = (Arc::new(Recorder::granting(own_grants)), Arc::new(Recorder::granting(parent_grants)));
        let made = own.clone();
        let hosts: BudgetMap<u32, Arc<Recorder>> =
            BudgetMap::builder("hosts").shared_parent(parent.clone()).try_build(move |_| made.clone()).unwrap();
        let mut run = Run::begin(hosts.get(&1), Time::ZERO);
        while let Decision::Retry { .. } = run.failed(&POLICY, Verdict::TRANSIENT, Time::ZERO, 0) {
            run.start_retry();
        }
        drop(run);
        (own.told(), parent.told())
    };
    let failed = End(CallEnd::Failed);
    let used_up = [
        Begin,
        Granted(1),
        Settled(1, Fate::Failed),
        Granted(2),
        Settled(2, Fate::Failed),
        Final(Some(RetryKind::Transient)),
        failed,
    ];
    let (own, parent) = told_of(9, 9);
    assert_eq!((own.as_slice(), parent.as_slice()), (used_up.as_slice(), used_up.as_slice()));
    assert_lawful(&own);

    let (own, parent) = told_of(1, 9);
    assert_eq!(own, [Begin, Granted(1), Settled(1, Fate::Failed), Denied, failed]);
    assert_eq!(parent, [Begin, Granted(1), Settled(1, Fate::Failed), Final(Some(RetryKind::Transient)), failed]);
    assert_lawful(&parent);

    let (own, parent) = told_of(9, 1);
    let taken_back = Settled(2, Fate::NotSent);
    assert_eq!(own, [Begin, Granted(1), Settled(1, Fate::Failed), Granted(2), taken_back, failed]);
    assert_eq!(parent, [Begin, Granted(1), Settled(1, Fate::Failed), Denied, failed]);
}

#[test]
fn a_failure_that_the_key_denies_counts_for_a_parent_that_counts_failures() {
    let parent = Arc::new(GrpcBudget::builder("parent").build());
    let hosts: BudgetMap<u32, _> =
        BudgetMap::builder("hosts").shared_parent(parent.clone()).try_build(|_| &NEVER).unwrap();
    assert!(ask(&hosts.get(&1)).is_none());
    hosts.get(&1).final_failure(Some(RetryKind::Transient));
    hosts.get(&1).final_failure(None);
    assert_eq!(left(&parent), 8_000);
    hosts.get(&2).end(CallEnd::FirstTry);
    assert_eq!(left(&parent), 8_100);
}

#[test]
fn the_clock_is_read_when_either_wants_it() {
    let ratio = Arc::new(RatioBudget::builder("parent").build());
    assert!(under(&ratio).get("a").reads_clock());
    assert!(!under(&Arc::new(token(500))).get("a").reads_clock());
    under(&ratio).get("a").begin(Time::from_millis(1));
    assert_eq!(ratio.snapshot(Time::ZERO).requests, Some(1));
    let own: BudgetMap<u32, _> = BudgetMap::builder("hosts").build(|_| RatioBudget::builder("hosts").build());
    assert!(own.get(&1).reads_clock());
}

#[test]
fn a_key_of_another_map_may_be_the_parent() {
    let all = Arc::new(token(3 * 14));
    let regions = under(&all);
    let hosts: BudgetMap<String, _> =
        BudgetMap::builder("hosts").shared_parent(Arc::new(regions.get("eu"))).try_build(|_| token(500)).unwrap();
    let lefts = || (left(&hosts.get("a")), left(&regions.get("eu")), left(&all));
    let (first, second) = (ask(&hosts.get("a")), ask(&hosts.get("a")));
    assert_eq!(lefts(), (472, 0, 14));
    assert!(ask(&hosts.get("a")).is_none(), "the region's two are spent");
    assert_eq!(lefts(), (472, 0, 14));
    hosts.get("a").settle(first.expect("granted"), Fate::NotSent);
    assert_eq!(lefts(), (486, 14, 28));
    hosts.get("a").settle(second.expect("granted"), Fate::Failed);
    assert_eq!(lefts(), (486, 14, 28));
}

#[test]
fn a_key_may_have_a_keyed_budget() {
    let (all, top) = (Arc::new(token(42)), Arc::new(token(500)));
    let inner = under(&all);
    let outer: BudgetMap<u32, Keyed<TokenBudget>> =
        BudgetMap::builder("outer").shared_parent(top.clone()).try_build(move |_| inner.get("a")).unwrap();
    let grant = ask(&outer.get(&1)).expect("granted");
    assert_eq!((left(&outer.get(&1)), left(&all), left(&top)), (14, 28, 486));
    outer.get(&1).settle(grant, Fate::NotSent);
    assert_eq!((left(&outer.get(&1)), left(&all), left(&top)), (28, 42, 500), "three grants in one");
}

#[test]
fn a_grant_of_elsewhere_gives_the_parent_nothing() {
    let parent = Arc::new(token(500));
    let a = under(&parent).get("a");
    let _spent = ask(&a);
    a.settle(Grant::new(100), Fate::NotSent);
    assert_eq!((left(&a), left(&parent)), (28, 486));
    let alone: BudgetMap<u32, _> = BudgetMap::builder("hosts").build(|_| token(28));
    let _spent = ask(&alone.get(&1));
    alone.get(&1).settle(Grant::new(7).and(Grant::new(7)), Fate::NotSent);
    assert_eq!(left(&alone.get(&1)), 21);
}

#[test]
fn a_keyed_budget_with_a_parent_keeps_the_laws() {
    let keyed = |own: u32, parent: Arc<dyn Budget>| {
        BudgetMap::<u32, _>::builder("hosts").shared_parent(parent).try_build(move |_| token(own)).unwrap().get(&0)
    };
    check_laws(|| keyed(100, Arc::new(token(50))));
    check_laws(|| keyed(50, Arc::new(token(100))));
    check_laws(|| keyed(50, Arc::new(RatioBudget::builder("parent").min_retries(2).build())));
    check_laws(|| keyed(50, Arc::new(GrpcBudget::builder("parent").build())));
    check_laws(|| keyed(50, Arc::new(&UNLIMITED)));
}
