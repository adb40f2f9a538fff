//! The nearest name, for messages.

/// The candidate most like `name`, if one is near enough to be meant.
///
/// Deterministic: ties go to the name that sorts first, whatever the order of the candidates.
pub(super) fn nearest<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<String> {
    let allowed = (name.chars().count() / 3).max(1);
    candidates
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= 4 * allowed)
        .filter_map(|candidate| {
            let distance = distance(name, candidate);
            (distance <= allowed).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}

/// Edits that turn one text into the other; names longer than a line count as far apart.
fn distance(from: &str, to: &str) -> usize {
    const LONGEST: usize = 200;
    let to: Vec<char> = to.chars().take(LONGEST).collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, from_char) in from.chars().take(LONGEST).enumerate() {
        let mut diagonal = above;
        if let Some(first) = row.first_mut() {
            *first = above + 1;
        }
        for (at, to_char) in to.iter().enumerate() {
            let substituted = diagonal + usize::from(*to_char != from_char);
            let (Some(left), Some(up)) = (row.get(at).copied(), row.get(at + 1).copied()) else { break };
            diagonal = up;
            if let Some(cell) = row.get_mut(at + 1) {
                *cell = substituted.min(left + 1).min(up + 1);
            }
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_one_edit_away() {
        assert_eq!(nearest("softmx", ["matmul", "softmax"].into_iter()), Some("softmax".into()));
        assert_eq!(nearest("abc", ["xyz"].into_iter()), None);
        assert_eq!(nearest("ab", ["ac", "aa"].into_iter()), Some("aa".into()));
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
