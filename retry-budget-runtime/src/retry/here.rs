//! Which call this is, and how its error shows: constants, at which only the cold path looks. Without a feature that tells
//! of calls there is nothing in them.

use super::call::Attempted;
use crate::retryable::derived::Judged;
use std::fmt::Display;
use std::marker::PhantomData;

/// What a call is called: the path of its function, where that is known.
#[derive(Clone, Copy, Debug)]
pub struct Name(#[cfg(feature = "tracing")] &'static str);

impl Name {
    /// Not known.
    pub const UNKNOWN: Self = Self::new("");

    /// This name.
    pub const fn new(name: &'static str) -> Self {
        #[cfg(feature = "tracing")]
        return Self(name);
        #[cfg(not(feature = "tracing"))]
        {
            let _ = name;
            Self()
        }
    }

    /// The name, empty where it isn't known.
    #[cfg(feature = "tracing")]
    pub(crate) const fn get(self) -> &'static str {
        self.0
    }
}

/// The error of a result as something to display, where it can be.
pub type Shown<R> = fn(&R) -> Option<&dyn Display>;

/// A place in the code at which calls with this result are made.
#[derive(Debug)]
pub struct Here<R> {
    pub(crate) name: Name,
    #[cfg(feature = "tracing")]
    shown: Shown<R>,
    result: PhantomData<fn(&R)>,
}

impl<R> Here<R> {
    /// Calls of this name, whose error shows like this.
    #[inline]
    pub const fn new(name: Name, shown: Shown<R>) -> Self {
        #[cfg(not(feature = "tracing"))]
        let _ = shown;
        Self {
            name,
            #[cfg(feature = "tracing")]
            shown,
            result: PhantomData,
        }
    }

    /// Calls of this name, whose error can't be displayed.
    #[inline]
    pub const fn named(name: Name) -> Self {
        Self::new(name, |_| None)
    }

    /// Calls of this name, whose error says itself how it shows.
    #[inline]
    pub(crate) fn judged<Way>(name: Name) -> Self
    where
        R: Attempted<Error: Judged<Way>>,
    {
        Self::new(name, |result| result.outcome().err().and_then(Judged::event_text))
    }

    /// What there is to tell of this result.
    #[cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::unused_self))]
    pub(crate) fn told(self, result: &R) -> Told<'_> {
        Told {
            name: self.name,
            #[cfg(feature = "tracing")]
            error: (self.shown)(result),
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
