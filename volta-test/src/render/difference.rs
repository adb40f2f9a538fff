//! *Different*: which element, by how much, at which inputs.

use std::fmt::Write as _;

use volta_core::case::Which;
use volta_core::verdict::{Difference, How, Report};

use super::{Paint, bullets, clean_line, proof};
use crate::case::Case;

/// A witness with more inputs is cut.
const MAX_INPUTS: usize = 24;

pub(super) fn render(case: &Case, report: &Report, difference: &Difference, paint: Paint) -> String {
    let reference = case.reference.as_ref().map(|kernel| clean_line(&kernel.shown())).unwrap_or_default();
    let opt = clean_line(&case.opt.shown());
    let mut text = format!("{} {}\n", paint.bad("different:"), headline(difference));
    match &difference.how {
        How::Values(witness) => {
            let width = reference.chars().count().max(opt.chars().count());
            let _ = writeln!(text, "  {reference:<width$}  computes {}", clean_line(&witness.reference));
            let _ = writeln!(text, "  {opt:<width$}  computes {}", clean_line(&witness.opt));
            let shown = witness.inputs.iter().take(MAX_INPUTS);
            let mut inputs: Vec<String> = shown.map(|(name, value)| format!("{name} = {value}")).collect();
            if witness.inputs.len() > MAX_INPUTS {
                inputs.push(format!("… and {} more", witness.inputs.len() - MAX_INPUTS));
            }
            let others = match witness.zeros {
                0 => "any value for the others".to_string(),
                1 => "0 for one more, any value for the others".to_string(),
                zeros => format!("0 for {zeros} more, any value for the others"),
            };
            text.push_str(&bullets(&format!("at these inputs ({others})"), &inputs, paint));
        }
        How::Unwritten { by } => {
            let (silent, writes) = match by {
                Which::Reference => (&reference, &opt),
                Which::Opt => (&opt, &reference),
            };
            let _ = writeln!(text, "  {writes} writes it, {silent} does not");
        }
        How::NobodyWrites => {
            let _ = writeln!(text, "  neither kernel writes it");
            let help = "if that is meant, say `partial = true`; if only some CTAs ran, see `ctas`";
            let _ = writeln!(text, "  {} {help}", paint.bold("help:"));
        }
    }
    let _ = writeln!(text, "  {}", proof::coverage(case, report));
    text.push_str(&bullets("assuming", &report.assumptions, paint));
    text
}

/// `the kernels differ in y[3]`
pub(super) fn headline(difference: &Difference) -> String {
    let index: Vec<String> = difference.index.iter().map(u64::to_string).collect();
    let element = format!("{}[{}]", clean_line(&difference.tensor), index.join(", "));
    match difference.how {
        How::Values(_) => format!("the kernels compute different values for {element}"),
        How::Unwritten { .. } => format!("only one kernel writes {element}"),
        How::NobodyWrites => format!("no kernel writes {element}"),
    }
}
