//! Limits that change while a budget is in use: what is in the bucket, what is refused, and who was faster.

use retry_budget_runtime::{
    Budget, CallEnd, ConcurrencyBudget, CreditBudget, Fate, Grant, GrpcBudget, RatioBudget, RetryKind, SettingsError,
    Time, TokenBudget,
};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// What is available, and the limit.
fn level(budget: &dyn Budget) -> (u64, u64) {
    let snapshot = budget.snapshot(Time::ZERO);
    (snapshot.available, snapshot.limit)
}

fn ask(budget: &dyn Budget) -> Option<Grant> {
    budget.try_retry(RetryKind::Transient, Time::ZERO)
}

fn begin(budget: &dyn Budget, calls: u32) {
    (0..calls).for_each(|_| budget.begin(Time::ZERO));
}

fn problem(result: Result<(), SettingsError>) -> &'static str {
    result.expect_err("out of range").problem()
}

#[test]
fn token_stays_filled_to_the_same_fraction() {
    for (initial, capacity, after) in [
        (250, 300, 150), // half is half
        (500, 300, 300), // full is full
        (0, 300, 0),     // empty is empty
        (333, 100, 66),  // 66.6, rounded down
        (1, 499, 0),     // 0.998, rounded down
        (250, 1000, 500),
        (500, 1 << 31, 1 << 31),
        (499, 1 << 31, 2_143_188_680), // 499/500 of 2147483648 is …680.704
        (123, 500, 123),
    ] {
        let budget = TokenBudget::builder("partner").initial(initial).build();
        budget.reconfigure(|settings| settings.capacity(capacity)).expect("in range");
        assert_eq!(level(&budget), (after, capacity.into()), "{initial} of 500");
    }
    // the widest change there is, in one step
    let most = TokenBudget::builder("partner").capacity(1 << 31).initial((1 << 31) - 1).build();
    most.reconfigure(|settings| settings.capacity(1).transient_cost(1)).expect("in range");
    assert_eq!(level(&most), (0, 1));
}

#[test]
fn token_decides_by_the_new_costs() {
    let budget = TokenBudget::builder("partner").initial(100).build();
    let before = ask(&budget).expect("granted");
    assert_eq!((before.cost(), level(&budget).0), (14, 86));
    budget.reconfigure(|settings| settings.transient_cost(30).throttling_cost(2).success_refund(5)).expect("in range");
    assert_eq!(level(&budget), (86, 500), "the costs fill and empty nothing");
    assert_eq!(ask(&budget).map(|grant| grant.cost()), Some(30));
    let throttling = budget.try_retry(RetryKind::Throttling, Time::ZERO).expect("granted");
    assert_eq!((throttling.cost(), level(&budget).0), (2, 54));
    budget.end(CallEnd::FirstTry);
    assert_eq!(level(&budget).0, 59);
    // what was granted before gives back what it cost then
    budget.settle(before, Fate::NotSent);
    assert_eq!(level(&budget).0, 73);
}

#[test]
fn token_a_refund_from_a_larger_bucket_stops_at_the_brim() {
    let budget = TokenBudget::builder("partner").build();
    let grant = ask(&budget).expect("granted");
    budget.reconfigure(|settings| settings.capacity(10).transient_cost(3)).expect("in range");
    assert_eq!(level(&budget), (9, 10), "486 of 500 is 9.72 of 10");
    budget.settle(grant, Fate::NotSent);
    assert_eq!(level(&budget), (10, 10));
}

