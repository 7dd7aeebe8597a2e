//! Readiness is respected before every attempt, and backpressure reaches the caller.

use crate::recorder::{Recorder, Told, assert_lawful};
use crate::{BoxError, Mock, PLENTY, QUICK, every_error};
use retry_budget::tower_0_5::RetryLayer;
use retry_budget::{CallEnd, Fate};
use std::future::{Ready, poll_fn, ready};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio_test::{assert_pending, assert_ready_err, assert_ready_ok, task};
use tower::buffer::BufferLayer;
use tower::limit::ConcurrencyLimitLayer;
use tower::{ServiceBuilder, ServiceExt};
use tower_layer::Layer;
use tower_service::Service;
use tower_test::{assert_request_eq, mock};

#[tokio::test]
async fn it_is_ready_when_the_service_inside_is() {
    let (inner, mut handle): (Mock, _) = mock::pair();
    let mut service = mock::Spawn::new(RetryLayer::new(&PLENTY, QUICK).classify(every_error).layer(inner));
    handle.allow(0);
    assert_pending!(service.poll_ready());
    handle.allow(1);
    assert!(service.is_woken());
    assert_ready_ok!(service.poll_ready());
}

#[tokio::test]
async fn a_retry_waits_until_the_service_is_ready() {
    let recorder = Recorder::granting(9);
    let (inner, mut handle): (Mock, _) = mock::pair();
    let mut service = mock::Spawn::new(RetryLayer::new(&recorder, QUICK).classify(every_error).layer(inner));
    handle.allow(1);
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));
    assert_request_eq!(handle, "hello").send_error("lost");

    assert_pending!(call.poll());
    assert!(handle.poll_request().is_pending(), "not sent, since the service isn't ready");
    assert!(!call.is_woken());
    handle.allow(1);
    assert!(call.is_woken());
    assert_pending!(call.poll());
    assert_request_eq!(handle, "hello").send_response("world");
    assert_ready_ok!(call.poll(), "world");
    let told = recorder.told();
    assert_lawful(&told);
    assert_eq!(told.last(), Some(&Told::End(CallEnd::AfterRetry)));
}

#[tokio::test]
async fn dropped_while_it_waits_for_readiness_nothing_was_sent() {
    let recorder = Recorder::granting(9);
    let (inner, mut handle): (Mock, _) = mock::pair();
    let mut service = mock::Spawn::new(RetryLayer::new(&recorder, QUICK).classify(every_error).layer(inner));
    handle.allow(1);
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));
    assert_request_eq!(handle, "hello").send_error("lost");
    assert_pending!(call.poll());
    drop(call);
    assert_eq!(
        recorder.told(),
        [Told::Begin, Told::Granted(1), Told::Settled(1, Fate::NotSent), Told::End(CallEnd::Dropped)]
    );
}

#[tokio::test]
async fn a_service_that_breaks_between_two_attempts_ends_the_call() {
    let recorder = Recorder::granting(9);
    let (inner, mut handle): (Mock, _) = mock::pair();
    let mut service = mock::Spawn::new(RetryLayer::new(&recorder, QUICK).classify(every_error).layer(inner));
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));
    assert_request_eq!(handle, "hello").send_error("lost");
    handle.send_error("broken");
    assert_eq!(assert_ready_err!(call.poll()).to_string(), "broken");
    assert_pending!(call.poll(), "asked again after its end, it just has nothing to say");
    drop(call);
    assert_eq!(
        recorder.told(),
        [Told::Begin, Told::Granted(1), Told::Settled(1, Fate::NotSent), Told::End(CallEnd::Dropped)]
    );
}

#[tokio::test]
async fn a_service_that_breaks_before_the_call_is_no_call() {
    let recorder = Recorder::granting(9);
    let (inner, mut handle): (Mock, _) = mock::pair();
    let mut service = mock::Spawn::new(RetryLayer::new(&recorder, QUICK).classify(every_error).layer(inner));
    handle.send_error("broken");
    assert_eq!(assert_ready_err!(service.poll_ready()).to_string(), "broken");
    assert_eq!(recorder.told(), []);
}

