//! `cargo volta report`, `--format html`: one self-contained page about a run. A script of its own filters cases; the page
//! is complete without it, and its policy allows no other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};

use volta_core::verdict::{Fault, Verdict};

use super::finding::findings;
use super::{Checked, Reporter, Summary, message};
use crate::case::Case;
use crate::render::source::{Excerpt, excerpt};
use crate::render::{self, Paint, escaped, map, rules, timeline};

/// The number of lines that are shown around a marked line of a source.
const AROUND: usize = 4;
/// A source with more lines is shown only in part.
const WHOLE_SOURCE: usize = 400;

/// Families of more cases than this, in all, are folded unless a case in them is not as expected.
const UNFOLDED: usize = 40;
/// What filters cases, and the hash by which the policy of the page knows it.
const SCRIPT: &str = include_str!("page.js");
const SCRIPT_HASH: &str = "a3MD7X5aw+JdI/1Bg6gCUYGwCH0hRkyxyY7xH2CI8S4=";

/// A case in the table.
struct Row {
    family: String,
    is_good: bool,
    verdict: String,
    row: String,
    section: String,
}

/// Collects the results of all cases.
#[derive(Default)]
pub(super) struct Html {
    rows: Vec<Row>,
}

impl Reporter for Html {
    fn case(&mut self, checked: &Checked, _out: &mut dyn Write) -> io::Result<()> {
        let (id, plain) = (self.rows.len() + 1, render::clean_line(&checked.name));
        let name = escaped(&plain);
        // Long names may be broken after `::`.
        let broken = name.replace("::", "::<wbr>");
        let pill = pill(checked);
        let coverage = checked.run.report.as_ref().map(|report| report.coverage).unwrap_or_default();
        let elements = match coverage.total {
            0 => "–".to_owned(),
            total => format!("{} of {total}", coverage.compared),
        };
        let verdict = match checked.skipped {
            true => "not run".to_owned(),
            false => checked.run.verdict_shown(),
        };
        let data = format!("data-name=\"{name}\" data-verdict=\"{}\"", escaped(&verdict));
        let row = format!(
            "<tr {data}><td><a href=\"#case-{id}\">{broken}</a></td><td>{pill}</td>\
             <td class=\"number\">{elements}</td><td class=\"number\">{:.3}</td></tr>\n",
            checked.run.seconds
        );
        let section = format!(
            "<section id=\"case-{id}\" {data}><div class=\"head\"><h2>{broken}</h2>{pill}</div>\n{}</section>\n",
            body(checked)
        );
        let family = plain.split_once("::").map_or("", |(family, _)| family).to_owned();
        self.rows.push(Row { family, is_good: checked.is_good() || checked.skipped, verdict, row, section });
        Ok(())
    }

    fn end(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let style = include_str!("page.css");
        let families: String =
            summary.families.lines().map(|line| format!("<li>{}</li>\n", escaped(&line))).collect();
        let families = match families.is_empty() {
            true => families,
            false => format!("<ul class=\"families\">\n{families}</ul>\n"),
        };
        // Those that need somebody come first.
        self.rows.sort_by_key(|row| row.is_good);
        let sections: String = self.rows.iter().map(|row| row.section.as_str()).collect();
        writeln!(
            out,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
             script-src 'sha256-{SCRIPT_HASH}'\">\n\
             <title>Volta: {line}</title>\n<style>\n{style}</style></head>\n<body>\n\
             <h1>Volta</h1>\n<p>{line}, in {:.1} s, by version {}</p>\n{families}{}{}\n{sections}\
             <script>{SCRIPT}</script></body></html>",
            summary.seconds,
            env!("CARGO_PKG_VERSION"),
            self.filter(),
            self.tables(),
            line = escaped(&summary.line()),
        )?;
        out.flush()
    }
}

impl Html {
    /// The fields by which cases are chosen, which the script shows.
    fn filter(&self) -> String {
        let verdicts: BTreeSet<&str> = self.rows.iter().map(|row| row.verdict.as_str()).collect();
        let option = |verdict: &&str| {
            let verdict = escaped(verdict);
            format!("<option value=\"{verdict}\">{verdict}</option>")
        };
        let options: String = verdicts.iter().map(option).collect();
        format!(
            "<form class=\"filter\" hidden><input type=\"search\" placeholder=\"name of a case\" aria-label=\"name of a \
             case\"><select aria-label=\"verdict\"><option value=\"\">all verdicts</option>{options}</select>\
             <output></output></form>\n"
        )
    }

