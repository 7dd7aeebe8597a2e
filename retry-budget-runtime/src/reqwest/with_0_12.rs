use ::reqwest_0_12 as reqwest;

#[path = "answer.rs"]
mod answer;
#[path = "client_error.rs"]
mod client_error;
#[path = "http_error.rs"]
mod http_error;
#[path = "or_retry.rs"]
mod or_retry;

pub use answer::{FailedAnswer, verdict};
pub use http_error::HttpError;
pub(crate) use http_error::verdict_of_known;
pub use or_retry::OrRetry;
