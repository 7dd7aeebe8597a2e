use retry_budget::{Exhausted, Retryable};

#[derive(Retryable)]
enum PartnerError {
    #[retry(transient)]
    Broken,
    #[retry(exhausted)]
    GaveUp(Exhausted<Self>),
}

fn main() {}
