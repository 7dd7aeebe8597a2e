//! Methods of traits, native and by `#[async_trait]`.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::retry_budget;
use std::fmt::Display;
use std::hash::Hash;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

const fn sent<F: Future + Send>(future: F) -> F {
    future
}

/// Associated types and constants, in the signature, in options and in the body.
trait Source {
    type Item: Send;
    type Error: retry_budget::Retryable + Send;
    const ATTEMPTS: u32;

    async fn next(&mut self) -> Result<Self::Item, Self::Error>;

    #[retry_budget(budget = PLENTY, max_attempts = Self::ATTEMPTS)]
    async fn next_pair(&mut self) -> Result<(Self::Item, Self::Item), Self::Error> {
        Ok((self.next().await?, self.next().await?))
    }

    #[retry_budget(budget = PLENTY)]
    async fn collected<B>(&mut self, count: usize) -> Result<B, <Self as Source>::Error>
    where
        B: FromIterator<Self::Item>,
    {
        let mut items = Vec::new();
        while items.len() < count {
            items.push(self.next().await?);
        }
        Ok(items.into_iter().collect())
    }
}

struct Counter(Flaky);

impl Source for Counter {
    type Item = u32;
    type Error = Lost;
    const ATTEMPTS: u32 = 5;

    async fn next(&mut self) -> Result<Self::Item, Self::Error> {
        self.0.run_later().await
    }
}

/// A trait whose futures are `Send`, as libraries write it, implemented with `async fn`.
trait Sent {
    fn ask<'a>(&'a self, name: &'a str) -> impl Future<Output = Result<&'a str, Lost>> + Send + 'a;

    fn ask_all(&self, names: &[&str]) -> impl Future<Output = Result<usize, Lost>> + Send
    where
        Self: Sync,
    {
        #[retry_budget(budget = PLENTY, max_attempts = 4)]
        async fn within(one: &(impl Sent + Sync + ?Sized), names: &[&str]) -> Result<usize, Lost> {
            let mut length = 0;
            for name in names {
                length += one.ask(name).await?.len();
            }
            Ok(length)
        }
        within(self, names)
    }

    #[retry_budget(budget = PLENTY)]
    fn by_default(&self) -> impl Future<Output = Result<String, Lost>> + Send
    where
        Self: Sync,
    {
        async move { self.ask("d").await.map(str::to_owned) }
    }
}

impl Sent for Flaky {
    #[retry_budget(budget = PLENTY)]
    async fn ask<'a>(&'a self, name: &'a str) -> Result<&'a str, Lost> {
        self.run_later().await?;
        Ok(name)
    }
}

#[async_trait::async_trait]
trait Store<K, V = u32>: Send + Sync
where
    K: Send + Sync,
    V: Send,
{
    async fn get(&self, key: &K) -> Result<V, Lost>;

    #[retry_budget(budget = PLENTY, clone(keys))]
    async fn get_all<I>(&self, keys: I) -> Result<Vec<V>, Lost>
    where
        I: IntoIterator<Item = K> + Clone + Send + Sync,
        I::IntoIter: Send,
        V: 'async_trait,
        Self: Sized,
    {
        let mut values = Vec::new();
        for key in keys {
            values.push(self.get(&key).await?);
        }
        Ok(values)
    }

    #[retry_budget(budget = PLENTY)]
    async fn described(&self, key: &K) -> Result<String, Lost>
    where
        K: Display,
        V: Display + Sync,
    {
        let value = self.get(key).await?;
        Ok(format!("{key}: {value}"))
    }
}

#[async_trait::async_trait]
impl<K: Hash + Send + Sync> Store<K> for Flaky {
    async fn get(&self, _: &K) -> Result<u32, Lost> {
        self.run_later().await
    }
}

#[async_trait::async_trait]
impl<K: Send + Sync, S: Store<K> + ?Sized> Store<K> for Arc<S> {
    #[retry_budget(budget = PLENTY)]
    async fn get(&self, key: &K) -> Result<u32, Lost> {
        (**self).get(key).await
    }
}

#[async_trait::async_trait(?Send)]
trait Local {
    type Out;
    async fn out(&self, by: Rc<u32>) -> Result<Self::Out, Lost>;

    #[retry_budget(budget = PLENTY, clone(by))]
    async fn out_twice(&mut self, by: Rc<u32>) -> Result<[Self::Out; 2], Lost> {
        let first = self.out(by.clone()).await?;
        Ok([first, self.out(by).await?])
    }
}

#[async_trait::async_trait(?Send)]
impl Local for Rc<Flaky> {
    type Out = Rc<u32>;

