//! Two accesses that race, between the barriers that their threads passed: as text, and as SVG.

use std::fmt::Write as _;

use volta_core::verdict::{Meeting, Timeline};

use super::{clean_line, escaped};

/// The number of barriers shown before the first access, and in all, unless the second access comes even later.
const BEFORE: usize = 2;
const MOST: usize = 6;

/// The part of a timeline that is shown.
struct Shown<'t> {
    meetings: &'t [Meeting],
    /// The number of barriers before that part.
    earlier: usize,
    /// The number of barriers after it.
    later: usize,
    /// For each access, the number of shown meetings before it.
    at: [usize; 2],
    names: [String; 2],
}

impl Shown<'_> {
    fn of(timeline: &Timeline) -> Shown<'_> {
        let [one, other] = timeline.after;
        let first = one.min(other).saturating_sub(BEFORE);
        let last = (first + MOST).max(one.max(other)).min(timeline.meetings.len());
        Shown {
            meetings: &timeline.meetings[first..last],
            earlier: first,
            later: timeline.meetings.len() - last,
            at: timeline.after.map(|after| after - first),
            names: timeline.threads.map(|thread| clean_line(&thread.to_string())),
        }
    }

    /// The label of an interval between barriers of a thread.
    fn label(&self, thread: usize, interval: usize) -> &'static str {
        match (self.at[thread] == interval, thread) {
            (true, 0) => "(1)",
            (true, _) => "(2)",
            (false, _) => "",
        }
    }
}

/// The place of a meeting in short form.
fn place(meeting: &Meeting) -> String {
    match &meeting.place {
        Some(place) => match &place.cuda {
            Some(cuda) => {
                let file = cuda.file.rsplit('/').next().unwrap_or_default();
                clean_line(&format!("{file}:{}", cuda.line))
            }
            None => format!("PTX {}", place.line),
        },
        None => "barrier".into(),
    }
}

/// The timeline as text, a line for each thread; empty if no barrier was passed.
pub(super) fn text(timeline: &Timeline) -> String {
    let shown = Shown::of(timeline);
    if shown.meetings.is_empty() {
        return String::new();
    }
    let width = shown.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut lines =
        [" ".repeat(width), format!("{:<width$}", shown.names[0]), format!("{:<width$}", shown.names[1])];
    let before = if shown.earlier > 0 { format!(" … {} earlier ", shown.earlier) } else { " ".into() };
    let blank = " ".repeat(before.chars().count());
    lines[0] += &before;
    lines[1] += &blank;
    lines[2] += &blank;
    for interval in 0..=shown.meetings.len() {
        for thread in 0..2 {
            let _ = write!(lines[thread + 1], "{:─^7}", shown.label(thread, interval));
        }
        let Some(meeting) = shown.meetings.get(interval) else { break };
        let name = place(meeting);
        let _ = write!(lines[0], "{:7}{name}", "");
        for thread in 0..2 {
            let mark = if meeting.joins[thread] { '╋' } else { '─' };
            let _ = write!(lines[thread + 1], "{mark}{}", "─".repeat(name.chars().count() - 1));
        }
    }
    if shown.later > 0 {
        let _ = write!(lines[0], "{:7}… {} later", "", shown.later);
    }
    let title = "  the two threads, and the barriers that they pass\n";
    lines.iter().fold(title.to_owned(), |text, line| text + "    " + line.trim_end() + "\n")
}

/// The timeline as SVG, a row for each thread and a column for each barrier; the page's style sheet has the colours.
pub(crate) fn svg(timeline: &Timeline) -> String {
    // Letters of names are at most so wide, and those of notes.
    const LETTER: usize = 8;
    const SMALL: usize = 7;
    let shown = Shown::of(timeline);
    let letters = |text: &str| text.chars().count();
    let left = 20 + LETTER * shown.names.iter().map(|name| letters(name)).max().unwrap_or(0);
    let places = shown.meetings.iter().map(|meeting| letters(&place(meeting))).max().unwrap_or(0);
    let interval = (SMALL * places + 12).max(96);
    let said = match (shown.meetings.len(), shown.earlier) {
        (0, _) => "neither has passed a barrier".to_owned(),
        (_, 0) => String::new(),
        (_, earlier) => format!("… {earlier} barriers earlier"),
    };
    let width = (left + interval * (shown.meetings.len() + 1)).max(left + SMALL * letters(&said)) + 20;
    // Without barriers, no room for their names is needed above the rows.
    let first = if shown.meetings.is_empty() { 18 } else { 58 };
    let rows = [first, first + 40];
    let height = first + 74;
    let mut out = format!(
        "<svg class=\"timeline\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-label=\"The two accesses between barriers\">"
    );
    for (thread, y) in rows.into_iter().enumerate() {
        let _ = write!(
            out,
            "<text x=\"0\" y=\"{}\">{}</text><line class=\"thread\" x1=\"{left}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\"/>",
            y + 4,
            escaped(&shown.names[thread]),
            width - 20
        );
    }
    let _ = write!(out, "<text class=\"note\" x=\"{left}\" y=\"{}\">{said}</text>", height - 8);
    for (at, meeting) in shown.meetings.iter().enumerate() {
        let x = left + interval * (at + 1);
        let [top, bottom] = match meeting.joins {
            [true, true] => [rows[0] - 12, rows[1] + 12],
            [true, false] => [rows[0] - 12, rows[0] + 12],
            [false, _] => [rows[1] - 12, rows[1] + 12],
        };
        let _ = write!(
            out,
            "<line class=\"barrier\" x1=\"{x}\" y1=\"{top}\" x2=\"{x}\" y2=\"{bottom}\"/>\
             <text class=\"note\" x=\"{x}\" y=\"20\" text-anchor=\"middle\">{}</text>\
             <text class=\"note\" x=\"{x}\" y=\"35\" text-anchor=\"middle\">{} threads</text>",
            escaped(&place(meeting)),
            meeting.threads
        );
    }
    for (thread, y) in rows.into_iter().enumerate() {
        let x = left + interval * shown.at[thread] + interval / 2;
        let _ = write!(
            out,
            "<circle class=\"access\" cx=\"{x}\" cy=\"{y}\" r=\"12\"/>\
             <text class=\"number\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            y + 5,
            thread + 1
        );
    }
    out + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use volta_core::verdict::Thread;

    fn timeline(meetings: usize, after: [usize; 2]) -> Timeline {
        let thread = |x| Thread { cta: [0; 3], thread: [x, 0, 0] };
        let meeting = |at: usize| Meeting { place: None, joins: [true, at.is_multiple_of(2)], threads: 64 };
        Timeline { threads: [thread(0), thread(32)], meetings: (0..meetings).map(meeting).collect(), after }
    }

    #[test]
    fn accesses_stand_between_the_barriers_that_their_threads_pass() {
        let told = text(&timeline(2, [1, 2]));
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[1], "                             barrier       barrier");
        assert_eq!(lines[2], "    thread (0, 0, 0)  ───────╋────────(1)──╋─────────────");
        assert_eq!(lines[3], "    thread (32, 0, 0) ───────╋──────────────────────(2)──");
        assert_eq!(text(&timeline(0, [0, 0])), "");
        assert!(text(&timeline(40, [30, 31])).contains("… 28 earlier"));
    }

    #[test]
    fn a_drawing_has_both_accesses() {
        let drawn = svg(&timeline(3, [0, 2]));
        assert_eq!(
            (drawn.matches("class=\"access\"").count(), drawn.matches("class=\"barrier\"").count()),
            (2, 3)
        );
    }
}