    /// A table for what is not as expected, and one for each family of the others.
    fn tables(&self) -> String {
        let (good, bad): (Vec<&Row>, Vec<&Row>) = self.rows.iter().partition(|row| row.is_good);
        let mut text = String::new();
        if !bad.is_empty() {
            text += &table("not as expected", &bad, true);
        }
        let mut families: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for row in &good {
            families.entry(&row.family).or_default().push(row);
        }
        let is_open = good.len() <= UNFOLDED;
        match families.len() {
            0 => {}
            1 => text += &table("as expected", &good, true),
            2.. => families.iter().for_each(|(family, rows)| text += &table(family, rows, is_open)),
        }
        text
    }
}

/// A table that can be folded.
fn table(title: &str, rows: &[&Row], is_open: bool) -> String {
    let body: String = rows.iter().map(|row| row.row.as_str()).collect();
    let title = if title.is_empty() { "others" } else { title };
    let (open, count) = (if is_open { " open" } else { "" }, rows.len());
    format!(
        "<details class=\"family\"{open}><summary>{} <span class=\"quiet\">{count}</span></summary>\n\
         <table><thead><tr><th>case</th><th>verdict</th><th class=\"number\">elements</th>\
         <th class=\"number\">seconds</th></tr></thead>\n<tbody>\n{body}</tbody></table></details>\n",
        escaped(title)
    )
}

/// The name of the verdict, in its colour, and whether it was expected.
fn pill(checked: &Checked) -> String {
    let run = &checked.run;
    if checked.skipped {
        return "<span class=\"verdict doubt\">not run</span>".into();
    }
    let is_good = checked.is_good();
    let class = match run.report.as_ref().map(|report| &report.verdict) {
        Some(Verdict::Equivalent | Verdict::Same(_) | Verdict::Clean) if run.guesses.is_empty() => "good",
        Some(
            Verdict::Equivalent
            | Verdict::Same(_)
            | Verdict::Clean
            | Verdict::Unknown(_)
            | Verdict::EquivalentWhere(_),
        ) => "doubt",
        // A difference or a fault that is expected is nothing to be mended.
        Some(Verdict::Different(_) | Verdict::Fault(_) | Verdict::InputError(_)) if is_good => "known",
        Some(Verdict::Different(_) | Verdict::Fault(_) | Verdict::InputError(_)) | None => "bad",
    };
    let (note, of_note) = match is_good {
        true => ("as expected", "quiet"),
        false => ("not as expected", "bad"),
    };
    let name = escaped(&run.verdict_shown());
    format!("<span class=\"verdict {class}\">{name}</span> <span class=\"note {of_note}\">{note}</span>")
}

