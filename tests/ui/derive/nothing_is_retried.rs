use retry_budget::{Exhausted, Retryable};

#[derive(Retryable)]
enum Silent {
    NotFound,
    Busy,
}

#[derive(Retryable)]
enum AllNever {
    #[retry(never)]
    NotFound,
    #[retry(exhausted)]
    GaveUp(Box<Exhausted<Self>>),
}

#[derive(Retryable)]
struct SilentStruct;

#[derive(Retryable)]
#[retry(crate = ::retry_budget)]
struct OnlyTheCrate;

fn main() {}
