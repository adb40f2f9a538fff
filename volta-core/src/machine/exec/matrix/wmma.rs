//! `wmma`: matrices whose layout in registers is not specified.
//!
//! A register of a fragment holds a handle in each lane: matrix, register and lane. Handles may be moved. Arithmetic on
//! them is allowed when all lanes apply it and every operand that is not a fragment is uniform: it gives a handle of
//! another matrix, the same one for all registers. Handles become elements again only when all registers of all lanes
//! hold the handles of one matrix in their places. The results of a kernel therefore cannot depend on the layout.
//!
//! Where a case specifies the layout (`wmma_layout`), and it is known for a fragment, its registers hold its elements,
//! as those of `mma` do.

use super::mma::{Factors, Places, sum_of_products};
use crate::base::lane::{Lane, LaneMask};
use crate::case::WmmaLayout;
use crate::concurrency::agent::Agent;
use crate::concurrency::race::Detector;
use crate::concurrency::shadow::WHOLE;
use crate::launch::objects::Backing;
use crate::machine::cta::accesses::{Accesses, LaneAccess, WarpAccess};
use crate::machine::group::assumptions::ROW_ALIGN;
use crate::machine::group::context::Context;
use crate::machine::group::fragment_layout::of_wide_c;
use crate::machine::group::matrix_terms::{Terms, UNDEFINED, is_undefined, origin_of, undefined};
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::Operands;
use crate::machine::group::values::Matrices;
use crate::machine::group::warp::{At, Step, Warp};
use crate::machine::group::wmma_fragments::{Fragments, Matrix, Operand};
use crate::machine::sync::synchronisation::Synchronisation;
use crate::number::format::Format;
use crate::program::matrix::{Fragment, FragmentRole, MatrixElement, MatrixProduct, MatrixShape};
use crate::program::{Address, InstId, RegId, Space, Src};
use crate::term::{Store, TermId};
use crate::value::float_inst::{FloatInst, Shape};
use crate::value::int_terms::number;
use crate::value::known_floats::clamp_term;
use crate::value::register::Register;
use crate::value::{Origin, Sym, SymKind, Value};
use crate::verdict::FaultKind;
use std::rc::Rc;

/// The fragment whose layout on sm_80 is known, in [`LAID_OUT_REGISTERS`] registers.
const LAID_OUT: Fragment = Fragment {
    role: FragmentRole::Accumulator,
    shape: MatrixShape { m: 16, n: 16, k: 16 },
    element: MatrixElement::Float(Format::F32),
};
const LAID_OUT_REGISTERS: usize = 8;

impl Accesses<'_, '_> {
    /// `wmma.load`
    pub(crate) fn load_fragment(
        &mut self,
        Step { warp, pc, .. }: Step<'_>,
        (fragment, column_major): (Fragment, bool),
        (space, address, stride): (Space, Address, Option<Src>),
        d: &[RegId],
    ) -> Result<(), Stop> {
        let kind = (fragment, column_major);
        let offsets = self.values.matrices().element_offsets(At::first(warp, pc), kind, stride, d.len())?;
        let base = self.values.terms.operands(warp, pc).common_address(address)?;
        let agent = self.sync.any_of(warp, LaneMask::ALL);
        let (bytes, alignment) = extent(fragment, &offsets, d.len());
        let mut own = [0; 32];
        let access = LaneAccess { place: (space, base), bytes, alignment, agent, writes: false };
        let at = self.locate_lane(warp, Lane::FIRST, pc, access, &mut own)?;
        self.context.holds_matrices(warp, &at, true)?;
        let (rows, columns) = fragment.extent();
        let known = self.load_pairs(warp, &at, fragment, column_major, &offsets)?;
        let mut terms = Terms::new(rows, columns);
        for (element, offset) in offsets.iter().enumerate() {
            let (place, bytes) = (at.offsets[0] + offset, held_bytes(fragment.element));
            let value = match known.get(element) {
                Some(Some(value)) => *value,
                _ => self.load_value(warp, Lane::FIRST, &at, place, bytes)?,
            };
            terms.raw[element] =
                self.values.matrices().raw_element(At::first(warp, pc), fragment.element, value)?;
        }
        let is_factor = fragment.role != FragmentRole::Accumulator;
        let step = Step { warp, mask: LaneMask::ALL, pc };
        self.values.matrices().hold(step, (fragment, is_factor.then_some(column_major)), terms, d);
        Ok(())
    }

