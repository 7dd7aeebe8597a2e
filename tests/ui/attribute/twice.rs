#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(max_attempts = 3, max_attempts = 4)]
async fn bikes_0(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "token", kind = "ratio")]
async fn bikes_1(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
