//! What the compiler says about mistakes in and under the attribute.

#[test]
fn mistakes_are_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/attribute/*.rs");
}
