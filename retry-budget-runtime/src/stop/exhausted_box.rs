//! [`Exhausted`](crate::Exhausted) for errors in a box, which are no errors to the compiler.

use super::Stop;
use std::error::Error;
use std::fmt;

/// What a `Box<dyn Error>` becomes when its call is given up: a box with this inside. It shows why the call stopped, and
/// has the original error as its [`source`](std::error::Error::source).
///
/// Whoever looks for the original finds it there, by reference, or takes this out of the box:
///
/// ```
/// use retry_budget_runtime::{ExhaustedBox, NEVER, RetryPolicy, StopReason, retry};
/// use std::error::Error;
/// use std::io::{self, ErrorKind};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let error: Box<dyn Error + Send + Sync> = retry(&NEVER, &RetryPolicy::REQUEST, async |_| {
///     Err::<(), _>(io::Error::from(ErrorKind::ConnectionReset).into())
/// })
/// .await
/// .unwrap_err();
/// assert_eq!(error.to_string(), "retry budget `NEVER` is empty (1 attempt)");
///
/// let original = error.source().and_then(|source| source.downcast_ref::<io::Error>());
/// assert_eq!(original.unwrap().kind(), ErrorKind::ConnectionReset);
///
/// match error.downcast::<ExhaustedBox>() {
///     Ok(gave_up) => {
///         assert_eq!(gave_up.stop().reason, StopReason::BudgetEmpty);
///         assert!(gave_up.into_error().is::<io::Error>());
///     }
///     Err(error) => println!("not worth a retry: {error}"),
/// }
/// # });
/// ```
///
/// A `Box<dyn Error>` without `Send` has an `ExhaustedBox<dyn Error>` inside.
#[derive(Debug)]
pub struct ExhaustedBox<E: ?Sized = dyn Error + Send + Sync> {
    stop: Stop,
    error: Box<E>,
}

impl<E: ?Sized> fmt::Display for ExhaustedBox<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stop.fmt(f)
    }
}

impl Error for ExhaustedBox<dyn Error + Send + Sync> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.error)
    }
}

impl Error for ExhaustedBox<dyn Error> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.error)
    }
}

impl<E: ?Sized> ExhaustedBox<E> {
    /// Puts the two together.
    pub const fn new(error: Box<E>, stop: Stop) -> Self {
        Self { stop, error }
    }

    /// Why the call stopped.
    pub const fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The error of the last attempt.
    pub const fn error(&self) -> &E {
        &self.error
    }

    /// The error of the last attempt.
    pub fn into_error(self) -> Box<E> {
        self.error
    }
}
