//! What a retry needs to know of a request.

use crate::Attempt;

/// How a request is sent a second time.
///
/// [`Cloned`] does it for what is `Clone`, [`HttpRequests`](super::HttpRequests) for HTTP, and any function from `&Req` to
/// `Option<Req>` for a type that you don't own. Write it for a type of your own to say more:
///
/// ```
/// use retry_budget_runtime::{Attempt, tower_0_5::CloneRequest};
///
/// struct Order {
///     id: u64,
///     attempt: u32,
///     attachment: Option<std::fs::File>,
/// }
///
/// #[derive(Clone, Copy)]
/// struct Orders;
///
/// impl CloneRequest<Order> for Orders {
///     /// An attachment is read while it is sent: it can't be sent again.
///     fn clone_request(&self, order: &Order) -> Option<Order> {
///         order.attachment.is_none().then(|| Order { id: order.id, attempt: order.attempt, attachment: None })
///     }
///     fn tell_attempt(&self, order: &mut Order, attempt: Attempt) {
///         order.attempt = attempt.number();
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't make a second request of a `{Req}`",
    label = "it doesn't know how to clone a `{Req}`",
    note = "say how with `.requests(…)`: a function from `&{Req}` to `Option<{Req}>`, or a type that implements \
            `CloneRequest<{Req}>`",
    note = "for an `http::Request` whose body isn't `Clone`: `.requests(HttpRequests::new().bodies(EmptyBody))`, which \
            retries requests without a body"
)]
pub trait CloneRequest<Req> {
    /// A request like this one, to be sent if this one fails; nothing when there can't be one. Such a request is sent
    /// once, and its failure goes to the caller as if there were no layer.
    ///
    /// Called before each attempt.
    fn clone_request(&self, request: &Req) -> Option<Req>;

    /// Writes into the request which attempt it is. Called before each retry, never for the first attempt.
    fn tell_attempt(&self, _request: &mut Req, _attempt: Attempt) {}

    /// Whether this request may be processed twice; if not, it is retried only after failures that say it was never
    /// processed, whatever the policy says of idempotence.
    fn is_idempotent(&self, _request: &Req) -> bool {
        true
    }
}

/// By `Clone`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cloned;

impl<Req: Clone> CloneRequest<Req> for Cloned {
    fn clone_request(&self, request: &Req) -> Option<Req> {
        Some(request.clone())
    }
}

impl<Req, F: Fn(&Req) -> Option<Req>> CloneRequest<Req> for F {
    fn clone_request(&self, request: &Req) -> Option<Req> {
        self(request)
    }
}
