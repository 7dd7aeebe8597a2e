//! A budget for retries: annotate an async fn, and all its callers together may retry only so much.
//!
//! Three attempts each are three times the load for a partner that is already in trouble. A **retry budget** limits the
//! retries of all calls together: while few calls fail they are all retried, and when many fail the budget is soon
//! empty, the load stays near what it was, and the partner can recover. Failed calls return their own error.
//!
//! ```
//! use retry_budget::{Retryable, TokenBudget, retry_budget};
//! use std::time::Duration;
//!
//! /// One budget for everything that talks to the bike partner; it lives in one module and is used from many.
//! pub static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
//!
//! #[derive(Debug, thiserror::Error, Retryable)]
//! pub enum PartnerError {
//!     #[error("no such station")]
//!     #[retry(never)]
//!     NoSuchStation,
//!     #[error("the partner has too much to do")]
//!     #[retry(throttling, after = retry_after)]
//!     Busy { retry_after: Option<Duration> },
//!     #[error(transparent)]
//!     #[retry(transparent)]
//!     Connection(#[from] std::io::Error),
//! }
//!
//! pub struct Partner {
//!     address: std::net::SocketAddr,
//! }
//!
//! impl Partner {
//!     #[retry_budget(budget = PARTNER, max_attempts = 3)]
//!     pub async fn bikes(&self, station: u32) -> Result<u32, PartnerError> {
//!         let connection = tokio::net::TcpStream::connect(self.address).await?;
//!         // plain code: `?`, `return`, loops, borrows of `self` and of arguments
//!         # let _ = connection;
//!         if station == 0 { Err(PartnerError::NoSuchStation) } else { Ok(7) }
//!     }
//! }
//! ```
//!
//! # Before the options
//!
//! - Annotate the function whose body leaves the process, not the handler that calls it: what is retried should be as small
//!   as what can fail.
//! - Is it safe to send twice? If not, say `idempotent = false`, or make a key for all attempts with
//!   `once(key = …)`.
//! - Does the client retry already? The AWS SDKs and others do: then it is 3 × 3. Turn one of the two off.
//! - Somebody waits for a request: [`RetryPolicy::REQUEST`], the default. A loop, a queue or a batch wants
//!   `policy = RetryPolicy::BACKGROUND`, which also pauses when the budget is empty, since a worker whose denied call
//!   fails at once would call again at once.
//!
//! # Which budget
//!
//! | | it grants | take it when | it doesn't |
//! | --- | --- | --- | --- |
//! | [`TokenBudget`] | retries until a bucket is empty; successes refill it | most services: no clock, nothing written while all is well | refill without successes: below a call a second take [`RatioBudget`] |
//! | [`RatioBudget`] | a share of the requests of the last seconds, and a floor | you think in "10 % more load", or there is little traffic | come for free: every call reads a clock and counts |
//! | [`CreditBudget`] | what the calls earn: 0.1 of a retry each; a process starts with a random fraction of one | processes come and go, each with little traffic (serverless, autoscaling): a fleet of any size keeps to its 10 % | lend one process what the others don't use |
//! | [`ConcurrencyBudget`] | retries in progress, a share of the calls in progress, and a floor | you come from Envoy, or attempts last long | bound what the other side gets in a second |
//! | [`GrpcBudget`] | while more than half of a few tokens are left; failures take one, successes give a part back | you come from gRPC, or all retries are to stop at a tenth of failures | charge for retries: it counts failures |
//! | [`NEVER`], [`UNLIMITED`] | none, all | tests; comparing | |
//!
//! A budget for each host, tenant or region: `BudgetMap`, with the feature `map`.
//!
//! N processes are N budgets: each limits its own process. Where processes are many and short-lived, their full buckets
//! add up to any number of retries, and only [`CreditBudget`] bounds the sum.
//!
//! # The pieces
//!
//! - [`#[retry_budget]`](macro@retry_budget): the attribute, with all its options.
//! - [`Retryable`]: which errors are worth a retry; [`#[derive(Retryable)]`](derive@Retryable) writes it.
//! - `Box<dyn Error>`, and with their features `anyhow::Error` and `eyre::Report`, are judged by what is inside of them:
//!   [`find_verdict`] says how errors of your own are, too.
//! - [`retry!`]: the same for a block in the middle of a function; [`retry()`] for a closure, [`retry_blocking`] for what isn't
//!   async.
//! - [`Run`]: the same without a loop, for those who own theirs.
//! - [`Budget`]: a budget of your own in twenty lines. With the feature `test-util`, `test_util::check_laws` tests it.
//!
//! # Operators
//!
//! While it runs, a process can be asked about its budgets and told to change them, by an admin endpoint, a signal, or a
//! file that is read again:
//!
//! ```standalone_crate
//! use retry_budget::{BudgetSettings, Settings, TokenBudget, budgets, configure, register, set_retries};
//!
//! static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
//!
//! /// `list`, `capacity <budget> <tokens>`, `off`, `on`
//! fn admin(command: &str) -> Result<String, String> {
//!     match command.split(' ').collect::<Vec<_>>()[..] {
//!         ["list"] => Ok(budgets()
//!             .into_iter()
//!             .map(|budget| budget.snapshot)
//!             .map(|it| format!("{} {}/{}, {} denied\n", it.name, it.available, it.limit, it.denied))
//!             .collect()),
//!         ["capacity", budget, tokens] => {
//!             let tokens = tokens.parse().map_err(|error| format!("{error}"))?;
//!             let settings = BudgetSettings::default().capacity(tokens);
//!             let outcome = configure(&Settings::new().budget(budget, settings));
//!             match (&outcome.refused[..], &outcome.unknown[..]) {
//!                 ([], []) => Ok("done".to_owned()),
//!                 ([(_, error), ..], _) => Err(error.to_string()),
//!                 ([], _) => Ok("kept until there is such a budget".to_owned()),
//!             }
//!         }
//!         ["off" | "on"] => {
//!             set_retries(command == "on");
//!             Ok("done".to_owned())
//!         }
//!         _ => Err("what?".to_owned()),
//!     }
//! }
//!
//! register(&PARTNER); // or it is known from its first failure on
//! assert_eq!(admin("list").unwrap(), "partner 500/500, 0 denied\n");
//! assert_eq!(admin("capacity partner 300").unwrap(), "done");
//! assert_eq!(admin("list").unwrap(), "partner 300/300, 0 denied\n");
//! assert!(admin("capacity partner 0").unwrap_err().starts_with("capacity is 1 to 2147483648 tokens"));
//! assert_eq!(admin("off").unwrap(), "done");
//! assert!(!retry_budget::retries_are_on());
//! ```
//!
//! - [`budgets`] lists every static budget since its first failure, functions' own included.
//! - [`configure`] changes limits by name: from code, from the environment ([`Settings::from_env`]:
//!   `RETRY_BUDGET_PARTNER_CAPACITY=300`), or from a file (feature `serde`). One budget alone: its `reconfigure`, as
//!   [`TokenBudget::reconfigure`]. Limits are checked as at the start, and a bucket stays filled to the same fraction.
//! - [`set_retries`]`(false)` stops all retries at the next decision. `RETRY_BUDGET_RETRIES=off` starts a process that way.
//! - With the feature `tracing` an application's subscriber sees events of the target `retry_budget`, in the caller's span:
//!
//!   | level | when | fields |
//!   | --- | --- | --- |
//!   | DEBUG | an attempt failed and is retried | `budget`, `call`, `kind`, `attempt`, `delay`, `error` |
//!   | DEBUG | an attempt failed, a retry was wanted and none is made | `budget`, `call`, `kind`, `attempt`, `reason`, `error` |
//!   | WARN | a budget runs empty: once, however many calls it denies | `budget`, `call`, `error` |
//!   | INFO | it has recovered: it grants, was at least half full, and has denied nothing for ten seconds | `budget`, `empty_for` (first denial to last), `denied` |
//!
//!   `call` is the path of the annotated function ([`Retry::named`] for the others), `attempt` the number of the one that
//!   failed. The error shows where it can be displayed; under the functions where its [`Retryable::event_text`] says so.
//! - With the feature `metrics`, `metrics::publish()` hands counters and gauges to the recorder of the application: call it
//!   in the route that Prometheus scrapes. Its module lists them.
//! - In tests, `reset()` (feature `test-util`) puts a budget back to its start.
//!
//! # What a failed call tells
//!
//! The caller's own last error comes back, always. Why there was no further attempt is a [`Stop`]: an `on_stop` option
//! sees it; a variant marked `#[retry(exhausted)]` carries it; `retry(…).explained().await` returns it. Errors of anyhow and
//! eyre (features) have it as context, and a `Box<dyn Error>` comes back in an [`ExhaustedBox`].

pub use retry_budget_macros::Retryable;
pub use retry_budget_runtime::*;

#[doc(inline)]
pub use retry_budget_macros::{retry, retry_budget};

/// The README's examples compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
