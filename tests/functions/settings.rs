//! Policies, by option and by expression.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::{Jitter, RetryPolicy, retry_budget};
use std::sync::Arc;
use std::time::Duration;

static NIGHTLY: RetryPolicy =
    RetryPolicy::builder().max_attempts(4).base_delay(Duration::from_secs(1)).jitter(Jitter::None).build();
const ATTEMPTS: u32 = 2;

#[retry_budget(budget = PLENTY, policy = NIGHTLY)]
async fn by_static(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = PLENTY, policy = RetryPolicy::BACKGROUND)]
async fn by_preset(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = PLENTY, policy = NIGHTLY, max_attempts = 3, base_delay = "10ms")]
async fn overridden(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = PLENTY, max_attempts = ATTEMPTS, jitter = "equal", base_delay = "10ms", max_delay = "20ms", throttling_base_delay = "5ms", retry_after_limit = "1m", idempotent = true, when_empty = "fail")]
async fn by_const(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = PLENTY, max_attempts = attempts, base_delay = Duration::from_secs(9) + partner.pause(), jitter = "none")]
async fn by_expression(partner: &Flaky, attempts: u32) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = PLENTY, max_attempts = N)]
async fn by_const_generic<const N: u32>(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = PLENTY, idempotent = false)]
async fn not_idempotent(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

struct Client {
    policy: RetryPolicy,
    shared: Arc<RetryPolicy>,
    partner: Flaky,
}

impl Client {
    const MAX: u32 = 5;

    #[retry_budget(budget = PLENTY, policy = self.policy)]
    async fn by_field(&mut self) -> Result<u32, Lost> {
        self.partner = Flaky::succeeds_at(9);
        self.partner.run()
    }

    #[retry_budget(budget = PLENTY, policy = self.shared, jitter = "none")]
    async fn by_counted_field(&self) -> Result<u32, Lost> {
        self.partner.run()
    }

    #[retry_budget(budget = PLENTY, max_attempts = Self::MAX)]
    async fn by_associated_const(&self) -> Result<u32, Lost> {
        self.partner.run()
    }
}

const fn failing() -> Flaky {
    Flaky::succeeds_at(u32::MAX)
}

#[tokio::test(start_paused = true)]
async fn attempts() {
    assert_eq!(by_static(&failing()).await, Err(Lost(4)));
    assert_eq!(by_preset(&failing()).await, Err(Lost(10)));
    assert_eq!(overridden(&failing()).await, Err(Lost(3)));
    assert_eq!(by_const(&failing()).await, Err(Lost(2)));
    assert_eq!(by_const_generic::<6>(&failing()).await, Err(Lost(6)));
    assert_eq!(not_idempotent(&failing()).await, Err(Lost(1)));
    let mut client = Client { policy: NIGHTLY, shared: Arc::new(NIGHTLY), partner: failing() };
    assert_eq!(client.by_associated_const().await, Err(Lost(5)));
    assert_eq!(client.by_counted_field().await, Err(Lost(9)), "4 more");
    assert_eq!(client.by_field().await, Err(Lost(1)));
}

#[tokio::test(start_paused = true)]
async fn delays() {
    let started = tokio::time::Instant::now();
    let _ = by_static(&failing()).await;
    assert_eq!(started.elapsed(), Duration::from_secs(1 + 2 + 2), "doubling, capped at two seconds");
    let started = tokio::time::Instant::now();
    let _ = overridden(&failing()).await;
    assert_eq!(started.elapsed(), Duration::from_millis(10 + 20));
}

#[tokio::test(start_paused = true)]
async fn what_is_only_known_at_run_time_is_brought_into_range() {
    assert_eq!(by_expression(&failing(), 0).await, Err(Lost(1)), "0 attempts act as 1");
    let started = tokio::time::Instant::now();
    assert_eq!(by_expression(&failing(), 2).await, Err(Lost(2)));
    assert_eq!(started.elapsed(), Duration::from_secs(2), "a base_delay above max_delay acts as max_delay");
}
