//! Budgets alone, against tower's and against a mutex around a counter: throughput of calls as a multiple of tower's in
//! the same round. Look at the ratios; the nanoseconds belong to the machine.
//!
//! `cargo bench -p retry-budget-benches --bench budgets` takes about 40 seconds; `-- ROUNDS` sets their number.

use core_affinity::CoreId;
use retry_budget::{
    Budget, CallEnd, ConcurrencyBudget, CreditBudget, Fate, GrpcBudget, RatioBudget, RetryKind, Time, TokenBudget,
};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tower::retry::budget::{Budget as _, TpsBudget};

/// A call as its budget sees it.
trait Calls: Sync {
    /// Its first attempt succeeds.
    fn succeeds(&self);
    /// Its first attempt fails; if a retry is granted, it succeeds.
    fn fails_once(&self);
}

/// One of ours. Only one that asks for the time gets it, from the clock that calls read.
struct Ours<B>(B);

impl<B: Budget> Ours<B> {
    #[inline(always)]
    #[allow(clippy::inline_always)] // as it is in a call
    fn now(&self) -> Time {
        if self.0.reads_clock() { Time::now() } else { Time::ZERO }
    }
}

impl<B: Budget> Calls for Ours<B> {
    fn succeeds(&self) {
        self.0.begin(self.now());
        self.0.end(CallEnd::FirstTry);
    }

    fn fails_once(&self) {
        self.0.begin(self.now());
        match self.0.try_retry(RetryKind::Transient, self.now()) {
            Some(grant) => {
                self.0.settle(grant, Fate::Succeeded);
                self.0.end(CallEnd::AfterRetry);
            }
            None => self.0.end(CallEnd::Failed),
        }
    }
}

impl Calls for TpsBudget {
    fn succeeds(&self) {
        self.deposit();
    }

    fn fails_once(&self) {
        if self.withdraw() {
            self.deposit();
        }
    }
}

/// A token bucket behind a mutex.
struct Locked(Mutex<u32>);

impl Locked {
    fn step(&self, next: impl Fn(u32) -> Option<u32>) -> bool {
        let mut tokens = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        next(*tokens).map(|left| *tokens = left).is_some()
    }
}

impl Calls for Locked {
    fn succeeds(&self) {
        self.step(|tokens| Some((tokens + 1).min(500)));
    }

    fn fails_once(&self) {
        if self.step(|tokens| tokens.checked_sub(14)) {
            self.step(|tokens| Some((tokens + 14).min(500)));
        }
    }
}

/// How long a measurement lasts: long enough that both threads run at the same time for most of it.
const LASTS: Duration = Duration::from_millis(40);

/// Nanoseconds of a call when so many threads share a budget and every so-many-th call fails (0: none does): of all
/// threads together, so that two that don't disturb each other take half as long as one.
fn measure<C: Calls>(calls: &C, threads: usize, nth_fails: u32) -> f64 {
    let start = Barrier::new(threads + 1);
    let over = AtomicBool::new(false);
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let work = |core: Option<CoreId>| {
        core.map(core_affinity::set_for_current);
        start.wait();
        let mut made = 0_u32;
        while !over.load(Relaxed) {
            for _ in 0..100 {
                made += 1;
                if nth_fails > 0 && made.is_multiple_of(nth_fails) { calls.fails_once() } else { calls.succeeds() }
            }
        }
        made
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|nth| cores.get(nth).copied())
            .map(|core| {
                let work = &work;
                scope.spawn(move || work(core))
            })
            .collect();
        start.wait();
        let begun = Instant::now();
        thread::sleep(LASTS);
        over.store(true, Relaxed);
        let lasted = begun.elapsed();
        let made: f64 = threads.into_iter().filter_map(|thread| thread.join().ok()).map(f64::from).sum();
        lasted.as_secs_f64() * 1e9 / made
    })
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// A budget's measurement, ready to be repeated.
type Row = (&'static str, Box<dyn Fn() -> f64>);

fn row<C: Calls + 'static>(name: &'static str, calls: C, threads: usize, nth_fails: u32) -> Row {
    (name, Box::new(move || measure(&calls, threads, nth_fails)))
}

fn rows(threads: usize, nth_fails: u32) -> Vec<Row> {
    vec![
        row("tower TpsBudget", TpsBudget::new(Duration::from_secs(10), 10, 0.1), threads, nth_fails),
        row("mutex", Locked(Mutex::new(500)), threads, nth_fails),
        row("token", Ours(TokenBudget::builder("token").build()), threads, nth_fails),
        row("ratio", Ours(RatioBudget::builder("ratio").build()), threads, nth_fails),
        row("credit", Ours(CreditBudget::builder("credit").build()), threads, nth_fails),
        row("concurrency", Ours(ConcurrencyBudget::builder("concurrency").build()), threads, nth_fails),
        row("grpc", Ours(GrpcBudget::builder("grpc").build()), threads, nth_fails),
    ]
}

fn main() {
    // Cargo passes `--bench`.
    let rounds: usize = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(21);
    println!("throughput as a multiple of tower's, median of {rounds} interleaved rounds (nanoseconds a call)");
    for threads in [1, 2] {
        for (nth_fails, which) in [(0, "none fails"), (10, "every 10th fails"), (2, "every 2nd fails")] {
            let rows = rows(threads, nth_fails);
            let rounds: Vec<Vec<f64>> = (0..rounds).map(|_| rows.iter().map(|(_, row)| row()).collect()).collect();
            println!("\n{threads} thread{}, {which}", if threads == 1 { "" } else { "s" });
            for (nth, (name, _)) in rows.iter().enumerate() {
                let ratio = median(rounds.iter().map(|round| round[0] / round[nth]).collect());
                let nanos = median(rounds.iter().map(|round| round[nth]).collect());
                println!("{name:<16} {ratio:>8.1} ({nanos:.1})");
            }
        }
    }
}
