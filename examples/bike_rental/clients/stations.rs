//! Where are stations?

use super::{POLICY, PartnerClient, PartnerError};
use retry_budget::retry_budget;

impl PartnerClient {
    /// The stations of a district.
    #[retry_budget(budget = self.budget, policy = POLICY, attempt = attempt)]
    pub async fn stations(&self, district: u32) -> Result<Vec<String>, PartnerError> {
        let response = self.get(&format!("/districts/{district}/stations"), attempt).await?;
        Ok(response.json().await?)
    }
}
