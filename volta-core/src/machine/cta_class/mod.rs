//! Classes of CTAs: one CTA is executed, and what it does is followed for all that do the same with `%ctaid` in another
//! place.
//!
//! Beside the words of its registers, such a run keeps how each changes from CTA to CTA in each dimension of the grid.
//! An operation whose operands change has a result that changes by known steps, or one that is not known in other CTAs.
//! What must be the same in all of them, such as the outcome of a comparison, is so for some CTAs from the first on:
//! those make up the class. In all of them, threads take the same branches and access each tensor at addresses that are
//! a constant further, so that CTAs compute the same terms of inputs that are a constant further.
//!
//! What is not understood ends the run: the CTAs are then executed one by one.

pub(crate) mod extents;
pub(crate) mod growth;
pub(crate) mod integers;

use crate::base::lane::{Lane, LaneMask};
use crate::launch::Launch;
use crate::launch::objects::{Backing, locate};
use crate::launch::tensor::Initial;
use crate::machine::group::context::Context;
use crate::machine::group::warp::Warp;
use crate::program::{
    Access, Address, Async, Effect, Groups, InstId, Op, RegId, Space, Special, Src, Wait, Width, Writes,
};
use crate::value::Value;
use extents::{Extents, Steps};
use extents::{Linear, SAME, SIZES};
use growth::{Apart, Growth};
use smallvec::SmallVec;
use std::sync::Arc;

/// How the word of a register changes from CTA to CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drift {
    /// By these steps, in all lanes, without wrapping around.
    By(Steps),
    /// It is not known in other CTAs.
    Unknown,
}

pub(crate) const STAYS: Drift = Drift::By(SAME);

/// Lanes of a warp that execute an operation.
#[derive(Clone, Copy)]
pub(crate) struct Executing<'a> {
    pub(crate) context: Context<'a>,
    pub(crate) warp: &'a Warp,
    pub(crate) mask: LaneMask,
}

impl Executing<'_> {
    /// The state space and the address in it that a lane accesses; `None` if it is not known.
    fn located(&self, (space, address): (Space, Address), lane: Lane) -> Option<(Space, u64)> {
        let base = self.context.bits(self.warp, address.base, lane)?;
        Some(locate(space, base.wrapping_add_signed(address.offset)))
    }
}

/// Beyond all numbers of a run.
const FAR: i128 = 1 << 100;

/// What is known of a class while its first CTA runs.
#[derive(Clone, Debug)]
pub(crate) struct ClassRun {
    pub(crate) extents: Extents,
    /// By warp, that of each register.
    drifts: Vec<Vec<Drift>>,
    /// By how many bytes the places of each tensor are further on; `None` for one that has not been accessed.
    pub(crate) tensors: Vec<Option<Steps>>,
    /// How the launch grows, if the class has CTAs of grids of several sizes.
    growth: Option<Arc<Growth>>,
    /// The instructions that last left out sizes, and CTAs of any kind.
    pub(crate) bounded_at: Option<InstId>,
    pub(crate) cut_at: Option<InstId>,
}

/// What the result of an operation does from CTA to CTA.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    d: RegId,
    drift: Drift,
    /// Bits of the word, in which it must not wrap around.
    width: Width,
}

impl ClassRun {
    /// The run of a first CTA of so many.
    pub(crate) fn new(launch: &Launch<'_>, extents: Extents) -> ClassRun {
        let registers = vec![STAYS; launch.program.registers as usize];
        ClassRun {
            extents,
            drifts: vec![registers; launch.warps()],
            tensors: vec![None; launch.tensors.len()],
            growth: None,
            bounded_at: None,
            cut_at: None,
        }
    }

    /// The run of a CTA of a launch that grows.
    pub(crate) fn growing(launch: &Launch<'_>, extents: Extents, growth: Growth) -> ClassRun {
        ClassRun { growth: Some(Arc::new(growth)), ..ClassRun::new(launch, extents) }
    }

    /// The steps of what is added for each further CTA of the grid.
    fn for_each_size(&self, by: i64) -> Steps {
        let mut steps = SAME;
        if let Some(sizes) = self.extents.sizes() {
            steps[sizes.along] = by;
            steps[SIZES] = by;
        }
        steps
    }

    pub(crate) fn drift(&self, warp: &Warp, source: Src) -> Drift {
        match source {
            Src::Reg(register) => self.drifts[warp.index][register.index()],
            Src::Imm(_) | Src::Symbol(..) => STAYS,
        }
    }