    /// Loads elements of two bytes from shared memory, two for each cell, which is read once under the epoch detector.
    /// Elements that need the general path are left out.
    fn load_pairs(
        &mut self,
        warp: &mut Warp,
        at: &WarpAccess<'_>,
        fragment: Fragment,
        column_major: bool,
        offsets: &[u64],
    ) -> Result<Vec<Option<Value>>, Stop> {
        let is_shared = matches!(at.object.backing, Backing::Shared(_));
        let by_epochs = matches!(self.sync.order, Detector::Epoch(_));
        if !is_shared || !by_epochs || held_bytes(fragment.element) != 2 {
            return Ok(Vec::new());
        }
        let (rows, columns) = fragment.extent();
        let (inner, next) = if column_major { (rows, columns) } else { (columns, 1) };
        let mut known = vec![None; offsets.len()];
        for pair in 0..offsets.len() / 2 {
            let (run, step) = (2 * pair / inner, 2 * pair % inner);
            let low = if column_major { step * columns + run } else { run * columns + step };
            let offset = at.offsets[0] + offsets[low];
            if !offset.is_multiple_of(4) {
                continue;
            }
            let cell = self.read_cell(warp, Lane::FIRST, at, offset / 4, WHOLE)?;
            known[low] = self.values.terms.packed.part(cell, 0, 2);
            known[low + next] = self.values.terms.packed.part(cell, 2, 2);
        }
        Ok(known)
    }

    /// `wmma.store`
    pub(crate) fn store_fragment(
        &mut self,
        Step { warp, pc, .. }: Step<'_>,
        (fragment, column_major): (Fragment, bool),
        (space, address, stride): (Space, Address, Option<Src>),
        a: &[Src],
    ) -> Result<(), Stop> {
        let terms = self.values.matrices().held(At::first(warp, pc), fragment, a)?;
        let kind = (fragment, column_major);
        let offsets = self.values.matrices().element_offsets(At::first(warp, pc), kind, stride, a.len())?;
        let base = self.values.terms.operands(warp, pc).common_address(address)?;
        let agent = self.sync.any_of(warp, LaneMask::ALL);
        let (bytes, alignment) = extent(fragment, &offsets, a.len());
        let mut own = [0; 32];
        let access = LaneAccess { place: (space, base), bytes, alignment, agent, writes: true };
        let at = self.locate_lane(warp, Lane::FIRST, pc, access, &mut own)?;
        self.context.holds_matrices(warp, &at, true)?;
        self.context.writable(warp, &at, bytes)?;
        let size = held_bytes(fragment.element);
        let mut elements: Vec<(u64, u64)> = offsets.into_iter().zip(terms.raw.iter().copied()).collect();
        elements.sort_unstable();
        let mut rest = elements.as_slice();
        while let [(offset, raw), after @ ..] = rest {
            let value = self.values.matrices().element_value(fragment.element, *raw, pc);
            let place = at.offsets[0] + offset;
            // Writes two halves of a cell together.
            if let [(next, other), after @ ..] = after
                && size == 2
                && place.is_multiple_of(4)
                && *next == offset + 2
            {
                let second = self.values.matrices().element_value(fragment.element, *other, pc);
                let both = self.values.terms.packed.pair(value, second);
                self.store_value(warp, Lane::FIRST, &at, place, 4, both)?;
                rest = after;
            } else {
                self.store_value(warp, Lane::FIRST, &at, place, size, value)?;
                rest = after;
            }
        }
        Ok(())
    }
}

