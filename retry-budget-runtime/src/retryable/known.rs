//! The errors that this build knows, found in an error of a type that says nothing: in a `Box<dyn Error>`, for example.

use crate::{Elapsed, Retryable, Verdict};
use std::cell::Cell;
use std::error::Error;
use std::fmt::{self, Write as _};
use std::io;

/// A chain that is longer than this goes round in circles.
pub(crate) const LONGEST: usize = 100;

/// What an error that says nothing of retries itself has inside: the verdict of the first error in its chain of sources that
/// this build knows, or that is an `E`. Nothing when there is none.
///
/// For `classify`, so that an error of your own is asked beside what is known already:
///
/// ```
/// # extern crate retry_budget_runtime as retry_budget;
/// # mod retry_budget { pub use retry_budget_macros::*; pub use retry_budget_runtime::*; }
/// use retry_budget::{Retryable, TokenBudget, find_verdict, retry_budget};
/// use std::error::Error;
///
/// static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
///
/// #[derive(Debug, thiserror::Error, Retryable)]
/// #[error("the partner has too much to do")]
/// #[retry(throttling)]
/// struct Busy;
///
/// #[retry_budget(budget = PARTNER, classify = |error| find_verdict::<Busy>(&**error))] // anyhow's and eyre's in the same way
/// async fn bikes(station: u32) -> Result<u32, Box<dyn Error + Send + Sync>> {
///     let text = std::fs::read_to_string("/dev/null")?;
///     if station == 0 { Err(Busy)? }
///     Ok(text.len() as u32)
/// }
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # assert_eq!(runtime.block_on(bikes(1)).unwrap(), 0);
/// ```
///
/// A call that was given up stays given up, whatever it failed with: an error that shows a [`Stop`](crate::Stop) is never
/// worth a retry.
pub fn find_verdict<E: Error + Retryable + 'static>(error: &(dyn Error + 'static)) -> Option<Verdict> {
    find(error, says::<E>)
}

/// The same without an error of the user's.
pub(crate) fn verdict_in_chain(error: &(dyn Error + 'static)) -> Option<Verdict> {
    find(error, |_| None)
}

fn find(error: &(dyn Error + 'static), first: impl Fn(&(dyn Error + 'static)) -> Option<Verdict>) -> Option<Verdict> {
    let mut next = Some(error);
    for _ in 0..LONGEST {
        let error = next?;
        let given_up = || shows_a_stop(error).then_some(Verdict::NEVER);
        let verdict = first(error).or_else(|| verdict_of(error)).or_else(given_up);
        if verdict.is_some() {
            return verdict;
        }
        next = error.source();
    }
    None
}

fn says<E: Error + Retryable + 'static>(error: &(dyn Error + 'static)) -> Option<Verdict> {
    error.downcast_ref::<E>().map(Retryable::verdict)
}

