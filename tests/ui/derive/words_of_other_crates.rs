use retry_budget::Retryable;

#[derive(Retryable)]
enum PartnerError {
    #[retry(retryable)]
    A,
    #[retry(retry)]
    B,
    #[retry(temporary)]
    C,
    #[retry(permanent)]
    D,
    #[retry(fatal)]
    E,
    #[retry(skip)]
    F,
    #[retry(throttled)]
    G,
    #[retry(rate_limited)]
    H,
    #[retry(throttling, retry_after = wait)]
    I { wait: std::time::Duration },
    #[retry(source)]
    J(std::io::Error),
    #[retry(when = is_busy)]
    K,
    #[retry(if = is_busy)]
    L,
    #[retry(kind = "transient")]
    M,
}

fn main() {}
