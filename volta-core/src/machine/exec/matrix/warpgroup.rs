//! Matrix products of a warpgroup (`wgmma`, rule Y12): each warp computes its 16 rows, and is an agent of the async
//! proxy while the product is in flight.
//!
//! As with copies, results are written immediately: accessing the registers of a product, or writing its operands,
//! before the product is over is a fault.

use super::mma::real_or_undefined;
use super::shared_matrix::{Layout, Operation, SharedMatrix};
use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::clock::Joined;
use crate::concurrency::mbarrier_phases::Started;
use crate::concurrency::products_in_flight::{Done, Part, Products, Running, Use};
use crate::concurrency::race::Detector;
use crate::machine::cta::accesses::Asynchronous;
use crate::machine::exec::arithmetic::float::set_reals;
use crate::machine::group::context::Context;
use crate::machine::group::fragment_layout::{self, of_wide_c};
use crate::machine::group::matrix_terms::{Terms, UNDEFINED, is_undefined};
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::Operands;
use crate::machine::group::values::Matrices;
use crate::machine::group::warp::{At, Step, Warp};
use crate::machine::sync::synchronisation::Synchronisation;
use crate::number::format::Format;
use crate::program::matrix::{MatrixElement, MatrixShape};
use crate::program::{Adds, Async, Factor, Groups, InstId, Op, PredSrc, RegId, Src, WarpgroupProduct};
use crate::term::{TermId, TermOp};
use crate::value::Value;
use crate::value::packed::PackedValues;
use crate::verdict::FaultKind;

/// Number of warps that compute a product together.
const WARPS: usize = 4;
/// Number of rows that each of them computes.
const ROWS: usize = 16;
/// The descriptor's name in messages.
pub(super) const DESCRIPTOR: &str = "a matrix descriptor";

/// The other warps of a warp's warpgroup.
fn others(warp: &Warp) -> impl Iterator<Item = usize> {
    let (first, own) = (warp.index - warp.number % WARPS, warp.index);
    (first..first + WARPS).filter(move |other| *other != own)
}