fn verdict_of(error: &(dyn Error + 'static)) -> Option<Verdict> {
    // A line for each integration, under its feature.
    let known = None;
    #[cfg(feature = "http-1")]
    let known = known.or_else(|| says::<crate::http_1::StatusError>(error));
    #[cfg(feature = "reqwest-0_13")]
    let known = known.or_else(|| crate::reqwest_0_13::verdict_of_known(error));
    #[cfg(feature = "reqwest-0_12")]
    let known = known.or_else(|| crate::reqwest_0_12::verdict_of_known(error));
    #[cfg(feature = "reqwest-middleware-0_5")]
    let known = known.or_else(|| says::<reqwest_middleware::Error>(error));
    #[cfg(feature = "tonic-0_14")]
    let known = known.or_else(|| says::<tonic::Status>(error));
    #[cfg(feature = "tonic-0_14")]
    let known = known.or_else(|| says::<tonic::transport::Error>(error));
    #[cfg(any(feature = "reqwest-0_13", feature = "reqwest-0_12"))]
    let known = known.or_else(|| error.downcast_ref().map(super::hyper_errors::verdict));
    #[cfg(feature = "redis-1")]
    let known = known.or_else(|| says::<redis::RedisError>(error));
    #[cfg(feature = "sqlx-0_8")]
    let known = known.or_else(|| says::<sqlx_0_8::Error>(error));
    #[cfg(feature = "sqlx-0_9")]
    let known = known.or_else(|| says::<sqlx_0_9::Error>(error));
    #[cfg(feature = "tower-0_5")]
    let known = known.or_else(|| says::<tower::timeout::error::Elapsed>(error));
    known
        .or_else(|| says::<io::Error>(error))
        .or_else(|| says::<Elapsed>(error))
        .or_else(|| says::<tokio::time::error::Elapsed>(error))
}

thread_local! {
    static STOP_SHOWN: Cell<bool> = const { Cell::new(false) };
}

/// A [`Stop`](crate::Stop) is shown.
pub(crate) fn stop_shown() {
    STOP_SHOWN.set(true);
}

/// Whether an error tells of a call that was given up. What has a `Stop` inside can't be found by its type: an `Exhausted`
/// around any error, or the private types of anyhow and eyre. But they all show it.
fn shows_a_stop(error: &(dyn Error + 'static)) -> bool {
    STOP_SHOWN.set(false);
    let _ = write!(Nowhere, "{error}");
    STOP_SHOWN.get()
}

struct Nowhere;

impl fmt::Write for Nowhere {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exhausted, Stop, StopReason};
    use std::io::ErrorKind;
    use std::sync::Arc;
    use std::time::Duration;

    /// An error of somebody else's, with a source.
    #[derive(Debug)]
    struct Around<E>(E);

    impl<E> fmt::Display for Around<E> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("around")
        }
    }

    impl<E: Error + 'static> Error for Around<E> {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    /// An error that tells of a call in its own words.
    #[derive(Debug)]
    struct Shows(Stop, io::Error);

    impl fmt::Display for Shows {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "no bikes: {}", self.0)
        }
    }

    impl Error for Shows {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.1)
        }
    }

    /// An error that is its own source.
    #[derive(Debug)]
    struct InCircle;

    impl fmt::Display for InCircle {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("in a circle")
        }
    }

    impl Error for InCircle {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self)
        }
    }

    fn reset() -> io::Error {
        ErrorKind::ConnectionReset.into()
    }

    fn stop() -> Stop {
        let since_first_failure = Duration::ZERO;
        Stop { reason: StopReason::BudgetEmpty, attempts: 1, budget: "partner".to_owned(), since_first_failure }
    }

    #[test]
    fn the_first_known_error_decides() {
        assert_eq!(verdict_in_chain(&reset()), Some(Verdict::TRANSIENT));
        assert_eq!(verdict_in_chain(&Around(Around(reset()))), Some(Verdict::TRANSIENT));
        let refused = io::Error::from(ErrorKind::ConnectionRefused);
        assert_eq!(verdict_in_chain(&Around(refused)), Some(Verdict::TRANSIENT.not_sent()));
        let denied = io::Error::new(ErrorKind::PermissionDenied, Around(reset()));
        assert_eq!(verdict_in_chain(&Around(denied)), Some(Verdict::NEVER));
        assert_eq!(verdict_in_chain(&Around(io::Error::other(Around(reset())))), Some(Verdict::TRANSIENT));
        assert_eq!(verdict_in_chain(&Around(fmt::Error)), None);
        assert_eq!(verdict_in_chain(&io::Error::other(fmt::Error)), Some(Verdict::NEVER));
    }

    #[test]
    fn what_was_given_up_stays_given_up() {
        assert_eq!(verdict_in_chain(&Around(stop())), Some(Verdict::NEVER));
        let given_up = || Exhausted::new(Around(reset()), stop());
        assert_eq!(verdict_in_chain(&given_up()), Some(Verdict::NEVER), "around an error of any type");
        assert_eq!(verdict_in_chain(&Around(Box::new(given_up()))), Some(Verdict::NEVER));
        assert_eq!(verdict_in_chain(&Around(Arc::new(given_up()))), Some(Verdict::NEVER));
        assert_eq!(verdict_in_chain(&io::Error::other(Around(given_up()))), Some(Verdict::NEVER));
        assert_eq!(verdict_in_chain(&Shows(stop(), reset())), Some(Verdict::NEVER), "whatever its source is");
        assert_eq!(verdict_in_chain(&Around(reset())), Some(Verdict::TRANSIENT), "nothing stays behind");
    }

    #[test]
    fn a_chain_that_goes_round_in_circles_ends() {
        assert_eq!(verdict_in_chain(&InCircle), None);
    }
}
