//! Generics, lifetimes and types of every form in the signature.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::retry_budget;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

const fn sent<F: Future + Send>(future: F) -> F {
    future
}

#[retry_budget(budget = PLENTY)]
async fn higher_ranked<F, R>(partner: &Flaky, by: F) -> Result<usize, Lost>
where
    F: for<'a> Fn(&'a str) -> R + Send + Sync,
    for<'a> &'a R: Into<usize>,
    R: Send + Sync,
{
    let value = by("x");
    partner.run_later().await?;
    Ok((&value).into())
}

struct Length(usize);

impl From<&Length> for usize {
    fn from(length: &Length) -> Self {
        length.0
    }
}

/// An async closure as an argument, called in each attempt.
#[retry_budget(budget = PLENTY)]
async fn called<F: AsyncFn(u32) -> Result<u32, Lost>>(ask: F) -> Result<u32, Lost> {
    ask(1).await
}

#[retry_budget(budget = PLENTY, keep(ask))]
async fn called_by_unique_reference<F: AsyncFnMut() -> Result<u32, Lost>>(mut ask: F) -> Result<u32, Lost> {
    ask().await
}

#[retry_budget(budget = PLENTY)]
async fn plain_futures<F, R>(ask: F) -> Result<u32, Lost>
where
    F: Fn(u32) -> R,
    R: Future<Output = Result<u32, Lost>>,
{
    ask(7).await
}

#[retry_budget(budget = PLENTY)]
async fn const_expressions<const N: usize, const MORE: bool>(
    partner: &Flaky,
    block: &[[u8; 2 + 1]; N],
) -> Result<[u8; 1 + 1], Lost> {
    partner.run_later().await?;
    Ok([block[N - 1][2], MORE.into()])
}

struct Wrapper<T = u32, const N: usize = 2>([T; N]);

impl<T: Copy + Send + Sync> Wrapper<T> {
    #[retry_budget(budget = PLENTY)]
    async fn second(&self, partner: &Flaky) -> Result<T, Lost> {
        partner.run_later().await?;
        Ok(self.0[1])
    }
}

#[retry_budget(budget = PLENTY)]
async fn trait_objects(
    partner: &Flaky,
    shown: &(dyn Display + Send + Sync),
    log: &mut (dyn io::Write + Send),
    owned: Box<dyn Fn(u32) -> u32 + Send>,
    counted: Arc<dyn Debug + Send + Sync>,
) -> Result<String, Lost> {
    writeln!(log, "{shown}").map_err(|_| Lost(0))?;
    let run = partner.run_later().await?;
    Ok(format!("{shown} {counted:?} {}", owned(run)))
}

#[retry_budget(budget = PLENTY)]
async fn slices(
    partner: &Flaky,
    bytes: &[u8],
    out: &mut [u8],
    text: &str,
    pair: &[(u8, Cow<'_, str>)],
) -> Result<usize, Lost> {
    out[0] += 1;
    out[1..=bytes.len()].copy_from_slice(bytes);
    partner.run_later().await?;
    out.reverse();
    Ok(text.len() + pair.len())
}

#[retry_budget(budget = PLENTY)]
async fn opaque_arguments(
    partner: &Flaky,
    name: impl AsRef<str> + Send,
    by: impl Fn(&str) -> usize + Send,
    log: &mut impl Extend<char>,
    shared: &impl Display,
) -> Result<usize, Lost> {
    log.extend(['x']);
    partner.run_later().await?;
    Ok(by(name.as_ref()) + shared.to_string().len())
}

#[retry_budget(budget = PLENTY, clone(items))]
async fn opaque_argument_consumed(
    partner: &Flaky,
    items: impl IntoIterator<Item = impl Into<u32> + Send, IntoIter: Send> + Clone + Send,
) -> Result<u32, Lost> {
    let mut sum = 0;
    for item in items {
        sum += item.into();
        partner.run_later().await?;
    }
    Ok(sum)
}

/// Lifetimes that nobody writes down.
#[retry_budget(budget = PLENTY)]
async fn elided(partner: &Flaky, cow: Cow<'_, str>, lock: &Mutex<&str>, words: Vec<&str>) -> Result<String, Lost> {
    partner.run_later().await?;
    let held: &str = &lock.lock().unwrap();
    Ok(format!("{cow}{held}{}", words.concat()))
}

#[retry_budget(budget = PLENTY)]
async fn named<'long: 'short, 'short, T>(
    partner: &Flaky,
    all: &'short HashMap<u8, &'long T>,
    other: &'long T,
) -> Result<&'long T, Lost>
where
    T: ?Sized + Sync + 'long,
{
    partner.run_later().await?;
    Ok(all.get(&1).copied().unwrap_or(other))
}

#[retry_budget(budget = PLENTY)]
async fn borrowed_from_the_only_one(text: &str) -> Result<Cow<'_, str>, Lost> {
    static PARTNER: Flaky = Flaky::succeeds_at(3);
    PARTNER.run_later().await?;
    Ok(text.trim().into())
}

