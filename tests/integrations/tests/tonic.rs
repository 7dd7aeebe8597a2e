//! `tonic-0_14`: a real server, a real client, and connections that break.

use retry_budget::tonic_0_14::Attempted;
use retry_budget::{
    Elapsed, Exhausted, Limit, Retry, RetryPolicy, Retryable, StopReason, UNLIMITED, Verdict, retry_budget,
};
use retry_budget_integrations::health::{HealthPartner, Reply};
use retry_budget_integrations::partner::{Answer, Partner, nobody};
use std::error::Error;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

/// As a service would write it.
#[retry_budget(
    budget = UNLIMITED,
    base_delay = "1ms",
    throttling_base_delay = "1ms",
    attempt = attempt
)]
async fn check(client: &HealthClient<Channel>) -> Result<i32, Status> {
    let request = Request::new(HealthCheckRequest::default()).attempted(attempt);
    Ok(client.clone().check(request).await?.into_inner().status)
}

/// What a server that answers so makes of a call, and how often it was asked.
async fn answered(reply: Reply) -> (Result<i32, Status>, usize) {
    let partner = HealthPartner::start([reply]).await;
    (check(&partner.client()).await, partner.requests())
}

fn source<E: Error + 'static>(error: &dyn Error) -> Option<&E> {
    let mut next = error.source();
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

#[tokio::test]
async fn the_server_learns_of_the_attempts_before() {
    let down = || Reply::Fails(Status::unavailable("restarting"));
    let partner = HealthPartner::start([down(), down()]).await;
    assert_eq!(check(&partner.client()).await.unwrap(), 1);
    assert_eq!(partner.previous_attempts(), [None, Some("1".to_owned()), Some("2".to_owned())]);
}

#[tokio::test]
async fn what_a_server_says_by_its_code() {
    let all = [
        Code::Cancelled,
        Code::Unknown,
        Code::InvalidArgument,
        Code::DeadlineExceeded,
        Code::NotFound,
        Code::AlreadyExists,
        Code::PermissionDenied,
        Code::FailedPrecondition,
        Code::Aborted,
        Code::OutOfRange,
        Code::Unimplemented,
        Code::Internal,
        Code::DataLoss,
        Code::Unauthenticated,
    ];
    for code in all {
        let (result, requests) = answered(Reply::Fails(Status::new(code, "no"))).await;
        assert_eq!((result.unwrap_err().code(), requests), (code, 1));
    }
    for code in [Code::Unavailable, Code::ResourceExhausted] {
        let (result, requests) = answered(Reply::Fails(Status::new(code, "later"))).await;
        assert_eq!((result.unwrap(), requests), (1, 2), "{code:?}");
    }
    assert_eq!(Status::unavailable("").verdict(), Verdict::TRANSIENT);
    assert_eq!(Status::resource_exhausted("").verdict(), Verdict::THROTTLING);
}

fn with_pushback(pushback: &str) -> Status {
    let mut status = Status::unavailable("later");
    status.metadata_mut().insert("grpc-retry-pushback-ms", pushback.parse().expect("ASCII"));
    status
}

#[tokio::test]
async fn pushback_is_a_hint_or_a_no() {
    let hint = |pushback| with_pushback(pushback).verdict();
    assert_eq!(hint("250"), Verdict::TRANSIENT.after(Duration::from_millis(250)));
    assert_eq!(hint("0"), Verdict::TRANSIENT.after(Duration::ZERO));
    for no in ["-1", "-250", "soon", ""] {
        assert_eq!(hint(no), Verdict::TRANSIENT.given_up(), "{no:?}");
    }
    // over the wire: one attempt, and the reason is visible
    let partner = HealthPartner::start([Reply::Fails(with_pushback("-1"))]).await;
    let client = partner.client();
    let stopped: Exhausted<Status> = Retry::new(&UNLIMITED, &RetryPolicy::REQUEST)
        .run(async |_| client.clone().check(HealthCheckRequest::default()).await)
        .explained()
        .await
        .unwrap_err();
    assert_eq!((stopped.stop().reason, partner.requests()), (StopReason::GaveUpInside, 1));
}

#[tokio::test]
async fn without_a_server_nothing_was_sent() {
    let free = nobody().await.unwrap();
    let endpoint = Endpoint::from_shared(format!("http://{free}")).unwrap();
    let status = check(&HealthClient::new(endpoint.connect_lazy())).await.unwrap_err();
    assert_eq!(status.verdict(), Verdict::TRANSIENT.not_sent(), "{status:?}");
    assert_eq!(endpoint.connect().await.unwrap_err().verdict(), Verdict::TRANSIENT.not_sent());

    let no_address = Endpoint::from_shared("http://[").map(|_| ()).unwrap_err();
    assert_eq!(no_address.verdict(), Verdict::NEVER);
}