impl Matrices<'_, '_> {
    /// `wmma.mma`
    pub(crate) fn multiply_fragments(
        &mut self,
        step: Step<'_>,
        (product, column_major): (MatrixProduct, [bool; 2]),
        d: &[RegId],
        [a, b, c]: [&[Src]; 3],
    ) -> Result<(), Stop> {
        let (at, pc) = (step.at(Lane::FIRST), step.pc);
        let shape = product.shape;
        let part = |role, element| Fragment { role, shape, element };
        let left = self.held(at, part(FragmentRole::A, product.a), a)?;
        let right = self.held(at, part(FragmentRole::B, product.b), b)?;
        let sum = self.held(at, part(FragmentRole::Accumulator, product.c), c)?;
        for (factor, column_major) in [a, b].into_iter().zip(column_major) {
            self.check_layout(at, factor, column_major)?;
        }
        let result = part(FragmentRole::Accumulator, product.d);
        let terms = if product.a.is_integer() {
            self.integer_products(pc, product, [&left, &right, &sum])
        } else {
            self.products(pc, [&left, &right, &sum])
        };
        self.hold(step, (result, None), terms, d);
        Ok(())
    }

    /// `D = A·B + C`
    fn products(&mut self, pc: InstId, [left, right, sum]: [&Terms; 3]) -> Terms {
        let (rows, columns) = (sum.raw.len() / sum.columns, sum.columns);
        let mut out = Terms::new(rows, columns);
        let is_known = |raw| self.numbers.known.contains(raw);
        let mut factors = Factors::new([left, right, sum], Places::in_order(columns), pc, is_known);
        for first in (0..rows * columns).step_by(32) {
            let totals = self.dot_products(&mut factors, (first / columns, first % columns));
            out.raw[first..first + 32].copy_from_slice(&totals);
        }
        out
    }

    /// `D = A·B + C` of integers: as constants where all operands are known, since results may decide control flow.
    pub(super) fn known_products(
        &mut self,
        pc: InstId,
        product: MatrixProduct,
        operands: [&Terms; 3],
    ) -> Option<Terms> {
        let [left, right, sum] = operands;
        let [Some(x), Some(y), Some(z)] = operands.map(|terms| known_integers(&self.terms.store, terms))
        else {
            return None;
        };
        let mut out = Terms::new(z.len() / sum.columns, sum.columns);
        for (at, start) in z.iter().enumerate() {
            let (row, column) = (at / sum.columns, at % sum.columns);
            let factors = (0..left.columns)
                .map(|k| x[row * left.columns + k].zip(y[k * right.columns + column]))
                .collect::<Option<Vec<(i64, i64)>>>();
            if let (Some(start), Some(factors)) = (start, factors) {
                let total = sum_of_products(product, *start as u32, factors.into_iter());
                out.raw[at] = self.terms.int_terms(pc).whole(total.cast_signed().into()).raw();
            }
        }
        Some(out)
    }

    fn integer_products(&mut self, pc: InstId, product: MatrixProduct, operands: [&Terms; 3]) -> Terms {
        if let Some(known) = self.known_products(pc, product, operands) {
            return known;
        }
        let [left, right, sum] = operands;
        if !product.saturate {
            return self.products(pc, operands);
        }
        let start = Terms { columns: sum.columns, raw: self.numbers_of_sums(pc, &sum.raw) };
        let Terms { columns, raw } = self.products(pc, [left, right, &start]);
        Terms { columns, raw: self.saturated_sums(pc, &raw) }
    }

