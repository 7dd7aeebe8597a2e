//! The command line.

use clap::Parser;
use std::path::{Path, PathBuf};

/// What a retry budget does to a server in trouble.
///
/// A bike rental asks its partner, a real HTTP server on this machine, for stations, bikes and prices. After two healthy
/// seconds the partner has an outage of five: it slows down and fails two thirds of the requests. Then it is healthy
/// again. The same script runs three times side by side: every call may try three times and there is no budget; a token
/// bucket; retries may be 10 % of the calls. At the end come a table and a chart.
#[derive(Debug, Parser)]
#[command(name = "bike_rental")]
pub struct Args {
    /// Repeats the script of an earlier run: who asks what and when, and which attempts fail. Sockets and the retries'
    /// jitter stay real, so that the figures may still differ a little.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Prints the figures as JSON, and nothing else, to the standard output.
    #[arg(long)]
    pub json: bool,

    /// Where the chart goes, instead of `target/bike_rental.svg`.
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

impl Args {
    /// The seed asked for, or one that nobody has to remember: it is short, and printed.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(|| rand::random::<u16>().into())
    }

    /// The file for the chart.
    pub fn chart(&self) -> PathBuf {
        let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bike_rental.svg");
        self.chart.clone().unwrap_or_else(default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_given_seed_is_taken() {
        assert_eq!(Args::parse_from(["bike_rental", "--seed", "7"]).seed(), 7);
        assert!(Args::try_parse_from(["bike_rental", "--seed", "seven"]).is_err());
    }
}
