//! Clients that have nothing but `http_1`, over real sockets.

use http::{Response, StatusCode};
use retry_budget::http_1::{OrRetry, StatusError, verdict_of};
use retry_budget::{Retry, RetryPolicy, Retryable, UNLIMITED, Verdict, retry_blocking, retry_budget};
use retry_budget_integrations::partner::{Answer, Partner, nobody};
use std::io;
use std::time::Duration;

/// No time between attempts, so that sockets are all there is to wait for.
const AT_ONCE: RetryPolicy =
    RetryPolicy::builder().base_delay(Duration::ZERO).throttling_base_delay(Duration::ZERO).build();

/// As a user of ureq has it: which of its own failures are worth a retry is for the user to say.
#[derive(Debug, thiserror::Error, Retryable)]
enum PartnerError {
    #[error(transparent)]
    #[retry(transparent)]
    Status(#[from] StatusError),
    #[error(transparent)]
    #[retry(with = Self::of_ureq)]
    Client(#[from] ureq::Error),
}

impl PartnerError {
    fn of_ureq(&self) -> Verdict {
        match self {
            Self::Client(ureq::Error::Io(error)) => error.verdict(),
            Self::Client(ureq::Error::Timeout(_)) => Verdict::TRANSIENT,
            _ => Verdict::NEVER,
        }
    }
}

fn ask(url: &str) -> Result<String, PartnerError> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_millis(200)))
        .build()
        .into();
    let response = agent.get(url).call()?;
    Ok(response.or_retry()?.body_mut().read_to_string()?)
}

async fn ureq_asks(script: impl IntoIterator<Item = Answer>) -> (Result<String, PartnerError>, usize) {
    let partner = Partner::start(script).await.unwrap();
    let url = partner.url();
    let result = tokio::task::spawn_blocking(move || retry_blocking(UNLIMITED, &AT_ONCE, |_| ask(&url)));
    (result.await.unwrap(), partner.requests().len())
}

#[tokio::test]
async fn ureq_comes_back_until_it_is_served() {
    let busy = Answer::new(503, "retry-after-ms: 5\r\n", "");
    let (answer, requests) = ureq_asks([busy, Answer::hangs_up(), Answer::new(200, "", "7 bikes")]).await;
    assert_eq!((answer.unwrap(), requests), ("7 bikes".to_owned(), 3));
}

#[tokio::test]
async fn ureq_is_told_what_the_server_said() {
    let (answer, requests) = ureq_asks([Answer::new(429, "retry-after: 9000\r\n", "")]).await;
    let Err(PartnerError::Status(error)) = answer else { panic!("{answer:?}") };
    assert_eq!((error.status(), error.retry_after()), (StatusCode::TOO_MANY_REQUESTS, Some(Duration::from_secs(9000))));
    assert_eq!(requests, 1, "too long to wait");

    let (_, requests) = ureq_asks([Answer::new(503, "x-should-retry: false\r\n", "")]).await;
    assert_eq!(requests, 1, "told not to");
    let (_, requests) = ureq_asks([Answer::status(404)]).await;
    assert_eq!(requests, 1, "not worth it");
    let (_, requests) = ureq_asks([Answer::new(503, "retry-after: \u{fc}\r\nretry-after: -1\r\n", "")]).await;
    assert_eq!(requests, 3, "nothing that can be read");
}

#[tokio::test]
async fn ureq_and_a_server_that_misbehaves() {
    let (answer, requests) = ureq_asks([Answer::never(), Answer::new(200, "", "7")]).await;
    assert_eq!((answer.unwrap(), requests), ("7".to_owned(), 2));
    let (answer, requests) = ureq_asks([Answer::cut_off()]).await;
    assert!(matches!(answer, Err(PartnerError::Client(ureq::Error::Io(_)))), "{answer:?}");
    assert_eq!(requests, 3);
    let (answer, requests) = ureq_asks([Answer::garbage()]).await;
    assert!(matches!(answer, Err(PartnerError::Client(ureq::Error::Protocol(_)))), "{answer:?}");
    assert_eq!(requests, 1);
    let url = format!("http://{}", nobody().await.unwrap());
    let answer = tokio::task::spawn_blocking(move || ask(&url)).await.unwrap();
    assert_eq!(answer.unwrap_err().verdict(), Verdict::TRANSIENT.not_sent());
}

/// The function returns every answer as `Ok`, and keeps its signature.
#[retry_budget(budget = UNLIMITED, policy = AT_ONCE, classify_ok = verdict_of)]
async fn any_answer(url: &str) -> io::Result<Response<ureq::Body>> {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let url = url.to_owned();
    let asked = tokio::task::spawn_blocking(move || agent.get(&url).call().map_err(ureq::Error::into_io));
    asked.await.map_err(io::Error::other)?
}

#[tokio::test]
async fn an_answer_inside_of_ok_is_judged_by_classify_ok() {
    let partner = Partner::start([502, 502, 200].map(Answer::status)).await.unwrap();
    assert_eq!(any_answer(&partner.url()).await.unwrap().status(), 200);
    assert_eq!(partner.requests().len(), 3);

    let partner = Partner::start([Answer::status(502)]).await.unwrap();
    assert_eq!(any_answer(&partner.url()).await.unwrap().status(), 502, "in the end, the answer as it is");
    assert_eq!(partner.requests().len(), 3);

    let partner = Partner::start([Answer::status(400)]).await.unwrap();
    assert_eq!(any_answer(&partner.url()).await.unwrap().status(), 400);
    assert_eq!(partner.requests().len(), 1);
}

#[tokio::test]
async fn the_functions_take_a_status_for_an_error() {
    let partner = Partner::start([503, 200].map(Answer::status)).await.unwrap();
    let status = Retry::new(&UNLIMITED, &AT_ONCE)
        .run(async |_| {
            let status = any_answer_once(&partner.url()).await;
            if status.is_success() { Ok(status) } else { Err(status) }
        })
        .await;
    assert_eq!(status, Ok(StatusCode::OK));
}

async fn any_answer_once(url: &str) -> StatusCode {
    let url = url.to_owned();
    let asked = tokio::task::spawn_blocking(move || match ureq::get(&url).call() {
        Ok(response) => response.status(),
        Err(ureq::Error::StatusCode(code)) => StatusCode::from_u16(code).unwrap(),
        Err(error) => panic!("{error}"),
    });
    asked.await.unwrap()
}
