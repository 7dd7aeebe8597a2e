#![allow(unused_imports)]

use retry_budget::{TokenBudget, retry_budget};
use std::io;

static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

#[retry_budget(kind = "credit", burst = 0)]
async fn bikes_0(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "credit", burst = 4001)]
async fn bikes_1(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "credit", initial = -1)]
async fn bikes_2(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "credit", initial = 4001)]
async fn bikes_3(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "credit", initial = "0.5")]
async fn bikes_4(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "credit", ratio = 10)]
async fn bikes_5(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "concurrency", ratio = "20%")]
async fn bikes_6(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "concurrency", min_retry_concurrency = 1048577)]
async fn bikes_7(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "grpc", max_tokens = 2)]
async fn bikes_8(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "grpc", max_tokens = 1001)]
async fn bikes_9(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "grpc", max_tokens = 10.0)]
async fn bikes_10(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "grpc", token_ratio = 0)]
async fn bikes_11(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "grpc", token_ratio = 1001)]
async fn bikes_12(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "token", initial = 0.5)]
async fn bikes_13(station: u32) -> io::Result<u32> {
    Ok(station)
}

#[retry_budget(kind = "gprc")]
async fn bikes_14(station: u32) -> io::Result<u32> {
    Ok(station)
}

fn main() {}
