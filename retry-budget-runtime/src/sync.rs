//! The atomics of the budgets' protocols. The model checker's tests compile those files with atomics of its own.

pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
