//! A fault in one kernel: the message, its sites in the source, the rule, and what to do.

use annotate_snippets::{AnnotationKind, Group, Level, Snippet};
use volta_core::verdict::{Fault, Site};

use super::source::{Excerpt, excerpt};
use super::{Paint, clean, clean_line, rules};
use crate::case::{Case, Kernel};
use crate::prepare::{Ptx, Texts};

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Everything.
    Full,
    /// What does not depend on the compiler: no PTX, unless the case names it.
    Stable,
}

/// One place of a fault, with its number.
struct Numbered<'s> {
    label: String,
    site: &'s Site,
    excerpt: Option<Excerpt>,
}

pub(super) fn render(case: &Case, texts: &Texts, fault: &Fault, detail: Detail, paint: Paint) -> String {
    let (kernel, ptx) = (case.side(fault.side), texts.of(fault.side));
    let sites = numbered(case, kernel, ptx, &fault.sites);
    let mut group =
        Level::ERROR.primary_title(title(kernel, fault)).id(fault.rule).elements(snippets(&sites));
    for line in remarks(&sites, ptx, detail) {
        group = group.element(Level::NOTE.message(line));
    }
    if let Some(meaning) = rules::meaning(fault.rule) {
        let text = clean(&format!("{}: {meaning}", fault.rule));
        group = group.element(Level::NOTE.with_name(Some("rule")).message(text));
    }
    if let Some(help) = &fault.help {
        group = group.element(Level::HELP.message(clean(help)));
    }
    format!("{}\n", paint.renderer().render(&[group]))
}

/// What else was found, each in short: what it is, and where.
pub(super) fn also(case: &Case, texts: &Texts, faults: &[Fault], paint: Paint) -> String {
    let one = |fault: &Fault| {
        let (kernel, ptx) = (case.side(fault.side), texts.of(fault.side));
        let sites = numbered(case, kernel, ptx, &fault.sites);
        let level = Level::ERROR.with_name(Some("also"));
        let mut group = level.primary_title(title(kernel, fault)).id(fault.rule).elements(snippets(&sites));
        for line in remarks(&sites, ptx, Detail::Full) {
            group = group.element(Level::NOTE.message(line));
        }
        format!("{}\n", paint.renderer().render(&[group]))
    };
    faults.iter().map(one).collect()
}

pub(super) fn title(kernel: &Kernel, fault: &Fault) -> String {
    clean(&format!("{} in {}: {}", fault.kind, kernel.shown(), fault.message))
}

fn numbered<'s>(case: &Case, kernel: &Kernel, ptx: Option<&Ptx>, sites: &'s [Site]) -> Vec<Numbered<'s>> {
    let number = |(at, site): (usize, &'s Site)| {
        let who = site.thread.map_or(String::new(), |thread| format!("{thread} "));
        let number = if sites.len() > 1 { format!("({}) ", at + 1) } else { String::new() };
        let label = clean_line(&format!("{number}{who}{}", site.action));
        let excerpt = site.place.as_ref().and_then(|place| excerpt(&case.home, kernel, ptx, place));
        Numbered { label, site, excerpt }
    };
    sites.iter().enumerate().map(number).collect()
}

/// One snippet for each file, with all its sites.
fn snippets<'s>(sites: &[Numbered<'_>]) -> Vec<annotate_snippets::Element<'s>> {
    let mut files: Vec<&Excerpt> = Vec::new();
    for excerpt in sites.iter().filter_map(|site| site.excerpt.as_ref()) {
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
        let here = sites.iter().filter_map(|site| Some((site.excerpt.as_ref()?, &site.label)));
        for (at, (excerpt, label)) in here.filter(|(excerpt, _)| excerpt.same_text(file)).enumerate() {
            let kind = if at == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            snippet = snippet.annotation(kind.span(excerpt.span.clone()).label(label.clone()));
        }
        elements.push(snippet.into());
    }
    elements
}

/// Sites without a source line, and where the others are in the PTX.
fn remarks(sites: &[Numbered<'_>], ptx: Option<&Ptx>, detail: Detail) -> Vec<String> {
    let mut lines = Vec::new();
    for Numbered { label, site, excerpt } in sites {
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

/// A group for messages about one place, of other kinds.
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
