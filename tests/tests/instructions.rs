//! The page of instructions, which is written from the table that the verifier lowers them by, and the list of what is
//! not supported of those for sm_90 and later, which is written from lowering each of their forms.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use volta_core::program::{InstructionInfo, instructions, lower};
use volta_core::ptx;

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

/// A file of the repository, and what was wrong with it, or it is written.
fn check_or_write(path: &str, wanted: &str) {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    if env::var_os("VOLTA_WRITE_DOCS").is_some() {
        fs::write(&full, wanted).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    let found = fs::read_to_string(&full).unwrap_or_default();
    assert!(
        found == wanted,
        "{path} says something else than the verifier does; write it with\n  \
         VOLTA_WRITE_DOCS=1 cargo test -p volta-suite --test instructions"
    );
}

/// `VOLTA_WRITE_DOCS=1` writes it.
#[test]
fn the_page_lists_what_the_table_does() {
    check_or_write("docs/instructions.md", &page());
}

const FORMS: &str = include_str!("../instructions/asynchronous.txt");

/// Why an instruction is not supported, as the lowering says it.
fn unsupported(instruction: &str) -> Option<String> {
    let text = format!(
        ".version 9.1\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128])\n{{\n\
         .reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<16>; .reg .b64 %rd<4>; .reg .b128 %q<2>; .reg .f32 %f<8>;\n\
         .shared .align 128 .b8 near[4096];\n{instruction}\nret;\n}}\n"
    );
    let module = ptx::parse(&text).unwrap_or_else(|error| panic!("{instruction}: {error:?}"));
    let program = lower(&module, &text, None).unwrap_or_else(|error| panic!("{instruction}: {error:?}"));
    program.insts.iter().find_map(|inst| inst.op.not_supported().map(str::to_owned))
}

/// The list: groups in their order, each with how many forms of it are supported, and those that are not.
fn not_supported() -> String {
    let mut out = String::new();
    let groups = FORMS.split("\n## ").skip(1);
    for group in groups {
        let (title, lines) = group.split_once('\n').expect("a group has a line for its title");
        let forms: Vec<(&str, Option<String>)> = lines
            .lines()
            .filter_map(|line| line.split_once(" | "))
            .map(|(form, instruction)| (form, unsupported(instruction)))
            .collect();
        let done = forms.iter().filter(|(_, why)| why.is_none()).count();
        out += &format!("- {title}: {done} of {} forms are supported", forms.len());
        let left: Vec<String> =
            forms.iter().filter(|(_, why)| why.is_some()).map(|(form, _)| format!("`{form}`")).collect();
        out += &if left.is_empty() { "\n".to_string() } else { format!("; not {}\n", left.join(", ")) };
    }
    out
}

/// `VOLTA_WRITE_DOCS=1` writes the list in the page of limits.
#[test]
fn the_limits_list_what_is_left_of_later_architectures() {
    const BEGIN: &str = "<!-- sm_90: begin -->\n";
    const END: &str = "\n<!-- sm_90: end -->";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/limits.md");
    let found = fs::read_to_string(&path).expect("docs/limits.md is there");
    let (before, rest) = found.split_once(BEGIN).expect("the list has a beginning");
    let (_, after) = rest.split_once(END).expect("the list has an end");
    check_or_write("docs/limits.md", &format!("{before}{BEGIN}{}{END}{after}", not_supported().trim_end()));
}
