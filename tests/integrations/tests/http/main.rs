//! `http_1`: what an answer's status and headers say about a retry, for any HTTP client.

mod clients;
mod hints;
mod statuses;

use http::{HeaderMap, HeaderName, HeaderValue};

/// Header lines as they come, whatever their bytes.
fn headers<V: AsRef<[u8]>>(lines: &[(&'static str, V)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(HeaderName::from_static(name), HeaderValue::from_bytes(value.as_ref()).unwrap());
    }
    headers
}
