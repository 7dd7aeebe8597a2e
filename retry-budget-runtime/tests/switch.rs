//! The process-wide switch. It belongs to the whole process, so its tests have a binary of their own and take turns.

#[path = "support/recorder.rs"]
mod recorder;

use recorder::{Recorder, Told, assert_lawful};
use retry_budget_runtime::{
    CallEnd, Decision, Fate, Jitter, RetryKind, RetryPolicy, Run, StopReason, Time, Verdict, WhenEmpty, retries_are_on,
    set_retries,
};
use std::env;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const POLICY: RetryPolicy = RetryPolicy::builder().jitter(Jitter::None).build();
const SWITCHED_OFF: Decision = Decision::Stop { reason: StopReason::SwitchedOff, pause: None };

/// The switch, for one test at a time; on again afterwards.
struct Switched(#[allow(dead_code)] MutexGuard<'static, ()>);

fn switched(on: bool) -> Switched {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    set_retries(on);
    Switched(turn)
}

impl Drop for Switched {
    fn drop(&mut self) {
        set_retries(true);
    }
}

fn first_failure(budget: &Recorder, policy: &RetryPolicy, verdict: Verdict) -> Decision {
    let decision = Run::begin(budget, Time::ZERO).failed(policy, verdict, Time::ZERO, 0);
    assert_lawful(&budget.told());
    decision
}

#[test]
fn off_the_budget_is_not_asked_but_told() {
    let _switched = switched(false);
    assert!(!retries_are_on());
    let budget = Recorder::granting(u64::MAX);
    assert_eq!(first_failure(&budget, &POLICY, Verdict::THROTTLING), SWITCHED_OFF);
    assert_eq!(budget.told(), [Told::Begin, Told::Final(Some(RetryKind::Throttling)), Told::End(CallEnd::Failed)]);
}

#[test]
fn on_again_it_is_asked() {
    let _switched = switched(false);
    set_retries(true);
    assert!(retries_are_on());
    let budget = Recorder::granting(1);
    assert!(matches!(first_failure(&budget, &POLICY, Verdict::TRANSIENT), Decision::Retry { .. }));
}

#[test]
fn a_retry_that_is_granted_already_is_made() {
    let _switched = switched(true);
    let budget = Recorder::granting(5);
    let mut run = Run::begin(&budget, Time::ZERO);
    assert!(matches!(run.failed(&POLICY, Verdict::TRANSIENT, Time::ZERO, 0), Decision::Retry { .. }));
    set_retries(false);
    run.start_retry();
    assert_eq!(run.failed(&POLICY, Verdict::TRANSIENT, Time::ZERO, 0), SWITCHED_OFF, "and it is the last");
    let told = budget.told();
    assert_eq!(told[2..4], [Told::Settled(1, Fate::Failed), Told::Final(Some(RetryKind::Transient))]);
}

#[test]
fn first_attempts_go_on() {
    let _switched = switched(false);
    let budget = Recorder::granting(0);
    Run::begin(&budget, Time::ZERO).succeeded();
    assert_eq!(budget.told(), [Told::Begin, Told::End(CallEnd::FirstTry)]);
}

#[test]
fn its_place_among_the_reasons() {
    let _switched = switched(false);
    let reason = |policy: &RetryPolicy, verdict| match first_failure(&Recorder::granting(1), policy, verdict) {
        Decision::Stop { reason, .. } => reason,
        Decision::Retry { .. } => panic!("retried"),
    };
    let all = POLICY.to_builder().max_attempts(1).idempotent(false).build();
    let far = Duration::from_secs(21);
    assert_eq!(reason(&all, Verdict::NEVER.after(far)), StopReason::NotRetryable);
    assert_eq!(reason(&all, Verdict::TRANSIENT.after(far).given_up()), StopReason::GaveUpInside);
    assert_eq!(reason(&all, Verdict::TRANSIENT.after(far)), StopReason::SwitchedOff);
}

#[test]
fn a_loop_that_pauses_when_its_budget_is_empty_pauses_here_too() {
    let _switched = switched(false);
    let worker = POLICY.to_builder().when_empty(WhenEmpty::Pause).max_delay(Duration::from_secs(2)).build();
    let mut run = Run::begin(Recorder::granting(1), Time::ZERO);
    // the middle of 0 to max_delay
    match run.failed(&worker, Verdict::TRANSIENT, Time::ZERO, u64::MAX / 2) {
        Decision::Stop { reason: StopReason::SwitchedOff, pause: Some(pause) } => {
            assert!(pause.abs_diff(Duration::from_secs(1)) < Duration::from_millis(1), "{pause:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn in_words() {
    let _switched = switched(false);
    let mut run = Run::begin(Recorder::granting(1), Time::ZERO);
    run.failed(&POLICY, Verdict::TRANSIENT, Time::ZERO, 0);
    assert_eq!(run.stop(StopReason::SwitchedOff).to_string(), "retries are switched off (1 attempt)");
    assert_eq!(StopReason::SwitchedOff.as_str(), "switched_off");
}

/// Runs `child` in a process of its own with this environment; true if it passes.
fn passes(child: &str, value: Option<&str>) -> bool {
    let mut command = Command::new(env::current_exe().expect("this test"));
    command.args(["--exact", child, "--include-ignored"]).env_remove("RETRY_BUDGET_RETRIES");
    if let Some(value) = value {
        command.env("RETRY_BUDGET_RETRIES", value);
    }
    let output = command.output().expect("runs");
    assert!(String::from_utf8_lossy(&output.stdout).contains("running 1 test"), "no test {child}");
    output.status.success()
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn the_environment_switches_off() {
    for off in ["off", "OFF", "Off", "0", "false", "False", " off "] {
        assert!(passes("child_starts_switched_off", Some(off)), "{off:?}");
    }
    for on in [Some("on"), Some("1"), Some("true"), Some(""), Some("offside"), None] {
        assert!(passes("child_starts_switched_on", on), "{on:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn the_first_decision_reads_it() {
    assert!(passes("child_decides_first", Some("off")));
    assert!(!passes("child_decides_first", None), "the child can fail");
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn once_set_the_environment_does_not_matter() {
    assert!(passes("child_sets_first", Some("off")));
}

#[test]
#[ignore = "runs in a process of its own"]
fn child_starts_switched_off() {
    assert!(!retries_are_on());
    assert!(!retries_are_on(), "read once, and still off");
    set_retries(true);
    assert!(retries_are_on());
}

#[test]
#[ignore = "runs in a process of its own"]
fn child_starts_switched_on() {
    assert!(retries_are_on());
    assert!(retries_are_on());
}

#[test]
#[ignore = "runs in a process of its own"]
fn child_decides_first() {
    assert_eq!(first_failure(&Recorder::granting(1), &POLICY, Verdict::TRANSIENT), SWITCHED_OFF);
}

#[test]
#[ignore = "runs in a process of its own"]
fn child_sets_first() {
    set_retries(true);
    assert!(retries_are_on());
}
