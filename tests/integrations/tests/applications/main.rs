//! The errors of applications, which say nothing of retries themselves: anyhow's, eyre's, and those in a box. Each test is
//! run for all of them.

/// Runs a generic test for each type.
macro_rules! for_each_type {
    ($test:ident) => {{
        $test::<anyhow::Error>().await;
        $test::<eyre::Report>().await;
        $test::<$crate::BoxError>().await;
        $test::<Box<dyn std::error::Error>>().await;
    }};
}

mod chains;
mod layers;
mod loops;
mod partners;

use retry_budget::reqwest_0_13::HttpError;
use retry_budget::{Elapsed, ExhaustedBox, RetryPolicy, Retryable, Stop, StopReason, TokenBudget};
use std::error::Error;
use std::fmt::{Debug, Display};
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

type BoxError = Box<dyn Error + Send + Sync>;

static PLENTY: TokenBudget = TokenBudget::builder("plenty").capacity(1_000_000).build();

/// No time between attempts.
const AT_ONCE: RetryPolicy =
    RetryPolicy::builder().base_delay(Duration::ZERO).throttling_base_delay(Duration::ZERO).build();

/// An error that nobody knows.
#[derive(Debug, thiserror::Error)]
#[error("nobody knows")]
struct Unknown;

/// An error of an application's own.
#[derive(Debug, thiserror::Error, Retryable)]
#[error("too much to do")]
#[retry(throttling)]
struct Busy;

/// What an application's functions return.
trait Application:
    Retryable
    + From<io::Error>
    + From<reqwest_0_13::Error>
    + From<HttpError>
    + From<Elapsed>
    + From<Unknown>
    + From<Busy>
    + Debug
    + Display
    + 'static
{
    /// The error outside of all others.
    fn outside(&self) -> &(dyn Error + 'static);

    /// Why the call stopped, as a user finds it.
    fn stop(&self) -> Option<&Stop>;

    /// The error that the function made, as a user finds it.
    fn original<E: Error + Send + Sync + 'static>(&self) -> Option<&E>;

    /// With something around it that is no error.
    fn within(self, text: &'static str) -> Self;

    fn chain(&self) -> Vec<String> {
        std::iter::successors(Some(self.outside()), |&error| error.source()).map(ToString::to_string).collect()
    }
}

/// For an error that finds what is inside of it by itself, and takes a text around it by this method.
macro_rules! report {
    ($error:ty, $around:ident) => {
        impl Application for $error {
            fn outside(&self) -> &(dyn Error + 'static) {
                &**self
            }

            fn stop(&self) -> Option<&Stop> {
                self.downcast_ref()
            }

            fn original<E: Error + Send + Sync + 'static>(&self) -> Option<&E> {
                self.downcast_ref()
            }

            fn within(self, text: &'static str) -> Self {
                self.$around(text)
            }
        }
    };
}

report!(anyhow::Error, context);
report!(eyre::Report, wrap_err);

macro_rules! boxed {
    ($error:ty) => {
        impl Application for Box<$error> {
            fn outside(&self) -> &(dyn Error + 'static) {
                &**self
            }

            fn stop(&self) -> Option<&Stop> {
                self.downcast_ref().map(|gave_up: &ExhaustedBox<$error>| gave_up.stop())
            }

            fn original<E: Error + Send + Sync + 'static>(&self) -> Option<&E> {
                self.downcast_ref().or_else(|| self.source()?.downcast_ref())
            }

            fn within(self, text: &'static str) -> Self {
                #[derive(Debug, thiserror::Error)]
                #[error("{text}")]
                struct Within {
                    text: &'static str,
                    source: Box<$error>,
                }
                Box::new(Within { text, source: self })
            }
        }
    };
}

boxed!(dyn Error + Send + Sync);
boxed!(dyn Error);

fn reset() -> io::Error {
    ErrorKind::ConnectionReset.into()
}

/// Counts attempts, and takes the count.
#[derive(Debug, Default)]
struct Attempts(AtomicU32);

impl Attempts {
    fn one_more(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    fn take(&self) -> u32 {
        self.0.swap(0, Relaxed)
    }
}

/// The reason for which the call stopped, and its attempts.
fn reason<E: Application>(error: &E) -> Option<(StopReason, u32)> {
    error.stop().map(|stop| (stop.reason, stop.attempts))
}
