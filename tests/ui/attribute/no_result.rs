#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(budget = PARTNER)]
async fn nothing(station: u32) {
    let _ = station;
}

#[retry_budget(budget = PARTNER)]
async fn unit(station: u32) -> () {
    let _ = station;
}

#[retry_budget(budget = PARTNER)]
async fn option(station: u32) -> Option<u32> {
    Some(station)
}

#[retry_budget(budget = PARTNER)]
async fn number(station: u32) -> u32 {
    station
}

fn main() {}