    #[retry_budget(budget = PLENTY)]
    async fn out(&self, by: Rc<u32>) -> Result<Self::Out, Lost> {
        self.run_later().await.map(|run| Rc::new(run * *by))
    }
}

#[async_trait::async_trait]
trait Receivers: Sized + Send + Sync {
    async fn counted(self: Arc<Self>) -> Result<u32, Lost>;
    async fn boxed(self: Box<Self>) -> Result<u32, Lost>;
    async fn pinned(self: Pin<&mut Self>) -> Result<u32, Lost>;
    async fn associated(partner: &Flaky) -> Result<u32, Lost>;
    async fn elided(&self, other: &str, log: &mut String) -> Result<&Self, Lost>;
}

#[async_trait::async_trait]
impl Receivers for Flaky {
    #[retry_budget(budget = PLENTY)]
    async fn counted(self: Arc<Self>) -> Result<u32, Lost> {
        self.run_later().await
    }

    #[retry_budget(budget = PLENTY)]
    async fn boxed(self: Box<Self>) -> Result<u32, Lost> {
        self.run_later().await
    }

    #[retry_budget(budget = PLENTY)]
    async fn pinned(self: Pin<&mut Self>) -> Result<u32, Lost> {
        self.run_later().await
    }

    #[retry_budget(budget = PLENTY)]
    async fn associated(partner: &Flaky) -> Result<u32, Lost> {
        partner.run_later().await
    }

    #[retry_budget(budget = PLENTY)]
    async fn elided(&self, other: &str, log: &mut String) -> Result<&Self, Lost> {
        log.push_str(other);
        self.run_later().await?;
        Ok(self)
    }
}

/// `#[retry_budget]` above the whole macro's attribute: the methods are annotated before `#[async_trait]` sees them.
mod below {
    use super::{Flaky, Lost, PLENTY, retry_budget};

    #[async_trait::async_trait]
    pub trait Below<'a, T: 'a + Send + Sync> {
        #[retry_budget(budget = PLENTY)]
        async fn ask(&self, partner: &'a Flaky, what: &'a T) -> Result<&'a T, Lost> {
            partner.run_later().await?;
            Ok(what)
        }
    }

    impl<'a, T: 'a + Send + Sync> Below<'a, T> for () {}
}

#[tokio::test(start_paused = true)]
async fn associated_items() {
    assert_eq!(Counter(Flaky::succeeds_at(4)).next_pair().await, Ok((4, 5)));
    assert_eq!(Counter(Flaky::succeeds_at(3)).collected::<Vec<_>>(2).await, Ok(vec![3, 4]));
}

#[tokio::test(start_paused = true)]
async fn traits_whose_futures_are_sent() {
    assert_eq!(sent(Flaky::succeeds_at(3).ask("n")).await, Ok("n"));
    assert_eq!(sent(Flaky::succeeds_at(3).ask_all(&["n", "am"])).await, Ok(3));
    assert_eq!(sent(Flaky::succeeds_at(3).by_default()).await, Ok("d".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn default_methods_of_async_trait() {
    assert_eq!(sent(Flaky::succeeds_at(3).get_all(["a", "b"])).await, Ok(vec![3, 4]));
    assert_eq!(sent(Flaky::succeeds_at(3).described(&7)).await, Ok("7: 3".to_owned()));
    let shared: Arc<dyn Store<u8>> = Arc::new(Flaky::succeeds_at(3));
    assert_eq!(sent(shared.get(&1)).await, Ok(3));
    let mut local = Rc::new(Flaky::succeeds_at(3));
    assert_eq!(local.out_twice(Rc::new(2)).await, Ok([Rc::new(6), Rc::new(8)]));
}

#[tokio::test(start_paused = true)]
async fn receivers_under_async_trait() {
    use below::Below;
    assert_eq!(sent(Arc::new(Flaky::succeeds_at(3)).counted()).await, Ok(3));
    assert_eq!(sent(Box::new(Flaky::succeeds_at(3)).boxed()).await, Ok(3));
    assert_eq!(sent(Pin::new(&mut Flaky::succeeds_at(3)).pinned()).await, Ok(3));
    assert_eq!(sent(Flaky::associated(&Flaky::succeeds_at(3))).await, Ok(3));
    let (partner, mut log) = (Flaky::succeeds_at(3), String::new());
    assert_eq!(sent(partner.elided("o", &mut log)).await.unwrap().runs(), 3);
    assert_eq!(log, "ooo");
    assert_eq!(sent(().ask(&Flaky::succeeds_at(3), &'x')).await, Ok(&'x'));
}
