use retry_budget::Retryable;

#[derive(Retryable)]
enum PartnerError {
    #[retry(tranzient)]
    Broken,
    #[retry(Throttling)]
    Busy,
    #[retry(transparant)]
    Io(std::io::Error),
    #[retry(bikes)]
    NotFound,
    #[retry(throttling, afer = retry_after)]
    TooMany { retry_after: std::time::Duration },
}

fn main() {}
