//! `retry!`, for code in the middle of a function.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::{TokenBudget, retry};

#[tokio::test(start_paused = true)]
async fn borrows_what_is_around_it() {
    let partner = Flaky::succeeds_at(3);
    let mut log = String::new();
    let name = String::from("x");
    let answer = retry!(budget = PLENTY, max_attempts = 3, attempt = attempt, async || -> Result<u32, Lost> {
        log.push_str(&name);
        let run = partner.run_later().await?;
        Ok(run + attempt.number())
    })
    .await;
    assert_eq!(answer, Ok(6));
    assert_eq!(log, "xxx");
}

#[tokio::test(start_paused = true)]
async fn a_local_budget_and_a_clone() {
    let budget = TokenBudget::builder("local").capacity(14).build();
    let partner = Flaky::succeeds_at(3);
    let body = vec![1_usize, 2];
    let answer = retry!(budget = budget, clone(body), async || -> Result<usize, Lost> {
        partner.run()?;
        Ok(body.into_iter().sum())
    })
    .await;
    assert_eq!(answer, Err(Lost(2)), "the budget pays for one retry");
}

async fn spawned(partner: &Flaky, names: &[&str]) -> Result<usize, Lost> {
    let mut length = 0;
    retry!(async || -> Result<(), Lost> {
        for name in names {
            partner.run_later().await?;
            length += name.len();
        }
        Ok(())
    })
    .await?;
    Ok(length)
}

#[tokio::test(start_paused = true)]
async fn its_future_can_be_spawned() {
    let partner = Flaky::succeeds_at(2);
    let task = tokio::spawn(async move { spawned(&partner, &["a", "bc"]).await });
    assert_eq!(task.await.unwrap(), Ok(3));
}

struct Client {
    partner: Flaky,
    budget: TokenBudget,
    log: String,
}

impl Client {
    async fn ask(&mut self) -> Result<u32, Lost> {
        let Self { partner, budget, log } = self;
        retry!(budget = budget, async || -> Result<u32, Lost> {
            log.push('x');
            partner.run_later().await
        })
        .await
    }

    async fn ask_shared(&self) -> Result<u32, Lost> {
        retry!(budget = self.budget, async || -> Result<u32, Lost> { self.partner.run_later().await }).await
    }
}

#[tokio::test(start_paused = true)]
async fn within_methods() {
    let mut client =
        Client { partner: Flaky::succeeds_at(3), budget: TokenBudget::builder("field").build(), log: String::new() };
    assert_eq!(client.ask().await, Ok(3));
    assert_eq!(client.log, "xxx");
    assert_eq!(client.ask_shared().await, Ok(4));
}
