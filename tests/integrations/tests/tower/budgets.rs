//! Every kind of budget stands behind the layer, and gets to know each call from its beginning to its end.

use crate::recorder::{Recorder, Told};
use crate::{BoxError, QUICK, every_error};
use retry_budget::tower_0_5::RetryLayer;
use retry_budget::{
    Budget, CallEnd, ConcurrencyBudget, CreditBudget, Fate, GrpcBudget, NEVER, RatioBudget, RetryKind, RetryPolicy,
    Retryable, Stop, StopReason, Time, TokenBudget, Verdict, WhenEmpty,
};
use std::cell::Cell;
use std::future::{Ready, ready};
use std::io;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tower::ServiceExt;
use tower_layer::Layer;
use tower_service::Service;

/// Makes a call of a service that fails that many times.
async fn call<B: Budget + Clone>(budget: B, failures: u32) -> Result<u32, BoxError> {
    let attempts = Cell::new(0);
    let service = tower::service_fn(|()| {
        attempts.set(attempts.get() + 1);
        ready(if attempts.get() > failures { Ok(attempts.get()) } else { Err("down".into()) })
    });
    let layer = RetryLayer::new(budget, QUICK).classify(every_error);
    layer.layer(service).oneshot(()).await
}

#[tokio::test]
async fn the_token_budget() {
    static TOKEN: TokenBudget = TokenBudget::builder("token").build();
    let left = || TOKEN.snapshot(Time::ZERO).available;
    call(&TOKEN, 3).await.unwrap_err();
    assert_eq!(left(), 472);
    assert_eq!(call(&TOKEN, 2).await.unwrap(), 3);
    assert_eq!(left(), 458, "the last retry's cost is back");
    assert_eq!(call(&TOKEN, 0).await.unwrap(), 1);
    assert_eq!(left(), 459);
}

#[tokio::test]
async fn the_ratio_budget_counts_every_call() {
    static RATIO: LazyLock<RatioBudget> =
        LazyLock::new(|| RatioBudget::builder("ratio").min_retries(0).try_build().unwrap());
    for failures in [0, 0, 0, 0, 0, 0, 0, 0, 0, 1] {
        call(&*RATIO, failures).await.unwrap();
    }
    assert!(call(&*RATIO, 1).await.is_err(), "a tenth of ten is spent");
    assert_eq!(RATIO.snapshot(Time::now()).requests, Some(11));
}

#[tokio::test]
async fn the_credit_budget_lets_calls_earn() {
    let credit = Arc::new(CreditBudget::builder("credit").initial(0.0).build());
    for _ in 0..9 {
        call(credit.clone(), 1).await.unwrap_err();
    }
    assert_eq!(call(credit.clone(), 1).await.unwrap(), 2, "ten calls earn one retry");
}

#[tokio::test]
async fn the_concurrency_budget_knows_who_is_there() {
    static CONCURRENCY: ConcurrencyBudget =
        ConcurrencyBudget::builder("concurrency").ratio(1.0).min_retry_concurrency(0).build();
    assert_eq!(call(&CONCURRENCY, 2).await.unwrap(), 3);
    let snapshot = CONCURRENCY.snapshot(Time::ZERO);
    assert_eq!((snapshot.requests, snapshot.granted), (Some(0), 2));
}

#[tokio::test]
async fn the_grpc_budget_counts_failures() {
    static GRPC: GrpcBudget = GrpcBudget::builder("grpc").build();
    call(&GRPC, 3).await.unwrap_err();
    assert_eq!(GRPC.snapshot(Time::ZERO).available, 7_000);
    assert_eq!(call(&GRPC, 1).await.unwrap(), 2);
    assert_eq!(GRPC.snapshot(Time::ZERO).available, 6_100);
}

#[tokio::test]
async fn a_budget_behind_a_pointer() {
    let boxed: Arc<dyn Budget> = Arc::new(TokenBudget::builder("boxed").build());
    assert_eq!(call(boxed.clone(), 1).await.unwrap(), 2);
    assert_eq!(boxed.snapshot(Time::ZERO).granted, 1);
}

