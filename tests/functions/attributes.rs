//! Other attributes on the same function, above and below.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::retry_budget;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tracing::instrument;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, with_default};
use tracing::{Event, Metadata, Subscriber};

/// Counts the spans that are made.
#[derive(Default)]
struct Spans(AtomicU64);

impl Subscriber for Spans {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(self.0.fetch_add(1, SeqCst) + 1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// How many spans a call makes, and what comes back.
fn spans<F: Future>(call: F) -> (u64, F::Output) {
    let spans = Arc::new(Spans::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let output = with_default(spans.clone(), || runtime.block_on(call));
    (spans.0.load(SeqCst), output)
}

#[retry_budget(budget = PLENTY)]
#[instrument(skip(partner), fields(more = 1))]
async fn span_of_the_call(partner: &Flaky, by: u32) -> Result<u32, Lost> {
    Ok(partner.run_later().await? * by)
}

#[instrument(skip_all, err(Debug))]
#[retry_budget(budget = PLENTY)]
async fn span_of_each_attempt(partner: &Flaky, by: u32) -> Result<u32, Lost> {
    Ok(partner.run_later().await? * by)
}

#[retry_budget(budget = PLENTY, clone(words))]
#[instrument(level = "debug", ret, err(Debug), skip(partner))]
async fn span_with_everything(partner: &Flaky, log: &mut String, mut words: Vec<String>) -> Result<Vec<String>, Lost> {
    log.push('x');
    words.push("end".to_owned());
    partner.run_later().await.map(|_| words)
}

#[instrument(skip_all)]
#[retry_budget(budget = PLENTY, clone(words))]
async fn span_of_each_attempt_that_consumes(partner: &Flaky, words: Vec<String>) -> Result<usize, Lost> {
    partner.run_later().await?;
    Ok(words.into_iter().map(|word| word.len()).sum())
}

/// What an attempt borrows, a span of each attempt borrows too.
#[instrument(skip_all, ret, err(Debug))]
#[retry_budget(budget = PLENTY)]
async fn span_of_each_attempt_that_borrows(
    partner: &Flaky,
    name: String,
    log: &mut Vec<u8>,
    by: Box<dyn Fn() -> u8 + Send>,
) -> Result<usize, Lost> {
    log.push(by());
    partner.run_later().await?;
    extend(log, by()).await;
    Ok(name.len())
}

async fn extend<T: std::io::Write + Send>(mut to: T, number: u8) {
    tokio::task::yield_now().await;
    to.write_all(&[number]).unwrap();
}

#[test]
fn a_span_of_each_attempt_borrows() {
    let (partner, mut log) = (Flaky::succeeds_at(3), Vec::new());
    let call = span_of_each_attempt_that_borrows(&partner, "four".to_owned(), &mut log, Box::new(|| 1));
    assert_eq!((spans(sent(call)), log), ((3, Ok(4)), vec![1, 1, 1, 1]));
}

const fn sent<F: Future + Send>(future: F) -> F {
    future
}

#[test]
fn a_span_for_the_call_or_one_for_each_attempt() {
    assert_eq!(spans(span_of_the_call(&Flaky::succeeds_at(3), 2)), (1, Ok(6)));
    assert_eq!(spans(span_of_each_attempt(&Flaky::succeeds_at(3), 2)), (3, Ok(6)));
    let mut log = String::new();
    let words = spans(span_with_everything(&Flaky::succeeds_at(3), &mut log, Vec::new()));
    assert_eq!((words, log.as_str()), ((1, Ok(vec!["end".to_owned()])), "xxx"));
    let words = vec!["four".to_owned(), "six".to_owned()];
    assert_eq!(spans(span_of_each_attempt_that_consumes(&Flaky::succeeds_at(3), words)), (3, Ok(7)));
}

struct Client {
    partner: Flaky,
    log: String,
}

impl Client {
    const fn new() -> Self {
        Self { partner: Flaky::succeeds_at(3), log: String::new() }
    }

    #[instrument(skip(self))]
    #[retry_budget(budget = PLENTY)]
    async fn above(&mut self, by: u32) -> Result<u32, Lost> {
        self.log.push('a');
        Ok(self.partner.run_later().await? * by)
    }

    #[retry_budget(budget = PLENTY)]
    #[instrument(skip(self))]
    async fn below(&mut self, by: u32) -> Result<u32, Lost> {
        self.log.push('b');
        Ok(self.partner.run_later().await? * by)
    }
}

#[async_trait::async_trait]
trait Partner {
    async fn ask(&self, by: u32) -> Result<u32, Lost>;
    async fn ask_again(&mut self, by: u32) -> Result<u32, Lost>;
    async fn told(&mut self, by: Box<dyn Fn() -> u32 + Send>, log: &mut String) -> Result<u32, Lost>;
}

#[async_trait::async_trait]
impl Partner for Client {
    #[retry_budget(budget = PLENTY)]
    #[instrument(skip(self))]
    async fn ask(&self, by: u32) -> Result<u32, Lost> {
        Ok(self.partner.run_later().await? * by)
    }

    #[instrument(skip_all)]
    #[retry_budget(budget = PLENTY)]
    async fn ask_again(&mut self, by: u32) -> Result<u32, Lost> {
        self.log.push('s');
        Ok(self.partner.run_later().await? * by)
    }

    #[instrument(skip_all, err(Debug))]
    #[retry_budget(budget = PLENTY)]
    async fn told(&mut self, by: Box<dyn Fn() -> u32 + Send>, log: &mut String) -> Result<u32, Lost> {
        self.log.push('t');
        log.push('t');
        Ok(self.partner.run_later().await? * by())
    }
}

#[test]
fn spans_of_methods() {
    let mut client = Client::new();
    assert_eq!(spans(client.above(2)), (3, Ok(6)));
    assert_eq!(client.log, "aaa");
    let mut client = Client::new();
    assert_eq!(spans(client.below(2)), (1, Ok(6)));
    assert_eq!(client.log, "bbb");
    assert_eq!(spans(Client::new().ask(2)), (1, Ok(6)));
    let mut client = Client::new();
    assert_eq!(spans(client.ask_again(2)), (3, Ok(6)));
    assert_eq!(client.log, "sss");
    let (mut client, mut log) = (Client::new(), String::new());
    assert_eq!(spans(client.told(Box::new(|| 2), &mut log)), (3, Ok(6)));
    assert_eq!((client.log.as_str(), log.as_str()), ("ttt", "ttt"));
}

/// What `#[must_use]` says is said of the future's value, and nothing else.
#[must_use = "it was hard to get"]
#[retry_budget(budget = PLENTY)]
async fn must_be_used(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = PLENTY)]
#[deprecated = "ask somebody else"]
async fn deprecated(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = PLENTY)]
#[allow(unused_variables, clippy::unused_async, unreachable_code)]
#[cfg_attr(all(), inline(never))]
#[cold]
async fn lints_and_conditions(partner: &Flaky) -> Result<u32, Lost> {
    let unused = partner.run()?;
    return Ok(1);
    Ok(2)
}

#[retry_budget(budget = PLENTY)]
#[expect(unused_mut, reason = "the body has one")]
async fn expectations(partner: &Flaky) -> Result<u32, Lost> {
    let mut run = partner.run()?;
    Ok(run)
}

/// What `#[tokio::main]` above leaves is no `async fn` any more.
#[tokio::main(flavor = "current_thread", start_paused = true)]
#[retry_budget(budget = PLENTY)]
async fn main_above(partner: &Flaky) -> Result<u32, Lost> {
    partner.run_later().await
}

#[retry_budget(budget = PLENTY)]
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main_below(partner: &Flaky) -> Result<u32, Lost> {
    partner.run_later().await
}

#[test]
fn mains() {
    assert_eq!(main_above(&Flaky::succeeds_at(3)), Ok(3));
    assert_eq!(main_below(&Flaky::succeeds_at(3)), Ok(3));
}

#[tokio::test(start_paused = true)]
async fn every_attribute() {
    assert_eq!(must_be_used(&Flaky::succeeds_at(3)).await, Ok(3));
    #[allow(deprecated)]
    let answer = deprecated(&Flaky::succeeds_at(3)).await;
    assert_eq!(answer, Ok(3));
    assert_eq!(lints_and_conditions(&Flaky::succeeds_at(3)).await, Ok(1));
    assert_eq!(expectations(&Flaky::succeeds_at(3)).await, Ok(3));
}
