//! The elements of an output that differ, as a picture: blocks of text, and SVG.

use std::fmt::Write as _;

use volta_core::verdict::ElementMap;

use super::{clean_line, wrap::wrapped};

/// The maximal size of a picture as text.
const TEXT: Extent = Extent { rows: 24, columns: 64, planes: 3 };
/// The maximal size of a picture as SVG.
const DRAWN: Extent = Extent { rows: 64, columns: 128, planes: 8 };

#[derive(Clone, Copy)]
struct Extent {
    rows: u64,
    columns: u64,
    planes: u64,
}

/// Whether none, some or all elements of a block differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    None,
    Some,
    All,
}

/// An output as planes of rows and columns, in blocks of elements.
struct Picture {
    /// The planes that are shown: number, and rows of blocks.
    planes: Vec<(u64, Vec<Vec<Block>>)>,
    /// The number of differing planes that are not shown.
    left_out: u64,
    /// The size of a block in elements: rows, columns.
    block: [u64; 2],
}

impl Picture {
    /// The picture of a map. The dimensions before the last two are flattened to one, that of planes.
    fn new(map: &ElementMap, most: Extent) -> Picture {
        let extent = |from_end: usize| map.shape.iter().rev().nth(from_end).copied().unwrap_or(1).max(1);
        let (columns, rows) = (extent(0), extent(1));
        let block = [rows.div_ceil(most.rows), columns.div_ceil(most.columns)];
        let [tall, wide] = [rows.div_ceil(block[0]), columns.div_ceil(block[1])];
        let plane = rows.saturating_mul(columns);
        let mut counts: Vec<(u64, Vec<u64>)> = Vec::new();
        let mut left_out = 0;
        let mut last = None;
        for element in map.differing.iter().flat_map(|(first, count)| *first..*first + *count) {
            let (number, within) = (element / plane, element % plane);
            if last != Some(number) {
                last = Some(number);
                if counts.len() as u64 == most.planes {
                    left_out += 1;
                } else {
                    counts.push((number, vec![0; (tall * wide) as usize]));
                }
            }
            if let Some((_, counts)) = counts.last_mut().filter(|(known, _)| *known == number) {
                let (row, column) = (within / columns / block[0], within % columns / block[1]);
                counts[(row * wide + column) as usize] += 1;
            }
        }
        let whole = |row: u64, column: u64| {
            (rows - row * block[0]).min(block[0]) * (columns - column * block[1]).min(block[1])
        };
        let blocks = |counts: Vec<u64>| {
            let row = |row: u64| {
                let cell = |column: u64| match counts[(row * wide + column) as usize] {
                    0 => Block::None,
                    count if count == whole(row, column) => Block::All,
                    _ => Block::Some,
                };
                (0..wide).map(cell).collect()
            };
            (0..tall).map(row).collect()
        };
        let planes = counts.into_iter().map(|(number, counts)| (number, blocks(counts))).collect();
        Picture { planes, left_out, block }
    }

    /// The index of a plane; `None` if the tensor has at most two dimensions.
    fn title(&self, map: &ElementMap, number: u64) -> Option<String> {
        let outer = map.shape.len().checked_sub(2).filter(|outer| *outer > 0)?;
        let mut rest = number;
        let mut index: Vec<String> = Vec::new();
        for extent in map.shape[..outer].iter().rev() {
            index.push(format!("[{}]", rest % (*extent).max(1)));
            rest /= (*extent).max(1);
        }
        index.reverse();
        Some(format!("{}{}", clean_line(&map.tensor), index.concat()))
    }
}

/// The caption: how many elements differ, and what a block stands for.
pub(crate) fn caption(map: &ElementMap) -> String {
    caption_of(map, &Picture::new(map, TEXT))
}

fn caption_of(map: &ElementMap, picture: &Picture) -> String {
    let count: u64 = map.differing.iter().map(|(_, count)| *count).sum();
    let extents: String = map.shape.iter().map(|extent| format!("[{extent}]")).collect();
    let of = match picture.block {
        [1, 1] => String::new(),
        [1, columns] => format!("; a block is {columns} elements"),
        [rows, columns] => format!("; a block is {rows} × {columns} elements"),
    };
    let tensor = clean_line(&map.tensor);
    format!("{count} of {} elements of {tensor}{extents} differ at trial points{of}", map.looked_at)
}

