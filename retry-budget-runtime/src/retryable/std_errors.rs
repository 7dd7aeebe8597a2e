//! Errors of the standard library and of tokio.

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
/// | any other: `NotFound`, `PermissionDenied`, `InvalidData`, `OutOfMemory`, `Other`, … | never |
impl Retryable for io::Error {
    fn verdict(&self) -> Verdict {
        match self.kind() {
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

    fn event_text(&self) -> Option<&dyn Display> {
        Some(self)
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
}
