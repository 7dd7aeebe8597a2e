use retry_budget::Retryable;
use std::time::Duration;

#[derive(Retryable)]
enum PartnerError {
    #[retry(throttling, after)]
    A(Duration),
    #[retry(throttling, after(wait))]
    B { wait: Duration },
    #[retry(throttling, after = "wait")]
    C { wait: Duration },
    #[retry(throttling, after = self.wait)]
    D { wait: Duration },
    #[retry(with)]
    E,
    #[retry(with = )]
    F,
    #[retry(with = "is_busy")]
    G,
    #[retry(with = |error| true)]
    H,
    #[retry(with = is_busy(5))]
    I,
}

#[derive(Retryable)]
#[retry(transient, crate = "my::retry_budget")]
struct Timeout;

fn main() {}
