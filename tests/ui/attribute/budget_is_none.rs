#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

static PAYMENTS: u32 = 3;

struct Limits {
    partner: u32,
}

static LIMITS: Limits = Limits { partner: 3 };

#[retry_budget(budget = PAYMENTS)]
async fn bikes(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = crate::LIMITS.partner)]
async fn docks(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
