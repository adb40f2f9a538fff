//! Runs a file test and compares the result with its header.

use crate::OneLaunch as _;
use std::collections::BTreeSet;

use volta_core::case::{Case, Layout, Schedule};
use volta_core::verdict::{Fault, Report, SideStats, Verdict};
use volta_core::{program, ptx, verify};

use super::header::{Command, File};

/// Checks a file test.
///
/// # Errors
/// The first property in which it differs from its header.
pub fn check(file: &File) -> Result<(), String> {
    let text = &file.case.opt.one().ptx;
    let parsed = ptx::parse(text);
    match (file.command, &parsed) {
        (Command::Parse, parsed) => {
            let line = parsed.as_ref().err().map(|error| error.position.line);
            let message = parsed.as_ref().err().map(|error| error.message.clone());
            told(file, line, message)?;
        }
        (Command::Lower, Ok(module)) => {
            let lowered = program::lower(module, text, file.case.opt.one().kernel.as_deref());
            let line = lowered.as_ref().err().and_then(|error| error.span()).map(|span| {
                let before = &text[..span.start as usize];
                before.matches('\n').count() as u32 + 1
            });
            told(file, line, lowered.err().map(|error| error.to_string()))?;
        }
        _ => verdict(file)?,
    }
    let Ok(module) = parsed else { return Ok(()) };
    let printed = ptx::print(&module);
    let again =
        ptx::parse(&printed).map_err(|error| format!("printed, it does not parse: {}", error.message))?;
    if ptx::print(&again) != printed {
        return Err("printing what was printed and parsed gives another text".into());
    }
    if matches!(file.command, Command::Parse | Command::Lower) {
        return Ok(());
    }
    let mut case = file.case.clone();
    case.opt.one_mut().ptx.clone_from(&printed);
    if let Some(reference) = &mut case.reference {
        reference.one_mut().ptx = printed;
    }
    let name = verify(&case).verdict.name();
    if name == file.verdict { Ok(()) } else { Err(format!("printed and parsed again, it is `{name}`")) }
}

/// Compares the result of parsing or lowering, an input error or none, with the header.
fn told(file: &File, line: Option<u32>, message: Option<String>) -> Result<(), String> {
    let name = if message.is_some() { "input-error" } else { "clean" };
    let message = message.unwrap_or_default();
    if name != file.verdict {
        return Err(format!("it is `{name}`, not `{}`: {message}", file.verdict));
    }
    compare_sites(file, line.into_iter().map(|line| (1, line)).collect())?;
    contains(&file.says, &message, "message")
}

fn verdict(file: &File) -> Result<(), String> {
    let report = verify(&file.case);
    let name = report.verdict.name();
    if name != file.verdict {
        return Err(format!("the verdict is `{name}`, not `{}`:\n{:#?}", file.verdict, report.verdict));
    }
    if file.command == Command::Check && file.case.reference.is_none() {
        return Err("there is nothing to compare".into());
    }
    compare_verdict(file, &report.verdict)?;
    compare_findings(file, &report.also)?;
    for wanted in &file.assumes {
        if !report.assumptions.iter().any(|held| held.text.contains(wanted)) {
            return Err(format!("no assumption says `{wanted}`; there are {:?}", report.assumptions));
        }
    }
    let scope = if report.scope.restricted { "allowed" } else { "all" };
    if file.scope.as_ref().is_some_and(|wanted| wanted != scope) {
        return Err(format!("the claim is about `{scope}` inputs"));
    }
    let domain = &report.scope.domain;
    let told = |wanted: &String| match wanted.as_str() {
        "none" => domain.is_empty(),
        _ => domain.iter().any(|condition| condition.contains(wanted)),
    };
    if let Some(wanted) = file.domain.iter().find(|wanted| !told(wanted)) {
        return Err(format!("the domain is not told to be `{wanted}`, but {domain:?}"));
    }
    let is_fault = matches!(report.verdict, Verdict::Fault(_));
    let in_one = report.assumptions.iter().any(|held| held.text.contains("lanes store the same value"));
    same_in_every_way(&file.case, report)?;
    same_under_schedules(file, is_fault, in_one)?;
    if crate::fixture::in_sample(&texts(&file.case), OF_PAIRS) {
        reflexive(file)?;
    }
    Ok(())
}