/// The picture in blocks: `█` if all elements differ, `▒` if some do, `·` if no difference was observed.
pub(super) fn text(map: &ElementMap) -> String {
    let picture = Picture::new(map, TEXT);
    let mut text = format!("  {}\n", wrapped(&caption_of(map, &picture), 2, 4));
    for (number, rows) in &picture.planes {
        if let Some(title) = picture.title(map, *number) {
            let _ = writeln!(text, "    {title}");
        }
        for row in rows {
            let line: String = row
                .iter()
                .map(|block| match block {
                    Block::None => '·',
                    Block::Some => '▒',
                    Block::All => '█',
                })
                .collect();
            let _ = writeln!(text, "    {line}");
        }
    }
    if picture.left_out > 0 {
        let _ = writeln!(text, "    … and {} more planes", picture.left_out);
    }
    text
}

/// The picture as SVG; the page's style sheet has the colours (`differs`, `differs-some`, `same`).
pub(crate) fn svg(map: &ElementMap) -> String {
    let picture = Picture::new(map, DRAWN);
    let mut out = String::new();
    for (number, rows) in &picture.planes {
        let wide = rows.first().map_or(0, Vec::len);
        let side = (640 / wide.max(1)).clamp(5, 20);
        let tall = if rows.len() == 1 { side.max(16) } else { side };
        let (width, height) = (wide * side, rows.len() * tall);
        let title = picture.title(map, *number);
        let name = title.unwrap_or_else(|| clean_line(&map.tensor));
        let _ = write!(
            out,
            "<svg class=\"map\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
             aria-label=\"Elements of {0} that differ\"><rect class=\"same\" width=\"{width}\" height=\"{height}\"/>",
            super::escaped(&name)
        );
        for (at, row) in rows.iter().enumerate() {
            // Neighbouring blocks of one kind are drawn as one rectangle.
            let mut column = 0;
            for run in row.chunk_by(|a, b| a == b) {
                let class = match run[0] {
                    Block::None => None,
                    Block::Some => Some("differs-some"),
                    Block::All => Some("differs"),
                };
                if let Some(class) = class {
                    let _ = write!(
                        out,
                        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{tall}\"/>",
                        column * side,
                        at * tall,
                        run.len() * side
                    );
                }
                column += run.len();
            }
        }
        out += "</svg>\n";
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(shape: &[u64], differing: &[(u64, u64)]) -> ElementMap {
        let looked_at = shape.iter().product();
        ElementMap { tensor: "y".into(), shape: shape.to_vec(), differing: differing.to_vec(), looked_at }
    }

    #[test]
    fn blocks_tell_all_from_some() {
        let line = text(&map(&[8], &[(2, 3)]));
        assert_eq!(line, "  3 of 8 elements of y[8] differ at trial points\n    ··███···\n");
        let wide = text(&map(&[128], &[(0, 3)]));
        assert!(
            wide.contains("a block is 2 elements") && wide.contains(&format!("█▒{}", "·".repeat(62))),
            "{wide}"
        );
        let plane = text(&map(&[2, 3], &[(1, 1), (3, 3)]));
        assert!(plane.ends_with("    ·█·\n    ███\n"), "{plane}");
        let solid = text(&map(&[4, 2, 2], &[(0, 1), (4, 4), (8, 8)]));
        assert!(solid.contains("    y[0]\n    █·\n    ··\n    y[1]\n    ██\n    ██\n"), "{solid}");
        let many = text(&map(&[9, 1, 1], &[(0, 9)]));
        assert!(many.ends_with("    … and 6 more planes\n"), "{many}");
    }

    #[test]
    fn drawings_name_nothing_that_could_be_markup() {
        let mut map = map(&[2, 2], &[(1, 2)]);
        map.tensor = "<script>\"".into();
        let drawn = svg(&map);
        assert!(!drawn.contains("<script>") && drawn.contains("&lt;script&gt;&quot;"), "{drawn}");
        assert_eq!(drawn.matches("class=\"differs\"").count(), 2, "{drawn}");
    }
}
