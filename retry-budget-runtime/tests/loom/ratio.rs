//! The window: never more retries than its requests and its floor allow, whoever moves it on.

use crate::check;
use crate::sync::AtomicU64;
use crate::window::{Cells, Usage, Window};

fn ring() -> [AtomicU64; 16] {
    std::array::from_fn(|_| AtomicU64::new(0))
}

/// A window in slot 0 that has granted this many retries since the start, and this many before the slot began.
fn long_lived(granted: u64, before: u64) -> Window {
    let starts = std::array::from_fn(|slot| AtomicU64::new(if slot == 0 { before } else { 0 }));
    Window::new(Cells { now: AtomicU64::new(granted), starts, requests: ring(), returned: ring() })
}

fn window() -> Window {
    long_lived(0, 0)
}

/// A window in which something has happened before.
fn after(history: fn(&Window)) -> impl Fn() -> Window {
    move || {
        let window = window();
        history(&window);
        window
    }
}

/// Grants while fewer than this many are out.
fn up_to(limit: u64) -> impl Fn(Usage) -> bool {
    move |usage| usage.retries < limit
}

/// Half of the requests, and no floor.
fn half(usage: Usage) -> bool {
    usage.retries < usage.requests / 2
}

fn granted(slots: &[Option<u64>]) -> usize {
    slots.iter().flatten().count()
}

fn granted_since(first: u64, slots: &[Option<u64>]) -> u64 {
    slots.iter().flatten().filter(|&&slot| slot >= first).count() as u64
}

#[test]
fn the_last_grant_of_a_slot_goes_to_one() {
    let ask: fn(&Window) -> _ = |window| window.grant(0, up_to(1));
    check(4, window, [ask, ask, ask], |window, slots| {
        assert_eq!(granted(&slots), 1);
        assert_eq!(window.usage(0), Usage { requests: 0, retries: 1 });
    });
}

#[test]
fn a_grant_races_a_rotation() {
    let ask: fn(&Window) -> _ = |window| window.grant(0, up_to(1));
    let later: fn(&Window) -> _ = |window| window.grant(1, up_to(1));
    check(4, window, [ask, later, ask], |window, slots| {
        assert_eq!(granted(&slots), 1, "both slots are in the window");
        assert_eq!(window.usage(9).retries, 1);
    });
}

#[test]
fn a_slot_leaves_while_others_ask() {
    // one retry in slot 0; at slot 10 it has left, and just one more fits
    let history = after(|window| assert_eq!(window.grant(0, up_to(1)), Some(0)));
    let early: fn(&Window) -> _ = |window| window.grant(9, up_to(1));
    let late: fn(&Window) -> _ = |window| window.grant(10, up_to(1));
    check(3, history, [early, late], |window, slots| {
        // the early one is granted too when the window has moved on before it asks: then the late one isn't
        assert_eq!(granted(&slots), 1);
        assert!(slots.iter().flatten().all(|&slot| slot == 10));
        assert_eq!(window.usage(19).retries, 1);
    });
}

#[test]
fn a_retry_granted_during_a_rotation_is_never_forgotten() {
    // two of three are out in slot 0; whoever moves to slot 10 may have read the count before the third was granted
    let history = after(|window| {
        for _ in 0..2 {
            assert!(window.grant(0, up_to(3)).is_some());
        }
        assert_eq!(window.usage(9).retries, 2);
    });
    let early: fn(&Window) -> _ = |window| window.grant(9, up_to(3));
    let late: fn(&Window) -> _ = |window| window.grant(10, up_to(1));
    check(4, history, [early, late], |window, slots| {
        // the early one always fits; the late one only when it comes first, and then the window is at slot 10
        assert!(matches!(slots, [Some(9 | 10), None] | [Some(10), Some(10)]), "{slots:?}");
        assert_eq!(window.usage(10).retries, granted(&slots) as u64);
        // the one of slot 9 may count one slot longer, since a mover may have read the count before it
        let (counts, held) = (window.usage(19).retries, granted_since(10, &slots));
        assert!(held <= counts && counts <= granted(&slots) as u64, "{slots:?} {counts}");
        assert_eq!(window.usage(20).retries, 0);
    });
}

#[test]
fn a_slow_mover_does_not_take_off_what_others_granted() {
    // all of them see slot 1 first; two retries fit into the window
    let mover: fn(&Window) -> _ = |window| {
        window.grant(1, |_| false);
        None
    };
    let early: fn(&Window) -> _ = |window| window.grant(0, up_to(2));
    let both: fn(&Window) -> _ = |window| {
        window.grant(0, up_to(2));
        window.grant(1, up_to(2))
    };
    check(4, window, [mover, early, both], |window, slots| {
        assert_eq!(window.usage(9).retries, 2);
        assert!(window.usage(10).retries >= granted_since(1, &slots), "{slots:?}");
        assert!(window.usage(10).retries <= 2);
        assert_eq!(window.usage(11).retries, 0);
    });
}

