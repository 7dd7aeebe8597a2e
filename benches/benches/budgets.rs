//! Budgets alone, against tower's and against a mutex around a counter: throughput of calls as a multiple of tower's in
//! the same round. Look at the ratios; the nanoseconds belong to the machine.
//!
//! `cargo bench -p retry-budget-benches --bench budgets` takes about a minute; `-- ROUNDS` sets their number.

use core_affinity::CoreId;
use google_cloud_gax::retry_result::RetryResult;
use google_cloud_gax::retry_throttler::{AdaptiveThrottler, RetryThrottler, SharedRetryThrottler};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use retry_budget::{
    Budget, CallEnd, ConcurrencyBudget, CreditBudget, Fate, GrpcBudget, RatioBudget, RetryKind, Time, TokenBudget,
};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
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

/// A rate that is never reached, since a check that denies is cheaper: one each nanosecond.
const NEVER_REACHED: NonZeroU32 = NonZeroU32::new(1_000_000_000).expect("more than none");

/// As the AWS SDK for Rust keeps its tokens, whose bucket can be reached through a whole retry strategy only: permits of
/// a semaphore, behind an `Arc`, taken for a retry and added one by one.
struct Semaphored(Arc<Semaphore>);

impl Calls for Semaphored {
    fn succeeds(&self) {
        if self.0.available_permits() < 500 {
            self.0.add_permits(1);
        }
    }

    fn fails_once(&self) {
        // Dropped by the success of the retry: the permits go back.
        drop(self.0.clone().try_acquire_many_owned(14));
    }
}

/// Google's throttlers, shared as its clients share them.
struct Gax {
    throttler: SharedRetryThrottler,
    failure: RetryResult,
}

impl Gax {
    fn new(throttler: impl RetryThrottler + 'static) -> Self {
        let failure = RetryResult::Continue(google_cloud_gax::error::Error::io("unavailable"));
        Self { throttler: Arc::new(Mutex::new(throttler)), failure }
    }

    fn with<T>(&self, step: impl FnOnce(&mut dyn RetryThrottler) -> T) -> T {
        step(&mut *self.throttler.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Calls for Gax {
    fn succeeds(&self) {
        self.with(|throttler| throttler.on_success());
    }

    fn fails_once(&self) {
        self.with(|throttler| throttler.on_retry_failure(&self.failure));
        if !self.with(|throttler| throttler.throttle_retry_attempt()) {
            self.with(|throttler| throttler.on_success());
        }
    }
}

/// A rate limiter before each retry: what people use who have no budget.
struct Governed(DefaultDirectRateLimiter);

impl Calls for Governed {
    fn succeeds(&self) {}

    fn fails_once(&self) {
        assert!(self.0.check().is_ok());
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
        row("AWS's way", Semaphored(Arc::new(Semaphore::new(500))), threads, nth_fails),
        row("gax adaptive", Gax::new(AdaptiveThrottler::default()), threads, nth_fails),
        row("governor", Governed(RateLimiter::direct(Quota::per_second(NEVER_REACHED))), threads, nth_fails),
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
