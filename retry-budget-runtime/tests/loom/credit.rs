//! Credit: drawn once, never earned twice, never spent twice. In tenths of a retry, to stay readable.

use crate::bucket::Bucket;
use crate::check;
use crate::sync::AtomicU64;

const ONE: u32 = 10;

fn credit(burst: u32, level: u32) -> Bucket {
    Bucket::new(AtomicU64::new(Bucket::word(burst * ONE, level)))
}

/// Each thread would draw another number.
fn new_process() -> Bucket {
    credit(2, Bucket::NOT_DRAWN)
}

/// A call that fails: it earns a tenth, and asks.
fn call(draw: u32) -> impl Fn(&Bucket) -> bool {
    move |credit| {
        credit.drawn(|| draw).give(|| 1);
        credit.drawn(|| draw).take(ONE)
    }
}

fn count(granted: &[bool]) -> u32 {
    granted.iter().map(|&granted| u32::from(granted)).sum()
}

#[test]
fn all_first_uses_see_one_draw() {
    let low: fn(&Bucket) -> bool = |credit| call(3)(credit);
    let lower: fn(&Bucket) -> bool = |credit| call(0)(credit);
    let looks: fn(&Bucket) -> bool = |credit| credit.drawn(|| 6).level().0 <= 8;
    check(3, new_process, [low, lower, looks], |credit, seen| {
        assert_eq!(seen, [false, false, true], "none has a whole retry");
        // one of the three draws, and both calls' parts
        let (level, burst) = credit.level();
        assert!(matches!(level, 2 | 5 | 8) && burst == 20, "{level}");
    });
}

#[test]
fn the_part_of_a_first_call_is_not_lost_in_the_draw() {
    let earns: fn(&Bucket) -> bool = |credit| {
        credit.drawn(|| 9).give(|| 1);
        false
    };
    let asks: fn(&Bucket) -> bool = |credit| call(9)(credit);
    check(4, new_process, [earns, asks], |credit, granted| {
        // 0.9 and two parts: one whole retry, and 0.1
        assert_eq!((granted, credit.level().0), ([false, true], 1));
    });
}

#[test]
fn a_whole_retry_goes_to_one() {
    let asks: fn(&Bucket) -> bool = |credit| call(0)(credit);
    check(
        4,
        || credit(2, 8),
        [asks, asks, asks],
        |credit, granted| {
            assert_eq!((count(&granted), credit.level().0), (1, 1));
        },
    );
}

#[test]
fn a_dropped_wait_gives_back_up_to_the_burst() {
    let drops: fn(&Bucket) -> bool = |credit| {
        let granted = credit.take(ONE);
        if granted {
            credit.give(|| ONE);
        }
        false
    };
    let earns: fn(&Bucket) -> bool = |credit| {
        credit.give(|| 3);
        false
    };
    check(4, || credit(1, 10), [drops, earns, drops], |credit, _| assert_eq!(credit.level(), (10, 10)));
}