impl Synchronisation<'_> {
    /// Checks that a thread accesses no register of a product in flight (rule Y12).
    pub(crate) fn touches_products(&mut self, at: At<'_>, op: &Op) -> Result<(), Stop> {
        if let Op::Async(Async::Multiply(_)) = op {
            return Ok(());
        }
        let products = &mut self.products[at.warp.index];
        let mut busy = None;
        op.visit_registers(&mut |register, _| {
            let used = &mut products.uses[register.index()];
            used.touched = Some(at.pc);
            if used.running > 0 {
                busy = busy.or(Some(*used));
            }
        });
        match busy {
            None => Ok(()),
            Some(used) => Err(self.context.in_flight(at, used, "is touched")),
        }
    }

    /// Whether the other warps of the group have started the products that a warp is about to wait for: the parts
    /// complete together.
    pub(crate) fn are_started(&self, warp: &Warp, pending: u32) -> bool {
        let Some(products) = self.products.get(warp.index) else { return true };
        if self.context.launch.threads() < 32 * (warp.number / WARPS * WARPS + WARPS) {
            return true;
        }
        let ended = products.groups.len().saturating_sub(pending as usize);
        let over = products.over + products.groups.iter().take(ended).map(Vec::len).sum::<usize>();
        others(warp).all(|other| self.products[other].parts.len() >= over)
    }

    /// At a deadlock: reports a warp that waits for a product which the others of its group have not started.
    #[cold]
    pub(crate) fn waits_for_parts(&self, warps: &[Warp]) -> Result<(), Stop> {
        let waits = |warp: &Warp| {
            warp.at_collective.iter().next().is_some_and(|lane| {
                let op = &self.context.launch.program.insts[warp.pc[lane].index()].op;
                matches!(op, Op::Async(Async::Wait { groups: Groups::Products, .. }))
            })
        };
        if warps.iter().any(waits) { self.end_products() } else { Ok(()) }
    }

    /// Checks at the end of the run that all warps of a group have executed the same operations on products, with the
    /// same operands (ISA, `wgmma.mma_async`).
    pub(crate) fn end_products(&self) -> Result<(), Stop> {
        // A warpgroup lies inside one CTA.
        let each = self.context.launch.warps();
        let ctas = self.products.chunks(each).enumerate();
        let groups = ctas.flat_map(|(rank, own)| {
            own.chunks(WARPS).enumerate().map(move |(group, warps)| (each * rank + WARPS * group, warps))
        });
        for (first, warps) in groups {
            let Some(other) = warps.iter().position(|warp| warp.done != warps[0].done) else { continue };
            let (one, two) = (&warps[0].done, &warps[other].done);
            let same = one.iter().zip(two).take_while(|(one, two)| one == two).count();
            let sites = [(0, one), (other, two)].into_iter().filter_map(|(warp, done)| {
                let thread = (32 * (first + warp)) as u32;
                Some(self.context.site_of_thread("executes this one".into(), thread, done.get(same)?.pc))
            });
            let (kind, message) = match (one.get(same), two.get(same)) {
                (Some(one), Some(two)) if one.pc == two.pc => (
                    FaultKind::Undefined,
                    "warps of one warpgroup give a product different operands; they must be the same in all four",
                ),
                _ => (
                    FaultKind::BarrierDivergence,
                    "warps of one warpgroup execute different operations on products; all four must execute the same",
                ),
            };
            let sites = sites.collect();
            return Err(self.context.fault_at(kind, "Y12", message.to_string(), sites, None));
        }
        Ok(())
    }

    /// Checks that the registers of a product are free and fenced, and takes them.
    fn take_registers(&mut self, warp: &Warp, pc: InstId, product: &WarpgroupProduct) -> Result<(), Stop> {
        let products = &self.products[warp.index];
        for (register, result) in product.uses() {
            let used = products.uses[register.index()];
            // Results of one shape accumulate in order, and factors may be read again.
            if used.running > 0 && used.result != result {
                return Err(self.context.in_flight(At::first(warp, pc), used, "is used by another one"));
            }
            if result.is_none() && product.d.contains(&register) {
                let message =
                    "a register is part of the left factor and of the result of one product".to_string();
                return Err(self.context.fault(FaultKind::InFlight, "Y12", message, warp, Lane::FIRST, pc));
            }
            if used.touched.is_some() || !products.fenced {
                let part = if result.is_some() { "the result" } else { "the left factor" };
                let message = if products.fenced {
                    format!("threads have used registers of {part} since the last `wgmma.fence`")
                } else {
                    "there is no `wgmma.fence` before the first product".to_string()
                };
                let site = |what: &str, pc| self.context.site(what.into(), warp, Lane::FIRST, pc);
                let touches = used.touched.map(|touched| site("uses one of these registers", touched));
                let sites = [site("starts the product", pc)].into_iter().chain(touches).collect();
                let help = Some("`wgmma.fence.sync.aligned` belongs between them and the product".into());
                return Err(self.context.fault_at(FaultKind::InFlight, "Y12", message, sites, help));
            }
        }
        Ok(())
    }

    /// Lanes of a warp that represent it: what they all know, all its lanes know.
    pub(crate) fn readers(&self, warp: &Warp) -> Vec<Lane> {
        let Detector::VectorClock(exact) = &self.order else { return vec![Lane::FIRST] };
        let threads: Vec<usize> = Lane::all().map(|lane| warp.thread(lane) as usize).collect();
        exact.clocks.representatives(&threads).into_iter().map(Lane::at).collect()
    }
}

