//! Errors of the standard library and of tokio.

use super::known::verdict_in_chain;
use crate::{Retryable, Verdict};
use std::convert::Infallible;
use std::fmt::Display;
use std::io::{self, ErrorKind};

/// A connection that couldn't be made, broke, or timed out is transient; everything else never is.
///
/// | kind | verdict |
/// | --- | --- |
/// | `ConnectionRefused` | transient, and nothing was sent |
/// | `ConnectionReset`, `ConnectionAborted`, `BrokenPipe`, `NotConnected`, `UnexpectedEof` | transient |
/// | `HostUnreachable`, `NetworkUnreachable`, `NetworkDown` | transient |
/// | `TimedOut`, `WouldBlock`, `Interrupted`, `ResourceBusy` | transient |
/// | any other: `NotFound`, `PermissionDenied`, `InvalidData`, `OutOfMemory`, … | never |
///
/// Where there is an error inside that this build knows, as in `io::Error::other(inner)`, that one decides, unless the
/// kind says never already; `Other` says nothing.
impl Retryable for io::Error {
    fn verdict(&self) -> Verdict {
        let by_kind = by_kind(self.kind());
        if by_kind == Verdict::NEVER && self.kind() != ErrorKind::Other {
            return by_kind;
        }
        let inside = self.get_ref().and_then(|inner| verdict_in_chain(inner));
        inside.unwrap_or(by_kind)
    }

    fn event_text(&self) -> Option<&dyn Display> {
        Some(self)
    }
}

fn by_kind(kind: ErrorKind) -> Verdict {
    match kind {
        ErrorKind::ConnectionRefused => Verdict::TRANSIENT.not_sent(),
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::NotConnected
        | ErrorKind::UnexpectedEof
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::NetworkDown
        | ErrorKind::TimedOut
        | ErrorKind::WouldBlock
        | ErrorKind::Interrupted
        | ErrorKind::ResourceBusy => Verdict::TRANSIENT,
        _ => Verdict::NEVER,
    }
}

impl Retryable for Infallible {
    fn verdict(&self) -> Verdict {
        match *self {}
    }
}

/// A timeout of `tokio::time::timeout` is transient.
impl Retryable for tokio::time::error::Elapsed {
    fn verdict(&self) -> Verdict {
        Verdict::TRANSIENT
    }

    fn event_text(&self) -> Option<&dyn Display> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_errors_by_kind() {
        let verdict = |kind: ErrorKind| io::Error::from(kind).verdict();
        assert_eq!(verdict(ErrorKind::ConnectionRefused), Verdict::TRANSIENT.not_sent());
        for kind in [
            ErrorKind::ConnectionReset,
            ErrorKind::ConnectionAborted,
            ErrorKind::BrokenPipe,
            ErrorKind::NotConnected,
            ErrorKind::UnexpectedEof,
            ErrorKind::HostUnreachable,
            ErrorKind::NetworkUnreachable,
            ErrorKind::NetworkDown,
            ErrorKind::TimedOut,
            ErrorKind::WouldBlock,
            ErrorKind::Interrupted,
            ErrorKind::ResourceBusy,
        ] {
            assert_eq!(verdict(kind), Verdict::TRANSIENT, "{kind:?}");
        }
        for kind in [
            ErrorKind::NotFound,
            ErrorKind::PermissionDenied,
            ErrorKind::InvalidData,
            ErrorKind::InvalidInput,
            ErrorKind::AlreadyExists,
            ErrorKind::AddrInUse,
            ErrorKind::OutOfMemory,
            ErrorKind::Unsupported,
            ErrorKind::Other,
        ] {
            assert_eq!(verdict(kind), Verdict::NEVER, "{kind:?}");
        }
        assert_eq!(io::Error::other("anything").verdict(), Verdict::NEVER);
        assert_eq!(io::Error::from_raw_os_error(104).verdict(), Verdict::TRANSIENT, "ECONNRESET on Linux");
    }
    #[test]
    fn an_error_inside_of_an_io_error_decides_where_the_kind_leaves_it_open() {
        let reset = || io::Error::from(ErrorKind::ConnectionReset);
        assert_eq!(io::Error::other(reset()).verdict(), Verdict::TRANSIENT);
        assert_eq!(io::Error::other(io::Error::other(reset())).verdict(), Verdict::TRANSIENT);
        assert_eq!(io::Error::new(ErrorKind::InvalidData, reset()).verdict(), Verdict::NEVER, "its kind has decided");
        assert_eq!(io::Error::new(ErrorKind::TimedOut, "unknown").verdict(), Verdict::TRANSIENT);
        let elapsed =
            |limit| crate::Elapsed { limit, attempt: 1, after: std::time::Duration::ZERO, error_before: None };
        let verdict = |limit| io::Error::from(elapsed(limit)).verdict();
        assert_eq!(verdict(crate::Limit::AttemptTimeout), Verdict::TRANSIENT);
        assert_eq!(verdict(crate::Limit::Deadline), Verdict::NEVER, "the whole call has had its time");
    }
}
