//! Names for lines of CUDA sources that are stable when lines above or other functions are added.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::tree::{files, read};

/// The lines of a source, each with the function that it belongs to.
#[derive(Debug)]
struct Source(Vec<Line>);

#[derive(Debug)]
struct Line {
    function: String,
    text: String,
}

/// A cache of sources.
#[derive(Debug, Default)]
pub struct Sources(BTreeMap<PathBuf, Source>);

impl Sources {
    /// The name of a line (from 1) of a source in records: `file function: text`, followed by ` #2` if it is the second
    /// line with this text in the function. Without such a line, as for a kernel given as PTX, only the file.
    pub fn place(&mut self, path: &Path, line: u32) -> String {
        let stem = stem(path);
        let source = self.0.entry(path.to_owned()).or_insert_with(|| {
            // A kernel that is given as PTX has no source.
            Source::read(&fs::read_to_string(path).unwrap_or_default())
        });
        let Some(at) = (line as usize).checked_sub(1).filter(|at| *at < source.0.len()) else { return stem };
        let Line { function, text } = &source.0[at];
        let same = |line: &&Line| line.function == *function && line.text == *text;
        let scope = if function.is_empty() { String::new() } else { format!(" {function}") };
        let number = match source.0[..at].iter().filter(same).count() {
            0 => String::new(),
            before => format!(" #{}", before + 1),
        };
        format!("{stem}{scope}: {text}{number}")
    }
}

/// All names that records may use in the folder of a family: lines of its sources, and PTX files.
pub fn places(folder: &Path) -> BTreeSet<String> {
    let mut sources = Sources::default();
    let mut places: BTreeSet<String> = files(folder, "ptx").iter().map(|path| stem(path)).collect();
    for path in files(folder, "cu") {
        let lines = read(&path).lines().count() as u32;
        places.extend((1..=lines).map(|line| sources.place(&path, line)));
    }
    places
}

fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or(&name).to_owned()
}

impl Source {
    /// A function begins with a line that is not indented and names it before a `(`, and ends with its last brace.
    fn read(text: &str) -> Source {
        let mut lines = Vec::new();
        let (mut function, mut depth) = (String::new(), 0);
        for line in text.lines() {
            let code = line.split("//").next().unwrap_or(line);
            let count = |brace| code.matches(brace).count();
            if depth == 0
                && let Some(name) = declared(code)
            {
                function = name.to_owned();
            }
            lines.push(Line { function: function.clone(), text: code.trim().to_owned() });
            depth = (depth + count('{')).saturating_sub(count('}'));
            if depth == 0 && code.contains('}') {
                function.clear();
            }
        }
        Source(lines)
    }
}

/// The name of the function whose definition begins in a line.
fn declared(code: &str) -> Option<&str> {
    if !code.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || code.trim_end().ends_with(';') {
        return None;
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let names = code.match_indices('(').map(|(at, _)| {
        let before = code[..at].trim_end();
        &before[before.rfind(|c| !is_name(c)).map_or(0, |at| at + 1)..]
    });
    names.into_iter().find(|name| !name.is_empty() && !matches!(*name, "__launch_bounds__" | "__align__"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_by_function_and_text() {
        let text = "\
#define N 4

static __device__ float twice(float x) {
    return x + x; // twice
}

extern \"C\" __global__ void __launch_bounds__(32) both(float *x)
{
    __syncthreads();
    x[0] = twice(x[0]);
    __syncthreads();
}
";
        let mut sources = Sources::default();
        let path = Path::new("folder/x.cu");
        sources.0.insert(path.to_owned(), Source::read(text));
        for (line, place) in [
            (0, "x"),
            (1, "x: #define N 4"),
            (4, "x twice: return x + x;"),
            (9, "x both: __syncthreads();"),
            (10, "x both: x[0] = twice(x[0]);"),
            (11, "x both: __syncthreads(); #2"),
            (99, "x"),
        ] {
            assert_eq!(sources.place(path, line), place);
        }
    }
}
