//! What the macros' expansions call. Not for anybody else: it changes with every release.

pub use crate::retry::call::{Call, Step};
pub use crate::retryable::derived::{GivenUp, Hint, Inner, Opinion};
pub use core;

use crate::Budget;

/// A budget named by a path is a `static`. A `const` would be a fresh, full budget at each use, and doesn't live long
/// enough for this.
#[inline]
pub fn in_static<B: Budget + ?Sized>(budget: &'static B) -> &'static B {
    budget
}

/// Never called: `return returned::<T>()` tells the compiler the type of an async block.
#[cold]
pub fn returned<T>() -> T {
    unreachable!("it stands behind `if false`")
}