#[test]
fn what_a_closure_gets_is_what_holds() {
    let budget = TokenBudget::builder("partner").capacity(28).initial(0).throttling_cost(9).success_refund(2).build();
    budget.reconfigure(|settings| settings.transient_cost(7)).expect("in range");
    budget.reconfigure(|settings| settings).expect("in range");
    let full = TokenBudget::builder("partner").capacity(28).throttling_cost(9).success_refund(2).transient_cost(7);
    // the same settings, as far as `Debug` tells
    let mut seen = None;
    budget.reconfigure(|settings| *seen.insert(settings)).expect("in range");
    assert_eq!(format!("{:?}", seen.expect("called")), format!("{full:?}"));

    let ratio = RatioBudget::builder("partner").ratio(0.29).min_retries(7).window(Duration::from_secs(2));
    let mut seen = None;
    ratio.build().reconfigure(|settings| *seen.insert(settings)).expect("in range");
    assert_eq!(format!("{:?}", seen.expect("called")), format!("{ratio:?}"));

    let credit = CreditBudget::builder("partner").ratio(0.07).burst(4_000);
    let mut seen = None;
    credit.build().reconfigure(|settings| *seen.insert(settings)).expect("in range");
    assert_eq!(format!("{:?}", seen.expect("called")), format!("{credit:?}"));

    let grpc = GrpcBudget::builder("partner").max_tokens(1_000).token_ratio(0.547);
    let mut seen = None;
    grpc.build().reconfigure(|settings| *seen.insert(settings)).expect("in range");
    assert_eq!(format!("{:?}", seen.expect("called")), format!("{grpc:?}"));

    let concurrency = ConcurrencyBudget::builder("partner").ratio(0.33).min_retry_concurrency(1 << 20);
    let mut seen = None;
    concurrency.build().reconfigure(|settings| *seen.insert(settings)).expect("in range");
    assert_eq!(format!("{:?}", seen.expect("called")), format!("{concurrency:?}"));
}

#[test]
fn initial_is_for_a_new_bucket() {
    let token = TokenBudget::builder("partner").initial(250).build();
    token.reconfigure(|settings| settings.capacity(100).initial(1_000)).expect("in range");
    assert_eq!(level(&token), (50, 100));
    let credit = CreditBudget::builder("partner").initial(1.0).build();
    credit.reconfigure(|settings| settings.burst(4).initial(100.0)).expect("in range");
    assert_eq!(level(&credit), (2_000_000, 4_000_000));
}

#[test]
fn what_is_out_of_range_changes_nothing() {
    let token = TokenBudget::builder("partner").initial(250).build();
    for (result, expected) in [
        (token.reconfigure(|settings| settings.capacity(0)), "capacity is 1 to"),
        (token.reconfigure(|settings| settings.capacity((1 << 31) + 1)), "capacity is 1 to"),
        (token.reconfigure(|settings| settings.success_refund(501)), "success_refund is above"),
        (token.reconfigure(|settings| settings.capacity(300).transient_cost(0)), "transient_cost is at least"),
        (token.reconfigure(|settings| settings.capacity(4)), "would never grant"),
    ] {
        assert!(problem(result).contains(expected), "{result:?}");
        assert_eq!(level(&token), (250, 500));
    }
    assert_eq!(ask(&token).map(|grant| grant.cost()), Some(14));

    let ratio = RatioBudget::builder("partner").min_retries(5).build();
    for (result, expected) in [
        (ratio.reconfigure(|settings| settings.min_retries(9).ratio(10.0)), "at most 1"),
        (ratio.reconfigure(|settings| settings.min_retries((1 << 20) + 1)), "min_retries is at most"),
        (ratio.reconfigure(|settings| settings.min_retries(9).window(Duration::from_secs(11))), "can't change"),
        (ratio.reconfigure(|settings| settings.min_retries(9).window(Duration::ZERO)), "100 ms to one hour"),
    ] {
        assert!(problem(result).contains(expected), "{result:?}");
        assert_eq!(level(&ratio), (5, 5));
    }

    let credit = CreditBudget::builder("partner").initial(1.0).build();
    assert!(problem(credit.reconfigure(|settings| settings.burst(4).ratio(0.0))).contains("ratio"));
    assert!(problem(credit.reconfigure(|settings| settings.burst(4_001))).contains("burst is 1 to 4000"));
    assert_eq!(level(&credit), (1_000_000, 2_000_000));

    let grpc = GrpcBudget::builder("partner").build();
    assert!(problem(grpc.reconfigure(|settings| settings.max_tokens(2))).contains("max_tokens is 3"));
    assert!(problem(grpc.reconfigure(|settings| settings.max_tokens(20).token_ratio(0.0))).contains("token_ratio"));
    assert_eq!(level(&grpc), (10_000, 10_000));

    let concurrency = ConcurrencyBudget::builder("partner").build();
    let refused = concurrency.reconfigure(|settings| settings.min_retry_concurrency(9).ratio(f64::NAN));
    assert!(problem(refused).contains("ratio"));
    assert_eq!(level(&concurrency), (3, 3));
}

