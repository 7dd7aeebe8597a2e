//! A layer for servers: when retries don't help, their callers hear of it.

mod answer;
mod future;
mod layer;
mod load;

pub use future::PushbackFuture;
pub use layer::{PushbackLayer, PushbackLayerBuilder, PushbackService};

/// Among the extensions of an answer: its caller is told not to retry it, if it is a failing one. The handler says so by
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DontRetry;

/// Among the extensions of a request: which attempt it is, by its caller's word. 1 from a caller that isn't trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerAttempt(pub u32);

/// The requests that a [`PushbackLayer`] has seen in its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestCounts {
    /// All of them.
    pub all: u64,
    /// Those that were retries.
    pub retries: u64,
}
