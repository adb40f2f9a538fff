//! Source lines for messages.

use std::ops::Range;
use std::path::{Path, PathBuf};

use volta_core::case::Which;
use volta_core::verdict::{CasePart, CudaPlace, Place};

use crate::beside::{normalized, slashed};
use crate::case::{Home, Kernel};
use crate::files;
use crate::manifest;
use crate::prepare::{MadeBy, Ptx};

/// Longer sources are not shown.
const MAX_BYTES: u64 = 1 << 20;

/// A part of a text, and a span in it to point at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The text.
    pub text: String,
    /// The path of its file.
    pub path: String,
    /// The number of its first line.
    pub first_line: usize,
    /// The span, in bytes of the text.
    pub span: Range<usize>,
    /// Whether it is PTX.
    pub is_ptx: bool,
}

impl Excerpt {
    /// The line of the span, without surrounding blanks.
    pub fn line(&self) -> &str {
        let start = self.text[..self.span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = self.text[start..].find('\n').map_or(self.text.len(), |length| start + length);
        self.text[start..end].trim()
    }

    /// The number of the line of the span.
    pub fn number(&self) -> usize {
        self.first_line + self.text[..self.span.start].matches('\n').count()
    }

    /// Whether both have the same text and span.
    pub fn same_place(&self, other: &Excerpt) -> bool {
        self.same_text(other) && self.span == other.span
    }

    /// Whether both are the same part of one file.
    pub fn same_text(&self, other: &Excerpt) -> bool {
        (&self.path, self.first_line) == (&other.path, other.first_line)
    }
}

/// The source line of a place: in the CUDA source; for code inlined from a file that cannot be read (a header of the
/// toolkit, say), that of the call. A place without a CUDA source has a line of PTX.
pub fn excerpt(home: &Home, kernel: &Kernel, ptx: Option<&Ptx>, place: &Place) -> Option<Excerpt> {
    let cuda = chain(place).find_map(|cuda| cuda_line(home, kernel, cuda));
    // If the source cannot be read, messages name it; a line of PTX would not replace it.
    if place.cuda.is_some() { cuda } else { ptx_line(ptx?, place) }
}

/// The source lines of a place and of the calls that it was inlined through, as far as they can be read.
pub fn lines(home: &Home, kernel: &Kernel, ptx: Option<&Ptx>, place: &Place) -> Vec<String> {
    let cuda = chain(place).filter_map(|cuda| cuda_line(home, kernel, cuda));
    let alone = if place.cuda.is_none() { ptx.and_then(|ptx| ptx_line(ptx, place)) } else { None };
    cuda.chain(alone).map(|shown| shown.line().to_owned()).collect()
}

/// A place in a source, then the call by which it was inlined, if any, and so on outwards.
fn chain(place: &Place) -> impl Iterator<Item = &CudaPlace> {
    std::iter::successors(place.cuda.as_ref(), |cuda| cuda.inlined_at.as_deref())
}

/// The calls by which a place was inlined: the innermost one, and the one in the kernel itself.
pub fn calls(home: &Home, kernel: &Kernel, place: &Place) -> Vec<Excerpt> {
    let mut calls: Vec<&CudaPlace> = chain(place).skip(1).collect();
    if calls.len() > 2 {
        calls.drain(1..calls.len() - 1);
    }
    calls.into_iter().filter_map(|cuda| cuda_line(home, kernel, cuda)).collect()
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file, as its path is shown in messages.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// The excerpt of a part of a case in its `volta.toml`; `None` for a case that an attribute defines.
pub fn excerpt_of_case(home: &Home, side: Option<(Which, usize)>, part: &CasePart) -> Option<Excerpt> {
    let (text, span) = in_manifest(home, side, part)?;
    let path = slashed(&home.shown(&home.file));
    Some(Excerpt { text: super::in_place(&text), path, first_line: 1, span, is_ptx: false })
}

/// The location of a part of a case in its `volta.toml`.
pub fn locate_in_case(home: &Home, side: Option<(Which, usize)>, part: &CasePart) -> Option<Location> {
    let (text, span) = in_manifest(home, side, part)?;
    let (line, column) = manifest::position(&text, &span);
    Some(Location { path: home.shown(&home.file), line: line as u32, column: column as u32 })
}

fn in_manifest(home: &Home, side: Option<(Which, usize)>, part: &CasePart) -> Option<(String, Range<usize>)> {
    let text = match &home.document {
        Some(text) => text.to_string(),
        None if home.file.file_name().is_some_and(|name| name == manifest::FILE_NAME) => {
            files::read_text(&home.file, MAX_BYTES).ok()?
        }
        None => return None,
    };
    let span = manifest::locate(&text, side, part)?;
    Some((text, span))
}

/// The location of a place: in the CUDA source, or that of the call by which it was inlined; otherwise in the PTX, if
/// that is a file.
pub fn locate(home: &Home, kernel: &Kernel, ptx: Option<&Ptx>, place: &Place) -> Option<Location> {
    let in_cuda = chain(place).find_map(|cuda| {
        let (near, _) = cuda_path(home, kernel, cuda)?;
        let path = home.shown(&normalized(&home.dir.join(near)));
        Some(Location { path, line: cuda.line, column: cuda.column.max(1) })
    });
    in_cuda.or_else(|| {
        let ptx = ptx.filter(|ptx| !matches!(ptx.made_by, MadeBy::Here(_)))?;
        let path = home.shown(&normalized(&home.dir.join(&ptx.path)));
        Some(Location { path, line: place.line, column: place.column.max(1) })
    })
}

/// The file of a CUDA source. Only files below the case's root are read: a `.file` directive may name any.
fn cuda_path(home: &Home, kernel: &Kernel, place: &CudaPlace) -> Option<(PathBuf, PathBuf)> {
    let near = Path::new(&kernel.source).parent().unwrap_or(Path::new("")).join(&place.file);
    let path = home.dir.join(&near).canonicalize().ok()?;
    path.starts_with(home.root.canonicalize().ok()?).then_some((near, path))
}

/// A line of the CUDA source.
fn cuda_line(home: &Home, kernel: &Kernel, place: &CudaPlace) -> Option<Excerpt> {
    let (near, path) = cuda_path(home, kernel, place)?;
    let text = files::read_text(&path, MAX_BYTES).ok()?;
    let span = line_span(&text, place.line as usize, place.column as usize)?;
    let text = visible(&text);
    Some(Excerpt { text, path: slashed(&normalized(&near)), first_line: 1, span, is_ptx: false })
}

/// The excerpt of a line of PTX: only that line, since PTX texts are long.
fn ptx_line(ptx: &Ptx, place: &Place) -> Option<Excerpt> {
    let number = place.line as usize;
    let line = visible(ptx.text.lines().nth(number.checked_sub(1)?)?);
    let start = byte_of_column(&line, place.column as usize);
    let end = byte_of_column(&line, (place.column + place.length.max(1)) as usize).max(start);
    Some(Excerpt { text: line, path: ptx.path.clone(), first_line: number, span: start..end, is_ptx: true })
}

/// The span of line `line` (from 1) from `column` (from 1; 0 for the whole line), without blanks and comment.
fn line_span(text: &str, line: usize, column: usize) -> Option<Range<usize>> {
    let mut start = 0;
    for (number, content) in text.split_inclusive('\n').enumerate() {
        if number + 1 == line {
            let code = content.split("//").next().unwrap_or(content).trim_end();
            let indent = code.len() - code.trim_start().len();
            let from = byte_of_column(content, column).max(indent).min(code.len());
            let from = if from == code.len() { indent } else { from };
            return Some(start + from..start + code.len());
        }
        start += content.len();
    }
    None
}

fn byte_of_column(line: &str, column: usize) -> usize {
    line.char_indices().nth(column.saturating_sub(1)).map_or(line.len(), |(at, _)| at)
}

/// A text with harmful characters replaced by plain ones of the same length in bytes, so that spans stay valid.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if super::is_harmful(c) {
            shown.extend(std::iter::repeat_n('?', c.len_utf8()))
        } else {
            shown.push(c)
        }
    }
    shown
}
