use retry_budget::Retryable;
use std::time::Duration;

#[derive(Retryable)]
enum PartnerError {
    #[retry(after = wait)]
    NoKind { wait: Duration },
    #[retry(not_sent)]
    NotSent,
    #[retry(never, after = 0)]
    Never(Duration),
    #[retry(transparent, not_sent)]
    Inner(std::io::Error),
    #[retry(with = judge, after = wait)]
    Function { wait: Duration },
    #[retry(with = judge, not_sent)]
    FunctionNotSent,
}

fn main() {}
