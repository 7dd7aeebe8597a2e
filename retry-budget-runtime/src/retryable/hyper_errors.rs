//! Errors of hyper 1, which are at the bottom of its clients' errors.

use super::known::verdict_in_chain;
use crate::Verdict;
use std::error::Error;

/// A connection that broke or closed is transient; an answer that is no HTTP, and what is the caller's own doing, never.
///
/// Not even "canceled" says for sure that nothing was sent.
pub(crate) fn verdict(error: &hyper::Error) -> Verdict {
    if error.is_parse() || error.is_user() {
        return Verdict::NEVER;
    }
    error.source().and_then(verdict_in_chain).unwrap_or(Verdict::TRANSIENT)
}
