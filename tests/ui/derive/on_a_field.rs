use retry_budget::Retryable;
use std::time::Duration;

#[derive(Retryable)]
enum PartnerError {
    #[retry(throttling)]
    Busy {
        #[retry(after)]
        wait: Duration,
    },
    #[retry(transient)]
    Io(#[retry(transparent)] std::io::Error),
}

#[derive(Retryable)]
#[retry(throttling)]
struct Busy(#[retry(after)] Duration);

fn main() {}
