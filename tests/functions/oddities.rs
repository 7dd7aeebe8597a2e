//! What is rarely written, and compiles all the same.

#![allow(clippy::toplevel_ref_arg)]

use crate::{Flaky, Lost, PLENTY};
use retry_budget::{TokenBudget, retry_budget};
use std::convert::Infallible;
use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;

const BUDGET: u32 = 28;
const LIMIT: u32 = 14;

/// Constants whose names the expansion could have taken.
#[retry_budget(kind = "token", capacity = BUDGET, transient_cost = LIMIT, max_attempts = 9)]
async fn a_constant_called_budget(partner: &Flaky) -> Result<u32, Lost> {
    assert_eq!(BUDGET, 28);
    partner.run()
}

#[retry_budget(budget = PLENTY)]
async fn not_written_yet(_partner: &Flaky) -> Result<u32, Lost> {
    todo!("{}", 1)
}

#[retry_budget(budget = PLENTY)]
async fn only_by_macro(partner: &Flaky) -> Result<u32, Lost> {
    macro_rules! ask {
        ($partner:ident) => {
            match $partner.run() {
                Ok(run) => run,
                Err(lost) => return Err(lost),
            }
        };
    }
    let run = ask!(partner);
    if run < 3 {
        unreachable!()
    }
    Ok(run)
}

#[retry_budget(budget = PLENTY)]
async fn never_ends(partner: &Flaky) -> Result<Infallible, Lost> {
    loop {
        partner.run_later().await?;
        if partner.runs() > 5 {
            return Err(Lost(6));
        }
    }
}

#[retry_budget(budget = PLENTY)]
async fn early_and_late(partner: &Flaky) -> Result<u32, Lost> {
    let run = partner.run();
    let Ok(run) = run else { return run };
    return Ok(run + 1);
}

#[retry_budget(budget = PLENTY)]
async fn patterns_that_bind(
    partner: &Flaky,
    ref owned: String,
    whole @ (first, _): (u32, u32),
    [head, rest @ ..]: &[u32; 3],
    (Ok(last) | Err(last)): Result<u32, u32>,
) -> Result<usize, Lost> {
    partner.run_later().await?;
    Ok(owned.len() + [first, whole.1, *head, last].iter().sum::<u32>() as usize + rest.len())
}

#[retry_budget(budget = PLENTY, keep(log))]
async fn unique_by_pattern(partner: &Flaky, ref mut log: String) -> Result<usize, Lost> {
    log.push('x');
    partner.run_later().await?;
    Ok(log.len())
}

#[retry_budget(budget = PLENTY)]
async fn names_of_ours(
    call: &Flaky,
    result: u32,
    step: u32,
    wait: u32,
    halt: u32,
    budget: u32,
    policy: u32,
) -> Result<u32, Lost> {
    let core = call.run_later().await?;
    let retry_budget = core + result + step + wait + halt + budget + policy;
    Ok(retry_budget)
}

#[retry_budget(budget = PLENTY)]
async fn shadowed_arguments(partner: &Flaky, name: String, log: &mut String) -> Result<usize, Lost> {
    let name = format!("{name}{}", log.len());
    let log = &mut log.clone();
    log.push('l');
    let partner = partner.run_later().await?;
    Ok(name.len() + log.len() + partner as usize)
}

#[retry_budget(budget = PLENTY)]
async fn only_in_text(partner: &Flaky, name: &mut String, count: u32, width: usize) -> Result<String, Lost> {
    partner.run()?;
    Ok(format!("{name:>width$} {count:?}"))
}

#[retry_budget(budget = PLENTY)]
async fn future_argument<F>(partner: &Flaky, make: impl Fn() -> F + Send) -> Result<F::Output, Lost>
where
    F: Future<Output: Debug + Send> + Send,
{
    let future = make();
    partner.run_later().await?;
    Ok(future.await)
}

