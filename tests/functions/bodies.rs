//! What stands in the body is plain code.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::retry_budget;

#[retry_budget(budget = PLENTY)]
async fn question_mark(partner: &Flaky) -> Result<u32, Lost> {
    let run = partner.run_later().await?;
    Ok(run * 10)
}

#[retry_budget(budget = PLENTY)]
async fn early_return(partner: &Flaky, early: bool) -> Result<u32, Lost> {
    if early {
        return partner.run_later().await;
    }
    if partner.runs() > 100 {
        return Err(Lost(0));
    }
    partner.run()
}

#[retry_budget(budget = PLENTY)]
async fn one_expression(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = PLENTY)]
async fn loops(partner: &Flaky) -> Result<u32, Lost> {
    let mut sum = 0;
    'outer: loop {
        for step in 0.. {
            if step == 3 {
                break 'outer;
            }
            if step == 1 {
                continue;
            }
            sum += step;
        }
    }
    let labelled = 'block: {
        if sum == 2 {
            break 'block 5;
        }
        7
    };
    let Some(run) = partner.run().ok() else {
        return Err(Lost(labelled));
    };
    Ok(run + labelled)
}

#[retry_budget(budget = PLENTY)]
async fn items_inside(partner: &Flaky) -> Result<u32, Lost> {
    #![allow(clippy::items_after_statements)]
    use Shadow as Result;
    struct Shadow;
    const fn plus_one(number: u32) -> u32 {
        number + 1
    }
    let _ = Result;
    Ok(plus_one(partner.run()?))
}

#[retry_budget(budget = PLENTY)]
async fn diverges(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()?;
    std::future::pending().await
}

#[retry_budget(budget = PLENTY)]
async fn macros(partner: &Flaky, name: &str) -> Result<String, Lost> {
    let run = partner.run()?;
    Ok(format!("{name} {run}"))
}

#[retry_budget(budget = PLENTY, max_attempts = 2)]
async fn recursion(partner: &Flaky, depth: u32) -> Result<u32, Lost> {
    if depth == 0 { partner.run() } else { Box::pin(recursion(partner, depth - 1)).await }
}

#[retry_budget(budget = PLENTY)]
async fn functions_inside(partner: &Flaky, by: u32) -> Result<u32, Lost> {
    #[retry_budget(budget = PLENTY)]
    async fn inner(partner: &Flaky) -> Result<u32, Lost> {
        partner.run_later().await
    }
    async fn plain(by: u32) -> Result<u32, Lost> {
        tokio::task::yield_now().await;
        if by == 0 { Err(Lost(0)) } else { Ok(by) }
    }
    Ok(inner(partner).await? * plain(by).await?)
}

#[retry_budget(budget = PLENTY)]
async fn closures_inside(partner: &Flaky, log: &mut Vec<u32>) -> Result<u32, Lost> {
    let ask = async |by: u32| -> Result<u32, Lost> { Ok(partner.run_later().await? * by) };
    let mut note = |number| log.push(number);
    note(1);
    let shared = &ask;
    let both = async move { shared(2).await };
    let answer = both.await;
    note(2);
    answer
}

#[retry_budget(budget = PLENTY)]
async fn concurrently(partner: &Flaky, other: &Flaky, log: &mut String) -> Result<u32, Lost> {
    let left = async {
        log.push('l');
        partner.run_later().await
    };
    let (left, right) = tokio::join!(left, other.run_later());
    tokio::select! {
        biased;
        () = std::future::ready(()) => Ok(left? + right?),
        () = std::future::pending() => unreachable!(),
    }
}

#[retry_budget(budget = PLENTY)]
async fn try_joined(partner: &Flaky) -> Result<u32, Lost> {
    let (left, right) = tokio::try_join!(partner.run_later(), partner.run_later())?;
    Ok(left + right)
}

#[retry_budget(budget = PLENTY)]
async fn in_time(partner: &Flaky, name: &mut String) -> Result<u32, Lost> {
    let asked = tokio::time::timeout(std::time::Duration::from_secs(1), async move {
        name.push('x');
        partner.run_later().await
    });
    asked.await.map_err(|_| Lost(0))?
}

#[retry_budget(budget = PLENTY)]
async fn spawns(partner: &std::sync::Arc<Flaky>) -> Result<u32, Lost> {
    let partner = partner.clone();
    tokio::spawn(async move { partner.run_later().await }).await.map_err(|_| Lost(0))?
}

#[retry_budget(budget = PLENTY)]
async fn unsized_tail(partner: &Flaky) -> Result<u32, Box<Lost>> {
    match partner.run_later().await {
        Err(lost) if lost.0 < 3 => Err(lost)?,
        Err(_) => unreachable!(),
        Ok(run) if run > 3 => panic!("too late"),
        Ok(run) => return Ok(run),
    }
}

#[tokio::test(start_paused = true)]
async fn futures_within_bodies() {
    let mut log = Vec::new();
    assert_eq!(functions_inside(&Flaky::succeeds_at(3), 2).await, Ok(6));
    assert_eq!(closures_inside(&Flaky::succeeds_at(3), &mut log).await, Ok(6));
    assert_eq!(log, [1, 2, 1, 2, 1, 2]);
    let mut log = String::new();
    assert_eq!(concurrently(&Flaky::succeeds_at(3), &Flaky::succeeds_at(2), &mut log).await, Ok(6));
    assert_eq!(try_joined(&Flaky::succeeds_at(3)).await, Ok(7));
    assert_eq!(in_time(&Flaky::succeeds_at(3), &mut log).await, Ok(3));
    assert_eq!(log, "lllxxx");
    assert_eq!(spawns(&std::sync::Arc::new(Flaky::succeeds_at(3))).await, Ok(3));
    assert_eq!(unsized_tail(&Flaky::succeeds_at(3)).await, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn bodies_run_until_they_succeed() {
    let partner = Flaky::succeeds_at(3);
    assert_eq!(question_mark(&partner).await, Ok(30));
    let partner = Flaky::succeeds_at(3);
    assert_eq!(early_return(&partner, true).await, Ok(3));
    let partner = Flaky::succeeds_at(3);
    assert_eq!(early_return(&partner, false).await, Ok(3));
    let partner = Flaky::succeeds_at(3);
    assert_eq!(one_expression(&partner).await, Ok(3));
    let partner = Flaky::succeeds_at(2);
    assert_eq!(loops(&partner).await, Ok(7));
    let partner = Flaky::succeeds_at(2);
    assert_eq!(items_inside(&partner).await, Ok(3));
    let partner = Flaky::succeeds_at(3);
    assert_eq!(macros(&partner, "bike").await, Ok("bike 3".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn the_last_error_comes_back() {
    let partner = Flaky::succeeds_at(4);
    assert_eq!(question_mark(&partner).await, Err(Lost(3)));
    assert_eq!(partner.runs(), 3);
    let partner = Flaky::succeeds_at(4);
    assert_eq!(diverges(&partner).await, Err(Lost(3)));
    // an outer loop of two attempts around an inner one of two
    let partner = Flaky::succeeds_at(9);
    assert_eq!(recursion(&partner, 0).await, Err(Lost(2)));
}
