//! The phases of barriers in memory, as text.

use std::fmt::Write as _;

use volta_core::case::{Argument, ParamKind, Which};
use volta_core::verdict::{Fault, PhaseLine, Site};

use super::source::{calls, excerpt};
use super::wrap::wrapped;
use super::{clean, clean_line};
use crate::case::{Case, Kernel};
use crate::prepare::{Ptx, Texts};

/// A paragraph for each barrier.
pub(super) fn text(case: &Case, texts: &Texts, fault: &Fault) -> String {
    let (side, step, barriers) = (fault.side, fault.step, &fault.phases);
    let (kernel, ptx) = (case.kernel(side, step), texts.of(case, side, step));
    let mut text = String::new();
    for barrier in barriers {
        let name = format!("phases of the barrier at {}", clean_line(&barrier.name));
        let _ = writeln!(text, "  {}", wrapped(&name, 2, 4));
        for phase in &barrier.phases {
            let _ = writeln!(text, "    {}", head(phase));
            for step in &phase.steps {
                let _ = writeln!(text, "      {}", wrapped(&line(case, kernel, ptx, step), 6, 8));
            }
            if phase.has_more {
                let _ = writeln!(text, "      and others");
            }
        }
    }
    if barriers.iter().flat_map(|barrier| &barrier.phases).any(|phase| phase.bytes.0 != phase.bytes.1) {
        for line in boxes(case, side, kernel) {
            let _ = writeln!(text, "  {}", wrapped(&clean_line(&line), 2, 4));
        }
    }
    clean(&text)
}

/// The bytes of the boxes of each tensor map: a wrong box brings other bytes than a phase expects.
fn boxes(case: &Case, side: Which, kernel: &Kernel) -> Vec<String> {
    let line = |argument: &Argument| {
        let Argument::Map { name, map } = argument else { return None };
        let param = case.params.iter().find(|param| param.name == map.of)?;
        let ParamKind::Tensor { reference, opt, .. } = &param.kind else { return None };
        let element = if side == Which::Reference { reference } else { opt };
        let count =
            map.r#box.iter().try_fold(u64::from(element.bytes()), |all, extent| all.checked_mul(*extent))?;
        let extents: Vec<String> = map.r#box.iter().map(u64::to_string).collect();
        Some(format!(
            "a box of `{name}` is {} elements of {}, {count} bytes: correct `box` if a phase expects others",
            extents.join(" × "),
            element.name()
        ))
    };
    kernel.args.iter().flatten().filter_map(line).collect()
}

fn head(phase: &PhaseLine) -> String {
    let ((arrived, count), (came, expected)) = (phase.arrivals, phase.bytes);
    let state = if phase.is_over { "over" } else { "open" };
    let arrivals = if count == 1 { "arrival" } else { "arrivals" };
    let bytes = match (came, expected) {
        (0, 0) => String::new(),
        (_, _) => format!(", {came} of {expected} bytes"),
    };
    format!("{} (parity {}), {state}: {arrived} of {count} {arrivals}{bytes}", phase.number, phase.number & 1)
}

fn line(case: &Case, kernel: &Kernel, ptx: Option<&Ptx>, step: &Site) -> String {
    let who = step.thread.map_or(String::new(), |thread| format!(" {thread}"));
    let place = step.place.as_ref();
    let call = place.and_then(|place| calls(&case.home, kernel, place).into_iter().next());
    let shown = call.or_else(|| place.and_then(|place| excerpt(&case.home, kernel, ptx, place)));
    let place = shown.map_or(String::new(), |shown| {
        let file = shown.path.rsplit('/').next().unwrap_or_default();
        format!(", {file}:{}", shown.number())
    });
    clean_line(&format!("{}{who}{place}", step.action))
}
