//! A request tells which attempt it is.

use crate::Attempt;
use tonic::Request;
use tonic::metadata::MetadataValue;

/// A request that tells its server how many attempts were made before.
pub trait Attempted {
    /// Sets `grpc-previous-rpc-attempts` from the second attempt on; a first attempt says nothing.
    ///
    /// Source: gRPC proposal A6, "Exposed Retry Metadata".
    ///
    /// ```
    /// # extern crate retry_budget_runtime as retry_budget;
    /// use retry_budget::tonic_0_14::Attempted;
    /// use retry_budget::{Attempt, Decision, NEVER, Run, RetryPolicy, Time, UNLIMITED, Verdict};
    /// use tonic::Request;
    ///
    /// let mut run = Run::begin(&UNLIMITED, Time::ZERO);
    /// let first = Request::new(()).attempted(run.attempt());
    /// assert!(first.metadata().is_empty());
    ///
    /// run.failed(&RetryPolicy::REQUEST, Verdict::TRANSIENT, Time::ZERO, 0);
    /// let second = Request::new(()).attempted(run.attempt());
    /// assert_eq!(second.metadata().get("grpc-previous-rpc-attempts").unwrap(), "1");
    /// # run.succeeded();
    /// ```
    #[must_use]
    fn attempted(self, attempt: Attempt) -> Self;
}

impl<T> Attempted for Request<T> {
    fn attempted(mut self, attempt: Attempt) -> Self {
        if attempt.is_retry() {
            let before = MetadataValue::from(attempt.number() - 1);
            self.metadata_mut().insert("grpc-previous-rpc-attempts", before);
        }
        self
    }
}
