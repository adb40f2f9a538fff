//! Wrong input: a case, a `volta.toml`, or PTX.

use annotate_snippets::{AnnotationKind, Group, Level, Snippet};
use volta_core::case::Which;
use volta_core::verdict::InputError;

use super::{Paint, clean, clean_line, fault, in_place, source};
use crate::beside::slashed;
use crate::case::Case;
use crate::manifest::Unreadable;
use crate::prepare::{Texts, shown};

pub(super) fn render(case: &Case, texts: &Texts, error: &InputError, paint: Paint) -> String {
    let side = error.side.unwrap_or(Which::Opt);
    let (kernel, ptx) = (case.kernel(side, error.step), texts.of(case, side, error.step));
    let about = error.side.map_or(String::new(), |_| format!("{}: ", case.side(side).step_shown(error.step)));
    let excerpt = match (&error.place, &error.part) {
        (Some(place), _) => source::excerpt(&case.home, kernel, ptx, place),
        (None, Some(part)) => source::excerpt_of_case(
            &case.home,
            error.side.map(|side| (side, case.side(side).once(error.step))),
            part,
        ),
        (None, None) => None,
    };
    let mut group = fault::group_at(fault::note(&clean(&format!("{about}{}", error.message))), excerpt);
    if let (Some(place), Some(ptx)) = (&error.place, ptx)
        && place.cuda.is_some()
    {
        let line = clean_line(&format!("{}:{}: {}", ptx.path, place.line, place.text));
        group = group.element(Level::NOTE.message(line));
    }
    if let Some(help) = &error.help {
        group = group.element(Level::HELP.message(fault::note(&clean(help))));
    }
    format!("{}\n", paint.renderer().render(&[group]))
}

/// A `volta.toml` that could not be read, each problem at its place.
pub fn unreadable(unreadable: &Unreadable, paint: Paint) -> String {
    let path = clean_line(&slashed(&shown(&unreadable.path)));
    let mut groups: Vec<Group<'_>> = Vec::new();
    let text = &in_place(&unreadable.text);
    for problem in &unreadable.problems {
        let title = Level::ERROR.primary_title(fault::note(&clean(&problem.message)));
        let mut group = if text.is_empty() {
            title.element(annotate_snippets::Origin::path(path.clone()))
        } else {
            let end = problem.span.end.min(text.len());
            let span = problem.span.start.min(end)..end;
            let snippet = Snippet::source(text.as_str()).path(path.clone());
            title.element(snippet.annotation(AnnotationKind::Primary.span(span)))
        };
        if let Some(help) = &problem.help {
            group = group.element(Level::HELP.message(fault::note(&clean(help))));
        }
        groups.push(group);
    }
    format!("{}\n", paint.renderer().render(&groups))
}
