//! Layers of loops don't multiply, whichever of them are tower's.

use crate::{BoxError, PLENTY, QUICK, every_error};
use retry_budget::tower_0_5::{BudgetPolicy, RetryLayer};
use retry_budget::{TokenBudget, retry_budget};
use std::future::ready;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use tokio_test::{assert_pending, assert_ready_err, task};
use tower::ServiceExt;
use tower_layer::Layer;
use tower_service::Service;
use tower_test::{assert_request_eq, mock};

static BUDGET: TokenBudget = TokenBudget::builder("layers").capacity(100_000).build();

/// A service that fails, and counts.
fn down(attempts: &AtomicU32) -> impl Service<u32, Response = u32, Error = BoxError, Future: Send> + Clone {
    tower::service_fn(|_| {
        attempts.fetch_add(1, SeqCst);
        async {
            tokio::task::yield_now().await;
            Err("down".into())
        }
    })
}

/// Another type of error, which says nothing of what happened inside.
fn forgetful(_: BoxError) -> BoxError {
    "it failed".into()
}

#[tokio::test]
async fn a_layer_around_a_layer() {
    let attempts = AtomicU32::new(0);
    let layer = RetryLayer::new(&BUDGET, QUICK).classify(every_error);
    let inside = layer.layer(down(&attempts)).map_err(forgetful);
    layer.layer(inside).oneshot(7).await.unwrap_err();
    assert_eq!(attempts.load(SeqCst), 3);
}

#[tokio::test]
async fn an_annotated_function_around_a_layer() {
    #[retry_budget(budget = BUDGET, policy = QUICK, classify = |_| true)]
    async fn function<S: Service<u32, Response = u32, Error = BoxError> + Clone>(service: &S) -> Result<u32, String> {
        service.clone().oneshot(7).await.map_err(|error| error.to_string())
    }
    let attempts = AtomicU32::new(0);
    let service = RetryLayer::new(&BUDGET, QUICK).classify(every_error).layer(down(&attempts));
    function(&service).await.unwrap_err();
    assert_eq!(attempts.load(SeqCst), 3);
}

#[tokio::test]
async fn a_layer_around_an_annotated_function() {
    #[retry_budget(budget = BUDGET, policy = QUICK, classify = |_| true)]
    async fn function(attempts: &AtomicU32) -> Result<u32, String> {
        attempts.fetch_add(1, SeqCst);
        tokio::task::yield_now().await;
        Err("down".to_owned())
    }
    let attempts = AtomicU32::new(0);
    let service = tower::service_fn(|_: u32| async { function(&attempts).await.map_err(|_| "it failed".into()) });
    let layer = RetryLayer::new(&BUDGET, QUICK).classify(every_error);
    layer.layer(service).oneshot(7).await.unwrap_err();
    assert_eq!(attempts.load(SeqCst), 3);
}

#[tokio::test]
async fn a_layer_around_a_call_that_is_not_async() {
    let attempts = AtomicU32::new(0);
    let service = tower::service_fn(|_: u32| {
        let result = retry_budget::Retry::new(&BUDGET, &QUICK).classify(|_: &BoxError| true).run_blocking(|_| {
            attempts.fetch_add(1, SeqCst);
            Err::<u32, BoxError>("down".into())
        });
        ready(result.map_err(forgetful))
    });
    let layer = RetryLayer::new(&BUDGET, QUICK).classify(every_error);
    layer.layer(service).oneshot(7).await.unwrap_err();
    assert_eq!(attempts.load(SeqCst), 3, "it gave up within `Service::call`");
}

#[tokio::test]
async fn towers_own_retry_with_our_policy_tells_the_loops_around_it() {
    let attempts = AtomicU32::new(0);
    let policy = BudgetPolicy::new(&BUDGET, QUICK).classify(every_error);
    let inside = tower::retry::RetryLayer::new(policy).layer(down(&attempts)).map_err(forgetful);
    RetryLayer::new(&BUDGET, QUICK).classify(every_error).layer(inside).oneshot(7).await.unwrap_err();
    assert_eq!(attempts.load(SeqCst), 3);
}

#[tokio::test]
async fn what_another_call_of_the_task_gave_up_counts_for_nothing() {
    let (given_up, attempts) = (AtomicU32::new(0), AtomicU32::new(0));
    let layer = RetryLayer::new(&BUDGET, QUICK).classify(every_error);
    layer.layer(down(&given_up)).oneshot(7).await.unwrap_err();
    layer.layer(down(&attempts)).oneshot(7).await.unwrap_err();
    assert_eq!((given_up.load(SeqCst), attempts.load(SeqCst)), (3, 3));
}

#[tokio::test]
async fn a_loop_that_makes_the_request_anew_may_retry_what_the_layer_cannot() {
    let attempts = AtomicU32::new(0);
    let inside = RetryLayer::new(&PLENTY, QUICK).classify(every_error).requests(|_: &u32| None).layer(down(&attempts));
    RetryLayer::new(&PLENTY, QUICK).classify(every_error).layer(inside).oneshot(7).await.unwrap_err();
    assert_eq!(attempts.load(SeqCst), 3);
}

#[tokio::test]
async fn such_a_request_passes_on_what_gave_up_inside() {
    let attempts = AtomicU32::new(0);
    let layer = RetryLayer::new(&PLENTY, QUICK).classify(every_error);
    let inside = layer.layer(down(&attempts)).map_err(forgetful);
    let inside = layer.requests(|_: &u32| None).layer(inside);
    layer.layer(inside).oneshot(7).await.unwrap_err();
    assert_eq!(attempts.load(SeqCst), 3);
}

#[tokio::test]
async fn a_service_that_breaks_between_two_attempts_is_given_up() {
    let (inner, mut handle): (crate::Mock, _) = mock::pair();
    let calls = AtomicU32::new(0);
    let layer = RetryLayer::new(&PLENTY, QUICK).classify(every_error);
    let inside = layer.layer(inner).map_err(forgetful).map_request(|request| {
        calls.fetch_add(1, SeqCst);
        request
    });
    let mut call = task::spawn(layer.layer(inside).oneshot("hello"));
    assert_pending!(call.poll());
    assert_request_eq!(handle, "hello").send_error("lost");
    handle.send_error("broken");
    assert_ready_err!(call.poll());
    assert_eq!(calls.into_inner(), 1);
}
