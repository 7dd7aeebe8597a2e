//! What the macros' expansions call. Not for anybody else: it changes with every release.
//!
//! Where a type of the user's comes in, it does so through an associated type: when it has no such type, the compiler
//! reports that once and keeps quiet about everything that follows from it.

pub use crate::__here as here;
pub use crate::registry::{InStatic, Seen};
pub use crate::retry::call::{Attempted, Call, FromElapsed, Step};
pub use crate::retry::here::{Displayed, Here, Hidden, Name, Shows};
pub use crate::retryable::derived::{GivenUp, Hint, Inner, Judged, Opinion};
pub use core;

use crate::{Budget, Elapsed, RetryPolicy, Timer, TokioTimer};

/// What can stand behind `budget = …`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no retry budget",
    label = "this is no budget",
    note = "a budget is a `static` such as `static PARTNER: TokenBudget = TokenBudget::builder(\"partner\").build();`, or \
            anything else that implements `Budget`, also behind a reference, an `Arc`, a `Box` or a `LazyLock`"
)]
pub trait Budgeted<Way> {
    /// The budget by reference.
    type Budget<'a>: Budget
    where
        Self: 'a;

    /// The budget by reference.
    fn budget(&self) -> Self::Budget<'_>;

    /// The budget as a `static`, of which the registry learns.
    type InStatic: Budget
    where
        Self: Sized + 'static;

    /// The budget as a `static`, of which the registry learns.
    fn in_static(&'static self, seen: &'static Seen) -> Self::InStatic
    where
        Self: Sized;
}

/// The way of every budget.
#[derive(Debug)]
pub struct Itself;

impl<B: Budget + ?Sized> Budgeted<Itself> for B {
    type Budget<'a>
        = &'a B
    where
        Self: 'a;

    #[inline]
    fn budget(&self) -> &B {
        self
    }

    type InStatic
        = InStatic<B>
    where
        Self: Sized + 'static;

    #[inline]
    fn in_static(&'static self, seen: &'static Seen) -> InStatic<B>
    where
        Self: Sized,
    {
        InStatic::new(self, seen)
    }
}

/// A second way that nobody can go. With a single one the compiler would take it for every type, and then report each
/// use of what isn't a budget; with two it has to look, and reports once that there is none.
#[derive(Debug)]
pub struct NoWay;

/// Implemented for nothing.
pub trait Nothing {}

#[diagnostic::do_not_recommend]
impl<B: Nothing + ?Sized> Budgeted<NoWay> for B {
    type Budget<'a>
        = crate::Never
    where
        Self: 'a;

    fn budget(&self) -> crate::Never {
        crate::NEVER
    }

    type InStatic
        = crate::Never
    where
        Self: Sized + 'static;

    fn in_static(&'static self, _seen: &'static Seen) -> crate::Never
    where
        Self: Sized,
    {
        crate::NEVER
    }
}

/// A budget named by a path is a `static`. A `const` would be a fresh, full budget at each use, and doesn't live long
/// enough for this. The registry learns of it when something fails here for the first time.
#[inline]
pub fn in_static<Way, B: Budgeted<Way>>(budget: &'static B, seen: &'static Seen) -> B::InStatic {
    budget.in_static(seen)
}

/// A budget that an expression gives.
#[inline]
pub fn in_place<Way, B: Budgeted<Way> + ?Sized>(budget: &B) -> B::Budget<'_> {
    budget.budget()
}

/// What can stand behind `timer = …`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no timer",
    label = "this type has no clock and no sleep",
    note = "`timer` takes a type that implements `retry_budget::Timer`"
)]
pub trait Timed<Way> {
    /// The timer.
    type Timer: Timer;
}

#[diagnostic::do_not_recommend]
impl<T: Timer> Timed<Itself> for T {
    type Timer = T;
}

#[diagnostic::do_not_recommend]
impl<T: Nothing> Timed<NoWay> for T {
    type Timer = TokioTimer;
}

/// The first attempt starts, by this timer.
#[inline]
pub fn begin<T: Timed<Way>, Way, B: Budget>(budget: B, policy: &RetryPolicy) -> Call<&RetryPolicy, B, T::Timer> {
    Call::begin(budget, policy)
}

/// A result that failed since a limit cut its attempt off.
pub fn cut_off<R: Attempted<Error: FromElapsed>>(elapsed: Elapsed) -> R {
    R::failed(R::Error::from_elapsed(elapsed))
}

