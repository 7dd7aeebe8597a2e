//! From a status to a verdict.

use crate::http_1::heed;
use crate::{Elapsed, Retryable, Verdict};
use std::error::Error;
use std::sync::Arc;
use tonic::{Code, ConnectError, Status};

/// See [the table](crate::tonic_0_14).
impl Retryable for Status {
    fn verdict(&self) -> Verdict {
        verdict_also(self, &[])
    }

    fn event_text(&self) -> Option<&dyn std::fmt::Display> {
        Some(self)
    }
}

/// The verdict of a status, with more codes that are transient here: for a method of which you know that it is safe to
/// repeat.
///
/// ```
/// # extern crate retry_budget_runtime as retry_budget;
/// use retry_budget::tonic_0_14::verdict_also;
/// use retry_budget::{Retryable, Verdict};
/// use tonic::{Code, Status};
///
/// // in the attribute: `classify = |status| verdict_also(status, &[Code::Aborted])`
/// let status = Status::aborted("lost the race for the row");
/// assert_eq!(status.verdict(), Verdict::NEVER);
/// assert_eq!(verdict_also(&status, &[Code::Aborted]), Verdict::TRANSIENT);
/// ```
pub fn verdict_also(status: &Status, transient: &[Code]) -> Verdict {
    let verdict = match status.code() {
        Code::ResourceExhausted => Verdict::THROTTLING,
        Code::Unavailable => Verdict::TRANSIENT,
        Code::Unknown | Code::Cancelled if comes_from_transport(status) => Verdict::TRANSIENT,
        code if transient.contains(&code) => Verdict::TRANSIENT,
        _ => match sources(status).find_map(|error| error.downcast_ref::<Elapsed>()) {
            Some(elapsed) => elapsed.verdict(),
            None => return Verdict::NEVER,
        },
    };
    let verdict = if finds::<ConnectError>(status) { verdict.not_sent() } else { verdict };
    heed(verdict, status.metadata().as_ref())
}

/// No connection, or a broken one, is transient; a wrong address or certificate never.
impl Retryable for tonic::transport::Error {
    fn verdict(&self) -> Verdict {
        if finds::<ConnectError>(self) { Verdict::TRANSIENT.not_sent() } else { finds::<hyper::Error>(self).into() }
    }

    fn event_text(&self) -> Option<&dyn std::fmt::Display> {
        Some(self)
    }
}

/// `DEADLINE_EXCEEDED`, with the [`Elapsed`] as its source.
impl From<Elapsed> for Status {
    fn from(elapsed: Elapsed) -> Self {
        let mut status = Self::deadline_exceeded(elapsed.to_string());
        status.set_source(Arc::new(elapsed));
        status
    }
}

fn comes_from_transport(status: &Status) -> bool {
    finds::<tonic::transport::Error>(status) || finds::<hyper::Error>(status)
}

fn finds<E: Error + 'static>(error: &(dyn Error + 'static)) -> bool {
    sources(error).any(<dyn Error>::is::<E>)
}

fn sources<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(error.source(), |&error| error.source())
}
