//! How a request says which attempt it is: clients write it, servers read it.

use crate::{Attempt, SettingsError};
use http::header::{HeaderMap, HeaderName};
use std::str::FromStr;

/// The number of the attempt, which counts from 1.
pub const X_RETRY_ATTEMPT: HeaderName = HeaderName::from_static("x-retry-attempt");

/// gRPC's word for it: how many attempts there were before. Source: gRPC proposal A6, "Exposed Retry Metadata".
pub const GRPC_PREVIOUS_RPC_ATTEMPTS: HeaderName = HeaderName::from_static("grpc-previous-rpc-attempts");

/// Envoy's, which counts from 1. Source: Envoy's documentation of its headers, `include_request_attempt_count`.
const X_ENVOY_ATTEMPT_COUNT: HeaderName = HeaderName::from_static("x-envoy-attempt-count");

/// The AWS SDKs': `attempt=2; max=3`. Source: AWS SDKs and Tools Reference Guide, "Retry behavior".
const AMZ_SDK_REQUEST: HeaderName = HeaderName::from_static("amz-sdk-request");

/// That of the SDKs which Stainless generates, Anthropic's for example: how many retries there were.
const X_STAINLESS_RETRY_COUNT: HeaderName = HeaderName::from_static("x-stainless-retry-count");

