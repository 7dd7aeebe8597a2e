//! `or_retry` and `or_retry_by`: failing answers as errors.

use super::client::builder;
use super::ours::{FailedAnswer, OrRetry, verdict};
use super::reqwest::{self, StatusCode};
use crate::SHORT;
use retry_budget::{Retryable, Verdict};
use retry_budget_integrations::partner::{Answer, Partner};
use std::error::Error;
use std::time::Duration;
use tokio::time::timeout;

async fn ask(answer: Answer) -> reqwest::Result<reqwest::Response> {
    let partner = Partner::start([answer]).await.unwrap();
    let client = builder().timeout(SHORT).build().unwrap();
    client.get(partner.url()).send().await
}

#[tokio::test]
async fn an_error_that_keeps_status_and_hint() {
    let busy = || Answer::new(429, "retry-after: 3\r\nx-request-id: 7\r\n", "slowly!");
    let three = Duration::from_secs(3);
    let error = ask(busy()).await.or_retry().unwrap_err();
    assert_eq!((error.status(), error.retry_after()), (Some(StatusCode::TOO_MANY_REQUESTS), Some(three)));
    assert_eq!(error.verdict(), Verdict::THROTTLING.after(three));
    assert_eq!(error.to_string(), "the server answered 429 Too Many Requests, and to retry after 3s");
    assert!(error.source().is_none() && error.client_error().is_none());
    let answer = error.answer().unwrap();
    assert_eq!(answer.headers()["x-request-id"], "7");
    assert!(answer.body().is_empty(), "nobody has read it");

    let response = ask(busy()).await.unwrap();
    assert_eq!(verdict(&response), Verdict::THROTTLING.after(three));
    assert_eq!(response.or_retry().unwrap_err().verdict(), Verdict::THROTTLING.after(three));

    let dont = ask(Answer::new(500, "x-should-retry: false\r\n", "")).await.or_retry().unwrap_err();
    assert_eq!(dont.verdict(), Verdict::TRANSIENT.given_up());
    assert_eq!(ask(Answer::status(404)).await.or_retry().unwrap_err().verdict(), Verdict::NEVER);
}

#[tokio::test]
async fn no_failure_no_error() {
    for status in [200, 204, 304] {
        let response = ask(Answer::status(status)).await.or_retry().unwrap();
        assert_eq!(response.status(), status);
        let judged = ask(Answer::status(status)).await.or_retry_by(|_| unreachable!()).await;
        assert_eq!(judged.unwrap().status(), status);
    }
    assert_eq!(ask(Answer::new(200, "", "7 bikes")).await.or_retry().unwrap().text().await.unwrap(), "7 bikes");
}

/// The quota of an LLM API is spent: the status says "later", the body says "pay".
fn spent_is_never(answer: &FailedAnswer) -> Verdict {
    if answer.text().contains("insufficient_quota") { Verdict::NEVER } else { answer.verdict() }
}

#[tokio::test]
async fn a_look_at_the_body() {
    let spent = Answer::new(429, "retry-after-ms: 20\r\n", r#"{"error": {"code": "insufficient_quota"}}"#);
    let error = ask(spent.clone()).await.or_retry_by(spent_is_never).await.unwrap_err();
    assert_eq!((error.verdict(), error.retry_after()), (Verdict::NEVER, None));
    assert_eq!(error.status(), Some(StatusCode::TOO_MANY_REQUESTS));
    assert_eq!(error.answer().unwrap().text(), r#"{"error": {"code": "insufficient_quota"}}"#);
    assert_eq!(error.to_string(), "the server answered 429 Too Many Requests");

    let busy = Answer::new(429, "retry-after-ms: 20\r\n", r#"{"error": {"code": "rate_limit"}}"#);
    let error = ask(busy).await.unwrap().or_retry_by(spent_is_never).await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::THROTTLING.after(Duration::from_millis(20)));

    // what is throttling although the status doesn't say so
    let error = ask(Answer::new(400, "", "ThrottlingException")).await;
    assert_eq!(error.or_retry_by(|_| Verdict::THROTTLING).await.unwrap_err().verdict(), Verdict::THROTTLING);
}

#[tokio::test]
async fn a_body_that_is_too_long_or_breaks() {
    let long = "a".repeat(65_537);
    let error = ask(Answer::new(503, "", &long)).await.or_retry_by(spent_is_never).await.unwrap_err();
    assert_eq!(error.answer().unwrap().body().len(), 65_536);

    let goes_on = format!("HTTP/1.1 503 Later\r\ncontent-length: 65537\r\n\r\n{}", "a".repeat(65_536)).into_bytes();
    let partner = Partner::start([Answer::ThenSilence(goes_on)]).await.unwrap();
    let client_without_limit = builder().build().unwrap();
    let response = client_without_limit.get(partner.url()).send().await;
    let judged = timeout(SHORT * 10, response.or_retry_by(spent_is_never)).await;
    let error = judged.expect("no more than 64 KiB are waited for").unwrap_err();
    assert_eq!(error.answer().unwrap().body().len(), 65_536);

    let cut_off = Answer::Bytes(b"HTTP/1.1 503 Later\r\ncontent-length: 10\r\n\r\nfo\xffr".to_vec());
    let error = ask(cut_off).await.or_retry_by(spent_is_never).await.unwrap_err();
    assert_eq!(error.answer().unwrap().text(), "fo\u{fffd}r");
    assert_eq!(error.verdict(), Verdict::TRANSIENT, "the status has said it");

    let never_ends = Answer::ThenSilence(b"HTTP/1.1 503 Later\r\ncontent-length: 10\r\n\r\nfour".to_vec());
    let error = ask(never_ends).await.or_retry_by(spent_is_never).await.unwrap_err();
    assert_eq!(error.answer().unwrap().text(), "four", "by the client's own time limit");
}

#[tokio::test]
async fn no_answer() {
    let error = ask(Answer::hangs_up()).await.or_retry().unwrap_err();
    assert_eq!(error.verdict(), Verdict::TRANSIENT);
    assert!(error.client_error().unwrap().is_request());
    let error = ask(Answer::hangs_up()).await.or_retry_by(spent_is_never).await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::TRANSIENT);
    assert!(error.answer().is_none());
}