    /// The steps of a source that must be known.
    fn steps(&self, warp: &Warp, source: Src) -> Result<Steps, Apart> {
        match self.drift(warp, source) {
            Drift::By(steps) => Ok(steps),
            Drift::Unknown => Err(Apart),
        }
    }

    /// Whether an operation reads only what is the same in all CTAs.
    fn reads_the_same(&self, warp: &Warp, op: &Op) -> bool {
        let mut same = true;
        op.visit_sources(&mut |source| same &= self.drift(warp, source) == STAYS);
        same
    }

    /// Notes what a register holds in the lanes of `mask` from now on.
    fn set(&mut self, warp: &Warp, mask: LaneMask, d: RegId, drift: Drift) {
        let others = warp.live() & !mask;
        let held = warp.register(d);
        let of = &mut self.drifts[warp.index][d.index()];
        let agrees = *of == drift || others.is_empty() || (others & !held.undefined).is_empty();
        *of = if agrees { drift } else { Drift::Unknown };
    }

    /// All that an operation writes is the same in all CTAs.
    fn writes_the_same(&mut self, warp: &Warp, mask: LaneMask, op: &Op) {
        let mut written = Vec::new();
        op.visit_registers(&mut |register, writes| {
            if writes {
                written.push(register);
            }
        });
        written.into_iter().for_each(|register| self.set(warp, mask, register, STAYS));
    }

    /// Whether all registers that an operation names are the same in all CTAs, before it is executed.
    pub(crate) fn names_the_same(&self, warp: &Warp, op: &Op) -> bool {
        let mut same = true;
        op.visit_registers(&mut |register, _| same &= self.drift(warp, Src::Reg(register)) == STAYS);
        same
    }

    /// What an operation that is about to be executed does in the CTAs of the class. Returns the result to note after it
    /// was executed; the others are noted.
    pub(crate) fn before(
        &mut self,
        of: Executing<'_>,
        op: &Op,
        is_conditional: bool,
    ) -> Result<Option<Outcome>, Apart> {
        // What a branch on inputs writes is chosen where its sides join.
        if is_conditional {
            let mut written = true;
            op.visit_registers(&mut |register, writes| {
                written &= !writes || self.drift(of.warp, Src::Reg(register)) == STAYS;
            });
            if !written {
                return Err(Apart);
            }
        }
        let result = self.result_of(of, op)?;
        if is_conditional && result.is_some_and(|result| result.drift != STAYS) {
            return Err(Apart);
        }
        if result.is_none() {
            self.writes_the_same(of.warp, of.mask, op);
        }
        Ok(result)
    }

    /// As [`ClassRun::before`]; `None` for an operation all of whose results are the same in all CTAs.
    fn result_of(&mut self, of: Executing<'_>, op: &Op) -> Result<Option<Outcome>, Apart> {
        let Executing { context, warp, mask } = of;
        if let Op::Special { d, special, width } = op {
            let drift = match special {
                Special::Ctaid(n) | Special::ClusterId(n) => {
                    let (mut steps, at) = (SAME, usize::from(*n).min(2));
                    steps[at] = self.growth.as_ref().map_or(1, |growth| growth.ctas_along(at));
                    Drift::By(steps)
                }
                Special::Nctaid(n) | Special::NClusterId(n) => {
                    let at = usize::from(*n).min(2);
                    let grows = self.growth.as_ref().filter(|growth| growth.along == at);
                    Drift::By(grows.map_or(SAME, |growth| self.for_each_size(growth.ctas)))
                }
                Special::Unpredictable | Special::Workspace { .. } => return Err(Apart),
                Special::Tid(_)
                | Special::Ntid(_)
                | Special::LaneId
                | Special::LaneMaskEq
                | Special::LaneMaskLt
                | Special::LaneMaskLe
                | Special::LaneMaskGt
                | Special::LaneMaskGe
                | Special::DynamicSharedSize
                | Special::ClusterCtaId(_)
                | Special::ClusterNctaId(_)
                | Special::ClusterCtaRank
                | Special::ClusterNctaRank
                | Special::ExplicitCluster => STAYS,
            };
            return Ok(Some(Outcome { d: *d, drift, width: *width }));
        }
        if let Op::Load { space, address, width, d, access } = op {
            let is_plain = Access { read_only: access.read_only, strong: access.strong, ..Access::default() };
            if *access != is_plain {
                return Err(Apart);
            }
            let bytes = u64::from(width.bytes()) * d.len() as u64;
            let growing = self.access(of, (*space, *address), bytes)?;
            return match (growing, d.as_slice()) {
                (None, _) | (Some(_), [None]) => Ok(None),
                (Some(drift), [Some(d)]) => Ok(Some(Outcome { d: *d, drift, width: *width })),
                (Some(_), _) => Err(Apart),
            };
        }
        if let Op::Store { space, address, width, a, .. } = op {
            let bytes = u64::from(width.bytes()) * a.len() as u64;
            if a.iter().any(|a| self.drift(warp, *a) != STAYS) {
                return Err(Apart);
            }
            self.access_the_same(of, (*space, *address), bytes)?;
            return Ok(None);
        }
        if let Op::Async(Async::Copy { to, from, bytes, size, ignore }) = op {
            let is_decided =
                ignore.is_some_and(|ignore| warp.predicates[ignore.pred.index()].sym.meets(mask));
            let is_number = |size| {
                let is_known = |lane| context.bits(warp, size, lane).is_some();
                self.drift(warp, size) == STAYS && mask.iter().all(is_known)
            };
            if is_decided || !size.is_none_or(is_number) {
                return Err(Apart);
            }
            self.access_the_same(of, (Space::Shared, *to), (*bytes).into())?;
            self.access_the_same(of, (Space::Global, *from), (*bytes).into())?;
            return Ok(None);
        }
        if self.reads_the_same(warp, op) {
            return if is_within_cta(of, op) { Ok(None) } else { Err(Apart) };
        }
        self.integer(of, op)
    }

