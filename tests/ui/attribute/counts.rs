#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(max_attempts = 0)]
async fn bikes_0(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(max_attempts = -1)]
async fn bikes_1(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(max_attempts = "3")]
async fn bikes_2(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(max_attempts = 3.0)]
async fn bikes_3(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(max_attempts = 4294967296)]
async fn bikes_4(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(capacity = 0)]
async fn bikes_5(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(capacity = 4294967295)]
async fn bikes_6(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(transient_cost = 0)]
async fn bikes_7(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "ratio", min_retries = 2000000)]
async fn bikes_8(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
