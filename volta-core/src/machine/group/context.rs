//! What an operation may know of the run without changing it: the launch, the case's options, and which CTA runs.

use super::stop::Stop;
use super::warp::{At, Step, Warp};
use crate::base::lane::{Lane, LaneMask};
use crate::case::Options;
use crate::launch::Launch;
use crate::program::{Declared, InstId, RegId, Special, Src, Width};
use crate::value::packed::Cell;
use crate::value::register::Register;
use crate::value::{Origin, Value};
use crate::verdict::{Fault, FaultKind, Site};

/// What does not change while a CTA runs.
#[derive(Clone, Copy)]
pub(crate) struct Context<'l> {
    pub(crate) launch: &'l Launch<'l>,
    pub(crate) options: &'l Options,
    /// The linear number of its cluster.
    pub(crate) linear: u64,
}

impl Context<'_> {
    /// Entering a block or function again makes its registers, predicates and local variables undefined (V6).
    pub(crate) fn enter(&self, warp: &mut Warp, mask: LaneMask, declared: &Declared) {
        for register in &declared.registers {
            warp.register_mut(*register).merge(mask, &Register::unwritten());
        }
        for predicate in &declared.predicates {
            warp.predicate_mut(*predicate).forget(mask);
        }
        for variable in &declared.variables {
            let Some((first, cells)) = self.launch.objects.local_cells(*variable) else { continue };
            for cell in &mut warp.local[first..first + cells] {
                mask.iter().for_each(|lane| cell[lane] = Cell::UNWRITTEN);
            }
        }
    }

    /// A source as a register; an immediate or an address is broadcast into `scratch`.
    #[inline]
    pub(crate) fn operand<'w>(
        &self,
        warp: &'w Warp,
        src: Src,
        scratch: &'w mut Option<Register>,
    ) -> &'w Register {
        let bits = match src {
            Src::Reg(id) => return warp.register(id),
            Src::Imm(bits) => bits,
            Src::Symbol(variable, offset) => {
                self.launch.objects.address(variable, warp.rank).wrapping_add_signed(offset)
            }
        };
        scratch.insert(Register::broadcast(bits))
    }

    /// The value of a source in one lane.
    #[inline]
    pub(crate) fn value(&self, warp: &Warp, src: Src, lane: Lane) -> Value {
        match src {
            Src::Reg(id) => warp.register(id).get(lane),
            Src::Imm(bits) => Value::Bits(bits),
            Src::Symbol(variable, offset) => {
                Value::Bits(self.launch.objects.address(variable, warp.rank).wrapping_add_signed(offset))
            }
        }
    }

    /// The value of a source in one lane, if it is concrete.
    #[inline]
    pub(crate) fn bits(&self, warp: &Warp, src: Src, lane: Lane) -> Option<u64> {
        match self.value(warp, src, lane) {
            Value::Bits(bits) => Some(bits),
            Value::Sym(_) | Value::Undefined(_) => None,
        }
    }

    pub(crate) fn mov(&self, step: Step<'_>, d: RegId, a: Src, width: Width) {
        let mut scratch = None;
        let mut result = self.operand(step.warp, a, &mut scratch).clone();
        if width != Width::W64 && result.is_concrete(step.mask) {
            let low = width.mask();
            for word in result.words_mut() {
                *word &= low;
            }
        }
        step.warp.register_mut(d).merge(step.mask, &result);
    }

    pub(crate) fn special(
        &self,
        Step { warp, mask, pc }: Step<'_>,
        d: RegId,
        special: Special,
        width: Width,
    ) {
        let [block, grid] = [self.launch.block, self.launch.grid];
        let (launch, cluster) = (self.launch, self.launch.cluster);
        let cta = launch.cta(self.linear, warp.rank);
        let own: [u32; 3] = std::array::from_fn(|at| cta[at] % cluster[at]);
        let of_grid = |extent: [u32; 3]| std::array::from_fn(|at| extent[at] / cluster[at]);
        let clusters: ([u32; 3], [u32; 3]) = (of_grid(cta), of_grid(grid));
        let of = |extent: [u32; 3], dimension: u8| u64::from(extent[usize::from(dimension.min(2))]);
        let mut bits = [0u64; 32];
        for (lane, word) in Lane::all().zip(&mut bits) {
            let one = 1u64 << lane.number();
            let low = u64::from(u32::MAX);
            *word = match special {
                Special::Tid(n) => of(launch.thread_index(warp.thread(lane)), n),
                Special::Ntid(n) => of(block, n),
                Special::Ctaid(n) => of(cta, n),
                Special::Nctaid(n) => of(grid, n),
                Special::LaneId => u64::from(lane.number()),
                Special::LaneMaskEq => one,
                Special::LaneMaskLt => one - 1,
                Special::LaneMaskLe => one | (one - 1),
                Special::LaneMaskGt => low & !(one | (one - 1)),
                Special::LaneMaskGe => low & !(one - 1),
                Special::DynamicSharedSize => u64::from(self.launch.dynamic_shared),
                Special::ClusterId(n) => of(clusters.0, n),
                Special::NClusterId(n) => of(clusters.1, n),
                Special::ClusterNctaId(n) => of(cluster, n),
                Special::ClusterNctaRank => launch.cluster_ranks().into(),
                Special::ClusterCtaId(n) => of(own, n),
                Special::ClusterCtaRank => launch.rank_in_cluster(warp.rank).into(),
                Special::ExplicitCluster => u64::from(launch.is_explicit),
                Special::Workspace { high } => {
                    launch.workspace.map_or(0, |address| if high { address >> 32 } else { address & low })
                }
                // Undefined from here on: using it is the fault of rule S4.
                Special::Unpredictable => 0,
            } & width.mask();
        }
        let is_unknown = matches!(special, Special::Workspace { .. }) && launch.workspace.is_none();
        if special == Special::Unpredictable || is_unknown {
            warp.register_mut(d).fill(mask, Value::Undefined(Origin::Unpredictable(pc)));
        } else {
            warp.register_mut(d).merge_bits(mask, &bits);
        }
    }
}

