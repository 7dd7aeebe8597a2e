use retry_budget::{TokenBudget, retry_budget};
use std::error::Error;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(budget = PARTNER)]
async fn bikes(station: u32) -> Result<u32, Box<dyn Error + Send>> {
    Ok(station)
}

fn main() {}
