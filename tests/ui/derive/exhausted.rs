use retry_budget::{Exhausted, Retryable};

#[derive(Retryable)]
enum Twice {
    #[retry(transient)]
    Broken,
    #[retry(exhausted)]
    GaveUp(Box<Exhausted<Self>>),
    #[retry(exhausted)]
    AlsoGaveUp(Box<Exhausted<Self>>),
}

#[derive(Retryable)]
enum Fields {
    #[retry(transient)]
    Broken,
    #[retry(exhausted)]
    GaveUp,
}

#[derive(Retryable)]
enum MoreFields {
    #[retry(transient)]
    Broken,
    #[retry(exhausted)]
    GaveUp { source: Box<Exhausted<Self>>, station: u32 },
}

#[derive(Retryable)]
enum NotSent {
    #[retry(transient)]
    Broken,
    #[retry(exhausted, not_sent)]
    GaveUp(Box<Exhausted<Self>>),
}

#[derive(Retryable)]
#[retry(transient, exhausted)]
struct Struct(Box<Exhausted<Self>>);

fn main() {}
