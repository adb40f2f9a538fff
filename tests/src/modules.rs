//! The modules of `volta-core`: which imports are permitted, and a picture of them.

use std::collections::BTreeMap;
use std::fmt::Write;

/// The permitted imports of each module of `volta-core`. Data flows ptx → program → launch → machine → term → algebra →
/// decide → verdict; `machine` builds terms, so `number` and `term` lie below it. `case` and `verdict` are the data at both
/// ends: they import none of the modules between.
pub const IMPORTS: [(&str, &[&str]); 21] = [
    ("base", &[]),
    ("number", &["base"]),
    ("term", &["base", "number"]),
    ("ptx", &["base"]),
    ("program", &["base", "number", "ptx"]),
    ("graph", &["base", "number", "term"]),
    ("case", &["base", "number", "term", "graph"]),
    ("verdict", &["base"]),
    ("value", &["base", "number", "term", "program", "case"]),
    ("concurrency", &["base", "number", "program", "verdict", "value"]),
    ("launch", &["base", "number", "term", "program", "case", "verdict", "value"]),
    ("machine", &["base", "number", "term", "program", "case", "verdict", "value", "concurrency", "launch"]),
    ("library", &["base", "number", "ptx", "program", "term", "case", "launch", "machine"]),
    ("formula", &["base", "number", "term"]),
    ("circuit", &[]),
    ("algebra", &["base", "number", "term", "circuit", "formula"]),
    ("bits", &["base", "number", "term", "verdict"]),
    ("decide", &["base", "number", "term", "formula", "algebra", "verdict"]),
    ("certificate", &["number", "term", "decide"]),
    ("inspect", &["base", "number", "ptx", "program", "library", "case", "launch", "machine", "verdict"]),
    ("every_size", &["base", "number", "program", "library", "case", "launch", "machine", "verdict"]),
];

/// The permitted imports of each folder of `machine`, from the lowest to the highest. Files of a folder may import one
/// another. `exec` is its files that lie in no folder of it; the empty name is the module itself, which only passes on what
/// others have.
pub const MACHINE: [(&str, &[&str]); 12] = [
    ("memory", &[]),
    ("group", &[]),
    ("sync", &["group"]),
    ("cta_class", &["group"]),
    ("cta", &["memory", "group", "sync", "cta_class"]),
    ("exec/arithmetic", &["group", "cta"]),
    ("exec/access", &["memory", "group", "sync", "cta", "exec/arithmetic"]),
    ("exec/matrix", &["memory", "group", "sync", "cta", "exec/arithmetic"]),
    ("exec/wait", &["memory", "group", "sync", "cta", "exec/arithmetic"]),
    ("exec", &["group", "sync", "cta", "exec/arithmetic", "exec/access"]),
    ("run", &["memory", "group", "sync", "cta_class", "cta", "exec/arithmetic", "exec/access", "exec"]),
    ("", &[]),
];

const BOX: [i32; 2] = [110, 36];
const APART: [i32; 2] = [40, 44];
const MARGIN: i32 = 16;

type Imports = BTreeMap<&'static str, &'static [&'static str]>;

/// The length of the longest chain of imports below a module.
fn height(imports: &Imports, module: &str) -> usize {
    imports[module].iter().map(|below| 1 + height(imports, below)).max().unwrap_or(0)
}

/// Whether one module imports another through a third.
fn indirectly(imports: &Imports, from: &str, to: &str) -> bool {
    imports[from].iter().any(|via| *via != to && (imports[via].contains(&to) || indirectly(imports, via, to)))
}

/// The picture as SVG: a module is above all that it imports. Arrows implied by transitivity are left out.
pub fn picture() -> String {
    let imports: Imports = IMPORTS.into_iter().collect();
    let mut rows: Vec<Vec<&str>> = Vec::new();
    for (module, _) in IMPORTS {
        let height = height(&imports, module);
        rows.resize(rows.len().max(height + 1), Vec::new());
        rows[height].push(module);
    }
    let longest = rows.iter().map(Vec::len).max().unwrap_or(0) as i32;
    let [width, tall] = [
        2 * MARGIN + longest * BOX[0] + (longest - 1) * APART[0],
        2 * MARGIN + rows.len() as i32 * (BOX[1] + APART[1]) - APART[1],
    ];
    let mut places: BTreeMap<&str, [i32; 2]> = BTreeMap::new();
    for (height, row) in rows.iter().enumerate() {
        let own = row.len() as i32 * (BOX[0] + APART[0]) - APART[0];
        for (at, module) in row.iter().enumerate() {
            let x = (width - own) / 2 + at as i32 * (BOX[0] + APART[0]);
            places.insert(module, [x, tall - MARGIN - BOX[1] - height as i32 * (BOX[1] + APART[1])]);
        }
    }
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {tall}\" width=\"{width}\" height=\"{tall}\" \
         role=\"img\" aria-label=\"Modules of volta-core and what they import\">\n\
         <style>\n\
         text {{ font: 15px sans-serif; fill: #1f2328; text-anchor: middle }}\n\
         rect {{ fill: #f6f8fa; stroke: #59636e }}\n\
         path {{ fill: none; stroke: #59636e }}\n\
         #head path {{ fill: #59636e }}\n\
         @media (prefers-color-scheme: dark) {{\n\
         text {{ fill: #f0f6fc }} rect {{ fill: #151b23; stroke: #9198a1 }} path {{ stroke: #9198a1 }} \
         #head path {{ fill: #9198a1 }}\n\
         }}\n\
         </style>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n"
    );
    for (module, below) in IMPORTS {
        let [x, y] = places[module];
        for other in below.iter().filter(|other| !indirectly(&imports, module, other)) {
            let [left, top] = places[other];
            let (from, to) = ([x + BOX[0] / 2, y + BOX[1]], [left + BOX[0] / 2, top]);
            let middle = (from[1] + to[1]) / 2;
            let _ = writeln!(
                out,
                "<path d=\"M{} {} C{} {middle} {} {middle} {} {}\" marker-end=\"url(#head)\"/>",
                from[0], from[1], from[0], to[0], to[0], to[1]
            );
        }
    }
    for (module, [x, y]) in &places {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"6\"/><text x=\"{}\" y=\"{}\">{module}</text>",
            BOX[0],
            BOX[1],
            x + BOX[0] / 2,
            y + BOX[1] / 2 + 5
        );
    }
    out + "</svg>\n"
}
