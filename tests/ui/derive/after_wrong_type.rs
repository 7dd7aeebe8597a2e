use retry_budget::Retryable;

#[derive(Retryable)]
enum PartnerError {
    #[retry(throttling, after = seconds)]
    Named { seconds: u64 },
    #[retry(transient, after = 1)]
    Indexed(u16, Option<String>),
}

fn main() {}
