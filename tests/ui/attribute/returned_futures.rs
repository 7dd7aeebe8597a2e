use retry_budget::{TokenBudget, retry_budget};
use std::future::Future;
use std::io;
use std::pin::Pin;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

async fn elsewhere() -> io::Result<u32> {
    Ok(1)
}

#[retry_budget(budget = PARTNER)]
fn made_elsewhere() -> impl Future<Output = io::Result<u32>> {
    elsewhere()
}

#[retry_budget(budget = PARTNER)]
fn boxed_elsewhere() -> Pin<Box<dyn Future<Output = io::Result<u32>>>> {
    Box::pin(elsewhere())
}

#[retry_budget(budget = PARTNER)]
fn declared_mut(mut station: u32) -> impl Future<Output = io::Result<u32>> {
    async move {
        station += 1;
        Ok(station)
    }
}

fn main() {}
