//! Layers of retry loops don't multiply: a loop that gives up tells the loops around it in the same task.
//!
//! A flag of the thread says that a loop gave up. Whoever runs an attempt puts the flag aside before each poll of it, and
//! looks at it after: so it sees what happened inside of this attempt, whatever type the error was turned into on its
//! way, and nothing of what other tasks of the thread did. Work that was spawned isn't seen.

use pin_project_lite::pin_project;
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

thread_local! {
    static GAVE_UP: Cell<bool> = const { Cell::new(false) };
}

/// A loop gives up. To be called in the poll in which it returns.
pub(crate) fn give_up() {
    GAVE_UP.set(true);
}

/// Puts the flag aside, and back in the end, also when there is a panic in between.
struct Aside(bool);

impl Aside {
    #[inline]
    fn put() -> Self {
        Self(GAVE_UP.replace(false))
    }
}

impl Drop for Aside {
    #[inline]
    fn drop(&mut self) {
        GAVE_UP.set(self.0);
    }
}

/// Runs an attempt, or one poll of it, and notes whether a loop inside of it gives up.
#[inline]
pub(crate) fn watching<T>(gave_up: &mut bool, attempt: impl FnOnce() -> T) -> T {
    let _aside = Aside::put();
    let output = attempt();
    if GAVE_UP.get() {
        *gave_up = true;
    }
    output
}

pin_project! {
    /// An attempt, with a note whether a loop inside of it gave up.
    #[derive(Debug)]
    pub struct Watched<'c, F> {
        gave_up: &'c mut bool,
        #[pin]
        attempt: F,
    }
}

impl<'c, F> Watched<'c, F> {
    #[inline]
    pub(crate) fn new(gave_up: &'c mut bool, attempt: F) -> Self {
        Self { gave_up, attempt }
    }
}

impl<F: Future> Future for Watched<'_, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        watching(this.gave_up, || this.attempt.poll(cx))
    }
}
