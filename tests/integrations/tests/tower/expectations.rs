//! What tower's tests of its own `Retry` expect, asked of ours.

use crate::{BoxError, Handle, Mock, PLENTY, QUICK, every_error};
use retry_budget::Attempt;
use retry_budget::tower_0_5::{CloneRequest, RetryLayer};
use tokio_test::{assert_pending, assert_ready_err, assert_ready_ok, task};
use tower_layer::Layer;
use tower_test::{assert_request_eq, mock};

fn spawn<L: Layer<Mock>>(layer: L) -> (mock::Spawn<L::Service>, Handle) {
    mock::spawn_layer(layer)
}

#[tokio::test]
async fn an_error_is_retried() {
    let (mut service, mut handle) = spawn(RetryLayer::new(&PLENTY, QUICK).classify(every_error));
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));

    assert_request_eq!(handle, "hello").send_error("retry me");
    assert_pending!(call.poll());
    assert_request_eq!(handle, "hello").send_response("world");
    assert_eq!(call.into_inner().await.unwrap(), "world");
}

#[tokio::test]
async fn the_last_error_comes_back() {
    let (mut service, mut handle) = spawn(RetryLayer::new(&PLENTY, QUICK).classify(every_error));
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));

    assert_request_eq!(handle, "hello").send_error("retry 1");
    assert_pending!(call.poll());
    assert_request_eq!(handle, "hello").send_error("retry 2");
    assert_pending!(call.poll());
    assert_request_eq!(handle, "hello").send_error("retry 3");
    assert_eq!(assert_ready_err!(call.poll()).to_string(), "retry 3");
}

#[tokio::test]
async fn an_error_that_is_not_worth_it_comes_back() {
    let layer = RetryLayer::new(&PLENTY, QUICK).classify(|error: &BoxError| error.to_string() != "reject");
    let (mut service, mut handle) = spawn(layer);
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));

    assert_request_eq!(handle, "hello").send_error("retry 1");
    assert_pending!(call.poll());
    assert_request_eq!(handle, "hello").send_error("reject");
    assert_eq!(assert_ready_err!(call.poll()).to_string(), "reject");
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn cannot_clone(_: &&'static str) -> Option<&'static str> {
    None
}

#[tokio::test]
async fn a_request_that_cannot_be_cloned_is_sent_once() {
    let (mut service, mut handle) = spawn(RetryLayer::new(&PLENTY, QUICK).classify(every_error).requests(cannot_clone));
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));

    assert_request_eq!(handle, "hello").send_error("retry 1");
    assert_eq!(assert_ready_err!(call.poll()).to_string(), "retry 1");
}

#[tokio::test]
async fn a_request_that_cannot_be_cloned_may_succeed() {
    let (mut service, mut handle) = spawn(RetryLayer::new(&PLENTY, QUICK).classify(every_error).requests(cannot_clone));
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));

    assert_request_eq!(handle, "hello").send_response("world");
    assert_ready_ok!(call.poll(), "world");
}

#[derive(Clone)]
struct Numbered;

impl CloneRequest<&'static str> for Numbered {
    fn clone_request(&self, request: &&'static str) -> Option<&'static str> {
        Some(request)
    }

    fn tell_attempt(&self, request: &mut &'static str, attempt: Attempt) {
        *request = if attempt.number() == 2 { "second" } else { "third" };
    }
}

#[tokio::test]
async fn a_response_is_retried_and_the_request_says_so() {
    let layer = RetryLayer::new(&PLENTY, QUICK)
        .classify(every_error)
        .classify_ok(|response: &&str| *response == "busy")
        .requests(Numbered);
    let (mut service, mut handle) = spawn(layer);
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));

    assert_request_eq!(handle, "hello").send_response("busy");
    assert_pending!(call.poll());
    assert_request_eq!(handle, "second").send_response("busy");
    assert_pending!(call.poll());
    assert_request_eq!(handle, "third").send_response("busy");
    assert_ready_ok!(call.poll(), "busy");
}
