//! Matrices in registers: `mma.sync`, `ldmatrix`, `stmatrix`, `movmatrix` (rule Y4: they need the whole warp and
//! order no memory).

use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::agent::Agent;
use crate::launch::objects::{Backing, pretty_name};
use crate::machine::cta::accesses::{Accesses, LaneAccess, WarpAccess};
use crate::machine::exec::arithmetic::ieee;
use crate::machine::group::context::Context;
use crate::machine::group::fragment_layout;
use crate::machine::group::matrix_terms::{Terms, UNDEFINED, is_undefined, origin_of, undefined};
use crate::machine::group::stop::Stop;
use crate::machine::group::values::Matrices;
use crate::machine::group::warp::{At, Step, Warp};
use crate::number::format::Format;
use crate::program::matrix::{MatrixElement, MatrixProduct};
use crate::program::{Address, InstId, RegId, Space, Src};
use crate::term::{Pattern, TermId, TermOp, TermOperand};
use crate::value::int_terms;
use crate::value::packed::{PackedPart, PackedValues};
use crate::value::{Origin, Sym, Value};
use crate::verdict::FaultKind;

/// The operands of a product of matrices of terms, which is computed for 32 lanes at a time.
pub(super) struct Factors<'t> {
    left: &'t Terms,
    right: &'t Terms,
    sum: &'t Terms,
    places: Places,
    pc: InstId,
    /// Whether no element is undefined.
    complete: bool,
    /// Whether a row, a column and a sum are known, so that a result may be.
    known: bool,
    /// Interned operands of both matrices, by their first element: several instructions have the same ones.
    of_left: Vec<Option<TermOperand>>,
    of_right: Vec<Option<TermOperand>>,
    /// The step of a product in IEEE arithmetic, as a term.
    step: Option<u64>,
}

impl<'t> Factors<'t> {
    pub(crate) fn new(
        [left, right, sum]: [&'t Terms; 3],
        places: Places,
        pc: InstId,
        is_known: impl Fn(u64) -> bool,
    ) -> Factors<'t> {
        let complete =
            ![left, right, sum].into_iter().flat_map(|terms| &terms.raw).any(|raw| is_undefined(*raw));
        let (of_left, of_right) = (vec![None; left.raw.len()], vec![None; right.raw.len()]);
        let is_known = |raw: &u64| !is_undefined(*raw) && is_known(*raw);
        let known = sum.raw.iter().any(is_known)
            && left.raw.chunks(left.columns).any(|row| row.iter().all(is_known))
            && (0..right.columns)
                .any(|column| right.raw[column..].iter().step_by(right.columns).all(is_known));
        Factors { left, right, sum, places, pc, complete, known, of_left, of_right, step: None }
    }
}

/// Which elements of a product the lanes compute, starting from the first lane's: row by row, with `columns` in each
/// row.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    /// Powers of two whose product is 32.
    rows: usize,
    columns: usize,
    /// Distance of columns.
    apart: usize,
}

impl Places {
    /// The elements with one index in the lanes' fragments of C or D.
    pub(super) const OF_C: Places = Places { rows: 8, columns: 4, apart: 2 };

    /// The elements of 32 rows in one column.
    pub(super) const OF_ROWS: Places = Places { rows: 32, columns: 1, apart: 1 };

    /// 32 consecutive elements of a matrix with so many columns.
    pub(super) fn in_order(columns: usize) -> Places {
        let inside = columns.min(32);
        Places { rows: 32 / inside, columns: inside, apart: 1 }
    }

    fn of_lane(&self, first: (usize, usize), lane: Lane) -> (usize, usize) {
        (first.0 + lane.index() / self.columns, first.1 + lane.index() % self.columns * self.apart)
    }
}

impl Context<'_> {
    /// Checks the object of a matrix: shared memory, and for `wmma` also tensors.
    pub(super) fn holds_matrices(
        &self,
        warp: &Warp,
        at: &WarpAccess<'_>,
        in_tensors: bool,
    ) -> Result<(), Stop> {
        match at.object.backing {
            Backing::Shared(_) => Ok(()),
            Backing::Tensor(_) if in_tensors && at.object.space == Space::Global => Ok(()),
            Backing::Tensor(_) | Backing::Local(_) => {
                let lane = at.mask.first();
                let name = pretty_name(&at.object.name);
                let message = format!("a matrix instruction does not access the state space of `{name}`");
                Err(self.fault(FaultKind::OutOfBounds, "M1", message, warp, lane, at.pc))
            }
        }
    }
}

