//! gRPC as HTTP sees it: a content type, and a status in a header where there is no message.

use crate::{Verdict, http_1};
use http::HeaderMap;
use http::header::{CONTENT_TYPE, HeaderName};

/// In the headers of an answer that has trailers only: an error before the first message.
const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");

const RESOURCE_EXHAUSTED: u16 = 8;
const UNAVAILABLE: u16 = 14;

/// Whether these are the headers of a request or an answer of gRPC: `application/grpc`, `application/grpc+proto`,
/// `application/grpc-web`, ….
pub(super) fn is_grpc(headers: &HeaderMap) -> bool {
    const GRPC: &[u8] = b"application/grpc";
    headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().get(..GRPC.len()).is_some_and(|start| start.eq_ignore_ascii_case(GRPC)))
}

/// The status, where it is known already: in an answer without a message.
fn status(headers: &HeaderMap) -> Option<u16> {
    headers.get(GRPC_STATUS)?.to_str().ok()?.trim().parse().ok()
}

/// Whether this answer says that the server could not do it: UNAVAILABLE or `RESOURCE_EXHAUSTED`.
pub(super) fn is_failure(headers: &HeaderMap) -> bool {
    matches!(status(headers), Some(UNAVAILABLE | RESOURCE_EXHAUSTED))
}

/// Whether this answer of gRPC is worth a retry; nothing if it has no status.
pub(super) fn verdict(headers: &HeaderMap) -> Option<Verdict> {
    let verdict = match status(headers)? {
        UNAVAILABLE => Verdict::TRANSIENT,
        RESOURCE_EXHAUSTED => Verdict::THROTTLING,
        _ => return Some(Verdict::NEVER),
    };
    Some(http_1::heed(verdict, headers))
}
