//! Declarations of memory.

use super::shown;
use crate::program::lower;

/// The variables of a kernel that names `x` after some declarations.
fn variables(declarations: &str) -> String {
    let text = format!(
        "{declarations}
        .entry k() {{ .reg .b64 %d<3>; mov.u64 %d1, x; ret; }}"
    );
    let module = crate::ptx::parse(&text).expect("PTX");
    match lower(&module, &text, None) {
        Ok(program) => {
            let listing = program.to_string();
            let lines = listing.lines().skip(1).take_while(|line| !line.starts_with('@'));
            let unsupported = listing.lines().filter_map(|line| line.split_once("unsupported: "));
            lines.chain(unsupported.map(|(_, reason)| reason)).map(|line| format!("{line}\n")).collect()
        }
        Err(error) => {
            let place = error.span().and_then(|span| text.get(span.start as usize..span.end as usize));
            format!("error at `{}`: {error}\n", place.unwrap_or_default())
        }
    }
}

#[test]
fn sizes_and_alignments_are_read() {
    assert_eq!(variables(".shared .align 16 .b8 x[512];"), "shared v0 x, 512 bytes, align 16\n");
    assert_eq!(variables(".shared .f64 x[3][5];"), "shared v0 x, 120 bytes, align 8\n");
    assert_eq!(variables(".global .v4 .f32 x[2];"), "global v0 x, 32 bytes, align 16\n");
    assert_eq!(variables(".extern .shared .align 1024 .b8 x[];"), "shared v0 x, dynamic, align 1024\n");
    assert_eq!(variables(".const .u32 x;"), "const v0 x, 4 bytes, align 4\n");
}

#[test]
fn initial_values_are_laid_out() {
    assert_eq!(variables(".global .u32 x = -2;"), "global v0 x, 4 bytes, align 4 = fe ff ff ff\n");
    assert_eq!(variables(".const .b8 x[16] = {1, 0, 2};"), "const v0 x, 16 bytes, align 1 = 01 00 02\n");
    assert_eq!(
        variables(".const .u16 x[2][3] = {{1}, {2, 3}};"),
        "const v0 x, 12 bytes, align 2 = 01 00 00 00 00 00 02 00 03 00\n"
    );
    assert_eq!(
        variables(".const .u16 x[2][2] = {1, 2, 3};"),
        "const v0 x, 8 bytes, align 2 = 01 00 02 00 03 00\n"
    );
    assert_eq!(
        variables(".const .f32 x[] = {1.0, 0f40000000};"),
        "const v0 x, 8 bytes, align 4 = 00 00 80 3f 00 00 00 40\n"
    );
    assert_eq!(
        variables(".global .v2 .u8 x[2] = {{1, 2}, {3, 4}};"),
        "global v0 x, 4 bytes, align 2 = 01 02 03 04\n"
    );
}

#[test]
fn addresses_in_initial_values_bring_their_variables() {
    assert_eq!(
        variables(".global .u32 y; .global .u64 x[2] = {y+8, generic(x)+8};"),
        "global v0 x, 16 bytes, align 8 = 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00, v1+8 at 0, generic v0+8 at 8\n\
         global v1 y, 4 bytes, align 4\n"
    );
    let function = ".func f() { ret; } .global .u64 y = f; .global .u64 x = y;";
    assert_eq!(
        variables(function).lines().last(),
        Some("`y` cannot be used: its initial value holds the address of a function")
    );
}

#[test]
fn declarations_that_make_no_sense_are_errors() {
    let cases = [
        (
            ".global .b8 x[];",
            "error at `.global .b8 x[]`: the declaration of `x` is wrong: it has an array dimension without a number\n",
        ),
        (
            ".global .b8 x[2][];",
            "error at `.global .b8 x[2][]`: the declaration of `x` is wrong: it has an array dimension without a number\n",
        ),
        (
            ".global .align 3 .b8 x;",
            "error at `.global .align 3 .b8 x`: the declaration of `x` is wrong: its alignment is not a power of two\n",
        ),
        (
            ".global .b64 x[999999999999999];",
            "error at `.global .b64 x[999999999999999]`: the declaration of `x` is wrong: it is too large\n",
        ),
        (
            ".global .b8 x[2] = {1, 2, 3};",
            "error at `.global .b8 x[2] = {1, 2, 3}`: the declaration of `x` is wrong: it has more initial values than elements\n",
        ),
        (
            ".global .b8 x[1][2] = {{1, 2, 3}};",
            "error at `.global .b8 x[1][2] = {{1, 2, 3}}`: the declaration of `x` is wrong: it has more initial values than elements\n",
        ),
        (
            ".global .f32 x = 1;",
            "error at `1`: the declaration of `x` is wrong: this initial value does not fit its type\n",
        ),
        (
            ".shared .b32 x = 1;",
            "error at `.shared .b32 x = 1`: the declaration of `x` is wrong: its state space takes no initial value\n",
        ),
        (".global .u64 x = nothing;", "error at `nothing`: variable `nothing` is not declared here\n"),
    ];
    for (declaration, expected) in cases {
        assert_eq!(variables(declaration), expected, "{declaration}");
    }
}

#[test]
fn variables_may_be_defined_elsewhere_and_textures_cannot_be_used() {
    // Its contents are for the case to give.
    assert_eq!(variables(".extern .global .u32 x;"), "global v0 x, 4 bytes, align 4\n");
    assert_eq!(
        variables(".extern .global .u32 x; .global .u32 x = 1;"),
        "global v0 x, 4 bytes, align 4 = 01 00 00 00\n"
    );
    assert_eq!(variables(".tex .u32 x;"), "`x` is a texture, sampler or surface\n");
}

#[test]
fn static_variables_of_functions_exist_once() {
    let text = ".func f() { .shared .b32 s; st.shared.b32 [s], 1; ret; }
        .entry k() { .shared .b32 s; call f; call f; st.shared.b32 [s], 2; }";
    assert_eq!(
        shown(text),
        "store.shared.b32 [v0], 1\nbranch @2\nstore.shared.b32 [v0], 1\nbranch @4\nstore.shared.b32 [v1], 2\n"
    );
}
