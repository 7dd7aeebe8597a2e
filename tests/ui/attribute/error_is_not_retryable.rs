#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[derive(Debug)]
struct PartnerError;

#[retry_budget(budget = PARTNER)]
async fn bikes(station: u32) -> Result<u32, PartnerError> {
    if station == 0 { Err(PartnerError) } else { Ok(station) }
}

#[retry_budget(budget = PARTNER)]
async fn docks(station: u32) -> Result<u32, std::num::ParseIntError> {
    "3".parse::<u32>().map(|docks| docks + station)
}

fn main() {}
