//! The attribute and the derive of the `retry-budget` crate.

mod attribute;
mod retryable;
mod suggest;

use proc_macro::TokenStream;

#[doc = include_str!("../docs/attribute.md")]
#[proc_macro_attribute]
pub fn retry_budget(options: TokenStream, item: TokenStream) -> TokenStream {
    attribute::retry_budget(options.into(), item.into()).into()
}

#[doc = include_str!("../docs/block.md")]
#[proc_macro]
pub fn retry(tokens: TokenStream) -> TokenStream {
    attribute::retry(tokens.into()).into()
}

/// Lets an error say which of its values are worth a retry: implements the trait `Retryable`.
///
/// ```
/// # extern crate retry_budget_runtime as retry_budget;
/// # use retry_budget_macros::Retryable;
/// use retry_budget::{Exhausted, Retryable, Verdict};
/// use std::{io, time::Duration};
///
/// #[derive(Debug, thiserror::Error, Retryable)]
/// enum PartnerError {
///     #[error("no such station")]
///     NotFound,
///     #[error("too many requests")]
///     #[retry(throttling, after = retry_after)]
///     Busy { retry_after: Option<Duration> },
///     #[error(transparent)]
///     #[retry(transparent)]
///     Io(#[from] io::Error),
///     #[error("gave up: {0}")]
///     #[retry(exhausted)]
///     GaveUp(#[from] Box<Exhausted<Self>>),
/// }
///
/// let busy = PartnerError::Busy { retry_after: Some(Duration::from_secs(3)) };
/// assert_eq!(busy.verdict(), Verdict::THROTTLING.after(Duration::from_secs(3)));
/// let refused = PartnerError::from(io::Error::from(io::ErrorKind::ConnectionRefused));
/// assert_eq!(refused.verdict(), Verdict::TRANSIENT.not_sent());
/// assert_eq!(PartnerError::NotFound.verdict(), Verdict::NEVER);
/// ```
///
/// # The words
///
/// `#[retry(…)]` stands on a variant, or on a struct as a whole, and says one of these:
///
/// | word | meaning |
/// | --- | --- |
/// | `transient` | worth a retry after the usual delay: no connection, a timeout, a 503 |
/// | `throttling` | worth a retry after a longer delay, and charged by its own cost: the other side gets too much, a 429 |
/// | `never` | the next attempt would fail in the same way |
/// | `transparent` | asks the error inside, which is `Retryable` itself; the variant has exactly one field. `Box`, `Arc` and references are looked through |
/// | `with = path` | asks a function from `&Self` to a `bool` (true is transient), an `Option<RetryKind>` or a `Verdict` |
/// | `exhausted` | the variant, at most one, that takes a call which was given up; see [below](#a-call-that-was-given-up) |
///
/// Beside `transient` or `throttling` there can stand:
///
/// | word | meaning |
/// | --- | --- |
/// | `after = field` | this field says how long to wait: a `Duration`, or an `Option` of one. By name, or by index (`after = 0`) |
/// | `not_sent` | the request was certainly not processed, so that it may be retried even where the operation isn't idempotent |
///
/// # What says nothing
///
/// A variant that says nothing is never retried. Since silently not retrying is easily overlooked, three things don't
/// compile: an enum in which nothing is ever retried, a variant with a `#[from]` field that says nothing, and a struct
/// that says nothing.
///
/// On an enum itself, `transient`, `throttling`, `never` or `with = path` (and `not_sent` beside a kind) is the default
/// for its variants that say nothing:
///
/// ```
/// # extern crate retry_budget_runtime as retry_budget;
/// # use retry_budget_macros::Retryable;
/// use retry_budget::{Retryable, Verdict};
///
/// #[derive(Retryable)]
/// #[retry(transient)]
/// enum Lost {
///     Connection,
///     Answer,
///     #[retry(never)]
///     Interest,
/// }
///
/// assert_eq!(Lost::Answer.verdict(), Verdict::TRANSIENT);
/// assert_eq!(Lost::Interest.verdict(), Verdict::NEVER);
/// ```
///
/// # A decision by a function
///
/// ```
/// # extern crate retry_budget_runtime as retry_budget;
/// # use retry_budget_macros::Retryable;
/// use retry_budget::{RetryKind, Retryable, Verdict};
///
/// #[derive(Retryable)]
/// #[retry(with = Self::kind)]
/// struct Status(u16);
///
/// impl Status {
///     fn kind(&self) -> Option<RetryKind> {
///         match self.0 {
///             429 => Some(RetryKind::Throttling),
///             500..=599 => Some(RetryKind::Transient),
///             _ => None,
///         }
///     }
/// }
///
/// assert_eq!(Status(429).verdict(), Verdict::THROTTLING);
/// assert_eq!(Status(404).verdict(), Verdict::NEVER);
/// ```
///
/// # A call that was given up
///
/// When a retry was wanted and none was made, the caller gets its own last error, and by the error alone can't tell
/// that it was retried. With an `exhausted` variant it gets this variant instead: why the call stopped, and the last
/// error as its `source()`. The variant has exactly one field, a `Box<Exhausted<Self>>` or any type that is
/// `From<Exhausted<Self>>`. It is never worth a retry, so that loops around this one don't multiply attempts. A
/// `transparent` variant around such an error stays as it is.
///
/// ```
/// # extern crate retry_budget_runtime as retry_budget;
/// # use retry_budget_macros::Retryable;
/// use retry_budget::{Exhausted, NEVER, RetryPolicy, Retryable, StopReason, retry};
///
/// #[derive(Debug, Retryable)]
/// enum PartnerError {
///     #[retry(transient)]
///     Unavailable,
///     #[retry(exhausted)]
///     GaveUp(Box<Exhausted<Self>>),
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let result = retry(&NEVER, &RetryPolicy::REQUEST, async |_| Err::<(), _>(PartnerError::Unavailable)).await;
///
/// let Err(PartnerError::GaveUp(gave_up)) = result else { panic!() };
/// assert_eq!(gave_up.stop().reason, StopReason::BudgetEmpty);
/// assert!(matches!(gave_up.error(), PartnerError::Unavailable));
/// # });
/// ```
///
/// # Generics
///
/// A bound is added where a `transparent` field's type mentions a type parameter, and nowhere else: for a field `Box<T>`
/// it is `Box<T>: Retryable`.
///
/// # Under another name
///
/// The expansion says `::retry_budget::…`. Where the crate is reached by another path, `crate = path` on the type says
/// which:
///
/// ```
/// # use retry_budget_macros::Retryable;
/// mod my_framework {
///     pub use retry_budget_runtime as retry_budget;
/// }
///
/// #[derive(Retryable)]
/// #[retry(transient, crate = my_framework::retry_budget)]
/// struct Timeout;
/// ```
#[proc_macro_derive(Retryable, attributes(retry))]
pub fn derive_retryable(input: TokenStream) -> TokenStream {
    retryable::derive(input.into()).into()
}
