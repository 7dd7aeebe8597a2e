//! Redis: which errors of the redis crate are worth a retry.
//!
//! (Feature `redis-1`, which has the redis crate's major version in its name. Also for Valkey.)
//!
//! [`redis::RedisError`] is [`Retryable`], by its [`retry_method`](redis::RedisError::retry_method):
//!
//! | method | for example | verdict |
//! | --- | --- | --- |
//! | `Reconnect`, `RetryImmediately`, `WaitAndRetry`, … | a connection that was refused, broke or timed out; `LOADING`, `MASTERDOWN`, `TRYAGAIN`, `CLUSTERDOWN` | transient; of them a refused connection says that nothing was sent |
//! | `RefreshSlotsAndRetry` | `READONLY`, in a failover | transient, and nothing was done |
//! | `MovedRedirect`, `AskRedirect` | `MOVED` | never: a client that isn't a cluster's is told the same again |
//! | `NoRetry` | a wrong type, a script's error, `NOSCRIPT`, `OOM`, `NOPERM` | never |
//! | any, of kind `AuthenticationFailed` or `Parse` | a wrong password; an answer that isn't what was asked for, or no Redis at all | never, though the method says `Reconnect`: the next attempt would be told the same. (A connection that breaks in the middle of a value can't be told from that) |
//!
//! ```
//! # extern crate retry_budget_runtime as retry_budget;
//! use redis::RedisError;
//! use retry_budget::{RetryPolicy, TokenBudget, retry};
//!
//! static CACHE: TokenBudget = TokenBudget::builder("cache").build();
//!
//! # #[derive(Clone)] struct Connection;
//! # impl Connection { async fn get(&mut self, _: &str) -> Result<Option<u32>, RedisError> { Ok(Some(7)) } }
//! // under the attribute: `#[retry_budget(budget = CACHE)]`
//! async fn bikes(cache: Connection, station: &str) -> Result<Option<u32>, RedisError> {
//!     retry(&CACHE, &RetryPolicy::REQUEST, async |_| {
//!         let mut cache = cache.clone(); // a multiplexed connection, which is made to be cloned
//!         cache.get(station).await
//!     })
//!     .await
//! }
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # assert_eq!(runtime.block_on(bikes(Connection, "Alexanderplatz")).unwrap(), Some(7));
//! ```
//!
//! # What is special
//!
//! - **A broken connection stays broken** in a plain `MultiplexedConnection`: every later command fails at once, and retries
//!   with it. Take a `ConnectionManager`, which reconnects, or connect inside of the attempt.
//! - **Clients that retry by themselves.** A cluster client follows redirects and retries (`ClusterClientBuilder::retries`),
//!   a `ConnectionManager` tries to connect several times (`set_number_of_retries`): turn one of the two down.
//! - **`INCR` isn't idempotent.** A connection that broke may have broken after the command was done:
//!   `idempotent = false`, or a command that may be repeated (`SET`, `SETNX` with a key of the call's own, a script).

use crate::{Retryable, Verdict};
use redis::{ErrorKind, RedisError, RetryMethod};

/// See [the table](self).
impl Retryable for RedisError {
    fn verdict(&self) -> Verdict {
        if self.is_connection_refusal() {
            return Verdict::TRANSIENT.not_sent();
        }
        match (self.kind(), self.retry_method()) {
            (ErrorKind::AuthenticationFailed | ErrorKind::Parse, _)
            | (_, RetryMethod::NoRetry | RetryMethod::MovedRedirect | RetryMethod::AskRedirect) => Verdict::NEVER,
            (_, RetryMethod::RefreshSlotsAndRetry) => Verdict::TRANSIENT.not_sent(),
            _ => Verdict::TRANSIENT,
        }
    }

    fn event_text(&self) -> Option<&dyn std::fmt::Display> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use redis::ServerErrorKind;
    use std::io;

    fn verdict(error: impl Into<RedisError>) -> Verdict {
        error.into().verdict()
    }

    fn said(kind: ServerErrorKind) -> Verdict {
        verdict((ErrorKind::Server(kind), "the server said so"))
    }

    #[test]
    fn connections() {
        assert_eq!(verdict(io::Error::from(io::ErrorKind::ConnectionRefused)), Verdict::TRANSIENT.not_sent());
        for broken in [io::ErrorKind::ConnectionReset, io::ErrorKind::BrokenPipe, io::ErrorKind::TimedOut] {
            assert_eq!(verdict(io::Error::from(broken)), Verdict::TRANSIENT, "{broken:?}");
        }
        assert_eq!(verdict(io::Error::from(io::ErrorKind::PermissionDenied)), Verdict::NEVER);
    }

    #[test]
    fn answers() {
        use ServerErrorKind as Said;
        for later in [Said::BusyLoading, Said::MasterDown, Said::TryAgain, Said::ClusterDown] {
            assert_eq!(said(later), Verdict::TRANSIENT, "{later:?}");
        }
        assert_eq!(said(Said::ReadOnly), Verdict::TRANSIENT.not_sent());
        for never in [Said::ResponseError, Said::ExecAbort, Said::NoScript, Said::NoPerm, Said::Moved, Said::Ask] {
            assert_eq!(said(never), Verdict::NEVER, "{never:?}");
        }
        assert_eq!(verdict((ErrorKind::AuthenticationFailed, "wrong password")), Verdict::NEVER);
        assert_eq!(verdict((ErrorKind::UnexpectedReturnType, "no number")), Verdict::NEVER);
        assert_eq!(verdict((ErrorKind::Parse, "no Redis")), Verdict::NEVER);
    }
}
