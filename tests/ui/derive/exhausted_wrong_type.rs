use retry_budget::{Exhausted, Retryable};

#[derive(Retryable)]
enum PartnerError {
    #[retry(transient)]
    Broken,
    #[retry(exhausted)]
    GaveUp(String),
}

#[derive(Retryable)]
enum OfAnother {
    #[retry(transient)]
    Broken,
    #[retry(exhausted)]
    GaveUp(Box<Exhausted<std::io::Error>>),
}

fn main() {}
