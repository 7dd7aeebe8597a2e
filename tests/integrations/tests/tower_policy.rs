//! Tower's own `Retry` with our policy: what tower's tests expect of it, and what a budget expects.

extern crate retry_budget as retry_budget_runtime;

#[path = "../../../retry-budget-runtime/tests/support/recorder.rs"]
mod recorder;

use recorder::{Recorder, Told, assert_lawful};
use retry_budget::tower_0_5::{BudgetPolicy, CloneRequest, CountsNoStart};
use retry_budget::{
    Attempt, Budget, CallEnd, Fate, GrpcBudget, RetryKind, RetryPolicy, Time, TokenBudget, UNLIMITED, Unlimited,
};
use std::sync::{Arc, LazyLock};
use std::task::Poll;
use std::time::Duration;
use tokio_test::{assert_pending, assert_ready_err, assert_ready_ok, task};
use tower::retry::{Policy, RetryLayer};
use tower_layer::Layer;
use tower_test::{assert_request_eq, mock};

type BoxError = tower::BoxError;
type Mock = mock::Mock<&'static str, &'static str>;
type Handle = mock::Handle<&'static str, &'static str>;

/// Three attempts, no delay.
const QUICK: RetryPolicy = RetryPolicy::builder().base_delay(Duration::ZERO).build();
/// Three attempts, a second and two seconds apart.
const SLOW: RetryPolicy =
    RetryPolicy::builder().base_delay(Duration::from_secs(1)).jitter(retry_budget::Jitter::None).build();

static PLENTY: Unlimited = UNLIMITED;

/// A budget that goes by successes and failures, as far as this test sees.
impl CountsNoStart for Recorder {}

fn spawn<P>(policy: P) -> (mock::Spawn<tower::retry::Retry<P, Mock>>, Handle)
where
    P: Policy<&'static str, &'static str, BoxError> + Clone,
{
    let (inner, handle) = mock::pair();
    (mock::Spawn::new(RetryLayer::new(policy).layer(inner)), handle)
}

fn every_error(_: &BoxError) -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn cannot_clone(_: &&'static str) -> Option<&'static str> {
    None
}

#[tokio::test]
async fn an_error_is_retried() {
    let (mut service, mut handle) = spawn(BudgetPolicy::new(&PLENTY, QUICK).classify(every_error));
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));
    assert_request_eq!(handle, "hello").send_error("retry me");
    assert_pending!(call.poll());
    assert_request_eq!(handle, "hello").send_response("world");
    assert_eq!(call.into_inner().await.unwrap(), "world");
}

#[tokio::test]
async fn the_last_error_comes_back() {
    let (mut service, mut handle) = spawn(BudgetPolicy::new(&PLENTY, QUICK).classify(every_error));
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
    let policy = BudgetPolicy::new(&PLENTY, QUICK).classify(|error: &BoxError| error.to_string() != "reject");
    let (mut service, mut handle) = spawn(policy);
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));
    assert_request_eq!(handle, "hello").send_error("retry 1");
    assert_pending!(call.poll());
    assert_request_eq!(handle, "hello").send_error("reject");
    assert_eq!(assert_ready_err!(call.poll()).to_string(), "reject");
}

#[tokio::test]
async fn a_request_that_cannot_be_cloned_is_sent_once_and_unseen() {
    let recorder = Recorder::granting(9);
    let (mut service, mut handle) =
        spawn(BudgetPolicy::new(&recorder, QUICK).classify(every_error).requests(cannot_clone));
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));
    assert_request_eq!(handle, "hello").send_error("retry 1");
    assert_eq!(assert_ready_err!(call.poll()).to_string(), "retry 1");
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));
    assert_request_eq!(handle, "hello").send_response("world");
    assert_ready_ok!(call.poll(), "world");
    assert_eq!(recorder.told(), []);
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
    let policy = BudgetPolicy::new(&PLENTY, QUICK)
        .classify(every_error)
        .classify_ok(|response: &&str| *response == "busy")
        .requests(Numbered);
    let (mut service, mut handle) = spawn(policy);
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));
    assert_request_eq!(handle, "hello").send_response("busy");
    assert_pending!(call.poll());
    assert_request_eq!(handle, "second").send_response("busy");
    assert_pending!(call.poll());
    assert_request_eq!(handle, "third").send_response("busy");
    assert_ready_ok!(call.poll(), "busy");
}

/// Makes calls that fail that many times, one after the other.
async fn calls<B: CountsNoStart + Clone>(budget: B, failures: &[u32]) {
    let (mut service, mut handle) = spawn(BudgetPolicy::new(budget, QUICK).classify(every_error));
    for &failures in failures {
        assert_ready_ok!(service.poll_ready());
        let mut call = task::spawn(service.call("hello"));
        for _ in 0..failures {
            assert_request_eq!(handle, "hello").send_error("down");
            if call.poll().is_ready() {
                break;
            }
        }
        if let Poll::Ready(Some((_, answer))) = handle.poll_request() {
            answer.send_response("world");
            assert_ready_ok!(call.poll());
        }
    }
}