#[retry_budget(budget = PLENTY)]
async fn own_result<'a, E>(partner: &'a Flaky) -> std::result::Result<&'a Flaky, E>
where
    E: From<Lost> + retry_budget::Retryable,
{
    partner.run_later().await?;
    Ok(partner)
}

trait Blanket: Sync {
    fn partner(&self) -> &Flaky;
}

impl<T: Blanket + Send + ?Sized> Blanket for Arc<T> {
    fn partner(&self) -> &Flaky {
        (**self).partner()
    }
}

impl Blanket for Flaky {
    fn partner(&self) -> &Flaky {
        self
    }
}

trait Extension: Blanket {
    #[retry_budget(budget = PLENTY)]
    async fn extended(&self) -> Result<u32, Lost> {
        self.partner().run_later().await
    }
}

impl<T: Blanket + ?Sized> Extension for T {}

enum Choice {
    Left(Flaky),
    Right(Flaky, TokenBudget),
}

impl Choice {
    #[retry_budget(budget = match self { Self::Left(_) => &PLENTY, Self::Right(_, budget) => budget })]
    async fn budget_by_match(&self) -> Result<u32, Lost> {
        let (Self::Left(partner) | Self::Right(partner, _)) = self;
        partner.run_later().await
    }

    #[retry_budget(budget = PLENTY)]
    async fn swaps(&mut self) -> Result<u32, Lost> {
        match self {
            Self::Left(partner) => {
                let run = partner.run_later().await;
                *self = Self::Right(Flaky::succeeds_at(1), TokenBudget::builder("right").build());
                run
            }
            Self::Right(partner, _) => partner.run_later().await,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn names_and_constants() {
    assert_eq!(a_constant_called_budget(&Flaky::succeeds_at(9)).await, Err(Lost(3)));
    assert_eq!(names_of_ours(&Flaky::succeeds_at(3), 1, 2, 3, 4, 5, 6).await, Ok(24));
    assert_eq!(shadowed_arguments(&Flaky::succeeds_at(3), "n".to_owned(), &mut String::new()).await, Ok(6));
    assert_eq!(only_in_text(&Flaky::succeeds_at(3), &mut "n".to_owned(), 2, 3).await, Ok("  n 2".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn bodies_and_patterns() {
    let panicked = tokio::spawn(async { not_written_yet(&Flaky::succeeds_at(1)).await }).await;
    assert!(panicked.unwrap_err().is_panic());
    assert_eq!(only_by_macro(&Flaky::succeeds_at(3)).await, Ok(3));
    let partner = Flaky::succeeds_at(3);
    assert_eq!(never_ends(&partner).await, Err(Lost(6)));
    assert_eq!(partner.runs(), 6, "two attempts lost at once, the third at its fourth step");
    assert_eq!(early_and_late(&Flaky::succeeds_at(3)).await, Ok(4));
    let bound = patterns_that_bind(&Flaky::succeeds_at(3), "four".to_owned(), (1, 2), &[3, 4, 5], Ok(6)).await;
    assert_eq!(bound, Ok(18));
    assert_eq!(unique_by_pattern(&Flaky::succeeds_at(3), String::new()).await, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn generics_and_matches() {
    assert_eq!(future_argument(&Flaky::succeeds_at(3), || async { 5 }).await, Ok(5));
    assert_eq!(own_result::<Lost>(&Flaky::succeeds_at(3)).await.unwrap().runs(), 3);
    assert_eq!(Arc::new(Flaky::succeeds_at(3)).extended().await, Ok(3));
    let right = TokenBudget::builder("right").capacity(14).build();
    assert_eq!(Choice::Right(Flaky::succeeds_at(3), right).budget_by_match().await, Err(Lost(2)));
    assert_eq!(Choice::Left(Flaky::succeeds_at(3)).budget_by_match().await, Ok(3));
    assert_eq!(Choice::Left(Flaky::succeeds_at(3)).swaps().await, Ok(1));
}
