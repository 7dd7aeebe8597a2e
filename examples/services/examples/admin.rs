//! An admin route: see the budgets, change their limits, stop all retries while the process runs.
//! `cargo run -p retry-budget-examples --example admin`
//!
//! | request | does |
//! | --- | --- |
//! | `GET /admin/budgets` | lists the budgets: fill, capacity, what they granted and denied |
//! | `PATCH /admin/budgets` with `{"partner": {"capacity": 100}}` | changes limits, as a settings file would |
//! | `PUT /admin/retries` with `false` | stops all retries at the next decision; `true` lets them go on |
//!
//! Whoever reaches this route can switch your retries off, so serve it where only operators come: on a listener of its own that
//! is bound to loopback, as here, or behind your authentication.
//!
//! The example asks itself and ends.

use axum::http::StatusCode;
use axum::routing::{get, patch, put};
use axum::{Json, Router};
use retry_budget::{
    RatioBudget, Settings, TokenBudget, budgets, configure, register, retries_are_on, retry_budget, set_retries,
};
use retry_budget_examples::ask;
use serde_json::{Value, json};
use std::error::Error;
use std::io;
use tokio::net::TcpListener;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
static PAYMENTS: RatioBudget = RatioBudget::builder("payments").build();

/// Mount it under `/admin`.
fn admin() -> Router {
    Router::new().route("/budgets", get(list)).route("/budgets", patch(change)).route("/retries", put(switch))
}

async fn list() -> Json<Value> {
    let budgets: Vec<_> = budgets()
        .into_iter()
        .map(|budget| {
            let it = budget.snapshot;
            json!({
                "name": it.name,
                "kind": it.kind,
                "fill": it.available,
                "capacity": it.limit,
                "granted": it.granted,
                "denied": it.denied,
                "shares_its_name": budget.shares_its_name,
                "refused": budget.refused.map(|error| error.to_string()),
            })
        })
        .collect();
    Json(json!({ "retries": retries_are_on(), "budgets": budgets }))
}

/// What is said for a budget holds as a whole or not at all. A name that no budget has is kept for the budget that will.
async fn change(Json(settings): Json<Settings>) -> (StatusCode, Json<Value>) {
    let outcome = configure(&settings);
    let status = if outcome.refused.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let refused: Value = outcome.refused.into_iter().map(|(name, error)| (name, json!(error.to_string()))).collect();
    (status, Json(json!({ "refused": refused, "unknown": outcome.unknown })))
}

async fn switch(Json(on): Json<bool>) -> Json<Value> {
    set_retries(on);
    Json(json!({ "retries": retries_are_on() }))
}

/// A call of the service, to a partner that isn't there.
#[retry_budget(
    budget = PARTNER,
    base_delay = "1ms",
    max_delay = "4ms",
    on_stop = |event| println!("a call stops: {}\n", event.stop),
)]
async fn bikes() -> io::Result<()> {
    Err(io::ErrorKind::ConnectionRefused.into())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    register(&PARTNER);
    register(&PAYMENTS);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let server = listener.local_addr()?;
    tokio::spawn(axum::serve(listener, Router::new().nest("/admin", admin())).into_future());

    for (method, path, body) in [
        ("GET", "/admin/budgets", ""),
        ("PATCH", "/admin/budgets", r#"{"partner": {"capacity": 28}, "payments": {"ratio": 0.05}}"#),
        ("PATCH", "/admin/budgets", r#"{"payments": {"ratio": 5.0}, "paymens": {"ratio": 0.2}}"#),
        ("GET", "/admin/budgets", ""),
        ("PUT", "/admin/retries", "false"),
        ("PUT", "/admin/retries", "true"),
    ] {
        let (status, answer) = ask(server, method, path, body).await?;
        println!("{method} {path} {body}\n{status} {answer}");
        let _ = bikes().await; // a call after each request: it fails, and tells why it stops
    }
    Ok(())
}