impl Matrices<'_, '_> {
    /// `mma.sync`
    pub(crate) fn mma(
        &mut self,
        step: Step<'_>,
        product: MatrixProduct,
        d: &[RegId],
        [a, b, c]: [&[Src]; 3],
    ) -> Result<(), Stop> {
        let shape = product.shape;
        let [m, n, k] = [shape.m, shape.n, shape.k].map(usize::from);
        if product.a.is_integer() {
            self.are_defined(&step, [a, b, c])?;
        }
        let of_a = |lane, at| fragment_layout::of_a(shape, product.a, lane, at);
        let left = self.read_matrix(step.at(Lane::FIRST), product.a, a, (m, k), of_a)?;
        let of_b = |lane, at| fragment_layout::of_b(product.b, lane, at);
        let right = self.read_matrix(step.at(Lane::FIRST), product.b, b, (k, n), of_b)?;
        let sum = self.read_matrix(step.at(Lane::FIRST), product.c, c, (m, n), fragment_layout::of_c)?;
        let mut ieee = None;
        if let MatrixElement::Float(format) = product.d
            && self.terms.store.is_ieee()
        {
            // Each element is whatever the architecture computes of its row, its column and its addend, by an
            // instruction of this shape.
            ieee = Some(self.terms.store.ieee_key(ieee::step_of(product, format)).raw());
        }
        self.write_product(step, product, d, ([&left, &right, &sum], ieee));
        Ok(())
    }

    /// Checks that all lanes hold integers.
    fn are_defined(&self, step: &Step<'_>, operands: [&[Src]; 3]) -> Result<(), Stop> {
        for lane in Lane::all() {
            for source in operands.into_iter().flatten() {
                let value = self.terms.context.value(step.warp, *source, lane);
                if self.terms.packed.undefined_part(value).is_some() {
                    return Err(self.no_integer(step.at(lane), value));
                }
            }
        }
        Ok(())
    }

    /// Writes `D = A·B + C` to the registers of a warp: each element a chain of fused products, or of the steps of IEEE
    /// arithmetic that are given, or a sum of products of integers, which wraps around or saturates in 32 bits.
    pub(super) fn write_product(
        &mut self,
        mut step: Step<'_>,
        product: MatrixProduct,
        d: &[RegId],
        ([left, right, sum], ieee): ([&Terms; 3], Option<u64>),
    ) {
        let (element, pc) = (product.d, step.pc);
        if element.is_integer()
            && let Some(known) = self.known_products(pc, product, [left, right, sum])
        {
            return self.set_elements(step, element, &known, d);
        }
        let saturates = product.saturate && element.is_integer();
        let numbers = saturates.then(|| self.numbers_of_sums(pc, &sum.raw));
        let numbers = numbers.map(|raw| Terms { columns: sum.columns, raw });
        let sum = numbers.as_ref().unwrap_or(sum);
        // Integers are not rounded.
        let is_known = |raw| ieee.is_none() && !element.is_integer() && self.numbers.known.contains(raw);
        let mut factors = Factors::new([left, right, sum], Places::OF_C, pc, is_known);
        factors.step = ieee;
        let inside = fragment_layout::elements_in_register(element).min(2);
        for (number, d) in d.iter().enumerate() {
            let mut results = [[UNDEFINED; 32]; 2];
            for (at, result) in results.iter_mut().enumerate().take(inside) {
                let first = fragment_layout::of_wide_c(Lane::FIRST, number * inside + at);
                *result = self.dot_products(&mut factors, first);
            }
            if let MatrixElement::Float(format) = element {
                self.terms.packed.set_matrix_register(&mut step, *d, format, &results[..inside]);
                continue;
            }
            let sums = if saturates { self.saturated_sums(pc, &results[0]) } else { results[0].to_vec() };
            for (lane, raw) in Lane::all().zip(sums) {
                step.set(*d, lane, self.element_value(element, raw, pc));
            }
        }
    }

    /// `sum[p] + Σ left[row][k] · right[k][column]` for 32 places from one on; undefined where an operand is.
    pub(super) fn dot_products(&mut self, factors: &mut Factors<'_>, first: (usize, usize)) -> [u64; 32] {
        let totals = self.dot_product_terms(factors, first);
        if factors.known {
            self.note_known(factors, first, &totals);
        }
        totals
    }

