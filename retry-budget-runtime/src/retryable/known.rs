//! The errors that this build knows, found in an error of a type that says nothing: in a `Box<dyn Error>`, for example.

use crate::{Elapsed, Exhausted, Retryable, Stop, Verdict};
use std::error::Error;
use std::io;

/// What the first known error says in this error or in its chain of sources; nothing when none is known.
///
/// A call that was given up stays given up, whatever it failed with.
#[allow(dead_code)] // by the features that look into chains
pub(crate) fn verdict_in_chain(error: &(dyn Error + 'static)) -> Option<Verdict> {
    std::iter::successors(Some(error), |&error| error.source()).find_map(verdict_of)
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
    // A line or two for each integration, under its feature.
    #[cfg(feature = "tonic-0_14")]
    if let Some(verdict) = says::<tonic::Status>(error).or_else(|| says::<tonic::transport::Error>(error)) {
        return Some(verdict);
    }
    #[cfg(feature = "redis-1")]
    if let Some(verdict) = says::<redis::RedisError>(error) {
        return Some(verdict);
    }
    #[cfg(feature = "sqlx-0_8")]
    if let Some(verdict) = says::<sqlx_0_8::Error>(error) {
        return Some(verdict);
    }
    #[cfg(feature = "sqlx-0_9")]
    if let Some(verdict) = says::<sqlx_0_9::Error>(error) {
        return Some(verdict);
    }
    None.or_else(|| says::<io::Error>(error))
        .or_else(|| says::<Elapsed>(error))
        .or_else(|| says::<tokio::time::error::Elapsed>(error))
}
