//! Limits as operators give them: by the names of budgets and settings, at run time.

mod from_env;

use crate::SettingsError;
use std::fmt;

pub use from_env::EnvError;

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $type:ty, of $kinds:literal;)+) => {
        /// The limits of a budget that are to change; what is `None` stays as it is.
        ///
        /// A budget takes only settings of its own kind, within the ranges of its builder. What makes a new budget
        /// (`initial`) and what its counts belong to (`window`) can't change while it runs, and so is not among them.
        ///
        /// ```
        /// use retry_budget_runtime::{Budget, BudgetSettings, RatioBudget, Time};
        ///
        /// static PARTNER: RatioBudget = RatioBudget::builder("partner").build();
        ///
        /// PARTNER.configure(&BudgetSettings::default().ratio(0.2).min_retries(10))?;
        /// assert_eq!(PARTNER.snapshot(Time::now()).limit, 10);
        ///
        /// let error = PARTNER.configure(&BudgetSettings::default().burst(3)).unwrap_err();
        /// assert_eq!(error.to_string(), "burst is a setting of credit budgets, and this budget is none");
        /// # Ok::<(), retry_budget_runtime::SettingsError>(())
        /// ```
        #[derive(Clone, Debug, Default, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(deny_unknown_fields))]
        #[non_exhaustive]
        pub struct BudgetSettings {
            $($(#[$doc])* pub $name: Option<$type>,)+
        }

        impl BudgetSettings {
            $($(#[$doc])*
            #[must_use]
            pub const fn $name(mut self, $name: $type) -> Self {
                self.$name = Some($name);
                self
            })+

            /// All names.
            const NAMES: &[&str] = &[$(stringify!($name)),+];

            /// Refuses every setting but these.
            pub(crate) fn only(&self, own: &[&str]) -> Result<(), SettingsError> {
                $(if self.$name.is_some() && !own.contains(&stringify!($name)) {
                    return Err(SettingsError::new(concat!(
                        stringify!($name), " is a setting of ", $kinds, " budgets, and this budget is none"
                    )));
                })+
                Ok(())
            }

            /// Says nothing any more of what another says something of.
            fn leave_to(&mut self, other: &Self) {
                $(if other.$name.is_some() {
                    self.$name = None;
                })+
            }

            /// Sets the setting of this name, which there is, to what the text says.
            fn parse(&mut self, name: &str, text: &str) -> Result<(), String> {
                $(if name == stringify!($name) {
                    self.$name = Some(text.parse::<$type>().map_err(|error| error.to_string())?);
                })+
                Ok(())
            }
        }
    };
}

settings! {
    /// Token: the most tokens in the bucket, 1 to 2³¹.
    capacity: u32, of "token";
    /// Token: what a retry after a transient failure costs, at least 1 token.
    transient_cost: u32, of "token";
    /// Token: what a retry after a throttling failure costs, in tokens.
    throttling_cost: u32, of "token";
    /// Token: what a call that succeeds at its first attempt puts back, 0 tokens to capacity.
    success_refund: u32, of "token";
    /// Ratio, credit, concurrency: retries per call, above 0 and at most 1; 0.1 is 10 %.
    ratio: f64, of "ratio, credit and concurrency";
    /// Ratio: retries allowed in a window however few the requests, at most 2²⁰.
    min_retries: u32, of "ratio";
    /// Credit: the most retries that can be saved up, 1 to 4000.
    burst: u32, of "credit";
    /// Concurrency: retries that may be in progress however few the calls, at most 2²⁰.
    min_retry_concurrency: u32, of "concurrency";
    /// gRPC: the most tokens there are, 3 to 1000.
    max_tokens: u32, of "grpc";
    /// gRPC: what a call that succeeds puts back, 0.001 to 1000 tokens.
    token_ratio: f64, of "grpc";
}

/// The settings of several budgets, by name: for [`configure`](crate::configure()).
///
/// From code with [`budget`](Self::budget), from the environment with [`from_env`](Self::from_env), or, with the feature
/// `serde`, from a file, as a map from names to settings:
///
/// ```toml
/// [partner]
/// capacity = 300
///
/// [payments]
/// ratio = 0.2
/// min_retries = 10
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize),
    serde(from = "std::collections::BTreeMap<String, BudgetSettings>")
)]
pub struct Settings {
    /// In the order in which they were given. No key says the same setting twice.
    given: Vec<(Key, BudgetSettings)>,
}

