//! What does a ride cost?

use super::{POLICY, PartnerClient, PartnerError};
use retry_budget::retry;

impl PartnerClient {
    /// The price of a ride, in cents.
    pub async fn price(&self, minutes: u32) -> Result<u32, PartnerError> {
        retry(self.budget, &POLICY, async |attempt| {
            let response = self.get(&format!("/prices/{minutes}"), attempt).await?;
            Ok(response.json().await?)
        })
        .await
    }
}
