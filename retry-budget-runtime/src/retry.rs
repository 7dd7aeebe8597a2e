//! The async loop around [`Run`](crate::Run): the function API. What the attribute expands to is the same loop,
//! written into the user's function.

pub(crate) mod call;
pub(crate) mod here;
pub(crate) mod inside;
mod limited;

use crate::__private::Itself;
use crate::{Attempt, Budget, Exhausted, RetryPolicy, Retryable, Stop, StopReason, TokioTimer, Verdict};
use call::{Becomes, Call, Step, as_it_is, exhausted};
use here::{ByItself, Here, Hidden, Name, Shows};
use pin_project_lite::pin_project;
use std::borrow::Borrow;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Runs an operation, and runs it again while it fails, the policy says so and the budget grants it.
///
/// Returns the value of the attempt that succeeded, or the error of the last one. With
/// [`explained`](Retrying::explained) the error also says why no further attempt was made.
///
/// ```
/// use retry_budget_runtime::{retry, RetryPolicy, TokenBudget};
/// use std::io;
///
/// static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
///
/// async fn greet(station: &str) -> io::Result<String> {
///     retry(&PARTNER, &RetryPolicy::REQUEST, async |attempt| {
///         if attempt.is_retry() { Ok(format!("hello {station}")) } else { Err(io::ErrorKind::TimedOut.into()) }
///     })
///     .await
/// }
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # assert_eq!(runtime.block_on(greet("Alexanderplatz")).unwrap(), "hello Alexanderplatz");
/// ```
///
/// For an error type that you don't own, see [`Retry::classify`].
///
/// A function that borrows across an await and is spawned can fail to compile around an `async` closure, with
/// "implementation of `Send` is not general enough": that is a limit of the compiler. `async move |attempt| …` helps where
/// the closure may own what it uses, and the attribute doesn't have the problem.
///
/// # Panics
///
/// Tokio panics at the first wait when there is no timer in its runtime, and says how to enable it.
pub fn retry<T, E, B, F>(budget: B, policy: &RetryPolicy, operation: F) -> Retrying<impl Future<Output = Outcome<T, E>>>
where
    B: Budget,
    E: Retryable,
    F: AsyncFnMut(Attempt) -> Result<T, E>,
{
    Retry::new(budget, policy).run(operation)
}

/// [`retry`] for an operation that isn't async: sleeps on this thread between attempts and needs no async runtime.
///
/// ```
/// use retry_budget_runtime::{RetryPolicy, TokenBudget, retry_blocking};
/// use std::io;
///
/// static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
///
/// let greeting: io::Result<&str> = retry_blocking(&PARTNER, &RetryPolicy::REQUEST, |attempt| {
///     if attempt.is_retry() { Ok("hello") } else { Err(io::ErrorKind::TimedOut.into()) }
/// });
/// assert_eq!(greeting.unwrap(), "hello");
/// ```
///
/// # Errors
///
/// The error of the last attempt.
pub fn retry_blocking<T, E, B, F>(budget: B, policy: &RetryPolicy, operation: F) -> Result<T, E>
where
    B: Budget,
    E: Retryable,
    F: FnMut(Attempt) -> Result<T, E>,
{
    Retry::new(budget, policy).run_blocking(operation)
}

/// [`retry`] with more to say: how errors of somebody else's type are classified.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing runs until `run`"]
pub struct Retry<'p, B, C = OwnVerdict> {
    budget: B,
    policy: &'p RetryPolicy,
    classifier: C,
    name: Name,
}

impl<'p, B: Budget> Retry<'p, B> {
    /// Retries under this budget and policy; the error decides for itself ([`Retryable`]) unless
    /// [`classify`](Self::classify) says otherwise.
    pub const fn new(budget: B, policy: &'p RetryPolicy) -> Self {
        Self { budget, policy, classifier: OwnVerdict(()), name: Name::UNKNOWN }
    }

    /// Decides which errors are worth a retry: a `bool` (true is transient), an `Option<RetryKind>` or a [`Verdict`].
    ///
    /// ```
    /// use retry_budget_runtime::{Retry, RetryPolicy, TokenBudget};
    /// # use std::num::ParseIntError;
    ///
    /// static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    /// # runtime.block_on(async {
    /// let number = Retry::new(&PARTNER, &RetryPolicy::REQUEST)
    ///     .classify(|error: &ParseIntError| error.to_string().contains("invalid digit"))
    ///     .run(async |attempt| if attempt.is_retry() { "7" } else { "seven" }.parse::<u8>())
    ///     .await;
    /// assert_eq!(number, Ok(7));
    /// # });
    /// ```
    pub fn classify<E, V, C>(self, classify: C) -> Retry<'p, B, By<C>>
    where
        C: Fn(&E) -> V,
        V: Into<Verdict>,
    {
        Retry { budget: self.budget, policy: self.policy, classifier: By(classify), name: self.name }
    }
}