#[test]
fn ratio_counts_on_under_new_limits() {
    let budget = RatioBudget::builder("partner").ratio(0.1).min_retries(0).build();
    begin(&budget, 100);
    assert_eq!((0..20).filter(|_| ask(&budget).is_some()).count(), 10);
    budget.reconfigure(|settings| settings.ratio(0.25)).expect("in range");
    assert_eq!(level(&budget), (15, 25));
    assert_eq!((0..20).filter(|_| ask(&budget).is_some()).count(), 15);
    budget.reconfigure(|settings| settings.ratio(0.01).min_retries(30)).expect("in range");
    assert_eq!(level(&budget), (5, 30));
    budget.reconfigure(|settings| settings.min_retries(2)).expect("in range");
    assert_eq!(level(&budget), (0, 2), "more were granted than now would be");
    assert_eq!(ask(&budget), None);
    // the same window is no other window
    budget.reconfigure(|settings| settings.window(Duration::from_secs(10))).expect("the window it has");
}

#[test]
fn credit_stays_the_same_fraction_of_the_burst() {
    let budget = CreditBudget::builder("partner").initial(1.5).build();
    budget.reconfigure(|settings| settings.burst(3).ratio(0.5)).expect("in range");
    assert_eq!(level(&budget), (2_250_000, 3_000_000));
    begin(&budget, 1);
    assert_eq!(level(&budget), (2_750_000, 3_000_000));
    budget.reconfigure(|settings| settings.burst(4_000)).expect("in range");
    assert_eq!(level(&budget), (3_666_666_666, 4_000_000_000));
    budget.reconfigure(|settings| settings.burst(1)).expect("in range");
    assert_eq!(level(&budget), (916_666, 1_000_000));
}

#[test]
fn credit_that_is_not_drawn_yet_is_drawn_later() {
    let levels: Vec<_> = (0..50)
        .map(|_| {
            let budget = CreditBudget::builder("partner").build();
            budget.reconfigure(|settings| settings.burst(4_000)).expect("in range");
            level(&budget)
        })
        .collect();
    // still a fraction of one retry, and not the same for all
    assert!(levels.iter().all(|&(available, limit)| available < 1_000_000 && limit == 4_000_000_000), "{levels:?}");
    assert!(levels.iter().any(|level| level != &levels[0]));
}

#[test]
fn concurrency_keeps_who_is_inside() {
    let budget = ConcurrencyBudget::builder("partner").ratio(0.5).min_retry_concurrency(0).build();
    begin(&budget, 8);
    let grants: Vec<_> = (0..5).filter_map(|_| ask(&budget)).collect();
    assert_eq!((grants.len(), level(&budget)), (4, (0, 4)));
    budget.reconfigure(|settings| settings.ratio(0.25).min_retry_concurrency(1)).expect("in range");
    assert_eq!(level(&budget), (0, 2), "four are still inside");
    for (grant, room) in grants.into_iter().zip([0, 0, 1]) {
        assert_eq!(ask(&budget), None);
        budget.settle(grant, Fate::Failed);
        assert_eq!(level(&budget), (room, 2));
    }
    assert!(ask(&budget).is_some());
    assert_eq!(budget.snapshot(Time::ZERO).requests, Some(8));
}

