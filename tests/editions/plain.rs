//! Plain functions.
#![forbid(unsafe_code, unused, nonstandard_style, let_underscore, rust_2018_idioms, unused_results)]

use crate::{Lost, PLENTY, Partner};
use retry_budget::{RetryKind, StopReason, retry, retry_budget};
use std::cell::Cell;
use std::fmt::{Display, Write};
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;

#[retry_budget(budget = PLENTY)]
async fn shared(partner: &Partner) -> Result<u32, Lost> {
    let number = partner.ask().await?;
    Ok(number)
}

#[retry_budget(budget = PLENTY)]
async fn one_expression(partner: &Partner) -> Result<u32, Lost> {
    partner.answer()
}

#[retry_budget(kind = "ratio", ratio = 1.0, window = "1s", min_retries = 9, jitter = "none", max_attempts = 4)]
async fn its_own_budget(partner: &Partner, log: &mut String) -> Result<usize, Lost> {
    write!(log, "{}", 1).map_err(|_| Lost)?;
    let _ = partner.ask().await?;
    Ok(log.len())
}

#[retry_budget(budget = PLENTY, clone(body), keep(calls), once(key = 4_u32 + 1), attempt = attempt)]
async fn every_way(
    partner: &Partner,
    mut body: String,
    calls: u32,
    by: Cell<u32>,
    all: &[&str],
) -> Result<String, Lost> {
    body.push('!');
    by.set(by.get() + 1);
    let answer = partner.ask().await?;
    Ok(format!("{body} {calls} {} {} {key} {} {answer}", by.get(), all.concat(), attempt.number()))
}

#[retry_budget(
    budget = PLENTY,
    policy = retry_budget::RetryPolicy::BACKGROUND,
    classify = |error| if *error == Lost { Some(RetryKind::Throttling) } else { None },
    classify_ok = |number| *number < 5,
    on_retry = |event| assert!(event.delay.as_secs() < 60),
    on_stop = |event| stops.lock().unwrap().push(event.stop.reason),
    when_empty = "fail",
    max_attempts = 4,
)]
async fn every_option(partner: &Partner, stops: &Mutex<Vec<StopReason>>) -> Result<u32, Lost> {
    partner.ask().await
}

#[retry_budget(budget = PLENTY, attempt_timeout = "1s", deadline = limit, elapsed = |_| Lost)]
async fn within(partner: &Partner, limit: Option<std::time::Duration>) -> Result<u32, Lost> {
    let _ = partner.ask().await?;
    std::future::pending().await
}

#[retry_budget(budget = PLENTY)]
async fn opaque<'a, T: Display + Sync + ?Sized>(
    partner: &'a Partner,
    shown: &'a T,
) -> Result<impl Iterator<Item = String> + 'a, Lost> {
    let number = partner.ask().await?;
    Ok((0..number).map(move |step| format!("{shown}{step}")))
}

#[retry_budget(budget = PLENTY)]
fn boxed(partner: &Partner) -> Pin<Box<dyn Future<Output = Result<u32, Lost>> + Send + '_>> {
    Box::pin(async move { partner.ask().await })
}

#[retry_budget(budget = PLENTY)]
#[allow(clippy::manual_async_fn)]
fn returned(partner: &Partner) -> impl Future<Output = Result<u32, Lost>> + '_ {
    async move { partner.ask().await }
}

macro_rules! client {
    ($name:ident($argument:ident: $ty:ty) $body:block) => {
        #[retry_budget(budget = PLENTY)]
        async fn $name($argument: $ty) -> Result<u32, Lost> $body
    };
}

client!(generated(partner: &Partner) { partner.ask().await });

#[test]
fn functions() {
    crate::run(async {
        assert_eq!(shared(&Partner::default()).await, Ok(3));
        assert_eq!(one_expression(&Partner::default()).await, Ok(3));
        let mut log = String::new();
        assert_eq!(its_own_budget(&Partner::default(), &mut log).await, Ok(3));
        let answer = every_way(&Partner::default(), "b".to_owned(), 2, Cell::new(0), &["a", "l"]).await;
        assert_eq!(answer, Ok("b! 2 3 al 5 3 3".to_owned()));
        assert_eq!(opaque(&Partner::default(), "o").await.unwrap().last(), Some("o2".to_owned()));
        assert_eq!(boxed(&Partner::default()).await, Ok(3));
        assert_eq!(returned(&Partner::default()).await, Ok(3));
        assert_eq!(generated(&Partner::default()).await, Ok(3));
    });
}

#[test]
fn options() {
    crate::run(async {
        let stops = Mutex::default();
        assert_eq!(every_option(&Partner::default(), &stops).await, Ok(4));
        assert_eq!(stops.into_inner().unwrap(), [StopReason::AttemptsUsedUp]);
        assert_eq!(within(&Partner::default(), None).await, Err(Lost));
    });
}

#[test]
fn blocks() {
    crate::run(async {
        let (partner, mut log) = (Partner::default(), String::new());
        let answer = retry!(budget = PLENTY, max_attempts = 3, async || -> Result<u32, Lost> {
            log.push('x');
            partner.ask().await
        });
        assert_eq!(answer.await, Ok(3));
        assert_eq!(log, "xxx");
    });
}
