use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(PARTNER)]
async fn without_a_name(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = TokenBudget::builder("partner").build())]
async fn made_on_the_spot(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = crate::)]
async fn half_a_path(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, jitter = Full)]
async fn a_word_in_capitals(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, base_delay = std::time::Duration::from_secs(5))]
async fn written_out(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "ratio", ratio = 0.1, window = "10ms")]
async fn short_window(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
