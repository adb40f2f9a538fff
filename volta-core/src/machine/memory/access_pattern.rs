//! The cost of whole warps' accesses: passes over the banks of shared memory, and sectors of global memory. Computed
//! only in a run that asks for it ([`Options::access_patterns`](crate::case::Options)); no verdict depends on it.
//!
//! Shared memory has 32 banks of 4 bytes, each of which serves one word in a pass; lanes that access the same word
//! share it. Accesses of 8 and 16 bytes a lane are split into half and quarter warps. Global memory is transferred in
//! sectors of 32 bytes. (CUDA C++ Programming Guide, *Compute Capabilities*, *Shared Memory* and *Global Memory*.)

use crate::base::lane::LaneMask;
use crate::program::InstId;
use std::collections::BTreeMap;

const BANKS: u64 = 32;
const BANK_BYTES: u64 = 4;
const SECTOR_BYTES: u64 = 32;

/// The memory that an access is to, which decides the unit of its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Traffic {
    /// Shared memory, in passes over its banks.
    Banks,
    /// Global memory, in sectors.
    Sectors,
}

/// The total cost of an instruction over all its executions by warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessPattern {
    /// How often a warp executed it.
    pub accesses: u64,
    /// How often it took more passes or sectors than needed.
    pub costly: u64,
    /// Passes or sectors in total.
    pub taken: u64,
    /// The minimum for as many lanes and bytes, in total.
    pub least: u64,
    /// The worst access: its passes or sectors, and the minimum for it. Where an access is split, the worst part.
    pub worst: [u32; 2],
}

impl AccessPattern {
    fn of(parts: impl Iterator<Item = [u32; 2]>) -> AccessPattern {
        let none = AccessPattern { accesses: 1, ..AccessPattern::default() };
        parts.fold(none, |all, [taken, least]| AccessPattern {
            accesses: 1,
            costly: u64::from(all.costly == 1 || taken > least),
            taken: all.taken + u64::from(taken),
            least: all.least + u64::from(least),
            worst: worse(all.worst, [taken, least]),
        })
    }

    /// The sum of two patterns.
    #[must_use]
    pub fn and(self, other: AccessPattern) -> AccessPattern {
        AccessPattern {
            accesses: self.accesses + other.accesses,
            costly: self.costly + other.costly,
            taken: self.taken + other.taken,
            least: self.least + other.least,
            worst: worse(self.worst, other.worst),
        }
    }
}

/// The access with the larger ratio of cost to minimum; of equal ones the larger.
fn worse(a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
    let times = |x: u32, y: u32| u64::from(x) * u64::from(y);
    if (times(b[0], a[1]), b) > (times(a[0], b[1]), a) { b } else { a }
}

/// The passes over the banks for accesses of some bytes by each lane, at offsets in one array.
pub(crate) fn passes(offsets: &[u64; 32], mask: LaneMask, bytes: u32) -> AccessPattern {
    let words = u64::from(bytes).div_ceil(BANK_BYTES).min(BANKS);
    let together = (32 / words) as usize;
    let parts = (0..32).step_by(together).filter_map(|first| {
        let part = mask.iter().filter(|lane| (first..first + together).contains(&lane.index()));
        let mut wanted: Vec<u64> = part
            .flat_map(|lane| {
                offsets[lane] / BANK_BYTES..(offsets[lane] + u64::from(bytes)).div_ceil(BANK_BYTES)
            })
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut banks = [0; BANKS as usize];
        wanted.iter().for_each(|word| banks[(word % BANKS) as usize] += 1);
        banks.into_iter().max().filter(|most| *most > 0).map(|most| [most, 1])
    });
    AccessPattern::of(parts)
}

/// The sectors for accesses of some bytes by each lane, at offsets in one array that is aligned to sectors.
pub(crate) fn sectors(offsets: &[u64; 32], mask: LaneMask, bytes: u32) -> AccessPattern {
    let sector_range =
        |offset: u64| offset / SECTOR_BYTES..(offset + u64::from(bytes)).div_ceil(SECTOR_BYTES);
    let mut touched: Vec<u64> = mask.iter().flat_map(|lane| sector_range(offsets[lane])).collect();
    touched.sort_unstable();
    touched.dedup();
    let least = (mask.count() * bytes).div_ceil(SECTOR_BYTES as u32);
    // Lanes that read the same bytes take fewer.
    let taken = touched.len() as u32;
    AccessPattern::of(std::iter::once([taken, least.min(taken)]))
}

/// The patterns of a run, by instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessPatterns {
    patterns: BTreeMap<(InstId, Traffic), AccessPattern>,
    /// By parameter of the case: the end of the accessed bytes.
    ends: BTreeMap<usize, u64>,
    /// The end of the accessed bytes of dynamic shared memory.
    dynamic_end: u64,
}

