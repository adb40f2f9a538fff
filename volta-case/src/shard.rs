//! Parts of a case: each decides a share of the compared elements.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// A case has at most so many parts.
pub const MAX_SHARDS: u32 = 256;

/// A part of a case, which decides a share of the compared elements. It is shown as the end of its name:
/// `shard_1_of_8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    /// Its number, from 1.
    pub part: u32,
    /// The number of parts.
    pub of: u32,
}

impl Display for Shard {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "shard_{}_of_{}", self.part, self.of)
    }
}

impl Shard {
    /// All parts of a case in so many; none of a case in one.
    pub fn all(of: u32) -> impl Iterator<Item = Shard> {
        (1..=of).filter(move |_| of > 1).map(move |part| Shard { part, of })
    }

    /// The name of the case of which `name` names a part, and the part: `a::b/shard_1_of_8`.
    pub fn split(name: &str) -> (&str, Option<Shard>) {
        let read = || {
            let (case, last) = name.rsplit_once('/')?;
            let (part, of) = last.strip_prefix("shard_")?.split_once("_of_")?;
            let shard = Shard { part: part.parse().ok()?, of: of.parse().ok()? };
            // Only its own spelling is its name: `shard_01_of_8` is none.
            let is_one =
                shard.part >= 1 && shard.part <= shard.of && shard.of > 1 && shard.to_string() == last;
            is_one.then_some((case, Some(shard)))
        };
        read().unwrap_or((name, None))
    }

    /// Its share of so many elements, those of all compared tensors in the order of their declaration. The shares of
    /// all parts follow one another, and no two have lengths that differ by more than one.
    pub fn share(self, elements: u64) -> Range<u64> {
        let cut = |part: u32| {
            let cut = u128::from(elements) * u128::from(part.min(self.of)) / u128::from(self.of.max(1));
            u64::try_from(cut).unwrap_or(elements)
        };
        cut(self.part.saturating_sub(1))..cut(self.part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_found_by_its_name() {
        for shard in Shard::all(12) {
            let name = format!("a::b::n=3/{shard}");
            assert_eq!(Shard::split(&name), ("a::b::n=3", Some(shard)));
        }
        assert_eq!(Shard::all(1).count() + Shard::all(0).count(), 0);
        for name in [
            "a::b",
            "a/b",
            "a/shard_",
            "a/shard_0_of_2",
            "a/shard_3_of_2",
            "a/shard_1_of_1",
            "a/shard_01_of_2",
            "a/shard_1_of_2_",
            "a/shard_+1_of_2",
            "shard_1_of_2",
            "a/shard_1_of_99999999999",
        ] {
            assert_eq!(Shard::split(name), (name, None), "{name}");
        }
    }

    #[test]
    fn every_element_is_in_one_share() {
        for elements in [0, 1, 2, 7, 8, 9, 1000, u64::MAX] {
            for of in [2, 3, 7, 8, 256] {
                let shares: Vec<Range<u64>> = Shard::all(of).map(|shard| shard.share(elements)).collect();
                assert_eq!((shares[0].start, shares[shares.len() - 1].end), (0, elements));
                assert!(shares.windows(2).all(|two| two[0].end == two[1].start), "{elements} in {of}");
                let lengths = shares.iter().map(|share| share.end - share.start);
                assert!(lengths.clone().max() <= lengths.min().map(|least| least + 1), "{elements} in {of}");
            }
        }
    }
}
