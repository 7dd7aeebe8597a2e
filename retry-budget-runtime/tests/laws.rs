//! The laws, held against every budget of this crate, against one of a user's own, and against budgets that break them.

use retry_budget_runtime::test_util::check_laws;
use retry_budget_runtime::{
    Budget, CallEnd, ConcurrencyBudget, CreditBudget, Fate, Grant, GrpcBudget, NEVER, RatioBudget, RetryKind, Snapshot,
    Time, TokenBudget, UNLIMITED,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::thread;
use std::time::Duration;

#[test]
fn token() {
    check_laws(|| TokenBudget::builder("partner").build());
    check_laws(|| TokenBudget::builder("partner").capacity(100).initial(50).success_refund(0).build());
    check_laws(|| TokenBudget::builder("partner").capacity(20).throttling_cost(0).success_refund(20).build());
}

#[test]
fn ratio() {
    check_laws(|| RatioBudget::builder("partner").build());
    check_laws(|| RatioBudget::builder("partner").ratio(0.29).min_retries(0).build());
    check_laws(|| RatioBudget::builder("partner").window(Duration::from_millis(100)).min_retries(100).build());
}

#[test]
fn credit() {
    check_laws(|| CreditBudget::builder("partner").initial(0.5).build());
    check_laws(|| CreditBudget::builder("partner").ratio(0.07).burst(100).initial(20.0).build());
    check_laws(|| CreditBudget::builder("partner").ratio(1.0).burst(1).initial(0.0).build());
}

#[test]
fn concurrency() {
    check_laws(|| ConcurrencyBudget::builder("partner").build());
    check_laws(|| ConcurrencyBudget::builder("partner").ratio(0.01).min_retry_concurrency(0).build());
    check_laws(|| ConcurrencyBudget::builder("partner").ratio(0.000_001).min_retry_concurrency(5).build());
}

#[test]
fn grpc() {
    check_laws(|| GrpcBudget::builder("partner").build());
    check_laws(|| GrpcBudget::builder("partner").max_tokens(3).token_ratio(1_000.0).build());
    check_laws(|| GrpcBudget::builder("partner").max_tokens(100).token_ratio(0.001).build());
}

#[test]
fn the_two_ends() {
    check_laws(|| &NEVER);
    check_laws(|| &UNLIMITED);
}

#[test]
fn behind_a_pointer() {
    check_laws(|| -> Box<dyn Budget> { Box::new(TokenBudget::builder("partner").capacity(100).build()) });
    check_laws(|| Arc::new(RatioBudget::builder("partner").build()));
}

/// The budget of the documentation of [`Budget`], as it stands there.
pub struct Total {
    left: AtomicU32,
    limit: u32,
}

impl Budget for Total {
    fn name(&self) -> &'static str {
        "migration"
    }
    fn try_retry(&self, _kind: RetryKind, _now: Time) -> Option<Grant> {
        self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).ok()?;
        Some(Grant::new(1))
    }
    fn settle(&self, _grant: Grant, fate: Fate) {
        if fate == Fate::NotSent {
            // the retry never happened, so it costs nothing
            let _ = self.left.fetch_update(Relaxed, Relaxed, |left| (left < self.limit).then_some(left + 1));
        }
    }
    fn snapshot(&self, _now: Time) -> Snapshot {
        Snapshot::new("migration", "total").level(self.left.load(Relaxed).into(), self.limit.into())
    }
}

#[test]
fn a_budget_of_ones_own() {
    check_laws(|| Total { left: AtomicU32::new(30), limit: 30 });
}

/// What can be wrong with a budget of so many retries.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    WaitsForTokens,
    ChargesFirstAttempts,
    ChargesDrops,
    KeepsWhatWasNotSent,
    GivesBackTwice,
    GivesBackWithoutLimit,
    PanicsWhenFull,
    ChecksThenTakes,
    GivesBackInTwoSteps,
    NewWindowWhenTheClockDiffers,
    SaysMoreThanItsLimit,
}

struct Broken {
    fault: Fault,
    left: AtomicU64,
    window: AtomicU64,
}

const LIMIT: u64 = 50;

