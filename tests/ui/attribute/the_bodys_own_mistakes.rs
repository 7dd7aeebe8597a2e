#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(budget = PARTNER)]
async fn mismatched(station: u32) -> io::Result<u32> {
    Ok("three")
}

#[retry_budget(budget = PARTNER)]
async fn unknown_name(station: u32) -> io::Result<u32> {
    let bikes = statoin + 1;
    Ok(bikes)
}

#[retry_budget(budget = PARTNER)]
async fn missing_value(station: u32) -> io::Result<u32> {
    let _ = station;
}

fn main() {}