impl Context<'_> {
    #[cold]
    fn in_flight(&self, At { warp, lane, pc }: At<'_>, used: Use, what: &str) -> Stop {
        let part = if used.result.is_some() { "of the result" } else { "of the left factor" };
        let message = format!("a register {part} of a product {what} while the product is in flight");
        let sites = vec![
            self.site("starts the product".into(), warp, lane, used.last),
            self.site(format!("{what} here", what = what.trim_start_matches("is ")), warp, lane, pc),
        ];
        let help = "wait for the product first: `wgmma.commit_group`, then `wgmma.wait_group`";
        self.fault_at(FaultKind::InFlight, "Y12", message, sites, Some(help.into()))
    }

    #[cold]
    pub(super) fn not_uniform(&self, at: At<'_>, rule: &'static str) -> Stop {
        let message = "an operand that must be the same in all lanes is not".to_string();
        self.fault_of(at, FaultKind::Undefined, rule, message)
    }

    fn layout(&self, warp: &Warp, pc: InstId, bits: u64, k_major: bool) -> Result<Layout, Stop> {
        Layout::of_warpgroup(bits, k_major).ok_or_else(|| {
            let message = "matrix descriptors with a base offset are not supported".to_string();
            self.fault(FaultKind::Unsupported, "S2", message, warp, Lane::FIRST, pc)
        })
    }
}

impl Asynchronous<'_, '_> {
    /// `wgmma.fence`: orders threads' accesses to registers before products.
    pub(crate) fn fence_registers(&mut self, warp: &Warp, pc: InstId) -> Result<(), Stop> {
        let products = self.products_of(warp, pc)?;
        products.uses.iter_mut().for_each(|used| used.touched = None);
        products.fenced = true;
        Ok(())
    }

    pub(crate) fn commit_products(&mut self, warp: &Warp, pc: InstId) -> Result<(), Stop> {
        let products = self.products_of(warp, pc)?;
        let group = std::mem::take(&mut products.open);
        products.groups.push_back(group);
        Ok(())
    }

    /// Waits until at most `pending` groups are in flight.
    pub(crate) fn wait_for_products(&mut self, warp: &Warp, pc: InstId, pending: u32) -> Result<(), Stop> {
        let products = self.products_of(warp, pc)?;
        let ended = products.groups.len().saturating_sub(pending as usize);
        let over: Vec<Running> = products.groups.drain(..ended).flatten().collect();
        for register in over.iter().flat_map(|product| &product.registers) {
            products.uses[register.index()].running -= 1;
        }
        let before = products.over;
        products.over += over.len();
        let Detector::VectorClock(exact) = &mut self.accesses.sync.order else { return Ok(()) };
        for product in &over {
            LaneMask::ALL.iter().for_each(|lane| exact.end_copy(product.number, warp.thread(lane)));
        }
        // The other warps' parts are over as well.
        let mut past = Joined::default();
        for other in others(warp) {
            for part in &self.accesses.sync.products[other].parts[before..before + over.len()] {
                LaneMask::ALL.iter().for_each(|lane| exact.end_part(part.number, warp.thread(lane)));
                past.add_past_of(&part.past);
            }
        }
        LaneMask::ALL.iter().for_each(|lane| exact.clocks.learn_past(warp.thread(lane) as usize, &past));
        Ok(())
    }

    /// The products of a warp that executes an operation on them, which is noted.
    fn products_of(&mut self, warp: &Warp, pc: InstId) -> Result<&mut Products, Stop> {
        self.accesses.exact()?;
        let first = warp.number / WARPS * WARPS;
        if self.context.launch.threads() < 32 * (first + WARPS) {
            let message = "the warp is not in a whole warpgroup of four warps".to_string();
            let (at, kind) = (At::first(warp, pc), FaultKind::BarrierDivergence);
            return Err(self.context.fault_of(at, kind, "Y12", message));
        }
        let products = &mut self.accesses.sync.products[warp.index];
        products.done.push(Done { pc, operands: [0; 3] });
        Ok(products)
    }

