//! What calls and budgets do, for dashboards: by the `metrics` facade, to whatever recorder the application has installed
//! (feature `metrics`).
//!
//! | name | kind | labels | counts |
//! | --- | --- | --- | --- |
//! | `retry_budget_calls_total` | counter | `budget`, `call`, `outcome` | calls that are over |
//! | `retry_budget_retries_total` | counter | `budget`, `call`, `kind` | retries that were granted: `transient` or `throttling` |
//! | `retry_budget_stops_total` | counter | `budget`, `call`, `reason` | calls that gave up, by [`StopReason`](crate::StopReason); a reason shows from its first time on |
//! | `retry_budget_denials_total` | counter | `budget`, `call` | calls that gave up since their budget was empty, and for no other reason |
//! | `retry_budget_fill` | gauge | `budget` | what is left in a budget, in its own unit |
//! | `retry_budget_capacity` | gauge | `budget` | what there is in it when nothing has been spent, in the same unit |
//!
//! - `outcome`: `ok` (its first attempt succeeded), `ok_after_retry`, `failed` (its failure isn't worth a retry), `gave_up` (a
//!   retry was wanted and none was made). A call that is dropped has no outcome, and one driven by a bare
//!   [`Run`](crate::Run) isn't counted.
//! - `budget`: the budget's name. `call`: the path of the annotated function; a block of [`retry!`] is `module::retry!`, and
//!   what isn't annotated is called what [`Retry::named`](crate::Retry::named) says, or nothing.
//! - Fill and capacity are those of the budgets that [`budgets`] lists, which with this feature are all
//!   static ones since their first call; of two with one name it is the sum. `fill / capacity` is between 0 and 1 for
//!   every kind.
//!
//! [`retry!`]: https://docs.rs/retry-budget/latest/retry_budget/macro.retry.html
//!
//! # What runs by itself
//!
//! The counting; nothing else. [`publish`] hands what was counted to the recorder, so call it where metrics are read: in
//! the route that is scraped, or every few seconds by [`publish_every`] where an exporter has a listener of its own or pushes.
//! A recorder that is installed late misses nothing, and a count never goes back while the process lives.
//!
//! ```
//! use std::time::Duration;
//!
//! /// The route of `/metrics`.
//! async fn metrics(recorder: &impl Rendered) -> String {
//!     retry_budget_runtime::metrics::publish();
//!     recorder.render()
//! }
//!
//! /// Or, at the start of `main`.
//! fn start() {
//!     tokio::spawn(retry_budget_runtime::metrics::publish_every(Duration::from_secs(10)));
//! }
//! # trait Rendered { fn render(&self) -> String; }
//! ```
//!
//! # What it costs
//!
//! A call whose first attempt succeeds adds one to a counter of its thread: about 100 instructions (`.ci/instructions` with
//! the feature), no lock, no allocation, no cache line that other cores write (with up to eight threads). The first call of a place makes its counters, about 1.3 KB. A call's
//! budgets may be without end, a budget for each host with a name of its own: after about thirty names the rest are counted
//! under `(rest)`.

use crate::tell::counts::{self, Totals};
use crate::{Snapshot, budgets};
use ::metrics::{counter, describe_counter, describe_gauge, gauge};
use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

/// The name of the counter of calls.
pub const CALLS: &str = "retry_budget_calls_total";
/// The name of the counter of retries.
pub const RETRIES: &str = "retry_budget_retries_total";
/// The name of the counter of calls that gave up.
pub const STOPS: &str = "retry_budget_stops_total";
/// The name of the counter of retries that a budget denied.
pub const DENIALS: &str = "retry_budget_denials_total";
/// The name of the gauge of what is left in a budget.
pub const FILL: &str = "retry_budget_fill";
/// The name of the gauge of what there is in a budget when nothing has been spent.
pub const CAPACITY: &str = "retry_budget_capacity";

/// Hands the counts and the state of the budgets to the recorder that is installed now. Without one, nothing happens.
///
/// Call it where metrics are read: see [the module](self). With the feature `tracing`, a budget that has recovered since it
/// ran empty is told of here as well, and not only when it is asked again.
pub fn publish() {
    describe();
    for ((call, budget), totals) in counts::totals() {
        publish_call(call, budget, &totals);
    }
    publish_levels();
}

/// [`publish`], again and again, never closer together than 100 ms. For `tokio::spawn`.
///
/// # Panics
///
/// Tokio panics when there is no timer in its runtime, and says how to enable it.
pub async fn publish_every(period: Duration) -> Infallible {
    let period = period.max(Duration::from_millis(100));
    loop {
        publish();
        tokio::time::sleep(period).await;
    }
}

/// At each publishing, since the recorder may be a new one.
fn describe() {
    describe_counter!(CALLS, "Calls that are over, by outcome: ok, ok_after_retry, failed or gave_up");
    describe_counter!(RETRIES, "Retries that were granted, by the kind of the failure before them");
    describe_counter!(STOPS, "Calls that gave up though a retry was wanted, by reason");
    describe_counter!(DENIALS, "Calls that gave up since their retry budget was empty");
    describe_gauge!(FILL, "What is left in a retry budget, in its own unit");
    describe_gauge!(CAPACITY, "What there is in a retry budget when nothing has been spent, in its own unit");
}

/// What may stay zero is published too, but for the reasons: a counter that begins with its first event hides this one from
/// whoever looks at the increase.
fn publish_call(call: &'static str, budget: &'static str, totals: &Totals) {
    let gave_up = totals.stops().map(|(_, count)| count).sum();
    let outcomes = [
        ("ok", totals.ok),
        ("ok_after_retry", totals.ok_after_retry),
        ("failed", totals.failed()),
        ("gave_up", gave_up),
    ];
    for (outcome, count) in outcomes {
        counter!(CALLS, "budget" => budget, "call" => call, "outcome" => outcome).absolute(count);
    }
    for (kind, count) in totals.retries() {
        counter!(RETRIES, "budget" => budget, "call" => call, "kind" => kind.as_str()).absolute(count);
    }
    for (reason, count) in totals.stops().filter(|(_, count)| *count > 0) {
        counter!(STOPS, "budget" => budget, "call" => call, "reason" => reason.as_str()).absolute(count);
    }
    counter!(DENIALS, "budget" => budget, "call" => call).absolute(totals.denied());
}

#[allow(clippy::cast_precision_loss)] // what is lost of 2^53 tokens no dashboard shows
fn publish_levels() {
    let mut levels: HashMap<String, (u64, u64)> = HashMap::new();
    for snapshot in budgets().into_iter().map(|budget| budget.snapshot) {
        #[cfg(feature = "tracing")]
        crate::tell::edges::look(&snapshot, crate::Time::now());
        let Snapshot { name, available, limit, .. } = snapshot;
        let (fill, capacity) = levels.entry(name).or_default();
        *fill = fill.saturating_add(available);
        *capacity = capacity.saturating_add(limit);
    }
    for (budget, (fill, capacity)) in levels {
        gauge!(FILL, "budget" => budget.clone()).set(fill as f64);
        gauge!(CAPACITY, "budget" => budget).set(capacity as f64);
    }
}
