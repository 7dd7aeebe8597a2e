//! The tests are in `tests/`, a file for each integration. Here are servers that several of them need.

pub mod health;
pub mod partner;
