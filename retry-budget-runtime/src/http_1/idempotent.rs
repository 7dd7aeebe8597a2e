//! Which requests may be processed twice.

use http::Method;
use http::header::{HeaderMap, HeaderName};

/// By which an operation that isn't idempotent becomes so. Source: the IETF's draft "The Idempotency-Key HTTP Header Field".
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// By its method (RFC 9110: GET, HEAD, OPTIONS, TRACE, PUT, DELETE), or by a key.
pub(crate) fn is_idempotent(method: &Method, headers: &HeaderMap) -> bool {
    method.is_idempotent() || headers.contains_key(IDEMPOTENCY_KEY)
}
