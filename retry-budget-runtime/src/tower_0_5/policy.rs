//! A policy for tower's own `Retry`.

use super::rules::Rules;
use super::{ClassifyOk, CloneRequest, Cloned, EveryOk, HttpRequests, HttpResponses};
use crate::retry::call::{Call, Step, Wait};
use crate::retry::here::Name;
use crate::{Budget, By, Classify, GrpcBudget, Never, OwnVerdict, RetryPolicy, TokenBudget, Unlimited, Verdict};
use std::fmt;
use std::sync::{Arc, LazyLock};
use tower::retry::Policy;

/// A budget that doesn't count calls when they begin.
///
/// Tower's `Retry` tells its policy of a call when the first attempt has ended, and not at all when it is dropped before.
/// Budgets that go by successes and failures can do with that; those that count the calls themselves, a
/// [`RatioBudget`](crate::RatioBudget), a [`CreditBudget`](crate::CreditBudget), a
/// [`ConcurrencyBudget`](crate::ConcurrencyBudget), would count wrong. For a budget of your own, implement it if its
/// [`begin`](Budget::begin) does nothing and its [`end`](Budget::end) does nothing for a call that was dropped.
#[diagnostic::on_unimplemented(
    message = "`{Self}` counts calls when they begin, and tower's `Retry` doesn't tell its policy when that is",
    label = "this budget can't stand behind a `tower::retry::Policy`",
    note = "take `tower_0_5::RetryLayer` instead of tower's, which takes every budget",
    note = "or a `TokenBudget` or a `GrpcBudget`, also behind a reference, an `Arc`, a `Box` or a `LazyLock`"
)]
pub trait CountsNoStart: Budget {}

impl CountsNoStart for TokenBudget {}
impl CountsNoStart for GrpcBudget {}
impl CountsNoStart for Never {}
impl CountsNoStart for Unlimited {}
impl<B: CountsNoStart + ?Sized> CountsNoStart for &B {}
impl<B: CountsNoStart + ?Sized> CountsNoStart for Arc<B> {}
impl<B: CountsNoStart + ?Sized> CountsNoStart for Box<B> {}
impl<B: CountsNoStart> CountsNoStart for LazyLock<B> {}

/// A [`tower::retry::Policy`] with a budget, for stacks that have tower's `Retry`: one line changes.
///
/// ```
/// use retry_budget_runtime::{RetryPolicy, TokenBudget, tower_0_5::BudgetPolicy};
///
/// pub static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
///
/// let layer = tower::retry::RetryLayer::new(BudgetPolicy::new(&PARTNER, RetryPolicy::REQUEST));
/// # let _ = layer;
/// ```
///
/// It takes the budgets that don't count calls when they begin: [`CountsNoStart`]. What tower's `Retry` doesn't tell its
/// policy, it can't know, and [`RetryLayer`](super::RetryLayer) can:
///
/// - that a loop inside an attempt gave up, unless the error or the response says so. (It tells the loops around it.)
/// - calls whose request can't be cloned: they neither take from the budget nor refund it;
/// - how to wait before an error is returned: a policy that pauses when the budget is empty
///   ([`WhenEmpty::Pause`](crate::WhenEmpty::Pause)) returns it at once;
/// - another error than the one there is: [`Retryable::exhausted`](crate::Retryable::exhausted) isn't asked.
///
/// A budget that counts calls when they begin doesn't compile:
///
/// ```compile_fail,E0277
/// # use retry_budget_runtime::{RatioBudget, RetryPolicy, tower_0_5::BudgetPolicy};
/// static PARTNER: RatioBudget = RatioBudget::builder("partner").build();
/// let policy = BudgetPolicy::new(&PARTNER, RetryPolicy::REQUEST);
/// ```
pub struct BudgetPolicy<B: Budget, C = OwnVerdict, K = EveryOk, R = Cloned> {
    budget: B,
    policy: RetryPolicy,
    rules: Rules<C, K, R>,
    /// The call, from the end of its first attempt on.
    call: Option<Call<RetryPolicy, B>>,
}

