//! What the compiler says about mistakes in `#[derive(Retryable)]`, word for word. After a change on purpose:
//! `TRYBUILD=overwrite cargo test --test ui_derive`, and read what changed as somebody who has never seen the crate.

#[test]
fn mistakes_are_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/derive/*.rs");
}