    fn dot_product_terms(&mut self, factors: &mut Factors<'_>, first: (usize, usize)) -> [u64; 32] {
        let Factors { left, right, sum, places, pc, complete, of_left, of_right, step, .. } = factors;
        let total: [u64; 32] = Lane::each(|lane| {
            let (row, column) = places.of_lane(first, lane);
            sum.at(row, column)
        });
        if !*complete || step.is_some() {
            return self.defined_dot_products(factors, first, total);
        }
        let mut total = Pattern::Repeated { list: &total, shift: 0 };
        let mut list = [0; 32];
        for k in 0..left.columns {
            let x = *of_left[first.0 * left.columns + k].get_or_insert_with(|| {
                let list = &mut list[..places.rows];
                for (at, raw) in list.iter_mut().enumerate() {
                    *raw = left.at(first.0 + at, k);
                }
                self.terms
                    .store
                    .intern_operand(Pattern::Repeated { list, shift: places.columns.trailing_zeros() })
            });
            let y = *of_right[k * right.columns + first.1].get_or_insert_with(|| {
                let list = &mut list[..places.columns];
                for (at, raw) in list.iter_mut().enumerate() {
                    *raw = right.at(k, first.1 + at * places.apart);
                }
                self.terms.store.intern_operand(Pattern::Repeated { list, shift: 0 })
            });
            let operands = [x, y, self.terms.store.intern_operand(total)];
            total = Pattern::Results(self.terms.store.push_operands(TermOp::Fma, &operands, *pc));
        }
        total.all()
    }

    /// Notes sums of known values: the order in which they are rounded is not specified (rule V10).
    fn note_known(&mut self, factors: &Factors<'_>, first: (usize, usize), totals: &[u64; 32]) {
        let Factors { left, right, sum, places, .. } = factors;
        for (lane, total) in Lane::all().zip(totals) {
            let (row, column) = places.of_lane(first, lane);
            let pairs = (0..left.columns).map(|k| [left.at(row, k), right.at(k, column)]);
            let mut operands = pairs.flatten().chain([sum.at(row, column)]);
            if !is_undefined(*total) && operands.all(|raw| self.numbers.known.contains(raw)) {
                self.numbers.known.insert_unbounded(TermId::from_raw(*total));
            }
        }
    }

    /// Like [`Matrices::dot_products`], where some operands are undefined, or in IEEE arithmetic.
    fn defined_dot_products(
        &mut self,
        factors: &Factors<'_>,
        first: (usize, usize),
        mut total: [u64; 32],
    ) -> [u64; 32] {
        let Factors { left, right, places, pc, .. } = *factors;
        let mut mask = LaneMask::ALL;
        for lane in Lane::all() {
            let (row, column) = places.of_lane(first, lane);
            let factors = (0..left.columns).flat_map(|k| [left.at(row, k), right.at(k, column)]);
            let undefined_ones = factors.chain([total[lane]]).filter(|raw| is_undefined(*raw));
            let origins = undefined_ones.map(|raw| origin_of(raw, pc));
            if let Some(origin) = origins.reduce(Origin::or) {
                total[lane] = undefined(origin);
                mask &= !LaneMask::of(lane);
            }
        }
        if mask.is_empty() {
            return total;
        }
        for k in 0..left.columns {
            let x = Lane::each(|lane| left.at(places.of_lane(first, lane).0, k));
            let y = Lane::each(|lane| right.at(k, places.of_lane(first, lane).1));
            let results = match factors.step {
                None => self.terms.store.push_shared(TermOp::Fma, mask, &[&x, &y, &total], pc),
                Some(step) => {
                    let pair = self.terms.store.push_shared(TermOp::IeeePair, mask, &[&x, &y], pc).all();
                    self.terms.store.push_shared(TermOp::Ieee2, mask, &[&[step; 32], &pair, &total], pc)
                }
            };
            for lane in mask {
                total[lane] = results.lane(lane);
            }
        }
        total
    }

    /// A value as a float element of a matrix.
    pub(super) fn raw_real(&mut self, at: At<'_>, value: Value, format: Format) -> Result<u64, Stop> {
        Ok(match self.reals().real(at, value, format)? {
            Some(term) => term.raw(),
            None => self.terms.packed.taint(&[value]).map_or(UNDEFINED, undefined),
        })
    }

