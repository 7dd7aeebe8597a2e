//! Names that could get in the way.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::retry_budget as again;

mod hostile {
    #![allow(dead_code, non_camel_case_types, non_snake_case, clippy::all, clippy::pedantic, clippy::nursery)]

    pub mod std {}
    pub mod core {}
    pub mod retry_budget {}
    struct Result;
    struct Option;
    struct Clone;
    struct Step;
    struct Call;
    fn Ok() {}
    fn Err() {}
    fn Some() {}

    #[::retry_budget::retry_budget(budget = crate::PLENTY, clone(text))]
    pub async fn shadowed(
        partner: &crate::Flaky,
        mut text: ::std::string::String,
    ) -> ::core::result::Result<u32, crate::Lost> {
        text.push('x');
        partner.run()
    }

    #[::retry_budget::retry_budget(kind = "ratio", ratio = 1.0, window = "1s", jitter = "none")]
    pub async fn own(partner: &crate::Flaky) -> ::core::result::Result<u32, crate::Lost> {
        partner.run()
    }
}

#[again(budget = PLENTY, attempt = __call, once(__wait = 1, __result = 2), clone(__run))]
async fn our_own_locals(partner: &Flaky, __run: u32, __budget: u32, __policy: u32) -> Result<u32, Lost> {
    let __clone_run = __run + __budget + __policy + __wait + __result;
    partner.run()?;
    Ok(__clone_run + __call.number())
}

#[again(budget = PLENTY, attempt = r#try, clone(r#match))]
async fn r#async(r#type: &Flaky, r#match: u32) -> Result<u32, Lost> {
    r#type.run()?;
    Ok(r#match + r#try.number())
}

mod through {
    pub use ::retry_budget as elsewhere;

    pub mod client {
        use super::elsewhere::retry_budget;

        #[retry_budget(budget = crate::PLENTY, crate = super::elsewhere, jitter = "none", clone(text))]
        pub async fn re_exported(partner: &crate::Flaky, text: String) -> Result<u32, crate::Lost> {
            drop(text);
            partner.run()
        }
    }
}

fn outer() -> impl Future<Output = Result<u32, Lost>> {
    #[again(budget = PLENTY)]
    async fn inner(partner: Flaky) -> Result<u32, Lost> {
        partner.run()
    }
    inner(Flaky::succeeds_at(3))
}

#[tokio::test(start_paused = true)]
async fn nothing_gets_in_the_way() {
    assert_eq!(hostile::shadowed(&Flaky::succeeds_at(3), String::new()).await, Ok(3));
    assert_eq!(hostile::own(&Flaky::succeeds_at(3)).await, Ok(3));
    assert_eq!(our_own_locals(&Flaky::succeeds_at(3), 10, 20, 30).await, Ok(66));
    assert_eq!(r#async(&Flaky::succeeds_at(3), 10).await, Ok(13));
    assert_eq!(through::client::re_exported(&Flaky::succeeds_at(3), String::new()).await, Ok(3));
    assert_eq!(outer().await, Ok(3));
}
