#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(budget = PARTNER, classify = true)]
async fn literal(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, classify = |error: &String| error.is_empty())]
async fn other_error(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, classify = |_| "transient")]
async fn other_answer(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, classify = PARTNER)]
async fn no_function(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, on_retry = async |_| ())]
async fn not_async(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
