//! Changing a budget's limits while it is in use.

use super::settings::SettingsError;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Changes limits, one change after the other: what `wanted` makes of the present settings is built, and so validated,
/// and then applied. When somebody else was faster, it is asked again.
///
/// No decision ever waits for this: it reads what is there.
pub(super) fn change<S: Copy + PartialEq, B>(
    present: impl Fn() -> S,
    mut wanted: impl FnMut(S) -> S,
    build: impl Fn(S) -> Result<B, SettingsError>,
    apply: impl FnOnce(&B),
) -> Result<(), SettingsError> {
    loop {
        let before = present();
        let budget = build(wanted(before))?;
        let _turn = turn();
        if present() == before {
            apply(&budget);
            return Ok(());
        }
    }
}

/// One change at a time in the whole process, with no code of the user's meanwhile. Not in the budget: a lock can't be
/// dropped in a const builder everywhere.
pub(super) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
