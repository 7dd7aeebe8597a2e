//! What happens when: the partner's life, the riders' questions, and which attempts fail. All of it follows from a seed.

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use std::fmt;
use std::ops::Range;
use std::time::Duration;

/// The time in which the partner is in trouble, from the start of the script.
pub const OUTAGE: Range<Duration> = Duration::from_secs(2)..Duration::from_secs(7);
/// The script's end.
pub const END: Duration = Duration::from_secs(9);
/// People who each ask once a second: 250 calls in the outage. The token bucket's load factor belongs to this number,
/// since what the bucket saved up is spread over the calls: with twice as many it is 1.14 instead of 1.25.
pub const RIDERS: u32 = 50;
/// Of a hundred attempts in the outage this many fail.
pub const FAILURES_IN_100: usize = 67;

const SECOND: Duration = Duration::from_secs(1);

/// The script of one run; the same seed is the same script.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    seed: u64,
}

/// One question of one rider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errand {
    /// When it is asked, from the start of the script.
    pub at: Duration,
    /// What is asked.
    pub question: Question,
}

/// What riders want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The stations of a district.
    Stations(u32),
    /// The bikes at a station.
    Bikes(u32),
    /// The price of so many minutes.
    Price(u32),
}

impl Script {
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// What this rider asks, and when: once a second, at a moment that is roughly his own.
    ///
    /// Riders are a fiftieth of a second apart and stray by a quarter of that at most, so that nobody asks at the very
    /// edge of the outage.
    pub fn errands(self, rider: u32) -> impl Iterator<Item = Errand> {
        let mut random = self.random(rider.into());
        let seconds = (0..).map(|second| SECOND * second).take_while(|second| *second < END);
        seconds.map(move |second| Errand {
            at: second + (SECOND / RIDERS).mul_f64(f64::from(rider) + random.random_range(0.25..0.75)),
            question: match random.random_range(0..3) {
                0 => Question::Stations(random.random_range(1..=12)),
                1 => Question::Bikes(random.random_range(1..=200)),
                _ => Question::Price(random.random_range(5..=90)),
            },
        })
    }

    /// The fates of a partner's attempts in the outage.
    pub fn fates(self) -> Fates {
        Fates { decks: [1, 2, 3].map(|attempt| Deck::new(self.random(1 << 32 | attempt))) }
    }

    /// A generator of its own for each part of the script, so that one doesn't change with what another draws.
    fn random(self, part: u64) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(part);
        random
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{RIDERS} riders ask their partner once a second for {END:?}. From {:?} to {:?} it is in trouble:\n\
             slow, and {FAILURES_IN_100} % of the attempts fail. Three runs side by side; --seed {} plays this script again.",
            OUTAGE.start, OUTAGE.end, self.seed
        )
    }
}

/// Decides which attempts fail in the outage: two thirds, whoever asks, whatever he asks, and however his attempts
/// before went.
///
/// Fates are dealt, not thrown: from a shuffled deck of a hundred with exactly 67 failures, and from a deck for the
/// first attempts, one for the second and one for the third. Which attempt fails is chance as ever, but how many do is
/// not. Were every fate thrown by itself, the load factors would be the same on average, and a run without a budget
/// would stray from its average by .055 (one standard deviation): a matter of luck, of which 250 calls have too much
/// to show a difference of .15 in every single run.
pub struct Fates {
    decks: [Deck; 3],
}

impl Fates {
    /// Whether this attempt, which counts from 1, fails.
    pub fn fails(&mut self, attempt: u32) -> bool {
        let [first, second, third] = &mut self.decks;
        match attempt {
            0 | 1 => first.deal(),
            2 => second.deal(),
            _ => third.deal(),
        }
    }
}

struct Deck {
    random: ChaCha8Rng,
    cards: Vec<bool>,
}

impl Deck {
    fn new(random: ChaCha8Rng) -> Self {
        Self { random, cards: Vec::new() }
    }

    fn deal(&mut self) -> bool {
        if self.cards.is_empty() {
            self.cards = (0..100).map(|card| card < FAILURES_IN_100).collect();
            self.cards.shuffle(&mut self.random);
        }
        self.cards.pop().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_hundred_attempts_of_a_number_exactly_67_fail() {
        let mut fates = Script::new(1).fates();
        for attempt in [1, 2, 3, 1, 2] {
            assert_eq!((0..100).filter(|_| fates.fails(attempt)).count(), FAILURES_IN_100);
        }
    }

    #[test]
    fn a_seed_is_a_script() {
        let fates = |seed| {
            let mut fates = Script::new(seed).fates();
            (0..300).map(|attempt| fates.fails(attempt % 3 + 1)).collect::<Vec<_>>()
        };
        assert_eq!(fates(1), fates(1));
        assert_ne!(fates(1), fates(2));
        let errands = |seed| Script::new(seed).errands(7).collect::<Vec<_>>();
        assert_eq!(errands(1), errands(1));
        assert_ne!(errands(1), errands(2));
    }

    #[test]
    fn the_outage_has_250_calls_and_none_at_its_edges() {
        let margin = Duration::from_millis(4);
        let errands: Vec<_> = (0..RIDERS).flat_map(|rider| Script::new(3).errands(rider)).collect();
        assert_eq!(errands.len(), 450);
        assert_eq!(errands.iter().filter(|errand| OUTAGE.contains(&errand.at)).count(), 250);
        for edge in [OUTAGE.start, OUTAGE.end] {
            assert!(errands.iter().all(|errand| errand.at.abs_diff(edge) > margin));
        }
    }
}
