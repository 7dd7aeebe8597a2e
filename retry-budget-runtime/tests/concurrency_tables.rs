//! The concurrency budget, row by row: `limit = max(min_retry_concurrency, ⌊ratio × active⌋)`.

use retry_budget_runtime::{
    Budget, CallEnd, ConcurrencyBudget, Decision, Fate, Grant, RetryKind, RetryPolicy, Run, Time, Verdict,
};

const fn budget(ratio: f64, floor: u32) -> ConcurrencyBudget {
    ConcurrencyBudget::builder("partner").ratio(ratio).min_retry_concurrency(floor).build()
}

fn begin(budget: &ConcurrencyBudget, calls: u32) {
    (0..calls).for_each(|_| budget.begin(Time::ZERO));
}

fn end(budget: &ConcurrencyBudget, calls: u32) {
    (0..calls).for_each(|_| budget.end(CallEnd::Failed));
}

fn ask(budget: &ConcurrencyBudget) -> Option<Grant> {
    budget.try_retry(RetryKind::Transient, Time::ZERO)
}

fn limit(budget: &ConcurrencyBudget) -> u64 {
    budget.snapshot(Time::ZERO).limit
}

/// Active calls, and places that are free.
fn state(budget: &ConcurrencyBudget) -> (u64, u64) {
    let snapshot = budget.snapshot(Time::ZERO);
    (snapshot.requests.expect("it counts them"), snapshot.available)
}

#[test]
fn the_share_of_the_active_calls_or_the_floor() {
    for (active, retries, ratio, floor, allowed, grant) in [
        (20, 0, 0.000_001, 0, 0, false),
        (1, 2, 0.2, 3, 3, true),
        (1, 3, 0.2, 3, 3, false),
        (20, 3, 0.2, 3, 4, true),
        (20, 4, 0.2, 3, 4, false),
        (20, 4, 1.0, 3, 20, true),
        (24, 4, 0.2, 5, 5, true),
        (100, 24, 0.25, 3, 25, true),
        (100, 25, 0.25, 3, 25, false),
        (1, 0, 1.0, 0, 1, true),
        (3, 2, 0.2, 3, 3, true),
        (4, 3, 0.2, 3, 3, false),
    ] {
        let row = format!("{active} active, {retries} retries, ratio {ratio}, floor {floor}");
        let budget = budget(ratio, floor);
        // as many calls as it takes for that many retries to be out, of which only `active` remain
        begin(&budget, 1_000);
        let out: Vec<_> = (0..retries).map(|_| ask(&budget).expect("there is room")).collect();
        end(&budget, 1_000 - active);
        assert_eq!((limit(&budget), ask(&budget).is_some()), (allowed, grant), "{row}");
        assert_eq!(out.len(), retries);
    }
}

/// All orders of `rest`, after those of `chosen`.
fn orders(chosen: &mut Vec<usize>, rest: &mut Vec<usize>, visit: &mut impl FnMut(&[usize])) {
    if rest.is_empty() {
        visit(chosen);
    }
    for at in 0..rest.len() {
        chosen.push(rest.remove(at));
        orders(chosen, rest, visit);
        rest.insert(at, chosen.pop().expect("just pushed"));
    }
}

#[test]
fn six_calls_that_fail_at_once() {
    // in any order, and each denied call ends at once
    let mut visited = 0;
    orders(&mut Vec::new(), &mut (0..6).collect(), &mut |order| {
        let budget = budget(0.5, 0);
        let mut calls: [_; 6] = std::array::from_fn(|_| Run::begin(&budget, Time::ZERO));
        let retries = order.iter().filter(|&&call| fails(&mut calls[call])).count();
        assert_eq!((retries, state(&budget)), (3, (3, 0)), "{order:?}");
        visited += 1;
    });
    assert_eq!(visited, 720);
}

#[test]
fn six_calls_that_fail_at_once_and_one_is_dropped_in_its_wait() {
    let budget = budget(0.5, 0);
    let mut calls: Vec<_> = (0..6).map(|_| Run::begin(&budget, Time::ZERO)).collect();
    assert!(fails(&mut calls[0]) && fails(&mut calls[1]));
    drop(calls.remove(0));
    // five active, half of them 2; one is out
    assert_eq!(state(&budget), (5, 1));
    assert!(fails(&mut calls[1]));
    assert!(!fails(&mut calls[2]));
}

/// The call's attempt fails; whether it may be retried.
fn fails(call: &mut Run<&ConcurrencyBudget>) -> bool {
    matches!(call.failed(&RetryPolicy::REQUEST, Verdict::TRANSIENT, Time::ZERO, 0), Decision::Retry { .. })
}

#[test]
fn a_place_is_held_until_the_retry_has_ended() {
    for fate in [Fate::Succeeded, Fate::Failed, Fate::NotSent, Fate::Dropped] {
        let budget = budget(0.5, 0);
        begin(&budget, 2);
        let grant = ask(&budget).expect("one of two");
        assert_eq!((state(&budget), ask(&budget)), ((2, 0), None));
        budget.settle(grant, fate);
        assert_eq!(state(&budget), (2, 1), "{fate:?}");
        assert!(ask(&budget).is_some());
    }
}

#[test]
fn a_call_is_active_until_its_end() {
    for over in [CallEnd::FirstTry, CallEnd::AfterRetry, CallEnd::Failed, CallEnd::Dropped] {
        let budget = budget(1.0, 0);
        begin(&budget, 3);
        budget.final_failure(Some(RetryKind::Transient));
        budget.final_failure(None);
        assert_eq!(state(&budget), (3, 3));
        budget.end(over);
        assert_eq!(state(&budget), (2, 2), "{over:?}");
    }
}

#[test]
fn a_limit_that_shrinks_takes_nothing_back() {
    let budget = budget(0.5, 0);
    begin(&budget, 4);
    let out = [ask(&budget).expect("granted"), ask(&budget).expect("granted")];
    end(&budget, 2);
    // two retries out of one allowed: none is granted until both are back
    assert_eq!((limit(&budget), state(&budget), ask(&budget)), (1, (2, 0), None));
    let [first, second] = out;
    budget.settle(first, Fate::Succeeded);
    assert_eq!(ask(&budget), None);
    budget.settle(second, Fate::Succeeded);
    assert!(ask(&budget).is_some());
}
