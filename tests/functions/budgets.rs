//! Where the budget comes from.

use crate::{Flaky, Lost};
use retry_budget::{Budget, NEVER, RatioBudget, Time, TokenBudget, UNLIMITED, retry_budget};
use std::sync::{Arc, LazyLock};

mod partners {
    use retry_budget::TokenBudget;
    pub static BIKES: TokenBudget = TokenBudget::builder("bikes").capacity(28).build();
}

#[retry_budget(budget = partners::BIKES)]
async fn by_path(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = crate::budgets::partners::BIKES)]
async fn by_path_from_the_root(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = NEVER)]
async fn by_never(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = UNLIMITED)]
async fn by_unlimited(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

static AT_START: LazyLock<RatioBudget> =
    LazyLock::new(|| RatioBudget::builder("at start").min_retries(1).try_build().unwrap());

#[retry_budget(budget = AT_START)]
async fn by_lazy_lock(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = shared)]
async fn by_argument(partner: &Flaky, shared: &TokenBudget) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = shared)]
async fn by_owned_argument(partner: &Flaky, shared: Arc<dyn Budget>) -> Result<u32, Lost> {
    partner.run()
}

struct Client {
    value: TokenBudget,
    counted: Arc<TokenBudget>,
    dynamic: Box<dyn Budget>,
    partner: Flaky,
}

impl Client {
    #[retry_budget(budget = self.value)]
    async fn by_field(&self) -> Result<u32, Lost> {
        self.partner.run()
    }

    #[retry_budget(budget = self.dynamic)]
    async fn by_dynamic_field(&self) -> Result<u32, Lost> {
        self.partner.run()
    }

    #[retry_budget(budget = self.counted.clone())]
    async fn by_counted_field(&mut self) -> Result<u32, Lost> {
        self.touch().partner.run()
    }

    #[retry_budget(budget = self.of(true))]
    async fn by_method(&self) -> Result<u32, Lost> {
        self.partner.run()
    }

    const fn of(&self, _host: bool) -> &TokenBudget {
        &self.value
    }

    const fn touch(&mut self) -> &mut Self {
        self
    }
}

mod own {
    use super::{Flaky, Lost, retry_budget};

    const CAPACITY: u32 = 30;
    const SHARE: f64 = 0.5;

    #[retry_budget]
    pub async fn defaults(partner: &Flaky) -> Result<u32, Lost> {
        partner.run()
    }

    #[retry_budget(kind = "token", capacity = CAPACITY, transient_cost = 20, max_attempts = 9)]
    pub async fn token(partner: &Flaky) -> Result<u32, Lost> {
        partner.run()
    }

    #[retry_budget(kind = "ratio", ratio = 0.5, window = "1s", min_retries = 2, max_attempts = 9)]
    pub async fn ratio(partner: &Flaky) -> Result<u32, Lost> {
        partner.run()
    }

    #[retry_budget(kind = "credit", ratio = 1, burst = 3, initial = 1.5, max_attempts = 9)]
    pub async fn credit(partner: &Flaky) -> Result<u32, Lost> {
        partner.run()
    }

    // the settings may come before the kind that they belong to
    #[retry_budget(initial = 2, max_attempts = 9, ratio = 0.000_001, kind = "credit")]
    pub async fn credit_from_two(partner: &Flaky) -> Result<u32, Lost> {
        partner.run()
    }

    #[retry_budget(kind = "concurrency", ratio = 1.0, min_retry_concurrency = 0, max_attempts = 4)]
    pub async fn concurrency(partner: &Flaky) -> Result<u32, Lost> {
        partner.run()
    }

    #[retry_budget(kind = "concurrency", ratio = SHARE, min_retry_concurrency = 0, max_attempts = 4)]
    pub async fn no_concurrency(partner: &Flaky) -> Result<u32, Lost> {
        partner.run()
    }

    #[retry_budget(kind = "grpc", max_tokens = 4, token_ratio = 1, max_attempts = 9)]
    pub async fn grpc(partner: &Flaky) -> Result<u32, Lost> {
        partner.run()
    }

