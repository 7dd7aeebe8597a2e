//! Four mistakes, four errors, and none for the uses of the type.
use retry_budget::{Exhausted, Retryable, Verdict};
use std::time::Duration;

#[derive(Debug, Retryable)]
#[retry(defualt)]
enum PartnerError<T> {
    #[retry(retryable)]
    Broken(T),
    #[retry(throttling, after = wait)]
    Busy { retry_after: Duration },
    #[retry(transparent)]
    Io(std::io::Error, u16),
    #[retry(exhausted)]
    GaveUp(Box<Exhausted<Self>>),
}

fn verdict<E: Retryable>(error: &E) -> Verdict {
    error.verdict()
}

fn main() {
    verdict(&PartnerError::Broken(7));
    verdict(&PartnerError::<u8>::Busy { retry_after: Duration::ZERO });
}
