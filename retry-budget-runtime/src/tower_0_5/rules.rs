//! What the layer and the policy are told: which results are failures, and how a request is sent again.

use super::{CloneRequest, HttpRequests, HttpResponses};
use crate::retry::call::{Call, Step};
use crate::retry::here::{Here, Name};
use crate::{Budget, By, Classify, RetryPolicy, TokioTimer, Verdict};

/// How a loop tells which responses are failures. Implemented by this crate only.
pub trait ClassifyOk<T>: sealed::Sealed {
    #[doc(hidden)]
    fn verdict(&self, response: &T) -> Verdict;
}

/// Every response is a success.
#[derive(Clone, Copy, Debug)]
pub struct EveryOk(());

impl<T> ClassifyOk<T> for EveryOk {
    fn verdict(&self, _response: &T) -> Verdict {
        Verdict::NEVER
    }
}

impl<T, V: Into<Verdict>, F: Fn(&T) -> V> ClassifyOk<T> for By<F> {
    fn verdict(&self, response: &T) -> Verdict {
        self.0(response).into()
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<C, K, R> {
    /// What the calls are called, for those who are told of them.
    pub(super) name: Name,
    pub(super) errors: C,
    pub(super) responses: K,
    pub(super) requests: R,
}

impl Rules<crate::OwnVerdict, EveryOk, super::Cloned> {
    pub(super) const DEFAULT: Self =
        Self { name: Name::UNKNOWN, errors: crate::OwnVerdict(()), responses: EveryOk(()), requests: super::Cloned };
}

impl Rules<crate::OwnVerdict, HttpResponses, HttpRequests> {
    pub(super) const HTTP: Self = Self {
        name: Name::UNKNOWN,
        errors: crate::OwnVerdict(()),
        responses: HttpResponses(()),
        requests: HttpRequests::new(),
    };
}

impl<C, K, R> Rules<C, K, R> {
    pub(super) fn errors<C2>(self, errors: C2) -> Rules<C2, K, R> {
        Rules { name: self.name, errors, responses: self.responses, requests: self.requests }
    }

    pub(super) fn responses<K2>(self, responses: K2) -> Rules<C, K2, R> {
        Rules { name: self.name, errors: self.errors, responses, requests: self.requests }
    }

    pub(super) fn requests<R2>(self, requests: R2) -> Rules<C, K, R2> {
        Rules { name: self.name, errors: self.errors, responses: self.responses, requests }
    }

    /// The policy for this request.
    pub(super) fn policy<Req>(&self, policy: RetryPolicy, request: &Req) -> RetryPolicy
    where
        R: CloneRequest<Req>,
    {
        policy.idempotent_if(|| self.requests.is_idempotent(request))
    }

    /// What comes after an attempt.
    pub(super) fn after<T, E, B: Budget>(
        &self,
        call: &mut Call<RetryPolicy, B, TokioTimer>,
        result: &Result<T, E>,
    ) -> Step<Result<T, E>>
    where
        C: Classify<E>,
        K: ClassifyOk<T>,
    {
        call.after_value(result, |response| self.responses.verdict(response), Here::named(self.name))
            .unwrap_or_else(|| self.errors.after(call, result, self.name))
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::EveryOk {}
    impl Sealed for super::HttpResponses {}
    impl<F> Sealed for crate::By<F> {}
}