impl<'p, B: Budget, C> Retry<'p, B, By<C>> {
    /// The error says what becomes of it when the call is given up ([`Retryable::exhausted`]), though a function
    /// classifies it: one of anyhow's or eyre's, or in a `Box`, has the [`Stop`] around it then. Otherwise it comes back
    /// as it is.
    ///
    /// ```
    /// use retry_budget_runtime::{NEVER, Retry, RetryPolicy};
    /// use std::error::Error;
    /// use std::num::ParseIntError;
    ///
    /// type BoxError = Box<dyn Error + Send + Sync>;
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    /// # runtime.block_on(async {
    /// let error = Retry::new(NEVER, &RetryPolicy::REQUEST)
    ///     .classify(|error: &BoxError| error.is::<ParseIntError>())
    ///     .attach_stop()
    ///     .run(async |_| Ok("seven".parse::<u8>()?))
    ///     .await
    ///     .unwrap_err();
    /// assert_eq!(error.to_string(), "retry budget `NEVER` is empty (1 attempt)");
    /// assert!(error.source().unwrap().is::<ParseIntError>());
    /// # });
    /// ```
    pub fn attach_stop(self) -> Retry<'p, B, Attaching<C>> {
        let Self { budget, policy, classifier, name } = self;
        Retry { budget, policy, classifier: Attaching(classifier), name }
    }
}

impl<B: Budget, C> Retry<'_, B, C> {
    /// What the call is called in events (feature `tracing`) and metrics (feature `metrics`); without those features it
    /// makes no difference. The attribute says the function's path.
    ///
    /// ```
    /// use retry_budget_runtime::{Retry, RetryPolicy, TokenBudget};
    /// use std::io;
    ///
    /// static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    /// # runtime.block_on(async {
    /// let greeting = Retry::new(&PARTNER, &RetryPolicy::REQUEST)
    ///     .named("partner::greet")
    ///     .run(async |_| io::Result::Ok("hello"))
    ///     .await;
    /// # assert_eq!(greeting.unwrap(), "hello");
    /// # });
    /// ```
    pub fn named(mut self, call: &'static str) -> Self {
        self.name = Name::new(call);
        self
    }

    /// Runs the operation.
    pub fn run<T, E, F>(self, mut operation: F) -> Retrying<impl Future<Output = Outcome<T, E>>>
    where
        C: Classify<E>,
        F: AsyncFnMut(Attempt) -> Result<T, E>,
    {
        let Self { budget, policy, classifier, name } = self;
        let future = async move {
            let mut call = Call::<_, _, TokioTimer>::begin(budget, policy);
            loop {
                let wait = {
                    let attempt = call.attempt();
                    let result = call.watch(operation(attempt)).await;
                    match classifier.after(&mut call, &result, name) {
                        Step::Done => {
                            let stop =
                                |error| Failed { error, stop: call.stop(StopReason::NotRetryable), becomes: None };
                            break Outcome(result.map_err(stop));
                        }
                        Step::Stop(halt) => {
                            call.pause(&halt).await;
                            call.mark_given_up();
                            let stop = |error| Failed { error, stop: call.stop(halt.reason), becomes: halt.becomes() };
                            break Outcome(result.map_err(stop));
                        }
                        Step::Retry(wait) => wait,
                    }
                };
                call.wait(wait).await;
                call.start_retry();
            }
        };
        Retrying { future }
    }

    /// Runs an operation that isn't async, and sleeps on this thread in between: needs no async runtime.
    ///
    /// # Errors
    ///
    /// The error of the last attempt, as [`run`](Self::run) gives it.
    pub fn run_blocking<T, E, F>(self, mut operation: F) -> Result<T, E>
    where
        C: Classify<E>,
        F: FnMut(Attempt) -> Result<T, E>,
    {
        let Self { budget, policy, classifier, name } = self;
        let mut call = Call::<_, _, TokioTimer>::begin(budget, policy);
        loop {
            let attempt = call.attempt();
            let result = call.watch_now(|| operation(attempt));
            match classifier.after(&mut call, &result, name) {
                Step::Done => return result,
                Step::Stop(halt) => {
                    std::thread::sleep(halt.pause());
                    return call.give_up(result, &halt);
                }
                Step::Retry(wait) => std::thread::sleep(wait),
            }
            call.start_retry();
        }
    }
}

