#![deny(dead_code, unused_variables)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(budget = PARTNER)]
async fn never_called(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER)]
pub async fn bikes(station: u32, _by: u32) -> io::Result<u32> {
    let unused = 3;
    Ok(1)
}

fn main() {}
