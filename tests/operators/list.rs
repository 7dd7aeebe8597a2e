//! Who is on the list, and since when.

use crate::{Lost, limits, listed};
use retry_budget::{
    Budget, Grant, NEVER, RatioBudget, RetryKind, RetryPolicy, Snapshot, Time, TokenBudget, budgets, register, retry,
    retry_budget,
};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, LazyLock};

static BY_PATH: TokenBudget = TokenBudget::builder("by path").capacity(28).build();

#[retry_budget(budget = BY_PATH)]
async fn by_path(fails: bool) -> Result<(), Lost> {
    if fails { Err(Lost) } else { Ok(()) }
}

#[retry_budget(budget = crate::list::BY_PATH)]
async fn by_path_elsewhere() -> Result<(), Lost> {
    Err(Lost)
}

#[tokio::test(start_paused = true)]
async fn a_static_since_its_first_failure_and_once() {
    by_path(false).await.unwrap();
    // with the feature `metrics` a dashboard shows it while all is well, too
    assert_eq!(listed("by path").len(), usize::from(cfg!(feature = "metrics")), "nothing has failed");
    by_path(true).await.unwrap_err();
    by_path(true).await.unwrap_err();
    by_path_elsewhere().await.unwrap_err();
    register(&BY_PATH);
    let [budget] = &listed("by path")[..] else { panic!("{:?}", listed("by path")) };
    assert_eq!(budget.snapshot, BY_PATH.snapshot(Time::now()));
    assert_eq!((budget.snapshot.granted, budget.snapshot.denied), (2, 2));
    assert_eq!((budget.shares_its_name, budget.refused), (false, None));
}

static ELSEWHERE_FIRST: TokenBudget = TokenBudget::builder("elsewhere first").build();

#[retry_budget(budget = ELSEWHERE_FIRST, classify = |_| false)]
async fn not_worth_a_retry() -> Result<(), Lost> {
    Err(Lost)
}

#[tokio::test]
async fn also_when_the_failure_is_not_worth_a_retry() {
    not_worth_a_retry().await.unwrap_err();
    assert_eq!(limits("elsewhere first"), [500]);
}

#[retry_budget(capacity = 77, max_attempts = 1)]
async fn own() -> Result<(), Lost> {
    Err(Lost)
}

#[retry_budget(kind = "ratio", min_retries = 78, max_attempts = 1)]
async fn own_generic<T: Send>(_: T) -> Result<(), Lost> {
    Err(Lost)
}

#[tokio::test(start_paused = true)]
async fn a_functions_own() {
    own().await.unwrap_err();
    own().await.unwrap_err();
    own_generic(1_u8).await.unwrap_err();
    own_generic("").await.unwrap_err();
    let _ = retry!(kind = "grpc", max_tokens = 79, max_attempts = 1, async || -> Result<(), Lost> { Err(Lost) }).await;
    let of = |limit: u64| budgets().into_iter().filter(|it| it.snapshot.limit == limit).collect::<Vec<_>>();
    for (limit, kind, name) in
        [(77, "token", "list::own:"), (78, "ratio", "list::own_generic:"), (79_000, "grpc", "operators::list::")]
    {
        let [budget] = &of(limit)[..] else { panic!("{:?}", of(limit)) };
        assert_eq!(budget.snapshot.kind, kind);
        assert!(budget.snapshot.name.contains(name), "{}", budget.snapshot.name);
        assert!(!budget.shares_its_name);
    }
}

static TWIN: TokenBudget = TokenBudget::builder("twin").capacity(1_001).build();
static OTHER_TWIN: RatioBudget = RatioBudget::builder("twin").min_retries(1_002).build();

#[test]
fn two_of_one_name() {
    register(&TWIN);
    register(&OTHER_TWIN);
    assert_eq!(limits("twin"), [1_001, 1_002], "in the order in which they came");
    assert!(listed("twin").iter().all(|budget| budget.shares_its_name));
}

