//! Limits by name.

use crate::{Lost, limits, listed};
use retry_budget::{
    Budget, BudgetSettings, ConcurrencyBudget, Configured, CreditBudget, Grant, GrpcBudget, NEVER, RatioBudget,
    RetryKind, Settings, SettingsError, Snapshot, Time, TokenBudget, configure, register, retry_budget,
};
use std::env;
use std::process::Command;
use std::sync::Arc;

fn of(settings: BudgetSettings, name: &str) -> Configured {
    configure(&Settings::new().budget(name, settings))
}

fn new() -> BudgetSettings {
    BudgetSettings::default()
}

static KNOWN: TokenBudget = TokenBudget::builder("known").build();

#[test]
fn a_known_budget_takes_it_at_once() {
    register(&KNOWN);
    assert_eq!(of(new().capacity(300).transient_cost(20), "known"), Configured::default());
    assert_eq!(limits("known"), [300]);
    assert_eq!(KNOWN.try_retry(RetryKind::Transient, Time::ZERO).map(|grant| grant.cost()), Some(20));
    // what isn't said stays
    assert_eq!(of(new().throttling_cost(3), "known"), Configured::default());
    assert_eq!(limits("known"), [300]);
    assert_eq!(KNOWN.try_retry(RetryKind::Throttling, Time::ZERO).map(|grant| grant.cost()), Some(3));
}

static REFUSES: TokenBudget = TokenBudget::builder("refuses").build();

#[test]
fn what_is_refused_comes_back_and_is_listed() {
    register(&REFUSES);
    let refused = of(new().capacity(400).success_refund(401), "refuses").refused;
    let [(name, error)] = &refused[..] else { panic!("{refused:?}") };
    assert_eq!((name.as_str(), error.problem()), ("refuses", "success_refund is above capacity"));
    assert_eq!(limits("refuses"), [500], "all or nothing");
    assert_eq!(listed("refuses")[0].refused, Some(*error));
    // until it takes something
    assert_eq!(of(new().capacity(400), "refuses").refused, []);
    assert_eq!((limits("refuses"), listed("refuses")[0].refused), (vec![400], None));
}

static LATER: TokenBudget = TokenBudget::builder("later").build();

#[retry_budget(budget = LATER)]
async fn later() -> Result<(), Lost> {
    Err(Lost)
}

#[tokio::test(start_paused = true)]
async fn what_is_not_known_yet_is_remembered() {
    assert_eq!(of(new().capacity(28), "later").unknown, ["later"]);
    // said later, for another setting: both hold
    assert_eq!(of(new().transient_cost(28), "later").unknown, ["later"]);
    assert_eq!(LATER.snapshot(Time::ZERO).limit, 500);
    // the very decision that makes it known is by the new limits: one retry of 28, and not two
    later().await.unwrap_err();
    let snapshot = LATER.snapshot(Time::ZERO);
    assert_eq!((snapshot.limit, snapshot.available, snapshot.granted, snapshot.denied), (28, 0, 1, 1));
    assert_eq!(listed("later")[0].refused, None);
}

static REFUSES_LATER: RatioBudget = RatioBudget::builder("refuses later").build();

#[test]
fn what_is_refused_later_is_listed() {
    let settings = Settings::new().budget("refuses later", new().capacity(3)).budget("nobody", new());
    let configured = configure(&settings);
    assert_eq!((configured.unknown, configured.refused), (vec!["refuses later".into(), "nobody".into()], vec![]));
    register(&REFUSES_LATER);
    assert_eq!(
        listed("refuses later")[0].refused.expect("refused").problem(),
        "capacity is a setting of token budgets, and this budget is none"
    );
}

static TWIN: TokenBudget = TokenBudget::builder("configured twin").build();
static LATER_TWIN: TokenBudget = TokenBudget::builder("configured twin").build();

#[test]
fn budgets_of_one_name_take_the_same() {
    register(&TWIN);
    assert_eq!(of(new().capacity(100), "configured twin"), Configured::default());
    register(&LATER_TWIN);
    assert_eq!(limits("configured twin"), [100, 100]);
    // what somebody does to one of them directly is not undone by the other's coming
    assert_eq!(of(new().capacity(50), "configured twin"), Configured::default());
    assert_eq!(limits("configured twin"), [50, 50]);
}

static LAST: TokenBudget = TokenBudget::builder("last").build();

#[test]
fn of_what_is_said_twice_the_later_holds() {
    assert_eq!(of(new().capacity(100).transient_cost(99), "last").unknown, ["last"]);
    assert_eq!(of(new().capacity(200), "last").unknown, ["last"]);
    register(&LAST);
    assert_eq!(limits("last"), [200]);
    assert_eq!(LAST.try_retry(RetryKind::Transient, Time::ZERO).map(|grant| grant.cost()), Some(99));
}

