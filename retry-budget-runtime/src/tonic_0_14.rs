//! gRPC with tonic: which statuses are worth a retry, what a server says about it, and what it is told.
//!
//! (Feature `tonic-0_14`, which has tonic's major version in its name.)
//!
//! [`tonic::Status`] is [`Retryable`](crate::Retryable):
//!
//! | code | verdict |
//! | --- | --- |
//! | `UNAVAILABLE` | transient; when no connection could be made, not sent |
//! | `RESOURCE_EXHAUSTED` | throttling |
//! | `UNKNOWN`, `CANCELLED`, whose source is an error of the transport: the connection broke | transient |
//! | `DEADLINE_EXCEEDED` that `attempt_timeout` made | transient |
//! | any other | never, unless asked: [`verdict_also`] |
//!
//! A failing answer's `grpc-retry-pushback-ms` is the server's hint, and a negative one is its "don't": the call is
//! [given up](crate::Verdict::given_up).
//!
//! Sources: gRPC proposal A6, "Client Retries" (which codes, pushback, previous attempts); AIP-194, which says to retry
//! `UNAVAILABLE` and nothing else by itself.
//!
//! ```
//! # extern crate retry_budget_runtime as retry_budget;
//! use retry_budget::tonic_0_14::Attempted;
//! use retry_budget::{RetryPolicy, TokenBudget, retry};
//! use tonic::{Request, Response, Status};
//!
//! static STATIONS: TokenBudget = TokenBudget::builder("stations").build();
//!
//! # #[derive(Clone)] struct StationsClient;
//! # impl StationsClient {
//! #     async fn bikes(&mut self, _: Request<u32>) -> Result<Response<u32>, Status> { Ok(Response::new(7)) }
//! # }
//! // under the attribute: `#[retry_budget(budget = STATIONS, attempt = attempt)]`
//! async fn bikes(client: StationsClient, station: u32) -> Result<u32, Status> {
//!     retry(&STATIONS, &RetryPolicy::REQUEST, async |attempt| {
//!         let mut client = client.clone(); // cheap: clones of a client share its channel
//!         Ok(client.bikes(Request::new(station).attempted(attempt)).await?.into_inner())
//!     })
//!     .await
//! }
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # assert_eq!(runtime.block_on(bikes(StationsClient, 1)).unwrap(), 7);
//! ```
//!
//! # What is special
//!
//! - **Streams.** A call that answers with a stream ends, for the budget, when the stream begins. What goes wrong in the
//!   stream is up to its reader, who knows where to go on.
//! - **Deadlines.** Pass on what is left of the incoming request's: `deadline = left`. tonic's own
//!   `Endpoint::timeout` gives a `CANCELLED` whose source is the transport, and that is transient, like `attempt_timeout`.
//! - **Retries in a service config.** tonic makes none of its own. A proxy between may (Envoy's `retry_on`): then switch one
//!   of the two off.

mod attempted;
mod status;

pub use attempted::Attempted;
pub use status::verdict_also;
