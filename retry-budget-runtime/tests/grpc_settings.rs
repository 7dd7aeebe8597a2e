//! The gRPC budget's settings at the ends of their ranges.

use retry_budget_runtime::{Budget, CallEnd, GrpcBudget, GrpcBudgetBuilder, RetryKind, SettingsError, Time};

const fn builder() -> GrpcBudgetBuilder {
    GrpcBudget::builder("partner")
}

fn refused(builder: GrpcBudgetBuilder) -> &'static str {
    builder.try_build().as_ref().map_err(SettingsError::problem).expect_err("out of range")
}

fn empty(builder: GrpcBudgetBuilder) -> GrpcBudget {
    let budget = builder.try_build().expect("in range");
    (0..1_000).for_each(|_| budget.final_failure(Some(RetryKind::Transient)));
    assert_eq!(left(&budget), 0);
    budget
}

fn left(budget: &GrpcBudget) -> u64 {
    budget.snapshot(Time::ZERO).available
}

#[test]
fn there_are_3_to_1000_tokens() {
    for tokens in [0, 1, 2, 1_001, u32::MAX] {
        assert!(refused(builder().max_tokens(tokens)).contains("max_tokens is 3 to 1000"), "{tokens}");
    }
    for (tokens, thousandths, grants) in [(3, 3_000, 1), (4, 4_000, 1), (5, 5_000, 2), (1_000, 1_000_000, 499)] {
        let budget = builder().max_tokens(tokens).build();
        assert_eq!((left(&budget), budget.snapshot(Time::ZERO).limit), (thousandths, thousandths), "it starts full");
        let granted = (0..2_000).filter(|_| budget.try_retry(RetryKind::Transient, Time::ZERO).is_some()).count();
        assert_eq!((granted, left(&budget)), (grants, 0));
    }
    assert_eq!(left(&builder().build()), 10_000, "10 unless told");
}

#[test]
fn a_success_gives_0_001_to_1000_tokens() {
    for ratio in [0.0, -0.1, 0.000_4, 1_000.001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(refused(builder().token_ratio(ratio)).contains("token_ratio is 0.001 to 1000"), "{ratio}");
    }
    let most = builder().max_tokens(1_000);
    for (ratio, thousandths) in [(0.001, 1), (1.001, 1_001), (999.999, 999_999), (1_000.0, 1_000_000)] {
        let budget = empty(most.token_ratio(ratio));
        budget.end(CallEnd::FirstTry);
        assert_eq!(left(&budget), thousandths);
        (0..3).for_each(|_| budget.end(CallEnd::AfterRetry));
        assert_eq!(left(&budget), (4 * thousandths).min(1_000_000), "never above what there is at most");
    }
    let budget = empty(builder());
    budget.end(CallEnd::FirstTry);
    assert_eq!(left(&budget), 100, "0.1 unless told");
}

#[test]
#[should_panic(expected = "max_tokens is 3 to 1000")]
fn build_panics_where_try_build_refuses() {
    let _ = builder().max_tokens(2).build();
}
