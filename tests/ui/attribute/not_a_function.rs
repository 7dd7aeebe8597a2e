#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(budget = PARTNER)]
struct Client;

#[retry_budget(budget = PARTNER)]
impl Client {
    async fn bikes(&self) -> io::Result<u32> {
        Ok(1)
    }
}

#[retry_budget(budget = PARTNER)]
trait Partner {
    #[retry_budget(budget = PARTNER)]
    async fn bikes(&self) -> io::Result<u32>;
}

#[retry_budget(budget = PARTNER)]
mod partner {}

#[retry_budget(budget = PARTNER)]
const DOCKS: u32 = 3;

fn main() {}
