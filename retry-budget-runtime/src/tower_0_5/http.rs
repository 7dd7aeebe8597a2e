//! Requests and responses of HTTP.

use super::{ClassifyOk, CloneRequest, Cloned, grpc};
use crate::http_1::{self, AttemptHeaders};
use crate::{Attempt, Verdict};
use http::{Request, Response};
use http_body::Body;

/// How a request of HTTP is sent again.
///
/// - **Its body** is cloned, if its type is `Clone` (`Full<Bytes>`, `String`, …). For another type say how:
///   [`bodies`](Self::bodies).
/// - **Its method** says whether it may be processed twice: GET, HEAD, OPTIONS, TRACE, PUT and DELETE may (RFC 9110), any
///   other only with an `idempotency-key` header, or if you say so: [`any_method`](Self::any_method). One that may not is
///   retried only after failures that say it was never processed, such as a connection that was refused. A request of
///   gRPC is always a POST: there the policy decides alone.
/// - **Its headers** tell the server which attempt it is, from the second on: [`AttemptHeaders`].
#[derive(Clone, Debug, Default)]
pub struct HttpRequests<C = Cloned> {
    headers: AttemptHeaders,
    any_method: bool,
    bodies: C,
}

impl HttpRequests {
    /// Bodies are cloned by `Clone`.
    pub const fn new() -> Self {
        Self { headers: AttemptHeaders::new(), any_method: false, bodies: Cloned }
    }
}

impl<C> HttpRequests<C> {
    /// The headers that tell which attempt it is; [`AttemptHeaders::OFF`] for none.
    pub fn attempt_headers(self, headers: AttemptHeaders) -> Self {
        Self { headers, ..self }
    }

    /// Every request may be processed twice, whatever its method.
    pub fn any_method(self) -> Self {
        Self { any_method: true, ..self }
    }

    /// How a body is cloned: by [`EmptyBody`], by a function from `&B` to `Option<B>`, or by a type of your own that
    /// implements [`CloneBody`].
    pub fn bodies<C2>(self, bodies: C2) -> HttpRequests<C2> {
        HttpRequests { headers: self.headers, any_method: self.any_method, bodies }
    }
}

impl<B, C: CloneBody<B>> CloneRequest<Request<B>> for HttpRequests<C> {
    fn clone_request(&self, request: &Request<B>) -> Option<Request<B>> {
        let mut clone = Request::new(self.bodies.clone_body(request.body())?);
        request.method().clone_into(clone.method_mut());
        request.uri().clone_into(clone.uri_mut());
        *clone.version_mut() = request.version();
        request.headers().clone_into(clone.headers_mut());
        request.extensions().clone_into(clone.extensions_mut());
        Some(clone)
    }

    fn tell_attempt(&self, request: &mut Request<B>, attempt: Attempt) {
        self.headers.write(attempt, request.headers_mut());
    }

    fn is_idempotent(&self, request: &Request<B>) -> bool {
        self.any_method
            || http_1::is_idempotent(request.method(), request.headers())
            || grpc::is_grpc(request.headers())
    }
}

/// How the body of a request is cloned.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't clone a body of type `{B}`",
    label = "it doesn't know how to clone a `{B}`",
    note = "`.requests(HttpRequests::new().bodies(EmptyBody))` retries the requests that have no body",
    note = "or a function from `&{B}` to `Option<{B}>` instead of `EmptyBody`"
)]
pub trait CloneBody<B> {
    /// A body like this one; nothing when there can't be one. Then the request is sent once.
    fn clone_body(&self, body: &B) -> Option<B>;
}

impl<B: Clone> CloneBody<B> for Cloned {
    fn clone_body(&self, body: &B) -> Option<B> {
        Some(body.clone())
    }
}

impl<B, F: Fn(&B) -> Option<B>> CloneBody<B> for F {
    fn clone_body(&self, body: &B) -> Option<B> {
        self(body)
    }
}

/// For bodies that can't be cloned, such as axum's and tonic's: a request without a body is sent again with a new empty
/// one (its type's `Default`); one with a body is sent once.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyBody;

impl<B: Body + Default> CloneBody<B> for EmptyBody {
    fn clone_body(&self, body: &B) -> Option<B> {
        body.is_end_stream().then(B::default)
    }
}

/// Classifies a response by its status and headers: see [`http_1`], and for gRPC by the status of an
/// answer without a message: UNAVAILABLE is transient, `RESOURCE_EXHAUSTED` throttling, any other never.
///
/// A server's "don't" (`x-should-retry: false`, a negative `grpc-retry-pushback-ms`) is obeyed, and counts as given up: the
/// loops around this one don't retry either.
#[derive(Clone, Copy, Debug)]
pub struct HttpResponses(pub(super) ());

impl<B> ClassifyOk<Response<B>> for HttpResponses {
    fn verdict(&self, response: &Response<B>) -> Verdict {
        let headers = response.headers();
        let by_grpc = if grpc::is_grpc(headers) { grpc::verdict(headers) } else { None };
        by_grpc.unwrap_or_else(|| http_1::verdict(response.status(), headers))
    }
}
