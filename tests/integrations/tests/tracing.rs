//! Feature `tracing`: what a subscriber sees.
#![allow(missing_docs)]

use retry_budget::{NEVER, Retry, RetryPolicy, Retryable, TokenBudget, Verdict, retry, retry_blocking, retry_budget};
use std::fmt::{self, Write};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Subscriber, instrument};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

/// Keeps the events of this crate's target as text: level, spans, message, fields.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<String>>>);

impl Recorder {
    /// A recorder that is this thread's subscriber until the guard goes.
    fn start() -> (Self, DefaultGuard) {
        let recorder = Self::default();
        let guard = tracing::subscriber::set_default(Registry::default().with(recorder.clone()));
        (recorder, guard)
    }

    /// What was seen since the last time.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recorder {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if event.metadata().target() != "retry_budget" {
            return;
        }
        let mut text = event.metadata().level().to_string();
        for span in context.event_scope(event).into_iter().flatten() {
            write!(text, " in {}", span.name()).unwrap();
        }
        event.record(&mut Line(&mut text));
        self.0.lock().unwrap().push(text);
    }
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        write!(self.0, " {}={value}", field.name()).unwrap();
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => write!(self.0, ": {value:?}:").unwrap(),
            name => write!(self.0, " {name}={value:?}").unwrap(),
        }
    }
}

