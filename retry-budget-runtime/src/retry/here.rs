//! Which call this is, and how its error shows: constants, at which only the cold path looks. Without a feature that tells
//! of calls there is nothing in them.

use super::call::Attempted;
use crate::retryable::derived::Judged;
use std::fmt::Display;
use std::marker::PhantomData;

/// What a call is called: the path of its function, where that is known.
#[derive(Clone, Copy, Debug)]
pub struct Name(#[cfg(any(feature = "metrics", feature = "tracing"))] &'static str);

impl Name {
    /// Not known.
    pub const UNKNOWN: Self = Self::new("");

    /// This name.
    pub const fn new(name: &'static str) -> Self {
        #[cfg(any(feature = "metrics", feature = "tracing"))]
        return Self(name);
        #[cfg(not(any(feature = "metrics", feature = "tracing")))]
        {
            let _ = name;
            Self()
        }
    }

    /// The name, empty where it isn't known.
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    pub(crate) const fn get(self) -> &'static str {
        self.0
    }
}

/// How the error of a result shows, where it can be displayed. Its types have no size, so that nothing is handed on.
pub trait Shows<R> {
    /// The error as something to display.
    fn shown(result: &R) -> Option<&dyn Display>;
}

/// The error is `Display`.
#[derive(Debug)]
pub struct Displayed;

/// The error can't be displayed, or nobody asks.
#[derive(Debug)]
pub struct Hidden;

/// The error says itself.
#[derive(Debug)]
pub struct ByItself<Way>(PhantomData<fn() -> Way>);

impl<T, E: Display> Shows<Result<T, E>> for Displayed {
    fn shown(result: &Result<T, E>) -> Option<&dyn Display> {
        result.as_ref().err().map(|error| error as &dyn Display)
    }
}

impl<R> Shows<R> for Hidden {
    fn shown(_: &R) -> Option<&dyn Display> {
        None
    }
}

impl<Way, R: Attempted<Error: Judged<Way>>> Shows<R> for ByItself<Way> {
    fn shown(result: &R) -> Option<&dyn Display> {
        result.outcome().err().and_then(Judged::event_text)
    }
}

/// A place in the code at which calls are made: what they are called, and how their errors show.
#[derive(Debug)]
pub struct Here<S = Hidden> {
    pub(crate) name: Name,
    shows: PhantomData<fn() -> S>,
}

impl Here {
    /// Calls of this name, whose errors can't be displayed.
    #[inline]
    pub const fn named(name: Name) -> Self {
        Self { name, shows: PhantomData }
    }
}

impl<S> Here<S> {
    /// Calls of this name, whose errors show as the type says.
    #[inline]
    pub(crate) const fn of(name: Name) -> Self {
        Self { name, shows: PhantomData }
    }

    /// Calls of this name, whose errors show like this.
    #[inline]
    pub fn new(name: Name, _shows: S) -> Self {
        Self { name, shows: PhantomData }
    }

    /// What there is to tell of this result.
    #[cfg_attr(not(feature = "tracing"), allow(unused_variables))]
    pub(crate) fn told<R>(self, result: &R) -> Told<'_>
    where
        S: Shows<R>,
    {
        Told {
            name: self.name,
            #[cfg(feature = "tracing")]
            error: S::shown(result),
            result: PhantomData,
        }
    }
}

/// A call and its failure, for those who tell of it.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "tracing"), allow(dead_code))]
pub(crate) struct Told<'a> {
    pub(crate) name: Name,
    #[cfg(feature = "tracing")]
    pub(crate) error: Option<&'a dyn Display>,
    result: PhantomData<&'a ()>,
}
