#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(base_delay = 50)]
async fn bikes_0(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(base_delay = "50 parsecs")]
async fn bikes_1(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(base_delay = "")]
async fn bikes_2(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(base_delay = "-1s")]
async fn bikes_3(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(base_delay = "99999999999999999999h")]
async fn bikes_4(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(base_delay = true)]
async fn bikes_5(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(max_delay = "50")]
async fn bikes_6(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
