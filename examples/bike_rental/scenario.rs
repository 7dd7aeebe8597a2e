//! One run of the script: a partner of its own, and riders under one budget.

use crate::clients::PartnerClient;
use crate::partner::{Arrival, Life, Partner};
use crate::riders::{self, Call};
use crate::script::Script;
use retry_budget::{Budget, Snapshot, Time};
use std::error::Error;
use std::sync::Arc;
use tokio::time::Instant;

/// A run that is about to begin.
pub struct Scenario {
    script: Script,
    start: Instant,
    partner: Partner,
    client: Arc<PartnerClient>,
}

/// What each side saw of a run.
pub struct Seen {
    /// The riders.
    pub calls: Vec<Call>,
    /// The partner.
    pub arrivals: Vec<Arrival>,
    /// The budget.
    pub budget: Snapshot,
}

impl Scenario {
    pub async fn open(budget: &'static dyn Budget, script: Script, start: Instant) -> Result<Self, Box<dyn Error>> {
        let partner = Partner::open(script, start).await?;
        let client = Arc::new(PartnerClient::new(partner.url(), budget)?);
        Ok(Self { script, start, partner, client })
    }

    /// For those who want to see how it goes.
    pub fn watch(&self) -> Arc<Life> {
        self.partner.life()
    }

    /// Runs the script to its end, until every call has one.
    pub async fn run(self) -> Result<Seen, Box<dyn Error>> {
        let calls = riders::ride(self.client.clone(), self.script, self.start).await?;
        let budget = self.client.budget().snapshot(Time::now());
        Ok(Seen { calls, arrivals: self.partner.life().arrivals(), budget })
    }
}
