//! Back to the start, for tests that share a static.

use retry_budget_runtime::{
    Budget, CallEnd, ConcurrencyBudget, CreditBudget, Fate, GrpcBudget, RatioBudget, RetryKind, Snapshot, Time,
    TokenBudget,
};

fn spend(budget: &dyn Budget) {
    for _ in 0..40 {
        budget.begin(Time::from_millis(7_000));
        if let Some(grant) = budget.try_retry(RetryKind::Transient, Time::from_millis(9_000)) {
            budget.settle(grant, Fate::NotSent);
        }
        let _held = budget.try_retry(RetryKind::Throttling, Time::from_millis(9_000));
        budget.end(CallEnd::Failed);
    }
}

fn now(budget: &dyn Budget) -> Snapshot {
    budget.snapshot(Time::from_millis(9_500))
}

#[test]
fn everything_is_as_it_was_built() {
    let token = TokenBudget::builder("token").initial(123).build();
    let ratio = RatioBudget::builder("ratio").min_retries(5).build();
    let credit = CreditBudget::builder("credit").initial(0.5).build();
    let concurrency = ConcurrencyBudget::builder("concurrency").min_retry_concurrency(5).build();
    let grpc = GrpcBudget::builder("grpc").build();
    let new: [&dyn Budget; 5] = [&token, &ratio, &credit, &concurrency, &grpc];
    let before = new.map(now);
    for budget in new {
        spend(budget);
    }
    token.reconfigure(|settings| settings.capacity(30).transient_cost(3)).expect("in range");
    ratio.reconfigure(|settings| settings.min_retries(9).ratio(0.9)).expect("in range");
    credit.reconfigure(|settings| settings.burst(7).ratio(0.9)).expect("in range");
    concurrency.reconfigure(|settings| settings.min_retry_concurrency(9)).expect("in range");
    grpc.reconfigure(|settings| settings.max_tokens(30).token_ratio(2.0)).expect("in range");
    for (budget, before) in new.into_iter().zip(&before) {
        let spent = now(budget);
        assert_ne!(spent.limit, before.limit, "{spent:?}");
        assert!(spent.granted > 0 && spent.denied > 0, "{spent:?}");
    }
    token.reset();
    ratio.reset();
    credit.reset();
    concurrency.reset();
    grpc.reset();
    assert_eq!(new.map(now), before);
    // and it goes on as at first
    let again = (0..9).filter(|_| ratio.try_retry(RetryKind::Transient, Time::from_millis(9_000)).is_some());
    assert_eq!(again.count(), 5);
    assert_eq!(token.try_retry(RetryKind::Transient, Time::ZERO).map(|grant| grant.cost()), Some(14));
    credit.begin(Time::ZERO);
    assert_eq!(credit.snapshot(Time::ZERO).available, 600_000);
    grpc.final_failure(Some(RetryKind::Transient));
    grpc.end(CallEnd::FirstTry);
    assert_eq!(grpc.snapshot(Time::ZERO).available, 9_100);
}

#[test]
fn a_window_begins_again_at_any_time() {
    let budget = RatioBudget::builder("partner").ratio(0.5).min_retries(0).build();
    let late = Time::from_millis(123_456_789);
    for _ in 0..10 {
        budget.begin(late);
    }
    assert_eq!((0..9).filter(|_| budget.try_retry(RetryKind::Transient, late).is_some()).count(), 5);
    budget.reset();
    assert_eq!(budget.try_retry(RetryKind::Transient, late), None, "no request, no retry");
    budget.reset();
    // a clock that starts again is no later than what is forgotten
    budget.begin(Time::ZERO);
    budget.begin(Time::ZERO);
    assert!(budget.try_retry(RetryKind::Transient, Time::ZERO).is_some());
    assert_eq!(budget.snapshot(Time::ZERO).requests, Some(2));
}

#[test]
fn what_is_drawn_is_drawn_again() {
    let budget = CreditBudget::builder("partner").build();
    let drawn: Vec<_> = (0..50)
        .map(|_| {
            budget.reset();
            budget.snapshot(Time::ZERO).available
        })
        .collect();
    assert!(drawn.iter().any(|level| level != &drawn[0]), "{drawn:?}");
}
