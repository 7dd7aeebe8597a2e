#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(jitter = "half")]
async fn bikes_0(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(jitter = full)]
async fn bikes_1(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(when_empty = "wait")]
async fn bikes_2(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(jitter = 1)]
async fn bikes_3(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(idempotent = "no")]
async fn bikes_4(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
