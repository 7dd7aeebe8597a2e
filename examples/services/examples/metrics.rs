//! What Prometheus sees of an outage: `cargo run -p retry-budget-examples --example metrics`.
//!
//! A service calls a partner, which is healthy, fails, and is healthy again. The service serves `/metrics` on loopback, and the
//! example scrapes it after each phase, as Prometheus would. It ends by itself, in less than a second.

use axum::{Router, routing::get};
use metrics_exporter_prometheus::PrometheusBuilder;
use retry_budget::{TokenBudget, metrics, register, retry_budget};
use retry_budget_examples::ask;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

static PARTNER: TokenBudget = TokenBudget::builder("partner").capacity(280).build();

/// The call. Delays are short, so that the example is.
#[retry_budget(budget = PARTNER, base_delay = "1ms", max_delay = "4ms")]
async fn bikes(partner: SocketAddr) -> io::Result<u8> {
    TcpStream::connect(partner).await?.read_u8().await
}

/// A partner that sends a byte; in an outage it closes two of three connections instead.
async fn serve_partner(listener: TcpListener, has_outage: Arc<AtomicBool>) {
    for connection in 0_u64.. {
        let Ok((mut stream, _)) = listener.accept().await else { return };
        if !has_outage.load(Relaxed) || connection % 3 == 0 {
            let _ = stream.write_all(&[7]).await; // a caller that is gone doesn't need it
        }
    }
}

/// The route: what was counted goes to the recorder when somebody looks.
fn routes() -> Result<Router, Box<dyn Error>> {
    let recorder = PrometheusBuilder::new().install_recorder()?;
    let scrape = get(async move || {
        metrics::publish();
        recorder.render()
    });
    Ok(Router::new().route("/metrics", scrape))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let has_outage = Arc::new(AtomicBool::new(false));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let partner = listener.local_addr()?;
    tokio::spawn(serve_partner(listener, Arc::clone(&has_outage)));

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let service = listener.local_addr()?;
    tokio::spawn(axum::serve(listener, routes()?).into_future());
    register(&PARTNER); // a dashboard shows it from the start

    println!("http://{service}/metrics after each phase of 200 calls:\n");
    let mut scrapes = vec![scrape(service).await?];
    for (phase, outage) in [("healthy", false), ("outage", true), ("healthy again", false)] {
        has_outage.store(outage, Relaxed);
        let mut errors = 0;
        for _ in 0..200 {
            errors += u32::from(bikes(partner).await.is_err());
        }
        println!("{phase}: callers saw {errors} errors");
        scrapes.push(scrape(service).await?);
    }
    print_table(&scrapes);
    Ok(())
}

/// The lines of a scrape that are about the budget: the name with its labels, and the value.
async fn scrape(service: SocketAddr) -> io::Result<Vec<(String, String)>> {
    let (_, text) = ask(service, "GET", "/metrics", "").await?;
    let mut lines: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("retry_budget_"))
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(name, value)| (name.replace("budget=\"partner\",call=\"metrics::bikes\",", ""), value.to_owned()))
        .collect();
    lines.sort_unstable();
    Ok(lines)
}

fn print_table(scrapes: &[Vec<(String, String)>]) {
    println!(
        "\n{:<68} {:>7} {:>7} {:>7} {:>7}",
        "budget=\"partner\", call=\"metrics::bikes\"", "start", "healthy", "outage", "healthy"
    );
    for (name, _) in scrapes.last().into_iter().flatten() {
        print!("{name:<68}");
        for scrape in scrapes {
            let value = scrape.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value);
            print!(" {value:>7}");
        }
        println!();
    }
}
