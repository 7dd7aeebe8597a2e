//! Threads that hammer one budget: what they get together is what one after the other would have got.

use retry_budget_runtime::{
    Budget, CallEnd, ConcurrencyBudget, CreditBudget, Fate, Grant, GrpcBudget, RatioBudget, RetryKind, Time,
    TokenBudget,
};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

const THREADS: u64 = 8;

/// Runs the same work in all threads at once, each with its number, and gives what each comes to.
fn hammer<R: Send>(work: impl Fn(u64) -> R + Sync) -> Vec<R> {
    let start = Barrier::new(usize::try_from(THREADS).expect("few"));
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let (start, work) = (&start, &work);
                scope.spawn(move || {
                    start.wait();
                    work(number)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// Numbers that look random, a different row for each seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn left(budget: &dyn Budget) -> u64 {
    budget.snapshot(Time::ZERO).available
}

#[test]
fn tokens_pay_for_as_many_retries_as_they_can_and_no_more() {
    // 50,000 retries of 14, and 13 tokens that pay for nothing
    let budget = TokenBudget::builder("partner").capacity(700_013).build();
    let granted = hammer(|_| {
        let mut granted = 0_u64;
        while let Some(_sent) = budget.try_retry(RetryKind::Transient, Time::ZERO) {
            granted += 1;
        }
        granted
    });
    assert_eq!(granted.iter().sum::<u64>(), 50_000);
    let snapshot = budget.snapshot(Time::ZERO);
    assert_eq!((snapshot.available, snapshot.granted, snapshot.denied), (13, 50_000, THREADS));
}

#[test]
fn no_token_is_lost_and_none_made() {
    // large enough that no refund is ever cut
    let budget = TokenBudget::builder("partner").capacity(1 << 31).initial(80_000).build();
    let balances = hammer(|number| {
        let mut dice = Dice(number);
        let mut balance = 0_i64;
        for _ in 0..200_000 {
            if dice.roll(4) == 0 {
                budget.end(CallEnd::FirstTry);
                balance += 1;
            }
            let kind = if dice.roll(2) == 0 { RetryKind::Transient } else { RetryKind::Throttling };
            let Some(grant) = budget.try_retry(kind, Time::ZERO) else { continue };
            let fate =
                [Fate::Succeeded, Fate::NotSent, Fate::Failed, Fate::Dropped][usize::try_from(dice.roll(4)).unwrap()];
            if matches!(fate, Fate::Failed | Fate::Dropped) {
                balance -= i64::from(grant.cost());
            }
            budget.settle(grant, fate);
        }
        balance
    });
    let expected = 80_000 + balances.iter().sum::<i64>();
    assert_eq!(i64::try_from(left(&budget)).unwrap(), expected);
    assert!(expected < 40_000, "most of it was spent: {expected}");
}

#[test]
fn a_bucket_at_its_brim_never_overflows() {
    let budget = TokenBudget::builder("partner").capacity(30).success_refund(7).build();
    hammer(|number| {
        for _ in 0..200_000 {
            if number % 2 == 0 {
                budget.end(CallEnd::FirstTry);
            } else if let Some(grant) = budget.try_retry(RetryKind::Transient, Time::ZERO) {
                budget.settle(grant, Fate::NotSent);
            }
            assert!(left(&budget) <= 30);
        }
    });
    // all that was taken is back, or was refilled meanwhile
    assert_eq!(left(&budget), 30);
}

#[test]
fn a_slot_grants_the_exact_share_of_its_requests() {
    let budget = RatioBudget::builder("partner").ratio(0.29).min_retries(3).build();
    let granted = hammer(|_| {
        let ask = || u64::from(budget.try_retry(RetryKind::Transient, Time::ZERO).is_some());
        let mut granted = 0;
        for _ in 0..5_000 {
            budget.begin(Time::ZERO);
            granted += ask();
        }
        // whoever comes last sees all the requests
        loop {
            match ask() {
                0 => break granted,
                more => granted += more,
            }
        }
    });
    assert_eq!(granted.iter().sum::<u64>(), 11_600, "0.29 of 40,000");
    let snapshot = budget.snapshot(Time::ZERO);
    assert_eq!((snapshot.requests, snapshot.limit, snapshot.available), (Some(40_000), 11_600, 0));
}

#[test]
fn what_is_given_back_in_a_slot_is_granted_once_more() {
    let budget = RatioBudget::builder("partner").ratio(1.0).min_retries(100).build();
    let sent = hammer(|number| {
        let mut dice = Dice(number);
        let mut sent = 0_u64;
        for _ in 0..100_000 {
            if let Some(grant) = budget.try_retry(RetryKind::Transient, Time::ZERO) {
                let not_sent = dice.roll(20) > 0;
                sent += u64::from(!not_sent);
                budget.settle(grant, if not_sent { Fate::NotSent } else { Fate::Failed });
            }
        }
        sent
    });
    assert_eq!(sent.iter().sum::<u64>(), 100);
    assert_eq!(left(&budget), 0);
}

#[test]
fn credit_is_granted_to_the_millionth() {
    // never near the burst, so nothing is cut: 0.77 + 0.07 × 4,000,000 calls, minus what was sent
    let budget = CreditBudget::builder("partner").ratio(0.07).burst(4_000).initial(0.77).build();
    let sent = hammer(|number| {
        let mut dice = Dice(number);
        let mut sent = 0_u64;
        for _ in 0..500_000 {
            budget.begin(Time::ZERO);
            if let Some(grant) = budget.try_retry(RetryKind::Transient, Time::ZERO) {
                let fate = if dice.roll(3) == 0 { Fate::NotSent } else { Fate::Failed };
                sent += u64::from(fate == Fate::Failed);
                budget.settle(grant, fate);
            }
        }
        sent
    });
    let sent = sent.iter().sum::<u64>();
    let earned = 770_000 + 70_000 * 500_000 * THREADS;
    assert_eq!(left(&budget), earned - sent * 1_000_000);
    // whoever came last had asked for all but the last few that a dropped wait gave back
    assert!(sent * 1_000_000 > earned - 10_000_000, "{sent} sent");
}

#[test]
fn credit_is_drawn_once() {
    for _ in 0..2_000 {
        // at most one call's part is earned, and then all threads see the same draw
        let budget = CreditBudget::builder("partner").ratio(0.000_001).build();
        let seen = hammer(|_| left(&budget));
        assert!(seen.iter().all(|&level| level == seen[0]), "{seen:?}");
        assert!(seen[0] < 1_000_000);
        assert_eq!(left(&budget), seen[0]);
    }
}

#[test]
fn no_more_retries_at_a_time_than_the_limit() {
    // the floor of 5 is the limit throughout, since at most 8 calls are active
    let budget = ConcurrencyBudget::builder("partner").ratio(0.25).min_retry_concurrency(5).build();
    let out = AtomicU64::new(0);
    let most = hammer(|number| {
        let mut dice = Dice(number);
        let mut most = 0;
        let mut held: Vec<Grant> = Vec::new();
        for _ in 0..100_000 {
            budget.begin(Time::ZERO);
            if let Some(grant) = budget.try_retry(RetryKind::Transient, Time::ZERO) {
                most = most.max(out.fetch_add(1, SeqCst) + 1);
                held.push(grant);
            }
            // a thread alone gets to the limit, too
            while !held.is_empty() && dice.roll(3) == 0 {
                out.fetch_sub(1, SeqCst);
                budget.settle(held.pop().expect("not empty"), Fate::Failed);
            }
            budget.end(CallEnd::Failed);
        }
        for grant in held {
            out.fetch_sub(1, SeqCst);
            budget.settle(grant, Fate::Dropped);
        }
        most
    });
    assert_eq!(most.iter().max(), Some(&5), "all of it, and no more: {most:?}");
    let snapshot = budget.snapshot(Time::ZERO);
    assert_eq!((snapshot.requests, snapshot.available, snapshot.limit), (Some(0), 5, 5));
}

#[test]
fn calls_that_fail_at_once_are_granted_the_share_of_all() {
    for _ in 0..2_000 {
        let budget = ConcurrencyBudget::builder("partner").ratio(0.5).min_retry_concurrency(0).build();
        let all_active = Barrier::new(usize::try_from(THREADS).expect("few"));
        let granted = hammer(|_| {
            (0..3).for_each(|_| budget.begin(Time::ZERO));
            all_active.wait();
            (0..3).filter(|_| budget.try_retry(RetryKind::Transient, Time::ZERO).is_some()).count()
        });
        assert_eq!(granted.iter().sum::<usize>(), 12, "half of the 24, whatever the order");
    }
}

#[test]
fn as_many_failures_as_it_takes_to_get_to_half() {
    for _ in 0..500 {
        // 1,000 tokens: after the 499th failure 501 are left, which is more than half
        let budget = GrpcBudget::builder("partner").max_tokens(1_000).build();
        let granted = hammer(|_| {
            let mut granted = 0;
            while let Some(_sent) = budget.try_retry(RetryKind::Transient, Time::ZERO) {
                granted += 1;
            }
            granted
        });
        assert_eq!(granted.iter().sum::<u64>(), 499);
        // each thread's last ask took one more
        assert_eq!(left(&budget), 1_000_000 - 1_000 * (499 + THREADS));
    }
}

#[test]
fn no_thousandth_of_a_token_is_lost_and_none_made() {
    // a failure and the ten successes that make up for it, in a level far from both ends
    let budget = GrpcBudget::builder("partner").max_tokens(1_000).token_ratio(0.1).build();
    (0..500).for_each(|_| budget.final_failure(Some(RetryKind::Transient)));
    hammer(|number| {
        let mut dice = Dice(number);
        for _ in 0..50_000 {
            let failure_at = dice.roll(11);
            for nth in 0..11 {
                if nth == failure_at && number % 2 == 0 {
                    budget.final_failure(Some(RetryKind::Throttling));
                } else if nth == failure_at {
                    let _sent = budget.try_retry(RetryKind::Transient, Time::ZERO);
                } else {
                    budget.end(CallEnd::AfterRetry);
                }
            }
        }
    });
    assert_eq!(left(&budget), 500_000);
}

/// What a thread did while the time went on: when its requests began, by the earliest and the latest slot that they can
/// have counted in, and in which slots its retries were granted.
#[derive(Default)]
struct Diary {
    requests: Vec<(u64, u64)>,
    retries: Vec<u64>,
}

#[test]
fn no_window_holds_more_retries_than_its_requests_allow() {
    const SLOT: u64 = 10_000_000;
    let budget =
        RatioBudget::builder("partner").ratio(0.5).window(Duration::from_nanos(10 * SLOT)).min_retries(2).build();
    let clock = AtomicU64::new(0);
    let time = |slot| Time::from_nanos(slot * SLOT);
    let diaries = hammer(|number| {
        let mut dice = Dice(number);
        let mut diary = Diary::default();
        let mut waiting: Vec<Grant> = Vec::new();
        for _ in 0..100_000 {
            // the time goes on under everybody's feet, now and then by more than a window
            if dice.roll(8) == 0 {
                clock.fetch_add(if dice.roll(50) == 0 { dice.roll(40) } else { 1 }, SeqCst);
            }
            let slot = clock.load(SeqCst);
            if dice.roll(3) > 0 {
                budget.begin(time(slot));
                diary.requests.push((slot, clock.load(SeqCst)));
            }
            waiting.extend(budget.try_retry(RetryKind::Transient, time(slot)));
            if waiting.len() > 3 {
                let grant = waiting.swap_remove(usize::try_from(dice.roll(4)).unwrap());
                if dice.roll(2) == 0 {
                    budget.settle(grant, Fate::NotSent);
                } else {
                    diary.retries.push(grant.slot());
                    budget.settle(grant, Fate::Failed);
                }
            }
        }
        diary.retries.extend(waiting.iter().map(Grant::slot));
        diary
    });
    let last = usize::try_from(clock.load(SeqCst)).unwrap();
    let (mut may_count, mut retries) = (vec![0_u64; last + 1], vec![0_u64; last + 1]);
    for diary in &diaries {
        for &(earliest, latest) in &diary.requests {
            // in each window that ends at or after the earliest slot and begins at or before the latest
            for end in earliest..=(latest + 9).min(last as u64) {
                may_count[usize::try_from(end).unwrap()] += 1;
            }
        }
        for &slot in &diary.retries {
            retries[usize::try_from(slot).unwrap()] += 1;
        }
    }
    let mut busy = 0;
    // a retry is judged by the window that ends with it, so windows that end with none say nothing
    for end in (0..=last).filter(|&end| retries[end] > 0) {
        let held: u64 = retries[end.saturating_sub(9)..=end].iter().sum();
        let allowed = (may_count[end] / 2).max(2);
        assert!(held <= allowed, "window that ends with slot {end}: {held} of {allowed}");
        busy += u64::from(held > 2);
    }
    assert!(busy > 100, "the test would be idle: {busy}");
}
