//! Feature `metrics`: what Prometheus scrapes.
#![allow(missing_docs)]

use allocation_counter::measure;
use axum::{Router, routing::get};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use retry_budget::{
    Elapsed, Retry, RetryPolicy, Retryable, TokenBudget, metrics::publish, register, retry, retry_blocking,
    retry_budget,
};
use std::future::Future;
use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The recorder of this process.
static PROMETHEUS: LazyLock<PrometheusHandle> =
    LazyLock::new(|| PrometheusBuilder::new().install_recorder().expect("the only one"));

/// What a Prometheus server gets when it asks over HTTP.
async fn scrape() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let route = get(async || {
        let recorder = &*PROMETHEUS;
        publish();
        recorder.render()
    });
    let server = tokio::spawn(axum::serve(listener, Router::new().route("/metrics", route)).into_future());
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    server.abort();
    assert!(answer.starts_with("HTTP/1.0 200 OK\r\n"), "{answer}");
    answer
}

/// The lines about this budget, in order.
fn of<'a>(scraped: &'a str, budget: &str) -> Vec<&'a str> {
    let label = format!("budget=\"{budget}\"");
    let mut lines: Vec<_> = scraped.lines().filter(|line| line.contains(&label)).collect();
    lines.sort_unstable();
    lines
}