impl<B: CountsNoStart + Clone> BudgetPolicy<B> {
    /// Retries under this budget: a `&'static`, an `Arc`, or anything else that is a budget and `Clone`.
    pub const fn new(budget: B, policy: RetryPolicy) -> Self {
        Self { budget, policy, rules: Rules::DEFAULT, call: None }
    }
}

impl<B: CountsNoStart + Clone> BudgetPolicy<B, OwnVerdict, HttpResponses, HttpRequests> {
    /// The same for HTTP: responses are classified by status and headers ([`HttpResponses`]); requests that may be
    /// processed twice are sent again, and tell the server which attempt they are ([`HttpRequests`]).
    pub const fn http(budget: B, policy: RetryPolicy) -> Self {
        Self { budget, policy, rules: Rules::HTTP, call: None }
    }
}

impl<B: Budget, C, K, R> BudgetPolicy<B, C, K, R> {
    /// Decides which errors are worth a retry: to a `bool` (true is transient), an `Option<RetryKind>` or a [`Verdict`].
    pub fn classify<E, V, F>(self, classify: F) -> BudgetPolicy<B, By<F>, K, R>
    where
        F: Fn(&E) -> V,
        V: Into<Verdict>,
    {
        self.with(|rules| rules.errors(By(classify)))
    }

    /// Decides which responses are failures all the same, in the same way.
    pub fn classify_ok<T, V, F>(self, classify_ok: F) -> BudgetPolicy<B, C, By<F>, R>
    where
        F: Fn(&T) -> V,
        V: Into<Verdict>,
    {
        self.with(|rules| rules.responses(By(classify_ok)))
    }

    /// What the calls are called in events (feature `tracing`) and metrics (feature `metrics`).
    pub const fn named(mut self, call: &'static str) -> Self {
        self.rules.name = Name::new(call);
        self
    }

    /// Says how a request is sent again.
    pub fn requests<R2>(self, requests: R2) -> BudgetPolicy<B, C, K, R2> {
        self.with(|rules| rules.requests(requests))
    }

    fn with<C2, K2, R2>(self, change: impl FnOnce(Rules<C, K, R>) -> Rules<C2, K2, R2>) -> BudgetPolicy<B, C2, K2, R2> {
        BudgetPolicy { budget: self.budget, policy: self.policy, rules: change(self.rules), call: None }
    }
}

/// For another call: tower clones its policy for each.
impl<B: Budget + Clone, C: Clone, K: Clone, R: Clone> Clone for BudgetPolicy<B, C, K, R> {
    fn clone(&self) -> Self {
        Self { budget: self.budget.clone(), policy: self.policy, rules: self.rules.clone(), call: None }
    }
}

impl<B, C, K, R, Req, Res, E> Policy<Req, Res, E> for BudgetPolicy<B, C, K, R>
where
    B: CountsNoStart + Clone,
    C: Classify<E>,
    K: ClassifyOk<Res>,
    R: CloneRequest<Req>,
{
    type Future = Wait<tokio::time::Sleep>;

    fn retry(&mut self, request: &mut Req, result: &mut Result<Res, E>) -> Option<Self::Future> {
        let Self { budget, policy, rules, call } = self;
        let call = call.get_or_insert_with(|| Call::begin(budget.clone(), rules.policy(*policy, request)));
        match rules.after(call, result) {
            Step::Done => None,
            Step::Retry(delay) => {
                rules.requests.tell_attempt(request, call.attempt());
                Some(call.wait(delay))
            }
            Step::Stop(_) => {
                call.mark_given_up();
                None
            }
        }
    }

    /// Tower asks before each attempt. In a call that has had one, that is the moment in which the retry is sent: until
    /// then, dropping the call gives its cost back.
    fn clone_request(&mut self, request: &Req) -> Option<Req> {
        if let Some(call) = &mut self.call {
            call.start_retry();
        }
        self.rules.requests.clone_request(request)
    }
}

impl<B: Budget, C, K, R> fmt::Debug for BudgetPolicy<B, C, K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attempt = self.call.as_ref().map(|call| call.attempt().number());
        f.debug_struct("BudgetPolicy")
            .field("budget", &self.budget.name())
            .field("policy", &self.policy)
            .field("attempt", &attempt)
            .finish_non_exhaustive()
    }
}
