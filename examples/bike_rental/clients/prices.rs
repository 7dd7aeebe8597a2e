//! What does a ride cost?

use super::{POLICY, PartnerClient, PartnerError};
use retry_budget::retry_budget;

impl PartnerClient {
    /// The price of a ride, in cents.
    #[retry_budget(budget = self.budget, policy = POLICY, attempt = attempt)]
    pub async fn price(&self, minutes: u32) -> Result<u32, PartnerError> {
        let response = self.get(&format!("/prices/{minutes}"), attempt).await?;
        Ok(response.json().await?)
    }
}
