//! Functions that are no `async fn` on the outside.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::{Budget, retry_budget};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

#[async_trait::async_trait]
trait Partner: Sync {
    async fn ask(&self, by: u32) -> Result<u32, Lost>;
    async fn unique(&mut self, log: &mut String, more: String) -> Result<String, Lost>;
    async fn borrowed<'a>(&'a self, name: &'a str) -> Result<&'a str, Lost>;
    async fn patterns(&self, pair: (u32, u32), other: u8) -> Result<u32, Lost>;
    async fn owned(self) -> Result<u32, Lost>
    where
        Self: Sized;

    #[retry_budget(budget = PLENTY, max_attempts = 4)]
    async fn by_default(&self, by: u32) -> Result<u32, Lost> {
        self.ask(by).await
    }
}

#[derive(Clone)]
struct Client {
    partner: Arc<Flaky>,
    budget: Arc<dyn Budget>,
    base_delay: Duration,
    log: String,
}

impl Client {
    fn new() -> Self {
        let budget = Arc::new(retry_budget::TokenBudget::builder("field").build());
        Self {
            partner: Arc::new(Flaky::succeeds_at(3)),
            budget,
            base_delay: Duration::from_millis(1),
            log: String::new(),
        }
    }
}

#[async_trait::async_trait]
impl Partner for Client {
    #[retry_budget(budget = self.budget, base_delay = self.base_delay, on_retry = |_| assert!(self.log.is_empty()))]
    async fn ask(&self, by: u32) -> Result<u32, Lost> {
        Ok(self.partner.run_later().await? * by)
    }

    #[retry_budget(budget = PLENTY, clone(more))]
    async fn unique(&mut self, log: &mut String, mut more: String) -> Result<String, Lost> {
        self.log.push('s');
        log.push('l');
        more.push('m');
        self.partner.run_later().await?;
        Ok(more)
    }

    #[retry_budget(budget = PLENTY)]
    async fn borrowed<'a>(&'a self, name: &'a str) -> Result<&'a str, Lost> {
        self.partner.run_later().await?;
        Ok(if name.is_empty() { &self.log } else { name })
    }

    #[retry_budget(budget = PLENTY, keep(right))]
    async fn patterns(&self, (left, mut right): (u32, u32), _: u8) -> Result<u32, Lost> {
        right += 1;
        self.partner.run_later().await?;
        Ok(left + right)
    }

    #[retry_budget(budget = PLENTY, keep(self))]
    async fn owned(mut self) -> Result<u32, Lost> {
        self.log.push('o');
        self.partner.run_later().await?;
        Ok(u32::try_from(self.log.len()).unwrap())
    }
}

#[async_trait::async_trait(?Send)]
trait Local<T> {
    async fn ask(&self, what: T) -> Result<T, Lost>
    where
        T: 'async_trait;
}

#[async_trait::async_trait(?Send)]
impl<T: Clone> Local<T> for std::rc::Rc<Flaky> {
    #[retry_budget(kind = "token", clone(what))]
    async fn ask(&self, what: T) -> Result<T, Lost>
    where
        T: 'async_trait,
    {
        self.run_later().await.map(|_| what)
    }
}

#[retry_budget(budget = PLENTY)]
fn opaque(partner: &Flaky) -> impl Future<Output = Result<u32, Lost>> + Send {
    let offset = 10;
    async move { Ok(partner.run_later().await? + offset) }
}

#[retry_budget(budget = PLENTY, clone(words))]
fn boxed<'a>(partner: &'a Flaky, words: String) -> Pin<Box<dyn Future<Output = Result<String, Lost>> + Send + 'a>> {
    Box::pin(async move {
        partner.run_later().await?;
        Ok(words)
    })
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[retry_budget(budget = PLENTY)]
fn by_alias<'a>(partner: &'a Flaky, name: &'a str) -> BoxFuture<'a, Result<&'a str, Lost>> {
    let name = name.trim();
    Box::pin(async move {
        partner.run_later().await?;
        Ok(name)
    })
}

trait Boxed<'a>: Future + Send + Sized + 'a {
    fn boxed(self) -> BoxFuture<'a, Self::Output> {
        Box::pin(self)
    }
}

impl<'a, F: Future + Send + 'a> Boxed<'a> for F {}

#[retry_budget(budget = PLENTY)]
fn by_method(partner: &Flaky) -> BoxFuture<'_, Result<u32, Lost>> {
    async move { partner.run_later().await }.boxed()
}

#[retry_budget(budget = PLENTY)]
fn by_std_path(
    partner: &Flaky,
) -> std::pin::Pin<std::boxed::Box<dyn std::future::Future<Output = Result<u32, Lost>> + '_>> {
    std::boxed::Box::pin(async move { partner.run_later().await })
}

/// The future takes what its maker does before.
#[retry_budget(budget = PLENTY)]
fn begun_outside(partner: &Flaky, log: &mut Vec<u32>) -> impl Future<Output = Result<u32, Lost>> {
    log.push(0);
    async move {
        log.push(1);
        partner.run_later().await
    }
}

trait Opaque {
    fn ask(&self) -> impl Future<Output = Result<u32, Lost>> + Send;
}

impl Opaque for Flaky {
    #[allow(clippy::manual_async_fn)] // on purpose
    #[retry_budget(budget = PLENTY)]
    fn ask(&self) -> impl Future<Output = Result<u32, Lost>> + Send {
        async move { self.run_later().await }
    }
}

#[tokio::test(start_paused = true)]
#[retry_budget(budget = PLENTY)]
async fn a_test_above() -> Result<(), Lost> {
    static PARTNER: Flaky = Flaky::succeeds_at(3);
    PARTNER.run_later().await?;
    assert_eq!(PARTNER.runs(), 3);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn async_trait() {
    assert_eq!(Client::new().ask(2).await, Ok(6));
    let mut log = String::new();
    let mut client = Client::new();
    assert_eq!(client.unique(&mut log, "x".to_owned()).await, Ok("xm".to_owned()));
    assert_eq!((client.log.as_str(), log.as_str()), ("sss", "lll"));
    assert_eq!(Client::new().borrowed("name").await, Ok("name"));
    assert_eq!(Client::new().owned().await, Ok(3));
    assert_eq!(Client::new().patterns((1, 2), 0).await, Ok(6));
    assert_eq!(Local::ask(&std::rc::Rc::new(Flaky::succeeds_at(3)), 'x').await, Ok('x'));
    let client = Client::new();
    let spawned = tokio::spawn(async move { (client.by_default(1).await, client.partner.runs()) });
    assert_eq!(spawned.await.unwrap(), (Ok(3), 3));
}

#[tokio::test(start_paused = true)]
async fn returned_futures() {
    assert_eq!(opaque(&Flaky::succeeds_at(3)).await, Ok(13));
    assert_eq!(boxed(&Flaky::succeeds_at(3), "w".to_owned()).await, Ok("w".to_owned()));
    assert_eq!(Flaky::succeeds_at(3).ask().await, Ok(3));
    assert_eq!(by_alias(&Flaky::succeeds_at(3), " n ").await, Ok("n"));
    assert_eq!(by_method(&Flaky::succeeds_at(3)).await, Ok(3));
    assert_eq!(by_std_path(&Flaky::succeeds_at(3)).await, Ok(3));
    let mut log = Vec::new();
    assert_eq!(begun_outside(&Flaky::succeeds_at(3), &mut log).await, Ok(3));
    assert_eq!(log, [0, 1, 1, 1]);
}
