//! The layer in axum and in tonic, over real sockets.

use axum::Router;
use axum::routing::get;
use http::{Extensions, StatusCode};
use retry_budget::tower_0_5::{CallerAttempt, DontRetry, PushbackLayer};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tonic::metadata::MetadataValue;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Endpoint, Server};
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

/// A server on loopback, which ends with the test's runtime.
pub(crate) async fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

/// The head of the answer, as it goes over the wire.
async fn ask(server: SocketAddr, path: &str, header: &str) -> String {
    let mut stream = TcpStream::connect(server).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n{header}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn axum() {
    let layer = PushbackLayer::new();
    let router = Router::new()
        .route("/down", get(async || StatusCode::SERVICE_UNAVAILABLE))
        .route("/in-vain", get(async || (StatusCode::SERVICE_UNAVAILABLE, axum::Extension(DontRetry))))
        .route("/attempt", get(async |extensions: Extensions| extensions.get::<CallerAttempt>().unwrap().0.to_string()))
        .layer(layer.clone());
    let server = serve(router).await;
    assert!(!ask(server, "/down", "").await.contains("x-should-retry"));
    let answer = ask(server, "/in-vain", "").await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("\r\nx-should-retry: false\r\n"), "{answer}");
    assert!(ask(server, "/attempt", "amz-sdk-request: attempt=3; max=3\r\n").await.ends_with("\r\n\r\n3"));
    assert_eq!((layer.counts().all, layer.counts().retries), (3, 1), "all routes count together");
}

#[tokio::test]
async fn tonic() {
    // it is down for all but those who say please
    let down = |request: Request<()>| match request.metadata().get("please") {
        None => Err(Status::unavailable("down")),
        Some(_) => Ok(request),
    };
    let layer = PushbackLayer::builder().ratio(0.5).min_requests(1).try_build().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server::builder()
        .layer(layer.clone())
        .add_service(HealthServer::with_interceptor(HealthService::from_health_reporter(HealthReporter::new()), down));
    tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));

    let mut client =
        HealthClient::new(Endpoint::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap());
    let mut check = async |metadata: &[(&'static str, &'static str)]| {
        let mut request = Request::new(HealthCheckRequest::default());
        for (name, value) in metadata {
            request.metadata_mut().insert(*name, MetadataValue::from_static(value));
        }
        client.check(request).await
    };
    let pushback = |status: &Status| status.metadata().get("grpc-retry-pushback-ms").cloned();

    let status = check(&[]).await.unwrap_err();
    assert_eq!((status.code(), pushback(&status)), (Code::Unavailable, None));
    assert!(check(&[("please", ""), ("grpc-previous-rpc-attempts", "1")]).await.is_ok());
    let status = check(&[("x-retry-attempt", "3")]).await.unwrap_err();
    assert_eq!((status.code(), pushback(&status)), (Code::Unavailable, Some(MetadataValue::from_static("-1"))));
    assert_eq!((layer.counts().all, layer.counts().retries), (3, 2));
}
