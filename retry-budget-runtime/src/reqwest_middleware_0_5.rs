//! A middleware that retries, for clients of `reqwest-middleware` 0.5, which is made for reqwest 0.13.
//!
//! (Feature `reqwest-middleware-0_5`, which brings `reqwest-0_13`.)
//!
//! ```
//! # extern crate retry_budget_runtime as retry_budget;
//! # extern crate reqwest_0_13 as reqwest;
//! use retry_budget::reqwest_middleware_0_5::RetryMiddleware;
//! use retry_budget::{RetryPolicy, TokenBudget};
//! use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
//! use std::time::Duration;
//!
//! pub static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
//!
//! fn client() -> reqwest::Result<ClientWithMiddleware> {
//!     let client = reqwest::Client::builder().timeout(Duration::from_secs(1)).build()?; // for each attempt
//!     Ok(ClientBuilder::new(client).with(RetryMiddleware::new(&PARTNER, RetryPolicy::REQUEST)).build())
//! }
//! ```
//!
//! What is worth a retry is said at [`reqwest_0_13`](crate::reqwest_0_13). Beyond that:
//!
//! - **Only what may be processed twice is retried**: GET, HEAD, OPTIONS, TRACE, PUT and DELETE (RFC 9110), any other only
//!   with an `idempotency-key` header. What may not is retried only where it was certainly not sent.
//!   [`RetryMiddleware::idempotent_if`] says otherwise.
//! - A request whose body can't be cloned (a stream) is sent once. A loop around the client, which makes the request anew,
//!   may retry it.
//! - From the second attempt on a request tells which it is: [`AttemptHeaders`](crate::http_1::AttemptHeaders).
//! - A body is read after the client has given the response out. A middleware can't see it break off; an annotated function
//!   around both can.
//! - When a call stops, the caller gets the last answer or error as it is. An answer has the [`Stop`](crate::Stop) among its
//!   extensions: `response.extensions().get::<Stop>()`. A retry loop around this one in the same task doesn't try again.
//! - What is further inside (middleware added later) runs once for each attempt, what is further outside once a call.
//!
//! [`OrRetry`](crate::reqwest_0_13::OrRetry) works on what such a client's `send` gives, too.

mod errors;
mod middleware;

pub use middleware::RetryMiddleware;
