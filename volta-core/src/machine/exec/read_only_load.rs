//! Memory in its state before the launch: variables whose contents are not given (rule M5), and inputs that are only
//! read (rule M4): loads from them do not race, and may be executed speculatively.

use super::super::bind::Initial;
use super::super::cta::{Cta, Stop};
use super::super::objects::{Backing, Object, locate, owned};
use super::super::value::Sym;
use super::super::warp::Warp;
use super::memory::WarpAccess;
use crate::base::lane::LaneMask;
use crate::case::Element;
use crate::program::{InstId, Op, RegId, Space, Width};
use crate::term::TermId;

impl Cta<'_> {
    /// Checks that some lanes may execute an operation speculatively: it only computes, loads what no other thread
    /// writes, or stores what no other thread accesses.
    ///
    /// # Errors
    /// What the operation does that may be observed.
    pub(super) fn is_harmless(
        &mut self,
        warp: &Warp,
        mask: LaneMask,
        op: &Op,
        pc: InstId,
    ) -> Result<bool, &'static str> {
        if op.only_computes() {
            return Ok(true);
        }
        if let Op::Load { space, address, width, d, .. } = op {
            let bytes = u64::from(width.bytes()) * d.len() as u64;
            for lane in mask {
                let base = self.value(warp, address.base, lane);
                let places =
                    self.places(base, pc).ok_or("loads from an address that depends on the input")?;
                places.all(&mut |base| {
                    self.is_harmless_load(
                        warp.thread(lane),
                        *space,
                        base.wrapping_add_signed(address.offset),
                        bytes,
                    )
                })?;
            }
            return Ok(true);
        }
        if op.stores_locally()
            && let Op::Store { space, address, width, a, .. } = op
        {
            let bytes = u64::from(width.bytes()) * a.len() as u64;
            for lane in mask {
                let base = self.bits(warp, address.base, lane);
                let base = base.ok_or("stores to an address that depends on the input")?;
                self.is_harmless_load(
                    warp.thread(lane),
                    *space,
                    base.wrapping_add_signed(address.offset),
                    bytes,
                )
                .map_err(|_| "stores to memory other than a local variable of its thread")?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Checks that `thread` may load this many bytes speculatively.
    fn is_harmless_load(
        &self,
        thread: u32,
        space: Space,
        address: u64,
        bytes: u64,
    ) -> Result<(), &'static str> {
        let (own, inner) = owned(locate(space, address), thread);
        let (number, offset) =
            self.launch.objects.find(own, inner).ok_or("loads from outside of any variable or tensor")?;
        let object = self.launch.objects.get(number);
        let offset = u64::try_from(offset).ok().filter(|offset| offset.saturating_add(bytes) <= object.size);
        let offset = offset.ok_or("loads out of bounds")?;
        if !offset.is_multiple_of(bytes) || object.align < bytes {
            return Err("loads from a misaligned address");
        }
        match object.backing {
            Backing::Local(_) => Ok(()),
            Backing::Tensor(tensor) if self.launch.tensors[tensor as usize].is_read_only() => Ok(()),
            Backing::Tensor(_) => Err("loads from a tensor that may be written"),
            Backing::Shared(_) => Err("loads from memory that may be written"),
        }
    }

    /// For a read-only input, the word of its first element as a symbolic value, and the size of elements.
    #[inline]
    pub(super) fn unwritten_input(&self, object: &Object) -> Option<(u64, u32)> {
        let Backing::Tensor(number) = object.backing else { return None };
        let tensor = &self.launch.tensors[number as usize];
        let Initial::Symbolic(input) = tensor.initial else { return None };
        let zero = TermId::input(input, 0);
        let word = match tensor.element {
            Element::Float(format) => Sym::real(format, zero),
            Element::Int { .. } | Element::Bool => Sym::int(tensor.element.bytes(), zero),
        };
        tensor.is_read_only().then_some((word.raw(), tensor.element.bytes()))
    }

    /// Loads once for all lanes a value that all of them read at one read-only address, such as a parameter. False
    /// where they do not, and nothing was done.
    pub(super) fn load_for_all(
        &mut self,
        warp: &mut Warp,
        at: &WarpAccess<'_>,
        width: Width,
        d: &[Option<RegId>],
    ) -> Result<bool, Stop> {
        let first = at.mask.first();
        let Backing::Tensor(number) = at.object.backing else { return Ok(false) };
        let is_one = self.launch.tensors[number as usize].is_read_only()
            && at.mask.iter().all(|lane| at.offsets[lane] == at.offsets[first]);
        if !is_one {
            return Ok(false);
        }
        for (step, target) in d.iter().enumerate() {
            let offset = at.offsets[first] + step as u64 * u64::from(width.bytes());
            let value = self.load_value(warp, first, at, offset, width.bytes())?;
            if let Some(target) = target {
                warp.register_mut(*target).fill(at.mask, value);
            }
        }
        Ok(true)
    }

    /// Checks that a thread has written the bytes read or the case gives them (rule M5).
    pub(super) fn is_known(&self, at: &WarpAccess<'_>, cell: u64, touched: u8) -> Result<(), Stop> {
        let Backing::Tensor(number) = at.object.backing else { return Ok(()) };
        let tensor = &self.launch.tensors[number as usize];
        let of_fields = (0..4)
            .filter(|byte| tensor.has_fields() && tensor.element_at(4 * cell + byte).is_some())
            .fold(0, |all, byte| all | 1 << byte);
        if tensor.is_given() || self.memory.is_written((number, cell), touched & !of_fields) {
            return Ok(());
        }
        let place = self.launch.place(at.pc);
        Err(Stop::Missing(Box::new(self.launch.not_given(tensor, place))))
    }
}