    /// Arithmetic on fragments; `None` when no operand is one.
    pub(crate) fn fragment_float(
        &mut self,
        Step { warp, mask, pc }: &mut Step<'_>,
        FloatInst { shape, d, sources }: &FloatInst,
    ) -> Result<Option<()>, Stop> {
        let (mask, pc, shape) = (*mask, *pc, *shape);
        let is_fragment = |source: &Src| match source {
            Src::Reg(id) => handle(warp.register(*id), mask.first()).is_some(),
            Src::Imm(_) | Src::Symbol(..) => false,
        };
        if !sources.iter().any(is_fragment) {
            return Ok(None);
        }
        let context = self.terms.context;
        let odd = |warp: &Warp, what| Err(context.out_of_place(At::first(warp, pc), what));
        let mut operands = [Operand::Term(0); 3];
        let mut place = None;
        for (operand, source) in operands.iter_mut().zip(sources) {
            *operand = if is_fragment(source) {
                let Src::Reg(id) = source else { continue };
                let Some((matrix, register)) = whole_register(warp.register(*id)).filter(|_| mask.is_all())
                else {
                    return odd(warp, "some lanes compute with elements of a fragment");
                };
                if *place.get_or_insert(register) != register {
                    return odd(warp, "registers of different places in their fragments are combined");
                }
                Operand::Matrix(matrix)
            } else {
                let value = match source {
                    Src::Reg(id) => warp.register(*id).uniform(mask),
                    Src::Imm(bits) => Some(Value::Bits(*bits)),
                    Src::Symbol(..) => None,
                };
                let Some(value) = value else {
                    let what =
                        "elements of a fragment are combined with values that are not the same in all lanes";
                    return odd(warp, what);
                };
                Operand::Term(self.raw_real(At::first(warp, pc), value, shape.format)?)
            };
        }
        let operands_used = &operands[..sources.len()];
        let first = operands_used.iter().find_map(|operand| match operand {
            Operand::Matrix(matrix) => Some(&self.fragments.matrices[*matrix as usize]),
            Operand::Term(_) => None,
        });
        let (Some(first), Some(register)) = (first, place) else { return Ok(None) };
        let (fragment, registers, column_major) = (first.fragment, first.registers, first.column_major);
        let fits = operands_used.iter().all(|operand| match operand {
            Operand::Matrix(matrix) => {
                let other = &self.fragments.matrices[*matrix as usize];
                other.fragment == fragment && other.column_major == column_major
            }
            Operand::Term(_) => true,
        });
        if !fits || fragment.element != MatrixElement::Float(shape.format) {
            return odd(warp, "elements of different kinds of fragments are combined");
        }
        let key = (shape.op, shape.clamp, operands);
        let matrix = match self.fragments.derived.get(&key) {
            Some(known) => *known,
            None => {
                let terms = Rc::new(self.map_elements(fragment, operands_used, shape, pc));
                let matrix = self.fragments.add(Matrix { fragment, column_major, registers, terms });
                self.fragments.derived.insert(key, matrix);
                matrix
            }
        };
        set_handles(warp.register_mut(*d), matrix, register);
        Ok(Some(()))
    }

    fn map_elements(&mut self, fragment: Fragment, operands: &[Operand], shape: Shape, pc: InstId) -> Terms {
        let (rows, columns) = fragment.extent();
        let mut out = Terms::new(rows, columns);
        let sources: Vec<Result<Rc<Terms>, u64>> = operands
            .iter()
            .map(|operand| match operand {
                Operand::Matrix(matrix) => Ok(self.fragments.matrices[*matrix as usize].terms.clone()),
                Operand::Term(raw) => Err(*raw),
            })
            .collect();
        for first in (0..rows * columns).step_by(32) {
            let ids: Vec<[u64; 32]> = sources
                .iter()
                .map(|source| match source {
                    Ok(terms) => Lane::each(|lane| terms.raw[first + lane.index()]),
                    Err(raw) => [*raw; 32],
                })
                .collect();
            let defined = |lane: &Lane| !ids.iter().any(|ids| is_undefined(ids[*lane]));
            let mask = Lane::all().filter(defined).collect::<LaneMask>();
            for lane in !mask {
                let undefined_ones = ids.iter().map(|ids| ids[lane]).filter(|raw| is_undefined(*raw));
                let origin = undefined_ones.map(|raw| origin_of(raw, pc)).reduce(Origin::or);
                out.raw[first + lane.index()] = origin.map_or(UNDEFINED, undefined);
            }
            if mask.is_empty() {
                continue;
            }
            let known = |lane: &Lane| ids.iter().all(|ids| self.numbers.known.contains(ids[*lane]));
            let apart = mask.iter().filter(known).collect::<LaneMask>();
            for lane in apart {
                let operands = ids.iter().map(|ids| TermId::from_raw(ids[lane])).collect::<Vec<_>>();
                let term = self.terms.store.apply(shape.op, &operands, pc);
                let term = clamp_term(&mut self.terms.store, shape.clamp, term, pc);
                self.numbers.known.insert_unbounded(term);
                out.raw[first + lane.index()] = term.raw();
            }
            let mask = mask & !apart;
            if mask.is_empty() {
                continue;
            }
            let ids: Vec<&[u64; 32]> = ids.iter().collect();
            let results = self.terms.store.push_shared(shape.op, mask, &ids, pc);
            let results = self.reals().clamp_all(shape.clamp, mask, results, pc);
            for lane in mask {
                out.raw[first + lane.index()] = results.lane(lane);
            }
        }
        out
    }

