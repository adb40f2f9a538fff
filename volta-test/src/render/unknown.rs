//! *Unknown*: no claim, and why.

use std::fmt::Write as _;

use volta_core::case::Which;
use volta_core::verdict::{Place, Progress, Unknown, ValuePair, VerdictName};

use super::source::excerpt;
use super::{Paint, clean, clean_line, wrapped};
use crate::case::Case;
use crate::prepare::Texts;

pub(super) fn render(case: &Case, texts: &Texts, unknown: &Unknown, paint: Paint) -> String {
    let what = VerdictName::Unknown(unknown.kind.cause()).meaning();
    let claim = format!("no claim about {}: {what}", clean_line(&case.opt.shown()));
    let mut text = format!("{} {}\n", paint.doubtful("unknown:"), wrapped(&claim, 9, 2));
    let _ = writeln!(text, "  {}", wrapped(&clean(&unknown.reason), 2, 4));
    if let Some(progress) = &unknown.progress {
        text.push_str(&came_to(case, texts, progress, paint));
    }
    if let Some(help) = &unknown.help {
        let _ = writeln!(text, "  {} {}", paint.bold("help:"), wrapped(&clean(help), 8, 4));
    }
    text
}

/// How far the proof came.
fn came_to(case: &Case, texts: &Texts, progress: &Progress, paint: Paint) -> String {
    let mut text = String::new();
    let element = clean_line(&progress.element);
    let pair = |text: &mut String, pair: &ValuePair| {
        let sides = [("reference", Which::Reference), ("optimized", Which::Opt)];
        for (at, (name, side)) in sides.into_iter().enumerate() {
            let line = pair.places[at].as_deref().map_or(String::new(), |place| {
                let shown = line_of(case, texts, side, place);
                format!("\nfrom {shown}")
            });
            let shown = format!("{}{line}", clean_line(&pair.terms[at]));
            let _ = writeln!(text, "    {name}  {}", wrapped(&shown, 15, 15));
        }
    };
    match progress.equal {
        0 => {
            let line = format!("no intermediate values of {element} were proved equal");
            let _ = writeln!(text, "  {}", wrapped(&line, 2, 4));
        }
        equal => {
            let (last, values) = match equal {
                1 => ("this", "1 pair of values"),
                _ => ("the last of them", &*format!("{equal} pairs of values")),
            };
            let line = format!(
                "of the intermediate values of {element}, {values} of both kernels were proved equal, \
                                {last}"
            );
            let _ = writeln!(text, "  {}", paint.bold(&wrapped(&line, 2, 4)));
            progress.last.iter().rev().take(1).for_each(|equal| pair(&mut text, equal));
        }
    }
    let line = match progress.is_output {
        true => format!("all pairs that agree at trial points were proved equal, except {element} itself"),
        false => "the first pair that agrees at trial points, but was not proved equal".into(),
    };
    let _ = writeln!(text, "  {}", paint.bold(&wrapped(&line, 2, 4)));
    pair(&mut text, &progress.open);
    text
}

/// The place and source line of an instruction: the one that computes the value, or the last known one before it.
fn line_of(case: &Case, texts: &Texts, side: Which, place: &Place) -> String {
    let (kernel, ptx) = (case.kernel(side, place.step), texts.of(case, side, place.step));
    match (excerpt(&case.home, kernel, ptx, place), &place.cuda) {
        (Some(shown), cuda) => {
            let line = cuda.as_ref().map_or(place.line, |cuda| cuda.line);
            clean_line(&format!("{}:{line}: `{}`", shown.path, shown.line()))
        }
        (None, Some(cuda)) => clean_line(&format!("{}:{}", cuda.file, cuda.line)),
        (None, None) => format!("line {} of its PTX", place.line),
    }
}
