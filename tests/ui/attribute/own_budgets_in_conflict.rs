#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(kind = "token", capacity = 10, initial = 20)]
async fn initial(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "token", capacity = 4)]
async fn never_grants(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "ratio", window = "10ms")]
async fn short_window(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "credit", initial = 3, burst = 2)]
async fn initial_above_burst(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "token", capacity = station)]
async fn of_an_argument(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
