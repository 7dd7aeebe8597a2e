//! Every interleaving of the budgets' atomic protocols, within a bound on preemptions. Run by `.ci/loom`.
//!
//! The protocol files are compiled into this test with the model checker's atomics in the place of the real ones.
#![cfg(retry_budget_loom)]

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
}

#[allow(dead_code)]
#[path = "../src/budget/bucket.rs"]
mod bucket;
#[allow(dead_code)]
#[path = "../src/budget/concurrency/places.rs"]
mod places;
#[allow(dead_code)]
#[path = "../src/budget/ratio/window.rs"]
mod window;

#[path = "loom/concurrency.rs"]
mod concurrency;
#[path = "loom/credit.rs"]
mod credit;
#[path = "loom/grpc.rs"]
mod grpc;
#[path = "loom/ratio.rs"]
mod ratio;
#[path = "loom/token.rs"]
mod token;

use loom::sync::Arc;
use loom::thread;

/// Runs the parts at once, each in a thread of its own but the last, in all orders with this many preemptions.
fn check<S: Send + Sync + 'static, R: Send + 'static, const N: usize>(
    preemptions: usize,
    shared: impl Fn() -> S + Send + Sync + 'static,
    parts: [fn(&S) -> R; N],
    after: impl Fn(&S, [R; N]) + Send + Sync + 'static,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let shared = Arc::new(shared());
        let (last, others) = parts.split_last().expect("at least one part");
        let others: Vec<_> = others
            .iter()
            .map(|&part| {
                let shared = shared.clone();
                thread::spawn(move || part(&shared))
            })
            .collect();
        let last = last(&shared);
        let results: Vec<R> =
            others.into_iter().map(|part| part.join().expect("no panic")).chain(std::iter::once(last)).collect();
        after(&shared, results.try_into().unwrap_or_else(|_| unreachable!("one result a part")));
    });
}
