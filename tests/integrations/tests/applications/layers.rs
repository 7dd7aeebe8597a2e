//! Layers don't multiply: in one task the loops tell each other, and across tasks the error tells.

use crate::{AT_ONCE, Application, Attempts, BoxError, Busy, PLENTY, Unknown, reason, reset};
use retry_budget::{Exhausted, NEVER, Retryable, Stop, StopReason, Verdict, find_verdict, retry_budget};
use std::io;
use std::sync::Arc;

/// Does it somewhere else, where the loop around sees nothing but the error.
async fn elsewhere<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> T {
    tokio::spawn(task).await.unwrap()
}

#[retry_budget(budget = PLENTY, policy = AT_ONCE)]
async fn inner<E: Application + Send>(attempts: &Attempts) -> Result<u32, E> {
    attempts.one_more();
    Err(reset().into())
}

#[retry_budget(budget = PLENTY, policy = AT_ONCE)]
async fn here<E: Application + Send>(attempts: &Attempts) -> Result<u32, E> {
    inner::<E>(attempts).await
}

#[retry_budget(budget = PLENTY, policy = AT_ONCE)]
async fn there<E: Application + Send>(attempts: &Arc<Attempts>) -> Result<u32, E> {
    let attempts = Arc::clone(attempts);
    elsewhere(async move { inner::<E>(&attempts).await.map_err(|error| error.within("no bikes")) }).await
}

#[retry_budget(budget = PLENTY, policy = AT_ONCE, classify = |error| find_verdict::<Busy>(error.outside()))]
async fn there_and_classified<E: Application + Send>(attempts: &Arc<Attempts>) -> Result<u32, E> {
    #[retry_budget(budget = PLENTY, policy = AT_ONCE, classify = |error| find_verdict::<Busy>(error.outside()))]
    async fn inner<E: Application + Send>(attempts: &Attempts) -> Result<u32, E> {
        attempts.one_more();
        Err(Busy.into())
    }
    let attempts = Arc::clone(attempts);
    elsewhere(async move { inner::<E>(&attempts).await }).await
}

async fn two_layers<E: Application + Send>() {
    let attempts = Arc::<Attempts>::default();
    let error = here::<E>(&attempts).await.unwrap_err();
    assert_eq!(attempts.take(), 3);
    assert_eq!(reason(&error), Some((StopReason::AttemptsUsedUp, 3)), "it tells of the loop that made the attempts");
    assert_eq!(error.chain(), ["no attempts left (3 attempts)", "connection reset"], "told once");

    let error = there::<E>(&attempts).await.unwrap_err();
    assert_eq!(attempts.take(), 3);
    let chain = error.chain();
    assert_eq!(chain[0], "no bikes");
    assert_eq!(chain.iter().filter(|text| text.contains("no attempts left")).count(), 1, "told once: {chain:?}");

    there_and_classified::<E>(&attempts).await.unwrap_err();
    assert_eq!(attempts.take(), 3);
}

#[tokio::test(start_paused = true)]
async fn two_layers_dont_multiply() {
    two_layers::<anyhow::Error>().await;
    two_layers::<eyre::Report>().await;
    two_layers::<BoxError>().await;
}

#[tokio::test(start_paused = true)]
async fn a_layer_that_is_to_try_all_the_same() {
    #[retry_budget(budget = PLENTY, policy = AT_ONCE, nested = "retry", classify = anyhow::Error::is::<io::Error>)]
    async fn insists(attempts: &Attempts) -> anyhow::Result<u32> {
        inner(attempts).await
    }
    #[retry_budget(budget = PLENTY, policy = AT_ONCE, nested = "retry")]
    async fn asks_the_error(attempts: &Attempts) -> anyhow::Result<u32> {
        inner(attempts).await
    }
    let attempts = Attempts::default();
    insists(&attempts).await.unwrap_err();
    assert_eq!(attempts.take(), 9);
    asks_the_error(&attempts).await.unwrap_err();
    assert_eq!(attempts.take(), 3, "it says that it was given up");
}

#[derive(Debug, thiserror::Error, Retryable)]
enum PartnerError {
    #[error(transparent)]
    #[retry(transparent)]
    Io(io::Error),
    #[error("gave up: {0}")]
    #[retry(exhausted)]
    GaveUp(Box<Exhausted<Self>>),
    #[error(transparent)]
    #[retry(transparent)]
    Other(#[from] anyhow::Error),
}

fn anyhow_with(stop: Stop) -> anyhow::Error {
    anyhow::Error::new(reset()).context(stop).context("no bikes")
}

/// Every way in which a call that was given up hides in another error.
#[test]
fn what_was_given_up_is_found_wherever_it_is() {
    let stop = || {
        let io = |_| Err::<(), _>(PartnerError::Io(reset()));
        match retry_budget::retry_blocking(NEVER, &AT_ONCE, io) {
            Err(PartnerError::GaveUp(gave_up)) => gave_up.stop().clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(anyhow_with(stop()).verdict(), Verdict::NEVER);
    assert_eq!(anyhow::Error::new(PartnerError::Other(anyhow_with(stop()))).verdict(), Verdict::NEVER);
    assert_eq!(PartnerError::Other(anyhow_with(stop())).verdict(), Verdict::NEVER);
    assert_eq!(BoxError::from(anyhow_with(stop())).verdict(), Verdict::NEVER);
    assert_eq!(io::Error::other(BoxError::from(anyhow_with(stop()))).verdict(), Verdict::NEVER);
    assert_eq!(eyre::Report::new(reset()).wrap_err(stop()).wrap_err("no bikes").verdict(), Verdict::NEVER);
    let boxed: BoxError = eyre::Report::new(reset()).wrap_err(stop()).into();
    assert_eq!(eyre::eyre!(boxed).wrap_err("no bikes").verdict(), Verdict::NEVER);
    assert_eq!(anyhow::Error::new(Exhausted::new(reset(), stop())).verdict(), Verdict::NEVER);
    let gave_up = || PartnerError::GaveUp(Box::new(Exhausted::new(PartnerError::Io(reset()), stop())));
    assert_eq!(anyhow::Error::new(gave_up()).verdict(), Verdict::NEVER);
    assert_eq!(anyhow::Error::new(gave_up()).context(Unknown).verdict(), Verdict::NEVER);
    assert_eq!(BoxError::from(gave_up()).exhausted(stop()).verdict(), Verdict::NEVER);
    assert_eq!(
        anyhow::Error::new(reset()).context("no bikes").verdict(),
        Verdict::TRANSIENT,
        "and else it is tried again"
    );
}