#[test]
fn two_rotators_to_different_slots() {
    let history = after(|window| assert_eq!(window.grant(2, up_to(1)), Some(2)));
    let near: fn(&Window) -> _ = |window| window.grant(11, up_to(1));
    let far: fn(&Window) -> _ = |window| window.grant(12, up_to(1));
    check(3, history, [near, far], |window, slots| {
        // at 11 slot 2 is still in the window, at 12 it isn't
        assert_eq!(granted(&slots), 1);
        assert!(slots.iter().flatten().all(|&slot| slot == 12));
        assert_eq!(window.usage(12).retries, 1);
    });
}

#[test]
fn a_ring_reused_under_a_slow_asker() {
    // the asker of slot 9 may have looked at cells that belong to slot 25 by the time it decides
    let history = after(|window| {
        (0..2).for_each(|_| window.request(9));
        assert_eq!(window.grant(9, half), Some(9));
    });
    let slow: fn(&Window) -> _ = |window| window.grant(9, half);
    let fast: fn(&Window) -> _ = |window| {
        window.request(25);
        window.grant(25, half)
    };
    check(3, history, [slow, fast], |window, slots| {
        assert_eq!(slots, [None, None], "one retry of two requests, then none of one");
        assert_eq!(window.usage(25), Usage { requests: 1, retries: 0 });
    });
}

#[test]
fn a_request_races_a_grant() {
    let history = after(|window| window.request(0));
    let request: fn(&Window) -> _ = |window| {
        window.request(0);
        None
    };
    let ask: fn(&Window) -> _ = |window| window.grant(0, half);
    check(4, history, [request, ask, ask], |window, slots| {
        assert!(granted(&slots) <= 1, "two requests, half of them");
        assert_eq!(window.usage(0), Usage { requests: 2, retries: granted(&slots) as u64 });
    });
}

#[test]
fn a_call_sees_its_own_request() {
    let call: fn(&Window) -> _ = |window| {
        window.request(0);
        window.grant(0, half)
    };
    check(4, window, [call, call], |window, slots| {
        assert_eq!(granted(&slots), 1, "whoever comes second sees both");
        assert_eq!(window.usage(0), Usage { requests: 2, retries: 1 });
    });
}

#[test]
fn requests_race_a_rotation() {
    let request: fn(&Window) -> _ = |window| window.request(0);
    let later: fn(&Window) -> _ = |window| window.request(16);
    let history = after(|window| window.request(0));
    check(3, history, [request, later], |window, [(), ()]| {
        // the early one counts in its own slot, which has left, or in the newest
        let requests = window.usage(16).requests;
        assert!(requests == 1 || requests == 2, "{requests}");
    });
}

#[test]
fn a_late_request_counts_in_the_slot_that_has_its_cell_now() {
    let history = |window: &Window| window.request(0);
    let late: fn(&Window) -> _ = |window| {
        window.request(0);
        None
    };
    // one lap on: its own request is one, and half of one is none; with the late one it is two
    let call: fn(&Window) -> _ = |window| {
        window.request(16);
        window.grant(16, half)
    };
    check(4, after(history), [late, call], |window, slots| {
        let counted = window.usage(16).requests;
        assert!((1..=2).contains(&counted), "{counted}");
        assert!(granted(&slots) == 0 || counted == 2);
    });
}

#[test]
fn a_give_back_races_a_grant() {
    let history = after(|window| assert_eq!(window.grant(0, up_to(1)), Some(0)));
    let gives_back: fn(&Window) -> _ = |window| {
        window.give_back(0);
        None
    };
    let ask: fn(&Window) -> _ = |window| window.grant(0, up_to(1));
    check(4, history, [gives_back, ask, ask], |window, slots| {
        assert!(granted(&slots) <= 1);
        assert_eq!(window.usage(0).retries, granted(&slots) as u64, "nothing is lost");
    });
}

#[test]
fn whoever_sees_a_grant_sees_the_give_back_that_made_room_for_it() {
    let history = after(|window| assert_eq!(window.grant(0, up_to(1)), Some(0)));
    let swaps: fn(&Window) -> _ = |window| {
        window.give_back(0);
        window.grant(0, up_to(1))
    };
    let ask: fn(&Window) -> _ = |window| window.grant(0, up_to(2));
    check(4, history, [swaps, ask], |_, [swapped, asked]| {
        assert_eq!(asked, Some(0), "never more than one other is out");
        // the swap is denied when the other came between
        assert!(swapped.is_none_or(|slot| slot == 0));
    });
}

