//! The AWS SDK for Rust: which errors are worth a retry.
//!
//! (Feature `aws-sdk-1`; the SDK's crates are at major version 1.)
//!
//! **The SDK retries by itself**, with a token bucket per client. Take one of the two: either leave it to the SDK, or
//! share a budget with calls that aren't AWS's, and switch the SDK's off with `RetryConfig::disabled()`.
//!
//! [`SdkError`] is [`Retryable`]:
//!
//! | error | verdict |
//! | --- | --- |
//! | `ServiceError` with one of [`THROTTLING_CODES`] | throttling, whatever the status |
//! | … with one of [`TRANSIENT_CODES`], or status 500, 502, 503, 504 | transient |
//! | … with status 429 | throttling |
//! | `TimeoutError`, `ResponseError`, `DispatchFailure` of the network | transient |
//! | `ConstructionFailure`, any other | never |
//!
//! A `x-amz-retry-after` header, in milliseconds, is the server's hint.
//!
//! Source: AWS SDKs and Tools Reference Guide, "Retry behavior", standard mode, and the classifiers of the SDK for Rust.

use crate::{Retryable, Verdict};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::{DispatchFailure, SdkError, ServiceError};
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_smithy_types::retry::ErrorKind;
use std::time::Duration;

/// The codes by which AWS services say that they get too much.
pub const THROTTLING_CODES: [&str; 14] = [
    "BandwidthLimitExceeded",
    "EC2ThrottledException",
    "LimitExceededException",
    "PriorRequestNotComplete",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "SlowDown",
    "ThrottledException",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    "TransactionInProgressException",
];

/// The codes by which they say that another attempt may succeed.
pub const TRANSIENT_CODES: [&str; 3] = ["InternalError", "RequestTimeout", "RequestTimeoutException"];

/// See [the table](self).
impl<E: ProvideErrorMetadata> Retryable for SdkError<E, HttpResponse> {
    fn verdict(&self) -> Verdict {
        match self {
            Self::ServiceError(error) => of_service(error),
            Self::TimeoutError(_) | Self::ResponseError(_) => Verdict::TRANSIENT,
            Self::DispatchFailure(failure) => of_dispatch(failure),
            _ => Verdict::NEVER,
        }
    }

    fn event_text(&self) -> Option<&dyn std::fmt::Display> {
        Some(self)
    }
}

fn of_service<E: ProvideErrorMetadata>(error: &ServiceError<E, HttpResponse>) -> Verdict {
    let code = error.err().code().unwrap_or_default();
    let response = error.raw();
    let verdict = match response.status().as_u16() {
        _ if THROTTLING_CODES.contains(&code) => Verdict::THROTTLING,
        _ if TRANSIENT_CODES.contains(&code) => Verdict::TRANSIENT,
        429 => Verdict::THROTTLING,
        500 | 502 | 503 | 504 => Verdict::TRANSIENT,
        _ => return Verdict::NEVER,
    };
    let millis = response.headers().get("x-amz-retry-after").and_then(|millis| millis.trim().parse().ok());
    verdict.after(millis.map(Duration::from_millis))
}

fn of_dispatch(failure: &DispatchFailure) -> Verdict {
    if failure.is_io() || failure.is_timeout() {
        return Verdict::TRANSIENT;
    }
    match failure.as_other() {
        Some(ErrorKind::ThrottlingError) => Verdict::THROTTLING,
        Some(ErrorKind::TransientError | ErrorKind::ServerError) => Verdict::TRANSIENT,
        _ => Verdict::NEVER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_smithy_runtime_api::client::result::ConnectorError;
    use aws_smithy_types::body::SdkBody;
    use aws_smithy_types::error::ErrorMetadata;

    type Failure = SdkError<ErrorMetadata, HttpResponse>;

    fn response(status: u16, hint: Option<&'static str>) -> HttpResponse {
        let mut response = HttpResponse::new(status.try_into().expect("a status"), SdkBody::empty());
        if let Some(hint) = hint {
            response.headers_mut().insert("x-amz-retry-after", hint);
        }
        response
    }

    fn said(status: u16, code: &str, hint: Option<&'static str>) -> Verdict {
        let error = ErrorMetadata::builder().code(code).build();
        Failure::service_error(error, response(status, hint)).verdict()
    }

    #[test]
    fn the_code_wins_over_the_status() {
        for code in THROTTLING_CODES {
            assert_eq!(said(400, code, None), Verdict::THROTTLING, "{code}");
        }
        assert_eq!(said(503, "SlowDown", None), Verdict::THROTTLING);
        for code in TRANSIENT_CODES {
            assert_eq!(said(400, code, None), Verdict::TRANSIENT, "{code}");
        }
    }

    #[test]
    fn by_status() {
        for status in [500, 502, 503, 504] {
            assert_eq!(said(status, "Whatever", None), Verdict::TRANSIENT, "{status}");
        }
        assert_eq!(said(429, "Whatever", None), Verdict::THROTTLING);
        for status in [400, 403, 404, 409, 501] {
            assert_eq!(said(status, "ValidationException", None), Verdict::NEVER, "{status}");
        }
    }

    #[test]
    fn a_hint_in_milliseconds() {
        assert_eq!(said(500, "", Some("1500")), Verdict::TRANSIENT.after(Duration::from_millis(1500)));
        for no_hint in ["", "-1", "1.5", "soon", "99999999999999999999"] {
            assert_eq!(said(500, "", Some(no_hint)), Verdict::TRANSIENT, "{no_hint:?}");
        }
        assert_eq!(said(404, "", Some("1500")), Verdict::NEVER);
    }

    #[test]
    fn without_an_answer() {
        assert_eq!(Failure::timeout_error("slow").verdict(), Verdict::TRANSIENT);
        assert_eq!(Failure::response_error("cut off", response(200, None)).verdict(), Verdict::TRANSIENT);
        assert_eq!(Failure::construction_failure("no region").verdict(), Verdict::NEVER);
        let dispatch = |error| Failure::dispatch_failure(error).verdict();
        assert_eq!(dispatch(ConnectorError::io("reset".into())), Verdict::TRANSIENT);
        assert_eq!(dispatch(ConnectorError::timeout("slow".into())), Verdict::TRANSIENT);
        assert_eq!(dispatch(ConnectorError::user("no such host syntax".into())), Verdict::NEVER);
        assert_eq!(dispatch(ConnectorError::other("what?".into(), None)), Verdict::NEVER);
        let throttled = ConnectorError::other("slowly".into(), Some(ErrorKind::ThrottlingError));
        assert_eq!(dispatch(throttled), Verdict::THROTTLING);
    }
}
