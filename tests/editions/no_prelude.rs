//! Without the names that every file has.
#![no_implicit_prelude]
#![forbid(unsafe_code, unused, nonstandard_style, let_underscore, rust_2018_idioms, unused_results)]

use crate::Partner;
use ::core::clone::Clone;
use ::core::default::Default;
use ::core::result::Result;
use ::std::string::String;

#[::retry_budget::retry_budget(budget = crate::PLENTY, clone(text), once(key = 1_u32))]
async fn bare(partner: &Partner, text: String) -> Result<u32, crate::Lost> {
    ::core::mem::drop(text);
    let number = partner.ask().await?;
    Result::Ok(number + key)
}

#[::retry_budget::retry_budget(kind = "token", capacity = 99, attempt_timeout = "1s", elapsed = |_| crate::Lost)]
async fn its_own(partner: &Partner) -> Result<u32, crate::Lost> {
    partner.ask().await
}

#[::retry_budget::retry_budget(
    budget = crate::PLENTY,
    classify = |_| true,
    classify_ok = |_| false,
    on_retry = |_| (),
    on_stop = |_| (),
    base_delay = "1ms",
    attempt = __call,
)]
async fn with_options(partner: &Partner) -> Result<u32, crate::Lost> {
    let _ = __call;
    partner.ask().await
}

#[test]
fn functions_without_a_prelude() {
    crate::run(async {
        ::core::assert_eq!(bare(&Partner::default(), String::new()).await, Result::Ok(4));
        ::core::assert_eq!(its_own(&Partner::default()).await, Result::Ok(3));
        ::core::assert_eq!(with_options(&Partner::default()).await, Result::Ok(3));
        let copy = Clone::clone(&3_u32);
        let partner = Partner::default();
        let block =
            ::retry_budget::retry!(budget = crate::PLENTY, clone(copy), async || -> Result<u32, crate::Lost> {
                let _ = partner.ask().await?;
                Result::Ok(copy)
            });
        ::core::assert_eq!(block.await, Result::Ok(3));
    });
}
