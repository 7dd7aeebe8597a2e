//! What is told of every call, whoever makes it: events with the feature `tracing`, counts with `metrics`. Without them
//! nothing is left of this.
#![cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::unused_self))]

#[cfg(feature = "metrics")]
pub(crate) mod counts;
#[cfg(feature = "tracing")]
pub(crate) mod edges;
#[cfg(feature = "tracing")]
mod events;
#[cfg(any(feature = "metrics", feature = "tracing"))]
mod table;

use crate::retry::here::{Name, Told};
use crate::{Budget, Decision, RetryKind, StopReason, Time};

/// The attempt with this number succeeded, and so its call.
#[inline]
#[cfg_attr(not(feature = "metrics"), allow(unused_variables))]
pub(crate) fn succeeded(name: Name, budget: &impl Budget, attempt: u32) {
    #[cfg(feature = "metrics")]
    counts::succeeded(name.get(), budget.name(), attempt);
}

/// An attempt that failed.
#[cfg_attr(not(feature = "tracing"), allow(dead_code))] // not all of it is counted
pub(crate) struct Failure<'a> {
    pub(crate) told: Told<'a>,
    /// Its number.
    pub(crate) attempt: u32,
    /// Whether it is worth a retry.
    pub(crate) kind: Option<RetryKind>,
}

impl Failure<'_> {
    /// Before it is decided what comes of it.
    #[inline]
    pub(crate) fn before(budget: &dyn Budget, now: Time) -> Before {
        Before {
            #[cfg(feature = "tracing")]
            edge: edges::before(budget, now),
        }
    }

    /// Tells what was decided.
    #[inline]
    pub(crate) fn decided(&self, decision: &Decision, before: Before, budget: &dyn Budget, now: Time) {
        match *decision {
            Decision::Retry { delay } => {
                #[cfg(feature = "metrics")]
                counts::retry(self, budget.name());
                #[cfg(feature = "tracing")]
                {
                    events::retry(self, budget.name(), delay);
                    edges::granted(before.edge, budget.name(), now);
                }
            }
            Decision::Stop { reason, .. } => {
                self.stopped(budget, reason);
                #[cfg(feature = "tracing")]
                if reason == StopReason::BudgetEmpty {
                    edges::denied(self, budget, now);
                }
            }
        }
    }

    /// Tells of the end of its call.
    #[inline]
    pub(crate) fn stopped(&self, budget: &dyn Budget, reason: StopReason) {
        #[cfg(feature = "metrics")]
        counts::stopped(self, budget.name(), reason);
        #[cfg(feature = "tracing")]
        events::stopped(self, budget.name(), reason);
    }
}

/// What has to be known from before.
#[derive(Clone, Copy)]
pub(crate) struct Before {
    #[cfg(feature = "tracing")]
    edge: Option<&'static edges::Edge>,
}
