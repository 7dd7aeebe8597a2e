use retry_budget::Retryable;

#[derive(Retryable)]
enum PartnerError {
    #[retry(transient, throttling)]
    A,
    #[retry(never)]
    #[retry(transparent)]
    B(std::io::Error),
    #[retry(transient, with = is_busy, exhausted)]
    C(u8),
}

#[derive(Retryable)]
#[retry(transient, never)]
enum Both {
    A,
}

fn main() {}
