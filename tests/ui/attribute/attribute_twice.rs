#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(budget = PARTNER)]
#[retry_budget(budget = PARTNER)]
async fn bikes(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
