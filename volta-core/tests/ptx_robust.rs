//! No text makes the parser panic, run out of stack or slow down; what is wrong is said where it is.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use volta_core::base::span::Position;
use volta_core::ptx::tree::{Item, Operand, Statement};
use volta_core::ptx::{ParseError, parse, print};

/// A body of one function.
fn in_function(body: &str) -> String {
    format!(".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{{\n{body}\n}}\n")
}

fn error(text: &str) -> ParseError {
    match parse(text) {
        Ok(_) => panic!("{} parses", text.chars().take(200).collect::<String>()),
        Err(error) => error,
    }
}

/// The first statement of the body.
fn statement(body: &str) -> Statement {
    let text = in_function(body);
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    match module.items.into_iter().last() {
        Some(Item::Function(function)) => function.body.expect("a body").remove(0),
        other => panic!("{other:?}"),
    }
}

#[test]
fn errors_say_what_was_expected_and_where() {
    for (text, line, column, message) in [
        ("add r1 r2;", 6, 8, "expected `,` or `;` after the operand, found `r2`"),
        ("add r1, ;", 6, 9, "expected an operand, found `;`"),
        ("add r1, r2", 7, 1, "expected `,` or `;` after the operand, found `}`"),
        ("ld.global.u32 r1, [r2", 7, 1, "expected `+`, `,` or `]`, found `}`"),
        ("mov.f32 f1, 0f3F8;", 6, 13, "`0f3F8` is not a number"),
        ("mov.u64 r, 99999999999999999999;", 6, 12, "`99999999999999999999` does not fit in 64 bits"),
        (".frobnicate 3;", 6, 1, "unknown directive `.frobnicate`"),
        (".version 8.0", 6, 1, "the directive `.version` does not belong in a function"),
        (".reg .foo r;", 6, 6, "`.foo` does not belong in this declaration"),
        (".shared .align 4 x;", 6, 18, "expected a type such as `.b32`, found `x`"),
        ("@p { }", 6, 4, "expected an instruction, found `{`"),
        ("{ ret;", 8, 1, "expected `}` for the `{` of line 5, found the end of the text"),
        ("/* ret;", 6, 1, "this comment is never closed"),
        (".pragma \"x;", 6, 9, "this string is never closed"),
        ("mov r, \"text\";", 6, 8, "expected an operand, found the string `\"text\"`"),
        ("\0", 6, 1, "found a character that is not text, U+0000"),
        (
            "p: .callprototype (.param .b32 r) f (.param .b32 q);",
            6,
            35,
            "expected `_` in place of the function's name, found `f`",
        ),
    ] {
        let error = error(&in_function(text));
        assert_eq!(error.message, message, "{text}");
        assert_eq!(error.position, Position { line, column }, "{text}");
        assert!(
            error.to_string().starts_with(&format!("line {line}, column {column}: {message}\n")),
            "{text}"
        );
    }
    assert_eq!(error(".frobnicate 3").message, "unknown directive `.frobnicate`");
    assert_eq!(error("mov r, s;").message, "expected a directive, a variable or a function, found `mov`");
    assert_eq!(error(".reg .b32 r;").message, "registers cannot be declared outside functions");
    assert_eq!(
        error(".global .u32 a<5000>;").message,
        "5000 names in one declaration; at most 4096 are allowed"
    );
    assert_eq!(
        error(".global .u32 a<5> = 1;").message,
        "names with a count can neither be arrays nor be initialised"
    );
    let counted = ".global .u32 a<4096>;".repeat(1000);
    assert_eq!(error(&counted).message, "too many names are declared by counts");
    assert_eq!(error(".weak .weak .global .u32 a;").message, "`.weak` stands here twice");
    assert_eq!(error(".section .s { {").message, "this brace is never closed");
    assert_eq!(
        error("\u{7f}ELF\u{2}").help.as_deref(),
        Some("PTX is plain text; compiled binaries cannot be read")
    );
}

#[test]
fn a_special_register_is_one_name_and_modifiers_keep_their_colons() {
    let Statement::Instruction(instruction) = statement("@!p mov.shared::cta.u32 %r1, %tid.x;") else {
        panic!()
    };
    assert!(instruction.guard.is_some_and(|guard| guard.negated && guard.register.text == "p"));
    let modifiers: Vec<&str> = instruction.modifiers.iter().map(|name| name.text.as_str()).collect();
    assert_eq!((instruction.opcode.text.as_str(), modifiers), ("mov", vec!["shared::cta", "u32"]));
    assert!(matches!(&instruction.operands[1], Operand::Name(name) if name.text == "%tid.x"));
}

#[test]
fn addresses_have_a_base_an_offset_and_a_rest() {
    for (text, base, offset, rest) in [
        ("[%r1]", Some("%r1"), 0, 0),
        ("[%r1+4]", Some("%r1"), 4, 0),
        ("[%r1+-4]", Some("%r1"), -4, 0),
        ("[s+4*2+1]", Some("s"), 9, 0),
        ("[64]", None, 64, 0),
        ("[map, {c0, c1}]", Some("map"), 0, 1),
    ] {
        let Statement::Instruction(instruction) = statement(&format!("ld %r0, {text};")) else { panic!() };
        let Operand::Address { base: found, offset: at, rest: behind, .. } = &instruction.operands[1] else {
            panic!("{text}")
        };
        assert_eq!((found.as_ref().map(|name| name.text.as_str()), *at, behind.len()), (base, offset, rest));
    }
}