#[test]
fn every_kind_takes_its_own_settings_and_no_others() {
    let all = || {
        [
            ("capacity", new().capacity(20)),
            ("transient_cost", new().transient_cost(15)),
            ("throttling_cost", new().throttling_cost(6)),
            ("success_refund", new().success_refund(2)),
            ("ratio", new().ratio(0.25)),
            ("min_retries", new().min_retries(4)),
            ("burst", new().burst(3)),
            ("min_retry_concurrency", new().min_retry_concurrency(5)),
            ("max_tokens", new().max_tokens(12)),
            ("token_ratio", new().token_ratio(0.5)),
        ]
    };
    let token: Box<dyn Budget> = Box::new(TokenBudget::builder("it").build());
    let ratio: Arc<dyn Budget> = Arc::new(RatioBudget::builder("it").build());
    let budgets: [(&dyn Budget, &[&str]); 6] = [
        (&token, &["capacity", "transient_cost", "throttling_cost", "success_refund"]),
        (&ratio, &["ratio", "min_retries"]),
        (&CreditBudget::builder("it").build(), &["ratio", "burst"]),
        (&ConcurrencyBudget::builder("it").build(), &["ratio", "min_retry_concurrency"]),
        (&GrpcBudget::builder("it").build(), &["max_tokens", "token_ratio"]),
        (&NEVER, &[]),
    ];
    for (budget, own) in budgets {
        let kind = budget.snapshot(Time::ZERO).kind;
        for (name, settings) in all() {
            let outcome = budget.configure(&settings);
            assert_eq!(outcome.is_ok(), own.contains(&name), "{name} of {kind}: {outcome:?}");
            if let Err(error) = outcome {
                let expected = if kind == "never" { "can't be changed while it runs" } else { name };
                assert!(error.problem().contains(expected), "{error}");
            }
        }
        // and each of them has changed something that shows in the settings
        let limit = budget.snapshot(Time::ZERO).limit;
        let expected =
            [("token", 20), ("ratio", 4), ("credit", 3_000_000), ("concurrency", 5), ("grpc", 12_000), ("never", 0)];
        assert!(expected.contains(&(kind, limit)), "{kind}: {limit}");
    }
}

#[test]
fn shares_and_refunds_that_are_configured_hold() {
    let ask = |budget: &dyn Budget| budget.try_retry(RetryKind::Transient, Time::ZERO).is_some();
    let begin = |budget: &dyn Budget, calls| (0..calls).for_each(|_: u32| budget.begin(Time::ZERO));
    let ratio = RatioBudget::builder("it").min_retries(0).build();
    ratio.configure(&new().ratio(0.5)).expect("in range");
    begin(&ratio, 8);
    assert_eq!(ratio.snapshot(Time::ZERO).limit, 4);
    let concurrency = ConcurrencyBudget::builder("it").min_retry_concurrency(0).build();
    concurrency.configure(&new().ratio(0.75)).expect("in range");
    begin(&concurrency, 8);
    assert_eq!(concurrency.snapshot(Time::ZERO).limit, 6);
    let credit = CreditBudget::builder("it").initial(0.0).build();
    credit.configure(&new().ratio(0.75)).expect("in range");
    begin(&credit, 1);
    assert_eq!(credit.snapshot(Time::ZERO).available, 750_000);
    let grpc = GrpcBudget::builder("it").build();
    grpc.configure(&new().token_ratio(0.25)).expect("in range");
    assert!(ask(&grpc));
    grpc.end(retry_budget::CallEnd::FirstTry);
    assert_eq!(grpc.snapshot(Time::ZERO).available, 9_250);
    let token = TokenBudget::builder("it").initial(0).build();
    token.configure(&new().success_refund(7)).expect("in range");
    token.end(retry_budget::CallEnd::FirstTry);
    assert_eq!(token.snapshot(Time::ZERO).available, 7);
}

/// A budget of a user's own that takes settings.
struct Adjustable(std::sync::atomic::AtomicU64);

impl Budget for Adjustable {
    fn name(&self) -> &'static str {
        "adjustable"
    }
    fn try_retry(&self, _kind: RetryKind, _now: Time) -> Option<Grant> {
        None
    }
    fn snapshot(&self, _now: Time) -> Snapshot {
        Snapshot::new("adjustable", "own").level(0, self.0.load(std::sync::atomic::Ordering::SeqCst))
    }
    fn configure(&self, settings: &BudgetSettings) -> Result<(), SettingsError> {
        self.0.store(settings.burst.unwrap_or(0).into(), std::sync::atomic::Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn a_users_own_budget_takes_what_it_likes() {
    static OWN: Adjustable = Adjustable(std::sync::atomic::AtomicU64::new(0));
    register(&OWN);
    assert_eq!(of(new().burst(9), "adjustable"), Configured::default());
    assert_eq!(limits("adjustable"), [9]);
}

static BIKES: TokenBudget = TokenBudget::builder("bike partner").build();
static LATER_BIKES: TokenBudget = TokenBudget::builder("bike partner").build();

#[test]
fn from_the_environment() {
    let output = Command::new(env::current_exe().expect("this test"))
        .args(["--exact", "configuring::child_reads_its_environment", "--include-ignored"])
        .env("RETRY_BUDGET_BIKE_PARTNER_CAPACITY", "300")
        .env("RETRY_BUDGET_BIKE_PARTNER_TRANSIENT_COST", "30")
        .env("RETRY_BUDGET_NOBODY_RATIO", "0.1")
        .output()
        .expect("runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "runs in a process of its own"]
fn child_reads_its_environment() {
    register(&BIKES);
    let settings = Settings::from_env().expect("understood");
    assert_eq!(configure(&settings).unknown, ["NOBODY"]);
    assert_eq!(limits("bike partner"), [300]);
    assert_eq!(BIKES.try_retry(RetryKind::Transient, Time::ZERO).map(|grant| grant.cost()), Some(30));
    // what is said by name afterwards holds, whichever of them a later twin sees
    assert_eq!(of(new().capacity(200), "bike partner"), Configured::default());
    register(&LATER_BIKES);
    assert_eq!(limits("bike partner"), [200, 200]);
    assert_eq!(LATER_BIKES.try_retry(RetryKind::Transient, Time::ZERO).map(|grant| grant.cost()), Some(30));
}
