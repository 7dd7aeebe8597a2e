//! Methods, of types and of traits.
#![forbid(unsafe_code)]

use crate::{Lost, PLENTY, Partner};
use retry_budget::retry_budget;
use std::sync::Arc;

#[derive(Debug, Default)]
struct Client {
    partner: Partner,
    log: String,
}

impl Client {
    #[retry_budget(budget = PLENTY)]
    async fn shared(&self, name: &str) -> Result<String, Lost> {
        let number = self.partner.ask().await?;
        Ok(format!("{name}{number}"))
    }

    #[retry_budget(budget = PLENTY)]
    async fn unique(&mut self) -> Result<&'static str, Lost> {
        self.log.push('u');
        self.partner.ask().await.map(|_| "unique")
    }

    #[retry_budget(budget = PLENTY)]
    async fn moved(&mut self) -> Result<u32, Lost> {
        let ask = async move {
            self.log.push('m');
            self.partner.ask().await
        };
        ask.await
    }

    #[retry_budget(budget = PLENTY)]
    async fn counted(self: Arc<Self>) -> Result<u32, Lost> {
        self.partner.ask().await
    }

    #[retry_budget(budget = PLENTY)]
    async fn borrowed<'a>(&'a self, name: &'a str) -> Result<&'a str, Lost> {
        let _ = self.partner.ask().await?;
        Ok(if name.is_empty() { &self.log } else { name })
    }
}

#[async_trait::async_trait]
trait Ask {
    async fn ask(&self, more: u32) -> Result<u32, Lost>;
    async fn ask_uniquely(&mut self, log: &mut String) -> Result<u32, Lost>;
}

#[async_trait::async_trait]
impl Ask for Client {
    #[retry_budget(budget = PLENTY)]
    async fn ask(&self, more: u32) -> Result<u32, Lost> {
        Ok(self.partner.ask().await? + more)
    }

    #[retry_budget(budget = PLENTY)]
    async fn ask_uniquely(&mut self, log: &mut String) -> Result<u32, Lost> {
        self.log.push('s');
        log.push('l');
        self.partner.ask().await
    }
}

trait Native {
    async fn asked(&self) -> Result<u32, Lost>;

    #[retry_budget(budget = PLENTY, max_attempts = 4)]
    async fn asked_by_default(&self) -> Result<u32, Lost> {
        self.asked().await
    }
}

impl Native for Client {
    #[retry_budget(budget = PLENTY)]
    async fn asked(&self) -> Result<u32, Lost> {
        self.partner.ask().await
    }
}

#[test]
fn methods() {
    crate::run(async {
        assert_eq!(Client::default().shared("n").await, Ok("n3".to_owned()));
        let mut client = Client::default();
        assert_eq!(client.unique().await, Ok("unique"));
        assert_eq!(client.log, "uuu");
        let mut client = Client::default();
        assert_eq!(client.moved().await, Ok(3));
        assert_eq!(client.log, "mmm");
        assert_eq!(Arc::new(Client::default()).counted().await, Ok(3));
        assert_eq!(Client::default().borrowed("b").await, Ok("b"));
    });
}

#[test]
fn methods_of_traits() {
    crate::run(async {
        assert_eq!(Client::default().ask(4).await, Ok(7));
        let (mut client, mut log) = (Client::default(), String::new());
        assert_eq!(client.ask_uniquely(&mut log).await, Ok(3));
        assert_eq!((client.log.as_str(), log.as_str()), ("sss", "lll"));
        assert_eq!(Client::default().asked().await, Ok(3));
        assert_eq!(Client::default().asked_by_default().await, Ok(3));
    });
}