/// How a loop tells which errors are worth a retry. Implemented by this crate only.
pub trait Classify<E>: sealed::Sealed {
    #[doc(hidden)]
    fn verdict(&self, error: &E) -> Verdict;

    /// What a result becomes when its call is given up.
    #[doc(hidden)]
    fn becomes<T>(&self) -> Becomes<Result<T, E>>;

    /// How the error of a result shows.
    #[doc(hidden)]
    type Shown<T>: Shows<Result<T, E>>;

    /// What comes after an attempt.
    #[doc(hidden)]
    fn after<T, P: Borrow<RetryPolicy>, B: Budget>(
        &self,
        call: &mut Call<P, B>,
        result: &Result<T, E>,
        name: Name,
    ) -> Step<Result<T, E>> {
        call.after_by(result, |error| self.verdict(error), self.becomes(), Here::<Self::Shown<T>>::of(name))
    }
}

/// The error decides for itself.
#[derive(Clone, Copy, Debug)]
pub struct OwnVerdict(pub(crate) ());

/// A function decides.
#[derive(Clone, Copy, Debug)]
pub struct By<C>(pub(crate) C);

impl<E: Retryable> Classify<E> for OwnVerdict {
    fn verdict(&self, error: &E) -> Verdict {
        error.verdict()
    }

    fn becomes<T>(&self) -> Becomes<Result<T, E>> {
        exhausted
    }

    type Shown<T> = ByItself<Itself>;
}

impl<E, V: Into<Verdict>, C: Fn(&E) -> V> Classify<E> for By<C> {
    fn verdict(&self, error: &E) -> Verdict {
        self.0(error).into()
    }

    fn becomes<T>(&self) -> Becomes<Result<T, E>> {
        as_it_is
    }

    type Shown<T> = Hidden;
}

/// A function decides, and the error says what becomes of it.
#[derive(Clone, Copy, Debug)]
pub struct Attaching<C>(pub(crate) By<C>);

impl<E: Retryable, C> Classify<E> for Attaching<C>
where
    By<C>: Classify<E>,
{
    fn verdict(&self, error: &E) -> Verdict {
        self.0.verdict(error)
    }

    fn becomes<T>(&self) -> Becomes<Result<T, E>> {
        exhausted
    }

    type Shown<T> = ByItself<Itself>;
}

mod sealed {
    pub trait Sealed {}
    impl<C> Sealed for super::Attaching<C> {}
    impl Sealed for super::OwnVerdict {}
    impl<C> Sealed for super::By<C> {}
}

/// What a loop comes to, before it is known whether anybody wants the explanation.
#[doc(hidden)]
#[derive(Debug)]
pub struct Outcome<T, E>(Result<T, Failed<T, E>>);

#[derive(Debug)]
struct Failed<T, E> {
    error: E,
    stop: Stop,
    /// What the caller gets who doesn't want the explanation, where that isn't just the error.
    becomes: Option<Becomes<Result<T, E>>>,
}

impl<T, E> Outcome<T, E> {
    fn unexplained(self) -> Result<T, E> {
        match self.0 {
            Err(Failed { error, stop, becomes: Some(becomes) }) => becomes(Err(error), stop),
            Err(Failed { error, .. }) => Err(error),
            Ok(value) => Ok(value),
        }
    }
}

pin_project! {
    /// A call in progress: await it for its result.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless awaited"]
    pub struct Retrying<F> {
        #[pin]
        future: F,
    }
}

impl<T, E, F: Future<Output = Outcome<T, E>>> Retrying<F> {
    /// The error that comes back says why no further attempt was made.
    ///
    /// # Errors
    ///
    /// When the operation failed and no retry was made or granted: the last error, and why the call stopped.
    pub async fn explained(self) -> Result<T, Exhausted<E>> {
        self.future.await.0.map_err(|failed| Exhausted::new(failed.error, failed.stop))
    }
}

impl<T, E, F: Future<Output = Outcome<T, E>>> Future for Retrying<F> {
    type Output = Result<T, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(ready!(self.project().future.poll(cx)).unexplained())
    }
}
