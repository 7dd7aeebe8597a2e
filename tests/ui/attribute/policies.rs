#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

use retry_budget::RetryPolicy;

static NAPPING: RetryPolicy = RetryPolicy::builder().max_attempts(0).build();

#[retry_budget(budget = PARTNER, policy = "background")]
async fn quoted(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, policy = PARTNER)]
async fn no_policy(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, max_attempts = "3".len())]
async fn wrong_type(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
