//! Each example is a file in `examples/`.
