//! What a map tells of itself.

use retry_budget_runtime::{Budget, BudgetMap, NEVER, RetryKind, Snapshot, Time, TokenBudget};

fn spend(budget: &impl Budget, times: usize) {
    (0..times).for_each(|_| drop(budget.try_retry(RetryKind::Transient, Time::ZERO)));
}

/// Tenants with 100 or 1,000 tokens.
fn tenants() -> BudgetMap<String, TokenBudget> {
    BudgetMap::builder("tenants").max_keys(4).build(|tenant| {
        let is_large = tenant.is_some_and(|tenant| tenant.starts_with("large"));
        TokenBudget::builder("tenants").capacity(if is_large { 1_000 } else { 100 }).build()
    })
}

#[test]
fn a_map_that_nobody_has_used_is_empty() {
    let tenants = tenants();
    let snapshot = tenants.snapshot(Time::ZERO);
    assert_eq!((snapshot.name, snapshot.keys, snapshot.max_keys), ("tenants", 0, 4));
    assert_eq!((snapshot.evicted, snapshot.overflowed, snapshot.overflow), (0, 0, None));
    assert!(tenants.most_spent(10, Time::ZERO).is_empty());
}

#[test]
fn the_most_spent_come_first_by_the_part_that_is_left() {
    let tenants = tenants();
    spend(&tenants.get("a"), 2); // 72 %
    spend(&tenants.get("large"), 60); // 16 %, though it has more left than any other
    spend(&tenants.get("b"), 9); // 2 %: seven granted, two denied
    tenants.get("full");
    let most = |count| {
        let spent = tenants.most_spent(count, Time::ZERO);
        spent.into_iter().map(|(tenant, snapshot)| (tenant, snapshot.available, snapshot.limit)).collect::<Vec<_>>()
    };
    let (a, b, large) = (("a".to_owned(), 72, 100), ("b".to_owned(), 2, 100), ("large".to_owned(), 160, 1_000));
    assert_eq!(most(9), [b.clone(), large.clone(), a.clone()], "without the one that is full");
    assert_eq!(most(3), [b.clone(), large.clone(), a]);
    assert_eq!(most(2), [b.clone(), large]);
    assert_eq!(most(1), [b]);
    assert_eq!(most(0), []);
    let worst = tenants.most_spent(1, Time::ZERO).remove(0).1;
    assert_eq!(worst, Snapshot::new("tenants", "token").level(2, 100).decided(7, 2));
}

#[test]
fn the_counts() {
    let tenants = tenants();
    for number in 0..7 {
        tenants.get(&number.to_string());
    }
    for tenant in ["3", "4", "5", "6"] {
        spend(&tenants.get(tenant), 1);
    }
    for tenant in ["7", "8", "7"] {
        spend(&tenants.get(tenant), 1);
    }
    let snapshot = tenants.snapshot(Time::ZERO);
    assert_eq!((snapshot.keys, snapshot.evicted, snapshot.overflowed), (4, 3, 3));
    assert_eq!(snapshot.overflow, Some(Snapshot::new("tenants", "token").level(58, 100).decided(3, 0)));
}

#[test]
fn a_budget_without_a_limit_isnt_spent() {
    let never: BudgetMap<u32, _> = BudgetMap::builder("never").max_keys(1).build(|_| &NEVER);
    spend(&never.get(&1), 1);
    assert!(never.most_spent(1, Time::ZERO).is_empty());
    assert!(!never.get(&2).is_overflow(), "and may go");
}
