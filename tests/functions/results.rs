//! Return types of every form.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::{Exhausted, ExhaustedBox, RetryKind, RetryPolicy, Retryable, retry, retry_budget};
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::MutexGuard;

type Answer<T> = Result<T, Lost>;

#[retry_budget(budget = PLENTY)]
async fn alias(partner: &Flaky) -> Answer<u32> {
    partner.run_later().await
}

#[retry_budget(budget = PLENTY)]
async fn io_alias(partner: &Flaky) -> io::Result<u32> {
    partner.run_later().await.map_err(|_| io::ErrorKind::TimedOut.into())
}

#[retry_budget(budget = PLENTY)]
async fn opaque_value(partner: &Flaky) -> Result<impl Iterator<Item = u32> + '_, Lost> {
    let run = partner.run_later().await?;
    Ok((0..run).map(|step| step + partner.runs()))
}

#[retry_budget(budget = PLENTY)]
async fn opaque_function(partner: &Flaky) -> Result<impl Fn(u32) -> u32 + use<>, Lost> {
    let run = partner.run_later().await?;
    Ok(move |by| run * by)
}

#[retry_budget(budget = PLENTY, classify = |_| true)]
async fn boxed_by_question_mark(partner: &Flaky) -> Result<u32, Box<dyn Error + Send + Sync>> {
    let run = partner.run().map_err(|_| fmt::Error)?;
    Ok(run + "1".parse::<u32>()?)
}

#[retry_budget(budget = PLENTY)]
async fn boxed_value(partner: &Flaky) -> Result<Box<dyn fmt::Debug + Send>, Lost> {
    let run = partner.run_later().await?;
    if run == 2 {
        return Ok(Box::new("two"));
    }
    Ok(Box::new(run))
}

#[retry_budget(budget = PLENTY)]
async fn guard(partner: &Flaky, lock: &'static std::sync::Mutex<u32>) -> Result<MutexGuard<'static, u32>, Lost> {
    partner.run()?;
    Ok(lock.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

#[retry_budget(budget = PLENTY, classify = |error: &fmt::Error| Some(if error == &fmt::Error { RetryKind::Transient } else { RetryKind::Throttling }))]
async fn classified_as_kind(partner: &Flaky) -> Result<u32, fmt::Error> {
    partner.run().map_err(|_| fmt::Error)
}

const fn never(_: &String) -> bool {
    false
}

#[retry_budget(budget = PLENTY, classify = never)]
async fn classified_by_path(partner: &Flaky) -> Result<u32, String> {
    partner.run().map_err(|_| "lost".to_owned())
}

#[retry_budget(budget = PLENTY, classify = |_| true)]
async fn generic_error<E: From<fmt::Error>>(partner: &Flaky) -> Result<u32, E> {
    partner.run().map_err(|_| fmt::Error)?;
    Ok(1)
}

#[retry_budget(budget = PLENTY, classify = anyhow::Error::is::<Lost>)]
async fn anyhow_result(partner: &Flaky, text: &str) -> anyhow::Result<u32> {
    use anyhow::Context;
    let run = partner.run_later().await?;
    anyhow::ensure!(!text.is_empty(), "nothing in it");
    Ok(run + text.parse::<u32>().context("not a number")?)
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lost at {}", self.0)
    }
}

impl Error for Lost {}

#[retry_budget(budget = PLENTY)]
async fn a_guard_of_tokio<'a>(
    partner: &Flaky,
    lock: &'a tokio::sync::Mutex<u32>,
) -> Result<tokio::sync::MutexGuard<'a, u32>, Lost> {
    let mut guard = lock.lock().await;
    *guard += 1;
    partner.run_later().await?;
    Ok(guard)
}

#[retry_budget(budget = PLENTY, classify = |_| true)]
async fn boxed_by_hand(partner: &Flaky) -> Result<(), Box<dyn Error>> {
    if partner.run_later().await.is_err() {
        return Err(Box::new(Lost(1)));
    }
    Ok(())
}

#[retry_budget(budget = PLENTY)]
async fn boxed_without_classify(partner: &Flaky, error: fn() -> Box<dyn Error>) -> Result<u32, Box<dyn Error>> {
    partner.run_later().await.map_err(|_| error())
}

#[retry_budget(budget = PLENTY)]
async fn opaque_future(partner: &Flaky) -> Result<impl Future<Output = u32> + Send + use<'_>, Lost> {
    let run = partner.run_later().await?;
    Ok(async move { run + partner.runs() })
}

#[retry_budget(budget = PLENTY)]
async fn opaque_pair(partner: &Flaky) -> Result<(impl fmt::Debug + use<>, Vec<impl Fn() -> u32 + use<>>), Lost> {
    let run = partner.run_later().await?;
    Ok(("debug", vec![move || run]))
}

