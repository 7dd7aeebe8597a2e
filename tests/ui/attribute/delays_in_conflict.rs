#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(base_delay = "5s", max_delay = "1s")]
async fn bikes_0(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(base_delay = "3s")]
async fn bikes_1(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(max_delay = "10ms")]
async fn bikes_2(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
