//! A future that could be sent to another thread still can.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::{Retryable, Verdict, retry_budget};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

const fn sent<F: Future + Send>(future: F) -> F {
    future
}

#[derive(Debug)]
struct NotSend(#[allow(dead_code)] Rc<u32>);

impl Retryable for NotSend {
    fn verdict(&self) -> Verdict {
        Verdict::TRANSIENT
    }
}

#[retry_budget(budget = PLENTY)]
async fn error_that_is_not_send(partner: &Flaky) -> Result<u32, NotSend> {
    partner.run_later().await.map_err(|lost| NotSend(Rc::new(lost.0)))
}

#[retry_budget(budget = PLENTY, on_retry = |_| (), on_stop = |_| ())]
async fn error_that_is_not_send_and_observed(partner: &Flaky) -> Result<u32, NotSend> {
    partner.run_later().await.map_err(|lost| NotSend(Rc::new(lost.0)))
}

struct NotSync {
    count: Cell<u32>,
}

impl NotSync {
    #[retry_budget(budget = PLENTY)]
    async fn unique(&mut self, partner: &Flaky) -> Result<u32, Lost> {
        self.count.set(self.count.get() + 1);
        partner.run_later().await?;
        Ok(self.count.get())
    }
}

#[retry_budget(budget = PLENTY, keep(callback))]
async fn callback(partner: &Flaky, mut callback: Box<dyn FnMut() -> u32 + Send>) -> Result<u32, Lost> {
    let called = callback();
    partner.run_later().await?;
    Ok(called)
}

#[retry_budget(budget = PLENTY, clone(count))]
async fn cloned_cell(partner: &Flaky, count: Cell<u32>) -> Result<u32, Lost> {
    count.set(count.get() + 1);
    partner.run_later().await?;
    Ok(count.get())
}

#[retry_budget(budget = PLENTY)]
async fn not_sync_by_value(
    partner: &Flaky,
    callback: Box<dyn Fn() -> u32 + Send>,
    (cell, number): (Cell<u32>, u32),
) -> Result<u32, Lost> {
    partner.run_later().await?;
    cell.set(cell.get() + number);
    Ok(callback() + cell.get())
}

#[retry_budget(budget = PLENTY)]
async fn generic_callback<F: Fn() -> u32 + Send>(partner: &Flaky, callback: F) -> Result<u32, Lost> {
    partner.run_later().await?;
    Ok(callback())
}

impl NotSync {
    #[retry_budget(budget = PLENTY)]
    async fn by_value(self, partner: &Flaky) -> Result<u32, Lost> {
        partner.run_later().await?;
        Ok(self.count.get())
    }
}

#[retry_budget(budget = PLENTY)]
async fn local(partner: Rc<Flaky>) -> Result<u32, Lost> {
    partner.run_later().await
}

#[retry_budget(budget = PLENTY)]
async fn borrows(partner: &Flaky, names: &[&str]) -> Result<usize, Lost> {
    let mut length = 0;
    for name in names {
        partner.run_later().await?;
        length += name.len();
    }
    Ok(length)
}

#[tokio::test(start_paused = true)]
async fn spawned() {
    let partner = Arc::new(Flaky::succeeds_at(3));
    let spawned = tokio::spawn(async move { borrows(&partner, &["a", "bc"]).await });
    assert_eq!(spawned.await.unwrap(), Ok(3));
}

#[tokio::test(start_paused = true)]
async fn send_where_the_plain_one_is() {
    let partner = Flaky::succeeds_at(3);
    assert_eq!(sent(error_that_is_not_send(&partner)).await.unwrap(), 3);
    assert_eq!(sent(error_that_is_not_send_and_observed(&partner)).await.unwrap(), 4);
    let partner = Flaky::succeeds_at(3);
    let mut not_sync = NotSync { count: Cell::new(0) };
    assert_eq!(sent(not_sync.unique(&partner)).await, Ok(3));
    let partner = Flaky::succeeds_at(3);
    let mut calls = 0;
    let count = Box::new(move || {
        calls += 1;
        calls
    });
    assert_eq!(sent(callback(&partner, count)).await, Ok(3));
    let partner = Flaky::succeeds_at(3);
    assert_eq!(sent(cloned_cell(&partner, Cell::new(4))).await, Ok(5));
    let partner = Flaky::succeeds_at(3);
    assert_eq!(sent(not_sync_by_value(&partner, Box::new(|| 5), (Cell::new(1), 2))).await, Ok(8));
    assert_eq!(sent(generic_callback(&Flaky::succeeds_at(3), || 5)).await, Ok(5));
    assert_eq!(sent(NotSync { count: Cell::new(6) }.by_value(&Flaky::succeeds_at(3))).await, Ok(6));
    assert_eq!(local(Rc::new(Flaky::succeeds_at(2))).await, Ok(2));
}
