//! A budget for each key: who shares one, how it is named, how a map is made, and what its function may do.

use retry_budget_runtime::test_util::check_laws;
use retry_budget_runtime::{
    Budget, BudgetMap, ConcurrencyBudget, CreditBudget, GrpcBudget, Keyed, NEVER, RatioBudget, RetryKind, RetryPolicy,
    Time, TokenBudget, retry, retry_blocking,
};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Barrier, LazyLock};
use std::thread;

const POLICY: RetryPolicy = RetryPolicy::builder().max_attempts(9).build();

/// Two retries.
fn two(name: &'static str) -> TokenBudget {
    TokenBudget::builder(name).capacity(28).build()
}

fn hosts() -> BudgetMap<String, TokenBudget> {
    BudgetMap::builder("hosts").build(|_| two("hosts"))
}

fn left(budget: &impl Budget) -> u64 {
    budget.snapshot(Time::ZERO).available
}

/// A retry that is sent and fails.
fn spend(budget: &impl Budget) -> bool {
    budget.try_retry(RetryKind::Transient, Time::ZERO).is_some()
}

#[test]
fn each_key_has_a_budget_of_its_own() {
    let hosts = hosts();
    assert!(spend(&hosts.get("a")) && spend(&hosts.get("a")));
    assert!(!spend(&hosts.get("a")), "its two retries are spent");
    assert!(spend(&hosts.get("b")));
    assert_eq!((left(&hosts.get("a")), left(&hosts.get("b")), left(&hosts.get("c"))), (0, 14, 28));
    assert_eq!(hosts.snapshot(Time::ZERO).keys, 3);
}

#[test]
fn a_key_is_found_by_whatever_it_can_be_borrowed_as() {
    let hosts = hosts();
    spend(&hosts.get("a"));
    assert_eq!(left(&hosts.get(&"a".to_owned())), 14);
    let tenants: BudgetMap<u32, _> = BudgetMap::builder("tenants").build(|_| two("tenants"));
    spend(&tenants.get(&7));
    assert_eq!((left(&tenants.get(&7)), left(&tenants.get(&8))), (14, 28));
    let ports: BudgetMap<(Arc<str>, u16), _> = BudgetMap::builder("ports").build(|_| two("ports"));
    spend(&ports.get(&("a".into(), 80)));
    assert_eq!((left(&ports.get(&("a".into(), 80))), left(&ports.get(&("a".into(), 443)))), (14, 28));
}

#[test]
fn looking_brings_no_key() {
    let hosts = hosts();
    assert!(hosts.peek("a").is_none());
    spend(&hosts.get("a"));
    assert_eq!(hosts.peek("a").map(|a| left(&a)), Some(14));
    assert!(hosts.peek("b").is_none());
    assert_eq!(hosts.snapshot(Time::ZERO).keys, 1);
}

static STATIC: BudgetMap<String, TokenBudget> =
    BudgetMap::builder("static").max_keys(10).parent(&PARENT).build(|_| two("static"));
static PARENT: TokenBudget = TokenBudget::builder("parent").capacity(28).build();

#[test]
fn a_map_may_be_a_static() {
    assert!(spend(&STATIC.get("a")) && spend(&STATIC.get("b")));
    assert!(!spend(&STATIC.get("c")), "the parent has no more");
    assert_eq!((left(&PARENT), STATIC.snapshot(Time::ZERO).keys, STATIC.snapshot(Time::ZERO).max_keys), (0, 3, 10));
}

/// Made at start-up, from settings.
static CAPACITIES: LazyLock<BudgetMap<String, TokenBudget>> = LazyLock::new(|| {
    let capacities = HashMap::from([("large".to_owned(), 500), ("small".to_owned(), 14)]);
    BudgetMap::builder("tenants")
        .try_build(move |tenant: Option<&String>| {
            let capacity = tenant.and_then(|tenant| capacities.get(tenant)).copied().unwrap_or(42);
            TokenBudget::builder("tenants").capacity(capacity).build()
        })
        .expect("in range")
});

#[test]
fn a_budget_may_depend_on_its_key() {
    let of = |tenant| left(&CAPACITIES.get(tenant));
    assert_eq!((of("large"), of("small"), of("another")), (500, 14, 42));
}

#[test]
fn max_keys_is_1_to_two_to_the_20() {
    let built = |keys| BudgetMap::<u32, _>::builder("hosts").max_keys(keys).try_build(|_| two("hosts"));
    for keys in [0, (1 << 20) + 1, usize::MAX] {
        assert!(built(keys).unwrap_err().problem().starts_with("max_keys is 1 to 1048576 keys"), "{keys}");
    }
    for keys in [1, 1 << 20] {
        assert_eq!(built(keys).unwrap().snapshot(Time::ZERO).max_keys, keys);
    }
    let default = hosts().snapshot(Time::ZERO);
    assert_eq!((default.name, default.max_keys), ("hosts", 1_024));
}

#[test]
fn one_parent_is_enough() {
    let twice = BudgetMap::<u32, _>::builder("hosts").parent(&NEVER).shared_parent(Arc::new(two("parent")));
    let error = twice.try_build(|_| two("hosts")).unwrap_err();
    assert!(error.problem().starts_with("parent and shared_parent"));
}

#[test]
#[should_panic(expected = "max_keys is 1 to 1048576 keys")]
fn a_map_that_is_built_at_run_time_panics_as_a_static_would_not_compile() {
    let _ = BudgetMap::<u32, _>::builder("hosts").max_keys(0).build(|_| two("hosts"));
}

