//! At which failure rate a token bucket drains: simulated call by call, with independent failures and three attempts.

use retry_budget_runtime::{Budget, Decision, Jitter, RetryPolicy, Run, Time, TokenBudget, Verdict};

const POLICY: RetryPolicy = RetryPolicy::AWS_STANDARD.to_builder().jitter(Jitter::None).build();
const CALLS: u32 = 400_000;

/// Uniform in [0, 1), the same row for a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = u32::try_from(self.0 >> 32).expect("32 bits");
        f64::from(number) / 2_f64.powi(32)
    }
}

/// Tokens gained per call, on average, in a bucket far from both ends.
fn drift(failure: Verdict, rate: f64, seed: u64) -> f64 {
    const HALF: u32 = 1 << 30;
    let budget = TokenBudget::builder("partner").capacity(2 * HALF).initial(HALF).build();
    let mut dice = Dice(seed);
    for _ in 0..CALLS {
        let mut run = Run::begin(&budget, Time::ZERO);
        loop {
            if dice.roll() >= rate {
                run.succeeded();
                break;
            }
            match run.failed(&POLICY, failure, Time::ZERO, 0) {
                Decision::Retry { .. } => run.start_retry(),
                Decision::Stop { .. } => break,
            }
        }
    }
    let left = u32::try_from(budget.snapshot(Time::ZERO).available).expect("within the capacity");
    (f64::from(left) - f64::from(HALF)) / f64::from(CALLS)
}

#[test]
fn retries_at_14_drain_the_bucket_above_0_2149() {
    for seed in 1..=3 {
        let drift = |rate| drift(Verdict::TRANSIENT, rate, seed);
        assert!(drift(0.20) > 0.0);
        assert!(drift(0.23) < 0.0);
        assert!(drift(0.2099) > 0.0 && drift(0.2199) < 0.0);
    }
}

#[test]
fn retries_at_5_drain_the_bucket_above_0_3207() {
    for seed in 1..=3 {
        let drift = |rate| drift(Verdict::THROTTLING, rate, seed);
        assert!(drift(0.30) > 0.0);
        assert!(drift(0.34) < 0.0);
        assert!(drift(0.3157) > 0.0 && drift(0.3257) < 0.0);
    }
}

#[test]
fn the_drift_is_what_the_formula_says() {
    for (failure, cost) in [(Verdict::TRANSIENT, 14.0), (Verdict::THROTTLING, 5.0)] {
        for rate in [0.0_f64, 0.1, 0.25, 0.5, 0.9, 1.0] {
            let expected = (1.0 - rate) - cost * rate.powi(2) * (1.0 + rate);
            let simulated = drift(failure, rate, 7);
            // five standard deviations of a call's at most 15 tokens
            assert!((simulated - expected).abs() < 0.12, "{rate}: {simulated}, not {expected}");
        }
    }
}
