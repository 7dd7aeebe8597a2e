//! A budget that writes down what it is told, and the law about what that may be.

use retry_budget_runtime::{Budget, CallEnd, Fate, Grant, RetryKind, Snapshot, Time};
use std::sync::Mutex;

/// What a budget is told. Grants are numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Begin,
    Granted(u64),
    Denied,
    Final(Option<RetryKind>),
    Settled(u64, Fate),
    End(CallEnd),
}

/// Grants a number of retries, then none.
#[derive(Debug)]
pub(crate) struct Recorder {
    grants: u64,
    told: Mutex<Vec<Told>>,
}

impl Recorder {
    pub(crate) const fn granting(grants: u64) -> Self {
        Self { grants, told: Mutex::new(Vec::new()) }
    }

    pub(crate) fn told(&self) -> Vec<Told> {
        self.told.lock().expect("no test panics here").clone()
    }

    fn write(&self, told: Told) {
        self.told.lock().expect("no test panics here").push(told);
    }

    fn granted_so_far(&self) -> u64 {
        self.told().iter().filter(|told| matches!(told, Told::Granted(_))).count() as u64
    }
}

impl Budget for Recorder {
    fn name(&self) -> &'static str {
        "recorder"
    }

    fn begin(&self, _now: Time) {
        self.write(Told::Begin);
    }

    fn try_retry(&self, _kind: RetryKind, _now: Time) -> Option<Grant> {
        let number = self.granted_so_far() + 1;
        let granted = number <= self.grants;
        self.write(if granted { Told::Granted(number) } else { Told::Denied });
        granted.then(|| Grant::new(7).in_slot(number))
    }

    fn final_failure(&self, kind: Option<RetryKind>) {
        self.write(Told::Final(kind));
    }

    fn settle(&self, grant: Grant, fate: Fate) {
        assert_eq!(grant.cost(), 7, "the grant that comes back is the one that went out");
        self.write(Told::Settled(grant.slot(), fate));
    }

    fn end(&self, end: CallEnd) {
        self.write(Told::End(end));
    }

    fn snapshot(&self, _now: Time) -> Snapshot {
        Snapshot::new("recorder", "recorder")
    }
}

/// The life of one call: begun once, ended once, and every grant settled once, before the next ask.
pub(crate) fn assert_lawful(told: &[Told]) {
    assert_eq!(told.first(), Some(&Told::Begin), "{told:?}");
    assert!(matches!(told.last(), Some(Told::End(_))), "{told:?}");
    let inner = &told[1..told.len() - 1];
    let mut out = None;
    let mut decided = false;
    for &step in inner {
        assert!(!decided, "nothing but the end after a final answer: {told:?}");
        match step {
            Told::Begin | Told::End(_) => panic!("once: {told:?}"),
            Told::Settled(number, _) => assert_eq!(out.take(), Some(number), "{told:?}"),
            Told::Granted(number) => assert_eq!(out.replace(number), None, "{told:?}"),
            Told::Denied | Told::Final(_) => {
                assert_eq!(out, None, "{told:?}");
                decided = true;
            }
        }
    }
    assert_eq!(out, None, "every grant is settled: {told:?}");
    let retries = inner.iter().filter(|step| matches!(step, Told::Granted(_))).count();
    let last_fate = inner.iter().rev().find_map(|step| match step {
        Told::Settled(_, fate) => Some(*fate),
        _ => None,
    });
    match told.last() {
        Some(Told::End(CallEnd::FirstTry)) => assert_eq!((retries, decided), (0, false), "{told:?}"),
        Some(Told::End(CallEnd::AfterRetry)) => assert_eq!((last_fate, decided), (Some(Fate::Succeeded), false)),
        Some(Told::End(CallEnd::Failed)) => assert!(decided, "{told:?}"),
        Some(Told::End(CallEnd::Dropped)) => {
            assert!(!decided && !matches!(last_fate, Some(Fate::Succeeded | Fate::Failed)), "{told:?}");
        }
        _ => unreachable!("checked above"),
    }
}