/// Fails, and panics when it is called without having been ready. A clone isn't ready.
#[derive(Debug, Default)]
struct Strict {
    ready: bool,
    calls: Arc<AtomicUsize>,
}

impl Clone for Strict {
    fn clone(&self) -> Self {
        Self { ready: false, calls: self.calls.clone() }
    }
}

impl Service<u32> for Strict {
    type Response = u32;
    type Error = io::Error;
    type Future = Ready<io::Result<u32>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: u32) -> Self::Future {
        assert!(std::mem::take(&mut self.ready), "called without having been ready");
        self.calls.fetch_add(1, SeqCst);
        ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

#[tokio::test]
async fn each_attempt_is_made_by_a_service_that_is_ready() {
    let inner = Strict::default();
    let mut service = RetryLayer::new(&PLENTY, QUICK).layer(inner.clone());
    for calls in [3, 6] {
        poll_fn(|cx| service.poll_ready(cx)).await.unwrap();
        service.call(7).await.unwrap_err();
        assert_eq!(inner.calls.load(SeqCst), calls);
    }
}

#[tokio::test]
async fn two_layers_above_each_other_keep_to_it() {
    let inner = Strict::default();
    let layer = RetryLayer::new(&PLENTY, QUICK);
    let mut service = layer.layer(layer.layer(inner.clone()));
    poll_fn(|cx| service.poll_ready(cx)).await.unwrap();
    service.call(7).await.unwrap_err();
    assert_eq!(inner.calls.load(SeqCst), 3, "and they don't multiply");
}

/// What is at work in a service, at this moment and at most.
#[derive(Clone, Debug, Default)]
struct AtWork(Arc<[AtomicUsize; 2]>);

impl AtWork {
    async fn work(self) -> Result<u32, BoxError> {
        let now = self.0[0].fetch_add(1, SeqCst) + 1;
        self.0[1].fetch_max(now, SeqCst);
        tokio::time::sleep(Duration::from_millis(10)).await;
        self.0[0].fetch_sub(1, SeqCst);
        Err("down".into())
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_inside_holds_for_retries_and_is_free_while_they_wait() {
    let (at_work, recorder) = (AtWork::default(), Arc::new(Recorder::granting(99)));
    let inside = at_work.clone();
    let service = ServiceBuilder::new()
        .layer(RetryLayer::new(recorder.clone(), crate::SLOW).classify(every_error))
        .layer(ConcurrencyLimitLayer::new(2))
        .service_fn(move |_: u32| inside.clone().work());
    let calls: tokio::task::JoinSet<_> = (0..6).map(|n| service.clone().oneshot(n)).collect();
    for result in calls.join_all().await {
        result.unwrap_err();
    }
    assert_eq!(at_work.0[1].load(SeqCst), 2);
    let retries = recorder.told().iter().filter(|told| matches!(told, Told::Granted(_))).count();
    assert_eq!(retries, 12, "three attempts each, which a permit held through the waits would have stopped");
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_no_clone_behind_a_buffer() {
    struct Alone(u32);
    impl Service<u32> for Alone {
        type Response = u32;
        type Error = BoxError;
        type Future = Ready<Result<u32, BoxError>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: u32) -> Self::Future {
            self.0 += 1;
            ready(if self.0 < 3 { Err("down".into()) } else { Ok(request) })
        }
    }
    let service = ServiceBuilder::new()
        .layer(BufferLayer::new(4))
        .layer(RetryLayer::new(&PLENTY, QUICK).classify(every_error))
        .layer(BufferLayer::new(4))
        .service(Alone(0));
    assert_eq!(service.oneshot(7).await.unwrap(), 7);
}