    /// Writes handles of a new matrix, or its elements, to a warp's registers.
    fn hold(
        &mut self,
        step: Step<'_>,
        (fragment, column_major): (Fragment, Option<bool>),
        terms: Terms,
        d: &[RegId],
    ) {
        if self.terms.context.is_laid_out(fragment, d.len()) {
            return self.set_elements(step, fragment.element, &terms, d);
        }
        let terms = Rc::new(terms);
        let matrix = self.fragments.add(Matrix { fragment, column_major, registers: d.len(), terms });
        for (register, d) in d.iter().enumerate() {
            set_handles(step.warp.register_mut(*d), matrix, register as u8);
        }
    }

    /// Checks that a factor is multiplied in the layout in which it was loaded (PTX ISA, wmma.mma).
    fn check_layout(&self, at: At<'_>, a: &[Src], column_major: bool) -> Result<(), Stop> {
        let Some(Src::Reg(id)) = a.first() else { return Ok(()) };
        let Some((matrix, _)) = whole_register(at.warp.register(*id)) else { return Ok(()) };
        let held = self.fragments.matrices[matrix as usize].column_major;
        if held.is_none_or(|held| held == column_major) {
            return Ok(());
        }
        let by = |column_major| if column_major { "columns" } else { "rows" };
        let message = format!(
            "a fragment that was loaded by {} is multiplied as one by {}, which is undefined",
            by(!column_major),
            by(column_major)
        );
        Err(self.terms.context.fault_of(at, FaultKind::TypeMismatch, "V5", message))
    }

    /// The matrix that registers hold: as elements, as handles, or as one value everywhere.
    fn held(&mut self, at: At<'_>, fragment: Fragment, a: &[Src]) -> Result<Rc<Terms>, Stop> {
        if self.terms.context.is_laid_out(fragment, a.len()) {
            let terms = self.read_matrix(at, fragment.element, a, fragment.extent(), of_wide_c)?;
            return Ok(Rc::new(terms));
        }
        let odd = |what| Err(self.terms.context.out_of_place(at, what));
        let mut matrices = a.iter().map(|source| match source {
            Src::Reg(id) => whole_register(at.warp.register(*id)),
            Src::Imm(_) | Src::Symbol(..) => None,
        });
        if let Some(Some((matrix, _))) = matrices.clone().next()
            && matrices.clone().zip(0..).all(|(handle, place)| handle == Some((matrix, place)))
        {
            let held = &self.fragments.matrices[matrix as usize];
            if held.fragment == fragment && held.registers == a.len() {
                return Ok(held.terms.clone());
            }
            return odd("a fragment is used as one of another kind");
        }
        if matrices.any(|handle| handle.is_some()) {
            return odd("the registers do not hold one whole fragment");
        }
        self.filled(at, fragment, a)
    }

    /// A matrix of one value everywhere (`fill_fragment`).
    fn filled(&mut self, at: At<'_>, fragment: Fragment, a: &[Src]) -> Result<Rc<Terms>, Stop> {
        let value = |source: &Src| match source {
            Src::Reg(id) => at.warp.register(*id).uniform(LaneMask::ALL),
            Src::Imm(bits) => Some(Value::Bits(*bits)),
            Src::Symbol(..) => None,
        };
        let first = a.first().and_then(value);
        // Each register holds several small elements.
        let one = match (first, fragment.element.bytes()) {
            (Some(Value::Bits(bits)), 1) => {
                let byte = bits & 0xff;
                (bits & 0xffff_ffff == byte * 0x0101_0101).then_some(Value::Bits(byte))
            }
            (Some(Value::Bits(bits)), 2) => {
                (bits >> 16 & 0xffff == bits & 0xffff).then_some(Value::Bits(bits & 0xffff))
            }
            (_, 1 | 2) => None,
            (other, _) => other,
        };
        let Some(one) = one.filter(|_| a.iter().all(|source| value(source) == first)) else {
            let what = "the registers hold neither a fragment nor one value everywhere";
            return Err(self.terms.context.out_of_place(at, what));
        };
        let raw = self.raw_element(at, fragment.element, one)?;
        let (rows, columns) = fragment.extent();
        let mut terms = Terms::new(rows, columns);
        terms.raw.fill(raw);
        Ok(Rc::new(terms))
    }