#[test]
fn all_keys_have_the_name_of_the_map() {
    let hosts: BudgetMap<String, _> = BudgetMap::builder("hosts").build(|_| two("what the budget says"));
    let a = hosts.get("a");
    assert_eq!((a.name(), a.snapshot(Time::ZERO).name.as_str()), ("hosts", "hosts"));
    assert_eq!(a.budget().name(), "what the budget says");
    assert_eq!(
        format!("{hosts:?}").split(',').next(),
        Some("BudgetMap { settings: BudgetMapBuilder { name: \"hosts\"")
    );
    assert!(format!("{a:?}").starts_with("Keyed { name: \"hosts\", budget: TokenBudget {"));
}

#[test]
fn a_name_of_a_keys_own_is_made_once() {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let hosts: BudgetMap<String, _> = BudgetMap::builder("hosts")
        .max_keys(1)
        .name_keys(|host| format!("hosts/{host}{}", MADE.fetch_add(1, SeqCst)))
        .build(|_| two("hosts"));
    let a = hosts.get("a");
    assert_eq!((a.name(), hosts.get("a").name()), ("hosts/a0", "hosts/a0"));
    assert_eq!(a.snapshot(Time::ZERO).name, "hosts/a0");
    let overflow = hosts.get("b");
    assert_eq!((overflow.name(), overflow.is_overflow(), a.is_overflow()), ("hosts", true, false));
}

#[test]
fn threads_that_bring_a_key_at_once_share_its_budget() {
    for round in 0..200 {
        static MADE: AtomicU32 = AtomicU32::new(0);
        // room for one key only: whoever comes second must not end up in the overflow
        let hosts: BudgetMap<u32, _> = BudgetMap::builder("hosts").max_keys(1).build(|_| {
            MADE.fetch_add(1, SeqCst);
            thread::yield_now();
            TokenBudget::builder("hosts").capacity(14 * 5).build()
        });
        let start = Barrier::new(8);
        let granted: usize = thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        let budget = hosts.get(&round);
                        assert!(!budget.is_overflow());
                        usize::from(spend(&budget)) + usize::from(spend(&hosts.get(&round)))
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(granted, 5);
        let made = MADE.swap(0, SeqCst);
        assert!((1..=8).contains(&made), "{made}");
        let snapshot = hosts.snapshot(Time::ZERO);
        assert_eq!((snapshot.keys, snapshot.evicted, snapshot.overflowed), (1, 0, 0));
    }
}

#[test]
fn a_function_that_panics_leaves_the_map_as_it_was() {
    let hosts: BudgetMap<String, _> = BudgetMap::builder("hosts").max_keys(2).build(|host| {
        assert_ne!(host.map(String::as_str), Some("bad"), "on purpose");
        two("hosts")
    });
    spend(&hosts.get("a"));
    for _ in 0..3 {
        assert!(catch_unwind(AssertUnwindSafe(|| hosts.get("bad"))).is_err());
    }
    assert!(hosts.peek("bad").is_none());
    assert_eq!(left(&hosts.get("a")), 14);
    assert!(!hosts.get("b").is_overflow(), "no room was lost");
}

static FRIENDS: BudgetMap<u32, TokenBudget> = BudgetMap::builder("friends").max_keys(3).build(|key| match key {
    Some(&key) if key > 0 => {
        let limit = FRIENDS.get(&(key - 1)).snapshot(Time::ZERO).limit;
        TokenBudget::builder("friends").capacity(u32::try_from(limit).expect("few") + 1).build()
    }
    _ => two("friends"),
});

#[test]
fn a_function_may_ask_the_map() {
    assert_eq!(left(&FRIENDS.get(&2)), 30);
    assert_eq!(FRIENDS.snapshot(Time::ZERO).keys, 3);
}

#[tokio::test(start_paused = true)]
async fn a_call_may_be_spawned_with_its_handle() {
    const fn shared<T: Send + Sync + 'static>(_: &T) {}
    static HOSTS: BudgetMap<String, TokenBudget> = BudgetMap::builder("hosts").build(|_| two("hosts"));
    shared(&HOSTS);
    let handle = HOSTS.get("a");
    shared(&handle);
    let call = tokio::spawn(async move {
        retry(handle, &POLICY, async move |attempt| {
            tokio::task::yield_now().await;
            Err::<(), _>(std::io::Error::new(std::io::ErrorKind::TimedOut, attempt.number().to_string()))
        })
        .await
    });
    assert_eq!(call.await.unwrap().unwrap_err().to_string(), "3", "two retries of eight");
    assert_eq!(left(&HOSTS.get("a")), 0);
    let blocking = retry_blocking(HOSTS.get("b"), &POLICY, |_| Ok::<_, std::io::Error>(()));
    assert!(blocking.is_ok());
}

/// A handle that outlives its map: the laws make many of them.
fn keyed<B: Budget + 'static>(make: impl Fn() -> B + Send + Sync + 'static) -> Keyed<B> {
    BudgetMap::<u32, B>::builder("hosts").try_build(move |_| make()).unwrap().get(&0)
}

#[test]
fn every_kind_keeps_the_laws_behind_a_key() {
    check_laws(|| keyed(|| two("hosts")));
    check_laws(|| keyed(|| RatioBudget::builder("hosts").min_retries(5).build()));
    check_laws(|| keyed(|| CreditBudget::builder("hosts").burst(10).initial(5.0).build()));
    check_laws(|| keyed(|| ConcurrencyBudget::builder("hosts").build()));
    check_laws(|| keyed(|| GrpcBudget::builder("hosts").build()));
}
