//! The errors that this build knows, found in an error of a type that says nothing: in a `Box<dyn Error>`, for example.

use crate::{Elapsed, Exhausted, Retryable, Stop, Verdict};
use std::error::Error;
use std::io;

/// What the first known error says in this error or in its chain of sources; nothing when none is known.
///
/// A call that was given up stays given up, whatever it failed with.
#[allow(dead_code)] // by the features that look into chains
pub(crate) fn verdict_in_chain(error: &(dyn Error + 'static)) -> Option<Verdict> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(verdict) = verdict_of(error) {
            return Some(verdict);
        }
        next = error.source();
    }
    None
}

fn verdict_of(error: &(dyn Error + 'static)) -> Option<Verdict> {
    /// The type itself, and a call that was given up because of it.
    fn says<E: Error + Retryable + 'static>(error: &(dyn Error + 'static)) -> Option<Verdict> {
        error
            .downcast_ref::<E>()
            .map(Retryable::verdict)
            .or_else(|| error.downcast_ref::<Exhausted<E>>().map(Retryable::verdict))
    }
    if error.is::<Stop>() {
        return Some(Verdict::NEVER);
    }
    let known = None
        .or_else(|| says::<io::Error>(error))
        .or_else(|| says::<Elapsed>(error))
        .or_else(|| says::<tokio::time::error::Elapsed>(error));
    // A line for each integration, under its feature.
    #[cfg(feature = "tower-0_5")]
    let known = known.or_else(|| says::<tower::timeout::error::Elapsed>(error));
    known
}
