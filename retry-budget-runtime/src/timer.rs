//! Where an async loop gets its time from.

use crate::Time;
use std::future::Future;
use std::time::Duration;

/// A clock and a sleep that belong together, for executors other than tokio: `timer = MyTimer`.
///
/// A sleep alone wouldn't do: deadlines and windows need its clock too.
///
/// ```
/// use retry_budget_runtime::{Time, Timer};
/// use std::time::Duration;
///
/// /// Blocks the thread: for a test without an executor.
/// struct Blocking;
///
/// impl Timer for Blocking {
///     type Sleep = std::future::Ready<()>;
///
///     fn now() -> Time {
///         Time::now()
///     }
///     fn sleep(duration: Duration) -> Self::Sleep {
///         std::thread::sleep(duration);
///         std::future::ready(())
///     }
/// }
/// ```
pub trait Timer {
    /// What [`sleep`](Self::sleep) returns.
    type Sleep: Future<Output = ()>;

    /// The time now.
    fn now() -> Time;

    /// A future that is ready after this long.
    fn sleep(duration: Duration) -> Self::Sleep;
}

/// Tokio's clock and timer, which can be paused in tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

impl Timer for TokioTimer {
    type Sleep = tokio::time::Sleep;

    fn now() -> Time {
        Time::now()
    }

    fn sleep(duration: Duration) -> Self::Sleep {
        tokio::time::sleep(duration)
    }
}
