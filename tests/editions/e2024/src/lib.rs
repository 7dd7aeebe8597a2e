//! All of this package is its tests.
