//! How the rental talks to its partner: one module for each thing that it asks, one connection pool and one budget for
//! all of them.

mod bikes;
mod error;
mod prices;
mod stations;

pub use error::PartnerError;

use reqwest::{Client, Response};
use retry_budget::{Attempt, Budget, RetryPolicy};
use std::time::Duration;

/// The header in which an attempt says which one of its call it is.
pub const ATTEMPT: &str = "x-attempt";

/// What one call may do. The delays are shorter than the usual 50 ms and 2 s, since the whole outage lasts 5 s: retries
/// of calls begun in the outage are to arrive in it.
const POLICY: RetryPolicy = RetryPolicy::builder()
    .max_attempts(3)
    .base_delay(Duration::from_millis(20))
    .max_delay(Duration::from_millis(200))
    .build();

/// The rental's side of the connection to one partner.
///
/// The budget is a field because three partners live side by side here, each under another budget. A service with one
/// partner needs no field: it names its `static` at each function.
pub struct PartnerClient {
    http: Client,
    url: String,
    budget: &'static dyn Budget,
}

impl PartnerClient {
    /// A client of the partner at this address, whose retries are limited by this budget.
    pub fn new(url: String, budget: &'static dyn Budget) -> reqwest::Result<Self> {
        // The partner is on this machine; a proxy from the environment would be in the way.
        let http = Client::builder().timeout(Duration::from_secs(5)).no_proxy().build()?;
        Ok(Self { http, url, budget })
    }

    /// The budget that all its calls share.
    pub fn budget(&self) -> &'static dyn Budget {
        self.budget
    }

    /// One attempt. It doesn't retry: the functions that call it do.
    async fn get(&self, path: &str, attempt: Attempt) -> reqwest::Result<Response> {
        let url = format!("{}{path}", self.url);
        self.http.get(url).header(ATTEMPT, attempt.number()).send().await?.error_for_status()
    }
}
