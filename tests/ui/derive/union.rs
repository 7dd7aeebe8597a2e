use retry_budget::Retryable;

#[derive(Retryable)]
#[retry(transient)]
union Either {
    a: u8,
    b: u16,
}

fn main() {}