fn body(checked: &Checked) -> String {
    let mut text = String::new();
    let Some(case) = &checked.case else {
        list(&mut text, "findings", findings(checked).iter().map(|finding| finding.message.clone()));
        return text;
    };
    for about in [&case.description, &case.about.why].into_iter().flatten() {
        let _ = writeln!(text, "<p>{}</p>", prose(about));
    }
    list(&mut text, "not as expected", checked.run.failures.iter().cloned());
    if let Some(obstacle) = &checked.run.obstacle {
        list(&mut text, "could not run", std::iter::once(obstacle.to_string()));
    }
    let Some(report) = &checked.run.report else { return text };
    if let Verdict::Fault(fault) = &report.verdict {
        text.push_str(&of_fault(checked, case, fault));
        if let Some(fix) = &checked.run.fix {
            let fix = render::fix(case, &checked.run.texts, fault.side, fix);
            let _ = writeln!(text, "<p><strong class=\"good\">fix</strong> {}</p>", prose(&fix));
        }
        for fault in &report.also {
            text.push_str(&of_fault(checked, case, fault));
        }
    }
    for map in report.maps.iter().filter(|map| !map.differing.is_empty()) {
        let _ = writeln!(text, "<h3>{}</h3>\n{}", escaped(&map::caption(map)), map::svg(map));
    }
    if let Verdict::EquivalentWhere(conditions) = &report.verdict {
        list(&mut text, "equal where", conditions.iter().cloned());
    }
    if let Verdict::InputError(_) = &report.verdict {
        list(&mut text, "findings", findings(checked).iter().map(|finding| finding.message.clone()));
    }
    if let Some(parting) = render::parting(report) {
        list(&mut text, "where the kernels part", std::iter::once(parting));
    }
    list(&mut text, "at most, line by line", render::ranges(report).into_iter());
    list(&mut text, "digits are lost", render::losses(report).into_iter());
    list(&mut text, "errors, at most", render::errors(report).into_iter());
    for output in &report.errors {
        text.push_str(&render::error_picture(output, &[]));
    }
    list(&mut text, "claims that hold", report.holds.iter().cloned());
    let titles = match (&report.verdict, report.formulas.as_slice()) {
        (_, [_]) => ["computes", ""],
        (Verdict::Different(_), _) => [
            "the reference computes; what is not the same in both is marked",
            "the optimized kernel computes",
        ],
        _ => ["the reference computes", "the optimized kernel computes"],
    };
    for (title, formula) in titles.iter().zip(&report.formulas) {
        let _ = writeln!(text, "<h3>{title}</h3>\n<div class=\"formula\">{}</div>", formula.mathml);
    }
    if report.formulas.iter().any(|formula| formula.mathml.contains("<mo>′</mo>")) {
        text.push_str("<p class=\"quiet\">With a prime: after the launch; without: before it.</p>\n");
    }
    list(&mut text, "inputs that are not used", render::unused(case, report).into_iter());
    list(&mut text, "assuming", report.assumptions.iter().map(|assumption| assumption.to_string()));
    let said = escaped(&message(checked, Paint::PLAIN));
    // The full message is unfolded for verdicts whose details are in no section above.
    let open = match &report.verdict {
        Verdict::Equivalent
        | Verdict::EquivalentWhere(_)
        | Verdict::Same(_)
        | Verdict::Clean
        | Verdict::Fault(_) => "",
        Verdict::Different(_) | Verdict::Unknown(_) | Verdict::InputError(_) => " open",
    };
    let title = "all that cargo volta check says";
    let _ = writeln!(text, "<details{open}><summary>{title}</summary><pre>{said}</pre></details>");
    text
}

/// A list below a title; nothing when it is empty.
fn list(text: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let items: String = items.map(|item| format!("<li>{}</li>\n", prose(&item))).collect();
    if !items.is_empty() {
        let _ = writeln!(text, "<h3>{title}</h3>\n<ul>\n{items}</ul>");
    }
}

/// The section of a fault: message, timeline, sources.
fn of_fault(checked: &Checked, case: &Case, fault: &Fault) -> String {
    let title = render::headline(case, &Verdict::Fault(fault.clone())).unwrap_or_default();
    let mut text = format!("<h3>{}</h3>\n", prose(&title));
    if let Some(timeline) = &fault.timeline {
        let _ = writeln!(text, "<div class=\"scroll\">{}</div>", timeline::svg(timeline));
    }
    let mut files: Vec<(Excerpt, BTreeMap<usize, Vec<String>>)> = Vec::new();
    for (at, site) in fault.sites.iter().enumerate() {
        let who = site.thread.map_or(String::new(), |thread| format!("{thread} "));
        let said = format!("({}) {who}{}", at + 1, site.action);
        let shown = site.place.as_ref().and_then(|place| {
            let (side, step) = (fault.side, place.step);
            excerpt(&case.home, case.kernel(side, step), checked.run.texts.of(case, side, step), place)
        });
        let Some(shown) = shown else {
            let _ = writeln!(text, "<p>{}</p>", prose(&said));
            continue;
        };
        let line = shown.number();
        let known = files.iter().position(|(file, _)| file.same_text(&shown)).unwrap_or_else(|| {
            files.push((shown, BTreeMap::new()));
            files.len() - 1
        });
        files[known].1.entry(line).or_default().push(said);
    }
    for (file, marks) in &files {
        text.push_str(&source(file, marks));
    }
    if let Some(meaning) = rules::meaning(fault.rule) {
        let _ = writeln!(text, "<p class=\"quiet\">{}: {}</p>", fault.rule, prose(meaning));
    }
    if let Some(help) = &fault.help {
        let _ = writeln!(text, "<p><strong>help:</strong> {}</p>", prose(help));
    }
    text
}