    /// Notes the result of an operation that was executed.
    pub(crate) fn after(&mut self, (warp, mask): (&Warp, LaneMask), outcome: Outcome) -> Result<(), Apart> {
        let Outcome { d, drift, width } = outcome;
        match drift {
            Drift::By(steps) if steps != SAME => {
                for lane in mask {
                    let Value::Bits(word) = warp.register(d).get(lane) else { return Err(Apart) };
                    let word = Linear { first: word.into(), steps };
                    self.keep_all(std::iter::once(word), words_of(width))?;
                }
            }
            Drift::By(_) | Drift::Unknown => {}
        }
        self.set(warp, mask, d, drift);
        Ok(())
    }

    /// Whether threads may meet, wait or branch at an operation: what it reads is the same in all CTAs.
    pub(crate) fn meets(
        &mut self,
        context: Context<'_>,
        (warp, mask): (&Warp, LaneMask),
        op: &Op,
    ) -> Result<(), Apart> {
        let of = Executing { context, warp, mask };
        if !self.reads_the_same(of.warp, op) || !is_within_cta(of, op) {
            return Err(Apart);
        }
        self.writes_the_same(of.warp, of.mask, op);
        Ok(())
    }

    /// As [`ClassRun::access`], of what does not grow with the launch.
    fn access_the_same(
        &mut self,
        of: Executing<'_>,
        place: (Space, Address),
        bytes: u64,
    ) -> Result<(), Apart> {
        if self.access(of, place, bytes)?.is_some() { Err(Apart) } else { Ok(()) }
    }

    /// An access of `bytes` bytes of each lane. Returns how what is read there changes, if that is a number that grows
    /// with the launch.
    fn access(
        &mut self,
        of: Executing<'_>,
        (space, address): (Space, Address),
        bytes: u64,
    ) -> Result<Option<Drift>, Apart> {
        let Executing { context: Context { launch, .. }, warp, mask } = of;
        let steps = self.steps(warp, address.base)?;
        let is_one = match address.base {
            Src::Reg(register) => warp.register(register).uniform(mask).is_some(),
            Src::Imm(_) | Src::Symbol(..) => true,
        };
        let lanes = if is_one && !mask.is_empty() { LaneMask::of(mask.first()) } else { mask };
        // Each object that is accessed, with the least and the greatest offset.
        let mut objects: SmallVec<[(u32, [i64; 2]); 2]> = SmallVec::new();
        let mut places = Vec::new();
        for lane in lanes {
            let (own, inner) = of.located((space, address), lane).ok_or(Apart)?;
            // Memory of the CTA or of a thread.
            if matches!(own, Space::Shared | Space::Cluster | Space::Local) {
                if steps != SAME {
                    return Err(Apart);
                }
                continue;
            }
            // Outside of all objects, the run ends with a fault.
            let Some((number, offset)) = launch.objects.find(own, inner) else { return Err(Apart) };
            match objects.iter_mut().find(|(known, _)| *known == number) {
                Some((_, [least, greatest])) => {
                    (*least, *greatest) = (offset.min(*least), offset.max(*greatest));
                }
                None => objects.push((number, [offset; 2])),
            }
            if self.growth.is_some() {
                places.push((number, offset));
            }
        }
        for (number, offsets) in objects {
            self.accesses(launch, number, (offsets, steps), bytes)?;
        }
        let mut growing = Vec::with_capacity(places.len());
        if let Some(growth) = &self.growth {
            for (number, offset) in places {
                let Backing::Tensor(tensor) = launch.objects.get(number).backing else { return Err(Apart) };
                growing.push(growth.number((tensor, offset as u64), bytes)?);
            }
        }
        let number = growing.first().copied().flatten();
        let is_one = growing.iter().all(|of_lane| *of_lane == number);
        if !is_one || number.is_some() && (steps != SAME || growing.len() < lanes.count() as usize) {
            return Err(Apart);
        }
        Ok(number.map(|by| by.map_or(Drift::Unknown, |by| Drift::By(self.for_each_size(by)))))
    }

