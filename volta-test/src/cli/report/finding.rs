//! The findings of a case, each with its location, for formats that point into files.

use volta_core::case::Which;
use volta_core::verdict::{Fault, InputError, Verdict};

use super::Checked;
use crate::case::Case;
use crate::manifest::position;
use crate::prepare::{Texts, shown};
use crate::render::source::{Location, locate, locate_in_case};
use crate::render::{at_size, clean, headline};

/// One finding.
#[derive(Debug)]
pub(super) struct Finding {
    /// The rule that is broken, or the name of the verdict.
    pub(super) id: String,
    pub(super) message: String,
    pub(super) at: Option<Location>,
    /// Further sites: what happens there, and the location.
    pub(super) sites: Vec<(String, Location)>,
}

/// All findings of a case; empty if it is as expected.
pub(super) fn findings(checked: &Checked) -> Vec<Finding> {
    let run = &checked.run;
    if checked.is_good() {
        return Vec::new();
    }
    let file = |line, column| {
        let path = shown(checked.file.as_deref()?);
        Some(Location { path, line, column })
    };
    let one = |id: &str, message: &str, at: Option<Location>| Finding {
        id: id.to_owned(),
        message: clean(message),
        at: at.or_else(|| file(1, 1)),
        sites: Vec::new(),
    };
    if let Some(unreadable) = &checked.unreadable {
        let found = unreadable.problems.iter().map(|problem| {
            let (line, column) = position(&unreadable.text, &problem.span);
            let help = problem.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
            one("input-error", &format!("{}{help}", problem.message), file(line as u32, column as u32))
        });
        return found.collect();
    }
    let (Some(case), Some(report)) = (&checked.case, &run.report) else {
        let message = run.obstacle.as_ref().map_or(String::new(), ToString::to_string);
        return vec![one("input-error", &message, None)];
    };
    let reason = run.failures.join("\n");
    let verdict = &report.verdict;
    let details = headline(case, verdict).into_iter().chain(at_size(report));
    let message = std::iter::once(reason.clone()).chain(details).collect::<Vec<_>>().join("\n");
    match verdict {
        _ if run.compared.is_some() => vec![one("snapshot", &reason, None)],
        Verdict::Fault(fault) => {
            let others = report.also.iter().map(|fault| {
                let message = headline(case, &Verdict::Fault(fault.clone())).unwrap_or_default();
                of_fault(checked, case, fault, message)
            });
            let mut first = of_fault(checked, case, fault, message);
            first.at = first.at.or_else(|| file(1, 1));
            std::iter::once(first).chain(others).collect()
        }
        Verdict::InputError(error) => {
            let help = error.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
            vec![one("input-error", &format!("{message}{help}"), place_of_error(case, &run.texts, error))]
        }
        Verdict::Equivalent
        | Verdict::EquivalentWhere(_)
        | Verdict::Same(_)
        | Verdict::Different(_)
        | Verdict::Unknown(_)
        | Verdict::Clean => vec![one(&verdict.name(), &message, None)],
    }
}

/// The location of an input error, in the case or in its PTX.
pub(super) fn place_of_error(case: &Case, texts: &Texts, error: &InputError) -> Option<Location> {
    match (&error.place, &error.part) {
        (Some(place), _) => {
            let side = error.side.unwrap_or(Which::Opt);
            locate(&case.home, case.kernel(side, place.step), texts.of(case, side, place.step), place)
        }
        (None, Some(part)) => {
            locate_in_case(&case.home, error.side.map(|side| (side, case.side(side).once(error.step))), part)
        }
        (None, None) => None,
    }
}

fn of_fault(checked: &Checked, case: &Case, fault: &Fault, message: String) -> Finding {
    let sites = fault.sites.iter().enumerate().filter_map(|(at, site)| {
        let who = site.thread.map_or(String::new(), |thread| format!("{thread} "));
        let place = site.place.as_ref()?;
        let kernel = case.kernel(fault.side, place.step);
        let location = locate(&case.home, kernel, checked.run.texts.of(case, fault.side, place.step), place)?;
        Some((clean(&format!("({}) {who}{}", at + 1, site.action)), location))
    });
    let mut sites: Vec<(String, Location)> = sites.collect();
    let at = sites.first().map(|(_, location)| location.clone());
    // A single site is the location of the finding itself.
    if sites.len() == 1 {
        sites.clear();
    }
    let help = fault.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
    Finding { id: fault.rule.into(), message: clean(&format!("{message}{help}")), at, sites }
}
