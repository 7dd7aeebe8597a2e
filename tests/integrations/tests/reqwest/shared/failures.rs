//! Each of reqwest's own failures, made by a server or a request that fails that way.

use super::client::builder;
use super::ours::HttpError;
use super::reqwest::{self, Body, Client, StatusCode, redirect};
use crate::SHORT;
use retry_budget::{Retryable, Verdict};
use retry_budget_integrations::partner::{Answer, Partner, nobody};
use std::error::Error;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

const NOT_SENT: Verdict = Verdict::TRANSIENT.not_sent();

fn client() -> Client {
    builder().timeout(SHORT).build().unwrap()
}

/// What a GET with its whole body comes to.
async fn get(client: &Client, url: &str) -> Result<serde_json::Value, reqwest::Error> {
    client.get(url).send().await?.error_for_status()?.json().await
}

async fn failure(script: Answer) -> reqwest::Error {
    let partner = Partner::start([script]).await.unwrap();
    get(&client(), &partner.url()).await.unwrap_err()
}

#[tokio::test]
async fn nobody_listens() {
    let error = get(&client(), &format!("http://{}", nobody().await.unwrap())).await.unwrap_err();
    assert_eq!(error.verdict(), NOT_SENT);
}

#[tokio::test]
async fn a_name_that_nobody_knows() {
    // Longer than a name may be, so that nobody is asked for it.
    let error = get(&client(), &format!("http://{}.invalid/", "a".repeat(64))).await.unwrap_err();
    assert_eq!(error.verdict(), NOT_SENT, "{error:?}");
}

/// A resolver other than the system's, whose errors have types of their own.
#[derive(Debug, thiserror::Error)]
#[error("the resolver has an error of its own")]
struct ResolverError;

struct Resolver;

impl reqwest::dns::Resolve for Resolver {
    fn resolve(&self, _name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        Box::pin(async { Err(Box::new(ResolverError) as Box<dyn Error + Send + Sync>) })
    }
}

#[tokio::test]
async fn a_name_that_another_resolver_cant_resolve() {
    let client = builder().dns_resolver(Arc::new(Resolver)).build().unwrap();
    let error = get(&client, "http://partner.example/").await.unwrap_err();
    assert_eq!(error.verdict(), NOT_SENT, "{error:?}");
}

#[cfg(target_os = "linux")] // others count their backlog in other ways
#[tokio::test]
async fn no_connection_in_time() {
    // The backlog is full, so nobody answers the next.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(connection) = tokio::time::timeout(SHORT, TcpStream::connect(address)).await {
        waiting.push(connection.unwrap());
        assert!(waiting.len() < 100, "there is room for all");
    }
    let client = builder().connect_timeout(SHORT).build().unwrap();
    let error = get(&client, &format!("http://{address}")).await.unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
    assert_eq!(error.verdict(), NOT_SENT);
}

#[tokio::test]
async fn a_proxy_that_says_no() {
    let proxied = async |status| {
        let proxy = Partner::start([Answer::status(status)]).await.unwrap();
        let client = builder().proxy(reqwest::Proxy::https(format!("http://{}", proxy.address())).unwrap());
        get(&client.build().unwrap(), "https://partner.example/").await.unwrap_err()
    };
    let error = proxied(503).await;
    assert_eq!(error.verdict(), NOT_SENT, "{error:?}");
    let error = proxied(407).await;
    assert_eq!(error.verdict(), Verdict::NEVER, "it wants a password: {error:?}");
}

/// A server that reads the first bytes, whatever they are, and answers with these.
async fn tls_with(answer: &'static [u8]) -> reqwest::Error {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        let _ = connection.read(&mut [0; 8192]).await;
        let _ = connection.write_all(answer).await;
    });
    let error = get(&client(), &format!("https://{address}")).await.unwrap_err();
    server.await.unwrap();
    error
}

#[tokio::test]
async fn tls() {
    let error = tls_with(b"HTTP/1.1 400 What?\r\n\r\n").await;
    assert!(error.is_connect(), "{error:?}");
    assert_eq!(error.verdict(), Verdict::NEVER, "it doesn't speak TLS: {error:?}");
    let error = tls_with(b"\x15\x03\x03\x00\x02\x02\x28").await;
    assert_eq!(error.verdict(), Verdict::NEVER, "an alert, \"handshake failure\": {error:?}");
    let error = tls_with(b"").await;
    assert_eq!(error.verdict(), NOT_SENT, "it hangs up: {error:?}");
}

#[tokio::test]
async fn tls_that_never_comes_about() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = builder().connect_timeout(SHORT).build().unwrap();
    let error = get(&client, &format!("https://{}", listener.local_addr().unwrap())).await.unwrap_err();
    assert!(error.is_connect() && error.is_timeout(), "{error:?}");
    assert_eq!(error.verdict(), NOT_SENT);
}

