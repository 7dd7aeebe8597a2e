use retry_budget::{Retryable, TokenBudget, retry_budget};
use std::io;
use std::time::Duration;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[derive(Debug, Retryable)]
enum PartnerError {
    #[retry(transient)]
    Lost,
}

#[retry_budget(budget = PARTNER, attempt_timeout = "1s")]
async fn cannot_say_it(station: u32) -> Result<u32, PartnerError> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, deadline = "3s")]
async fn cannot_say_it_either(station: u32) -> Result<u32, PartnerError> {
    if station == 0 { Err(PartnerError::Lost) } else { Ok(station) }
}

#[retry_budget(budget = PARTNER, attempt_timeout = 5)]
async fn no_unit(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, deadline = "0s")]
async fn no_time(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, attempt_timeout = "3s", deadline = "1s")]
async fn the_wrong_way_round(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, elapsed = |_| PartnerError::Lost)]
async fn no_limit(station: u32) -> Result<u32, PartnerError> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, deadline = station)]
async fn no_deadline(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, attempt_timeout = Some(Duration::from_secs(1)))]
async fn no_option(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, nested = "ignore", timeout = "1s", max_elapsed_time = "2s")]
async fn words(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, timer = Duration)]
async fn no_timer(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, deadline = "1s", elapsed = |elapsed| elapsed)]
async fn another_error(station: u32) -> Result<u32, PartnerError> {
    Ok(station)
}

struct Key;

#[retry_budget(budget = PARTNER, once(key = Key))]
async fn not_clone(station: u32) -> io::Result<u32> {
    let _ = &key;
    Ok(station)
}

fn main() {}
