#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(budget = PARTNER, kind = "token")]
async fn bikes_0(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, capacity = 5, ratio = 0.1)]
async fn bikes_1(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