#[tokio::test]
async fn never_answers() {
    let error = failure(Answer::never()).await;
    assert!(error.is_timeout());
    assert_eq!(error.verdict(), Verdict::TRANSIENT, "it may have been processed");

    let error = failure(Answer::ThenSilence(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfour".to_vec())).await;
    assert!(error.is_timeout(), "{error:?}");
    assert_eq!(error.verdict(), Verdict::TRANSIENT);
}

#[tokio::test]
async fn hangs_up() {
    let error = failure(Answer::hangs_up()).await;
    assert_eq!(error.verdict(), Verdict::TRANSIENT, "{error:?}");
    let error = failure(Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec())).await;
    assert_eq!(error.verdict(), Verdict::TRANSIENT, "{error:?}");
}

#[tokio::test]
async fn a_body_cut_off() {
    for cut_off in [
        Answer::cut_off(),
        Answer::Bytes(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nfour\r\n9\r\nf".to_vec()),
        Answer::Bytes(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nfour\r\n".to_vec()),
    ] {
        let error = failure(cut_off).await;
        assert_eq!(error.verdict(), Verdict::TRANSIENT, "{error:?}");
    }
}

#[tokio::test]
async fn garbage() {
    for garbage in [
        Answer::garbage(),
        Answer::Bytes(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()),
        Answer::Bytes(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nno number\r\nfour\r\n".to_vec()),
        Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\nfour".to_vec()),
    ] {
        let error = failure(garbage).await;
        assert_eq!(error.verdict(), Verdict::NEVER, "{error:?}");
    }
}

#[tokio::test]
async fn what_would_fail_again() {
    let error = failure(Answer::new(200, "", "{ no json")).await;
    assert!(error.is_decode());
    assert_eq!(error.verdict(), Verdict::NEVER);

    let error = client().get("no url").send().await.unwrap_err();
    assert!(error.is_builder());
    assert_eq!(error.verdict(), Verdict::NEVER);

    let partner = Partner::start([Answer::new(302, "location: /bikes\r\n", "")]).await.unwrap();
    let error = get(&client(), &partner.url()).await.unwrap_err();
    assert!(error.is_redirect());
    assert_eq!(error.verdict(), Verdict::NEVER);

    let policy = redirect::Policy::custom(|attempt| attempt.error(io::Error::from(io::ErrorKind::TimedOut)));
    let error = get(&builder().redirect(policy).build().unwrap(), &partner.url()).await.unwrap_err();
    assert!(error.is_redirect());
    assert_eq!(error.verdict(), Verdict::NEVER, "whatever the caller's own policy says: {error:?}");

    // the body of the request is the caller's own
    let broken = futures_util::stream::iter([Err::<&str, _>(io::Error::from(io::ErrorKind::ConnectionReset))]);
    let error = client().post(partner.url()).body(Body::wrap_stream(broken)).send().await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::NEVER, "{error:?}");
}

#[tokio::test]
async fn a_status() {
    let error = failure(Answer::new(503, "retry-after: 3\r\n", "")).await;
    assert!(error.is_status());
    assert_eq!(error.verdict(), Verdict::TRANSIENT, "the hint is gone");
    assert_eq!(failure(Answer::status(429)).await.verdict(), Verdict::THROTTLING);
    assert_eq!(failure(Answer::status(404)).await.verdict(), Verdict::NEVER);
}

#[tokio::test]
async fn redirects_that_lead_nowhere() {
    let nobody = nobody().await.unwrap();
    let partner = Partner::start([Answer::new(302, &format!("location: http://{nobody}\r\n"), "")]).await.unwrap();
    let error = get(&client(), &partner.url()).await.unwrap_err();
    assert_eq!(error.verdict(), NOT_SENT, "{error:?}");
    let client = builder().redirect(redirect::Policy::none()).build().unwrap();
    assert_eq!(client.get(partner.url()).send().await.unwrap().status(), StatusCode::FOUND);
}

#[tokio::test]
async fn no_url_in_the_error() {
    let nobody = nobody().await.unwrap();
    let error = get(&client(), &format!("http://{nobody}/?key=SECRET")).await.unwrap_err();
    assert!(error.to_string().contains("SECRET"));
    let error = HttpError::from(error);
    let mut shown = format!("{error} {error:?}");
    let mut next = error.source();
    while let Some(error) = next {
        shown += &error.to_string();
        next = error.source();
    }
    assert!(!shown.contains("SECRET"), "{shown}");
    assert_eq!(error.to_string(), "error sending request");
    assert!(shown.contains("refused"), "{shown}");
    assert!(error.client_error().unwrap().is_connect());
    assert_eq!((error.verdict(), error.status(), error.retry_after()), (NOT_SENT, None, None));
}

#[tokio::test]
async fn found_in_other_errors() {
    let url = format!("http://{}", nobody().await.unwrap());
    let error = get(&client(), &url).await.unwrap_err();
    assert_eq!(io::Error::other(error).verdict(), NOT_SENT);
    let error = HttpError::from(get(&client(), &url).await.unwrap_err());
    assert_eq!(io::Error::other(error).verdict(), NOT_SENT);
    let error = failure(Answer::status(503)).await;
    assert_eq!(io::Error::other(error).verdict(), Verdict::TRANSIENT);
}
