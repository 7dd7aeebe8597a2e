#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(budget = PARTNER max_attempts = 3)]
async fn bikes_0(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(max_attempts(3))]
async fn bikes_1(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(max_attempts: 3)]
async fn bikes_2(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(max_attempts)]
async fn bikes_3(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(max_attempts =)]
async fn bikes_4(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget("partner")]
async fn bikes_5(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER,, max_attempts = 3)]
async fn bikes_6(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(clone = station)]
async fn bikes_7(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(clone())]
async fn bikes_8(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(once(key))]
async fn bikes_9(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(once(station = 1))]
async fn bikes_10(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(attempt = 3)]
async fn bikes_11(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(attempt = station)]
async fn bikes_12(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(crate = 3)]
async fn bikes_13(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
