//! A gRPC call under a budget: the server restarts, and what reaches it meanwhile.
//!
//! ```text
//! cargo run -p retry-budget-examples --example grpc
//! ```
//!
//! The service is gRPC's health check, so that nothing has to be generated; read `is_up`, the call, first.

use retry_budget::tonic_0_14::Attempted;
use retry_budget::{Budget, Time, TokenBudget, retry_budget};
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Empty, empty};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

/// For everything that talks to this server.
static STATIONS: TokenBudget = TokenBudget::builder("stations").capacity(140).build();

/// The call. `UNAVAILABLE` is retried, `NOT_FOUND` isn't, and the server learns which attempt it is.
#[retry_budget(budget = STATIONS, base_delay = "5ms", max_delay = "20ms", attempt_timeout = "1s", attempt = attempt)]
async fn is_up(stations: &HealthClient<Channel>) -> Result<bool, Status> {
    let request = Request::new(HealthCheckRequest::default()).attempted(attempt);
    let answer = stations.clone().check(request).await?; // a clone shares the connection
    Ok(answer.into_inner().status == 1)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let endpoint = Endpoint::from_shared(format!("http://{}", listener.local_addr()?))?;
    let server = Stations::default();
    let seen = server.seen.clone();
    let service = Server::builder().add_service(HealthServer::new(server));
    let server = tokio::spawn(service.serve_with_incoming(TcpListenerStream::new(listener)));
    let stations = HealthClient::new(endpoint.connect_lazy());

    for (phase, down) in [("up", false), ("restarting", true), ("up again", false)] {
        seen.down.store(down, Relaxed);
        let (attempts, retries) = (seen.attempts.load(Relaxed), seen.retries.load(Relaxed));
        let mut succeeded = 0;
        for _ in 0..100 {
            succeeded += u32::from(is_up(&stations).await.unwrap_or(false));
        }
        let attempts = seen.attempts.load(Relaxed) - attempts;
        let retries = seen.retries.load(Relaxed) - retries;
        let left = STATIONS.snapshot(Time::now());
        println!(
            "{phase:<11} 100 calls: {succeeded:>3} succeeded, {attempts} requests reached the server, {retries} of them \
             said to be retries; {}/{} tokens left",
            left.available, left.limit
        );
    }
    server.abort();
    Ok(())
}

/// The server: up or restarting.
#[derive(Default)]
struct Stations {
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    down: AtomicBool,
    attempts: AtomicU32,
    retries: AtomicU32,
}

#[tonic::async_trait]
impl Health for Stations {
    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        self.seen.attempts.fetch_add(1, Relaxed);
        if request.metadata().contains_key("grpc-previous-rpc-attempts") {
            self.seen.retries.fetch_add(1, Relaxed);
        }
        if self.seen.down.load(Relaxed) {
            return Err(Status::unavailable("restarting"));
        }
        Ok(Response::new(HealthCheckResponse { status: 1 }))
    }

    type WatchStream = Pin<Box<Empty<Result<HealthCheckResponse, Status>>>>;

    async fn watch(&self, _: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        Ok(Response::new(Box::pin(empty())))
    }
}
