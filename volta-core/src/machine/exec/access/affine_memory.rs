//! Loads and stores by a whole warp whose addresses are affine from lane to lane (rules M1–M4, Y1): from read-only
//! inputs, where there are no races and consecutive elements are consecutive terms; and from and to shared memory,
//! where lanes that access the same word make one access.

use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::epoch::EpochShadow;
use crate::concurrency::race::Detector;
use crate::concurrency::shadow::{ByteShadow, WHOLE};
use crate::launch::objects::{Backing, Object, locate};
use crate::machine::cta::accesses::Accesses;
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::Warp;
use crate::machine::sync::synchronisation::Synchronisation;
use crate::program::{RegId, Space, Src, Width};
use crate::value::Value;
use crate::value::packed::PackedValues;
use crate::value::register::Affine;

/// Where the lanes of a warp, or the threads of several warps, access one object.
pub(crate) struct Places<'l, const B: usize = 5> {
    object: &'l Object,
    /// In bytes.
    offsets: Affine<B>,
}

/// What was read from shared memory.
pub(crate) struct Found<const B: usize = 5> {
    /// The words, if they are affine.
    pub(crate) words: Option<Affine<B>>,
    /// Whether some are symbolic.
    pub(crate) symbolic: bool,
    /// Whether some are concrete.
    concrete: bool,
}

/// The least and the greatest offset of affine ones; saturated, beyond all memory, where they are too large.
#[inline]
fn bounds(offset: i64, steps: &[i64]) -> [i64; 2] {
    steps.iter().fold([offset; 2], |[low, high], step| {
        [low.saturating_add((*step).min(0)), high.saturating_add((*step).max(0))]
    })
}

impl<'l> ValueTerms<'l> {
    /// Where each lane accesses `total` bytes, if addresses are affine and all bytes are aligned and inside one object.
    #[inline]
    pub(crate) fn affine_places<const B: usize>(
        &self,
        space: Space,
        addresses: Affine<B>,
        total: u64,
    ) -> Option<Places<'l, B>> {
        let (own, inner) = locate(space, addresses.first);
        let (number, offset) = self.context.launch.objects.find(own, inner)?;
        let object = self.context.launch.objects.get(number);
        if object.space == Space::Shared && self.context.launch.ranks() > 1 {
            // The object of each CTA is a different one.
            return None;
        }
        let [low, high] = bounds(offset, &addresses.steps);
        let inside =
            low >= 0 && u64::try_from(high).is_ok_and(|high| high.saturating_add(total) <= object.size);
        let all = addresses.steps.iter().fold(offset, |all, step| all | step);
        let aligned = all.cast_unsigned() & (total - 1) == 0 && object.align >= total;
        let offsets = Affine { first: offset.cast_unsigned(), steps: addresses.steps };
        if !inside || !aligned {
            return None;
        }
        if total > object.declared {
            self.relied.on_alignment(number, total);
        }
        Some(Places { object, offsets })
    }
}

impl PackedValues {
    /// A word of a thread's local memory, the `step`-th from its place on, if it is whole and defined for all inputs.
    #[inline]
    pub(crate) fn own_word<const B: usize>(
        &self,
        warp: &Warp,
        lane: Lane,
        places: &Places<'_, B>,
        width: Width,
        step: usize,
    ) -> Option<Value> {
        let (Backing::Local(first), Width::W32) = (places.object.backing, width) else { return None };
        let cell = warp.local[first as usize + (places.offsets.first >> 2) as usize + step][lane];
        let is_defined = |word: &Value| !matches!(word, Value::Undefined(_)) && word.as_partly().is_none();
        self.part(cell, 0, 4).filter(is_defined)
    }
}

impl Accesses<'_, '_> {
    /// Executes a load of a whole warp from shared memory. False where the general path is needed; then only idempotent
    /// work was done.
    #[inline]
    pub(crate) fn load_shared_words(
        &mut self,
        warp: &mut Warp,
        places: &Places<'_>,
        width: Width,
        d: &[Option<RegId>],
    ) -> Result<bool, Stop> {
        let Some(offsets) = self.sync.shared_offsets(places, width) else { return Ok(false) };
        let now = self.sync.now(warp);
        let varying = offsets.varying_bits();
        let together = sharing_lanes(varying, 5);
        let mut words = [0; 32];
        for (step, target) in d.iter().enumerate() {
            let first = offsets.first + step as u64 * u64::from(width.bytes());
            let readers = |parts: &mut ByteShadow, (cell, touched): (&mut EpochShadow, u8), lane: u32| {
                parts.read_together(cell, touched, now, LaneMask::from_bits(together << lane))
            };
            let offsets = Affine { first, ..offsets };
            let Some(found) = self.read_shared(offsets, width, readers, &mut words)? else {
                return Ok(false);
            };
            let Some(target) = target else { continue };
            let register = warp.register_mut(*target);
            match found.words {
                Some(affine) => register.set_affine(affine, found.symbolic),
                None if found.symbolic && found.concrete => return Ok(false),
                None => {
                    let all = std::array::from_fn(|lane| words[lane & varying as usize]);
                    register.set_words(&all, found.symbolic);
                }
            }
        }
        Ok(true)
    }

