//! A bike rental whose partner has an outage, lived through three times: without a retry budget, with a token bucket,
//! and with a 10 % ratio. Prints what each did to the partner, and draws it.
//!
//! ```text
//! cargo run --example bike_rental
//! ```
//!
//! Start reading at `clients/stations.rs`, the code that an application has; `budgets.rs` is the budgets. Everything
//! else stages the outage: `script.rs` says what happens when, `partner.rs` is the server it happens to, `riders.rs`
//! the load, `scenario.rs` one of the three runs.

#![allow(unreachable_pub, reason = "its modules read like those of the application that it stands for")]

mod args;
mod budgets;
mod chart;
mod clients;
mod partner;
mod progress;
mod report;
mod riders;
mod scenario;
mod script;

use args::Args;
use clap::Parser;
use report::Report;
use scenario::Scenario;
use script::Script;
use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bike_rental: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let script = Script::new(args.seed());
    eprintln!("{script}");

    // The three partners live at the same time; the start lies ahead, so that all of them are up by then.
    let start = Instant::now() + Duration::from_millis(200);
    let none = Scenario::open(budgets::none(), script, start).await?;
    let token = Scenario::open(budgets::token(), script, start).await?;
    let ratio = Scenario::open(budgets::ratio(), script, start).await?;

    let watch = tokio::spawn(progress::show(start, [none.watch(), token.watch(), ratio.watch()]));
    let (none, token, ratio) = tokio::try_join!(none.run(), token.run(), ratio.run())?;
    watch.await?;

    let report = Report { none, token, ratio };
    let chart = args.chart();
    chart::draw(&report, &chart).map_err(|error| format!("can't draw {}: {error}", chart.display()))?;

    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", report.json()?)?;
    } else {
        writeln!(out, "{report}\nThe chart: {}", chart.display())?;
    }
    Ok(())
}
