//! Time of a call that succeeds at once. Compare the rows of one run; the nanoseconds belong to the machine.

use criterion::{Criterion, criterion_group, criterion_main};
use retry_budget_benches as calls;
use std::hint::black_box;

fn success(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("success");
    group.bench_function("plain", |b| b.iter(|| calls::finish(calls::plain(black_box(7)))));
    group.bench_function("two_layers", |b| b.iter(|| calls::finish(calls::two_layers(black_box(7)))));
    group.bench_function("token", |b| b.iter(|| calls::finish(calls::token(black_box(7)))));
    group.bench_function("ratio", |b| b.iter(|| calls::finish(calls::ratio(black_box(7)))));
    group.bench_function("function", |b| b.iter(|| calls::finish(calls::function(black_box(7)))));
    group.bench_function("backon", |b| b.iter(|| calls::finish(calls::by_backon(black_box(7)))));
    let retry = tower::retry::Retry::new(calls::TowerPolicy::default(), calls::Partner);
    group.bench_function("tower", |b| b.iter(|| calls::finish(calls::by_tower(retry.clone(), black_box(7)))));
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = success
}
criterion_main!(benches);
