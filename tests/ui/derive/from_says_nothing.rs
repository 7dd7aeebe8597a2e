use retry_budget::Retryable;

#[derive(Debug, thiserror::Error, Retryable)]
enum PartnerError {
    #[error("busy")]
    #[retry(throttling)]
    Busy,
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("bad answer")]
    Json {
        #[from]
        source: std::num::ParseIntError,
    },
}

fn main() {}
