//! The partner: a real HTTP server with a scripted life, which remembers every attempt that reached it.

use crate::clients::ATTEMPT;
use crate::script::{Fates, OUTAGE, Script};
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How long an answer takes, also the answer that there is none.
const HEALTHY: Duration = Duration::from_millis(5);
const IN_TROUBLE: Duration = Duration::from_millis(60);

/// A partner that serves until it is dropped.
pub struct Partner {
    url: String,
    life: Arc<Life>,
    server: JoinHandle<io::Result<()>>,
}

/// An attempt that reached the partner.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When, from the start of the script.
    pub at: Duration,
    /// Whether it was its call's second or third.
    pub is_retry: bool,
}

/// What the partner remembers, and what becomes of it.
pub struct Life {
    start: Instant,
    fates: Mutex<Fates>,
    arrivals: Mutex<Vec<Arrival>>,
}

impl Partner {
    /// Opens a partner on a port of this machine that the system chooses.
    pub async fn open(script: Script, start: Instant) -> io::Result<Self> {
        let life = Arc::new(Life { start, fates: Mutex::new(script.fates()), arrivals: Mutex::default() });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let server = tokio::spawn(axum::serve(listener, routes(life.clone())).into_future());
        Ok(Self { url, life, server })
    }

    /// Its address.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// What it remembers.
    pub fn life(&self) -> Arc<Life> {
        self.life.clone()
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn routes(life: Arc<Life>) -> Router {
    Router::new()
        .route("/districts/{district}/stations", get(stations))
        .route("/stations/{station}/bikes", get(bikes))
        .route("/prices/{minutes}", get(price))
        .layer(middleware::from_fn_with_state(life, live))
}

async fn stations(Path(district): Path<u32>) -> Json<[String; 3]> {
    Json(["Market", "Harbour", "Park"].map(|place| format!("{place} {district}")))
}

async fn bikes(Path(station): Path<u32>) -> Json<u32> {
    Json(station % 9)
}

async fn price(Path(minutes): Path<u32>) -> Json<u32> {
    Json(100 + 15 * minutes)
}

/// Every request passes here first.
async fn live(State(life): State<Arc<Life>>, request: Request, next: Next) -> Response {
    let (fails, takes) = life.receive(attempt(&request));
    tokio::time::sleep(takes).await;
    if fails { StatusCode::SERVICE_UNAVAILABLE.into_response() } else { next.run(request).await }
}

/// Which attempt of its call this is, as the caller says.
fn attempt(request: &Request) -> u32 {
    let said = request.headers().get(ATTEMPT).and_then(|value| value.to_str().ok());
    said.and_then(|number| number.parse().ok()).unwrap_or(1)
}

impl Life {
    /// Takes note of an attempt. Does it fail, and how long does that take?
    fn receive(&self, attempt: u32) -> (bool, Duration) {
        let at = self.start.elapsed();
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).push(Arrival { at, is_retry: attempt > 1 });
        if OUTAGE.contains(&at) {
            (self.fates.lock().unwrap_or_else(PoisonError::into_inner).fails(attempt), IN_TROUBLE)
        } else {
            (false, HEALTHY)
        }
    }

    /// The attempts so far, in the order of their arrival.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
