use retry_budget::Retryable;
use std::io;

#[derive(Retryable)]
enum PartnerError {
    #[retry(transparent)]
    None,
    #[retry(transparent)]
    Two(io::Error, u16),
    #[retry(transparent)]
    Named { source: io::Error, station: u32 },
}

#[derive(Retryable)]
#[retry(transparent)]
struct Unit;

fn main() {}
