//! How many bikes are there?

use super::{POLICY, PartnerClient, PartnerError};
use retry_budget::retry;

impl PartnerClient {
    /// The bikes that stand at a station.
    pub async fn bikes(&self, station: u32) -> Result<u32, PartnerError> {
        retry(self.budget, &POLICY, async |attempt| {
            let response = self.get(&format!("/stations/{station}/bikes"), attempt).await?;
            Ok(response.json().await?)
        })
        .await
    }
}
