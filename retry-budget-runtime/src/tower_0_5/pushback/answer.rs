//! The server's "don't", in an answer that failed.

use super::DontRetry;
use crate::http_1::{GRPC_RETRY_PUSHBACK_MS, X_SHOULD_RETRY};
use crate::tower_0_5::grpc;
use http::{HeaderValue, Response, StatusCode};

/// How an answer says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http,
    Grpc,
}

/// Says not to come back if there is a reason; not where the answer says something of it already, and not in an answer
/// that is no failure of ours.
pub(super) fn say_dont<B>(response: &mut Response<B>, asked_by: Protocol, reason: impl FnOnce() -> bool) {
    let protocol = if grpc::is_grpc(response.headers()) { Protocol::Grpc } else { asked_by };
    let (name, value) = match protocol {
        Protocol::Http => (X_SHOULD_RETRY, HeaderValue::from_static("false")),
        Protocol::Grpc => (GRPC_RETRY_PUSHBACK_MS, HeaderValue::from_static("-1")),
    };
    if failed(response, protocol)
        && !response.headers().contains_key(&name)
        && (response.extensions().get::<DontRetry>().is_some() || reason())
    {
        // It fails only where there are thousands of headers already.
        let _ = response.headers_mut().try_insert(name, value);
    }
}

fn failed<B>(response: &Response<B>, protocol: Protocol) -> bool {
    let by_status = matches!(
        response.status(),
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::INTERNAL_SERVER_ERROR
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    );
    by_status || protocol == Protocol::Grpc && grpc::is_failure(response.headers())
}
