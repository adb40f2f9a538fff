//! Prose in lines that fit a terminal.

/// The number of columns of a line.
pub(super) const WIDTH: usize = 80;

/// `text` in lines of at most [`WIDTH`] columns. The first one begins in column `first`, others in column `next`; text
/// between backticks is kept in one line if it fits.
pub(crate) fn wrapped(text: &str, first: usize, next: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.split('\n') {
        let begin = if lines.is_empty() { first } else { next };
        let (mut line, mut column) = (String::new(), begin);
        for word in words(paragraph, WIDTH - next) {
            let length = word.chars().count();
            if !line.is_empty() && column + 1 + length > WIDTH {
                lines.push(std::mem::take(&mut line));
                column = next;
            }
            if !line.is_empty() {
                line.push(' ');
                column += 1;
            }
            line += &word;
            column += length;
        }
        lines.push(line);
    }
    lines.join(&format!("\n{}", " ".repeat(next)))
}

/// Longer texts in parentheses may be broken.
const TUPLE: usize = 16;

/// The words of a line. Text between backticks is one word, unless it is longer than `longest`, and so is short text in
/// parentheses, such as an index.
fn words(text: &str, longest: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut quoted, mut depth) = (false, 0usize);
    for word in text.split(' ') {
        let most = if quoted { longest } else { TUPLE };
        match words.last_mut() {
            Some(last)
                if (quoted || depth > 0) && last.chars().count() + 1 + word.chars().count() <= most =>
            {
                last.push(' ');
                *last += word;
            }
            _ => words.push(word.to_owned()),
        }
        quoted ^= word.matches('`').count() % 2 == 1;
        depth = (depth + word.matches('(').count()).saturating_sub(word.matches(')').count());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_code_is_kept_together() {
        let text = "a word ".repeat(20) + "and `some code that stays in one line`";
        let shown = wrapped(&text, 10, 4);
        let mut lines = shown.lines();
        assert!(lines.next().is_some_and(|line| line.chars().count() <= WIDTH - 10));
        assert!(lines.all(|line| line.starts_with("    ") && line.chars().count() <= WIDTH));
        assert!(shown.contains("`some code that stays in one line`"), "{shown}");
        assert_eq!(wrapped("short\nlines", 0, 2), "short\n  lines");
        let thread = format!("{} (32, 0, 0)", "x".repeat(WIDTH - 8));
        assert!(wrapped(&thread, 0, 0).ends_with("\n(32, 0, 0)"));
        let long = format!("`{}`", "x y ".repeat(60));
        assert!(wrapped(&long, 0, 0).lines().count() > 1, "what fits in no line is broken");
    }
}
