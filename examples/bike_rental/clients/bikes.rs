//! How many bikes are there?

use super::{POLICY, PartnerClient, PartnerError};
use retry_budget::retry_budget;

impl PartnerClient {
    /// The bikes that stand at a station.
    #[retry_budget(budget = self.budget, policy = POLICY, attempt = attempt)]
    pub async fn bikes(&self, station: u32) -> Result<u32, PartnerError> {
        let response = self.get(&format!("/stations/{station}/bikes"), attempt).await?;
        Ok(response.json().await?)
    }
}
