//! What is unsafe stays so: to call, and within.
#![allow(unsafe_op_in_unsafe_fn)] // in editions before 2024 the body needs no `unsafe { … }`

use crate::{Lost, PLENTY, Partner};
use retry_budget::retry_budget;

const unsafe fn read(number: *const u32) -> u32 {
    *number
}

/// # Safety
/// Of a test.
#[retry_budget(budget = PLENTY)]
async unsafe fn in_the_old_way(partner: &Partner, number: &u32) -> Result<u32, Lost> {
    let _ = partner.ask().await?;
    Ok(read(number))
}

/// # Safety
/// Of a test.
#[deny(unsafe_op_in_unsafe_fn)]
#[retry_budget(budget = PLENTY)]
async unsafe fn in_the_new_way(partner: &Partner, number: &u32) -> Result<u32, Lost> {
    let _ = partner.ask().await?;
    // SAFETY: it is a reference
    Ok(unsafe { read(number) })
}

#[allow(improper_ctypes_definitions)] // no future has one
#[retry_budget(budget = PLENTY)]
async extern "C" fn of_c(partner: &Partner) -> Result<u32, Lost> {
    partner.ask().await
}

struct Raw(*const u32);

impl Raw {
    /// # Safety
    /// Of a test.
    #[retry_budget(budget = PLENTY)]
    async unsafe fn method(&mut self, partner: &Partner) -> Result<u32, Lost> {
        let _ = partner.ask().await?;
        Ok(*self.0)
    }
}

/// # Safety
/// Of a test.
#[async_trait::async_trait(?Send)]
unsafe trait Promise {
    async unsafe fn kept(&self) -> Result<u32, Lost>;
}

// SAFETY: of a test
#[async_trait::async_trait(?Send)]
unsafe impl Promise for Partner {
    #[retry_budget(budget = PLENTY)]
    async unsafe fn kept(&self) -> Result<u32, Lost> {
        self.ask().await
    }
}

#[test]
fn unsafe_and_foreign() {
    crate::run(async {
        let number = 7;
        // SAFETY: nothing is dereferenced but `number`
        unsafe {
            assert_eq!(in_the_old_way(&Partner::default(), &number).await, Ok(7));
            assert_eq!(in_the_new_way(&Partner::default(), &number).await, Ok(7));
            assert_eq!(Raw(&raw const number).method(&Partner::default()).await, Ok(7));
            assert_eq!(Partner::default().kept().await, Ok(3));
        }
        assert_eq!(of_c(&Partner::default()).await, Ok(3));
    });
}