#[test]
fn a_register_range_is_a_count() {
    let Statement::Registers(registers) = statement(".reg .b32 %r<4294967295>, x;") else { panic!() };
    let names: Vec<_> = registers.names.iter().map(|(name, count)| (name.text.as_str(), *count)).collect();
    assert_eq!(names, [("%r", Some(4_294_967_295)), ("x", None)]);
}

#[test]
fn deep_nesting_is_an_error() {
    const MANY: usize = 100_000;
    let deep = "nested more than 256 levels deep";
    for (before, repeated) in [
        ("", "{"),
        ("mov r, ", "("),
        ("mov r, ", "{"),
        ("mov r, ", "-"),
        ("mov r, ", "f("),
        ("mov r, [a, ", "[a, "),
    ] {
        let text = in_function(&format!("{before}{}", repeated.repeat(MANY)));
        assert_eq!(error(&text).message, deep, "{before}{repeated}");
    }
    assert_eq!(error(&format!(".global .u32 a = {}", "{".repeat(MANY))).message, deep);
    assert_eq!(error(&format!(".section .s {}", "{".repeat(MANY))).message, "this brace is never closed");
    let shallow = in_function(&format!("{}ret;{}", "{".repeat(200), "}".repeat(200)));
    assert!(parse(&shallow).is_ok());
}

#[test]
fn large_texts_take_linear_time() {
    let million = 1_000_000;
    let texts = [
        in_function(&format!("mov.u32 r, {};", "9".repeat(million))),
        in_function(&format!("mov.f64 r, 1.{};", "9".repeat(million))),
        in_function(&format!("mov.u32 r, 1{};", "+1".repeat(million))),
        in_function(&"add.s32 %r1, %r2, [%rd4+16]; // sum\n".repeat(200_000)),
        in_function(&"{ }".repeat(million)),
        in_function(&"L: ".repeat(million)),
        in_function(&format!("call ({}", "a,".repeat(million))),
        format!(".global .u32 a[] = {{{}}};", "1,".repeat(million)),
        "/".repeat(million),
        "/**/".repeat(million),
        "\"".repeat(million),
        "a".repeat(10 * million),
        ".".repeat(million),
        "%".repeat(million),
        in_function(&format!("mov r, 1{}", "%3".repeat(million))),
    ];
    for text in texts {
        let start = Instant::now();
        let result = parse(&text);
        let beginning: String = text.chars().take(120).collect();
        assert!(start.elapsed() < Duration::from_secs(10), "{beginning}");
        if let Err(error) = result {
            assert!(error.to_string().len() < 1000, "{beginning}");
        }
    }
}

#[test]
fn every_beginning_of_a_text_is_read_without_panic() {
    let text = include_str!("../../tests/corpus/ptx/odd_syntax.ptx");
    for end in 0..text.len() {
        if let Some(part) = text.get(..end) {
            let _ = parse(part);
        }
    }
}

/// Words that mean something, so that random texts get further than the first one.
fn soup() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        ".version",
        "9.0",
        ".target",
        "sm_80",
        ".entry",
        ".func",
        "k",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ",",
        ":",
        ".param",
        ".reg",
        ".global",
        ".shared",
        ".b32",
        ".u64",
        ".align",
        "4",
        "%r<9>",
        "%r1",
        "%tid.x",
        "mov",
        "ld",
        ".global",
        "@",
        "!",
        "+",
        "-",
        "|",
        "_",
        "0f3F800000",
        "0x1U",
        "1.5",
        "WARP_SZ",
        "?",
        "<<",
        "%",
        "~",
        "=",
        ".loc",
        ".file",
        "\"a\"",
        "1",
        ".section",
        ".pragma",
        ".branchtargets",
        ".callprototype",
        ".noreturn",
        "L:",
        "call",
        "generic",
        ".attribute",
        ".managed",
        ".ptr",
        "<",
        ">",
        "/*",
        "*/",
        "//\n",
        "é",
        "\0",
        "\"",
    ];
    prop::collection::vec(prop::sample::select(WORDS), 0..60).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_texts_do_not_panic(text in ".{0,200}") {
        if let Err(error) = parse(&text) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn random_words_do_not_panic(words in soup()) {
        for text in [words.clone(), in_function(&words)] {
            if let Ok(module) = parse(&text) {
                let printed = print(&module);
                let again = parse(&printed).map_err(|error| TestCaseError::fail(format!("{error}\n{printed}")))?;
                prop_assert_eq!(print(&again), printed);
            }
        }
    }

    #[test]
    fn damaged_texts_do_not_panic(places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = include_bytes!("../../tests/corpus/ptx/odd_syntax.ptx").to_vec();
        bytes.extend_from_slice(include_bytes!("../../tests/corpus/ptx/hopper_sm90a.ptx"));
        for (place, byte) in places {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(module) = parse(&text) {
            let printed = print(&module);
            let again = parse(&printed).map_err(|error| TestCaseError::fail(format!("{error}\n{printed}")))?;
            prop_assert_eq!(print(&again), printed);
        }
    }
}
