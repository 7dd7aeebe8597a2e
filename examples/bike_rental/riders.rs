//! The load: many people at once, each with questions from the script.

use crate::clients::{PartnerClient, PartnerError};
use crate::script::{Errand, Question, RIDERS, Script};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinError;
use tokio::time::{Instant, sleep_until};

/// A call as its rider saw it.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// When it began, from the start of the script.
    pub begun: Duration,
    /// Whether there was an answer in the end.
    pub succeeded: bool,
}

/// All riders ask all their questions.
pub async fn ride(client: Arc<PartnerClient>, script: Script, start: Instant) -> Result<Vec<Call>, JoinError> {
    let rides: Vec<_> = (0..RIDERS).map(|rider| tokio::spawn(one(client.clone(), script, rider, start))).collect();
    let mut calls = Vec::new();
    for ride in rides {
        calls.extend(ride.await?);
    }
    Ok(calls)
}

async fn one(client: Arc<PartnerClient>, script: Script, rider: u32, start: Instant) -> Vec<Call> {
    let mut calls = Vec::new();
    for Errand { at, question } in script.errands(rider) {
        sleep_until(start + at).await;
        let begun = start.elapsed();
        let succeeded = ask(&client, question).await.is_ok();
        calls.push(Call { begun, succeeded });
    }
    calls
}

async fn ask(client: &PartnerClient, question: Question) -> Result<(), PartnerError> {
    match question {
        Question::Stations(district) => client.stations(district).await.map(drop),
        Question::Bikes(station) => client.bikes(station).await.map(drop),
        Question::Price(minutes) => client.price(minutes).await.map(drop),
    }
}