#[test]
fn no_more_goes_back_than_was_granted() {
    // two are out; of three give-backs one is nobody's
    let history = after(|window| (0..2).for_each(|_| assert_eq!(window.grant(0, up_to(2)), Some(0))));
    let gives_back: fn(&Window) -> _ = |window| window.give_back(0);
    check(4, history, [gives_back, gives_back, gives_back], |window, _| {
        for _ in 0..2 {
            assert_eq!(window.grant(0, up_to(2)), Some(0));
        }
        assert_eq!(window.grant(0, up_to(2)), None);
    });
}

#[test]
fn grants_that_go_back_at_once_all_go_back() {
    let swaps: fn(&Window) -> _ = |window| {
        let granted = window.grant(0, up_to(2));
        granted.inspect(|&slot| window.give_back(slot))
    };
    check(4, window, [swaps, swaps], |window, slots| {
        assert_eq!(slots, [Some(0), Some(0)]);
        assert_eq!(window.usage(0).retries, 0);
    });
}

#[test]
fn a_retry_granted_during_a_rotation_goes_back_where_it_counts() {
    let swaps: fn(&Window) -> _ = |window| {
        let granted = window.grant(0, up_to(1));
        granted.inspect(|&slot| window.give_back(slot))
    };
    let later: fn(&Window) -> _ = |window| {
        window.usage(1);
        None
    };
    check(4, window, [swaps, later], |window, slots| {
        assert_eq!(granted(&slots), 1);
        assert_eq!(window.usage(9).retries, 0);
    });
}

#[test]
fn a_give_back_races_the_rotation_that_drops_its_slot() {
    let history = after(|window| {
        assert_eq!(window.grant(0, up_to(2)), Some(0));
        assert_eq!(window.grant(1, up_to(2)), Some(1));
    });
    let gives_back: fn(&Window) -> _ = |window| {
        window.give_back(0);
        None
    };
    let ask: fn(&Window) -> _ = |window| window.grant(10, up_to(2));
    check(3, history, [gives_back, ask], |window, slots| {
        assert_eq!(slots, [None, Some(10)]);
        assert_eq!(window.usage(10).retries, 2, "what has left isn't taken off a second time");
    });
}

#[test]
fn two_give_backs_into_a_cell_of_another_lap() {
    // both retries of slot 16 go back at once, into a cell that still holds what slot 0 gave back
    let history = after(|window| {
        assert_eq!(window.grant(0, up_to(1)), Some(0));
        window.give_back(0);
        for _ in 0..2 {
            assert_eq!(window.grant(16, up_to(2)), Some(16));
        }
    });
    let gives_back: fn(&Window) -> _ = |window| window.give_back(16);
    check(4, history, [gives_back, gives_back], |window, [(), ()]| {
        assert_eq!(window.usage(16).retries, 0);
    });
}

#[test]
fn a_slow_mover_leaves_a_ring_alone_that_others_reused() {
    // slots 1 and 17 share their cells, and 17 is where the window of 26 begins
    let slow: fn(&Window) -> _ = |window| {
        window.grant(1, |_| false);
        None
    };
    let fast: fn(&Window) -> _ = |window| window.grant(26, up_to(1));
    check(3, window, [slow, fast], |window, slots| {
        assert_eq!(slots, [None, Some(26)]);
        assert_eq!(window.grant(26, up_to(1)), None);
    });
}

#[test]
fn the_count_of_grants_may_wrap() {
    let ask: fn(&Window) -> _ = |window| window.grant(0, up_to(3));
    let later: fn(&Window) -> _ = |window| window.grant(1, up_to(3));
    check(
        3,
        || long_lived((1 << 29) - 2, (1 << 29) - 2),
        [ask, later],
        |window, slots| {
            assert_eq!(granted(&slots), 2);
            assert_eq!(window.usage(9).retries, 2);
            assert!(window.grant(9, up_to(3)).is_some());
            assert_eq!(window.grant(9, up_to(3)), None);
            assert_eq!(window.usage(9).retries, 3);
            assert_eq!(window.usage(19).retries, 0);
        },
    );
}

#[test]
fn more_grants_than_can_be_told_apart_are_denied() {
    let ask: fn(&Window) -> _ = |window| window.grant(0, |_| true);
    check(
        3,
        || long_lived((1 << 29) - 2, 0),
        [ask, ask],
        |window, slots| {
            assert_eq!(granted(&slots), 1);
            assert_eq!(window.grant(9, |_| true), None);
            assert_eq!(window.grant(10, |_| true), Some(10), "they have left");
        },
    );
}
