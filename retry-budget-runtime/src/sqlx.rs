//! What an `sqlx::Error` says, for each of its majors.

use crate::Verdict;

/// `Retryable` for one major of sqlx.
macro_rules! retryable {
    ($sqlx:ident) => {
        use crate::{Retryable, Verdict};
        use $sqlx::Error;

        /// See [the table](self).
        impl Retryable for Error {
            fn verdict(&self) -> Verdict {
                match self {
                    Error::Io(error) => error.verdict(),
                    Error::Database(error) => {
                        error.code().map_or(Verdict::NEVER, |code| $crate::sqlx::verdict_of_code(&code))
                    }
                    _ => Verdict::NEVER,
                }
            }

            fn event_text(&self) -> Option<&dyn std::fmt::Display> {
                Some(self)
            }
        }

        #[cfg(test)]
        mod tests {
            use super::*;
            use std::borrow::Cow;
            use std::io;
            use $sqlx::error::{DatabaseError, ErrorKind};

            #[derive(Debug)]
            struct Said(Option<&'static str>);

            impl std::fmt::Display for Said {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("the database said so")
                }
            }

            impl std::error::Error for Said {}

            impl DatabaseError for Said {
                fn message(&self) -> &str {
                    "the database said so"
                }

                fn code(&self) -> Option<Cow<'_, str>> {
                    self.0.map(Cow::Borrowed)
                }

                fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
                    self
                }

                fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
                    self
                }

                fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
                    self
                }

                fn kind(&self) -> ErrorKind {
                    ErrorKind::Other
                }
            }

            fn said(code: impl Into<Option<&'static str>>) -> Verdict {
                Error::Database(Box::new(Said(code.into()))).verdict()
            }

            #[test]
            fn by_code() {
                for rolled_back in ["40001", "40P01"] {
                    assert_eq!(said(rolled_back), Verdict::TRANSIENT.not_sent(), "{rolled_back}");
                }
                for lost in ["08000", "08003", "08006", "08S01", "57P01", "57P02"] {
                    assert_eq!(said(lost), Verdict::TRANSIENT, "{lost}");
                }
                for not_let_in in ["08001", "08004", "57P03", "5", "261", "517"] {
                    assert_eq!(said(not_let_in), Verdict::TRANSIENT.not_sent(), "{not_let_in}");
                }
                assert_eq!(said("53300"), Verdict::THROTTLING.not_sent());
                for never in ["23505", "42601", "42P01", "25P02", "HY000", "1", "6", "", "5x", "4000"] {
                    assert_eq!(said(never), Verdict::NEVER, "{never}");
                }
                assert_eq!(said(None), Verdict::NEVER);
            }

            #[test]
            fn without_an_answer() {
                let io = |kind: io::ErrorKind| Error::from(io::Error::from(kind)).verdict();
                assert_eq!(io(io::ErrorKind::ConnectionRefused), Verdict::TRANSIENT.not_sent());
                assert_eq!(io(io::ErrorKind::ConnectionReset), Verdict::TRANSIENT);
                assert_eq!(io(io::ErrorKind::PermissionDenied), Verdict::NEVER);
                for never in [Error::PoolTimedOut, Error::PoolClosed, Error::RowNotFound, Error::WorkerCrashed] {
                    assert_eq!(never.verdict(), Verdict::NEVER, "{never:?}");
                }
            }
        }
    };
}
pub(crate) use retryable;

/// By the SQLSTATE of Postgres and MySQL, or the result code of SQLite.
pub(crate) fn verdict_of_code(code: &str) -> Verdict {
    match code {
        // The transaction was rolled back as a whole; or no connection came about, the server is starting up, somebody else
        // holds SQLite's lock.
        "40001" | "40P01" | "08001" | "08004" | "57P03" | "5" | "261" | "517" => Verdict::TRANSIENT.not_sent(),
        "53300" => Verdict::THROTTLING.not_sent(),
        // The connection broke, or the server shuts down.
        "57P01" | "57P02" => Verdict::TRANSIENT,
        code if code.len() == 5 && code.starts_with("08") => Verdict::TRANSIENT,
        _ => Verdict::NEVER,
    }
}
