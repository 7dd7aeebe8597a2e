#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(kind = "tokn", max_atempts = 3, base_delay = 50, ratio = 10, jitter = "half")]
async fn bikes(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
