//! What operators see and change: the list of budgets, their limits by name. The list belongs to the whole process, so
//! these tests have a binary of their own, and each its own names.

mod configuring;
mod list;

use retry_budget::{Registered, Retryable, Verdict, budgets};

/// Retryable.
#[derive(Debug)]
struct Lost;

impl Retryable for Lost {
    fn verdict(&self) -> Verdict {
        Verdict::TRANSIENT
    }
}

/// What the list says of this name.
fn listed(name: &str) -> Vec<Registered> {
    budgets().into_iter().filter(|budget| budget.snapshot.name == name).collect()
}

fn limits(name: &str) -> Vec<u64> {
    listed(name).into_iter().map(|budget| budget.snapshot.limit).collect()
}
