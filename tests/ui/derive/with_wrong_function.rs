use retry_budget::{Retryable, Verdict};

fn returns_a_number(_: &PartnerError) -> u8 {
    7
}

fn takes_text(_: &str) -> bool {
    true
}

fn takes_the_field(_: &PartnerError, _: u16) -> Verdict {
    Verdict::NEVER
}

struct NoFunction;

#[derive(Retryable)]
enum PartnerError {
    #[retry(with = returns_a_number)]
    A,
    #[retry(with = takes_text)]
    B,
    #[retry(with = takes_the_field)]
    C(u16),
    #[retry(with = NoFunction)]
    D,
    #[retry(with = nowhere)]
    E,
}

fn main() {}