/// A server that takes a connection, reads the beginning of a request, and is gone.
async fn hangs_up() -> HealthClient<Channel> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::from_shared(format!("http://{}", listener.local_addr().unwrap())).unwrap();
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let _read = connection.read(&mut [0; 64]).await;
        }
    });
    HealthClient::new(endpoint.connect_lazy())
}

#[tokio::test]
async fn a_connection_that_breaks_is_transient_and_may_have_been_processed() {
    let status = check(&hangs_up().await).await.unwrap_err();
    assert_eq!(status.verdict(), Verdict::TRANSIENT, "{status:?}");
}

#[tokio::test]
async fn a_server_that_talks_garbage_is_a_broken_connection() {
    let partner = Partner::start([Answer::garbage(), Answer::garbage(), Answer::garbage()]).await.unwrap();
    let endpoint = Endpoint::from_shared(partner.url()).unwrap();
    let status = check(&HealthClient::new(endpoint.connect_lazy())).await.unwrap_err();
    assert_eq!(status.verdict(), Verdict::TRANSIENT, "{status:?}");
}

#[tokio::test]
async fn a_timeout_of_tonics_own_is_transient() {
    let partner = HealthPartner::start([Reply::Silence]).await;
    let channel = partner.endpoint().timeout(Duration::from_millis(20)).connect_lazy();
    let status = HealthClient::new(channel).check(HealthCheckRequest::default()).await.unwrap_err();
    assert_eq!((status.code(), status.verdict()), (Code::Cancelled, Verdict::TRANSIENT), "{status:?}");
}

#[tokio::test]
async fn an_attempt_that_takes_too_long() {
    #[retry_budget(budget = UNLIMITED, max_attempts = 2, base_delay = "1ms", attempt_timeout = "20ms")]
    async fn check(client: &HealthClient<Channel>) -> Result<i32, Status> {
        Ok(client.clone().check(HealthCheckRequest::default()).await?.into_inner().status)
    }
    let partner = HealthPartner::start([Reply::Silence]).await;
    assert_eq!(check(&partner.client()).await.unwrap(), 1);

    let partner = HealthPartner::start([Reply::Silence, Reply::Silence]).await;
    let status = check(&partner.client()).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    let elapsed: &Elapsed = source(&status).expect("it says what happened");
    assert_eq!((elapsed.limit, elapsed.attempt), (Limit::AttemptTimeout, 2));
    assert_eq!((status.verdict(), partner.requests()), (Verdict::TRANSIENT, 2));
}

#[tokio::test]
async fn the_deadline_of_the_call_is_no_transient_failure() {
    #[retry_budget(budget = UNLIMITED, deadline = "30ms")]
    async fn check(client: &HealthClient<Channel>) -> Result<i32, Status> {
        Ok(client.clone().check(HealthCheckRequest::default()).await?.into_inner().status)
    }
    let partner = HealthPartner::start([Reply::Silence]).await;
    let status = check(&partner.client()).await.unwrap_err();
    assert_eq!((status.code(), status.verdict()), (Code::DeadlineExceeded, Verdict::NEVER));
    assert_eq!(source::<Elapsed>(&status).map(|elapsed| elapsed.limit), Some(Limit::Deadline));
}

#[tokio::test]
async fn what_is_not_safe_to_repeat() {
    #[retry_budget(budget = UNLIMITED, base_delay = "1ms", idempotent = false)]
    async fn pay(client: &HealthClient<Channel>, attempts: &mut u32) -> Result<i32, Status> {
        *attempts += 1;
        Ok(client.clone().check(HealthCheckRequest::default()).await?.into_inner().status)
    }
    // no connection: never sent, so it may go again
    let free = nobody().await.unwrap();
    let nobody = Endpoint::from_shared(format!("http://{free}")).unwrap().connect_lazy();
    let mut attempts = 0;
    pay(&HealthClient::new(nobody), &mut attempts).await.unwrap_err();
    assert_eq!(attempts, 3);
    // a connection that broke, or an UNAVAILABLE that the server sent: who knows
    let mut attempts = 0;
    pay(&hangs_up().await, &mut attempts).await.unwrap_err();
    assert_eq!(attempts, 1);
    let partner = HealthPartner::start([Reply::Fails(Status::unavailable("later"))]).await;
    let mut attempts = 0;
    pay(&partner.client(), &mut attempts).await.unwrap_err();
    assert_eq!(attempts, 1);
}