/// Which budgets are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// Those of this name.
    Name(String),
    /// Those whose name looks like this in a variable.
    Variable(String),
}

impl Key {
    pub(crate) fn means(&self, budget: &str) -> bool {
        match self {
            Self::Name(name) => name == budget,
            Self::Variable(name) => *name == from_env::in_variable(budget),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Name(name) | Self::Variable(name)) = self;
        f.write_str(name)
    }
}

impl Settings {
    /// No settings.
    pub const fn new() -> Self {
        Self { given: Vec::new() }
    }

    /// Adds settings for the budgets of this name. Of what is said twice the later holds.
    #[must_use]
    pub fn budget(mut self, name: impl Into<String>, settings: BudgetSettings) -> Self {
        self.add(Key::Name(name.into()), settings);
        self
    }

    pub(crate) fn add(&mut self, key: Key, settings: BudgetSettings) {
        for (_, earlier) in self.given.iter_mut().filter(|(other, _)| *other == key) {
            earlier.leave_to(&settings);
        }
        self.given.retain(|(_, earlier)| *earlier != BudgetSettings::default());
        self.given.push((key, settings));
    }

    pub(crate) fn given(&self) -> &[(Key, BudgetSettings)] {
        &self.given
    }

    /// What is said of a budget of this name, in the order in which it was given.
    pub(crate) fn of(&self, budget: &str) -> impl Iterator<Item = &BudgetSettings> {
        self.given.iter().filter(move |(key, _)| key.means(budget)).map(|(_, settings)| settings)
    }
}

impl<N: Into<String>> FromIterator<(N, BudgetSettings)> for Settings {
    fn from_iter<I: IntoIterator<Item = (N, BudgetSettings)>>(budgets: I) -> Self {
        budgets.into_iter().fold(Self::new(), |all, (name, settings)| all.budget(name, settings))
    }
}

#[cfg(feature = "serde")]
impl From<std::collections::BTreeMap<String, BudgetSettings>> for Settings {
    fn from(budgets: std::collections::BTreeMap<String, BudgetSettings>) -> Self {
        budgets.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new() -> BudgetSettings {
        BudgetSettings::default()
    }

    fn variable(settings: &mut Settings, name: &str, of_budget: BudgetSettings) {
        settings.add(Key::Variable(name.to_owned()), of_budget);
    }

    /// What a budget of this name is told, one after the other.
    fn told(settings: &Settings, budget: &str) -> Vec<BudgetSettings> {
        settings.of(budget).cloned().collect()
    }

    #[test]
    fn the_order_stays_and_what_is_overruled_goes() {
        let mut settings = Settings::new().budget("a", new().capacity(1).transient_cost(1));
        variable(&mut settings, "A", new().capacity(2));
        settings = settings.budget("a", new().transient_cost(3));
        assert_eq!(told(&settings, "a"), [new().capacity(1), new().capacity(2), new().transient_cost(3)]);
        settings = settings.budget("a", new().capacity(4));
        assert_eq!(told(&settings, "a"), [new().capacity(2), new().transient_cost(3), new().capacity(4)]);
    }

    #[test]
    fn settings_that_are_given_every_minute_do_not_pile_up() {
        let mut settings = Settings::new();
        for minute in 0..1_000 {
            settings = settings.budget("a", new().capacity(minute)).budget("b", new().ratio(0.1).burst(minute));
            variable(&mut settings, "A", new().burst(minute));
        }
        assert_eq!(settings.given().len(), 3);
        assert_eq!(told(&settings, "b"), [new().ratio(0.1).burst(999)]);
    }

    #[test]
    fn a_name_is_meant_to_the_letter() {
        let mut settings = Settings::new().budget("bike partner", new().capacity(1));
        assert_eq!(told(&settings, "bike partner").len(), 1);
        for other in ["Bike partner", "bike-partner", "bike partner ", "BIKE_PARTNER", ""] {
            assert_eq!(told(&settings, other), [], "{other}");
        }
        variable(&mut settings, "BIKE_PARTNER", new().capacity(2));
        assert_eq!(told(&settings, "Bike-partner"), [new().capacity(2)]);
        assert_eq!(told(&settings, "bikes partner"), []);
    }
}
