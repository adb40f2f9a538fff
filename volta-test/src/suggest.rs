//! “Did you mean …?”

/// The candidate nearest to `word`, when it is near enough to be a slip.
pub(crate) fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let length = word.chars().count();
    let limit = (length / 3).max(1).min(length.saturating_sub(1));
    let near = candidates.into_iter().map(|candidate| (distance(word, candidate), candidate));
    near.filter(|(distance, _)| *distance <= limit).min().map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours between two words.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if i == 0 || j == 0 {
                rows[i][j] = i + j;
                continue;
            }
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        let keys = ["block", "grid", "shared"];
        assert_eq!(nearest("blok", keys), Some("block"));
        assert_eq!(nearest("gird", keys), Some("grid"));
        assert_eq!(nearest("sharde", keys), Some("shared"));
        assert_eq!(nearest("threads", keys), None);
        assert_eq!(nearest("z", ["x", "y"]), None);
    }
}