    /// Reads shared memory at some offsets, each once; `read` records the readers of a cell's bytes, by the first of
    /// them. `words` is a buffer for the words found. `None` where the general path is needed for some.
    #[inline]
    pub(crate) fn read_shared<const B: usize>(
        &mut self,
        offsets: Affine<B>,
        width: Width,
        mut read: impl FnMut(&mut ByteShadow, (&mut EpochShadow, u8), u32) -> bool,
        words: &mut [u64],
    ) -> Result<Option<Found<B>>, Stop> {
        let (varying, bytes) = (offsets.varying_bits(), width.bytes());
        let (of_lanes, of_warps) = (varying & 31, varying >> 5);
        let (mut alarm, mut known) = (false, true);
        let (mut symbolic, mut concrete) = (false, false);
        let apart = offsets.of_lanes().all();
        for warp in submasks(of_warps) {
            let first = offsets.lane(warp << 5);
            for lane in submasks(of_lanes) {
                let at = warp << 5 | lane;
                let offset = first.wrapping_add(apart[lane as usize]);
                let (index, start) = ((offset >> 2) as usize, (offset & 3) as u32);
                let touched = WHOLE >> (4 - bytes) << start;
                alarm |= read(&mut self.memory.parts, (&mut self.memory.shared_epochs[index], touched), at);
                match self.values.terms.packed.part(self.memory.shared[index], start, bytes) {
                    Some(Value::Bits(bits)) => {
                        words[at as usize] = bits;
                        concrete = true;
                    }
                    Some(Value::Sym(sym)) => {
                        words[at as usize] = sym.raw();
                        symbolic = true;
                    }
                    Some(Value::Undefined(_)) | None => known = false,
                }
            }
        }
        if alarm {
            return Err(Stop::NeedVectorClocks);
        }
        if !known {
            return Ok(None);
        }
        let first = words[0];
        let steps = std::array::from_fn(|bit| match varying >> bit & 1 {
            0 => 0,
            _ => words[1 << bit].wrapping_sub(first) as i64,
        });
        let affine = Affine { first, steps };
        let apart = affine.of_lanes().all();
        let mut odd = 0;
        for warp in submasks(of_warps) {
            let first = affine.lane(warp << 5);
            for lane in submasks(of_lanes) {
                odd |= words[(warp << 5 | lane) as usize] ^ first.wrapping_add(apart[lane as usize]);
            }
        }
        let moves = symbolic != concrete && odd == 0;
        Ok(Some(Found { words: moves.then_some(affine), symbolic, concrete }))
    }

    /// Executes a store of words by a whole warp to shared memory. False where the general path is needed, and nothing
    /// was done.
    #[inline]
    pub(crate) fn store_shared_words(
        &mut self,
        warp: &Warp,
        (space, addresses): (Space, Affine),
        width: Width,
        a: &[Src],
    ) -> Result<bool, Stop> {
        if width != Width::W32 {
            return Ok(false);
        }
        let total = 4 * a.len() as u64;
        let Some(places) = self.values.terms.affine_places(space, addresses, total) else { return Ok(false) };
        let Some(offsets) = self.sync.shared_offsets(&places, width) else { return Ok(false) };
        // Lanes that share a place may store the same value.
        if offsets.varying_bits() != u32::MAX >> 27
            || !self.values.terms.packed.are_words(warp, LaneMask::ALL, a)
        {
            return Ok(false);
        }
        self.store_words(warp, LaneMask::ALL, (0, &offsets.all()), a).map(|()| true)
    }
}

impl Context<'_> {
    /// The words of the elements at some places, if they belong to a read-only input.
    #[inline(always)]
    pub(crate) fn affine_elements<const B: usize>(
        &self,
        places: &Places<'_, B>,
        width: Width,
    ) -> Option<Affine<B>> {
        let (tag, bytes) = self.unwritten_input(places.object)?;
        let shift = bytes.trailing_zeros();
        let Affine { first, steps } = places.offsets;
        (bytes == width.bytes())
            .then(|| Affine { first: tag + (first >> shift), steps: steps.map(|step| step >> shift) })
    }
}

impl Synchronisation<'_> {
    /// Byte offsets of places in shared memory, if each access is inside one cell and the epoch detector looks for
    /// races.
    #[inline]
    pub(crate) fn shared_offsets<const B: usize>(
        &self,
        places: &Places<'_, B>,
        width: Width,
    ) -> Option<Affine<B>> {
        let Affine { first, steps } = places.offsets;
        match (places.object.backing, &self.order) {
            (Backing::Shared(start), Detector::Epoch(_)) if width != Width::W64 => {
                Some(Affine { first: 4 * u64::from(start) + first, steps })
            }
            _ => None,
        }
    }
}

/// Thread 0 and those that differ from it only in bits that do not vary, of numbers with this many bits.
#[inline]
pub(crate) fn sharing_lanes(varying: u32, bits: u32) -> u32 {
    (0..bits).filter(|bit| varying >> bit & 1 == 0).fold(1, |lanes, bit| lanes | lanes << (1u32 << bit))
}

/// The numbers whose bits are a subset of the mask's, ascending.
#[inline]
fn submasks(mask: u32) -> impl Iterator<Item = u32> {
    let mut next = Some(0u32);
    std::iter::from_fn(move || {
        let own = next?;
        let following = own.wrapping_sub(mask) & mask;
        next = (following != 0).then_some(following);
        Some(own)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submasks_are_all_and_in_order() {
        for mask in 0..32u32 {
            let expected: Vec<u32> = (0..32).filter(|number| number & !mask == 0).collect();
            assert_eq!(submasks(mask).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn offsets_beyond_all_memory_are_not_inside() {
        assert_eq!(bounds(8, &[4, -8, 0, 16, 0]), [0, 28]);
        assert_eq!(bounds(8, &[i64::MAX, i64::MAX, i64::MIN, i64::MIN, 0]), [i64::MIN, i64::MAX]);
    }
}
