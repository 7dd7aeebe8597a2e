//! Where the run is: a bar on a terminal, a line now and then elsewhere. On the standard error output.

use crate::partner::Life;
use crate::script::{END, OUTAGE};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Shows the time that has passed and the attempts at the three partners, until the script has ended.
pub async fn show(start: Instant, partners: [Arc<Life>; 3]) {
    if stderr().is_terminal() { bar(start, partners).await } else { lines(start, partners).await }
}

async fn bar(start: Instant, partners: [Arc<Life>; 3]) {
    let bar = ProgressBar::new(millis(END));
    if let Ok(style) = ProgressStyle::with_template("{bar:14} {wide_msg}") {
        bar.set_style(style.progress_chars("━╸·"));
    }
    for at in moments(Duration::from_millis(100)) {
        sleep_until(start + at).await;
        bar.set_position(millis(at));
        bar.set_message(state(at, &partners));
    }
    bar.finish_and_clear();
}

async fn lines(start: Instant, partners: [Arc<Life>; 3]) {
    for at in moments(Duration::from_millis(1500)) {
        sleep_until(start + at).await;
        eprintln!("{}", state(at, &partners));
    }
}

fn moments(every: Duration) -> impl Iterator<Item = Duration> {
    (1..).map(move |count| every * count).take_while(|at| *at <= END)
}

fn state(at: Duration, partners: &[Arc<Life>; 3]) -> String {
    let phase = if OUTAGE.contains(&at) { "outage" } else { "healthy" };
    let [none, token, ratio] = partners.each_ref().map(|life| life.arrivals().len());
    format!("{:.1} s, {phase}; attempts: {none} no budget, {token} token, {ratio} ratio", at.as_secs_f64())
}

fn millis(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}
