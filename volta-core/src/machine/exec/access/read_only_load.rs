//! Memory in its state before the launch: variables whose contents are not given (rule M5), and inputs that are only
//! read (rule M4): loads from them do not race.

use crate::case::Element;
use crate::launch::objects::{Backing, Object};
use crate::launch::tensor::Initial;
use crate::machine::cta::accesses::{Accesses, WarpAccess};
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::program::{RegId, Width};
use crate::term::TermId;
use crate::value::Sym;

impl Context<'_> {
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
}

impl Accesses<'_, '_> {
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
        let is_one = self.context.launch.tensors[number as usize].is_read_only()
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
    pub(crate) fn is_known(&self, at: &WarpAccess<'_>, cell: u64, touched: u8) -> Result<(), Stop> {
        let Backing::Tensor(number) = at.object.backing else { return Ok(()) };
        let tensor = &self.context.launch.tensors[number as usize];
        let of_fields = (0..4)
            .filter(|byte| tensor.has_fields() && tensor.element_at(4 * cell + byte).is_some())
            .fold(0, |all, byte| all | 1 << byte);
        if tensor.is_given() || self.memory.is_written((number, cell), touched & !of_fields) {
            return Ok(());
        }
        let place = self.context.launch.place(at.pc);
        Err(Stop::Missing(Box::new(self.context.launch.not_given(tensor, place))))
    }
}
