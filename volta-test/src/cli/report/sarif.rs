//! `--format sarif`: one document in SARIF 2.1.0, which code scanning services read.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::finding::{Finding, findings};
use super::{Checked, Reporter, Summary};
use crate::beside::slashed;
use crate::render::rules;
use crate::render::source::Location;

/// Collects all findings.
#[derive(Default)]
pub(super) struct Sarif {
    results: Vec<Value>,
    /// The rules of the results.
    rules: BTreeMap<String, Value>,
}

impl Reporter for Sarif {
    fn case(&mut self, checked: &Checked, _out: &mut dyn Write) -> io::Result<()> {
        for (number, finding) in findings(checked).into_iter().enumerate() {
            self.results.push(result(&checked.name, number, &finding));
            self.rules.entry(finding.id.clone()).or_insert_with(|| rule(&finding.id));
        }
        Ok(())
    }

    fn end(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let rules: Vec<&Value> = self.rules.values().collect();
        let document = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "volta",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                } },
                "invocations": [{
                    "executionSuccessful": summary.could_not_run == 0,
                    "exitCode": summary.exit() as u8,
                }],
                "columnKind": "unicodeCodePoints",
                "results": self.results,
            }],
        });
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    }
}

fn rule(id: &str) -> Value {
    match rules::find(id) {
        Some(entry) => json!({
            "id": id,
            "shortDescription": { "text": entry.meaning },
            "fullDescription": { "text": entry.more },
        }),
        None => json!({ "id": id }),
    }
}

fn result(name: &str, number: usize, finding: &Finding) -> Value {
    let mut result = json!({
        "ruleId": finding.id,
        "level": "error",
        "message": { "text": format!("{name}: {}", finding.message) },
        "partialFingerprints": { "case/v1": format!("{name} {} {number}", finding.id) },
    });
    if let Some(at) = &finding.at {
        result["locations"] = json!([{ "physicalLocation": physical(at) }]);
    }
    if !finding.sites.is_empty() {
        let sites = finding.sites.iter().enumerate().map(|(number, (what, at))| {
            json!({ "id": number + 1, "message": { "text": what }, "physicalLocation": physical(at) })
        });
        result["relatedLocations"] = sites.collect();
    }
    result
}

fn physical(at: &Location) -> Value {
    json!({
        "artifactLocation": { "uri": uri(&slashed(&at.path)) },
        "region": { "startLine": at.line.max(1), "startColumn": at.column.max(1) },
    })
}

/// A path as a URI: special characters are percent-encoded.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => {
                uri.push(byte as char)
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}
