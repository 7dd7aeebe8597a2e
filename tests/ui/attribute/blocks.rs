use retry_budget::{TokenBudget, retry};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

async fn caller(station: u32) -> io::Result<u32> {
    retry!(budget = PARTNER).await?;
    retry!(budget = PARTNER, async { Ok(station) }).await?;
    retry!(budget = PARTNER, async || { Ok(station) }).await?;
    retry!(budget = PARTNER, async move || -> io::Result<u32> { Ok(station) }).await?;
    retry!(budget = PARTNER, async |attempt| -> io::Result<u32> { Ok(station) }).await?;
    retry!(budget = PARTNER, async || -> io::Result<u32> { Ok(station) }, max_attempts = 3).await?;
    retry!(budget = PARTNER, || -> Result<u32, io::Error> { Ok(station) }).await?;
    retry!(budgt = PARTNER, max_attempts = 0, async || -> io::Result<u32> { Ok(station) }).await
}

fn main() {}