static AT_START: LazyLock<Arc<TokenBudget>> =
    LazyLock::new(|| Arc::new(TokenBudget::builder("at start").capacity(300).build()));
const BY_REFERENCE: &TokenBudget = &BEHIND_A_CONST;
static BEHIND_A_CONST: TokenBudget = TokenBudget::builder("behind a const").build();

#[retry_budget(budget = AT_START, max_attempts = 1)]
async fn by_lazy_lock() -> Result<(), Lost> {
    Err(Lost)
}

#[retry_budget(budget = BY_REFERENCE, max_attempts = 1)]
async fn by_reference() -> Result<(), Lost> {
    Err(Lost)
}

#[tokio::test]
async fn what_is_behind_pointers_is_one() {
    by_lazy_lock().await.unwrap_err();
    register(&AT_START);
    register(&*AT_START);
    assert_eq!(limits("at start"), [300]);
    by_reference().await.unwrap_err();
    register(&BEHIND_A_CONST);
    assert_eq!(limits("behind a const"), [500]);
}

/// Without a size, so that two statics may lie at one place.
struct Here;
struct There;

macro_rules! without_size {
    ($($ty:ty: $name:literal),+) => {$(
        impl Budget for $ty {
            fn name(&self) -> &'static str {
                $name
            }
            fn try_retry(&self, _kind: RetryKind, _now: Time) -> Option<Grant> {
                None
            }
            fn snapshot(&self, _now: Time) -> Snapshot {
                // whoever asks for the list must not hold it meanwhile
                register(&HERE);
                Snapshot::new($name, "nowhere")
            }
        }
    )+};
}
without_size!(Here: "here", There: "there");

static HERE: Here = Here;
static THERE: There = There;

#[test]
fn budgets_without_a_size_are_told_apart() {
    register(&HERE);
    register(&THERE);
    register(&NEVER);
    assert_eq!((listed("here").len(), listed("there").len(), listed("NEVER").len()), (1, 1, 1));
}

static BY_FUNCTION: TokenBudget = TokenBudget::builder("by function").build();

#[tokio::test]
async fn the_function_form_is_not_known_by_itself() {
    let policy = RetryPolicy::builder().max_attempts(1).build();
    retry(&BY_FUNCTION, &policy, async |_| Err::<(), _>(Lost)).await.unwrap_err();
    assert_eq!(listed("by function"), []);
    register(&BY_FUNCTION);
    assert_eq!(limits("by function"), [500]);
}

#[test]
fn many_threads_make_one_entry() {
    static ONE: TokenBudget = TokenBudget::builder("one").build();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| register(&ONE));
        }
    });
    assert_eq!(listed("one").len(), 1);
}

/// Counts how often the registry looks at it.
struct Counted(AtomicU32);

impl Budget for Counted {
    fn name(&self) -> &'static str {
        "counted"
    }
    fn try_retry(&self, _kind: RetryKind, _now: Time) -> Option<Grant> {
        None
    }
    fn snapshot(&self, _now: Time) -> Snapshot {
        Snapshot::new("counted", "own")
    }
    fn place(&self) -> usize {
        self.0.fetch_add(1, SeqCst);
        std::ptr::from_ref(self).addr()
    }
}

static COUNTED: Counted = Counted(AtomicU32::new(0));

#[retry_budget(budget = COUNTED)]
async fn counted() -> Result<(), Lost> {
    Err(Lost)
}

#[retry_budget(budget = COUNTED)]
async fn counted_elsewhere() -> Result<(), Lost> {
    Err(Lost)
}

#[tokio::test]
async fn the_registry_is_asked_once_a_place() {
    for _ in 0..5 {
        counted().await.unwrap_err();
        counted_elsewhere().await.unwrap_err();
    }
    assert_eq!((COUNTED.0.load(SeqCst), listed("counted").len()), (2, 1));
}
