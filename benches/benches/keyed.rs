//! Time to get a key's budget. Compare the rows of one run; the nanoseconds belong to the machine.

use criterion::{Criterion, criterion_group, criterion_main};
use retry_budget::{Budget, BudgetMap, RetryKind, Time, TokenBudget};
use std::collections::HashMap;
use std::hint::black_box;

const KEYS: usize = 1_024;

fn hosts(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}-{number:07}.example.org")).collect()
}

fn map() -> BudgetMap<String, TokenBudget> {
    BudgetMap::builder("hosts").max_keys(KEYS).build(|_| TokenBudget::builder("hosts").build())
}

fn keyed(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("keyed");
    let (known, new) = (hosts("known", KEYS), hosts("new", 100_000));

    let plain: HashMap<String, u64> = known.iter().cloned().zip(0..).collect();
    let mut turn = known.iter().cycle();
    group.bench_function("a look-up in a HashMap", |b| b.iter(|| plain.get(black_box(turn.next().expect("endless")))));

    let full = map();
    for host in &known {
        full.get(host);
    }
    let mut turn = known.iter().cycle();
    group.bench_function("a key that is there", |b| b.iter(|| full.get(black_box(turn.next().expect("endless")))));
    group.bench_function("the same key again", |b| b.iter(|| full.get(black_box(known[0].as_str()))));

    let mut turn = new.iter().cycle();
    group.bench_function("a new key, another goes", |b| b.iter(|| full.get(black_box(turn.next().expect("endless")))));

    let spent = map();
    for host in &known {
        let _sent = spent.get(host).try_retry(RetryKind::Transient, Time::ZERO);
    }
    let mut turn = new.iter().cycle();
    group.bench_function("a new key, none may go", |b| b.iter(|| spent.get(black_box(turn.next().expect("endless")))));
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = keyed
}
criterion_main!(benches);
