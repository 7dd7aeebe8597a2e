//! The attribute and the derive of the `retry-budget` crate.