    #[retry_budget(kind = "grpc", max_attempts = 9)]
    pub async fn grpc_defaults(partner: &Flaky) -> Result<u32, Lost> {
        partner.run()
    }

    #[retry_budget(capacity = 14, max_attempts = 9)]
    pub async fn generic<T: Send + Sync>(partner: &Flaky, _: T) -> Result<u32, Lost> {
        partner.run()
    }
}

async fn runs<'a, F: Future<Output = Result<u32, Lost>>>(partner: &'a Flaky, call: impl FnOnce(&'a Flaky) -> F) -> u32 {
    let _ = call(partner).await;
    partner.runs()
}

const fn failing() -> Flaky {
    Flaky::succeeds_at(u32::MAX)
}

#[tokio::test(start_paused = true)]
async fn by_path_two_functions_share_one_budget() {
    assert_eq!(runs(&failing(), by_path).await, 3);
    assert_eq!(runs(&failing(), by_path_from_the_root).await, 1);
    let snapshot = partners::BIKES.snapshot(Time::now());
    assert_eq!((snapshot.available, snapshot.granted, snapshot.denied), (0, 2, 1));
}

#[tokio::test(start_paused = true)]
async fn the_two_ends() {
    assert_eq!(runs(&failing(), by_never).await, 1);
    assert_eq!(runs(&failing(), by_unlimited).await, 3);
}

#[tokio::test(start_paused = true)]
async fn by_expression() {
    assert_eq!(runs(&failing(), by_lazy_lock).await, 2);
    let shared = TokenBudget::builder("argument").capacity(14).build();
    assert_eq!(runs(&failing(), |partner| by_argument(partner, &shared)).await, 2);
    let shared = Arc::new(TokenBudget::builder("argument").capacity(28).build());
    assert_eq!(runs(&failing(), |partner| by_owned_argument(partner, shared.clone())).await, 3);
    let mut client = Client {
        value: TokenBudget::builder("value").capacity(14).build(),
        counted: Arc::new(TokenBudget::builder("counted").capacity(14).build()),
        dynamic: Box::new(TokenBudget::builder("dynamic").capacity(14).build()),
        partner: failing(),
    };
    assert_eq!(client.by_field().await, Err(Lost(2)));
    assert_eq!(client.by_dynamic_field().await, Err(Lost(4)));
    assert_eq!(client.by_counted_field().await, Err(Lost(6)));
    assert_eq!(client.by_method().await, Err(Lost(7)), "the budget of `by_field` is spent");
}

#[tokio::test(start_paused = true)]
async fn budgets_of_the_functions_own() {
    assert_eq!(runs(&failing(), own::defaults).await, 3);
    assert_eq!(runs(&failing(), own::token).await, 2);
    assert_eq!(runs(&failing(), own::token).await, 1);
    assert_eq!(runs(&failing(), own::ratio).await, 3);
    // 1.5 and the call's own 1 are two retries; then each call earns one
    assert_eq!(runs(&failing(), own::credit).await, 3);
    assert_eq!(runs(&failing(), own::credit).await, 2);
    assert_eq!(runs(&failing(), own::credit_from_two).await, 3);
    assert_eq!(runs(&failing(), own::credit_from_two).await, 1);
    // a single call may be at its retry, again and again, and gives its place back
    assert_eq!(runs(&failing(), own::concurrency).await, 4);
    assert_eq!(runs(&failing(), own::concurrency).await, 4);
    assert_eq!(runs(&failing(), own::no_concurrency).await, 1, "half of one");
    // four tokens: three are left after the first failure, two after the second
    assert_eq!(runs(&failing(), own::grpc).await, 2);
    assert_eq!(runs(&failing(), own::grpc).await, 1);
    assert_eq!(runs(&failing(), own::grpc_defaults).await, 5);
    // one budget for all instances of a generic function
    assert_eq!(runs(&failing(), |partner| own::generic(partner, 1_u8)).await, 2);
    assert_eq!(runs(&failing(), |partner| own::generic(partner, "")).await, 1);
}
