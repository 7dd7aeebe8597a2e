//! A budget for each host.

use crate::{Flaky, Lost};
use retry_budget::{Budget, BudgetMap, TokenBudget, retry_budget};
use std::sync::Arc;

/// Five retries for all hosts together.
static ALL: TokenBudget = TokenBudget::builder("all hosts").capacity(70).build();

/// Three retries a host.
static HOSTS: BudgetMap<String, TokenBudget> = BudgetMap::builder("hosts")
    .max_keys(100)
    .parent(&ALL)
    .build(|_| TokenBudget::builder("hosts").capacity(42).build());

struct Client {
    host: String,
    partner: Flaky,
}

fn client(host: &str) -> Client {
    Client { host: host.to_owned(), partner: Flaky::succeeds_at(u32::MAX) }
}

impl Client {
    #[retry_budget(budget = HOSTS.get(&self.host), max_attempts = 9)]
    async fn by_field(&self) -> Result<u32, Lost> {
        self.partner.run_later().await
    }

    // the handle borrows nothing: `self` is free
    #[retry_budget(budget = HOSTS.get(&self.host), max_attempts = 9)]
    async fn by_unique_self(&mut self) -> Result<u32, Lost> {
        self.host.push('.');
        self.partner.run_later().await
    }
}

#[retry_budget(budget = HOSTS.get(host), max_attempts = 9, on_stop = |event| *seen = event.stop.to_string())]
async fn by_argument(host: &str, partner: &Flaky, seen: &mut String) -> Result<u32, Lost> {
    partner.run_later().await
}

/// A map as a field, for settings that are known only at run time.
struct Pool {
    hosts: BudgetMap<String, TokenBudget>,
    partner: Flaky,
}

impl Pool {
    #[retry_budget(budget = self.hosts.get(host), max_attempts = 9)]
    async fn by_map_of_self(&self, host: &str) -> Result<u32, Lost> {
        self.partner.run_later().await
    }
}

#[tokio::test(start_paused = true)]
async fn hosts_have_budgets_of_their_own_and_one_together() {
    let a = Arc::new(client("a"));
    let spawned = a.clone();
    let error = tokio::spawn(async move { spawned.by_field().await }).await.unwrap().unwrap_err();
    assert_eq!(error, Lost(4), "the first attempt and three retries");
    assert_eq!(a.by_field().await, Err(Lost(5)), "none is left for this host");
    let mut b = client("b");
    assert_eq!(b.by_unique_self().await, Err(Lost(3)), "of the five for all, two were left");
    assert_eq!(b.host, "b...", "once an attempt; the budget is the one of the start");
    let mut stop = String::new();
    let c = Flaky::succeeds_at(u32::MAX);
    assert_eq!(by_argument("c", &c, &mut stop).await, Err(Lost(1)));
    assert!(stop.contains("`hosts`"), "{stop}");

    let left = |host: &str| HOSTS.peek(host).map(|budget| budget.snapshot(retry_budget::Time::now()).available);
    assert_eq!((left("a"), left("b"), left("c"), left("b...")), (Some(0), Some(14), Some(42), None));
    assert_eq!(ALL.snapshot(retry_budget::Time::now()).available, 0);
}

#[tokio::test(start_paused = true)]
async fn a_map_may_be_a_field() {
    let capacity = 14 * 2;
    let hosts = BudgetMap::builder("hosts")
        .try_build(move |_| TokenBudget::builder("hosts").capacity(capacity).build())
        .unwrap();
    let pool = Pool { hosts, partner: Flaky::succeeds_at(u32::MAX) };
    assert_eq!(pool.by_map_of_self("a").await, Err(Lost(3)));
    assert_eq!(pool.by_map_of_self("b").await, Err(Lost(6)));
    assert_eq!(pool.by_map_of_self("a").await, Err(Lost(7)));
}
