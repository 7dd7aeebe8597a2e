//! Every loop that there is: functions, `retry!`, tower's layer.

use crate::{AT_ONCE, Application, Attempts, BoxError, Busy, PLENTY, Unknown, reason, reset};
use retry_budget::tower_0_5::RetryLayer;
use retry_budget::{Retry, StopReason, find_verdict, retry, retry_blocking};
use std::convert::Infallible;
use std::future::{pending, ready};
use tower::ServiceExt;
use tower_layer::Layer;

const USED_UP: Option<(StopReason, u32)> = Some((StopReason::AttemptsUsedUp, 3));

#[tokio::test]
async fn functions() {
    async fn test<E: Application>() {
        let error = retry(&PLENTY, &AT_ONCE, async |_| Err::<u32, E>(reset().into())).await.unwrap_err();
        assert_eq!(reason(&error), USED_UP);
        let error = retry_blocking(&PLENTY, &AT_ONCE, |_| Err::<u32, E>(reset().into())).unwrap_err();
        assert_eq!(reason(&error), USED_UP);
        let gave_up = retry(&PLENTY, &AT_ONCE, async |_| Err::<u32, E>(reset().into())).explained().await.unwrap_err();
        assert_eq!(gave_up.stop().attempts, 3);
        assert_eq!(reason(gave_up.error()), None, "explained once, not twice");

        let classified = Retry::new(&PLENTY, &AT_ONCE).classify(|error: &E| find_verdict::<Busy>(error.outside()));
        let error = classified.run(async |_| Err::<u32, E>(Busy.into())).await.unwrap_err();
        assert_eq!((reason(&error), error.chain()), (None, vec!["too much to do".to_owned()]), "as it is");
        let error = classified.attach_stop().run(async |_| Err::<u32, E>(Busy.into())).await.unwrap_err();
        assert_eq!(reason(&error), USED_UP);
        let error = classified.attach_stop().run_blocking(|_| Err::<u32, E>(Busy.into())).unwrap_err();
        assert_eq!(reason(&error), USED_UP);
        let error = classified.attach_stop().run(async |_| Err::<u32, E>(Unknown.into())).await.unwrap_err();
        assert_eq!(reason(&error), None);
    }
    for_each_type!(test);
}

#[tokio::test]
async fn blocks() {
    async fn test<E: Application>() {
        let attempts = Attempts::default();
        let error = retry!(budget = PLENTY, policy = AT_ONCE, async || -> Result<Infallible, E> {
            attempts.one_more();
            Err(E::from(reset()))
        })
        .await
        .unwrap_err();
        assert_eq!((reason(&error), attempts.take()), (USED_UP, 3));
    }
    for_each_type!(test);
}

#[tokio::test]
async fn towers_layer() {
    async fn test<E: Application>() {
        let attempts = Attempts::default();
        let down = tower::service_fn(|with: fn() -> E| {
            attempts.one_more();
            ready(Err::<Infallible, E>(with()))
        });
        let layer = RetryLayer::new(&PLENTY, AT_ONCE);
        let error = layer.layer(down).oneshot(|| reset().into()).await.unwrap_err();
        assert_eq!((reason(&error), attempts.take()), (USED_UP, 3));
        let error = layer.layer(down).oneshot(|| Unknown.into()).await.unwrap_err();
        assert_eq!((reason(&error), attempts.take()), (None, 1));

        let classified = layer.classify(|error: &E| find_verdict::<Busy>(error.outside()));
        let error = classified.layer(down).oneshot(|| Busy.into()).await.unwrap_err();
        assert_eq!((reason(&error), attempts.take()), (None, 3));
        let error = classified.attach_stop().layer(down).oneshot(|| Busy.into()).await.unwrap_err();
        assert_eq!((reason(&error), attempts.take()), (USED_UP, 3));
    }
    for_each_type!(test);
}

/// What stacks of tower's layers return.
#[tokio::test(start_paused = true)]
async fn a_stack_of_layers() {
    let attempts = Attempts::default();
    let slow = tower::service_fn(|()| {
        attempts.one_more();
        pending::<Result<u32, BoxError>>()
    });
    let timeout = tower::timeout::TimeoutLayer::new(std::time::Duration::from_secs(1));
    let error = RetryLayer::new(&PLENTY, AT_ONCE).layer(timeout.layer(slow)).oneshot(()).await.unwrap_err();
    assert_eq!((reason(&error), attempts.take()), (USED_UP, 3));
    assert!(error.original::<tower::timeout::error::Elapsed>().is_some());
}
