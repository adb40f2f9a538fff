//! A fault in one kernel: the message, its sites in the source, the rule, and what to do.

use annotate_snippets::{AnnotationKind, Group, Level, Snippet};
use volta_core::case::Which;
use volta_core::verdict::{Fault, Site};

use super::source::{Excerpt, calls, excerpt};
use super::wrap::wrapped;
use super::{Paint, clean, clean_line, rules};
use crate::attempt::{Fix, Point};
use crate::case::Case;
use crate::prepare::{Ptx, Texts};

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Everything.
    Full,
    /// Only what does not depend on the compiler: no PTX, unless the case names it.
    Stable,
}

/// One place of a fault, with its number.
struct Numbered<'s> {
    label: String,
    site: &'s Site,
    excerpt: Option<Excerpt>,
    /// The calls by which it was inlined, each with its label.
    calls: Vec<(Excerpt, String)>,
}

pub(super) fn render(case: &Case, texts: &Texts, fault: &Fault, detail: Detail, paint: Paint) -> String {
    let ptx = texts.of(case, fault.side, fault.step);
    let sites = numbered((case, texts), fault, detail);
    let mut group = Level::ERROR.primary_title(told(case, fault)).id(fault.rule).elements(snippets(&sites));
    for line in remarks(&sites, ptx, detail) {
        group = group.element(Level::NOTE.message(line));
    }
    if let Some(meaning) = rules::meaning(fault.rule) {
        let text = note(&clean(&format!("{}: {meaning}", fault.rule)));
        group = group.element(Level::NOTE.with_name(Some("rule")).message(text));
    }
    if let Some(help) = &fault.help {
        group = group.element(Level::HELP.message(note(&clean(help))));
    }
    format!("{}\n", paint.renderer().render(&[group]))
}

/// The further findings in short form: what each is, and where.
pub(super) fn also(case: &Case, texts: &Texts, faults: &[Fault], paint: Paint) -> String {
    let one = |fault: &Fault| {
        let ptx = texts.of(case, fault.side, fault.step);
        let sites = numbered((case, texts), fault, Detail::Full);
        let level = Level::ERROR.with_name(Some("also"));
        let mut group = level.primary_title(told(case, fault)).id(fault.rule).elements(snippets(&sites));
        for line in remarks(&sites, ptx, Detail::Full) {
            group = group.element(Level::NOTE.message(line));
        }
        format!("{}\n", paint.renderer().render(&[group]))
    };
    faults.iter().map(one).collect()
}

pub(super) fn title(case: &Case, fault: &Fault) -> String {
    let kernel = case.side(fault.side).step_shown(fault.step);
    clean(&format!("{} in {kernel}: {}", fault.kind, fault.message))
}

/// The title, wrapped to fit after `error[Y1]: `.
fn told(case: &Case, fault: &Fault) -> String {
    wrapped(&title(case, fault), TITLE, TITLE).replace(&format!("\n{}", " ".repeat(TITLE)), "\n")
}

/// The last columns in which titles and notes may begin; the renderer indents lines itself.
const TITLE: usize = 11;
const NOTE: usize = 16;

/// A text wrapped to fit after `   = help: `.
pub(super) fn note(text: &str) -> String {
    wrapped(text, NOTE, NOTE).replace(&format!("\n{}", " ".repeat(NOTE)), "\n")
}

fn numbered<'s>((case, texts): (&Case, &Texts), fault: &'s Fault, detail: Detail) -> Vec<Numbered<'s>> {
    let (side, sites) = (fault.side, &fault.sites);
    let number = |(at, site): (usize, &'s Site)| {
        let step = site.place.as_ref().map_or(fault.step, |place| place.step);
        let (kernel, ptx) = (case.kernel(side, step), texts.of(case, side, step));
        let who = site.thread.map_or(String::new(), |thread| format!("{thread} "));
        let number = if sites.len() > 1 { format!("({}) ", at + 1) } else { String::new() };
        let excerpt = site.place.as_ref().and_then(|place| excerpt(&case.home, kernel, ptx, place));
        let calls = site.place.as_ref().map_or(Vec::new(), |place| calls(&case.home, kernel, place));
        let inlined = match (&excerpt, site.place.as_ref().and_then(|place| place.cuda.as_ref())) {
            // The line shown is the call: the inlined code is in a file that cannot be shown.
            (Some(shown), Some(own))
                if detail == Detail::Full && calls.iter().any(|call| call.same_place(shown)) =>
            {
                format!(", in code inlined from {}:{}", own.file, own.line)
            }
            _ => String::new(),
        };
        let label = clean_line(&format!("{number}{who}{}{inlined}", site.action));
        let is_other = |call: &Excerpt| excerpt.as_ref().is_some_and(|shown| !call.same_place(shown));
        let calls = calls.into_iter().filter(is_other);
        let calls = calls.map(|call| (call, format!("{number}through this call"))).collect();
        Numbered { label, site, excerpt, calls }
    };
    sites.iter().enumerate().map(number).collect()
}

