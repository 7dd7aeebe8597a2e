//! What a caller sees of the process-wide switch. Its own binary with one test, since the switch belongs to all.

use retry_budget::{Exhausted, Retryable, StopReason, TokenBudget, UNLIMITED, budgets, retry_budget, set_retries};
use std::sync::Mutex;

#[derive(Debug, thiserror::Error, Retryable)]
enum PartnerError {
    #[error("lost")]
    #[retry(transient)]
    Lost,
    #[error("{0}")]
    #[retry(exhausted)]
    GaveUp(#[from] Box<Exhausted<Self>>),
}

static RUNS: Mutex<Vec<&str>> = Mutex::new(Vec::new());
static OUTER: TokenBudget = TokenBudget::builder("outer").build();

#[retry_budget(budget = UNLIMITED, on_stop = |event| RUNS.lock().unwrap().push(event.stop.reason.as_str()))]
async fn inner() -> Result<(), PartnerError> {
    RUNS.lock().unwrap().push("inner");
    Err(PartnerError::Lost)
}

#[retry_budget(budget = OUTER)]
async fn outer() -> Result<(), PartnerError> {
    RUNS.lock().unwrap().push("outer");
    inner().await
}

#[tokio::test(start_paused = true)]
async fn one_attempt_at_each_layer_and_the_error_says_why() {
    set_retries(false);
    let PartnerError::GaveUp(gave_up) = outer().await.unwrap_err() else { panic!("not exhausted") };
    assert_eq!((gave_up.stop().reason, gave_up.stop().attempts), (StopReason::SwitchedOff, 1));
    assert_eq!(gave_up.to_string(), "retries are switched off (1 attempt)");
    assert_eq!(*RUNS.lock().unwrap(), ["outer", "inner", "switched_off"]);
    let asked: u64 = budgets().iter().map(|it| it.snapshot.granted + it.snapshot.denied).sum();
    assert_eq!((budgets().len(), asked), (2, 0), "both are known, none was asked");
    set_retries(true);
    outer().await.unwrap_err();
    assert_eq!(RUNS.lock().unwrap().iter().filter(|it| **it == "inner").count(), 4, "one, and three");
}