    /// Offset of each element from the matrix's address, row by row.
    fn element_offsets(
        &mut self,
        At { warp, lane, pc }: At<'_>,
        (fragment, column_major): (Fragment, bool),
        stride: Option<Src>,
        registers: usize,
    ) -> Result<Vec<u64>, Stop> {
        let (rows, columns) = fragment.extent();
        let (inner, outer) = if column_major { (rows, columns) } else { (columns, rows) };
        let size = u64::from(held_bytes(fragment.element));
        let stride = match stride {
            None => inner as u64,
            Some(source) => {
                let all: Vec<u64> = Lane::all()
                    .map(|lane| self.terms.concrete(warp, source, lane, pc, "the stride of a matrix"))
                    .collect::<Result<_, _>>()?;
                if all.iter().any(|stride| *stride != all[0]) {
                    let message = "lanes give different strides for one matrix".to_string();
                    return Err(self.terms.operands(warp, pc).fault(
                        FaultKind::Undefined,
                        "Y4",
                        message,
                        lane,
                    ));
                }
                all[0] & 0xffff_ffff
            }
        };
        let wanted = fragment_bytes(fragment, registers);
        let needed =
            if self.terms.context.options.rules.strict_alignment { wanted } else { wanted.min(ROW_ALIGN) };
        let start_at = |bytes: u64| outer == 1 || (stride * size).is_multiple_of(bytes);
        if stride < inner as u64 || !start_at(needed) {
            let message = format!(
                "a matrix with {inner} elements in a row has a stride of {stride} elements; the stride must not be \
                 smaller than a row, and must be a multiple of {needed} bytes"
            );
            let multiple = (needed / size).max(1);
            let help = format!(
                "pad the rows to a multiple of {multiple} elements: {}, say",
                stride.max(inner as u64).next_multiple_of(multiple)
            );
            let site = self.terms.context.site("accesses memory here".into(), warp, lane, pc);
            let (kind, sites) = (FaultKind::Misaligned, vec![site]);
            return Err(self.terms.context.fault_at(kind, "M1", message, sites, Some(help)));
        }
        if !start_at(wanted) {
            self.terms.relied.on_rows(pc, wanted);
        }
        let place = |row: u64, column: u64| {
            size * if column_major { column * stride + row } else { row * stride + column }
        };
        Ok((0..rows as u64)
            .flat_map(|row| (0..columns as u64).map(move |column| place(row, column)))
            .collect())
    }
}

impl Fragments {
    /// A conversion between f32 and tf32 of a fragment's registers: the reals stay the same (rule V2), so handles are
    /// moved. False for other conversions, where nothing was done.
    pub(crate) fn convert(
        &self,
        warp: &mut Warp,
        mask: LaneMask,
        d: RegId,
        a: Src,
        formats: [Format; 2],
    ) -> bool {
        let Src::Reg(a) = a else { return false };
        let is_single = |format: &Format| matches!(format, Format::F32 | Format::Tf32);
        let source = warp.register(a);
        let fits = |lane: Lane| {
            handle(source, lane).is_some_and(|(matrix, ..)| {
                match self.matrices[matrix as usize].fragment.element {
                    MatrixElement::Float(format) => is_single(&format),
                    MatrixElement::Int8 { .. } | MatrixElement::Int32 => false,
                }
            })
        };
        if !formats.iter().all(is_single) || !mask.iter().all(fits) {
            return false;
        }
        let values: Vec<(Lane, Value)> = mask.iter().map(|lane| (lane, source.get(lane))).collect();
        for (lane, value) in values {
            warp.register_mut(d).set(lane, value);
        }
        true
    }
}

impl Operands<'_, '_> {
    /// The address, which must be uniform.
    fn common_address(&self, address: Address) -> Result<u64, Stop> {
        let addresses = self.addresses(LaneMask::ALL, address)?;
        if addresses.iter().any(|other| *other != addresses[0]) {
            let message = "lanes give different addresses for one matrix".to_string();
            return Err(self.fault(FaultKind::Undefined, "Y4", message, Lane::FIRST));
        }
        Ok(addresses[0])
    }
}

