//! Measurements as tables.

use std::fmt::Write;

use super::measure::{Measurement, Reply};
use super::published::Figures;
use crate::cli::report::table::bytes;
use crate::render::{Paint, clean_line};

/// A table.
struct Table {
    title: &'static str,
    columns: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

/// Whether a column contains words; the others contain figures.
fn is_text(column: &str) -> bool {
    ["case", "verdict", "published as"].contains(&column)
}

/// The tables as aligned columns.
pub(super) fn text(rows: &[Measurement], paint: Paint) -> String {
    let mut out = String::new();
    for table in tables(rows) {
        let width = |at: usize| {
            let cells = table.rows.iter().map(|row| row[at].chars().count());
            cells.chain([table.columns[at].len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
        let line = |cells: &[String]| {
            let cells = cells.iter().zip(&widths).zip(table.columns).map(|((cell, width), column)| {
                if is_text(column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
        };
        let header: Vec<String> = table.columns.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "{}\n{}", paint.bold(table.title), paint.dim(&line(&header)));
        for row in &table.rows {
            let _ = writeln!(out, "{}", line(row));
        }
        out.push('\n');
    }
    out.pop();
    out
}

/// The tables as Markdown.
pub(super) fn markdown(rows: &[Measurement]) -> String {
    let mut out = String::new();
    for table in tables(rows) {
        let _ = writeln!(out, "### {}\n", table.title);
        let _ = writeln!(out, "| {} |", table.columns.join(" | "));
        let rules: Vec<&str> =
            table.columns.iter().map(|column| if is_text(column) { "---" } else { "--:" }).collect();
        let _ = writeln!(out, "|{}|", rules.join("|"));
        for row in &table.rows {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out.push('\n');
    }
    out.pop();
    out
}

/// The table of whole verifications, and that of single elements, if any were measured.
fn tables(rows: &[Measurement]) -> Vec<Table> {
    let mut tables = vec![
        Table {
            title: "Whole verifications",
            columns: &[
                "case",
                "verdict",
                "published as",
                "generate s",
                "published",
                "solve s",
                "published",
                "total s",
                "elements",
                "canonical",
            ],
            rows: rows.iter().map(times).collect(),
        },
        Table {
            title: "What was verified",
            columns: &[
                "case",
                "verdict",
                "threads",
                "PTX lines",
                "barriers",
                "warp syncs",
                "instructions",
                "terms",
                "peak",
            ],
            rows: rows.iter().map(sizes).collect(),
        },
    ];
    let single: Vec<Vec<String>> =
        rows.iter().filter(|row| row.first_seconds.is_some()).map(elements).collect();
    if !single.is_empty() {
        tables.push(Table {
            title: "Single elements, in ms",
            columns: &[
                "case",
                "verdict",
                "first",
                "published",
                "median",
                "published",
                "z3",
                "published",
                "z3 and axiom",
                "published",
            ],
            rows: single,
        });
    }
    tables
}

fn head(row: &Measurement) -> Vec<String> {
    vec![clean_line(&row.name), row.verdict.clone()]
}

fn times(row: &Measurement) -> Vec<String> {
    let published = |figure: fn(&Figures) -> Option<f64>| {
        row.published.as_ref().and_then(figure).map_or("-".into(), digits)
    };
    let mut cells = head(row);
    cells.extend([
        row.published.as_ref().map_or("-".into(), |figures| clean_line(&figures.kernel)),
        digits(row.generate_seconds),
        published(|figures| figures.generate),
        digits(row.solve_seconds),
        published(|figures| figures.solve),
        digits(row.seconds),
        row.elements.to_string(),
        row.canonical_elements.map_or("-".into(), |elements| elements.to_string()),
    ]);
    cells
}

fn sizes(row: &Measurement) -> Vec<String> {
    // A side that stopped at a fault has no counts.
    let counted = |figures: &[u64]| {
        let sides = figures.iter().zip(&row.threads);
        both(sides.map(|(figure, threads)| if *threads == 0 { "-".into() } else { figure.to_string() }))
    };
    let mut cells = head(row);
    cells.extend([
        counted(&row.threads),
        both(row.ptx_lines.iter().map(u64::to_string)),
        counted(&row.barriers),
        counted(&row.warp_syncs),
        row.thread_instructions.to_string(),
        bytes(row.term_bytes),
        row.peak_memory_bytes.map_or("-".into(), bytes),
    ]);
    cells
}

fn elements(row: &Measurement) -> Vec<String> {
    let published = |figure: fn(&Figures) -> Option<f64>| row.published.as_ref().and_then(figure);
    let plain = |figure| published(figure).map_or("-".into(), milliseconds);
    let solver = |figure| match published(figure) {
        Some(figure) if row.published.as_ref().is_some_and(|figures| figures.z3_unknown) => {
            format!("unknown {}", milliseconds(figure))
        }
        figure => figure.map_or("-".into(), milliseconds),
    };
    let reply = |reply: &Option<Reply>| match reply {
        // `unsat` is the expected answer and is not printed.
        Some(reply) if reply.answer == "unsat" => milliseconds(reply.seconds),
        Some(reply) => format!("{} {}", reply.answer, milliseconds(reply.seconds)),
        None => "-".into(),
    };
    let mut cells = head(row);
    cells.extend([
        row.first_seconds.map_or("-".into(), milliseconds),
        plain(|figures| figures.first),
        row.median_seconds.map_or("-".into(), milliseconds),
        plain(|figures| figures.median),
        reply(&row.z3),
        solver(|figures| figures.z3),
        reply(&row.z3_axiom),
        solver(|figures| figures.z3_axiom),
    ]);
    cells
}

/// The figures of both sides, once where they are the same.
fn both(figures: impl Iterator<Item = String>) -> String {
    let mut figures: Vec<String> = figures.collect();
    figures.dedup();
    if figures.is_empty() { "-".into() } else { figures.join(", ") }
}

fn milliseconds(value: f64) -> String {
    digits(value * 1e3)
}

/// A number with three significant digits, or more if its integer part has more.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 1.0 => 2,
        value if value >= 0.1 => 3,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_that_count() {
        let spelled: Vec<String> = [319.4, 45.44, 3.004, 0.0036, 0.1234].map(digits).into();
        assert_eq!(spelled, ["319", "45.4", "3.00", "0.0036", "0.123"]);
    }

    #[test]
    fn equal_sides_are_told_once() {
        let of = |figures: &[u64]| both(figures.iter().map(u64::to_string));
        assert_eq!([of(&[]), of(&[7]), of(&[7, 7]), of(&[7, 8])], ["-", "7", "7", "7, 8"]);
    }
}
