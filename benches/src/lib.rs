//! One small call, retried by this crate and by its peers: what does the success path cost?

use retry_budget::{
    Budget, CallEnd, ConcurrencyBudget, CreditBudget, GrpcBudget, RatioBudget, Retryable, Time, TokenBudget, Verdict,
    retry_budget,
};
use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tower::retry::budget::{Budget as _, TpsBudget};
use tower::{Service, ServiceExt};

/// What a call brings back: forty bytes.
pub type Answer = [u64; 5];

/// What it fails with.
#[derive(Debug)]
pub struct Failure;

impl Retryable for Failure {
    fn verdict(&self) -> Verdict {
        Verdict::TRANSIENT
    }
}

static TOKEN: TokenBudget = TokenBudget::builder("token").build();
static RATIO: RatioBudget = RatioBudget::builder("ratio").build();
static CREDIT: CreditBudget = CreditBudget::builder("credit").build();
static CONCURRENCY: ConcurrencyBudget = ConcurrencyBudget::builder("concurrency").build();
static GRPC: GrpcBudget = GrpcBudget::builder("grpc").build();

/// What a call that succeeds at once does to its budget, in a function of its own, as nothing else is.
#[inline(never)]
pub fn nothing(_now: Time) {}

/// A full bucket of tokens.
#[inline(never)]
pub fn token_alone(now: Time) {
    first_success(&TOKEN, now);
}

/// Requests and retries in a window, without the clock.
#[inline(never)]
pub fn ratio_alone(now: Time) {
    first_success(&RATIO, now);
}

/// Credit that is full.
#[inline(never)]
pub fn credit_alone(now: Time) {
    first_success(&CREDIT, now);
}

/// Calls in progress.
#[inline(never)]
pub fn concurrency_alone(now: Time) {
    first_success(&CONCURRENCY, now);
}

/// gRPC's tokens, all there.
#[inline(never)]
pub fn grpc_alone(now: Time) {
    first_success(&GRPC, now);
}

#[inline(always)]
#[allow(clippy::inline_always)] // as it is in a call
fn first_success(budget: &impl Budget, now: Time) {
    budget.begin(now);
    budget.end(CallEnd::FirstTry);
}

/// The plain call.
///
/// # Errors
///
/// Never for an odd seed.
#[allow(clippy::unused_async)] // as every other row
#[inline(never)]
pub async fn plain(seed: u64) -> Result<Answer, Failure> {
    answer(seed)
}

/// The same within two more async functions, which is what any wrapper pays.
///
/// # Errors
///
/// As [`plain`].
#[inline(never)]
pub async fn two_layers(seed: u64) -> Result<Answer, Failure> {
    async fn inner(seed: u64) -> Result<Answer, Failure> {
        async { answer(seed) }.await
    }
    inner(seed).await
}

/// Under the attribute, with a full token bucket.
///
/// # Errors
///
/// As [`plain`].
#[inline(never)]
#[retry_budget(budget = TOKEN)]
pub async fn token(seed: u64) -> Result<Answer, Failure> {
    answer(seed)
}

/// Under the attribute, with a ratio.
///
/// # Errors
///
/// As [`plain`].
#[inline(never)]
#[retry_budget(budget = RATIO)]
pub async fn ratio(seed: u64) -> Result<Answer, Failure> {
    answer(seed)
}

/// Under the attribute, with credit.
///
/// # Errors
///
/// As [`plain`].
#[inline(never)]
#[retry_budget(budget = CREDIT)]
pub async fn credit(seed: u64) -> Result<Answer, Failure> {
    answer(seed)
}

/// Under the attribute, with a share of the calls in progress.
///
/// # Errors
///
/// As [`plain`].
#[inline(never)]
#[retry_budget(budget = CONCURRENCY)]
pub async fn concurrency(seed: u64) -> Result<Answer, Failure> {
    answer(seed)
}

/// Under the attribute, with gRPC's tokens.
///
/// # Errors
///
/// As [`plain`].
#[inline(never)]
#[retry_budget(budget = GRPC)]
pub async fn grpc(seed: u64) -> Result<Answer, Failure> {
    answer(seed)
}

/// By this crate's function instead of its attribute.
///
/// # Errors
///
/// As [`plain`].
#[inline(never)]
pub async fn function(seed: u64) -> Result<Answer, Failure> {
    retry_budget::retry(&TOKEN, &retry_budget::RetryPolicy::REQUEST, async |_| answer(seed)).await
}

/// By backon, with its default backoff.
///
/// # Errors
///
/// As [`plain`].
#[inline(never)]
pub async fn by_backon(seed: u64) -> Result<Answer, Failure> {
    use backon::Retryable as _;
    (|| async { answer(seed) }).retry(backon::ExponentialBuilder::default()).when(|_| true).await
}

#[inline(always)]
#[allow(clippy::inline_always)] // the body stands for code that is written in place
fn answer(seed: u64) -> Result<Answer, Failure> {
    if std::hint::black_box(seed) == 0 { Err(Failure) } else { Ok([seed; 5]) }
}

/// The call as a tower service.
#[derive(Clone, Copy, Debug)]
pub struct Partner;

impl Service<u64> for Partner {
    type Response = Answer;
    type Error = Infallible;
    type Future = Ready<Result<Answer, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, seed: u64) -> Self::Future {
        ready(Ok([std::hint::black_box(seed); 5]))
    }
}

/// A policy as tower's documentation writes it: a budget, three attempts.
#[derive(Clone, Debug)]
pub struct TowerPolicy {
    budget: Arc<TpsBudget>,
    left: u32,
}

impl Default for TowerPolicy {
    fn default() -> Self {
        Self { budget: Arc::new(TpsBudget::new(Duration::from_secs(10), 10, 0.1)), left: 2 }
    }
}

impl<T, E> tower::retry::Policy<u64, T, E> for TowerPolicy {
    type Future = Ready<()>;

    fn retry(&mut self, _request: &mut u64, result: &mut Result<T, E>) -> Option<Self::Future> {
        if result.is_ok() {
            self.budget.deposit();
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        self.budget.withdraw().then(|| ready(()))
    }

    fn clone_request(&mut self, request: &u64) -> Option<u64> {
        Some(*request)
    }
}

/// By tower's retry with its budget.
///
/// # Errors
///
/// Never.
#[inline(never)]
pub async fn by_tower(retry: tower::retry::Retry<TowerPolicy, Partner>, seed: u64) -> Result<Answer, Infallible> {
    retry.oneshot(seed).await
}

/// Polls a future that is ready at once, as an executor does: through a pointer, without seeing inside.
///
/// # Panics
///
/// When it isn't ready.
#[inline(always)]
#[allow(clippy::inline_always)] // the harness is to be the same in every row
pub fn finish<F: Future>(future: F) -> F::Output {
    poll(pin!(future))
}

#[inline(never)]
fn poll<T>(future: Pin<&mut dyn Future<Output = T>>) -> T {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the call waited"),
    }
}
