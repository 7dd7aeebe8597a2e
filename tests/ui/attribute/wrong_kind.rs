#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(kind = "ratio", capacity = 5)]
async fn bikes_0(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(ratio = 0.1)]
async fn bikes_1(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "token", window = "1s")]
async fn bikes_2(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "ratio", burst = 3, min_retry_concurrency = 3)]
async fn bikes_3(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(initial = 5, kind = "grpc")]
async fn bikes_4(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(token_ratio = 0.1, max_tokens = 10)]
async fn bikes_5(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, ratio = 0.1, burst = 2)]
async fn bikes_6(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
