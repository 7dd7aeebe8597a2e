//! Runs one kind of call many times, for `.ci/instructions` to count its instructions under callgrind.

use retry_budget::Time;
use retry_budget_benches as calls;
use std::hint::black_box;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let call = arguments.next().unwrap_or_default();
    let times: u64 = arguments.next().and_then(|times| times.parse().ok()).unwrap_or(1_000);
    let retry = tower::retry::Retry::new(calls::TowerPolicy::default(), calls::Partner);
    // A branch outside of the loops, so that each loop holds one call and nothing else.
    match call.as_str() {
        "plain" => repeat(times, || calls::finish(calls::plain(black_box(7)))),
        "two_layers" => repeat(times, || calls::finish(calls::two_layers(black_box(7)))),
        "token" => repeat(times, || calls::finish(calls::token(black_box(7)))),
        "ratio" => repeat(times, || calls::finish(calls::ratio(black_box(7)))),
        "credit" => repeat(times, || calls::finish(calls::credit(black_box(7)))),
        "concurrency" => repeat(times, || calls::finish(calls::concurrency(black_box(7)))),
        "grpc" => repeat(times, || calls::finish(calls::grpc(black_box(7)))),
        "function" => repeat(times, || calls::finish(calls::function(black_box(7)))),
        "backon" => repeat(times, || calls::finish(calls::by_backon(black_box(7)))),
        "tower" => repeat(times, || calls::finish(calls::by_tower(retry.clone(), black_box(7)))),
        "alone:nothing" => repeat(times, || calls::nothing(black_box(Time::ZERO))),
        "alone:token" => repeat(times, || calls::token_alone(black_box(Time::ZERO))),
        "alone:ratio" => repeat(times, || calls::ratio_alone(black_box(Time::ZERO))),
        "alone:credit" => repeat(times, || calls::credit_alone(black_box(Time::ZERO))),
        "alone:concurrency" => repeat(times, || calls::concurrency_alone(black_box(Time::ZERO))),
        "alone:grpc" => repeat(times, || calls::grpc_alone(black_box(Time::ZERO))),
        _ => {
            eprintln!("usage: instructions CALL TIMES; `.ci/instructions` has the calls");
            std::process::exit(2);
        }
    }
}

fn repeat<T>(times: u64, call: impl Fn() -> T) {
    for _ in 0..times {
        black_box(call());
    }
}
