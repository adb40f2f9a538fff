//! The instructions of some thousand machine-learning kernels (`opcodes.txt`, most frequent first, from nvcc 13.5,
//! Triton and TileLang) are all in the table, with all their modifiers.

use super::super::{instructions, lower};

#[test]
fn every_opcode_met_in_practice_is_known() {
    let mut unknown = Vec::new();
    for opcode in include_str!("opcodes.txt").lines() {
        // An instruction without operands is rejected for that reason only after all its modifiers were accepted.
        let text = format!(".entry k() {{ {opcode}; }}");
        let module = crate::ptx::parse(&text).expect("PTX");
        let program = lower(&module, &text, None).expect("a program");
        let shown = program.insts.first().map(ToString::to_string).unwrap_or_default();
        let accepted =
            !shown.starts_with("unsupported") || shown.contains(", but has 0") || opcode.starts_with("call");
        let word = opcode.split('.').next().unwrap_or_default();
        let refused = instructions().any(|row| row.opcode == word && row.unsupported.is_some());
        if !accepted && !refused {
            unknown.push(shown);
        }
    }
    let expected = [
        "unsupported: `fence.proxy.tensormap::generic.acquire.gpu` is not supported: tensor maps are not supported yet",
    ];
    unknown.sort();
    assert_eq!(unknown, expected);
}

#[test]
fn the_table_has_one_row_for_an_opcode_and_types() {
    let mut seen = std::collections::BTreeSet::new();
    for row in instructions() {
        assert!(seen.insert((row.opcode, row.types)), "{} {}", row.opcode, row.types);
        assert!(row.types != "any" || instructions().filter(|other| other.opcode == row.opcode).count() == 1);
        assert!(row.section.contains(' '), "{}", row.opcode);
    }
}