impl Context<'_> {
    /// A fault of one lane at one instruction.
    #[cold]
    pub(crate) fn fault(
        &self,
        kind: FaultKind,
        rule: &'static str,
        message: impl Into<String>,
        warp: &Warp,
        lane: Lane,
        pc: InstId,
    ) -> Stop {
        let site = self.site(format!("{} here", action(kind)), warp, lane, pc);
        self.fault_at(kind, rule, message.into(), vec![site], None)
    }

    /// As [`Context::fault`], of a lane at an instruction.
    #[cold]
    pub(crate) fn fault_of(
        &self,
        At { warp, lane, pc }: At<'_>,
        kind: FaultKind,
        rule: &'static str,
        message: String,
    ) -> Stop {
        self.fault(kind, rule, message, warp, lane, pc)
    }

    /// A fault with its sites.
    #[cold]
    pub(crate) fn fault_at(
        &self,
        kind: FaultKind,
        rule: &'static str,
        message: String,
        sites: Vec<Site>,
        help: Option<String>,
    ) -> Stop {
        Stop::Fault(Box::new(Fault::new(self.launch.which, kind, rule, message, sites, help)))
    }

    pub(crate) fn site(&self, action: String, warp: &Warp, lane: Lane, pc: InstId) -> Site {
        self.site_of_thread(action, warp.thread(lane), pc)
    }

    pub(crate) fn site_of_thread(&self, action: String, thread: u32, pc: InstId) -> Site {
        Site { action, thread: Some(self.launch.thread(self.linear, thread)), place: self.launch.place(pc) }
    }
}

/// A verb for the site of a fault of this kind.
fn action(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Race | FaultKind::ProxyRace => "races",
        FaultKind::Deadlock => "waits",
        FaultKind::BarrierDivergence | FaultKind::AmbiguousBarrier => "arrives",
        FaultKind::BarrierMisuse => "uses the barrier",
        FaultKind::InFlight => "starts the operation",
        FaultKind::Allocation => "allocates",
        FaultKind::OutOfBounds => "leaves the object",
        FaultKind::Misaligned => "accesses memory",
        FaultKind::Uninitialised | FaultKind::Undefined => "uses the value",
        FaultKind::TypeMismatch => "computes",
        FaultKind::DependsOnRounding => "decides",
        FaultKind::InputDependentControl => "depends on the input",
        FaultKind::Unsupported => "gets",
        FaultKind::Assertion => "stops",
        FaultKind::ReadOnly => "writes",
        FaultKind::Nondeterministic => "is not determined",
        FaultKind::Overflow => "computes",
    }
}