fn compare_verdict(file: &File, verdict: &Verdict) -> Result<(), String> {
    let mut sites = BTreeSet::new();
    let (message, rule) = match verdict {
        Verdict::Fault(fault) => {
            let numbered = (1..).zip(&fault.sites);
            sites.extend(numbered.filter_map(|(at, site)| Some((at, site.place.as_ref()?.line))));
            let help = fault.help.iter().map(|help| format!("\n{help}")).collect::<String>();
            (fault.message.clone() + &help, Some(fault.rule.to_string()))
        }
        Verdict::InputError(error) => {
            sites.extend(error.place.iter().map(|place| (1, place.line)));
            let help = error.help.iter().map(|help| format!("\n{help}")).collect::<String>();
            (error.message.clone() + &help, None)
        }
        Verdict::Unknown(unknown) => (unknown.reason.clone(), None),
        Verdict::Different(difference) => (format!("{difference:?}"), None),
        Verdict::EquivalentWhere(conditions) => (conditions.join("; "), None),
        Verdict::Equivalent | Verdict::Same(_) | Verdict::Clean => (String::new(), None),
    };
    let mut named: BTreeSet<String> = file.annotations.rules.clone();
    named.extend(file.rule.clone());
    if named.iter().any(|named| Some(named) != rule.as_ref()) {
        return Err(format!("the rule is {rule:?}, not {named:?}: {message}"));
    }
    contains(&file.says, &message, "message")?;
    compare_sites(file, sites).map_err(|error| format!("{error}\n{message}"))
}

/// Compares the further findings with the header, in order, and with the annotated lines.
fn compare_findings(file: &File, also: &[Fault]) -> Result<(), String> {
    let words = |fault: &Fault| {
        let side = file.case.reference.is_some().then(|| fault.side.name());
        let words: Vec<&str> = side.into_iter().chain([fault.kind.name()]).collect();
        words.join(" ")
    };
    let found: Vec<String> = also.iter().map(words).collect();
    let mut sites = BTreeSet::new();
    for (finding, fault) in (1..).zip(also) {
        let lines = (1..).zip(&fault.sites).filter_map(|(at, site)| Some((at, site.place.as_ref()?.line)));
        sites.extend(lines.map(|(site, line)| (finding, site, line)));
    }
    if found == file.also && sites == file.annotations.also {
        return Ok(());
    }
    let messages: Vec<&str> = also.iter().map(|fault| fault.message.as_str()).collect();
    let list = |found: &[String], sites: &BTreeSet<(usize, usize, u32)>| {
        let kinds = found.iter().map(|kind| format!("//@ also: {kind}\n"));
        let sites =
            sites.iter().map(|(finding, site, line)| format!("line {line}: //~ also {finding} ({site})\n"));
        kinds.chain(sites).collect::<String>()
    };
    Err(format!(
        "what else was found is\n{}and not\n{}{}",
        list(&found, &sites),
        list(&file.also, &file.annotations.also),
        messages.join("\n")
    ))
}

fn contains(wanted: &[String], text: &str, what: &str) -> Result<(), String> {
    match wanted.iter().find(|wanted| !text.contains(*wanted)) {
        None => Ok(()),
        Some(missing) => Err(format!("the {what} does not say `{missing}`: {text}")),
    }
}

fn compare_sites(file: &File, sites: BTreeSet<(usize, u32)>) -> Result<(), String> {
    let wanted = &file.annotations.sites;
    let list = |sites: Vec<&(usize, u32)>| {
        sites.iter().map(|(site, line)| format!("({site}) on line {line}")).collect::<Vec<_>>().join(", ")
    };
    let missing: Vec<_> = wanted.difference(&sites).collect();
    let unexpected: Vec<_> = sites.difference(wanted).collect();
    if missing.is_empty() && unexpected.is_empty() {
        return Ok(());
    }
    Err(format!(
        "sites that are not there: [{}]; sites without annotation: [{}]",
        list(missing),
        list(unexpected)
    ))
}

