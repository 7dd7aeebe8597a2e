use retry_budget::{Exhausted, Retryable};
use std::time::Duration;

#[derive(Retryable)]
#[retry(transparent)]
enum Transparent {
    Io(std::io::Error),
}

#[derive(Retryable)]
#[retry(throttling, after = wait)]
enum After {
    Busy { wait: Duration },
}

#[derive(Retryable)]
#[retry(transient, exhausted)]
enum GivenUp {
    GaveUp(Box<Exhausted<Self>>),
}

#[derive(Retryable)]
enum OnAVariant {
    #[retry(transient, crate = ::retry_budget)]
    Broken,
}

fn main() {}
