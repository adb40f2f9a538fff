//! Drawing sites. Each file has a share proportional to its lines, taken from the kinds of mistakes in turn. The order
//! is that of a hash of seed and place, so that changing one function does not change the mutants drawn in others.

use std::collections::BTreeMap;
use std::ops::Range;

use super::sites::{Kind, Site};
use super::source::Source;
use crate::mutation::hash;

/// One mutant of a file.
pub struct Mutant<'a> {
    /// The number that activates it.
    pub number: usize,
    /// The file, below `volta-core/src`.
    pub path: &'a str,
    /// Its place and edit.
    pub site: &'a Site,
}

impl Mutant<'_> {
    /// Its name in one line, which is stable when other functions change.
    pub fn key(&self) -> String {
        let Site { function, kind, edit, nth, .. } = self.site;
        let nth = if *nth > 1 { format!(" #{nth}") } else { String::new() };
        format!("{} {function} {}: {edit}{nth}", self.path, kind.name())
    }
}

/// The number of mutants of a file: one for `lines` lines without tests, and at least two.
pub fn share(source: &Source, lines: usize) -> usize {
    let code = source.text.split("#[cfg(test)]").next().unwrap_or(&source.text);
    (code.lines().count() / lines).max(2)
}

/// The sites of a file in the order in which they are taken: kinds in turn.
pub fn order(source: &Source, seed: u64) -> Vec<&Site> {
    let mut kinds: BTreeMap<Kind, Vec<(u64, &Site)>> = BTreeMap::new();
    for site in &source.sites {
        let place = format!(
            "{seed} {} {} {} {} {}",
            source.path,
            site.function,
            site.kind.name(),
            site.edit,
            site.nth
        );
        kinds.entry(site.kind).or_default().push((hash(&place), site));
    }
    for list in kinds.values_mut() {
        list.sort_by_key(|(order, _)| *order);
    }
    let mut lists: Vec<_> = kinds.into_iter().collect();
    lists.sort_by_key(|(kind, _)| hash(&format!("{seed} {} {}", source.path, kind.name())));
    let most = lists.iter().map(|(_, list)| list.len()).max().unwrap_or(0);
    let turn =
        |round: usize| lists.iter().filter_map(move |(_, list)| list.get(round)).map(|(_, site)| *site);
    (0..most).flat_map(turn).collect()
}

/// Whether two edits touch the same text.
fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one == other || (one.start < other.end && other.start < one.end)
}

/// The first `count` sites that `allowed` accepts and whose edits do not overlap.
pub fn apart<'a>(order: &[&'a Site], count: usize, mut allowed: impl FnMut(&Site) -> bool) -> Vec<&'a Site> {
    let mut taken: Vec<&Site> = Vec::new();
    for &site in order {
        if taken.len() == count {
            break;
        }
        if allowed(site) && !taken.iter().any(|other| meet(&site.bytes, &other.bytes)) {
            taken.push(site);
        }
    }
    taken
}

/// The text of a file with all its mutants behind their switches, and the bytes of each mutant.
pub fn switched(text: &str, mutants: &[&Mutant<'_>]) -> (String, Vec<(Range<usize>, usize)>) {
    let mut mutants = mutants.to_vec();
    mutants.sort_by_key(|mutant| (mutant.site.bytes.start, mutant.site.bytes.end));
    let (mut out, mut at, mut owned) = (String::with_capacity(2 * text.len()), 0, Vec::new());
    for mutant in mutants {
        let bytes = &mutant.site.bytes;
        out.push_str(&text[at..bytes.start]);
        let start = out.len();
        out.push_str(&mutant.site.switched(mutant.number));
        owned.push((start..out.len(), mutant.number));
        at = bytes.end;
    }
    out.push_str(&text[at..]);
    (out, owned)
}
