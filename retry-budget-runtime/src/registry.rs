//! The static budgets of this process, for operators: to see them, and to change their limits by name.

mod in_static;

use crate::{Budget, Settings, SettingsError, Snapshot, Time};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use in_static::{InStatic, Seen};

/// A budget that [`budgets`] lists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Registered {
    /// Its state at this moment, its name and kind included.
    pub snapshot: Snapshot,
    /// Whether another budget of the list has the same name. Two statics can; settings by name go to both.
    pub shares_its_name: bool,
    /// Why it didn't take the last settings that [`configure`] had for it.
    pub refused: Option<SettingsError>,
}

/// What [`configure`] could not do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "it says what was not applied"]
pub struct Configured {
    /// The budgets that keep the limits they had, by name, and what is wrong with the settings.
    pub refused: Vec<(String, SettingsError)>,
    /// The names that no budget has yet. Their settings are kept for the budget that will.
    pub unknown: Vec<String>,
}

struct Registry {
    entries: Vec<Entry>,
    /// All that was ever configured: for those who come later.
    remembered: Settings,
}

struct Entry {
    budget: &'static dyn Budget,
    name: String,
    place: usize,
    refused: Option<SettingsError>,
}

/// Asked once per place in the code, when something fails there for the first time, and by operators. (With the feature
/// `metrics`, when a call ends there for the first time.)
fn registry() -> MutexGuard<'static, Registry> {
    static REGISTRY: Mutex<Registry> = Mutex::new(Registry { entries: Vec::new(), remembered: Settings::new() });
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Every static budget of this process that is known so far, in the order in which they came.
///
/// A budget that stands behind `budget = PATH`, and one of a function's own (`kind = …`), is known from the first
/// failure of a call under it, with the feature `metrics` from the first call; [`register`] makes it known earlier. Those given to [`retry()`](crate::retry()),
/// [`retry_blocking`](crate::retry_blocking) or [`Run`](crate::Run), or made at run time, only by `register`.
///
/// ```standalone_crate
/// use retry_budget_runtime::{TokenBudget, budgets, register};
///
/// static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
///
/// register(&PARTNER);
/// for budget in budgets() {
///     let snapshot = budget.snapshot;
///     println!("{} ({}): {} of {}", snapshot.name, snapshot.kind, snapshot.available, snapshot.limit);
/// }
/// # assert_eq!(budgets()[0].snapshot.name, "partner");
/// ```
pub fn budgets() -> Vec<Registered> {
    let entries: Vec<_> = registry().entries.iter().map(|entry| (entry.budget, entry.refused)).collect();
    let now = Time::now();
    // A budget of a user's own answers here, so nothing is locked.
    let mut all: Vec<_> = entries
        .into_iter()
        .map(|(budget, refused)| Registered { snapshot: budget.snapshot(now), shares_its_name: false, refused })
        .collect();
    let mut carriers = HashMap::new();
    for registered in &all {
        *carriers.entry(registered.snapshot.name.clone()).or_insert(0_usize) += 1;
    }
    for registered in &mut all {
        registered.shares_its_name = carriers[&registered.snapshot.name] > 1;
    }
    all
}

/// Makes a budget known to [`budgets`] and [`configure`] now, and not only when a call under it fails for the first
/// time. What was configured for its name is applied at once. A second time changes nothing.
///
/// ```standalone_crate
/// use retry_budget_runtime::{TokenBudget, register};
///
/// static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
///
/// // at the start of `main`
/// register(&PARTNER);
/// ```
pub fn register<B: Budget>(budget: &'static B) {
    add(budget);
}

fn add(budget: &'static dyn Budget) {
    // Before the lock: a budget behind a `LazyLock` may be made here.
    let (place, name) = (budget.place(), budget.name().to_owned());
    let mut registry = registry();
    // Those without a size may lie at one place.
    if registry.entries.iter().any(|entry| entry.place == place && entry.name == name) {
        return;
    }
    let refused = registry.remembered.of(&name).filter_map(|settings| budget.configure(settings).err()).last();
    registry.entries.push(Entry { budget, name, place, refused });
}

/// Changes the limits of budgets by name, while they are in use.
///
/// What isn't said stays as it is. Each budget takes all of what is said for it or nothing: see
/// [`Budget::configure`]. The settings of names that no budget has yet are kept, and applied when such a budget comes up:
/// at [`register`], or at the first failure of a call under it.
///
/// ```standalone_crate
/// use retry_budget_runtime::{BudgetSettings, Settings, TokenBudget, budgets, configure, register};
///
/// static PARTNER: TokenBudget = TokenBudget::builder("partner").build();
///
/// register(&PARTNER);
/// let outcome = configure(
///     &Settings::new()
///         .budget("partner", BudgetSettings::default().capacity(300))
///         .budget("paymens", BudgetSettings::default().ratio(0.2)),
/// );
/// assert!(outcome.refused.is_empty());
/// assert_eq!(outcome.unknown, ["paymens"], "mistyped, or it has not come up yet");
/// assert_eq!(budgets()[0].snapshot.limit, 300);
/// ```
pub fn configure(settings: &Settings) -> Configured {
    let mut registry = registry();
    let mut configured = Configured::default();
    for (key, settings) in settings.given() {
        let mut known = false;
        for entry in registry.entries.iter_mut().filter(|entry| key.means(&entry.name)) {
            known = true;
            entry.refused = entry.budget.configure(settings).err();
            configured.refused.extend(entry.refused.map(|error| (entry.name.clone(), error)));
        }
        if !known {
            configured.unknown.push(key.to_string());
        }
        registry.remembered.add(key.clone(), settings.clone());
    }
    configured
}
