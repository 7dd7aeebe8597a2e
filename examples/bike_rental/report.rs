//! What came of it: the figures, as a table and as JSON.

use crate::partner::Arrival;
use crate::scenario::Seen;
use crate::script::OUTAGE;
use comfy_table::{CellAlignment, Table, presets::UTF8_HORIZONTAL_ONLY};
use serde::Serialize;
use std::fmt;

/// What was seen of the three runs.
pub struct Report {
    pub none: Seen,
    pub token: Seen,
    pub ratio: Seen,
}

/// One run in figures.
#[derive(Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Calls that riders made.
    pub calls: u32,
    /// Attempts that reached the partner.
    pub attempts: u32,
    /// Attempts for each call, over the whole run.
    pub load_factor: f64,
    /// Attempts that reached the partner during the outage, for each call that was begun during the outage.
    ///
    /// A retry that arrives after the end isn't counted, although its call is: that makes about .02 less without a
    /// budget than if all of them arrived in time.
    pub outage_load_factor: f64,
    /// Retries that the budget granted.
    pub granted: u64,
    /// Retries that the budget denied.
    pub denied: u64,
    /// Calls that had an answer in the end.
    pub succeeded: u32,
}

impl Figures {
    pub fn of(seen: &Seen) -> Self {
        let calls = count(seen.calls.iter());
        let attempts = count(seen.arrivals.iter());
        let outage_calls = count(seen.calls.iter().filter(|call| OUTAGE.contains(&call.begun)));
        let outage_attempts = count(seen.arrivals.iter().filter(|arrival| OUTAGE.contains(&arrival.at)));
        Self {
            calls,
            attempts,
            load_factor: per(attempts, calls),
            outage_load_factor: per(outage_attempts, outage_calls),
            granted: granted(seen),
            denied: seen.budget.denied,
            succeeded: count(seen.calls.iter().filter(|call| call.succeeded)),
        }
    }
}

/// A budget counts what it grants. No budget doesn't, so there the partner's word counts.
fn granted(seen: &Seen) -> u64 {
    match seen.budget.kind {
        "unlimited" => count(seen.arrivals.iter().filter(|arrival: &&Arrival| arrival.is_retry)).into(),
        _ => seen.budget.granted,
    }
}

fn count(items: impl Iterator) -> u32 {
    items.fold(0, |count, _| count + 1)
}

/// Rounded to thousandths.
fn per(attempts: u32, calls: u32) -> f64 {
    (f64::from(attempts) / f64::from(calls.max(1)) * 1000.0).round() / 1000.0
}

impl Report {
    /// The figures of the three runs on one line.
    pub fn json(&self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Json {
            none: Figures,
            token: Figures,
            ratio: Figures,
        }
        let [none, token, ratio] = self.figures();
        serde_json::to_string(&Json { none, token, ratio })
    }

    /// The figures without a budget, with the token bucket, with the ratio.
    pub fn figures(&self) -> [Figures; 3] {
        [&self.none, &self.token, &self.ratio].map(Figures::of)
    }
}

/// The table, and how to read it.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        table.load_style(UTF8_HORIZONTAL_ONLY).set_header([
            "retry budget",
            "calls",
            "attempts",
            "load in\nthe outage",
            "retries\ngranted",
            "retries\ndenied",
            "calls that\nsucceeded",
        ]);
        for (name, figures) in ["none", "token bucket", "10 % ratio"].into_iter().zip(self.figures()) {
            table.add_row([
                name.to_owned(),
                figures.calls.to_string(),
                figures.attempts.to_string(),
                format!("{:.2}", figures.outage_load_factor),
                figures.granted.to_string(),
                figures.denied.to_string(),
                figures.succeeded.to_string(),
            ]);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        writeln!(f, "{table}\n\n{READING}")
    }
}

const READING: &str = "\
Load factor: attempts that reach the partner for each call made.
The ratio looks back 1 s instead of the usual 10, since the whole run lasts 9.
More calls succeed without a budget only because this partner fails two thirds
of what it gets, however much that is. A real one in trouble that gets twice
its load may fail more of it, and stay down.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::riders::Call;
    use retry_budget::{Budget, Snapshot, Time, UNLIMITED};
    use std::time::Duration;

    fn seen(budget: Snapshot) -> Seen {
        let at = Duration::from_millis;
        let call = |begun, succeeded| Call { begun: at(begun), succeeded };
        let arrival = |millis, is_retry| Arrival { at: at(millis), is_retry };
        Seen {
            // one before the outage, two in it; the last one's retry arrives after its end
            calls: vec![call(1_000, true), call(3_000, false), call(6_999, true)],
            arrivals: vec![
                arrival(1_001, false),
                arrival(3_001, false),
                arrival(3_100, true),
                arrival(3_200, true),
                arrival(6_999, false),
                arrival(7_000, true),
            ],
            budget,
        }
    }

    #[test]
    fn the_outage_has_what_arrives_and_begins_in_it() {
        let expected = Figures {
            calls: 3,
            attempts: 6,
            load_factor: 2.0,
            outage_load_factor: 2.0,
            granted: 3,
            denied: 0,
            succeeded: 2,
        };
        assert_eq!(Figures::of(&seen(UNLIMITED.snapshot(Time::ZERO))), expected);
    }

    #[test]
    fn a_budget_is_asked_what_it_decided() {
        let figures = Figures::of(&seen(Snapshot::new("partner", "token").decided(3, 5)));
        assert_eq!((figures.granted, figures.denied), (3, 5));
    }
}
