//! Annotated functions that call with reqwest.

use super::client::builder;
use super::ours::{HttpError, OrRetry, verdict};
use super::reqwest::{self, Client, Response, StatusCode};
use crate::{AT_ONCE, SHORT};
use retry_budget::{Elapsed, Exhausted, Retryable, StopReason, TokenBudget, UNLIMITED, Verdict, retry_budget};
use retry_budget_integrations::partner::{Answer, Partner, nobody};
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug, thiserror::Error, Retryable)]
enum PartnerError {
    #[error(transparent)]
    #[retry(transparent)]
    Http(#[from] HttpError),
    #[error("out of time: {0}")]
    #[retry(transient)]
    Elapsed(#[from] Elapsed),
    #[error("gave up: {0}")]
    #[retry(exhausted)]
    GaveUp(#[from] Box<Exhausted<Self>>),
}

/// A client and its partner, whom every function here asks.
struct Partnership {
    client: Client,
    partner: Partner,
}

impl Partnership {
    async fn with<const N: usize>(script: [Answer; N]) -> Self {
        Self { client: builder().build().unwrap(), partner: Partner::start(script).await.unwrap() }
    }

    fn requests(&self) -> usize {
        self.partner.requests().len()
    }

    #[retry_budget(budget = UNLIMITED, policy = AT_ONCE, attempt_timeout = SHORT, deadline = "3s")]
    async fn bikes(&self) -> Result<serde_json::Value, PartnerError> {
        let response = self.client.get(self.partner.url()).send().await.or_retry()?;
        Ok(response.json().await.map_err(HttpError::from)?)
    }

    /// The client's error type is enough where no limit cuts anything off.
    #[retry_budget(budget = UNLIMITED, policy = AT_ONCE, classify_ok = verdict)]
    async fn any_answer(&self) -> reqwest::Result<Response> {
        self.client.get(self.partner.url()).timeout(SHORT).send().await
    }

    #[retry_budget(budget = SMALL, policy = AT_ONCE)]
    async fn with_a_small_budget(&self) -> Result<Response, HttpError> {
        self.client.get(self.partner.url()).send().await.or_retry()
    }
}

/// Straight to `HttpError`, and not to be sent twice.
#[retry_budget(budget = UNLIMITED, policy = AT_ONCE, idempotent = false, attempt_timeout = SHORT)]
async fn charge(client: &Client, url: &str, attempts: &AtomicU32) -> Result<Response, HttpError> {
    attempts.fetch_add(1, Ordering::Relaxed);
    client.post(url).body("9 €").send().await.or_retry()
}

static SMALL: TokenBudget = TokenBudget::builder("small").capacity(14).build();

#[tokio::test]
async fn a_partner_that_fails_in_every_way() {
    let seven = Answer::new(200, "", "7");
    for failing in [
        Answer::status(502),
        Answer::new(503, "retry-after-ms: 5\r\n", ""),
        Answer::hangs_up(),
        Answer::cut_off(),
        Answer::never(),
        Answer::ThenSilence(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfour".to_vec()),
    ] {
        let partner = Partnership::with([failing.clone(), failing.clone(), seven.clone()]).await;
        assert_eq!(partner.bikes().await.unwrap(), 7, "{failing:?}");
        assert_eq!(partner.requests(), 3, "{failing:?}");
    }
    for never in [Answer::status(404), Answer::garbage(), Answer::new(200, "", "{")] {
        let partner = Partnership::with([never.clone(), seven.clone()]).await;
        assert!(matches!(partner.bikes().await, Err(PartnerError::Http(_))), "{never:?}");
        assert_eq!(partner.requests(), 1, "{never:?}");
    }
}

#[tokio::test]
async fn what_the_caller_gets() {
    let gave_up = async |answer| {
        let partner = Partnership::with([answer]).await;
        match partner.bikes().await {
            Err(PartnerError::GaveUp(gave_up)) => (gave_up, partner.requests()),
            other => panic!("{other:?}"),
        }
    };
    let (error, requests) = gave_up(Answer::status(502)).await;
    assert_eq!((error.stop().reason, requests), (StopReason::AttemptsUsedUp, 3));
    assert!(matches!(error.error(), PartnerError::Http(it) if it.status() == Some(StatusCode::BAD_GATEWAY)));

    let (error, requests) = gave_up(Answer::new(503, "retry-after: 21\r\n", "")).await;
    assert_eq!((error.stop().reason, requests), (StopReason::HintTooFar, 1));
    let (error, requests) = gave_up(Answer::new(503, "retry-after: 3\r\n", "")).await;
    assert_eq!((error.stop().reason, requests), (StopReason::Deadline, 1));

    let partner = Partnership::with([Answer::new(503, "x-should-retry: false\r\n", "")]).await;
    assert!(matches!(partner.bikes().await, Err(PartnerError::Http(_))));
    assert_eq!(partner.requests(), 1, "told not to");
}

#[tokio::test]
async fn an_answer_inside_of_ok() {
    let partner = Partnership::with([Answer::status(503), Answer::never(), Answer::status(200)]).await;
    assert_eq!(partner.any_answer().await.unwrap().status(), 200);
    assert_eq!(partner.requests(), 3);
    let partner = Partnership::with([Answer::new(503, "x-n: 1\r\n", "later")]).await;
    let response = partner.any_answer().await.unwrap();
    assert_eq!((response.status(), partner.requests()), (StatusCode::SERVICE_UNAVAILABLE, 3));
    assert_eq!(response.text().await.unwrap(), "later", "the answer as it is");
}

#[tokio::test]
async fn what_may_have_been_processed_is_not_sent_again() {
    for answer in [Answer::status(503), Answer::hangs_up(), Answer::never(), Answer::status(429)] {
        let partner = Partnership::with([answer.clone()]).await;
        let error = charge(&partner.client, &partner.partner.url(), &0.into()).await.unwrap_err();
        assert!(error.verdict().kind().is_some(), "{error:?}");
        assert_eq!(partner.requests(), 1, "{answer:?}");
        assert!(partner.partner.requests()[0].ends_with("9 €"), "{answer:?}");
    }
    let attempts = 0.into();
    let url = format!("http://{}", nobody().await.unwrap());
    let error = charge(&builder().build().unwrap(), &url, &attempts).await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::TRANSIENT.not_sent());
    assert_eq!(attempts.into_inner(), 3, "nobody has got it");
}

#[tokio::test]
async fn all_calls_share_the_budget() {
    let partner = Partnership::with([Answer::status(500)]).await;
    for _ in 0..5 {
        assert_eq!(partner.with_a_small_budget().await.unwrap_err().status(), Some(StatusCode::INTERNAL_SERVER_ERROR));
    }
    assert_eq!(partner.requests(), 6, "five calls, and the one retry that the budget has");
}
