//! A gRPC server whose answers are scripted: the health service, which needs no compiler for protobuf.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Empty, empty};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

/// What the server does with a request.
#[derive(Debug)]
pub enum Reply {
    /// Answers.
    Healthy,
    /// Fails.
    Fails(Status),
    /// Never answers.
    Silence,
}

#[derive(Debug, Default)]
struct Log {
    script: VecDeque<Reply>,
    /// What each request said of the attempts before it.
    previous_attempts: Vec<Option<String>>,
}

/// A server on loopback, which ends when it is dropped.
#[derive(Debug)]
pub struct HealthPartner {
    address: SocketAddr,
    log: Arc<Mutex<Log>>,
    server: JoinHandle<()>,
}

impl HealthPartner {
    /// Answers by this script, and when it is over, always.
    ///
    /// # Panics
    ///
    /// Without a loopback.
    pub async fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
        let address = listener.local_addr().expect("bound");
        let log = Arc::new(Mutex::new(Log { script: script.into_iter().collect(), ..Log::default() }));
        let service = HealthServer::new(Scripted(log.clone()));
        let server = tokio::spawn(async move {
            let _ended =
                Server::builder().add_service(service).serve_with_incoming(TcpListenerStream::new(listener)).await;
        });
        Self { address, log, server }
    }

    /// A client of it, which connects when it is first used.
    ///
    /// # Panics
    ///
    /// Never: the address is one.
    pub fn client(&self) -> HealthClient<Channel> {
        HealthClient::new(self.endpoint().connect_lazy())
    }

    /// Where it listens.
    ///
    /// # Panics
    ///
    /// Never: the address is one.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::from_shared(format!("http://{}", self.address)).expect("an address")
    }

    /// What each request so far said of the attempts before it.
    pub fn previous_attempts(&self) -> Vec<Option<String>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).previous_attempts.clone()
    }

    /// How many requests it got.
    pub fn requests(&self) -> usize {
        self.previous_attempts().len()
    }
}

impl Drop for HealthPartner {
    fn drop(&mut self) {
        self.server.abort();
    }
}

struct Scripted(Arc<Mutex<Log>>);

#[tonic::async_trait]
impl Health for Scripted {
    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        let said = request.metadata().get("grpc-previous-rpc-attempts");
        let said = said.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let reply = {
            let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            log.previous_attempts.push(said);
            log.script.pop_front().unwrap_or(Reply::Healthy)
        };
        match reply {
            Reply::Healthy => Ok(Response::new(HealthCheckResponse { status: 1 })),
            Reply::Fails(status) => Err(status),
            Reply::Silence => std::future::pending().await,
        }
    }

    type WatchStream = Pin<Box<Empty<Result<HealthCheckResponse, Status>>>>;

    async fn watch(&self, _: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        Ok(Response::new(Box::pin(empty())))
    }
}
