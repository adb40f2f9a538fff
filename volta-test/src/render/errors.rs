//! The picture of an output's errors: what is proved of each element, and the largest error that was seen.

use std::fmt::Write as _;

use volta_core::verdict::OutputError;

use super::{clean_line, escaped, upwards};

/// The width of a picture in pixels, and its height.
const SIZE: (usize, usize) = (640, 120);
/// At most so many columns; each shows the largest error of neighbouring elements.
const COLUMNS: usize = 160;

/// The picture as SVG, with errors as distances on a logarithmic scale: a column for neighbouring elements, to the
/// height of what is proved, with a mark at the largest error that was seen. The page's style sheet has the colours
/// (`same`, `differs-some`, `differs`). Empty if nothing is proved.
pub(crate) fn svg(output: &OutputError, seen: &[(u64, f64)]) -> String {
    let Some(last) = output.elements.last() else { return String::new() };
    let columns = COLUMNS.min(output.elements.len());
    let column = |at: usize| at * columns / output.elements.len();
    let mut proved = vec![0.0f64; columns];
    let mut found = vec![0.0f64; columns];
    for (at, element) in output.elements.iter().enumerate() {
        proved[column(at)] = proved[column(at)].max(element.absolute);
    }
    for (element, error) in seen {
        if let Ok(at) = output.elements.binary_search_by_key(element, |of| of.element) {
            found[column(at)] = found[column(at)].max(*error);
        }
    }
    let positive = || proved.iter().chain(&found).copied().filter(|error| *error > 0.0 && error.is_finite());
    let most = positive().fold(f64::MIN_POSITIVE, f64::max).log10();
    // Eight decades at most.
    let least = positive().fold(f64::INFINITY, f64::min).log10().max(most - 8.0).min(most) - 1.0;
    let (width, height) = SIZE;
    let tall = |error: f64| {
        if error > 0.0 {
            ((error.log10() - least) / (most - least) * height as f64).clamp(1.0, height as f64)
        } else {
            0.0
        }
    };
    let title = format!(
        "Errors of {} up to element {}: at most {} is proved",
        clean_line(&output.tensor),
        last.element,
        upwards(proved.iter().copied().fold(0.0, f64::max))
    );
    let mut out = format!(
        "<svg class=\"map\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-label=\"{0}\"><title>{0}</title><rect class=\"same\" width=\"{width}\" height=\"{height}\"/>",
        escaped(&title)
    );
    for at in 0..columns {
        let (x, next) = (at * width / columns, (at + 1) * width / columns);
        let wide = next.saturating_sub(x).max(1);
        for (class, error, whole) in [("differs-some", proved[at], true), ("differs", found[at], false)] {
            let tall = tall(error);
            if tall > 0.0 {
                let _ = write!(
                    out,
                    "<rect class=\"{class}\" x=\"{x}\" y=\"{:.1}\" width=\"{wide}\" height=\"{:.1}\"/>",
                    height as f64 - tall,
                    if whole { tall } else { 3.0 }
                );
            }
        }
    }
    out + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use volta_core::case::Which;
    use volta_core::verdict::{ElementError, OutputError};

    #[test]
    fn a_picture_has_a_column_for_each_element() {
        let elements = (0..3).map(|element| ElementError { element, absolute: 1e-6, ulps: 2.0 }).collect();
        let output =
            OutputError { side: Which::Opt, tensor: "y<".into(), shape: vec![3], elements, open: None };
        let text = super::svg(&output, &[(1, 1e-8)]);
        assert_eq!((text.matches("differs-some").count(), text.matches("\"differs\"").count()), (3, 1));
        assert!(!text.contains("y<") && text.contains("y&lt;"), "{text}");
        assert_eq!(super::svg(&OutputError { elements: Vec::new(), ..output }, &[]), "");
    }
}
