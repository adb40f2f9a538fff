//! The part of a case in `--format json`: which of its elements a line is about, and what `cargo volta merge` needs to put
//! the parts together.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use volta_case::Shard;

use super::Checked;
use crate::beside::hex;
use crate::cache;
use crate::run::core_case;

/// The part of a case that a line is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
pub(in crate::cli) struct PartLine {
    /// The name of the whole case.
    pub(in crate::cli) case: String,
    /// Its number, from 1.
    pub(in crate::cli) part: u32,
    /// The number of parts.
    pub(in crate::cli) of: u32,
    /// The first of its elements; those of all outputs are numbered together, in the order of their declaration.
    pub(in crate::cli) first: u64,
    /// The element behind its last one.
    pub(in crate::cli) end: u64,
    /// The number of elements of all parts.
    pub(in crate::cli) elements: u64,
    /// The kernels of the reference, as the case spells them.
    pub(in crate::cli) reference: String,
    /// The kernels that are compared with it.
    pub(in crate::cli) opt: String,
    /// How many conditions of the domain are not listed.
    pub(in crate::cli) domain_more: usize,
    /// The version of the program, and a digest of the verifier's source.
    pub(in crate::cli) program: String,
    /// A digest of what was verified: the PTX, and all that the case says of parameters, launches and rules.
    pub(in crate::cli) inputs: String,
    /// A digest of the line, as far as `cargo volta merge` relies on it.
    pub(in crate::cli) seal: String,
}

/// What else a line says of a part.
#[derive(Serialize)]
pub(in crate::cli) struct Said<'l> {
    pub(in crate::cli) name: &'l str,
    pub(in crate::cli) outcome: &'l str,
    pub(in crate::cli) expected: Option<&'l str>,
    pub(in crate::cli) verdict: Option<&'l str>,
    pub(in crate::cli) assumptions: Vec<&'l str>,
    pub(in crate::cli) conditions: &'l [String],
    pub(in crate::cli) restricted: bool,
    pub(in crate::cli) domain: &'l [String],
    pub(in crate::cli) elements_compared: u64,
    pub(in crate::cli) elements_unwritten: u64,
}

impl PartLine {
    /// The part of a case that was run, without its seal; `None` if it is not one of several.
    pub(in crate::cli) fn of(checked: &Checked) -> Option<PartLine> {
        let case = checked.case.as_ref()?;
        let shard = case.shard?;
        let elements = case.elements();
        let Range { start: first, end } = shard.share(elements);
        let report = checked.run.report.as_ref();
        Some(PartLine {
            case: Shard::split(&case.name).0.into(),
            part: shard.part,
            of: shard.of,
            first,
            end,
            elements,
            reference: case.reference.as_ref().map(|side| side.shown()).unwrap_or_default(),
            opt: case.opt.shown(),
            domain_more: report.map_or(0, |report| report.scope.more),
            program: format!("{} ({})", env!("CARGO_PKG_VERSION"), volta_core::SOURCE_DIGEST),
            inputs: core_case(case, &checked.run.texts).map(|case| cache::digest(&case)).unwrap_or_default(),
            seal: String::new(),
        })
    }

    /// The part with its seal.
    pub(in crate::cli) fn sealed(self, said: &Said<'_>) -> PartLine {
        PartLine { seal: self.seal_for(said), ..self }
    }

    /// Whether neither the part nor what the line says has changed since it was written.
    pub(in crate::cli) fn is_intact(&self, said: &Said<'_>) -> bool {
        self.seal == self.seal_for(said)
    }

    fn seal_for(&self, said: &Said<'_>) -> String {
        let part = PartLine { seal: String::new(), ..self.clone() };
        // Both are plain data, which JSON can express.
        let text = serde_json::to_string(&(part, said)).unwrap_or_default();
        hex(Sha256::digest(text.as_bytes()))
    }
}