    /// Accesses of `bytes` bytes of an object, at offsets from the least to the greatest in the first CTA.
    fn accesses(
        &mut self,
        launch: &Launch<'_>,
        number: u32,
        (offsets, steps): ([i64; 2], Steps),
        bytes: u64,
    ) -> Result<(), Apart> {
        let object = launch.objects.get(number);
        let Backing::Tensor(tensor) = object.backing else { return Err(Apart) };
        let grows = self.growth.as_ref().map_or(0, |growth| growth.bytes_of(tensor));
        let size = Linear { first: object.size.into(), steps: self.for_each_size(grows) };
        // All lanes have the same steps: in bounds at both ends, an access is in bounds between them.
        let ends = if offsets[0] == offsets[1] { &offsets[..1] } else { &offsets };
        for offset in ends {
            let begin = Linear { first: (*offset).into(), steps };
            let behind = size.minus(begin).ok_or(Apart)?;
            self.keep_all(std::iter::once(begin), [0, FAR])?;
            self.keep_all(std::iter::once(behind), [bytes.into(), FAR])?;
        }
        self.reaches(launch, tensor, steps, bytes)
    }

    /// The places of a tensor that CTAs access are so far from one another.
    fn reaches(&mut self, launch: &Launch<'_>, tensor: u32, steps: Steps, bytes: u64) -> Result<(), Apart> {
        let whole = |bytes: i64| steps.iter().all(|step| step % bytes == 0);
        // In all CTAs, accesses are as well aligned, and begin where elements do.
        let of = &launch.tensors[tensor as usize];
        if !i64::try_from(bytes).is_ok_and(whole) || !whole(of.element.bytes().into()) {
            return Err(Apart);
        }
        match &mut self.tensors[tensor as usize] {
            Some(known) if *known == steps => return Ok(()),
            Some(_) => return Err(Apart),
            unknown @ None => *unknown = Some(steps),
        }
        let is_uniform = matches!(of.initial, Initial::Symbolic(_) | Initial::Undefined | Initial::Fill(_));
        if is_uniform || steps == SAME { Ok(()) } else { Err(Apart) }
    }
}

/// Whether an operation other than a load or a store has no effect outside of the CTA.
fn is_within_cta(of: Executing<'_>, op: &Op) -> bool {
    let is_shared = |space: Space, address: Address| {
        let own = |lane| of.located((space, address), lane);
        of.mask.iter().all(|lane| matches!(own(lane), Some((Space::Shared | Space::Cluster, _))))
    };
    if let Op::LoadFragment { space, address, .. }
    | Op::StoreFragment { space, address, .. }
    | Op::LoadMatrix { space, address, .. }
    | Op::StoreMatrix { space, address, .. }
    | Op::Atomic { space, address, .. } = op
    {
        return is_shared(*space, *address);
    }
    if let Op::Async(operation) = op {
        return matches!(
            operation,
            Async::Commit { groups: Groups::Plain } | Async::Wait { groups: Groups::Plain, .. }
        );
    }
    if let Op::Unevaluated { .. } | Op::Swap(_) = op {
        return false;
    }
    match op.effect() {
        Effect::Computes | Effect::Collective(_) | Effect::Context => true,
        Effect::Waits(Wait::Barrier | Wait::Warp(_)) | Effect::Control(_) => true,
        Effect::Waits(Wait::Phase) => false,
        // A fault ends the run.
        Effect::Fault => true,
        Effect::Reads | Effect::Writes(Writes::Store | Writes::Atomic | Writes::Copy) => false,
    }
}

/// All words that a width can hold.
pub(super) fn words_of(width: Width) -> [i128; 2] {
    [0, width.mask().into()]
}
