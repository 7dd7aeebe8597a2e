//! Places: the pair of counters is never torn, and nothing stays taken.

use crate::check;
use crate::places::{Places, Taken};
use crate::sync::AtomicU64;

/// That many calls active, and that many retries out.
fn with(active: u64, retries: u64) -> impl Fn() -> Places {
    move || Places::new(AtomicU64::new(active << 32 | retries))
}

/// Half of the active calls may be at a retry.
fn half(taken: Taken) -> bool {
    taken.retries < taken.active / 2
}

fn asks(places: &Places) -> bool {
    places.take(half)
}

fn count(granted: &[bool]) -> u32 {
    granted.iter().map(|&granted| u32::from(granted)).sum()
}

#[test]
fn calls_that_fail_at_once_share_what_is_allowed() {
    // six active, one at its retry already: two more, whatever the order
    check(4, with(6, 1), [asks, asks, asks], |places, granted| {
        assert_eq!(count(&granted), 2);
        assert_eq!(places.taken(), Taken { active: 6, retries: 3 });
    });
}

#[test]
fn a_denied_call_ends_and_the_others_still_share() {
    let call: fn(&Places) -> bool = |places| {
        let granted = places.take(half);
        if !granted {
            places.leave();
        }
        granted
    };
    check(4, with(4, 0), [call, call, call], |places, granted| {
        assert_eq!(count(&granted), 2);
        assert_eq!(places.taken(), Taken { active: 3, retries: 2 });
    });
}

#[test]
fn whole_calls_leave_nothing_taken() {
    let call: fn(&Places) -> bool = |places| {
        places.enter();
        let granted = places.take(half);
        if granted {
            places.give_back();
        }
        places.leave();
        granted
    };
    check(3, with(1, 0), [call, call, call], |places, granted| {
        assert!(granted.iter().any(|&granted| granted), "whoever asks while no other is at its retry");
        assert_eq!(places.taken(), Taken { active: 1, retries: 0 });
    });
}

#[test]
fn a_grant_holds_for_the_calls_it_was_decided_on() {
    // two active: one may be retried while both are, none once one has left
    let leaves: fn(&Places) -> bool = |places| {
        places.leave();
        places.take(half)
    };
    check(4, with(2, 0), [asks, leaves], |places, [asked, after_leaving]| {
        assert!(!after_leaving);
        assert_eq!(places.taken(), Taken { active: 1, retries: u32::from(asked) });
    });
}

#[test]
fn begins_and_ends_are_not_lost_among_grants() {
    let begins: fn(&Places) -> bool = |places| {
        places.enter();
        places.enter();
        false
    };
    let ends: fn(&Places) -> bool = |places| {
        places.leave();
        places.give_back();
        false
    };
    check(4, with(4, 1), [begins, ends, asks], |places, [.., granted]| {
        // three to six are active and none or one is out when it asks
        assert_eq!(places.taken(), Taken { active: 5, retries: u32::from(granted) });
    });
}

#[test]
fn an_end_without_a_beginning_never_makes_room() {
    // none active: whoever asks is denied, also in the moment in which the number is below zero
    let ends: fn(&Places) -> bool = |places| {
        places.leave();
        false
    };
    check(4, with(0, 0), [ends, ends, asks], |places, granted| {
        assert_eq!(granted, [false; 3]);
        assert_eq!(places.taken(), Taken { active: 0, retries: 0 });
    });
}