fn broken(fault: Fault) -> Broken {
    Broken { fault, left: AtomicU64::new(40), window: AtomicU64::new(0) }
}

impl Broken {
    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn take(&self) -> bool {
        self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
    }

    fn give(&self) {
        if self.has(Fault::GivesBackWithoutLimit) {
            self.left.fetch_add(1, SeqCst);
        } else if self.has(Fault::GivesBackInTwoSteps) {
            let left = self.left.load(SeqCst);
            thread::yield_now();
            self.left.store((left + 1).min(LIMIT), SeqCst);
        } else {
            let full = self.left.fetch_update(SeqCst, SeqCst, |left| (left < LIMIT).then_some(left + 1)).is_err();
            assert!(!(full && self.has(Fault::PanicsWhenFull)), "more than there can be");
        }
    }
}

impl Budget for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn begin(&self, _now: Time) {
        if self.has(Fault::ChargesFirstAttempts) {
            self.take();
        }
        while self.has(Fault::WaitsForTokens) && self.left.load(SeqCst) == 0 {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn try_retry(&self, _kind: RetryKind, now: Time) -> Option<Grant> {
        let window = now.as_nanos() / 1_000_000_000;
        if self.has(Fault::NewWindowWhenTheClockDiffers) && self.window.swap(window, SeqCst) != window {
            self.left.store(LIMIT, SeqCst);
        }
        let granted = if self.has(Fault::ChecksThenTakes) {
            let some = self.left.load(SeqCst) > 0;
            thread::yield_now();
            some && self.left.fetch_sub(1, SeqCst) < u64::MAX
        } else {
            self.take()
        };
        granted.then_some(Grant::new(1))
    }

    fn settle(&self, _grant: Grant, fate: Fate) {
        match fate {
            Fate::NotSent if self.has(Fault::KeepsWhatWasNotSent) => {}
            Fate::Succeeded if self.has(Fault::GivesBackTwice) => {
                self.give();
                self.give();
            }
            Fate::NotSent | Fate::Succeeded => self.give(),
            _ => {}
        }
    }

    fn end(&self, end: CallEnd) {
        match end {
            CallEnd::FirstTry => {
                let _ = self.left.fetch_update(SeqCst, SeqCst, |left| (left < LIMIT).then_some(left + 1));
            }
            CallEnd::Dropped if self.has(Fault::ChargesDrops) => {
                self.take();
            }
            _ => {}
        }
    }

    fn snapshot(&self, _now: Time) -> Snapshot {
        let said = if self.has(Fault::SaysMoreThanItsLimit) { 30 } else { LIMIT };
        Snapshot::new("broken", "broken").level(self.left.load(SeqCst), said)
    }
}

/// The law that the check says a budget breaks.
fn broken_law(fault: Fault) -> String {
    let check = catch_unwind(AssertUnwindSafe(|| check_laws(move || broken(fault))));
    let panic = check.expect_err("the check doesn't see it");
    panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap()
}

#[test]
fn without_a_fault_it_keeps_the_laws() {
    check_laws(|| broken(Fault::None));
}

#[test]
fn each_fault_breaks_a_law() {
    for (fault, law) in [
        (Fault::WaitsForTokens, "a budget never blocks"),
        (Fault::ChargesFirstAttempts, "first attempts are free: after 100 calls that failed"),
        (Fault::ChargesDrops, "first attempts are free: after 100 calls that were dropped"),
        (Fault::KeepsWhatWasNotSent, "what was never sent goes back in full"),
        (
            Fault::GivesBackTwice,
            "no more goes back than was taken: after 1 transient retries that were settled as Succ",
        ),
        (Fault::GivesBackWithoutLimit, "a snapshot has no more available than its limit"),
        (Fault::PanicsWhenFull, "more than there can be"),
        (Fault::ChecksThenTakes, "threads get no more"),
        (Fault::GivesBackInTwoSteps, "threads give back"),
        (Fault::NewWindowWhenTheClockDiffers, "a clock that goes back frees nothing"),
        (Fault::SaysMoreThanItsLimit, "a snapshot has no more available than its limit"),
    ] {
        let said = broken_law(fault);
        assert!(said.contains(law), "{said}, not {law}");
    }
}
