//! gRPC's tokens: a failure and its decision are one step.

use crate::bucket::Bucket;
use crate::check;
use crate::sync::AtomicU64;

fn tokens(most: u32, left: u32) -> Bucket {
    Bucket::new(AtomicU64::new(Bucket::word(most, left)))
}

/// A failure that asks: a token of a thousand thousandths.
fn fails(tokens: &Bucket) -> bool {
    tokens.lose(1_000)
}

/// A success gives half a token.
fn succeeds(tokens: &Bucket) -> bool {
    tokens.give(|| 500);
    false
}

fn count(granted: &[bool]) -> u32 {
    granted.iter().map(|&granted| u32::from(granted)).sum()
}

#[test]
fn each_failure_decides_by_what_it_left_itself() {
    // 7 tokens of 10: the first leaves 6, the second 5, the third 4. Decided apart from its step, the first could be
    // denied by what another left, or the second granted by what it didn't leave.
    check(
        4,
        || tokens(10_000, 7_000),
        [fails, fails, fails],
        |tokens, granted| {
            assert_eq!((count(&granted), tokens.level().0), (1, 4_000));
        },
    );
}

#[test]
fn a_success_between_two_failures() {
    // 6.5: → 5.5 yes → 4.5 no → 5; or 6.5 → 7 → 6 yes → 5 no; or 5.5 yes → 6 → 5 no
    check(
        4,
        || tokens(10_000, 6_500),
        [fails, succeeds, fails],
        |tokens, granted| {
            assert_eq!((count(&granted), tokens.level().0), (1, 5_000));
        },
    );
}

#[test]
fn nothing_below_none_and_nothing_above_all() {
    check(
        4,
        || tokens(4_000, 500),
        [fails, fails, succeeds],
        |tokens, granted| {
            assert_eq!(count(&granted), 0);
            // the success before, between or after the two failures
            assert!(matches!(tokens.level().0, 0 | 500), "{}", tokens.level().0);
        },
    );
    check(
        4,
        || tokens(4_000, 3_800),
        [succeeds, succeeds, fails],
        |tokens, granted| {
            assert_eq!(count(&granted), 1);
            // 3.8 → 2.8 → 3.3 → 3.8; 3.8 → 4 → 3 → 3.5; 3.8 → 4 → 4 → 3
            assert!(matches!(tokens.level().0, 3_800 | 3_500 | 3_000), "{}", tokens.level().0);
        },
    );
}
