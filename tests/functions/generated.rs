//! Functions that a `macro_rules!` writes, and other attributes around.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::retry_budget;

macro_rules! client {
    ($name:ident, $ty:ty, $budget:expr, $attempts:expr, $arg:ident, $body:block) => {
        #[retry_budget(budget = $budget, max_attempts = $attempts)]
        async fn $name($arg: $ty) -> Result<u32, Lost> $body
    };
}

client!(by_fragments, &mut u32, PLENTY, 4, count, {
    *count += 1;
    if *count < 3 { Err(Lost(*count)) } else { Ok(*count) }
});

macro_rules! around {
    ($name:ident, $body:expr) => {
        #[retry_budget(budget = PLENTY, clone(text))]
        async fn $name(partner: &Flaky, mut text: String) -> Result<String, Lost> {
            let result = partner.run();
            let call = 1;
            text.push('m');
            result?;
            let _ = (call, $body);
            Ok(text)
        }
    };
}

around!(with_same_names, {
    let call = 2;
    call + 1
});

/// Documented.
#[must_use = "a must"]
#[retry_budget(budget = PLENTY)]
#[inline]
#[doc(hidden)]
pub async fn decorated(partner: &Flaky) -> Result<u32, Lost> {
    partner.run()
}

#[retry_budget(budget = PLENTY)]
#[tokio::test(start_paused = true)]
async fn a_test_below() -> Result<(), Lost> {
    static PARTNER: Flaky = Flaky::succeeds_at(3);
    PARTNER.run().map(|_| ())
}

#[tokio::test(start_paused = true)]
async fn generated_functions() {
    let mut count = 0;
    assert_eq!(by_fragments(&mut count).await, Ok(3));
    assert_eq!(with_same_names(&Flaky::succeeds_at(3), "a".to_owned()).await, Ok("am".to_owned()));
    assert_eq!(decorated(&Flaky::succeeds_at(3)).await, Ok(3));
}

macro_rules! with_block {
    ($name:ident, $block:block, $tail:expr) => {
        #[retry_budget(budget = PLENTY)]
        async fn $name(partner: &Flaky) -> Result<u32, Lost> {
            partner.run()?;
            let number = $block;
            let _ = number;
            $tail
        }
    };
    (only $name:ident, $block:block) => {
        #[retry_budget(budget = PLENTY)]
        async fn $name() -> Result<u32, Lost> {
            $block
        }
    };
}

with_block!(block_inside, { 3 }, { Ok(4) });
with_block!(only just_a_block, { Ok(4) });

#[tokio::test(start_paused = true)]
async fn blocks_as_fragments() {
    assert_eq!(block_inside(&Flaky::succeeds_at(3)).await, Ok(4));
    assert_eq!(just_a_block().await, Ok(4));
}
