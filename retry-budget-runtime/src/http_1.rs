//! What an HTTP answer says about a retry: its status, Retry-After, and a server's "don't". For any client.
//!
//! (Feature `http-1`; the 1 is the major version of the `http` crate, whose types are used here.)
//!
//! | status | verdict |
//! | --- | --- |
//! | 408, 425, 500, 502, 503, 504, 520 to 527, 530 | transient |
//! | 429, 529, and 503 with a hint | throttling |
//! | any other | never |
//!
//! The hint is what the server says of how long to wait: see [`retry_after`]. A failing answer with
//! `x-should-retry: false`, or with `grpc-retry-pushback-ms: -1`, is [given up](crate::Verdict::given_up): its server knows
//! that another attempt won't help, or that too many are made already. (`x-should-retry: true` changes nothing: whether
//! something is safe to repeat, and worth it, is the client's to judge.)
//!
//! Sources of the list: RFC 9110 (408, 500, 502, 503, 504), RFC 8470 (425), RFC 6585 (429), Cloudflare's documentation of
//! its own codes (520 to 527, 530), and 529, "overloaded", of several APIs.
//!
//! # A client that returns every answer as `Ok`
//!
//! Such as hyper, isahc, or ureq with `http_status_as_error(false)`. [`OrRetry::or_retry`] makes an error of a failing answer, which
//! keeps the status and the hint:
//!
//! ```
//! # extern crate retry_budget_runtime as retry_budget;
//! use http::Response;
//! use retry_budget::http_1::{OrRetry, StatusError};
//! use retry_budget::{Retryable, Verdict};
//! use std::time::Duration;
//!
//! # fn ask() -> Response<&'static str> {
//! #     Response::builder().status(429).header("retry-after", "3").body("slowly!").unwrap()
//! # }
//! fn bikes() -> Result<&'static str, StatusError> {
//!     let response: Response<&str> = ask();
//!     Ok(response.or_retry()?.into_body())
//! }
//!
//! let error = bikes().unwrap_err();
//! assert_eq!(error.to_string(), "the server answered 429 Too Many Requests, and to retry after 3s");
//! assert_eq!(error.verdict(), Verdict::THROTTLING.after(Duration::from_secs(3)));
//! ```
//!
//! A function that must keep its signature, and returns a failing answer inside of `Ok`, says
//! `classify_ok = retry_budget::http_1::verdict_of`.

mod attempt_headers;
mod hint;
#[cfg(any(feature = "tower-0_5", feature = "reqwest-middleware-0_5"))]
mod idempotent;
mod status;
mod status_error;

pub use attempt_headers::{AttemptHeaders, GRPC_PREVIOUS_RPC_ATTEMPTS, X_RETRY_ATTEMPT};
pub use hint::{GRPC_RETRY_PUSHBACK_MS, RETRY_AFTER_MS, X_SHOULD_RETRY, is_told_not_to_retry, retry_after};
#[cfg(any(feature = "tower-0_5", feature = "reqwest-middleware-0_5"))]
pub(crate) use idempotent::is_idempotent;
#[cfg(any(feature = "tonic-0_14", feature = "tower-0_5"))]
pub(crate) use status::heed;
pub use status::{verdict, verdict_at, verdict_of};
#[cfg(any(feature = "reqwest-0_13", feature = "reqwest-0_12"))]
pub(crate) use status_error::is_failure;
pub use status_error::{OrRetry, StatusError};
