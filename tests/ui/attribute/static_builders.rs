#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

use retry_budget::{ConcurrencyBudget, CreditBudget, GrpcBudget, RatioBudget};
use std::time::Duration;

static NOTHING: TokenBudget = TokenBudget::builder("nothing").capacity(0).build();
static TOO_FULL: TokenBudget = TokenBudget::builder("too full").capacity(10).initial(11).transient_cost(1).build();
static NOT_A_NUMBER: RatioBudget = RatioBudget::builder("not a number").ratio(f64::NAN).build();
static PERCENT: RatioBudget = RatioBudget::builder("percent").ratio(10.0).build();
static BLINK: RatioBudget = RatioBudget::builder("blink").window(Duration::from_millis(99)).build();
static NO_BURST: CreditBudget = CreditBudget::builder("no burst").burst(0).build();
static ABOVE_BURST: CreditBudget = CreditBudget::builder("above burst").initial(2.5).build();
static TWENTY_PERCENT: ConcurrencyBudget = ConcurrencyBudget::builder("20 %").ratio(20.0).build();
static TWO_TOKENS: GrpcBudget = GrpcBudget::builder("two tokens").max_tokens(2).build();
static NO_TOKENS_BACK: GrpcBudget = GrpcBudget::builder("no tokens back").token_ratio(0.0).build();

fn main() {}
