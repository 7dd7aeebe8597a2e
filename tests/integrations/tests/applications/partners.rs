//! reqwest's errors inside, over real sockets.

use crate::{AT_ONCE, Application, PLENTY, reason};
use reqwest_0_13::{Client, StatusCode};
use retry_budget::reqwest_0_13::{HttpError, OrRetry};
use retry_budget::{Retryable, StopReason, Verdict, retry_budget};
use retry_budget_integrations::partner::{Answer, Partner, nobody};
use std::time::Duration;

fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().timeout(Duration::from_millis(500)).build().unwrap()
}

#[retry_budget(budget = PLENTY, policy = AT_ONCE)]
async fn bikes<E: Application>(client: &Client, url: &str) -> Result<String, E> {
    Ok(client.get(url).send().await?.text().await?)
}

/// Keeps what the server says.
#[retry_budget(budget = PLENTY, policy = AT_ONCE)]
async fn bikes_by_status<E: Application>(client: &Client, url: &str) -> Result<String, E> {
    Ok(client.get(url).send().await.or_retry()?.text().await?)
}

#[tokio::test]
async fn its_own_errors() {
    async fn test<E: Application>() {
        let client = client();
        for answer in [Answer::hangs_up(), Answer::cut_off(), Answer::never()] {
            let partner = Partner::start([answer.clone(), Answer::new(200, "", "7")]).await.unwrap();
            assert_eq!(bikes::<E>(&client, &partner.url()).await.unwrap(), "7", "{answer:?}");
        }
        let partner = Partner::start([Answer::cut_off()]).await.unwrap();
        let error = bikes::<E>(&client, &partner.url()).await.unwrap_err();
        assert_eq!((reason(&error), partner.requests().len()), (Some((StopReason::AttemptsUsedUp, 3)), 3));
        assert_eq!(error.original::<reqwest_0_13::Error>().unwrap().verdict(), Verdict::TRANSIENT);

        let partner = Partner::start([Answer::garbage()]).await.unwrap();
        let error = bikes::<E>(&client, &partner.url()).await.unwrap_err();
        assert_eq!((reason(&error), partner.requests().len()), (None, 1));

        let error = bikes::<E>(&client, &format!("http://{}", nobody().await.unwrap())).await.unwrap_err();
        assert_eq!(reason(&error), Some((StopReason::AttemptsUsedUp, 3)));
    }
    for_each_type!(test);
}

#[tokio::test]
async fn what_a_server_says() {
    async fn test<E: Application>() {
        let client = client();
        let asked = async |answer| {
            let partner = Partner::start([answer]).await.unwrap();
            let error = bikes_by_status::<E>(&client, &partner.url()).await.unwrap_err();
            let status = error.original::<HttpError>().unwrap().status().unwrap();
            (status, reason(&error))
        };
        let unavailable = (StatusCode::SERVICE_UNAVAILABLE, Some((StopReason::AttemptsUsedUp, 3)));
        assert_eq!(asked(Answer::status(503)).await, unavailable);
        assert_eq!(asked(Answer::status(404)).await, (StatusCode::NOT_FOUND, None));
        let too_far = (StatusCode::TOO_MANY_REQUESTS, Some((StopReason::HintTooFar, 1)));
        assert_eq!(asked(Answer::new(429, "retry-after: 21\r\n", "")).await, too_far);
        let dont = (StatusCode::INTERNAL_SERVER_ERROR, None);
        assert_eq!(asked(Answer::new(500, "x-should-retry: false\r\n", "")).await, dont);
    }
    for_each_type!(test);
}

/// The same, where nothing is generic.
#[retry_budget(budget = PLENTY, policy = AT_ONCE, idempotent = false)]
async fn charge(client: &Client, url: &str) -> anyhow::Result<StatusCode> {
    Ok(client.post(url).send().await?.error_for_status()?.status())
}

#[tokio::test]
async fn not_sent_is_found_inside() {
    let client = client();
    let error = charge(&client, &format!("http://{}", nobody().await.unwrap())).await.unwrap_err();
    assert_eq!(reason(&error), Some((StopReason::AttemptsUsedUp, 3)));
    let partner = Partner::start([Answer::status(503)]).await.unwrap();
    let error = charge(&client, &partner.url()).await.unwrap_err();
    assert_eq!(reason(&error), Some((StopReason::NotIdempotent, 1)), "a retry was refused");
}
