#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(kind = "tokn")]
async fn bikes_0(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = token)]
async fn bikes_1(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = 3)]
async fn bikes_2(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind)]
async fn bikes_3(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