#[tokio::test(start_paused = true)]
async fn errors_of_applications() {
    assert_eq!(anyhow_result(&Flaky::succeeds_at(3), "4").await.unwrap(), 7);
    let partner = Flaky::succeeds_at(2);
    assert_eq!(anyhow_result(&partner, "four").await.unwrap_err().to_string(), "not a number");
    assert_eq!(partner.runs(), 2);
    assert!(boxed_by_hand(&Flaky::succeeds_at(3)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_box_is_judged_by_what_is_in_it() {
    let known: fn() -> Box<dyn Error> = || io::Error::from(io::ErrorKind::TimedOut).into();
    assert_eq!(boxed_without_classify(&Flaky::succeeds_at(3), known).await.unwrap(), 3);
    let error = boxed_without_classify(&Flaky::succeeds_at(4), known).await.unwrap_err();
    assert_eq!(error.source().unwrap().to_string(), "timed out");
    let gave_up = error.downcast::<ExhaustedBox<dyn Error>>().unwrap();
    assert_eq!(gave_up.stop().attempts, 3);
    assert!(gave_up.into_error().is::<io::Error>());

    let unknown = Flaky::succeeds_at(3);
    let error = boxed_without_classify(&unknown, || Box::new(Lost(7))).await.unwrap_err();
    assert_eq!((error.downcast_ref(), unknown.runs()), (Some(&Lost(7)), 1));
}

#[tokio::test(start_paused = true)]
async fn guards_and_opaque_values() {
    let lock = tokio::sync::Mutex::new(0);
    let partner = Flaky::succeeds_at(3);
    assert_eq!(*a_guard_of_tokio(&partner, &lock).await.unwrap(), 3, "each attempt released it");
    assert_eq!(opaque_future(&Flaky::succeeds_at(3)).await.unwrap().await, 6);
    let (debug, functions) = opaque_pair(&Flaky::succeeds_at(3)).await.unwrap();
    assert_eq!((format!("{debug:?}"), functions[0]()), ("\"debug\"".to_owned(), 3));
}

static LOCK: std::sync::Mutex<u32> = std::sync::Mutex::new(9);

#[tokio::test(start_paused = true)]
async fn every_result() {
    assert_eq!(alias(&Flaky::succeeds_at(3)).await, Ok(3));
    assert_eq!(io_alias(&Flaky::succeeds_at(3)).await.unwrap(), 3);
    assert_eq!(opaque_value(&Flaky::succeeds_at(3)).await.unwrap().sum::<u32>(), 12);
    assert_eq!(opaque_function(&Flaky::succeeds_at(3)).await.unwrap()(5), 15);
    assert_eq!(boxed_by_question_mark(&Flaky::succeeds_at(3)).await.unwrap(), 4);
    assert_eq!(format!("{:?}", boxed_value(&Flaky::succeeds_at(2)).await.unwrap()), "\"two\"");
    assert_eq!(*guard(&Flaky::succeeds_at(3), &LOCK).await.unwrap(), 9);
    assert_eq!(generic_error::<Box<dyn Error>>(&Flaky::succeeds_at(3)).await.unwrap(), 1);
}

#[derive(Debug, Retryable)]
enum GivesUp {
    #[retry(transient)]
    Lost,
    #[retry(exhausted)]
    GaveUp(Box<Exhausted<Self>>),
}

#[retry_budget(budget = PLENTY, classify = |error| matches!(error, GivesUp::Lost))]
async fn classified_and_given_up(partner: &Flaky) -> Result<u32, GivesUp> {
    partner.run().map_err(|_| GivesUp::Lost)
}

#[retry_budget(budget = PLENTY, classify = |error| error.downcast_ref::<io::Error>().map(Retryable::verdict))]
async fn classified_by_looking_inside(partner: &Flaky, known: bool) -> Result<u32, Box<dyn Error + Send + Sync>> {
    match partner.run() {
        Err(_) if known => Err(io::Error::from(io::ErrorKind::TimedOut))?,
        Err(_) => Err("unknown")?,
        Ok(run) => Ok(run),
    }
}

#[tokio::test(start_paused = true)]
async fn classify_sees_inside_and_leaves_the_rest_to_the_error() {
    assert_eq!(classified_by_looking_inside(&Flaky::succeeds_at(3), true).await.unwrap(), 3);
    assert_eq!(classified_by_looking_inside(&Flaky::succeeds_at(3), false).await.unwrap_err().to_string(), "unknown");
    match classified_and_given_up(&Flaky::succeeds_at(9)).await {
        Err(GivesUp::GaveUp(gave_up)) => assert_eq!(gave_up.stop().attempts, 3),
        other => panic!("{other:?}"),
    }
    let policy = RetryPolicy::REQUEST;
    let lost = async |_| Err::<u32, _>(GivesUp::Lost);
    assert!(matches!(retry(&PLENTY, &policy, lost).await, Err(GivesUp::GaveUp(_))));
    let explained = retry(&PLENTY, &policy, lost).explained().await.unwrap_err();
    assert!(matches!(explained.error(), GivesUp::Lost), "explained once, not twice");
}

#[tokio::test(start_paused = true)]
async fn classify_decides() {
    assert_eq!(classified_as_kind(&Flaky::succeeds_at(3)).await, Ok(3));
    let partner = Flaky::succeeds_at(3);
    assert_eq!(classified_by_path(&partner).await, Err("lost".to_owned()));
    assert_eq!(partner.runs(), 1);
}