/// A report without its times; with `terms`, also without the statistics of stored terms.
fn essence(mut report: Report, terms: bool) -> Report {
    report.solve_seconds = 0.0;
    let clear = |stats: &mut SideStats| {
        stats.seconds = 0.0;
        if terms {
            (stats.term_bytes, stats.term_nodes) = (0, 0);
        }
    };
    clear(&mut report.opt);
    report.reference.iter_mut().for_each(clear);
    report
}

/// Of so many pairs, the kernels of one are compared with themselves every time, and with `VOLTA_SLOW=1` those of all.
const OF_PAIRS: usize = 3;

/// What is drawn by.
fn texts(case: &Case) -> String {
    case.opt.launches().map(|(_, kernel)| &*kernel.ptx).collect()
}

/// The way that is compared every time.
const EXACT_CLOCKS: usize = 1;

/// Checks that layout, race detector, term patterns and threads do not change the report: the race detector every time,
/// and one of the others, drawn by the text; all of them with `VOLTA_SLOW=1`.
fn same_in_every_way(case: &Case, report: Report) -> Result<(), String> {
    type Change = fn(&mut Case);
    let ways: [(&str, Change, bool); 5] = [
        ("with memory laid out in reverse", |case| case.options.layout = Layout::Reverse, false),
        // Each CTA is executed then.
        ("with exact clocks", |case| case.options.exact_clocks = true, true),
        ("with plain terms", |case| case.options.plain_terms = true, true),
        ("on one thread", |case| case.options.threads = 1, false),
        ("on four threads", |case| case.options.threads = 4, false),
    ];
    let all = crate::in_full();
    let drawn = crate::fixture::drawn(&texts(case));
    for (at, (name, change, terms)) in ways.into_iter().enumerate() {
        if !all && at != EXACT_CLOCKS && at != [0, 2, 3, 4][drawn % 4] {
            continue;
        }
        let mut changed = case.clone();
        change(&mut changed);
        let (other, first) = (essence(verify(&changed), terms), essence(report.clone(), terms));
        if other != first {
            return Err(format!("{name} the report is another one:\n{other:#?}\ninstead of\n{first:#?}"));
        }
    }
    Ok(())
}

/// Checks that the schedule changes at most which fault is found (rule Y8): one of two schedules, drawn by the text; both
/// with `VOLTA_SLOW=1`.
fn same_under_schedules(file: &File, is_fault: bool, in_one: bool) -> Result<(), String> {
    let drawn = crate::fixture::drawn(&texts(&file.case));
    for (at, schedule) in [Schedule::Reversed, Schedule::Shuffled(3)].into_iter().enumerate() {
        if !crate::in_full() && at != drawn % 2 {
            continue;
        }
        // A kernel that observes the schedule, or needs several lanes in one instruction, is faulty under a schedule
        // in which all lanes may diverge.
        if schedule != Schedule::Reversed && (in_one || file.case.opt.one().ptx.contains("activemask")) {
            continue;
        }
        let mut case = file.case.clone();
        case.options.schedule = schedule;
        let verdict = verify(&case).verdict;
        let same =
            if is_fault { matches!(verdict, Verdict::Fault(_)) } else { verdict.name() == file.verdict };
        if !same {
            return Err(format!("scheduled {schedule:?}, the verdict is {verdict:#?}"));
        }
    }
    Ok(())
}

/// Checks that each kernel of a pair that runs without fault is equivalent to itself.
fn reflexive(file: &File) -> Result<(), String> {
    let compared = ["equivalent", "equivalent-where", "different"].contains(&file.verdict.as_str());
    let (Some(reference), true) = (&file.case.reference, compared) else { return Ok(()) };
    for (name, side) in [("reference", reference), ("opt", &file.case.opt)] {
        let mut case = file.case.clone();
        (case.reference, case.opt) = (Some(side.clone()), side.clone());
        let verdict = verify(&case).verdict;
        // An element that only the other side writes stays unwritten here.
        if !matches!(verdict, Verdict::Equivalent) && !file.verdict.contains("different") {
            return Err(format!("`{name}` compared with itself is `{}`:\n{verdict:#?}", verdict.name()));
        }
    }
    Ok(())
}
