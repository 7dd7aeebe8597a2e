//! Settings from environment variables.

use super::{BudgetSettings, Key, Settings};
use crate::switch;
use std::collections::BTreeMap;
use std::env;

const PREFIX: &str = "RETRY_BUDGET_";

/// Environment variables that can't be understood; the text names each of them and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .problems.join("; "))]
pub struct EnvError {
    problems: Vec<String>,
}

impl Settings {
    /// What the environment says: `RETRY_BUDGET_<NAME>_<SETTING>=<value>`.
    ///
    /// The name is the budget's in capitals, with `_` for everything but letters of the alphabet and digits: the
    /// capacity of the budget `"bike partner"` is `RETRY_BUDGET_BIKE_PARTNER_CAPACITY`. Values are written as in the
    /// attribute: `300`, `1_000`, `0.1`. Settings are the fields of [`BudgetSettings`]; where two fit, the longer one is
    /// meant (`_TOKEN_RATIO` before `_RATIO`). Whether a value is in range, and whether there is such a budget, is
    /// [`configure`](crate::configure())'s to say.
    ///
    /// `RETRY_BUDGET_RETRIES` is the [switch](crate::set_retries), and only checked here.
    ///
    /// # Errors
    ///
    /// When a variable that begins with `RETRY_BUDGET_` ends with no setting, names no budget, or its value is no number
    /// of that setting's type.
    ///
    /// ```no_run
    /// use retry_budget_runtime::{Settings, configure};
    ///
    /// # fn main() -> Result<(), retry_budget_runtime::EnvError> {
    /// let outcome = configure(&Settings::from_env()?);
    /// for (budget, error) in outcome.refused {
    ///     eprintln!("retry budget {budget}: {error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_env() -> Result<Self, EnvError> {
        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        read(env::vars_os().map(|(name, value)| (text(name), text(value))))
    }
}

fn read(variables: impl Iterator<Item = (String, String)>) -> Result<Settings, EnvError> {
    let mut budgets = BTreeMap::<String, BudgetSettings>::new();
    let mut problems = Vec::new();
    for (variable, value) in variables {
        let Some(words) = variable.strip_prefix(PREFIX) else { continue };
        let read = if variable == switch::VARIABLE { switch::check(&value) } else { set(&mut budgets, words, &value) };
        problems.extend(read.err().map(|problem| format!("{variable}: {problem}")));
    }
    if problems.is_empty() {
        let mut settings = Settings::new();
        for (name, of_budget) in budgets {
            settings.add(Key::Variable(name), of_budget);
        }
        Ok(settings)
    } else {
        problems.sort();
        Err(EnvError { problems })
    }
}

fn set(budgets: &mut BTreeMap<String, BudgetSettings>, words: &str, value: &str) -> Result<(), String> {
    let name_before = |setting: &&str| words.strip_suffix(&setting.to_uppercase())?.strip_suffix('_');
    let settings = BudgetSettings::NAMES.iter();
    let fitting = settings.filter_map(|setting| Some((*setting, name_before(setting)?))).max_by_key(|(it, _)| it.len());
    match fitting {
        Some((setting, name)) if !name.is_empty() => {
            let number = value.trim().replace('_', "");
            budgets.entry(name.to_owned()).or_default().parse(setting, &number).map_err(|e| format!("`{value}`: {e}"))
        }
        _ => Err(format!(
            "is not {PREFIX}, the name of a budget, and one of {}",
            BudgetSettings::NAMES.iter().map(|name| format!("_{}", name.to_uppercase())).collect::<Vec<_>>().join(", ")
        )),
    }
}

/// The name of a budget as it stands in a variable.
pub(super) fn in_variable(name: &str) -> String {
    name.chars().map(|it| if it.is_ascii_alphanumeric() { it.to_ascii_uppercase() } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(variables: &[(&str, &str)]) -> Result<Settings, String> {
        read(variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()))).map_err(|e| e.to_string())
    }

    fn of(settings: &Settings, budget: &str) -> Vec<BudgetSettings> {
        settings.of(budget).cloned().collect()
    }

    #[test]
    fn names_and_settings_come_apart() {
        let settings = read_all(&[
            ("PATH", "/bin"),
            ("RETRY_BUDGET_BIKE_PARTNER_CAPACITY", "1_000"),
            ("RETRY_BUDGET_BIKE_PARTNER_TRANSIENT_COST", " 7 "),
            ("RETRY_BUDGET_APP__BIKES__LOAD_12_RATIO", "0.29"),
            ("RETRY_BUDGET_A_MIN_RETRY_CONCURRENCY", "5"),
            ("RETRY_BUDGET_A_MIN_RETRIES", "6"),
            ("RETRY_BUDGET_G_TOKEN_RATIO", "1"),
            ("RETRY_BUDGET_RETRIES", "off"),
        ])
        .expect("understood");
        let bikes = BudgetSettings::default().capacity(1_000).transient_cost(7);
        for name in ["bike partner", "Bike-Partner"] {
            assert_eq!(of(&settings, name), std::slice::from_ref(&bikes), "{name}");
        }
        assert_eq!(of(&settings, "bike"), []);
        assert_eq!(of(&settings, "app::bikes::load:12"), [BudgetSettings::default().ratio(0.29)]);
        assert_eq!(of(&settings, "a"), [BudgetSettings::default().min_retry_concurrency(5).min_retries(6)]);
        assert_eq!(of(&settings, "g"), [BudgetSettings::default().token_ratio(1.0)]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_variable() {
        for (variable, value, expected) in [
            ("RETRY_BUDGET_A_CAPACITY", "many", "RETRY_BUDGET_A_CAPACITY: `many`: invalid digit found in string"),
            ("RETRY_BUDGET_A_CAPACITY", "-1", "RETRY_BUDGET_A_CAPACITY: `-1`: invalid digit found in string"),
            ("RETRY_BUDGET_A_RATIO", "10%", "RETRY_BUDGET_A_RATIO: `10%`: invalid float literal"),
            ("RETRY_BUDGET_A_RATIO", "", "RETRY_BUDGET_A_RATIO: ``: cannot parse float from empty string"),
            ("RETRY_BUDGET_RETRIES", "no", "RETRY_BUDGET_RETRIES: is `off` or `on`"),
        ] {
            assert_eq!(read_all(&[(variable, value)]), Err(expected.to_owned()));
        }
        for unclear in ["RETRY_BUDGET_A_CAPACTY", "RETRY_BUDGET_CAPACITY", "RETRY_BUDGET__CAPACITY", "RETRY_BUDGET_"] {
            let problem = read_all(&[(unclear, "3")]).expect_err("unclear");
            assert!(problem.starts_with(unclear) && problem.contains("_CAPACITY, _TRANSIENT_COST"), "{problem}");
        }
        // all at once, in order
        let two = read_all(&[("RETRY_BUDGET_B_BURST", "x"), ("RETRY_BUDGET_A_BURST", "y")]);
        let expected = "RETRY_BUDGET_A_BURST: `y`: invalid digit found in string; \
                        RETRY_BUDGET_B_BURST: `x`: invalid digit found in string";
        assert_eq!(two, Err(expected.to_owned()));
    }
}
