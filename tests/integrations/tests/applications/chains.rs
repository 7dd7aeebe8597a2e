//! What is found in a chain, and what comes back.

use crate::{AT_ONCE, Application, Attempts, Busy, PLENTY, Unknown, reason, reset};
use retry_budget::{Elapsed, StopReason, Verdict, find_verdict, retry, retry_budget};
use std::io::{self, ErrorKind};
use std::time::Duration;

#[retry_budget(budget = PLENTY, policy = AT_ONCE)]
async fn fails<E: Application>(attempts: &Attempts, with: fn() -> E) -> Result<u32, E> {
    attempts.one_more();
    Err(with())
}

#[tokio::test(start_paused = true)]
async fn an_io_error() {
    async fn test<E: Application>() {
        let attempts = Attempts::default();
        let error = fails::<E>(&attempts, || reset().into()).await.unwrap_err();
        assert_eq!((reason(&error), attempts.take()), (Some((StopReason::AttemptsUsedUp, 3)), 3));
        assert_eq!(error.to_string(), "no attempts left (3 attempts)", "the log says why");
        assert_eq!(error.chain(), ["no attempts left (3 attempts)", "connection reset"]);
        assert_eq!(error.original::<io::Error>().unwrap().kind(), ErrorKind::ConnectionReset);

        let error = fails::<E>(&attempts, || io::Error::from(ErrorKind::NotFound).into()).await.unwrap_err();
        assert_eq!((reason(&error), attempts.take()), (None, 1));
        assert_eq!(error.chain(), ["entity not found"], "no retry was wanted: it comes back as it is");
    }
    for_each_type!(test);
}

#[tokio::test(start_paused = true)]
async fn contexts_around_it() {
    async fn test<E: Application>() {
        let attempts = Attempts::default();
        let error =
            fails::<E>(&attempts, || E::from(reset()).within("no answer").within("no bikes")).await.unwrap_err();
        assert_eq!((reason(&error), attempts.take()), (Some((StopReason::AttemptsUsedUp, 3)), 3));
        let chain = error.chain();
        assert_eq!(chain[..2], ["no attempts left (3 attempts)", "no bikes"]);
        assert_eq!(chain.last().unwrap(), "connection reset");
    }
    for_each_type!(test);
}

#[tokio::test(start_paused = true)]
async fn what_is_unknown_is_never_retried() {
    async fn test<E: Application>() {
        let attempts = Attempts::default();
        for with in [|| Unknown.into(), || E::from(Unknown).within("no bikes"), || Busy.into()] {
            let error = fails::<E>(&attempts, with).await.unwrap_err();
            assert_eq!((reason(&error), attempts.take()), (None, 1));
            assert_eq!(error.chain(), with().chain());
        }
    }
    for_each_type!(test);
}

#[tokio::test(start_paused = true)]
async fn what_changes_into_it_after_retries_comes_back_as_it_is() {
    async fn test<E: Application>() {
        let error = retry(&PLENTY, &AT_ONCE, async |attempt| {
            Err::<u32, E>(if attempt.is_retry() { Unknown.into() } else { reset().into() })
        })
        .await
        .unwrap_err();
        assert_eq!((reason(&error), error.chain()), (None, vec!["nobody knows".to_owned()]));
    }
    for_each_type!(test);
}

#[retry_budget(budget = PLENTY, policy = AT_ONCE, classify = |error| find_verdict::<Busy>(error.outside()))]
async fn classified<E: Application>(attempts: &Attempts, with: fn() -> E) -> Result<u32, E> {
    attempts.one_more();
    Err(with())
}

#[tokio::test(start_paused = true)]
async fn classify_says_more() {
    async fn test<E: Application>() {
        let attempts = Attempts::default();
        let error = classified::<E>(&attempts, || Busy.into()).await.unwrap_err();
        assert_eq!((reason(&error), attempts.take()), (Some((StopReason::AttemptsUsedUp, 3)), 3));
        assert!(error.original::<Busy>().is_some(), "one's own error is found through what is around it");
        assert_eq!(error.chain(), ["no attempts left (3 attempts)", "too much to do"]);

        classified::<E>(&attempts, || E::from(reset()).within("no bikes")).await.unwrap_err();
        assert_eq!(attempts.take(), 3, "what is known stays known");
        classified::<E>(&attempts, || Unknown.into()).await.unwrap_err();
        assert_eq!(attempts.take(), 1);
    }
    for_each_type!(test);
    assert_eq!(find_verdict::<Busy>(&io::Error::other(Busy)), Some(Verdict::NEVER), "the first that is known decides");
}

#[tokio::test(start_paused = true)]
async fn ones_own_error_far_inside_is_found_by_downcast() {
    let through = |error: anyhow::Error| {
        let error = error.context("first").context("second");
        Err::<u32, _>(error)
    };
    let error = retry(&PLENTY, &AT_ONCE, async |_| through(anyhow::Error::new(reset()).context(Unknown))).await;
    assert!(error.unwrap_err().downcast_ref::<Unknown>().is_some());
    let through = |error: eyre::Report| Err::<u32, _>(error.wrap_err("first").wrap_err("second"));
    let error = retry(&PLENTY, &AT_ONCE, async |_| through(eyre::Report::new(reset()).wrap_err(Unknown))).await;
    assert!(error.unwrap_err().downcast_ref::<Unknown>().is_some());
}

#[retry_budget(budget = PLENTY, policy = AT_ONCE, attempt_timeout = "1s")]
async fn slow<E: Application>(attempts: &Attempts) -> Result<u32, E> {
    attempts.one_more();
    std::future::pending().await
}

#[retry_budget(budget = PLENTY, policy = AT_ONCE, deadline = "3s")]
async fn too_slow<E: Application>(attempts: &Attempts) -> Result<u32, E> {
    attempts.one_more();
    std::future::pending().await
}

#[retry_budget(budget = PLENTY, policy = AT_ONCE, attempt_timeout = "1s", classify = |_| false)]
async fn slow_and_classified<E: Application>(attempts: &Attempts) -> Result<u32, E> {
    attempts.one_more();
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn attempts_that_are_cut_off() {
    async fn test<E: Application>() {
        let attempts = Attempts::default();
        let error = slow::<E>(&attempts).await.unwrap_err();
        assert_eq!((reason(&error), attempts.take()), (Some((StopReason::AttemptsUsedUp, 3)), 3));
        let elapsed = error.original::<Elapsed>().unwrap();
        assert_eq!((elapsed.attempt, elapsed.after), (3, Duration::from_secs(1)));

        let error = slow_and_classified::<E>(&attempts).await.unwrap_err();
        assert_eq!((reason(&error), attempts.take()), (Some((StopReason::AttemptsUsedUp, 3)), 3));

        let error = too_slow::<E>(&attempts).await.unwrap_err();
        assert_eq!((reason(&error), attempts.take()), (Some((StopReason::Deadline, 1)), 1));
        assert_eq!(error.original::<Elapsed>().unwrap().after, Duration::from_secs(3));

        assert_eq!(E::from(elapsed_of_an_attempt().await).verdict(), Verdict::TRANSIENT, "inside of another call");
    }
    for_each_type!(test);
}

/// As a function that is annotated with a limit, and not retried, returns it.
async fn elapsed_of_an_attempt() -> Elapsed {
    #[retry_budget(budget = PLENTY, max_attempts = 1, attempt_timeout = "1s", classify = |_| false)]
    async fn once() -> Result<u32, Elapsed> {
        std::future::pending().await
    }
    once().await.unwrap_err()
}