/// The same, by a function.
pub fn cut_off_by<R: Attempted>(elapsed: Elapsed, by: impl FnOnce(Elapsed) -> R::Error) -> R {
    R::failed(by(elapsed))
}

/// A place at which a call is made, with what is known of it.
#[cfg(feature = "tracing")]
#[doc(hidden)]
#[macro_export]
macro_rules! __here {
    ($name:expr, $result:ident) => {
        $crate::__private::Here::new($crate::__private::Name::new($name), {
            use $crate::__private::nearer::*;
            (&&$crate::__private::Text(&$result)).shows()
        })
    };
}

/// The same for a program that counts its calls and doesn't show their errors.
#[cfg(all(feature = "metrics", not(feature = "tracing")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __here {
    ($name:expr, $result:ident) => {
        $crate::__private::Here::named($crate::__private::Name::new($name))
    };
}

/// The same for a program that tells nobody of its calls: nothing is left of it.
#[cfg(not(any(feature = "metrics", feature = "tracing")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __here {
    ($name:expr, $result:ident) => {
        $crate::__private::Here::named($crate::__private::Name::UNKNOWN)
    };
}

/// The error of a result as something to display, where it can be: by `(&&Text(&result)).shows()`.
#[derive(Debug)]
pub struct Text<'a, R>(pub &'a R);

/// A value as something to display, where it can be: by `(&&Value(&value)).displayed()`.
#[derive(Debug)]
pub struct Value<'a, T>(pub &'a T);

/// What becomes of the error of a call that is given up, where a function classifies it: by
/// `(&&Becomes(&result)).becomes()`.
#[derive(Debug)]
pub struct Becomes<'a, R>(pub &'a R);

/// Methods that depend on what a type can do: of two with one name the compiler takes the one that needs less
/// dereferencing, if the type is up to it. Imported together, so that an import is never unused.
pub mod nearer {
    use super::{Becomes, Text, Value};
    use crate::retry::call::{as_it_is, exhausted};
    use crate::retry::here::{Displayed, Hidden};
    use crate::{Retryable, Stop};
    use std::fmt::Display;

    /// The nearer.
    pub trait WithText {
        /// How the error shows.
        fn shows(&self) -> Displayed {
            Displayed
        }

        /// The text of the error.
        fn text(&self) -> Option<String>;
    }

    impl<T, E: Display> WithText for &Text<'_, Result<T, E>> {
        fn text(&self) -> Option<String> {
            self.0.as_ref().err().map(ToString::to_string)
        }
    }

    /// The farther.
    pub trait WithoutText {
        /// Not at all.
        fn shows(&self) -> Hidden {
            Hidden
        }

        /// No text.
        fn text(&self) -> Option<String>;
    }

    impl<R> WithoutText for Text<'_, R> {
        fn text(&self) -> Option<String> {
            None
        }
    }

    /// The nearer.
    pub trait IsDisplay<'a> {
        /// The value itself.
        fn displayed(&self) -> Option<&'a dyn Display>;
    }

    impl<'a, T: Display> IsDisplay<'a> for &Value<'a, T> {
        fn displayed(&self) -> Option<&'a dyn Display> {
            Some(self.0)
        }
    }

    /// The farther.
    pub trait IsNoDisplay<'a> {
        /// Nothing.
        fn displayed(&self) -> Option<&'a dyn Display>;
    }

    impl<'a, T> IsNoDisplay<'a> for Value<'a, T> {
        fn displayed(&self) -> Option<&'a dyn Display> {
            None
        }
    }

    /// The nearer.
    pub trait Exhausts<R> {
        /// What the error says.
        fn becomes(&self) -> fn(R, Stop) -> R;
    }

    impl<T, E: Retryable> Exhausts<Result<T, E>> for &Becomes<'_, Result<T, E>> {
        fn becomes(&self) -> fn(Result<T, E>, Stop) -> Result<T, E> {
            exhausted
        }
    }

    /// The farther.
    pub trait StaysAsItIs<R> {
        /// Just itself.
        fn becomes(&self) -> fn(R, Stop) -> R;
    }

    impl<R> StaysAsItIs<R> for Becomes<'_, R> {
        fn becomes(&self) -> fn(R, Stop) -> R {
            as_it_is
        }
    }
}

/// Never called: `return returned::<T>()` tells the compiler the type of an async block.
#[cold]
pub fn returned<T>() -> T {
    unreachable!("it stands behind `if false`")
}