#[tokio::test]
async fn the_kinds_that_fit() {
    static TOKEN: TokenBudget = TokenBudget::builder("token").build();
    static GRPC: LazyLock<GrpcBudget> = LazyLock::new(|| GrpcBudget::builder("grpc").build());
    calls(&TOKEN, &[3, 2, 0]).await;
    assert_eq!(TOKEN.snapshot(Time::ZERO).available, 459, "472, 458 and a first success");
    calls(&*GRPC, &[3, 1]).await;
    assert_eq!(GRPC.snapshot(Time::ZERO).available, 6_100);
    let shared = Arc::new(TokenBudget::builder("shared").build());
    calls(shared.clone(), &[1]).await;
    assert_eq!(shared.snapshot(Time::ZERO).available, 500);
}

#[tokio::test]
async fn what_a_budget_is_told() {
    let told = async |grants, failures: u32| {
        let recorder = Recorder::granting(grants);
        calls(&recorder, &[failures]).await;
        assert_lawful(&recorder.told());
        recorder.told()
    };
    let (first, failed) = (Told::Begin, Told::End(CallEnd::Failed));
    assert_eq!(told(9, 0).await, [first, Told::End(CallEnd::FirstTry)]);
    assert_eq!(told(0, 1).await, [first, Told::Denied, failed]);
    assert_eq!(
        told(9, 1).await,
        [first, Told::Granted(1), Told::Settled(1, Fate::Succeeded), Told::End(CallEnd::AfterRetry)]
    );
    assert_eq!(
        told(9, 3).await[4..],
        [Told::Settled(2, Fate::Failed), Told::Final(Some(RetryKind::Transient)), failed]
    );
}

/// Goes through a call that fails each time, step by step, and drops it after that many.
async fn dropped_after(steps: usize) -> Vec<Told> {
    let recorder = Recorder::granting(9);
    {
        let (mut service, mut handle) = spawn(BudgetPolicy::new(&recorder, SLOW).classify(every_error));
        assert_ready_ok!(service.poll_ready());
        let mut call = task::spawn(service.call("hello"));
        for step in 0..steps {
            if step % 2 == 0 {
                handle.next_request().await.unwrap().1.send_error("down");
            } else {
                tokio::time::advance(Duration::from_secs(2)).await;
            }
            assert_eq!(call.poll().is_ready(), step == 4);
        }
    }
    recorder.told()
}

#[tokio::test(start_paused = true)]
async fn dropped_at_every_step() {
    let [first, dropped] = [Told::Begin, Told::End(CallEnd::Dropped)];
    assert_eq!(dropped_after(0).await, [], "in the first attempt, of which it isn't told");
    assert_eq!(dropped_after(1).await, [first, Told::Granted(1), Told::Settled(1, Fate::NotSent), dropped]);
    assert_eq!(dropped_after(2).await, [first, Told::Granted(1), Told::Settled(1, Fate::Dropped), dropped]);
    for steps in 3..=5 {
        assert_lawful(&dropped_after(steps).await);
    }
}

#[tokio::test]
async fn dropped_while_it_waits_for_readiness_nothing_was_sent() {
    let recorder = Recorder::granting(9);
    let (mut service, mut handle) = spawn(BudgetPolicy::new(&recorder, QUICK).classify(every_error));
    handle.allow(1);
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));
    assert_request_eq!(handle, "hello").send_error("lost");
    assert_pending!(call.poll());
    assert!(handle.poll_request().is_pending());
    drop(call);
    assert_eq!(
        recorder.told(),
        [Told::Begin, Told::Granted(1), Told::Settled(1, Fate::NotSent), Told::End(CallEnd::Dropped)]
    );
}

#[tokio::test]
async fn each_call_starts_from_the_beginning() {
    let (mut service, mut handle) = spawn(BudgetPolicy::new(&PLENTY, QUICK).classify(every_error));
    for _ in 0..2 {
        assert_ready_ok!(service.poll_ready());
        let mut call = task::spawn(service.call("hello"));
        for _ in 0..2 {
            assert_request_eq!(handle, "hello").send_error("down");
            assert_pending!(call.poll());
        }
        assert_request_eq!(handle, "hello").send_error("down");
        assert_ready_err!(call.poll());
    }
}

#[tokio::test(start_paused = true)]
async fn its_hint_is_obeyed() {
    let policy = BudgetPolicy::new(&PLENTY, SLOW)
        .classify(|_: &BoxError| retry_budget::Verdict::THROTTLING.after(Duration::from_secs(7)));
    let (mut service, mut handle) = spawn(policy);
    assert_ready_ok!(service.poll_ready());
    let mut call = task::spawn(service.call("hello"));
    assert_request_eq!(handle, "hello").send_error("busy");
    assert_pending!(call.poll());
    tokio::time::advance(Duration::from_millis(6_999)).await;
    assert_pending!(call.poll());
    tokio::time::advance(Duration::from_millis(2)).await;
    assert_pending!(call.poll());
    assert!(handle.poll_request().is_ready());
}