#[derive(Debug, thiserror::Error, Retryable)]
enum Lost {
    #[error("connection lost")]
    #[retry(transient)]
    Connection,
    #[error("too much to do")]
    #[retry(throttling)]
    Busy,
    #[error("no such station")]
    #[retry(never)]
    NoSuchStation,
    #[error("{0}")]
    #[retry(transient)]
    Elapsed(#[from] Elapsed),
}

/// Fails so many times in this way, and then succeeds.
async fn partner(fails: u32, how: fn() -> Lost, attempt: u32) -> Result<(), Lost> {
    tokio::task::yield_now().await;
    if attempt > fails { Ok(()) } else { Err(how()) }
}

static SCRAPED: TokenBudget = TokenBudget::builder("scraped").build();

#[retry_budget(budget = SCRAPED, base_delay = "0ms", throttling_base_delay = "0ms", attempt = attempt)]
async fn bikes(fails: u32, how: fn() -> Lost) -> Result<(), Lost> {
    partner(fails, how, attempt.number()).await
}

#[retry_budget(budget = SCRAPED, deadline = "1ms")]
async fn never_answers() -> Result<(), Lost> {
    std::future::pending().await
}

#[tokio::test]
async fn a_scrape_shows_what_calls_did() {
    bikes(0, || Lost::Busy).await.unwrap();
    assert!(scrape().await.contains("\nretry_budget_fill{budget=\"scraped\"} 500\n"), "before anything has failed");
    bikes(0, || Lost::Busy).await.unwrap();
    bikes(1, || Lost::Busy).await.unwrap();
    bikes(2, || Lost::Connection).await.unwrap();
    bikes(1, || Lost::NoSuchStation).await.unwrap_err();
    let before = scrape().await;
    // 500 + 1 + 1 - 5 + 5 - 14 - 14 + 14, capped at 500 in the beginning
    assert_eq!(
        of(&before, "scraped"),
        [
            "retry_budget_calls_total{budget=\"scraped\",call=\"metrics::bikes\",outcome=\"failed\"} 1",
            "retry_budget_calls_total{budget=\"scraped\",call=\"metrics::bikes\",outcome=\"gave_up\"} 0",
            "retry_budget_calls_total{budget=\"scraped\",call=\"metrics::bikes\",outcome=\"ok\"} 2",
            "retry_budget_calls_total{budget=\"scraped\",call=\"metrics::bikes\",outcome=\"ok_after_retry\"} 2",
            "retry_budget_capacity{budget=\"scraped\"} 500",
            "retry_budget_denials_total{budget=\"scraped\",call=\"metrics::bikes\"} 0",
            "retry_budget_fill{budget=\"scraped\"} 486",
            "retry_budget_retries_total{budget=\"scraped\",call=\"metrics::bikes\",kind=\"throttling\"} 1",
            "retry_budget_retries_total{budget=\"scraped\",call=\"metrics::bikes\",kind=\"transient\"} 2",
        ]
    );

    bikes(9, || Lost::Busy).await.unwrap_err();
    never_answers().await.unwrap_err();
    SCRAPED.reconfigure(|settings| settings.capacity(28)).unwrap();
    // 476 of 500 tokens are 26 of 28: five retries of 5 in the two calls and a half that it takes to empty them
    for _ in 0..3 {
        bikes(9, || Lost::Busy).await.unwrap_err();
    }
    let after = scrape().await;
    assert_eq!(
        of(&after, "scraped"),
        [
            "retry_budget_calls_total{budget=\"scraped\",call=\"metrics::bikes\",outcome=\"failed\"} 1",
            "retry_budget_calls_total{budget=\"scraped\",call=\"metrics::bikes\",outcome=\"gave_up\"} 4",
            "retry_budget_calls_total{budget=\"scraped\",call=\"metrics::bikes\",outcome=\"ok\"} 2",
            "retry_budget_calls_total{budget=\"scraped\",call=\"metrics::bikes\",outcome=\"ok_after_retry\"} 2",
            "retry_budget_calls_total{budget=\"scraped\",call=\"metrics::never_answers\",outcome=\"failed\"} 0",
            "retry_budget_calls_total{budget=\"scraped\",call=\"metrics::never_answers\",outcome=\"gave_up\"} 1",
            "retry_budget_calls_total{budget=\"scraped\",call=\"metrics::never_answers\",outcome=\"ok\"} 0",
            "retry_budget_calls_total{budget=\"scraped\",call=\"metrics::never_answers\",outcome=\"ok_after_retry\"} 0",
            "retry_budget_capacity{budget=\"scraped\"} 28",
            "retry_budget_denials_total{budget=\"scraped\",call=\"metrics::bikes\"} 1",
            "retry_budget_denials_total{budget=\"scraped\",call=\"metrics::never_answers\"} 0",
            "retry_budget_fill{budget=\"scraped\"} 1",
            "retry_budget_retries_total{budget=\"scraped\",call=\"metrics::bikes\",kind=\"throttling\"} 8",
            "retry_budget_retries_total{budget=\"scraped\",call=\"metrics::bikes\",kind=\"transient\"} 2",
            "retry_budget_retries_total{budget=\"scraped\",call=\"metrics::never_answers\",kind=\"throttling\"} 0",
            "retry_budget_retries_total{budget=\"scraped\",call=\"metrics::never_answers\",kind=\"transient\"} 0",
            "retry_budget_stops_total{budget=\"scraped\",call=\"metrics::bikes\",reason=\"attempts_used_up\"} 3",
            "retry_budget_stops_total{budget=\"scraped\",call=\"metrics::bikes\",reason=\"budget_empty\"} 1",
            "retry_budget_stops_total{budget=\"scraped\",call=\"metrics::never_answers\",reason=\"deadline\"} 1",
        ]
    );
    for (name, kind) in [
        ("retry_budget_calls_total", "counter"),
        ("retry_budget_retries_total", "counter"),
        ("retry_budget_stops_total", "counter"),
        ("retry_budget_denials_total", "counter"),
        ("retry_budget_fill", "gauge"),
        ("retry_budget_capacity", "gauge"),
    ] {
        assert!(after.contains(&format!("\n# TYPE {name} {kind}\n")), "{after}");
        assert!(after.contains(&format!("# HELP {name} ")), "{after}");
    }
}

#[tokio::test]
async fn calls_that_are_not_annotated_are_counted_too() {
    static BUDGET: TokenBudget = TokenBudget::builder("functions").build();
    retry(&BUDGET, &RetryPolicy::REQUEST, async |_| Ok::<_, Lost>(())).await.unwrap();
    retry_blocking(&BUDGET, &RetryPolicy::REQUEST, |_| Ok::<_, Lost>(())).unwrap();
    Retry::new(&BUDGET, &RetryPolicy::REQUEST).named("greet").run(async |_| Ok::<_, Lost>(())).await.unwrap();
    let scraped = scrape().await;
    let ok: Vec<_> = of(&scraped, "functions").into_iter().filter(|line| line.contains("outcome=\"ok\"")).collect();
    assert_eq!(
        ok,
        [
            "retry_budget_calls_total{budget=\"functions\",call=\"\",outcome=\"ok\"} 2",
            "retry_budget_calls_total{budget=\"functions\",call=\"greet\",outcome=\"ok\"} 1",
        ]
    );
    // nobody has registered it
    assert!(!scraped.contains("retry_budget_fill{budget=\"functions\"}"));
    register(&BUDGET);
    assert!(scrape().await.contains("\nretry_budget_fill{budget=\"functions\"} 500\n"));
}

#[tokio::test]
async fn budgets_of_one_name_are_summed() {
    static FIRST: TokenBudget = TokenBudget::builder("summed").initial(100).build();
    static SECOND: TokenBudget = TokenBudget::builder("summed").initial(20).capacity(50).build();
    register(&FIRST);
    register(&SECOND);
    let scraped = scrape().await;
    assert_eq!(
        of(&scraped, "summed"),
        ["retry_budget_capacity{budget=\"summed\"} 550", "retry_budget_fill{budget=\"summed\"} 120"]
    );
}

#[tokio::test]
async fn a_recorder_that_comes_late_misses_nothing() {
    static BUDGET: TokenBudget = TokenBudget::builder("late").build();
    for _ in 0..7 {
        retry(&BUDGET, &RetryPolicy::REQUEST, async |_| Ok::<_, Lost>(())).await.unwrap();
    }
    publish(); // to nobody, or to the process's
    let recorder = PrometheusBuilder::new().build_recorder();
    metrics::with_local_recorder(&recorder, publish);
    metrics::with_local_recorder(&recorder, publish); // twice is not double
    let line = "\nretry_budget_calls_total{budget=\"late\",call=\"\",outcome=\"ok\"} 7\n";
    assert!(recorder.handle().render().contains(line));
}

#[tokio::test(start_paused = true)]
async fn publishing_can_be_left_to_a_task() {
    static BUDGET: TokenBudget = TokenBudget::builder("published").build();
    let recorder = PrometheusBuilder::new().build_recorder();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let seen = || recorder.handle().render().contains("budget=\"published\"");
    let task = tokio::spawn(retry_budget::metrics::publish_every(Duration::ZERO));
    tokio::time::sleep(Duration::from_millis(50)).await;
    retry(&BUDGET, &RetryPolicy::REQUEST, async |_| Ok::<_, Lost>(())).await.unwrap();
    tokio::time::sleep(Duration::from_millis(40)).await;
    assert!(!seen(), "at most every 100 ms");
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(seen());
    task.abort();
}

static HEALTHY: TokenBudget = TokenBudget::builder("healthy").build();

#[retry_budget(budget = HEALTHY)]
async fn healthy() -> Result<[u64; 5], Lost> {
    Ok([7; 5])
}

#[test]
fn a_first_success_allocates_nothing() {
    fn allocations<T>(call: impl Future<Output = T>) -> u64 {
        let mut call = pin!(call);
        let counted = measure(|| assert!(poll(call.as_mut()).is_ready()));
        counted.count_total
    }
    fn poll<T>(call: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        call.poll(&mut Context::from_waker(Waker::noop()))
    }
    // the first call of a place makes its counters, and its budget known
    allocations(healthy());
    let by_function = || retry(&HEALTHY, &RetryPolicy::REQUEST, async |_| Ok::<_, Lost>(()));
    allocations(by_function());
    for _ in 0..100 {
        assert_eq!(allocations(healthy()), 0);
        assert_eq!(allocations(by_function()), 0);
    }
    // on another thread, too
    std::thread::spawn(|| assert_eq!(allocations(healthy()), 0)).join().unwrap();
}
