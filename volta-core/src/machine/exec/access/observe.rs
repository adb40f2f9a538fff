//! Notes the cost of warps' accesses, if the run asks for it.

use crate::base::lane::LaneMask;
use crate::launch::objects::{Backing, locate};
use crate::machine::cta::accesses::Accesses;
use crate::machine::group::warp::Warp;
use crate::machine::memory::access_pattern::{Traffic, passes, sectors};
use crate::program::{Address, InstId, Space};
use std::collections::BTreeMap;

impl Accesses<'_, '_> {
    /// Notes an access by some lanes of a warp, if the run asks for it.
    pub(crate) fn observe(
        &mut self,
        warp: &Warp,
        mask: LaneMask,
        pc: InstId,
        (space, address): (Space, Address),
        bytes: u32,
    ) {
        let Some(patterns) = &mut self.patterns else { return };
        // The relative position of arrays is not known: each is counted separately.
        let mut arrays: BTreeMap<(u32, Traffic), ([u64; 32], LaneMask)> = BTreeMap::new();
        for lane in mask {
            let Some(base) = self.context.bits(warp, address.base, lane) else { continue };
            let (own, inner) = locate(space, base.wrapping_add_signed(address.offset));
            let Some((number, offset)) = self.context.launch.objects.find(own, inner) else { continue };
            let traffic = match self.context.launch.objects.get(number).space {
                Space::Shared | Space::Cluster => Traffic::Banks,
                Space::Global => Traffic::Sectors,
                Space::Local | Space::Const | Space::Param | Space::Generic | Space::Tensor => continue,
            };
            let Ok(offset) = u64::try_from(offset) else { continue };
            let (offsets, mask) = arrays.entry((number, traffic)).or_default();
            offsets[lane] = offset;
            mask.insert(lane);
        }
        for ((number, traffic), (offsets, mask)) in arrays {
            let last = mask.iter().map(|lane| offsets[lane]).max().unwrap_or(0);
            let object = self.context.launch.objects.get(number);
            if let Backing::Tensor(tensor) = object.backing
                && let Some(param) = self.context.launch.tensors[tensor as usize].param
            {
                patterns.reach(param, last + u64::from(bytes));
            }
            let is_dynamic = object.size == u64::from(self.context.launch.dynamic_shared);
            if traffic == Traffic::Banks && is_dynamic {
                patterns.reach_dynamic(last + u64::from(bytes));
            }
            let pattern = match traffic {
                Traffic::Banks => passes(&offsets, mask, bytes),
                Traffic::Sectors => sectors(&offsets, mask, bytes),
            };
            patterns.add(pc, traffic, pattern);
        }
    }
}
