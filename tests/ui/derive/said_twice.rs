use retry_budget::Retryable;
use std::time::Duration;

#[derive(Retryable)]
enum PartnerError {
    #[retry(transient, transient)]
    A,
    #[retry(throttling, after = first)]
    #[retry(after = second)]
    B { first: Duration, second: Duration },
}

#[derive(Retryable)]
#[retry(never, crate = ::retry_budget, crate = ::retry_budget)]
struct Wrapped;

fn main() {}
