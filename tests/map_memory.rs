//! What a map of budgets takes: nothing for a call whose key is there, less than a kilobyte for a key.

use allocation_counter::measure;
use retry_budget::{Budget, BudgetMap, RatioBudget, TokenBudget};

const KEYS: usize = 1_000;

fn hosts() -> Vec<String> {
    (0..KEYS).map(|number| format!("host-{number:04}.some-where.example")).collect()
}

/// Bytes that a key takes in a map of a thousand hosts, its name of 28 bytes and the unused part of the tables included.
fn bytes_a_key<B: Budget>(map: &BudgetMap<String, B>) -> i64 {
    let hosts = hosts();
    map.get("made at the first use");
    let filled = measure(|| hosts.iter().for_each(|host| drop(map.get(host))));
    filled.bytes_current / i64::try_from(KEYS).expect("few")
}

#[test]
fn less_than_a_kilobyte_a_key() {
    let token: BudgetMap<String, _> = BudgetMap::builder("hosts").build(|_| TokenBudget::builder("hosts").build());
    let ratio: BudgetMap<String, _> = BudgetMap::builder("hosts").build(|_| RatioBudget::builder("hosts").build());
    let (token, ratio) = (bytes_a_key(&token), bytes_a_key(&ratio));
    println!("a key with a token budget takes {token} bytes, with a ratio budget {ratio}");
    assert!(token < 400, "{token}");
    assert!(ratio < 1_000, "{ratio}");
}

#[test]
fn what_goes_is_freed() {
    let map: BudgetMap<String, _> =
        BudgetMap::builder("hosts").max_keys(10).build(|_| RatioBudget::builder("hosts").build());
    let hosts = hosts();
    for host in &hosts[..20] {
        map.get(host);
    }
    let turned_over = measure(|| hosts.iter().for_each(|host| drop(map.get(host))));
    assert!(turned_over.count_total > 1_000, "each is new");
    // the tables may have grown once, and names differ in nothing
    assert!(turned_over.bytes_current < 4_000, "{} bytes more", turned_over.bytes_current);
}

#[test]
fn a_key_that_is_there_allocates_nothing() {
    let map: BudgetMap<String, _> = BudgetMap::builder("hosts").build(|_| TokenBudget::builder("hosts").build());
    map.get("a");
    assert_eq!(measure(|| drop(map.get("a").clone())).count_total, 0);
}
