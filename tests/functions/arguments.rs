//! Arguments of every form are there again for the next attempt.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::retry_budget;
use std::fmt::Write;

#[retry_budget(budget = PLENTY)]
async fn unique(partner: &Flaky, log: &mut String, mut second: &mut Vec<u32>) -> Result<(), Lost> {
    log.push('x');
    let run = partner.run_later().await;
    second.push(0);
    let mut other = Vec::new();
    second = &mut other;
    second.push(1);
    run.map(|_| ())
}

async fn write_to<W: Write + Send>(mut to: W) {
    tokio::task::yield_now().await;
    to.write_str("w").unwrap_or_default();
}

#[retry_budget(budget = PLENTY)]
async fn handed_on<W: Write + Send>(partner: &Flaky, log: &mut String, any: &mut W) -> Result<(), Lost> {
    write_to(log).await;
    write_to(any).await;
    partner.run().map(|_| ())
}

#[retry_budget(budget = PLENTY)]
async fn moving_reference(partner: &Flaky, mut rest: &str) -> Result<usize, Lost> {
    rest = rest.trim_start_matches('a');
    partner.run()?;
    Ok(rest.len())
}

#[retry_budget(budget = PLENTY)]
async fn patterns(
    partner: &Flaky,
    (left, [right, ..]): (u32, [u32; 3]),
    _: &str,
    Flaky { succeeds_at, .. }: &Flaky,
    &copied: &u32,
    (mut_free, _): &(u32, u32),
) -> Result<u32, Lost> {
    partner.run_later().await?;
    Ok(left + right + copied + succeeds_at + mut_free)
}

#[retry_budget(budget = PLENTY, clone(body, tags))]
async fn cloned(partner: &Flaky, mut body: String, tags: Vec<u8>) -> Result<String, Lost> {
    body.push('!');
    partner.run_later().await?;
    drop(tags);
    Ok(body)
}

#[retry_budget(budget = PLENTY, keep(body, number))]
async fn kept(partner: &Flaky, mut body: String, number: u32) -> Result<String, Lost> {
    body.push('!');
    partner.run_later().await?;
    Ok(format!("{body}{number}"))
}

#[retry_budget(budget = PLENTY, keep(left), clone(right))]
async fn parts(partner: &Flaky, (mut left, mut right): (String, String)) -> Result<String, Lost> {
    left.push('l');
    right.push('r');
    partner.run()?;
    Ok(left.clone() + &right)
}

#[retry_budget(budget = PLENTY)]
async fn generic<T, const N: usize>(
    partner: &Flaky,
    items: [T; N],
    more: impl Into<u32> + Copy + Send + Sync,
) -> Result<u32, Lost>
where
    T: Into<u32> + Clone + Send + Sync,
{
    partner.run_later().await?;
    Ok(items.iter().map(|item| item.clone().into()).sum::<u32>() + more.into())
}

#[retry_budget(budget = PLENTY)]
async fn attributes_on_arguments(
    #[cfg(any())] gone: u32,
    #[allow(unused_variables)] unused: u32,
    partner: &Flaky,
) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = PLENTY, once(key = partner.runs() + 40, second = String::from("k")))]
async fn once(partner: &Flaky) -> Result<String, Lost> {
    partner.run_later().await?;
    Ok(format!("{key}{second}"))
}

#[tokio::test(start_paused = true)]
async fn unique_references_are_lent_to_each_attempt() {
    let (mut log, mut second) = (String::new(), Vec::new());
    assert_eq!(unique(&Flaky::succeeds_at(3), &mut log, &mut second).await, Ok(()));
    assert_eq!((log.as_str(), second.as_slice()), ("xxx", &[0, 0, 0][..]));
    let (mut log, mut any) = (String::new(), String::new());
    assert_eq!(handed_on(&Flaky::succeeds_at(3), &mut log, &mut any).await, Ok(()));
    assert_eq!((log.as_str(), any.as_str()), ("www", "www"));
}

#[tokio::test(start_paused = true)]
async fn each_attempt_starts_from_the_original_unless_told_otherwise() {
    assert_eq!(moving_reference(&Flaky::succeeds_at(3), "aab").await, Ok(1));
    assert_eq!(cloned(&Flaky::succeeds_at(3), "body".to_owned(), vec![1]).await, Ok("body!".to_owned()));
    assert_eq!(kept(&Flaky::succeeds_at(3), "body".to_owned(), 7).await, Ok("body!!!7".to_owned()));
    let words = ("a".to_owned(), "b".to_owned());
    assert_eq!(parts(&Flaky::succeeds_at(3), words).await, Ok("alllbr".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn patterns_and_generics() {
    assert_eq!(
        patterns(&Flaky::succeeds_at(3), (1, [2, 0, 0]), "", &Flaky::succeeds_at(10), &20, &(100, 0)).await,
        Ok(133)
    );
    assert_eq!(generic(&Flaky::succeeds_at(2), [1_u8, 2], 3_u16).await, Ok(6));
    assert_eq!(attributes_on_arguments(1, &Flaky::succeeds_at(2)).await, Ok(2));
}

#[tokio::test(start_paused = true)]
async fn once_is_evaluated_before_the_first_attempt() {
    assert_eq!(once(&Flaky::succeeds_at(3)).await, Ok("40k".to_owned()));
}

#[retry_budget(budget = PLENTY, clone(text))]
async fn excluding_each_other(
    partner: &Flaky,
    #[cfg(not(windows))] mut text: String,
    #[cfg(windows)] mut text: Vec<u8>,
) -> Result<usize, Lost> {
    text.clear();
    partner.run_later().await?;
    drop(text);
    Ok(1)
}

#[tokio::test(start_paused = true)]
async fn one_name_for_two_arguments() {
    assert_eq!(excluding_each_other(&Flaky::succeeds_at(3), "a".to_owned()).await, Ok(1));
}