    /// `wgmma.mma_async`
    pub(crate) fn multiply_async(&mut self, step: Step<'_>, product: &WarpgroupProduct) -> Result<(), Stop> {
        let Step { warp, pc, mask } = step;
        self.products_of(warp, pc)?;
        self.accesses.sync.take_registers(warp, pc, product)?;
        let exact = self.accesses.sync.order.exact_mut()?;
        let number = exact.begin_copy();
        let kind = product.product;
        let mut operands = [0; 3];
        let MatrixShape { n, k, .. } = kind.shape;
        let (n, k) = (usize::from(n), usize::from(k));
        let readers = self.accesses.sync.readers(warp);
        let mut by = Operation { warp, readers: &readers, pc, number };
        let mut left = match &product.a {
            Factor::Registers(registers) => {
                let shape = MatrixShape { m: ROWS as u16, ..kind.shape };
                let place = |lane, at| fragment_layout::of_a(shape, kind.a, lane, at);
                self.matrices().read_matrix(by.at(), kind.a, registers, (ROWS, k), place)?
            }
            Factor::Shared { .. } => {
                let first = by.warp.number % WARPS * ROWS;
                let (own, extent) = (first..first + ROWS, (WARPS * ROWS, k));
                let mut left = Terms::new(ROWS, k);
                operands[0] =
                    self.read_described(&mut by, &product.a, (kind.a, extent), &mut |place, raw| {
                        if own.contains(&place.0) {
                            left.set((place.0 - first, place.1), raw);
                        }
                    })?;
                left
            }
        };
        if product.negates {
            self.matrices().negate(&mut left, pc);
        }
        let mut right = Terms::new(k, n);
        operands[1] =
            self.read_described(&mut by, &product.b, (kind.b, (n, k)), &mut |(column, at), raw| {
                right.set((at, column), raw);
            })?;
        let adds = match product.adds {
            Adds::Known(adds) => adds,
            Adds::If(predicate) => self.operands(by.warp, pc).known_by_all(predicate)?,
        };
        let sum = if adds {
            let sources: Vec<Src> = product.d.iter().map(|d| Src::Reg(*d)).collect();
            self.matrices().read_matrix(by.at(), kind.d, &sources, (ROWS, n), of_wide_c)?
        } else {
            let zero = self.matrices().raw_element(by.at(), kind.d, Value::Bits(0))?;
            Terms { columns: n, raw: vec![zero; ROWS * n] }
        };
        operands[2] = adds.into();
        let warp = by.warp;
        let step = Step { warp, mask, pc };
        self.matrices().write_product(step, kind, &product.d, ([&left, &right, &sum], None));
        let mut past = Joined::default();
        if let Detector::VectorClock(exact) = &mut self.accesses.sync.order {
            for thread in LaneMask::ALL.iter().map(|lane| warp.thread(lane) as usize) {
                exact.clocks.add_past_to(thread, &mut past);
                exact.clocks.release(thread);
            }
        }
        let products = &mut self.accesses.sync.products[warp.index];
        if let Some(done) = products.done.last_mut() {
            done.operands = operands;
        }
        for (register, result) in product.uses() {
            let used = &mut products.uses[register.index()];
            *used = Use { running: used.running + 1, last: pc, result, ..*used };
        }
        let registers = product.uses().map(|(register, _)| register).collect();
        products.parts.push(Part { number, past });
        products.open.push(Running { number, registers });
        self.accesses.sync.mbarriers.copies.push(Started {
            copy: number,
            thread: warp.thread(Lane::FIRST),
            pc,
            rank: warp.rank,
        });
        self.check_budgets()
    }

    /// Reads a factor in shared memory; returns its descriptor.
    fn read_described(
        &mut self,
        by: &mut Operation<'_>,
        factor: &Factor,
        read: (MatrixElement, (usize, usize)),
        take: &mut dyn FnMut((usize, usize), u64),
    ) -> Result<u64, Stop> {
        let Factor::Shared { descriptor, k_major, of } = factor else {
            return Err(Stop::Defect("a right factor in registers"));
        };
        let bits = self.operands(by.warp, by.pc).same_in_all_lanes(*descriptor, (DESCRIPTOR, "Y12"))?;
        let layout = self.context.layout(by.warp, by.pc, bits, *k_major)?;
        let matrix = SharedMatrix { layout: &layout, of: *of, rank: by.warp.rank };
        self.accesses.read_factor(by, matrix, read, take)?;
        Ok(bits)
    }
}

