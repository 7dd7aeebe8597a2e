//! Methods.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::retry_budget;
use std::pin::Pin;
use std::sync::Arc;

#[derive(Default)]
struct Client {
    partner: Flaky,
    log: String,
}

impl Client {
    const fn new() -> Self {
        Self { partner: Flaky::succeeds_at(3), log: String::new() }
    }

    #[retry_budget(budget = PLENTY)]
    async fn shared(&self) -> Result<u32, Lost> {
        self.partner.run_later().await
    }

    #[retry_budget(budget = PLENTY)]
    async fn unique(&mut self) -> Result<u32, Lost> {
        self.log.push('x');
        self.note().await;
        self.partner.run_later().await
    }

    async fn note(&mut self) {
        tokio::task::yield_now().await;
        self.log.push('n');
    }

    #[retry_budget(budget = PLENTY)]
    async fn owned(self) -> Result<u32, Lost> {
        self.partner.run_later().await
    }

    #[retry_budget(budget = PLENTY, keep(self))]
    async fn owned_and_kept(mut self) -> Result<String, Lost> {
        self.log.push('k');
        self.partner.run_later().await?;
        Ok(self.log.clone())
    }

    #[retry_budget(budget = PLENTY)]
    async fn counted(self: Arc<Self>) -> Result<u32, Lost> {
        self.partner.run_later().await
    }

    #[retry_budget(budget = PLENTY)]
    async fn counted_reference(self: &Arc<Self>) -> Result<u32, Lost> {
        let this = Self::clone_of(self);
        this.partner.run_later().await
    }

    fn clone_of(this: &Arc<Self>) -> Arc<Self> {
        Arc::clone(this)
    }

    #[retry_budget(budget = PLENTY, keep(self))]
    async fn pinned(mut self: Pin<&mut Self>) -> Result<u32, Lost> {
        self.as_mut().get_mut().log.push('p');
        self.partner.run_later().await
    }

    #[retry_budget(budget = PLENTY)]
    async fn borrowed<'a>(&'a self, _other: &str) -> Result<&'a str, Lost> {
        self.partner.run_later().await?;
        Ok(&self.log)
    }

    #[retry_budget(budget = PLENTY)]
    async fn elided(&self) -> Result<&str, Lost> {
        self.partner.run_later().await?;
        Ok(&self.log)
    }
}

trait Partner {
    type Answer;
    async fn ask(&self, by: u32) -> Result<Self::Answer, Lost>;

    #[retry_budget(budget = PLENTY, max_attempts = 4)]
    async fn ask_twice(&self) -> Result<(), Lost> {
        self.ask(1).await.map(|_| ())
    }
}

impl Partner for Client {
    type Answer = u32;

    #[retry_budget(budget = PLENTY)]
    async fn ask(&self, by: u32) -> Result<Self::Answer, Lost> {
        Ok(self.partner.run_later().await? * by)
    }
}

impl<T: Partner> Partner for Option<T> {
    type Answer = T::Answer;

    #[retry_budget(kind = "token")]
    async fn ask(&self, by: u32) -> Result<T::Answer, Lost> {
        match self {
            Some(partner) => partner.ask(by).await,
            None => Err(Lost(0)),
        }
    }
}

/// Bodies that move a `&mut self`: as plain functions they may, once.
impl Client {
    #[retry_budget(budget = PLENTY)]
    async fn moved_into_a_block(&mut self) -> Result<u32, Lost> {
        let ask = async move {
            self.log.push('b');
            self.note().await;
            self.partner.run_later().await
        };
        ask.await
    }

    #[retry_budget(budget = PLENTY)]
    async fn moved_into_a_closure(&mut self) -> Result<u32, Lost> {
        let mut note = move || {
            self.log.push('c');
            self.partner.run()
        };
        note()
    }

    #[retry_budget(budget = PLENTY)]
    async fn handed_on(&mut self) -> Result<u32, Lost> {
        struct Inside(u32);
        impl Inside {
            #[allow(clippy::cast_possible_truncation)]
            const fn get(&self) -> u32 {
                use std::mem::{self, size_of};
                self.0 + mem::size_of::<()>() as u32 + size_of::<()>() as u32
            }
        }
        let runs = vec![self.partner.run_later().await];
        take(self).await;
        runs.into_iter().map(|run| Ok(run? + Inside(self::ten()).get())).sum()
    }

    #[retry_budget(budget = PLENTY)]
    async fn passed_by(&mut self) -> Result<&'static str, Lost> {
        let [this, _] = [Some(self), None];
        let Some(this) = this else { return Err(Lost(0)) };
        this.log.push('p');
        this.partner.run_later().await.map(|_| "static")
    }
}

const fn ten() -> u32 {
    10
}

async fn take<T: AsMut<Client> + Send>(mut client: T) {
    client.as_mut().note().await;
}

impl AsMut<Self> for Client {
    fn as_mut(&mut self) -> &mut Self {
        self
    }
}

#[async_trait::async_trait]
trait Moves {
    async fn moved(&mut self) -> Result<u32, Lost>;
}

#[async_trait::async_trait]
impl Moves for Client {
    #[retry_budget(budget = PLENTY)]
    async fn moved(&mut self) -> Result<u32, Lost> {
        take(&mut *self).await;
        let ask = async move { self.partner.run_later().await };
        ask.await
    }
}

#[tokio::test(start_paused = true)]
async fn a_unique_self_is_lent_to_each_attempt() {
    let mut client = Client::new();
    assert_eq!(client.moved_into_a_block().await, Ok(3));
    assert_eq!(client.log, "bnbnbn");
    let mut client = Client::new();
    assert_eq!(client.moved_into_a_closure().await, Ok(3));
    assert_eq!(client.log, "ccc");
    let mut client = Client::new();
    assert_eq!(client.handed_on().await, Ok(13));
    assert_eq!(client.log, "nnn");
    let mut client = Client::new();
    assert_eq!(client.passed_by().await, Ok("static"));
    assert_eq!(client.log, "ppp");
    let mut client = Client::new();
    assert_eq!(
        tokio::spawn(async move { (client.moved().await, client.log) }).await.unwrap(),
        (Ok(3), "nnn".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn every_receiver() {
    assert_eq!(Client::new().shared().await, Ok(3));
    let mut client = Client::new();
    assert_eq!(client.unique().await, Ok(3));
    assert_eq!(client.log, "xnxnxn");
    assert_eq!(Client::new().owned().await, Ok(3));
    assert_eq!(Client::new().owned_and_kept().await, Ok("kkk".to_owned()));
    assert_eq!(Arc::new(Client::new()).counted().await, Ok(3));
    assert_eq!(Arc::new(Client::new()).counted_reference().await, Ok(3));
    let mut client = Client::new();
    assert_eq!(Pin::new(&mut client).pinned().await, Ok(3));
    assert_eq!(client.log, "ppp");
    assert_eq!(Client::new().borrowed("").await, Ok(""));
    assert_eq!(Client::new().elided().await, Ok(""));
}

#[tokio::test(start_paused = true)]
async fn trait_methods() {
    assert_eq!(Client::new().ask(2).await, Ok(6));
    assert_eq!(Some(Client::new()).ask(3).await, Ok(9));
    assert_eq!(None::<Client>.ask(3).await, Err(Lost(0)));
    assert_eq!(Client::new().ask_twice().await, Ok(()));
}
