//! One switch for the whole process: whether anything is retried at all.

use std::env;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

const UNREAD: u8 = 0;
const ON: u8 = 1;
const OFF: u8 = 2;

/// Nothing else is published through it, so every access is relaxed.
static SWITCH: AtomicU8 = AtomicU8::new(UNREAD);

/// The variable that is read once, before the first decision.
pub(crate) const VARIABLE: &str = "RETRY_BUDGET_RETRIES";

/// Turns all retries of this process off, or on again.
///
/// Off, every failed attempt is its call's last, whatever its budget: the call returns its error with
/// [`StopReason::SwitchedOff`](crate::StopReason::SwitchedOff), and the budgets aren't asked. It holds from the next
/// decision on: a retry that is granted already, and waits or runs, is still made. First attempts are never stopped.
///
/// A process starts with what the environment says: `RETRY_BUDGET_RETRIES=off` (also `0` or `false`, in upper or lower
/// case) is off, everything else is on. The variable is read once, at the first decision about a retry or the first call
/// of this function or [`retries_are_on`]; from the first call of this function on it doesn't matter.
///
/// ```standalone_crate
/// use retry_budget_runtime::{retries_are_on, set_retries};
///
/// assert!(retries_are_on(), "unless the environment says otherwise");
/// set_retries(false);
/// assert!(!retries_are_on());
/// ```
pub fn set_retries(on: bool) {
    SWITCH.store(if on { ON } else { OFF }, Relaxed);
}

/// Whether failed attempts of this process are retried: see [`set_retries`].
pub fn retries_are_on() -> bool {
    match SWITCH.load(Relaxed) {
        UNREAD => read_environment(),
        state => state == ON,
    }
}

#[cold]
fn read_environment() -> bool {
    let off = env::var(VARIABLE).is_ok_and(|value| says_off(&value));
    let state = if off { OFF } else { ON };
    // Whoever set the switch meanwhile knows better.
    SWITCH.compare_exchange(UNREAD, state, Relaxed, Relaxed).map_or_else(|set| set == ON, |_| !off)
}

/// Whether the value is one that people agree on.
pub(crate) fn check(value: &str) -> Result<(), String> {
    if says_off(value) || is_one_of(value, &["on", "1", "true", ""]) {
        Ok(())
    } else {
        Err("is `off` or `on`".to_owned())
    }
}

fn says_off(value: &str) -> bool {
    is_one_of(value, &["off", "0", "false"])
}

fn is_one_of(value: &str, words: &[&str]) -> bool {
    words.iter().any(|word| value.trim().eq_ignore_ascii_case(word))
}
