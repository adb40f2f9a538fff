//! Certificates: `cargo volta check --certificate` writes them, `cargo volta certify` checks them.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use serde::Serialize;
use volta_certificate::{Certificate, Checked, Table, check};
use volta_core::certificate::{STEPS, Text, certificate};
use volta_core::verdict::Verdict;

use super::{Exit, complain};
use crate::beside::slashed;
use crate::case::Case;
use crate::files;
use crate::render;
use crate::run::{Run, core_case};

/// Arguments of `cargo volta certify`.
#[derive(Debug, Args)]
#[command(after_help = "\
A certificate has the terms that both kernels computed, as they were executed, and for each class of output elements a \
proof that they are equal wherever the reference is defined. The checker computes its own forms of these terms, by laws of \
the verifier's table, which it compares with its own code first. That the terms are what the kernels compute, and which \
elements are in a class, is not certified: docs/proofs.md says what is.

Examples:
  cargo volta check fixtures/softmax --certificate
  cargo volta certify certificates/softmax__online_4.certificate

Exit codes: 0 all proofs hold, 1 one is refused, 2 a file is no certificate.")]
pub(super) struct CertifyArgs {
    /// The certificates
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// What a certificate shows.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
pub(super) struct Certified {
    /// The file.
    file: String,
    /// The elements whose equality the checker has replayed, themselves or as translations of others.
    certified: u64,
    /// All compared elements.
    elements: u64,
    /// The classes of elements that were proved one by one.
    classes: usize,
    /// What the proofs of the other elements rest on.
    open: Vec<OpenLine>,
    /// The proofs that the checker refused: none, unless something is wrong.
    refused: Vec<String>,
    /// How literals are read.
    readings: Vec<String>,
    /// Bytes of the certificate.
    bytes: u64,
    /// Seconds to write it, execution of the kernels included.
    write_seconds: f64,
    /// Seconds to check it.
    check_seconds: f64,
}

/// Elements without a certificate.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct OpenLine {
    /// The first of them.
    element: String,
    /// Their number.
    elements: u64,
    /// Why the checker's laws did not suffice.
    why: String,
}

impl Certified {
    /// Writes the certificate of a case that is equivalent, and checks it. A failure to do so is a note of the run.
    pub(super) fn of(case: &Case, run: &mut Run, into: &Path) -> Option<Certified> {
        let report = run.report.as_ref()?;
        if report.verdict != Verdict::Equivalent {
            return None;
        }
        let begin = Instant::now();
        let made = core_case(case, &run.texts).ok_or_else(|| "there is no PTX".to_string());
        let made = made.and_then(|core| {
            volta_core::conditions(&core).map_err(|verdict| {
                if let Verdict::Fault(_) = verdict {
                    "its bits are proved to be the same (B1), which certificates are not about".to_string()
                } else {
                    format!("nothing remains to be proved: {}", verdict.name())
                }
            })
        });
        let text = made.map(|conditions| Text(&certificate(&conditions, &case.name)).to_string());
        let write_seconds = begin.elapsed().as_secs_f64();
        let written = text.and_then(|text| {
            let name = case.name.replace("::", "__");
            let name = name.replace(|c: char| !c.is_alphanumeric() && !"=,.-_".contains(c), "_");
            let path = into.join(format!("{name}.certificate"));
            let write = || -> io::Result<()> {
                std::fs::create_dir_all(into)?;
                files::write(&path, text.as_bytes())
            };
            write().map_err(|error| format!("{}: {error}", path.display()))?;
            Certified::read(&path, &text, write_seconds)
        });
        match written {
            Ok(certified) => Some(certified),
            Err(why) => {
                run.notes.push(format!("it has no certificate: {why}"));
                None
            }
        }
    }

    /// Checks a certificate, as it was written.
    fn read(path: &Path, text: &str, write_seconds: f64) -> Result<Certified, String> {
        let begin = Instant::now();
        let certificate: Certificate = text.parse()?;
        let Checked { refused, open, readings, certified, elements } =
            check(&certificate, Table::standard(), STEPS);
        let open = open.into_iter().map(|(element, elements, why)| OpenLine { element, elements, why });
        let classes = certificate.classes.iter().filter(|class| class.elements > 0).count() - open.len();
        let refused = refused.into_iter().map(|(name, why)| format!("{name}: {why}"));
        Ok(Certified {
            file: slashed(path),
            certified,
            elements,
            classes,
            open: open.collect(),
            refused: refused.collect(),
            readings,
            bytes: text.len() as u64,
            write_seconds,
            check_seconds: begin.elapsed().as_secs_f64(),
        })
    }
}

/// The lines below a case.
impl fmt::Display for Certified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Certified { certified, elements, classes, .. } = self;
        let many = if *classes == 1 { "class" } else { "classes" };
        write!(f, "  certified {certified} of {elements} elements, in {classes} {many}")?;
        for OpenLine { element, elements, why } in &self.open {
            write!(
                f,
                "\n    without a certificate: {elements}, which rest on the verifier alone ({}: {})",
                render::clean_line(element),
                render::clean_line(why)
            )?;
        }
        for refused in &self.refused {
            write!(f, "\n    refused: {}", render::clean_line(refused))?;
        }
        for reading in &self.readings {
            write!(f, "\n    reading {}", render::clean_line(reading))?;
        }
        Ok(())
    }
}

pub(super) fn certify(arguments: &CertifyArgs, out: &mut impl Write) -> io::Result<Exit> {
    let mut exit = Exit::Good;
    for path in &arguments.files {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
        match text.and_then(|text| Certified::read(path, &text, 0.0)) {
            Ok(certified) => {
                writeln!(out, "{}\n{certified}", render::clean_line(&certified.file))?;
                if !certified.refused.is_empty() {
                    exit = exit.max(Exit::Failed);
                }
            }
            Err(why) => {
                complain(&format!("{}: {why}", path.display()));
                exit = Exit::CouldNotRun;
            }
        }
    }
    Ok(exit)
}