struct View<'a> {
    text: &'a str,
    partner: &'a Flaky,
}

impl<'a> View<'a> {
    #[retry_budget(budget = PLENTY)]
    async fn out_of_it(&self) -> Result<&'a str, Lost> {
        self.partner.run_later().await?;
        Ok(self.text)
    }

    #[retry_budget(budget = PLENTY)]
    async fn out_of_a_unique_one(&mut self) -> Result<&'a str, Lost> {
        self.partner.run_later().await?;
        self.text = &self.text[1..];
        Ok(self.text)
    }

    #[retry_budget(budget = PLENTY)]
    async fn another(&self, text: &'a str) -> Result<View<'a>, Lost> {
        self.partner.run_later().await?;
        Ok(View { text, partner: self.partner })
    }
}

struct Stream(Vec<u32>);

impl Stream {
    #[retry_budget(budget = PLENTY)]
    async fn pinned(self: Pin<&mut Self>, partner: &Flaky) -> Result<usize, Lost> {
        partner.run_later().await?;
        Ok(self.0.len())
    }

    #[retry_budget(budget = PLENTY)]
    async fn boxed(self: Box<Self>, partner: &Flaky) -> Result<usize, Lost> {
        partner.run_later().await?;
        Ok(self.0.len())
    }

    #[retry_budget(budget = PLENTY)]
    #[allow(clippy::needless_arbitrary_self_type)]
    async fn typed(self: &Self, partner: &Flaky) -> Result<usize, Lost> {
        partner.run_later().await?;
        Ok(self.0.len())
    }

    #[retry_budget(budget = PLENTY)]
    #[allow(clippy::needless_arbitrary_self_type)]
    async fn typed_unique(self: &mut Self, partner: &Flaky) -> Result<usize, Lost> {
        self.0.push(1);
        partner.run_later().await?;
        Ok(self.0.len())
    }
}

#[retry_budget(budget = PLENTY, keep(future))]
async fn pinned_argument<F: Future<Output = u32>>(partner: &Flaky, mut future: Pin<&mut F>) -> Result<u32, Lost> {
    let run = partner.run_later().await?;
    Ok(run + future.as_mut().await)
}

#[retry_budget(budget = PLENTY)]
async fn never_fails<T>(value: &T) -> Result<&T, std::convert::Infallible> {
    Ok(value)
}

#[retry_budget(budget = PLENTY)]
async fn nested_results(partner: &Flaky) -> Result<Result<u32, String>, Lost> {
    Ok(partner.run_later().await?.checked_sub(9).ok_or_else(|| "too early".to_owned()))
}

#[retry_budget(budget = PLENTY)]
async fn function_pointers(partner: &Flaky, by: fn(u32) -> u32, more: &[fn(&str) -> usize]) -> Result<usize, Lost> {
    let run = by(partner.run_later().await?);
    Ok(run as usize + more[0]("ab"))
}