    /// The elements in the registers of all lanes, as terms.
    pub(super) fn read_matrix(
        &mut self,
        of: At<'_>,
        element: MatrixElement,
        registers: &[Src],
        (rows, columns): (usize, usize),
        place: impl Fn(Lane, usize) -> (usize, usize),
    ) -> Result<Terms, Stop> {
        let mut out = Terms::new(rows, columns);
        let bytes = element.bytes();
        let inside = (4 / bytes as usize).max(1);
        let tag = match element {
            MatrixElement::Float(format) => Some(Sym::real_tag(format)),
            MatrixElement::Int8 { .. } | MatrixElement::Int32 => None,
        };
        for (number, source) in registers.iter().enumerate() {
            for lane in Lane::all() {
                let value = self.terms.context.value(of.warp, *source, lane);
                let at = number * inside;
                if let Value::Sym(sym) = value
                    && let Some(tag) = tag
                {
                    // Fast path for the usual case.
                    if inside == 1 && sym.raw() & !Sym::PAYLOAD == tag {
                        out.set(place(lane, at), sym.raw() & Sym::PAYLOAD);
                        continue;
                    }
                    if let Some(halves) = sym.as_pair()
                        && inside == 2
                        && halves[0].raw() & !Sym::PAYLOAD == tag
                    {
                        for (which, half) in halves.into_iter().enumerate() {
                            out.set(place(lane, at + which), half.raw() & Sym::PAYLOAD);
                        }
                        continue;
                    }
                }
                for which in 0..inside {
                    let own = At { lane, ..of };
                    let part = if inside == 1 { value } else { self.part(own, value, (which, bytes))? };
                    out.set(place(lane, at + which), self.raw_element(own, element, part)?);
                }
            }
        }
        Ok(out)
    }

    /// A part of a register, two bytes or one, by its index from the low end.
    pub(crate) fn part(&mut self, at: At<'_>, value: Value, part: (usize, u32)) -> Result<Value, Stop> {
        let (which, bytes) = part;
        if bytes == 2
            && let Some(half) = self.terms.packed.half(value, which)
        {
            return Ok(half);
        }
        let pieces = self.terms.packed.split(value, 4);
        match int_terms::slice(&pieces, which as u32 * bytes, bytes, &mut self.terms.store) {
            Ok(part) => Ok(self.terms.packed.join(&part)),
            Err(_) => {
                let what = self.terms.describe_value(value);
                let parts = if bytes == 2 { "two halves" } else { "four bytes" };
                let message = format!("a matrix instruction takes a register for {parts}: {what}");
                Err(self.terms.context.fault_of(at, FaultKind::TypeMismatch, "V5", message))
            }
        }
    }

    /// The fault of an operand that is undefined, or not an integer.
    #[cold]
    pub(super) fn no_integer(&self, at: At<'_>, value: Value) -> Stop {
        match self.terms.packed.undefined_part(value) {
            Some(_) => self.terms.not_concrete(at.warp, value, at.lane, at.pc, "an integer of a matrix"),
            None => self.terms.computes_with_encoding(at, &[value]),
        }
    }

    /// `movmatrix.trans`
    pub(crate) fn transpose_matrix(&mut self, mut step: Step<'_>, d: RegId, a: Src) -> Result<(), Stop> {
        let mut results = Vec::with_capacity(32);
        for lane in Lane::all() {
            let (group, thread) = (lane.index() / 4, lane.index() % 4);
            let [low, high] = [2 * thread, 2 * thread + 1].map(|row| {
                let at = step.at(Lane::at(4 * row + group / 2));
                self.part(at, self.terms.context.value(at.warp, a, at.lane), (group % 2, 2))
            });
            results.push((lane, self.terms.packed.pair(low?, high?)));
        }
        step.set_lanes(d, results);
        Ok(())
    }
}

impl PackedValues {
    pub(super) fn pair(&mut self, low: Value, high: Value) -> Value {
        self.join(&[PackedPart { value: low, bytes: 2 }, PackedPart { value: high, bytes: 2 }])
    }
}

