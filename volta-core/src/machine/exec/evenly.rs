//! Loads and stores by a whole warp whose addresses move evenly from lane to lane (rules M1–M4, Y1): from inputs that
//! nobody writes, where there are no races and neighbours are neighbouring terms; and from and to shared memory, where
//! lanes that access the same word are one access.

use super::super::cta::{Cta, Order, Stop};
use super::super::objects::{Backing, Object};
use super::super::pieces::Cell;
use super::super::register::Even;
use super::super::shadow::WHOLE;
use super::super::value::Value;
use super::super::warp::Warp;
use super::memory::locate;
use crate::program::{Address, RegId, Space, Src, Width};
use crate::term::{Steps, moved};

/// Where the lanes of a warp access one object.
struct Places<'l> {
    object: &'l Object,
    /// Of lane 0, in bytes.
    offset: u64,
    steps: Steps,
}

/// The least and the greatest offset of lanes that move in steps: numbers beyond all memory where they are too large.
#[inline]
fn bounds(offset: i64, steps: &Steps) -> [i64; 2] {
    steps.iter().fold([offset; 2], |[low, high], step| {
        [low.saturating_add((*step).min(0)), high.saturating_add((*step).max(0))]
    })
}

impl<'l> Cta<'l> {
    /// Where a warp accesses `total` bytes a lane, if addresses move evenly and all is inside of one object and aligned.
    #[inline]
    fn even_places(&self, warp: &Warp, space: Space, address: Address, total: u64) -> Option<Places<'l>> {
        let Even { first, steps } = match address.base {
            Src::Reg(base) => {
                warp.register(base).even().filter(|_| warp.register(base).is_concrete(u32::MAX))?
            }
            Src::Imm(_) | Src::Symbol(..) => self.even(warp, address.base)?,
        };
        let (own, inner) = locate(space, first.wrapping_add_signed(address.offset));
        let (number, offset) = self.launch.objects.find(own, inner)?;
        let object = self.launch.objects.get(number);
        let [low, high] = bounds(offset, &steps);
        let inside =
            low >= 0 && u64::try_from(high).is_ok_and(|high| high.saturating_add(total) <= object.size);
        let all = steps.iter().fold(offset, |all, step| all | step);
        let aligned = all.cast_unsigned() & (total - 1) == 0 && object.align >= total;
        (inside && aligned).then_some(Places { object, offset: offset.cast_unsigned(), steps })
    }

    /// Executes a load of a whole warp. False where it takes more than this to do so; then nothing was done that cannot
    /// be done again.
    #[inline]
    pub(super) fn load_evenly(
        &mut self,
        warp: &mut Warp,
        (space, address): (Space, Address),
        width: Width,
        d: &[Option<RegId>],
    ) -> Result<bool, Stop> {
        let total = u64::from(width.bytes()) * d.len() as u64;
        let Some(places) = self.even_places(warp, space, address, total) else { return Ok(false) };
        if let Some((tag, bytes)) = self.unwritten_input(places.object) {
            if bytes != width.bytes() {
                return Ok(false);
            }
            let shift = bytes.trailing_zeros();
            let first = tag + (places.offset >> shift);
            let steps = places.steps.map(|step| step >> shift);
            for (step, target) in d.iter().enumerate() {
                let Some(target) = target else { continue };
                warp.register_mut(*target).set_even(Even { first: first + step as u64, steps }, true);
            }
            return Ok(true);
        }
        // What is loaded over its own address is not loaded again from there.
        let again = d.len() == 1 || !d.iter().flatten().any(|target| Src::Reg(*target) == address.base);
        match (places.object.backing, &self.order, width) {
            (Backing::Shared(first), Order::Quick(_), Width::W32) if again => {
                self.load_words_evenly(warp, first, &places, d)
            }
            _ => Ok(false),
        }
    }

    /// The same of words of shared memory.
    fn load_words_evenly(
        &mut self,
        warp: &mut Warp,
        first: u32,
        places: &Places<'_>,
        d: &[Option<RegId>],
    ) -> Result<bool, Stop> {
        let now = self.now(warp);
        let steps = places.steps.map(|step| step >> 2);
        let moving = moving(&steps);
        // Lane 0 and those that access the same word.
        let together =
            (0..5).filter(|bit| moving >> bit & 1 == 0).fold(1u32, |lanes, bit| lanes | lanes << (1 << bit));
        for (step, target) in d.iter().enumerate() {
            let cell = u64::from(first) + (places.offset >> 2) + step as u64;
            let mut words = [0; 32];
            let (mut alarm, mut known) = (false, true);
            let (mut symbolic, mut concrete) = (0, 0);
            for lane in submasks(moving) {
                let index = moved(cell, &steps, lane) as usize;
                let quick = &mut self.memory.shared_quick[index];
                alarm |= self.memory.parts.read_together(quick, WHOLE, now, together << lane);
                words[lane as usize] = match self.composites.part(self.memory.shared[index], 0, 4) {
                    Some(Value::Bits(bits)) => {
                        concrete |= together << lane;
                        bits
                    }
                    Some(Value::Sym(sym)) => {
                        symbolic |= together << lane;
                        sym.raw()
                    }
                    Some(Value::Undefined(_)) | None => {
                        known = false;
                        0
                    }
                };
            }
            if alarm {
                return Err(Stop::NeedExact);
            }
            let Some(target) = target else { continue };
            if !known {
                return Ok(false);
            }
            let register = warp.register_mut(*target);
            if symbolic == 0 || concrete == 0 {
                let even = Even {
                    first: words[0],
                    steps: std::array::from_fn(|bit| {
                        if moving >> bit & 1 == 0 { 0 } else { words[1 << bit].wrapping_sub(words[0]) as i64 }
                    }),
                };
                if submasks(moving).all(|lane| words[lane as usize] == even.lane(lane)) {
                    register.set_even(even, concrete == 0);
                    continue;
                }
            }
            let all = register.words_mut();
            for lane in 0..32 {
                all[lane as usize] = words[(lane & moving) as usize];
            }
            (register.sym, register.undefined) = (symbolic, 0);
        }
        Ok(true)
    }

    /// Executes a store of a whole warp of words to shared memory. False where it takes more than this to do so, and
    /// nothing was done.
    #[inline]
    pub(super) fn store_evenly(
        &mut self,
        warp: &Warp,
        (space, address): (Space, Address),
        width: Width,
        a: &[Src],
    ) -> Result<bool, Stop> {
        if !matches!((&self.order, width), (Order::Quick(_), Width::W32)) {
            return Ok(false);
        }
        let total = 4 * a.len() as u64;
        let Some(places) = self.even_places(warp, space, address, total) else { return Ok(false) };
        let Backing::Shared(first) = places.object.backing else { return Ok(false) };
        if !self.are_words(warp, u32::MAX, a) {
            return Ok(false);
        }
        let now = self.now(warp);
        let cell = u64::from(first) + (places.offset >> 2);
        let cells = Even { first: cell, steps: places.steps.map(|step| step >> 2) }.all();
        let mut scratch = None;
        let mut alarm = false;
        for (step, source) in a.iter().enumerate() {
            let register = self.operand(warp, *source, &mut scratch);
            for (lane, cell) in cells.iter().enumerate() {
                let index = *cell as usize + step;
                let quick = &mut self.memory.shared_quick[index];
                alarm |= self.memory.parts.write(quick, WHOLE, now, lane as u32);
                self.memory.shared[index] = Cell::of(register.get(lane));
            }
        }
        if alarm { Err(Stop::NeedExact) } else { Ok(true) }
    }
}

/// The bits of a lane's number that make a difference.
#[inline]
fn moving(steps: &Steps) -> u32 {
    (0..5).fold(0, |bits, bit| bits | u32::from(steps[bit] != 0) << bit)
}

/// The numbers with no other bits than a number has, from zero up.
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
