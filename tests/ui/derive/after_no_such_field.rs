use retry_budget::Retryable;
use std::time::Duration;

#[derive(Retryable)]
enum PartnerError {
    #[retry(throttling, after = retry_afer)]
    Typo { retry_after: Duration, status: u16 },
    #[retry(throttling, after = wait)]
    Other { retry_after: Duration, status: u16 },
    #[retry(throttling, after = 0)]
    Index { retry_after: Duration },
    #[retry(throttling, after = retry_after)]
    Name(Duration),
    #[retry(throttling, after = 1)]
    OutOfRange(Duration),
    #[retry(throttling, after = retry_after)]
    Unit,
}

#[derive(Retryable)]
#[retry(transient, after = wait)]
struct Timeout;

fn main() {}
