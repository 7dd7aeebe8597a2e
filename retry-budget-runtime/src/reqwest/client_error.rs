//! Which of reqwest's own errors are worth a retry.

use super::reqwest;
use crate::retryable::{hyper_errors, known};
use crate::{Retryable, Verdict};
use std::error::Error;
use std::io::{self, ErrorKind};

/// | failure | verdict |
/// | --- | --- |
/// | could not connect: refused, unreachable, no such name, out of time | transient, and nothing was sent |
/// | out of time later on | transient |
/// | the connection broke or was closed before the end of the answer | transient |
/// | TLS: a certificate that isn't trusted, a server that doesn't speak it | never |
/// | an answer that is no HTTP, or whose body can't be decoded | never |
/// | a request that can't be built, or a redirect that isn't followed | never |
/// | a status (`error_for_status`) | by the status alone: the hint is gone, so use `or_retry` |
impl Retryable for reqwest::Error {
    fn verdict(&self) -> Verdict {
        if let Some(status) = self.status() {
            status.verdict()
        } else if self.is_connect() {
            could_not_connect(self)
        } else if !(self.is_request() || self.is_body() || self.is_decode()) {
            Verdict::NEVER
        } else if self.is_timeout() {
            Verdict::TRANSIENT
        } else {
            // A body that is cut off comes as "can't be decoded" too: what is further down tells them apart.
            self.source().and_then(known::verdict_in_chain).unwrap_or(Verdict::NEVER)
        }
    }
}

/// Nothing was sent. It is worth a retry unless it is known to be in vain.
fn could_not_connect(error: &reqwest::Error) -> Verdict {
    let mut sources = std::iter::successors(error.source(), |error| (*error).source()).take(known::LONGEST);
    if error.is_timeout() || sources.find_map(is_worth_it) == Some(true) {
        Verdict::TRANSIENT.not_sent()
    } else {
        Verdict::NEVER
    }
}

/// What this error says about a connection that could not be made.
fn is_worth_it(error: &(dyn Error + 'static)) -> Option<bool> {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        // Kinds that stand for TLS, and for what this machine forbids. Others are often without a name of their own, as
        // where a name can't be resolved.
        let in_vain = matches!(
            innermost(error).kind(),
            ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::PermissionDenied | ErrorKind::Unsupported
        );
        return Some(!in_vain);
    }
    if let Some(error) = error.downcast_ref::<hyper::Error>() {
        return Some(hyper_errors::verdict(error).kind().is_some());
    }
    // What has no public type here. Certificates that aren't trusted have none either, so what isn't listed is in vain.
    WORTH_IT.contains(&error.to_string().as_str()).then_some(true)
}

/// The texts of errors without a public type.
const WORTH_IT: [&str; 4] = [
    // of hyper and reqwest, around the error of a resolver other than the system's
    "dns error",
    "error resolving DNS",
    // of hyper: a proxy answers neither 200 nor 407
    "tunnel error: unsuccessful",
    // of OpenSSL: the server hung up before they had agreed on anything
    "unexpected EOF",
];

/// The I/O error that others may have been put around.
fn innermost(mut error: &io::Error) -> &io::Error {
    while let Some(inner) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
        error = inner;
    }
    error
}