impl AccessPatterns {
    /// The pattern of each instruction that accesses shared or global memory.
    pub fn iter(&self) -> impl Iterator<Item = (InstId, Traffic, AccessPattern)> {
        self.patterns.iter().map(|((inst, traffic), pattern)| (*inst, *traffic, *pattern))
    }

    /// For each parameter of the case that is accessed, the end of the accessed bytes.
    pub fn ends(&self) -> impl Iterator<Item = (usize, u64)> {
        self.ends.iter().map(|(param, end)| (*param, *end))
    }

    /// The end of the bytes of dynamic shared memory that loads, stores and `cp.async` access.
    pub fn dynamic_end(&self) -> u64 {
        self.dynamic_end
    }

    pub(crate) fn reach_dynamic(&mut self, end: u64) {
        self.dynamic_end = self.dynamic_end.max(end);
    }

    pub(crate) fn reach(&mut self, param: usize, end: u64) {
        let known = self.ends.entry(param).or_default();
        *known = end.max(*known);
    }

    pub(crate) fn add(&mut self, inst: InstId, traffic: Traffic, pattern: AccessPattern) {
        let all = self.patterns.entry((inst, traffic)).or_default();
        *all = all.and(pattern);
    }

    pub(crate) fn merge(&mut self, other: &AccessPatterns) {
        other.iter().for_each(|(inst, traffic, pattern)| self.add(inst, traffic, pattern));
        other.ends().for_each(|(param, end)| self.reach(param, end));
        self.reach_dynamic(other.dynamic_end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::lane::Lane;

    fn every(stride: u64) -> [u64; 32] {
        Lane::each(|lane| u64::from(lane.number()) * stride)
    }

    /// Expected values by hand: words of each bank, in the worst part of a warp.
    #[test]
    fn passes_are_those_counted_by_hand() {
        let degree = |offsets: [u64; 32], bytes| passes(&offsets, LaneMask::ALL, bytes).worst[0];
        // float: one word a bank; two; all 32 in one; a row of 33 words puts neighbours in neighbouring banks.
        assert_eq!([4, 8, 16, 128, 132].map(|stride| degree(every(stride), 4)), [1, 2, 4, 32, 1]);
        // One word for all lanes, or for half of them.
        assert_eq!(degree([64; 32], 4), 1);
        assert_eq!(degree(Lane::each(|lane| u64::from(lane.number()) / 16 * 128), 4), 2);
        // Bytes and halves of one word are one word.
        assert_eq!([(1, 1), (2, 2), (4, 1)].map(|(stride, bytes)| degree(every(stride), bytes)), [1, 1, 1]);
        assert_eq!(degree(every(256), 2), 32);
        // double, float2: half a warp has 32 words.
        assert_eq!([8, 16, 256, 264].map(|stride| degree(every(stride), 8)), [1, 2, 16, 1]);
        // float4: a quarter of a warp has 32 words.
        assert_eq!([16, 32, 128, 144].map(|stride| degree(every(stride), 16)), [1, 2, 8, 1]);
        let all = passes(&every(32), LaneMask::ALL, 16);
        assert_eq!((all.taken, all.least, all.costly), (8, 4, 1));
        // Two lanes of a quarter warp that is otherwise idle.
        let two = passes(&every(128), LaneMask::from_bits(0b11), 16);
        assert_eq!((two.taken, two.least), (2, 1));
    }

    #[test]
    fn sectors_are_those_counted_by_hand() {
        let of = |offsets: [u64; 32], mask, bytes| sectors(&offsets, mask, bytes).worst;
        assert_eq!(
            [4, 8, 128, 132].map(|stride| of(every(stride), LaneMask::ALL, 4)),
            [[4, 4], [8, 4], [32, 4], [32, 4]]
        );
        assert_eq!(of(every(16), LaneMask::ALL, 16), [16, 16]);
        assert_eq!(of(every(32), LaneMask::ALL, 16), [32, 16]);
        // Shifted by an element, a row begins in the middle of a sector.
        assert_eq!(of(every(4).map(|offset| offset + 4), LaneMask::ALL, 4), [5, 4]);
        // All lanes read one element: a sector is all there is.
        assert_eq!(of([64; 32], LaneMask::ALL, 4), [1, 1]);
        assert_eq!(of(every(128), LaneMask::from_bits(0b101), 4), [2, 1]);
        assert_eq!(of(every(2), LaneMask::ALL, 2), [2, 2]);
    }

    #[test]
    fn patterns_add_up_and_keep_the_worst() {
        let [one, two] = [4, 128].map(|stride| passes(&every(stride), LaneMask::ALL, 4));
        let both = one.and(two).and(one);
        let worst = [32, 1];
        assert_eq!(both, AccessPattern { accesses: 3, costly: 1, taken: 34, least: 3, worst });
        assert_eq!(AccessPattern::default().and(two), two);
    }
}
