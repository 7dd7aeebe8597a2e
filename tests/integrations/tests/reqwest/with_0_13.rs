use ::reqwest_0_13 as reqwest;
use retry_budget::reqwest_0_13 as ours;

#[path = "shared/answers.rs"]
mod answers;
#[path = "shared/attribute.rs"]
mod attribute;
#[path = "shared/client.rs"]
mod client;
#[path = "shared/failures.rs"]
mod failures;