/// The line that describes a fix: the barrier, and its place.
pub(crate) fn fix(case: &Case, texts: &Texts, side: Which, fix: &Fix) -> String {
    let at = |point: &Point| {
        let step = point.place.step;
        let (kernel, ptx) = (case.kernel(side, step), texts.of(case, side, step));
        let shown = excerpt(&case.home, kernel, ptx, &point.place);
        let place = match (&shown, &point.place.cuda) {
            (Some(shown), _) => format!("{}:{}", shown.path, shown.number()),
            (None, Some(cuda)) => format!("{}:{}", cuda.file, cuda.line),
            (None, None) => format!("line {} of the PTX", point.place.line),
        };
        format!("{} the access in {place}", if point.behind { "behind" } else { "before" })
    };
    let points: Vec<String> = fix.points.iter().map(at).collect();
    clean_line(&format!(
        "`{}` {}: this was tried in the PTX, and the kernel is clean with it",
        fix.barrier.cuda,
        points.join(", and ")
    ))
}

/// One snippet for each file, with all its sites.
fn snippets<'s>(sites: &[Numbered<'_>]) -> Vec<annotate_snippets::Element<'s>> {
    let mut files: Vec<&Excerpt> = Vec::new();
    let shown = |site: &'_ Numbered<'_>| -> Vec<(Excerpt, String)> {
        let own = site.excerpt.clone().map(|excerpt| (excerpt, site.label.clone()));
        own.into_iter().chain(site.calls.iter().cloned()).collect()
    };
    let shown: Vec<(Excerpt, String)> = sites.iter().flat_map(shown).collect();
    for (excerpt, _) in &shown {
        if !files.iter().any(|file| file.same_text(excerpt)) {
            files.push(excerpt);
        }
    }
    let mut elements = Vec::new();
    for file in files {
        let mut snippet = Snippet::source(file.text.clone())
            .path(clean_line(&file.path))
            .line_start(file.first_line)
            .fold(true);
        let here = shown.iter().filter(|(excerpt, _)| excerpt.same_text(file));
        for (at, (excerpt, label)) in here.enumerate() {
            let kind = if at == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            snippet = snippet.annotation(kind.span(excerpt.span.clone()).label(label.clone()));
        }
        elements.push(snippet.into());
    }
    elements
}

/// Notes on sites: those without a source line, and the PTX lines of the others.
fn remarks(sites: &[Numbered<'_>], ptx: Option<&Ptx>, detail: Detail) -> Vec<String> {
    let mut lines = Vec::new();
    for Numbered { label, site, excerpt, calls: _ } in sites {
        let place = site.place.as_ref();
        let cuda = place.and_then(|place| place.cuda.as_ref());
        match (excerpt, cuda) {
            (None, Some(cuda)) => lines.push(clean_line(&format!("{label}, {}:{}", cuda.file, cuda.line))),
            (None, None) => lines.push(label.clone()),
            (Some(_), _) => {}
        }
        let told = excerpt.as_ref().is_some_and(|excerpt| excerpt.is_ptx);
        if let Some(place) = place
            && let Some(ptx) = ptx
            && !told
            && (detail == Detail::Full || cuda.is_none())
        {
            let path = &ptx.path;
            let number = label.split_once(") ").map_or(String::new(), |(number, _)| format!("{number}) "));
            let number = if label.starts_with('(') { number } else { String::new() };
            lines.push(clean_line(&format!("{number}{path}:{}: {}", place.line, place.text)));
        }
    }
    lines
}

/// The message of an error about one place, for other kinds than faults.
pub(super) fn group_at<'s>(title: String, excerpt: Option<Excerpt>) -> Group<'s> {
    let title = Level::ERROR.primary_title(title);
    match excerpt {
        None => Group::with_title(title),
        Some(excerpt) => {
            let annotation = AnnotationKind::Primary.span(excerpt.span.clone());
            let snippet = Snippet::source(excerpt.text.clone()).line_start(excerpt.first_line);
            title.element(snippet.path(clean_line(&excerpt.path)).annotation(annotation))
        }
    }
}
