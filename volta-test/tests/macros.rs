//! Wrong attributes: the message, and its span.

#[test]
fn wrong_uses_are_compile_errors_at_their_place() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