#[derive(Debug, thiserror::Error, Retryable)]
enum Lost {
    #[error("connection {0} lost")]
    #[retry(transient)]
    Connection(u32),
    #[error("too much to do")]
    #[retry(throttling)]
    Busy,
    #[error("no such station")]
    #[retry(never)]
    NoSuchStation,
    #[error("out of time: {0}")]
    #[retry(transient)]
    Elapsed(#[from] retry_budget::Elapsed),
}

static PLENTY: TokenBudget = TokenBudget::builder("plenty").capacity(1 << 30).build();

const RETRIED: &str = "an attempt failed and is retried";
const NOT_RETRIED: &str = "an attempt failed and is not retried";

#[instrument]
async fn handler() -> Result<(), Lost> {
    bikes(7).await
}

#[retry_budget(budget = PLENTY, jitter = "none", attempt = attempt)]
async fn bikes(station: u32) -> Result<(), Lost> {
    tokio::task::yield_now().await;
    Err(if attempt.is_retry() { Lost::Busy } else { Lost::Connection(station) })
}

#[tokio::test(start_paused = true)]
async fn a_retry_and_a_stop_are_told_in_the_callers_span() {
    let (recorder, _guard) = Recorder::start();
    handler().await.unwrap_err();
    assert_eq!(
        recorder.take(),
        [
            format!(
                "DEBUG in handler: {RETRIED}: budget=plenty call=tracing::bikes kind=transient attempt=1 delay=50ms \
                 error=connection 7 lost"
            ),
            format!(
                "DEBUG in handler: {RETRIED}: budget=plenty call=tracing::bikes kind=throttling attempt=2 delay=2s \
                 error=too much to do"
            ),
            format!(
                "DEBUG in handler: {NOT_RETRIED}: budget=plenty call=tracing::bikes kind=throttling attempt=3 \
                 reason=attempts_used_up error=too much to do"
            ),
        ]
    );
}

#[retry_budget(budget = PLENTY)]
async fn is_well(well: bool) -> Result<(), Lost> {
    if well { Ok(()) } else { Err(Lost::NoSuchStation) }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_retry_and_no_stop_is_not_told() {
    let (recorder, _guard) = Recorder::start();
    is_well(true).await.unwrap();
    is_well(false).await.unwrap_err();
    assert!(recorder.take().is_empty());
}

/// Retryable, and can't be displayed.
#[derive(Debug)]
struct Silent;

impl Retryable for Silent {
    fn verdict(&self) -> Verdict {
        Verdict::TRANSIENT
    }
}

mod partner {
    use super::{PLENTY, Silent, retry_budget};
    use std::num::ParseIntError;

    pub(super) struct Partner;

    impl Partner {
        #[retry_budget(budget = PLENTY, max_attempts = 1)]
        pub(super) async fn silent(&self) -> Result<(), Silent> {
            Err(Silent)
        }
    }

    #[retry_budget(budget = PLENTY, max_attempts = 1, classify = |_| true)]
    pub(super) async fn somebody_elses() -> Result<u8, ParseIntError> {
        "seven".parse()
    }

    #[retry_budget(budget = PLENTY, max_attempts = 1, classify_ok = |status| *status == 503)]
    pub(super) async fn status() -> Result<u16, Silent> {
        Ok(503)
    }

    pub(super) async fn block() -> Result<u8, ParseIntError> {
        retry_budget::retry!(
            budget = PLENTY,
            max_attempts = 1,
            classify = |_| true,
            async || -> Result<u8, ParseIntError> { "seven".parse() }
        )
        .await
    }
}

#[tokio::test(start_paused = true)]
async fn the_error_is_told_where_it_can_be_displayed() {
    let (recorder, _guard) = Recorder::start();
    let stop = |call, rest| {
        format!(
            "DEBUG: {NOT_RETRIED}: budget=plenty call={call} kind=transient attempt=1 reason=attempts_used_up{rest}"
        )
    };
    partner::Partner.silent().await.unwrap_err();
    partner::somebody_elses().await.unwrap_err();
    assert_eq!(partner::status().await.unwrap(), 503);
    partner::block().await.unwrap_err();
    assert_eq!(
        recorder.take(),
        [
            stop("tracing::partner::silent", ""),
            stop("tracing::partner::somebody_elses", " error=invalid digit found in string"),
            stop("tracing::partner::status", ""),
            stop("tracing::partner::retry!", " error=invalid digit found in string"),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn functions_and_blocking_calls_tell_the_same() {
    let (recorder, _guard) = Recorder::start();
    let policy = RetryPolicy::builder().max_attempts(1).build();
    let lost = || io::Error::from(io::ErrorKind::ConnectionReset);
    let stop = |call, rest| {
        format!("DEBUG: {NOT_RETRIED}: budget=plenty{call} kind=transient attempt=1 reason=attempts_used_up{rest}")
    };

    retry(&PLENTY, &policy, async |_| Err::<(), _>(lost())).await.unwrap_err();
    retry(&PLENTY, &policy, async |_| Err::<(), _>(Lost::Connection(3))).await.unwrap_err();
    retry(&PLENTY, &policy, async |_| Err::<(), _>(Silent)).await.unwrap_err();
    retry_blocking(&PLENTY, &policy, |_| Err::<(), _>(lost())).unwrap_err();
    let named = Retry::new(&PLENTY, &policy).named("partner::greet");
    named.run(async |_| Err::<(), _>(Box::new(Lost::Connection(3)))).await.unwrap_err();
    named.classify(|_: &fmt::Error| true).run(async |_| Err::<(), _>(fmt::Error)).await.unwrap_err();
    assert_eq!(
        recorder.take(),
        [
            stop("", " error=connection reset"),
            stop("", " error=connection 3 lost"),
            stop("", ""),
            stop("", " error=connection reset"),
            stop(" call=partner::greet", " error=connection 3 lost"),
            stop(" call=partner::greet", ""),
        ]
    );
}

#[retry_budget(budget = PLENTY, max_attempts = 2, jitter = "none", attempt_timeout = "1s", deadline = "1500ms")]
async fn never_answers() -> Result<(), Lost> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn attempts_that_are_cut_off_are_told() {
    let (recorder, _guard) = Recorder::start();
    never_answers().await.unwrap_err();
    assert_eq!(
        recorder.take(),
        [
            format!(
                "DEBUG: {RETRIED}: budget=plenty call=tracing::never_answers kind=transient attempt=1 delay=50ms \
                 error=out of time: attempt 1 timed out after 1s"
            ),
            format!(
                "DEBUG: {NOT_RETRIED}: budget=plenty call=tracing::never_answers attempt=2 reason=deadline error=out of \
                 time: the deadline passed in attempt 2, after 450ms (the attempt before it failed: out of time: attempt \
                 1 timed out after 1s)"
            ),
        ]
    );
}

/// The edges among what was seen.
fn edges(recorder: &Recorder) -> Vec<String> {
    recorder.take().into_iter().filter(|event| !event.starts_with("DEBUG")).collect()
}

async fn call(budget: &TokenBudget, policy: &RetryPolicy, fails: bool) {
    let result = retry(budget, policy, async |_| if fails { Err(Lost::Busy) } else { Ok(()) }).await;
    assert_eq!(result.is_err(), fails);
}

/// A retry without a wait.
const AT_ONCE: RetryPolicy =
    RetryPolicy::builder().max_attempts(2).base_delay(Duration::ZERO).throttling_base_delay(Duration::ZERO).build();

#[tokio::test(start_paused = true)]
async fn an_outage_is_one_warning_and_one_recovery() {
    static PARTNER: TokenBudget = TokenBudget::builder("outage").capacity(20).build();
    let (recorder, _guard) = Recorder::start();
    let second = Duration::from_secs(1);
    // 20 tokens pay for four retries at 5; the fifth call is denied, and so is one in each of the next 60 seconds
    for _ in 0..5 {
        call(&PARTNER, &AT_ONCE, true).await;
    }
    for _ in 0..60 {
        tokio::time::advance(second).await;
        call(&PARTNER, &AT_ONCE, true).await;
    }
    assert_eq!(
        edges(&recorder),
        ["WARN: a retry budget ran empty: failures come back without a retry: budget=outage error=too much to do"]
    );

    // nine successes give nine tokens back: a retry is granted again, and a bucket that isn't half full hasn't recovered
    tokio::time::advance(11 * second).await;
    for _ in 0..9 {
        call(&PARTNER, &AT_ONCE, false).await;
    }
    call(&PARTNER, &AT_ONCE, true).await;
    assert!(edges(&recorder).is_empty());

    // four are left; six more, and it is
    for _ in 0..6 {
        call(&PARTNER, &AT_ONCE, false).await;
    }
    call(&PARTNER, &AT_ONCE, true).await;
    assert_eq!(edges(&recorder), ["INFO: a retry budget has recovered: budget=outage empty_for=60s denied=61"]);

    // the next outage is told again: 5 tokens are one retry
    call(&PARTNER, &AT_ONCE, true).await;
    assert!(edges(&recorder).is_empty());
    call(&PARTNER, &AT_ONCE, true).await;
    assert_eq!(edges(&recorder).len(), 1);
    tokio::time::advance(10 * second).await;
    for _ in 0..10 {
        call(&PARTNER, &AT_ONCE, false).await;
    }
    call(&PARTNER, &AT_ONCE, true).await;
    assert_eq!(edges(&recorder), ["INFO: a retry budget has recovered: budget=outage empty_for=0ns denied=1"]);
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_swings_is_told_of_once_in_ten_seconds() {
    static PARTNER: TokenBudget = TokenBudget::builder("swings").capacity(10).build();
    let (recorder, _guard) = Recorder::start();
    // ten times a second: full, two retries, a denial, full again
    for _ in 0..300 {
        for _ in 0..3 {
            call(&PARTNER, &AT_ONCE, true).await;
        }
        for _ in 0..10 {
            call(&PARTNER, &AT_ONCE, false).await;
        }
        tokio::time::advance(Duration::from_millis(100)).await;
    }
    assert_eq!(edges(&recorder).len(), 1, "30 seconds of it");
    // 10 s after the last denial; the first was 29.9 s before it
    tokio::time::advance(Duration::from_millis(9_899)).await;
    call(&PARTNER, &AT_ONCE, true).await;
    assert!(edges(&recorder).is_empty());
    tokio::time::advance(Duration::from_millis(1)).await;
    call(&PARTNER, &AT_ONCE, true).await;
    assert_eq!(edges(&recorder), ["INFO: a retry budget has recovered: budget=swings empty_for=29.9s denied=300"]);
}

#[tokio::test(start_paused = true)]
async fn a_scrape_sees_a_recovery_that_no_failure_shows() {
    static PARTNER: TokenBudget = TokenBudget::builder("scraped").capacity(10).build();
    retry_budget::register(&PARTNER);
    let (recorder, _guard) = Recorder::start();
    for _ in 0..3 {
        call(&PARTNER, &AT_ONCE, true).await;
    }
    for _ in 0..5 {
        call(&PARTNER, &AT_ONCE, false).await;
    }
    assert_eq!(edges(&recorder).len(), 1);
    tokio::time::advance(Duration::from_secs(9)).await;
    retry_budget::metrics::publish();
    assert!(edges(&recorder).is_empty());
    tokio::time::advance(Duration::from_secs(1)).await;
    retry_budget::metrics::publish();
    retry_budget::metrics::publish();
    assert_eq!(edges(&recorder), ["INFO: a retry budget has recovered: budget=scraped empty_for=0ns denied=1"]);
}

#[tokio::test(start_paused = true)]
async fn budgets_of_one_name_are_one() {
    let (recorder, _guard) = Recorder::start();
    for _ in 0..100 {
        let host = TokenBudget::builder("hosts").initial(0).build();
        call(&host, &AT_ONCE, true).await;
    }
    assert_eq!(edges(&recorder).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_never_grants_has_not_run_empty() {
    let (recorder, _guard) = Recorder::start();
    retry(&NEVER, &AT_ONCE, async |_| Err::<(), _>(Lost::Busy)).await.unwrap_err();
    assert_eq!(
        recorder.take(),
        [format!(
            "DEBUG: {NOT_RETRIED}: budget=NEVER kind=throttling attempt=1 reason=budget_empty error=too much to do"
        )]
    );
}