/// A source with the remarks on its lines.
fn source(file: &Excerpt, marks: &BTreeMap<usize, Vec<String>>) -> String {
    let is_near = |line: usize| marks.keys().any(|marked| marked.abs_diff(line) <= AROUND);
    let lines: Vec<&str> = file.text.lines().collect();
    let show = |whole: bool| {
        let mut text = String::from("<pre class=\"source\">");
        let mut skipped = false;
        for (line, content) in (file.first_line..).zip(&lines) {
            if !whole && !is_near(line) {
                skipped = true;
                continue;
            }
            if std::mem::take(&mut skipped) {
                text += "<span class=\"number\">⋮</span>\n";
            }
            let class = if marks.contains_key(&line) { " class=\"marked\"" } else { "" };
            let _ = writeln!(
                text,
                "<span{class}><span class=\"number\">{line}</span>{}</span>",
                escaped(content)
            );
            for said in marks.get(&line).into_iter().flatten() {
                let _ = writeln!(text, "<span class=\"said\">{}</span>", prose(said));
            }
        }
        text + "</pre>\n"
    };
    let mut text = format!("<p class=\"quiet\">{}</p>\n{}", escaped(&file.path), show(false));
    if lines.len() <= WHOLE_SOURCE && (file.first_line..).take(lines.len()).any(|line| !is_near(line)) {
        let _ = writeln!(text, "<details><summary>the whole file</summary>{}</details>", show(true));
    }
    text
}

/// Sentences, in their lines; text between backticks becomes code.
fn prose(text: &str) -> String {
    let escaped = escaped(text).replace('\n', "<br>");
    let parts: Vec<&str> = escaped.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escaped;
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => (*part).to_owned(),
        _ => format!("<code>{part}</code>"),
    };
    parts.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use volta_case::InputProblem;

    use super::*;
    use crate::prepare::Obstacle;
    use crate::run::Run;

    /// Whether a page loads or runs anything.
    fn is_inert(page: &str) -> bool {
        !["<link", "<img", "<iframe", " src=", "url(", "@import", "javascript:", " onload", " onclick"]
            .iter()
            .any(|part| page.contains(part))
    }

    #[test]
    fn nothing_of_a_case_is_markup() {
        let mut html = Html::default();
        let stopped = Run::stopped(Obstacle::new(InputProblem::NoCase, "<b id='x'>", None));
        let checked = Checked::new("a<script>b", None, stopped);
        let mut page = Vec::new();
        html.case(&checked, &mut page).expect("a string can be written to");
        html.end(&Summary::default(), &mut page).expect("a string can be written to");
        let page = String::from_utf8(page).expect("it is text");
        let (before, after) = page.split_once(&format!("<script>{SCRIPT}</script>")).expect("its own script");
        assert!(![before, after].iter().any(|part| part.contains("<script")), "{page}");
        assert!(is_inert(&page) && page.contains("a&lt;script&gt;b"), "{page}");
        assert!(page.contains("&lt;b id=&#39;x&#39;&gt;"), "{page}");
    }

    /// Groups of six bits, as letters.
    fn base64(bytes: &[u8]) -> String {
        const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for chunk in bytes.chunks(3) {
            let word =
                chunk.iter().fold(0, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
            let letter = |at: usize| LETTERS[(word >> (18 - 6 * at) & 63) as usize] as char;
            text.extend((0..4).map(|at| if at <= chunk.len() { letter(at) } else { '=' }));
        }
        text
    }

    #[test]
    fn the_policy_knows_the_script() {
        use sha2::{Digest, Sha256};
        assert_eq!(SCRIPT_HASH, base64(&Sha256::digest(SCRIPT)));
    }
}
