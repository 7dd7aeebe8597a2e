//! For stacks of tower 0.5.

mod future;
mod layer;
mod policy;
mod requests;
mod rules;

pub use future::RetryFuture;
pub use layer::{RetryLayer, RetryService};
pub use policy::{BudgetPolicy, CountsNoStart};
pub use requests::{CloneRequest, Cloned};
pub use rules::{ClassifyOk, EveryOk};

/// A request that took longer than tower's `Timeout` allows is transient.
impl crate::Retryable for tower::timeout::error::Elapsed {
    fn verdict(&self) -> crate::Verdict {
        crate::Verdict::TRANSIENT
    }
}
