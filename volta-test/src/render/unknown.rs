//! *Unknown*: no claim, and why.

use std::fmt::Write as _;

use volta_core::verdict::{Unknown, UnknownCause};

use super::{Paint, clean, clean_line};
use crate::case::Case;

pub(super) fn render(case: &Case, unknown: &Unknown, paint: Paint) -> String {
    let what = match unknown.cause {
        UnknownCause::Budget => "a limit was reached before there was an answer",
        UnknownCause::Timeout => "its time was over before there was an answer",
        UnknownCause::Undecided => "neither a proof nor a counterexample was found",
        UnknownCause::Internal => "an error in Volta",
    };
    let kernel = clean_line(&case.opt.shown());
    let mut text = format!("{} no claim about {kernel}: {what}\n", paint.doubtful("unknown:"));
    let _ = writeln!(text, "  {}", clean(&unknown.reason));
    if let Some(help) = &unknown.help {
        let _ = writeln!(text, "  {} {}", paint.bold("help:"), clean(help).replace('\n', "\n    "));
    }
    text
}
