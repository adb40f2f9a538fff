//! Places in a PTX text.

/// A half-open range of byte offsets in one PTX text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte.
    pub end: u32,
}

impl Span {
    /// The range from `start` to `end`, byte offsets.
    pub fn new(start: usize, end: usize) -> Span {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }

    /// The smallest range that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A line and column as people count them, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// Where the lines of one text begin; turns offsets into positions.
#[derive(Clone, Debug)]
pub struct LineTable {
    starts: Vec<u32>,
}

impl LineTable {
    /// Reads the line starts of `text`.
    pub fn new(text: &str) -> LineTable {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| Span::new(at + 1, at + 1).start)).collect();
        LineTable { starts }
    }

    /// The position of byte `offset` of `text`, the text this table was made from.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts[line - 1] as usize;
        let end = (offset as usize).min(text.len()).max(start);
        let column = text.get(start..end).map_or(end - start, |part| part.chars().count());
        Position { line: line as u32, column: column as u32 + 1 }
    }

    /// The text of a line (from 1), without its end; empty when there is no such line.
    pub fn line<'t>(&self, text: &'t str, line: u32) -> &'t str {
        let Some(start) = (line as usize).checked_sub(1).and_then(|at| self.starts.get(at)) else {
            return "";
        };
        let rest = text.get(*start as usize..).unwrap_or("");
        rest.lines().next().unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let text = "ab\ncµd\n";
        let table = LineTable::new(text);
        assert_eq!(table.position(text, 0), Position { line: 1, column: 1 });
        assert_eq!(table.position(text, 3), Position { line: 2, column: 1 });
        assert_eq!(table.position(text, 6), Position { line: 2, column: 3 });
        assert_eq!(table.line(text, 2), "cµd");
        assert_eq!(table.line(text, 9), "");
    }
}
