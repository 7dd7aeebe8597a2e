use retry_budget::Retryable;

#[derive(Retryable)]
enum PartnerError {
    #[retry]
    Bare,
    #[retry()]
    Nothing,
    #[retry = "transient"]
    Value,
    #[retry("transient")]
    Quoted,
    #[retry(transient = true)]
    Assigned,
    #[retry(throttling(after = 0))]
    Nested(std::time::Duration),
    #[retry(transient not_sent)]
    NoComma,
    #[retry(RetryKind::Transient)]
    WithPath,
    #[retry(5)]
    Number,
    #[retry(,)]
    Comma,
    #[retry(transient;)]
    Semicolon,
}

fn main() {}
