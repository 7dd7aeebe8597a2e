//! For tests: whether a budget keeps the laws.

mod laws;

pub use laws::check_laws;