impl Context<'_> {
    /// Whether the layout of a fragment in its registers is known.
    fn is_laid_out(&self, fragment: Fragment, registers: usize) -> bool {
        match self.options.rules.wmma_layout {
            WmmaLayout::Unspecified => false,
            WmmaLayout::Sm80 => fragment == LAID_OUT && registers == LAID_OUT_REGISTERS,
        }
    }

    #[cold]
    fn out_of_place(&self, at: At<'_>, what: &str) -> Stop {
        let site = self.site("uses a fragment".into(), at.warp, at.lane, at.pc);
        let but = match self.options.rules.wmma_layout {
            WmmaLayout::Unspecified => "it is not specified which lane and register holds which element",
            WmmaLayout::Sm80 => {
                "the layout of this fragment on sm_80 is not documented: only that of f32 accumulators of m16n16k16 is"
            }
        };
        let message = format!("{what}, but {but}");
        let help = "apply the same operation to all registers of a fragment, with values that are the same in all \
                    lanes; use memory (`wmma::store_matrix_sync`) for operations that depend on rows or columns";
        self.fault_at(FaultKind::TypeMismatch, "V5", message, vec![site], Some(help.into()))
    }
}

impl Synchronisation<'_> {
    /// An agent that stands for any one of some lanes, in one operation.
    pub(crate) fn any_of(&mut self, warp: &Warp, lanes: LaneMask) -> Agent {
        let operation = match &mut self.order {
            Detector::Epoch(_) => 0,
            Detector::VectorClock(exact) => {
                let threads: Vec<usize> = lanes.iter().map(|lane| warp.thread(lane) as usize).collect();
                exact.begin_operation(&threads)
            }
        };
        Agent::AnyOf { operation, lanes }
    }
}

/// The integers of known terms, with `None` for undefined elements; `None` if some term is unknown.
fn known_integers(store: &Store, terms: &Terms) -> Option<Vec<Option<i64>>> {
    let known = |raw: &u64| match is_undefined(*raw) {
        true => Some(None),
        false => Some(Some(number(store, TermId::from_raw(*raw))?.to_i64()?)),
    };
    terms.raw.iter().map(known).collect()
}

/// Size of an element in memory.
fn held_bytes(element: MatrixElement) -> u32 {
    match element {
        MatrixElement::Float(Format::Tf32) => 4,
        other @ (MatrixElement::Float(_) | MatrixElement::Int8 { .. } | MatrixElement::Int32) => {
            other.bytes()
        }
    }
}

/// Size of a lane's part of a fragment, to which its rows must be aligned (PTX ISA, wmma.load).
fn fragment_bytes(fragment: Fragment, registers: usize) -> u64 {
    registers as u64 * u64::from(fragment.element.bytes().max(4))
}

/// Size from the first to the last element, and the alignment of the address.
fn extent(fragment: Fragment, offsets: &[u64], registers: usize) -> (u32, u32) {
    let last = offsets.iter().copied().max().unwrap_or(0);
    let bytes = last + u64::from(held_bytes(fragment.element));
    (u32::try_from(bytes).unwrap_or(u32::MAX), fragment_bytes(fragment, registers) as u32)
}

fn set_handles(register: &mut Register, matrix: u32, place: u8) {
    for lane in Lane::all() {
        register.set(lane, Value::Sym(Sym::fragment(matrix, place, lane)));
    }
}

/// The matrix, register and lane of a lane's handle, if it holds one.
fn handle(register: &Register, lane: Lane) -> Option<(u32, u8, Lane)> {
    let Value::Sym(sym) = register.get(lane) else { return None };
    let SymKind::Fragment { matrix, place, lane } = sym.kind() else { return None };
    Some((matrix, place, lane))
}

/// The matrix and register of which all lanes hold their own handle.
fn whole_register(register: &Register) -> Option<(u32, u8)> {
    let (matrix, place, _) = handle(register, Lane::FIRST)?;
    Lane::all().all(|lane| handle(register, lane) == Some((matrix, place, lane))).then_some((matrix, place))
}