#[tokio::test]
async fn what_a_budget_is_told() {
    let told = async |grants, failures| {
        let recorder = Recorder::granting(grants);
        let _ = call(&recorder, failures).await;
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
        told(9, 3).await,
        [
            first,
            Told::Granted(1),
            Told::Settled(1, Fate::Failed),
            Told::Granted(2),
            Told::Settled(2, Fate::Failed),
            Told::Final(Some(RetryKind::Transient)),
            failed,
        ]
    );
}

#[tokio::test]
async fn a_request_that_cannot_be_cloned_counts_all_the_same() {
    let recorder = Recorder::granting(9);
    let layer = RetryLayer::new(&recorder, QUICK).classify(every_error).requests(|_: &u32| None);
    let fails = tower::service_fn(|_: u32| ready(Err::<(), BoxError>("down".into())));
    layer.layer(fails).oneshot(7).await.unwrap_err();
    assert_eq!(
        recorder.told(),
        [Told::Begin, Told::Final(Some(RetryKind::Transient)), Told::End(CallEnd::Failed)],
        "nothing is taken for a retry that can't be"
    );
}

#[derive(Debug, PartialEq)]
enum Failed {
    Busy,
    GaveUp(StopReason, u32),
}

impl Retryable for Failed {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Busy => Verdict::THROTTLING.after(Duration::from_secs(7)),
            Self::GaveUp(..) => Verdict::NEVER,
        }
    }

    fn exhausted(self, stop: Stop) -> Self {
        Self::GaveUp(stop.reason, stop.attempts)
    }
}

#[tokio::test(start_paused = true)]
async fn the_error_decides_and_says_why_the_call_stopped() {
    static BUSY: TokenBudget = TokenBudget::builder("busy").build();
    let start = tokio::time::Instant::now();
    let busy = tower::service_fn(|()| ready(Err::<(), _>(Failed::Busy)));
    let error = RetryLayer::new(&BUSY, RetryPolicy::REQUEST).layer(busy).oneshot(()).await.unwrap_err();
    assert_eq!(error, Failed::GaveUp(StopReason::AttemptsUsedUp, 3));
    assert_eq!(BUSY.snapshot(Time::ZERO).available, 490, "two retries after throttling");
    let waited = start.elapsed();
    assert!(waited >= Duration::from_secs(14) && waited < Duration::from_secs(18), "{waited:?}: its hint is obeyed");
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_pauses_when_told_so() {
    let policy = RetryPolicy::BACKGROUND.to_builder().when_empty(WhenEmpty::Pause).build();
    let down = tower::service_fn(|()| ready(Err::<(), io::Error>(io::ErrorKind::TimedOut.into())));
    let start = tokio::time::Instant::now();
    RetryLayer::new(&NEVER, policy).layer(down).oneshot(()).await.unwrap_err();
    let paused = start.elapsed();
    assert!(paused > Duration::ZERO && paused <= Duration::from_secs(30), "{paused:?}");
}

#[tokio::test]
async fn a_first_success_allocates_nothing_and_its_future_is_send() {
    #[derive(Clone)]
    struct Works;
    impl Service<u32> for Works {
        type Response = [u64; 5];
        type Error = io::Error;
        type Future = Ready<io::Result<[u64; 5]>>;

        fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<io::Result<()>> {
            std::task::Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: u32) -> Self::Future {
            ready(Ok([request.into(); 5]))
        }
    }
    fn send<T: Send>(value: T) -> T {
        value
    }
    static QUIET: TokenBudget = TokenBudget::builder("quiet").build();
    let mut service = RetryLayer::new(&QUIET, RetryPolicy::REQUEST).layer(Works);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut call = || {
        assert!(service.poll_ready(&mut context).is_ready());
        let mut call = std::pin::pin!(send(service.call(7)));
        assert!(call.as_mut().poll(&mut context).is_ready());
    };
    // with the feature `metrics` a thread's first call makes room for its counts
    call();
    assert_eq!(allocation_counter::measure(call).count_total, 0);
}