impl Operands<'_, '_> {
    /// The value of a predicate that must be uniform.
    fn known_by_all(&self, predicate: PredSrc) -> Result<bool, Stop> {
        let first = self.terms.known_truth(self.warp, predicate, Lane::FIRST, self.pc)?;
        for lane in Lane::all().skip(1) {
            if self.terms.known_truth(self.warp, predicate, lane, self.pc)? != first {
                return Err(self.terms.context.not_uniform(self.at(lane), "Y12"));
            }
        }
        Ok(first)
    }

    pub(super) fn same_in_all_lanes(
        &self,
        source: Src,
        (what, rule): (&str, &'static str),
    ) -> Result<u64, Stop> {
        let bits = self.concrete(source, Lane::FIRST, what)?;
        for lane in Lane::all().skip(1) {
            if self.concrete(source, lane, what)? != bits {
                return Err(self.terms.context.not_uniform(self.at(lane), rule));
            }
        }
        Ok(bits)
    }
}

impl Matrices<'_, '_> {
    pub(super) fn negate(&mut self, terms: &mut Terms, pc: InstId) {
        for chunk in terms.raw.chunks_mut(32) {
            let mut operands = [UNDEFINED; 32];
            operands[..chunk.len()].copy_from_slice(chunk);
            let mask = Lane::all().filter(|lane| !is_undefined(operands[*lane])).collect::<LaneMask>();
            if mask.is_empty() {
                continue;
            }
            let results = self.terms.store.push_shared(TermOp::Neg, mask, &[&operands], pc);
            for lane in mask {
                // The negated value is only known to be independent of inputs: the order in which sums are rounded is
                // open (rule V10).
                if self.numbers.known.contains(chunk[lane]) {
                    self.numbers.known.insert_unbounded(TermId::from_raw(results.lane(lane)));
                }
                chunk[lane] = results.lane(lane);
            }
        }
    }
}

impl PackedValues {
    /// Writes a register of a matrix: one or two elements in each lane.
    pub(super) fn set_matrix_register(
        &mut self,
        step: &mut Step<'_>,
        d: RegId,
        format: Format,
        results: &[[u64; 32]],
    ) {
        if let [alone] = results
            && !alone.iter().any(|raw| is_undefined(*raw))
        {
            set_reals(step.warp.register_mut(d), format, LaneMask::ALL, |lane| alone[lane]);
            return;
        }
        for lane in Lane::all() {
            let element = |result: &[u64; 32]| real_or_undefined(format, result[lane], step.pc);
            let value = match results {
                [low, high] => self.pair(element(low), element(high)),
                [alone] => element(alone),
                _ => continue,
            };
            step.set(d, lane, value);
        }
    }
}

/// Registers for checks of products in flight, and for messages.
impl WarpgroupProduct {
    /// The registers that a product occupies until it is waited for; with its shape those that hold its result.
    fn uses(&self) -> impl Iterator<Item = (RegId, Option<MatrixShape>)> {
        let left = self.left_registers().map(|register| (register, None));
        left.chain(self.d.iter().map(|register| (*register, Some(self.product.shape))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every element of a result lies in exactly one place of a warp.
    #[test]
    fn results_are_covered_once() {
        for n in (8..=256).step_by(8) {
            let places: BTreeSet<(usize, usize)> =
                Lane::all().flat_map(|lane| (0..n / 2).map(move |at| of_wide_c(lane, at))).collect();
            assert_eq!(places.len(), 16 * n);
            assert!(places.iter().all(|(row, column)| *row < 16 && *column < n));
        }
    }
}