impl Accesses<'_, '_> {
    /// `ldmatrix`. Each row is read by the lane that gives its address, since that lane may fetch it, and by the lanes
    /// that receive parts of it.
    pub(crate) fn load_matrix(
        &mut self,
        Step { warp, pc, .. }: Step<'_>,
        (space, address): (Space, Address),
        transposed: bool,
        d: &[RegId],
    ) -> Result<(), Stop> {
        let needed = Lane::all().take(8 * d.len()).collect();
        self.observe(warp, needed, pc, (space, address), 16);
        let addresses = self.values.terms.addresses(warp, needed, address, pc)?;
        for (number, d) in d.iter().enumerate() {
            let mut cells = [[Value::Bits(0); 4]; 8];
            let mut offsets = [0; 32];
            for (row, cells) in cells.iter_mut().enumerate() {
                let owner = Lane::at(8 * number + row);
                let place = (space, addresses[owner]);
                let access =
                    LaneAccess { place, bytes: 16, alignment: 16, agent: Agent::Thread, writes: false };
                let at = self.locate_lane(warp, owner, pc, access, &mut offsets)?;
                self.context.holds_matrices(warp, &at, false)?;
                for (step, cell) in cells.iter_mut().enumerate() {
                    let offset = at.offsets[owner] + 4 * step as u64;
                    // When transposed, a cell's halves go to the rows of two groups of lanes.
                    let readers =
                        if transposed { 0b1_0001 << (8 * step + row / 2) } else { 1 << (4 * row + step) };
                    let readers = LaneMask::from_bits(readers);
                    *cell = self.load_word(warp, &at, offset, (owner, readers))?;
                }
            }
            let mut values = [Value::Bits(0); 32];
            for (lane, value) in Lane::all().zip(&mut values) {
                let (group, thread) = (lane.index() / 4, lane.index() % 4);
                *value = if transposed {
                    let [low, high] = [2 * thread, 2 * thread + 1].map(|row| {
                        let cell = cells[row][group / 2];
                        self.values.matrices().part(At { warp, lane, pc }, cell, (group % 2, 2))
                    });
                    self.values.terms.packed.pair(low?, high?)
                } else {
                    cells[group][thread]
                };
            }
            warp.register_mut(*d).set_values(&values);
        }
        Ok(())
    }

    /// `stmatrix`: each lane writes what it holds, to rows whose addresses other lanes give.
    pub(crate) fn store_matrix(
        &mut self,
        Step { warp, pc, .. }: Step<'_>,
        (space, address): (Space, Address),
        transposed: bool,
        a: &[Src],
    ) -> Result<(), Stop> {
        let needed = Lane::all().take(8 * a.len()).collect();
        self.observe(warp, needed, pc, (space, address), 16);
        let addresses = self.values.terms.addresses(warp, needed, address, pc)?;
        for (number, source) in a.iter().enumerate() {
            let mut spots = Vec::with_capacity(8);
            let mut offsets = [[0; 32]; 8];
            for (row, offsets) in offsets.iter_mut().enumerate() {
                let owner = Lane::at(8 * number + row);
                let place = (space, addresses[owner]);
                let access =
                    LaneAccess { place, bytes: 16, alignment: 16, agent: Agent::Thread, writes: true };
                let at = self.locate_lane(warp, owner, pc, access, offsets)?;
                self.context.holds_matrices(warp, &at, false)?;
                spots.push((at.offsets[owner], at));
            }
            for lane in Lane::all() {
                let (group, thread) = (lane.index() / 4, lane.index() % 4);
                let value = self.context.value(warp, *source, lane);
                if !transposed {
                    let (offset, at) = &spots[group];
                    self.store_value(warp, lane, at, offset + 4 * thread as u64, 4, value)?;
                    continue;
                }
                for which in 0..2 {
                    let half = self.values.matrices().part(At { warp, lane, pc }, value, (which, 2))?;
                    let (offset, at) = &spots[2 * thread + which];
                    self.store_value(warp, lane, at, offset + 2 * group as u64, 2, half)?;
                }
            }
        }
        Ok(())
    }
}

/// An element of a product of integers, which wraps around or saturates in 32 bits.
pub(super) fn sum_of_products(
    product: MatrixProduct,
    start: u32,
    factors: impl Iterator<Item = (i64, i64)>,
) -> u32 {
    let sum: i64 = factors.map(|(x, y)| x * y).sum();
    if product.saturate {
        let total = i64::from(start.cast_signed()) + sum;
        (total.clamp(i32::MIN.into(), i32::MAX.into()) as i32).cast_unsigned()
    } else {
        start.wrapping_add(sum as u32)
    }
}

/// A term as a value of a format.
pub(super) fn real_or_undefined(format: Format, raw: u64, pc: InstId) -> Value {
    if is_undefined(raw) {
        Value::Undefined(origin_of(raw, pc))
    } else {
        Value::Sym(Sym::real(format, TermId::from_raw(raw)))
    }
}
