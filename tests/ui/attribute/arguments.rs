#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[derive(Debug)]
struct NotClone;

#[retry_budget(budget = PARTNER)]
async fn declared_mut(mut station: u32) -> io::Result<u32> {
    station += 1;
    Ok(station)
}

#[retry_budget(budget = PARTNER, clone(statoin))]
async fn no_such_argument(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, clone(station), keep(station))]
async fn both(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(budget = PARTNER, clone(body))]
async fn not_clone(body: NotClone) -> io::Result<u32> {
    drop(body);
    Ok(1)
}

#[retry_budget(budget = PARTNER)]
async fn consumed(body: Vec<u8>) -> io::Result<usize> {
    Ok(body.into_iter().count())
}

#[retry_budget(budget = PARTNER)]
async fn borrow_of_an_argument<'a>(body: &'a mut Vec<u8>, _other: &u8) -> io::Result<&'a [u8]> {
    Ok(body)
}

#[retry_budget(budget = PARTNER)]
async fn elided_borrow_of_an_argument(body: &mut Vec<u8>) -> io::Result<&[u8]> {
    Ok(body)
}

impl NotClone {
    #[retry_budget(budget = PARTNER)]
    async fn mut_self(mut self) -> io::Result<u32> {
        self = NotClone;
        drop(self);
        Ok(1)
    }

    #[retry_budget(budget = PARTNER, clone(self))]
    async fn clone_self(self) -> io::Result<u32> {
        Ok(1)
    }

    #[retry_budget(budget = PARTNER)]
    async fn borrow(&mut self) -> io::Result<&u32> {
        Ok(&1)
    }

    #[retry_budget(budget = PARTNER)]
    async fn named_borrow<'a>(&'a mut self) -> io::Result<std::borrow::Cow<'a, str>> {
        Ok("".into())
    }

    #[retry_budget(budget = PARTNER)]
    async fn no_borrow(&mut self) -> io::Result<Box<dyn Fn(&str) -> bool + Send>> {
        Ok(Box::new(|_| true))
    }
}

fn main() {}

#[retry_budget(budget = PARTNER)]
async fn by_unique_pattern(ref mut log: String) -> io::Result<()> {
    log.push('x');
    Ok(())
}