#[tokio::test(start_paused = true)]
async fn generics() {
    assert_eq!(sent(higher_ranked(&Flaky::succeeds_at(3), |text| Length(text.len()))).await, Ok(1));
    let partner = Flaky::succeeds_at(3);
    assert_eq!(called(async |by| Ok(partner.run_later().await? + by)).await, Ok(4));
    let mut runs = 0;
    let unique = called_by_unique_reference(async || {
        runs += 1;
        if runs < 3 { Err(Lost(runs)) } else { Ok(runs) }
    });
    assert_eq!(unique.await, Ok(3));
    let partner = &Flaky::succeeds_at(3);
    assert_eq!(sent(plain_futures(|by| async move { Ok(partner.run_later().await? + by) })).await, Ok(10));
    let block = [[1, 2, 3], [4, 5, 6]];
    assert_eq!(sent(const_expressions::<2, true>(&Flaky::succeeds_at(3), &block)).await, Ok([6, 1]));
    assert_eq!(sent(Wrapper([1, 2]).second(&Flaky::succeeds_at(3))).await, Ok(2));
}

#[tokio::test(start_paused = true)]
async fn arguments_of_any_type() {
    let (partner, mut log) = (Flaky::succeeds_at(3), Vec::new());
    let answer = trait_objects(&partner, &1, &mut log, Box::new(|run| run * 2), Arc::new("d"));
    assert_eq!(sent(answer).await, Ok("1 \"d\" 6".to_owned()));
    assert_eq!(log, b"1\n1\n1\n");
    let mut out = [0; 3];
    assert_eq!(sent(slices(&Flaky::succeeds_at(3), &[7, 8], &mut out, "abc", &[])).await, Ok(3));
    assert_eq!(out, [8, 7, 3]);
    let (partner, mut log) = (Flaky::succeeds_at(3), String::new());
    let answer = opaque_arguments(&partner, "four", str::len, &mut log, &10);
    assert_eq!((sent(answer).await, log.as_str()), (Ok(6), "xxx"));
    assert_eq!(sent(opaque_argument_consumed(&Flaky::succeeds_at(2), [1_u8, 2])).await, Ok(3));
    assert_eq!(sent(function_pointers(&Flaky::succeeds_at(3), |by| by + 1, &[str::len])).await, Ok(6));
    let mut ready = std::pin::pin!(std::future::ready(5));
    assert_eq!(sent(pinned_argument(&Flaky::succeeds_at(3), ready.as_mut())).await, Ok(8));
}

#[tokio::test(start_paused = true)]
async fn lifetimes() {
    let lock = Mutex::new("m");
    assert_eq!(sent(elided(&Flaky::succeeds_at(3), "c".into(), &lock, vec!["w"])).await, Ok("cmw".to_owned()));
    let other = "other".to_owned();
    assert_eq!(sent(named(&Flaky::succeeds_at(3), &HashMap::new(), other.as_str())).await, Ok("other"));
    assert_eq!(sent(borrowed_from_the_only_one(" t ")).await, Ok("t".into()));
    let partner = Flaky::succeeds_at(3);
    let mut view = View { text: "view", partner: &partner };
    assert_eq!(sent(view.out_of_it()).await, Ok("view"));
    assert_eq!(sent(view.out_of_a_unique_one()).await, Ok("iew"));
    assert_eq!(sent(view.another("x")).await.unwrap().text, "x");
}

#[tokio::test(start_paused = true)]
async fn receivers_of_any_type() {
    assert_eq!(sent(Pin::new(&mut Stream(vec![1])).pinned(&Flaky::succeeds_at(3))).await, Ok(1));
    assert_eq!(sent(Box::new(Stream(vec![1])).boxed(&Flaky::succeeds_at(3))).await, Ok(1));
    assert_eq!(sent(Stream(vec![1]).typed(&Flaky::succeeds_at(3))).await, Ok(1));
    assert_eq!(sent(Stream(vec![]).typed_unique(&Flaky::succeeds_at(3))).await, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn results_of_results() {
    assert_eq!(sent(nested_results(&Flaky::succeeds_at(3))).await, Ok(Err("too early".to_owned())));
    let partner = Flaky::succeeds_at(3);
    assert_eq!(sent(never_fails(&partner)).await.unwrap().runs(), 0);
}
