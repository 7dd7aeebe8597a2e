#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(budget = PARTNER)]
fn bikes(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER)]
const fn docks(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