#[test]
fn grpc_stays_the_same_fraction_of_its_tokens() {
    let budget = GrpcBudget::builder("partner").build();
    assert!(ask(&budget).is_some());
    budget.reconfigure(|settings| settings.max_tokens(7).token_ratio(0.5)).expect("in range");
    assert_eq!(level(&budget), (6_300, 7_000));
    budget.end(CallEnd::AfterRetry);
    assert_eq!(level(&budget), (6_800, 7_000));
    budget.reconfigure(|settings| settings.max_tokens(1_000)).expect("in range");
    assert_eq!(level(&budget), (971_428, 1_000_000));
}

#[test]
fn limits_that_change_under_fire_pay_for_what_they_can() {
    // 28,000 retries. However many have been paid for when the capacity doubles, the tokens of the rest double: what is
    // left of n pays for 2n. So between 28,000 and 56,000, and 13 tokens at most stay.
    for _ in 0..20 {
        let budget = TokenBudget::builder("partner").capacity(14 * 28_000).build();
        let start = Barrier::new(4);
        let doubled = AtomicBool::new(false);
        let granted: u64 = thread::scope(|scope| {
            let askers: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        let mut granted = 0;
                        loop {
                            let last_round = doubled.load(SeqCst);
                            while ask(&budget).is_some() {
                                granted += 1;
                            }
                            if last_round {
                                return granted;
                            }
                        }
                    })
                })
                .collect();
            start.wait();
            budget.reconfigure(|settings| settings.capacity(28 * 28_000)).expect("in range");
            doubled.store(true, SeqCst);
            askers.into_iter().map(|asker| asker.join().expect("no panic")).sum()
        });
        let snapshot = budget.snapshot(Time::ZERO);
        assert!((28_000..=56_000).contains(&granted), "{granted}");
        assert_eq!((snapshot.granted, snapshot.limit), (granted, 28 * 28_000));
        // 14 a retry before and after, and what is left is a multiple of 14 at each moment
        assert_eq!(snapshot.available, 0);
    }
}

#[test]
fn whoever_is_slower_starts_from_what_the_faster_left() {
    let budget = TokenBudget::builder("partner").capacity(100).build();
    let mut asked = 0;
    budget
        .reconfigure(|settings| {
            asked += 1;
            if asked == 1 {
                // somebody else, while this one is still thinking
                budget.reconfigure(|settings| settings.capacity(200).transient_cost(20)).expect("in range");
            }
            settings.throttling_cost(9)
        })
        .expect("in range");
    assert_eq!((asked, level(&budget)), (2, (200, 200)));
    assert_eq!(ask(&budget).map(|grant| grant.cost()), Some(20));
    assert_eq!(budget.try_retry(RetryKind::Throttling, Time::ZERO).map(|grant| grant.cost()), Some(9));
}

#[test]
fn none_of_many_changes_is_lost() {
    let budget = TokenBudget::builder("partner").capacity(1_000).transient_cost(1).build();
    let start = Barrier::new(4);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (budget, start) = (&budget, &start);
            scope.spawn(move || {
                start.wait();
                for _ in 0..2_000 {
                    budget
                        .reconfigure(|settings| {
                            // each adds one of its own: no getter, so what it has goes through `Debug`
                            let number = |name: &str| -> u32 {
                                let text = format!("{settings:?}");
                                let (_, after) = text.split_once(name).expect("there");
                                let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
                                digits.parse().expect("a number")
                            };
                            if thread % 2 == 0 {
                                settings.capacity(number("capacity: ") + 1)
                            } else {
                                settings.throttling_cost(number("throttling_cost: ") + 1)
                            }
                        })
                        .expect("in range");
                }
            });
        }
    });
    assert_eq!(level(&budget).1, 5_000, "two threads of 2,000 each");
    assert_eq!(budget.try_retry(RetryKind::Throttling, Time::ZERO).map(|grant| grant.cost()), Some(4_005));
}
