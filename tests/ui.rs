//! What the compiler says about mistakes: each file under `ui` makes some, and holds the answer beside it.

#[test]
fn mistakes_are_explained() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/attribute/*.rs");
    cases.compile_fail("tests/ui/derive/*.rs");
}
