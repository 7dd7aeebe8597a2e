//! Where are stations?

use super::{POLICY, PartnerClient, PartnerError};
use retry_budget::retry;

impl PartnerClient {
    /// The stations of a district.
    pub async fn stations(&self, district: u32) -> Result<Vec<String>, PartnerError> {
        retry(self.budget, &POLICY, async |attempt| {
            let response = self.get(&format!("/districts/{district}/stations"), attempt).await?;
            Ok(response.json().await?)
        })
        .await
    }
}
