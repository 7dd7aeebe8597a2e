//! The budgets. One for everything that talks to the partner: all client modules share it, because what the partner
//! has to bear is the sum of their retries.

use retry_budget::{Budget, RatioBudget, TokenBudget, UNLIMITED};
use std::time::Duration;

/// 500 tokens: a retry costs 14 of them, a call that succeeds at once gives one back.
static TOKEN: TokenBudget = TokenBudget::builder("partner, token").build();

/// One retry for ten calls. The default window of 10 s is longer than this whole run: it would never slide, and the
/// healthy calls before the outage would still be paying for retries at its end. 1 s is to an outage of 5 s what 10 s is
/// to one of 50.
static RATIO: RatioBudget = RatioBudget::builder("partner, ratio").ratio(0.1).window(Duration::from_secs(1)).build();

/// Every call may retry as often as its policy says, whatever all the others do.
pub fn none() -> &'static dyn Budget {
    &UNLIMITED
}

/// The bucket of the AWS SDKs.
pub fn token() -> &'static dyn Budget {
    &TOKEN
}

/// The ratio of the SRE book.
pub fn ratio() -> &'static dyn Budget {
    &RATIO
}
