use retry_budget::{TokioTimer, TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

fn main() {}

#[retry_budget(budget = PARTNER, timer = TokioTimer::new())]
async fn called(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, timer = "tokio")]
async fn in_quotes(station: u32) -> io::Result<u32> {
    let _: TokioTimer;
    Ok(station)
}
