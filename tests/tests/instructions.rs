//! The page of instructions, which is written from the table that the verifier lowers them by.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use volta_core::program::{InstructionInfo, instructions};

const HEAD: &str = "\
# Instructions

<!-- Written by `VOLTA_WRITE_DOCS=1 cargo test -p volta-suite --test instructions`; do not edit. -->

The PTX instructions that Volta knows, by the chapter of the PTX ISA manual that defines them: the table in
`volta-core/src/program/isa/`. Of an instruction that is supported, all modifiers are that the manual gives it, but for
those that a message names; what is not done yet as a whole is listed in [limits](limits.md#not-yet). A kernel with an
instruction that is not supported is verified as long as no thread gets there; one that does is a fault, which names it.
";

/// The page as the table has it.
fn page() -> String {
    // Chapters in the order in which the table first names them.
    let mut chapters: Vec<&str> = Vec::new();
    let mut rows: BTreeMap<&str, Vec<InstructionInfo>> = BTreeMap::new();
    for row in instructions() {
        let chapter = row.section.split_once(": ").map_or(row.section, |(chapter, _)| chapter);
        if !chapters.contains(&chapter) {
            chapters.push(chapter);
        }
        rows.entry(chapter).or_default().push(row);
    }
    let mut out = HEAD.to_string();
    for chapter in chapters {
        out += &format!("\n## {chapter}\n\n| instruction | types | supported |\n|---|---|---|\n");
        let mut own = rows.remove(chapter).unwrap_or_default();
        own.sort_by_key(|row| row.opcode);
        for row in own {
            let supported = row.unsupported.map_or("yes".to_string(), |why| format!("no: {why}"));
            out += &format!("| `{}` | {} | {} |\n", row.opcode, row.types, supported.replace('|', "\\|"));
        }
    }
    out
}

/// `VOLTA_WRITE_DOCS=1` writes it.
#[test]
fn the_page_lists_what_the_table_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/instructions.md");
    let wanted = page();
    if env::var_os("VOLTA_WRITE_DOCS").is_some() {
        fs::write(&path, &wanted).expect("docs/instructions.md is written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/instructions.md lists other instructions than the table; write it with\n  \
         VOLTA_WRITE_DOCS=1 cargo test -p volta-suite --test instructions"
    );
}