/// The headers by which a request tells which attempt it is, so that the server can count retries.
///
/// A first attempt tells nothing. From the second on, attempt n has two headers: `grpc-previous-rpc-attempts: n-1`, and
/// `x-retry-attempt: n`, whose name can be another.
///
/// [`tower_0_5::RetryLayer::http`](../tower_0_5/struct.RetryLayer.html#method.http) writes them. In a loop of any other
/// client:
///
/// ```
/// # extern crate retry_budget_runtime as retry_budget;
/// use http::Request;
/// use retry_budget::http_1::{AttemptHeaders, StatusError};
/// use retry_budget::{RetryPolicy, TokenBudget, retry};
///
/// static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
///
/// # async fn send(request: Request<()>) -> Result<String, StatusError> {
/// #     let told = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
/// #     match (told("x-retry-attempt"), told("grpc-previous-rpc-attempts")) {
/// #         (None, None) => Err(http::StatusCode::SERVICE_UNAVAILABLE.into()),
/// #         (Some(attempt), Some(before)) => Ok(format!("{attempt}, {before}")),
/// #         _ => unreachable!(),
/// #     }
/// # }
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let answer = retry(&PARTNER, &RetryPolicy::REQUEST, async |attempt| {
///     let mut request = Request::get("/bikes").body(()).unwrap();
///     AttemptHeaders::new().write(attempt, request.headers_mut());
///     send(request).await
/// })
/// .await;
/// # assert_eq!(answer.unwrap(), "2, 1");
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptHeaders {
    /// The name of our own; without one nothing is written.
    name: Option<HeaderName>,
}

impl AttemptHeaders {
    /// Nothing is told.
    pub const OFF: Self = Self { name: None };

    /// `x-retry-attempt`, and gRPC's.
    pub const fn new() -> Self {
        Self { name: Some(X_RETRY_ATTEMPT) }
    }

    /// A name of your own instead of `x-retry-attempt`. An empty one is [`OFF`](Self::OFF).
    ///
    /// ```
    /// use retry_budget_runtime::http_1::AttemptHeaders;
    ///
    /// assert!(AttemptHeaders::named("x-shop-attempt").is_ok());
    /// assert_eq!(AttemptHeaders::named(""), Ok(AttemptHeaders::OFF));
    /// assert!(AttemptHeaders::named("two words").is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// When that is no name of a header, or gRPC's, which counts something else.
    pub fn named(name: &str) -> Result<Self, SettingsError> {
        if name.is_empty() {
            return Ok(Self::OFF);
        }
        let name = HeaderName::from_str(name).map_err(|_| {
            SettingsError::new(
                "the name of a header is letters, digits and hyphens, as in x-retry-attempt; an empty one sends none",
            )
        })?;
        if name == GRPC_PREVIOUS_RPC_ATTEMPTS {
            return Err(SettingsError::new(
                "grpc-previous-rpc-attempts is sent beside the header that has a name of your own",
            ));
        }
        Ok(Self { name: Some(name) })
    }

    /// Writes into a request which attempt it is; nothing if it is the first. What was there is replaced.
    pub fn write(&self, attempt: Attempt, headers: &mut HeaderMap) {
        if let (true, Some(name)) = (attempt.is_retry(), &self.name) {
            let number = attempt.number();
            // It fails only where there are thousands of headers already.
            let _ = headers.try_insert(name, number.into());
            let _ = headers.try_insert(GRPC_PREVIOUS_RPC_ATTEMPTS, (number - 1).into());
        }
    }

    /// Reads from a request which attempt it is: the largest number that any of these says, 1 if none does.
    ///
    /// - `x-retry-attempt`, or the name of your own;
    /// - `grpc-previous-rpc-attempts`, and one more;
    /// - `x-envoy-attempt-count`;
    /// - `attempt=` in `amz-sdk-request`;
    /// - `x-stainless-retry-count`, and one more.
    ///
    /// What is no number, or not one of 32 bits, is taken for not there.
    ///
    /// ```
    /// use http::{HeaderMap, HeaderValue};
    /// use retry_budget_runtime::http_1::AttemptHeaders;
    ///
    /// let mut headers = HeaderMap::new();
    /// assert_eq!(AttemptHeaders::new().read(&headers), 1);
    /// headers.insert("amz-sdk-request", HeaderValue::from_static("attempt=2; max=3"));
    /// assert_eq!(AttemptHeaders::new().read(&headers), 2);
    /// ```
    pub fn read(&self, headers: &HeaderMap) -> u32 {
        let largest = |name: &HeaderName, read: fn(&str) -> Option<u32>| {
            headers.get_all(name).iter().filter_map(|value| read(value.to_str().ok()?)).max().unwrap_or_default()
        };
        let own = self.name.as_ref().map_or(0, |name| largest(name, number));
        own.max(largest(&GRPC_PREVIOUS_RPC_ATTEMPTS, one_more))
            .max(largest(&X_ENVOY_ATTEMPT_COUNT, number))
            .max(largest(&AMZ_SDK_REQUEST, |text| {
                text.split(';').find_map(|part| number(part.trim().strip_prefix("attempt=")?))
            }))
            .max(largest(&X_STAINLESS_RETRY_COUNT, one_more))
            .max(1)
    }
}

impl Default for AttemptHeaders {
    fn default() -> Self {
        Self::new()
    }
}

fn number(text: &str) -> Option<u32> {
    text.trim().parse().ok()
}

fn one_more(text: &str) -> Option<u32> {
    number(text)?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RetryKind;
    use http::HeaderValue;

    fn written(headers: &AttemptHeaders, number: u32) -> Vec<(String, String)> {
        let mut map = HeaderMap::new();
        headers.write(Attempt::new(number, Some(RetryKind::Transient), None), &mut map);
        let mut written: Vec<_> =
            map.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
        written.sort();
        written
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn nothing_on_the_first_attempt() {
        assert_eq!(written(&AttemptHeaders::new(), 1), []);
    }

    #[test]
    fn two_headers_from_the_second_on() {
        let second = [("grpc-previous-rpc-attempts", "1"), ("x-retry-attempt", "2")];
        assert_eq!(written(&AttemptHeaders::new(), 2), pairs(&second));
        let last = [("grpc-previous-rpc-attempts", "4294967294"), ("x-retry-attempt", "4294967295")];
        assert_eq!(written(&AttemptHeaders::default(), u32::MAX), pairs(&last));
        let named = AttemptHeaders::named("X-Shop-Attempt").unwrap();
        assert_eq!(written(&named, 3), pairs(&[("grpc-previous-rpc-attempts", "2"), ("x-shop-attempt", "3")]));
    }

    #[test]
    fn an_empty_name_is_off() {
        assert_eq!(written(&AttemptHeaders::named("").unwrap(), 2), []);
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for name in [" ", "two words", "x-é", "x:y", "x\n", "grpc-previous-rpc-attempts", "gRPC-Previous-RPC-Attempts"]
        {
            assert!(AttemptHeaders::named(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn what_was_there_is_replaced() {
        let mut map = HeaderMap::new();
        for number in [2, 3] {
            AttemptHeaders::new().write(Attempt::new(number, None, None), &mut map);
        }
        assert_eq!(map.get_all("x-retry-attempt").iter().collect::<Vec<_>>(), ["3"]);
        assert_eq!(map.len(), 2);
    }

    #[test]
    fn a_map_that_is_full_stays_as_it_is() {
        let mut map = HeaderMap::new();
        for number in 0.. {
            let name = HeaderName::from_str(&format!("x-{number}")).unwrap();
            if map.try_insert(name, HeaderValue::from(number)).is_err() {
                break;
            }
        }
        let len = map.len();
        AttemptHeaders::new().write(Attempt::new(2, None, None), &mut map);
        assert_eq!(map.len(), len);
    }

    fn read(headers: &[(&'static str, &str)]) -> u32 {
        let mut map = HeaderMap::new();
        for &(name, value) in headers {
            map.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        AttemptHeaders::new().read(&map)
    }

    #[test]
    fn each_of_the_five() {
        assert_eq!(read(&[]), 1);
        assert_eq!(read(&[("x-retry-attempt", "2")]), 2);
        assert_eq!(read(&[("grpc-previous-rpc-attempts", "2")]), 3);
        assert_eq!(read(&[("x-envoy-attempt-count", "2")]), 2);
        assert_eq!(read(&[("amz-sdk-request", "attempt=2; max=3")]), 2);
        assert_eq!(read(&[("amz-sdk-request", "ttl=20260101T000000Z;attempt=4 ; max=5")]), 4);
        assert_eq!(read(&[("x-stainless-retry-count", "2")]), 3);
        assert_eq!(read(&[("x-stainless-retry-count", "0")]), 1);
    }

    #[test]
    fn the_largest_counts() {
        let all = [
            ("x-retry-attempt", "2"),
            ("grpc-previous-rpc-attempts", "1"),
            ("x-envoy-attempt-count", "5"),
            ("amz-sdk-request", "attempt=3; max=3"),
            ("x-stainless-retry-count", "3"),
        ];
        assert_eq!(read(&all), 5);
        assert_eq!(read(&[("x-retry-attempt", "2"), ("x-retry-attempt", "7"), ("x-retry-attempt", "x")]), 7);
    }

    #[test]
    fn what_cannot_be_read_is_not_there() {
        for value in ["", "two", "-1", "1.5", "2, 3", "4294967296", "99999999999999999999", "ü", "0x2"] {
            for name in
                ["x-retry-attempt", "grpc-previous-rpc-attempts", "x-envoy-attempt-count", "x-stainless-retry-count"]
            {
                assert_eq!(read(&[(name, value)]), 1, "{name}: {value:?}");
            }
            assert_eq!(read(&[("amz-sdk-request", &format!("attempt={value}"))]), 1, "{value:?}");
        }
        assert_eq!(read(&[("x-retry-attempt", "0")]), 1);
        assert_eq!(read(&[("grpc-previous-rpc-attempts", "4294967295")]), 1, "one more is too many");
        assert_eq!(read(&[("amz-sdk-request", "max=3; reattempt=2")]), 1);
    }

    #[test]
    fn a_name_of_its_own_is_read_too() {
        let mut map = HeaderMap::new();
        map.insert("x-shop-attempt", HeaderValue::from(4));
        map.insert("x-retry-attempt", HeaderValue::from(9));
        map.insert("x-envoy-attempt-count", HeaderValue::from(2));
        assert_eq!(AttemptHeaders::named("x-shop-attempt").unwrap().read(&map), 4);
        assert_eq!(AttemptHeaders::OFF.read(&map), 2);
    }
}
