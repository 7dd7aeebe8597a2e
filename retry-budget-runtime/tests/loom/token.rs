//! The bucket: never a token from nowhere, never one lost.

use crate::bucket::Bucket;
use crate::check;
use crate::sync::AtomicU64;

fn bucket(capacity: u32, available: u32) -> Bucket {
    Bucket::new(AtomicU64::new(Bucket::word(capacity, available)))
}

fn takes(bucket: &Bucket) -> bool {
    bucket.take(14)
}

fn gives(bucket: &Bucket) -> bool {
    bucket.give(|| 1);
    false
}

fn count(taken: &[bool]) -> u32 {
    taken.iter().map(|&taken| u32::from(taken)).sum()
}

#[test]
fn two_takers_and_a_giver_lose_nothing() {
    check(
        4,
        || bucket(500, 27),
        [takes, takes, gives],
        |bucket, taken| {
            let taken = count(&taken);
            assert!(taken == 1 || taken == 2, "two only if the giver came between");
            assert_eq!(bucket.level(), (28 - 14 * taken, 500));
        },
    );
}

#[test]
fn the_last_tokens_go_to_one() {
    check(
        4,
        || bucket(500, 20),
        [takes, takes, takes],
        |bucket, taken| {
            assert_eq!(count(&taken), 1);
            assert_eq!(bucket.level(), (6, 500));
        },
    );
}

#[test]
fn givers_never_pass_capacity() {
    check(6, || bucket(30, 29), [gives, gives, gives], |bucket, _| assert_eq!(bucket.level(), (30, 30)));
}

#[test]
fn two_givers_and_a_taker_at_the_brim() {
    check(
        4,
        || bucket(30, 29),
        [gives, gives, takes],
        |bucket, taken| {
            assert_eq!(count(&taken), 1, "29 afford it whatever came before");
            // 29 → 15 → 16 → 17; or 30, then 16, then 17; or 30, still 30, then 16
            let (left, capacity) = bucket.level();
            assert!((left == 16 || left == 17) && capacity == 30, "{left}");
        },
    );
}

#[test]
fn a_full_bucket_pays_and_refills() {
    check(
        4,
        || bucket(30, 30),
        [gives, takes, takes],
        |bucket, taken| {
            assert_eq!(count(&taken), 2);
            let (left, _) = bucket.level();
            assert!(left == 2 || left == 3, "full when the giver came first: {left}");
        },
    );
}

fn halves_the_capacity(bucket: &Bucket) -> bool {
    bucket.resize(250);
    false
}

#[test]
fn a_capacity_that_changes_halves_what_is_there_and_nothing_else() {
    check(
        4,
        || bucket(500, 40),
        [takes, halves_the_capacity, takes],
        |bucket, taken| {
            // 40 → 26 → 12 → 6, 40 → 26 → 13 and denied, or 40 → 20 → 6 and denied
            let (left, capacity) = bucket.level();
            assert_eq!(capacity, 250);
            assert!(matches!((count(&taken), left), (2, 6) | (1, 13 | 6)), "{taken:?} and {left}");
        },
    );
}

#[test]
fn a_refund_never_passes_a_capacity_that_shrinks() {
    check(
        4,
        || bucket(500, 499),
        [gives, halves_the_capacity, gives],
        |bucket, _| {
            // full before, and so after; or 499/500 of 250 is 249.5, then one or two more
            assert_eq!(bucket.level(), (250, 250));
        },
    );
}
