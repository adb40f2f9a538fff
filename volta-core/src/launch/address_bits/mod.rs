//! Operations that depend on bits of an address that PTX does not determine (rule M1).
//!
//! While a launch runs, addresses are numbers like any other, so that computing with them costs nothing. This analysis
//! runs before and finds, from the program, what depends on the choice of these numbers. An address is the beginning of
//! an object plus a number; of the beginning, only the alignment is known. Sums of addresses are represented exactly,
//! so that the distance of two places in one object is a number. For all other results, the analysis tracks which bits
//! depend on the locations of objects. An operation that requires a number and gets such bits is replaced by a fault,
//! for any thread that reaches it.
//!
//! The first pass is flow-insensitive: one abstract value for everything that a register ever holds. Only if it finds
//! something, a flow-sensitive pass follows.

pub(crate) mod asynchronous;
pub(crate) mod atomic;
pub(crate) mod form;
pub(crate) mod memory;
pub(crate) mod transfer;
pub(crate) mod width;

use super::arguments::{Part, arguments, parts, places_of};
use super::bind::Job;
use super::objects::{TENSOR_ALIGN, WINDOW_ALIGN, misaligned, pretty_name};
use super::variables::{self, Given};
use crate::base::assumption::Assumption;
use crate::case::{Binding, KernelLaunch, Param, ParamKind, Role, Which};
use crate::program::{Op, Program, RegId, Space, Src, VariableId};
use form::{ADDRESSED, Base, Form, Sums};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// After this many passes over the program, numbers that still grow in loops are widened.
const WIDENING: u32 = 3;
/// After this many passes over the program, nothing is considered known.
const MAX_PASSES: u32 = 256;
/// The most abstract values kept by the flow-sensitive pass; if it needs more, the result of the first pass stands.
const MAX_FORMS: usize = 1 << 22;
/// The corresponding limit for the number of operations that it examines.
const MAX_STEPS: u64 = 1 << 24;

/// The abstract values of registers at one place; `None` where nothing has been written yet.
#[derive(Clone, PartialEq)]
struct State(Vec<Option<Form>>);

/// With more places than this in memory that holds addresses, they are not distinguished.
const MAX_PLACES: usize = 1024;

/// The contents of an object.
#[derive(Clone, Default)]
struct Held {
    /// By the offset, if known, and the number of bytes.
    by_place: BTreeMap<(Option<i64>, u32), Form>,
    /// Whether some contents are not numbers.
    has_addresses: bool,
}

struct Analysis<'p> {
    program: &'p Program,
    sums: Sums,
    /// Tensors with contents that are compared.
    compared: FxHashSet<usize>,
    /// The size of the tensors' elements in bytes.
    elements: FxHashMap<usize, u32>,
    /// The variable that represents all dynamic arrays.
    dynamic: Option<VariableId>,
    held: FxHashMap<Base, Held>,
    /// The contents of objects when the kernel begins.
    given: FxHashMap<Base, Held>,
    /// Whether numbers are stored at unknown places.
    numbers_anywhere: bool,
    /// Whether the address of a parameter is taken.
    parameters_escape: bool,
    /// Whether new contents of memory were found, or in the flow-insensitive pass new contents of a register.
    changed: bool,
    /// Whether numbers that grow are widened.
    widens: bool,
    /// The index in a [`State`] of each register that may hold addresses; `None` if all registers are represented.
    places: Option<FxHashMap<RegId, usize>>,
    /// The values of all other registers, at all places.
    numbers: State,
    /// Whether a write is joined with the register's value at other places (the flow-insensitive pass).
    adds: bool,
    steps: u64,
    /// CTAs in each dimension.
    grid: [u32; 3],
    /// Where addresses of tensor memory are stored, and the loads that read them.
    allocated: FxHashSet<(Base, i64)>,
    tensor_loads: BTreeSet<usize>,
    /// The memory that the driver provides for the barrier of the grid, if the launch is cooperative.
    workspace: Option<VariableId>,
    /// Whether the bit that distinguishes the CTAs of a pair was cleared in an address of shared memory.
    leaders: bool,
}

/// The program with faults in place of operations that are not allowed in a launch.
pub(crate) fn guarded<'p>(job: &Job<'p>) -> Guarded<'p> {
    guarded_in(job, job.kernel.launch.grid)
}

/// The same, for launches with any grid.
pub(crate) fn guarded_in_all<'p>(job: &Job<'p>) -> Guarded<'p> {
    guarded_in(job, [u32::MAX; 3])
}

fn guarded_in<'p>(job: &Job<'p>, grid: [u32; 3]) -> Guarded<'p> {
    let (program, strict_alignment) = (job.program, job.options.rules.strict_alignment);
    let declared = Analysis::new(job, grid).run();
    let (found, aligned) = match program.first_in_shared_memory().filter(|_| !strict_alignment) {
        Some(first) if declared.addresses().next().is_some() => {
            let mut analysis = Analysis::new(job, grid);
            analysis.align(first, WINDOW_ALIGN);
            declared.or_aligned(analysis.run(), program, first)
        }
        Some(_) | None => (declared, None),
    };
    let Found { forbidden, widest, tensor_loads, nowhere, leaders } = found;
    let widest = widest.map(|bytes| {
        Assumption::relied(format!(
            "tensors begin at multiples of {TENSOR_ALIGN} bytes, as from `cudaMalloc`; accesses of up to {bytes} \
             bytes rely on it (M2)"
        ))
    });
    let mut program = Cow::Borrowed(program);
    for (at, reason) in forbidden {
        program.to_mut().insts[at].replace(Op::Undetermined(reason.into()));
    }
    for at in nowhere {
        if let Op::Load { access, .. } | Op::Store { access, .. } = &mut program.to_mut().insts[at].op {
            access.leads_nowhere = true;
        }
    }
    for at in tensor_loads {
        if let Op::Load { access, .. } = &mut program.to_mut().insts[at].op {
            access.tensor_address = true;
        }
    }
    let leaders = leaders.then(|| {
        Assumption::relied(
            "an address in shared memory without bit 24 is read as the same address in the CTA of the pair whose rank \
             is even"
                .to_string(),
        )
    });
    Guarded { program, assumptions: widest.into_iter().chain(leaders).chain(aligned).collect() }
}

/// A program without operations that are not allowed.
pub(crate) struct Guarded<'p> {
    pub(crate) program: Cow<'p, Program>,
    /// Assumptions that its accesses rely on.
    pub(crate) assumptions: Vec<Assumption>,
}

/// The result of the analysis.
#[derive(Default)]
struct Found {
    /// Operations that are not allowed, and why.
    forbidden: Vec<(usize, &'static str)>,
    /// The size in bytes of the widest access to a tensor of narrower elements.
    widest: Option<u32>,
    /// Loads of addresses of tensor memory.
    tensor_loads: BTreeSet<usize>,
    /// Loads and stores with addresses that are computed from numbers alone.
    nowhere: Vec<usize>,
    /// Whether the bit that distinguishes the CTAs of a pair was cleared in an address.
    leaders: bool,
}

impl Found {
    /// Operations whose address is computed from bits that are not determined.
    fn addresses(&self) -> impl Iterator<Item = usize> {
        self.forbidden.iter().filter(|(_, why)| *why == ADDRESSED).map(|(at, _)| *at)
    }

    /// What an analysis found that takes the object with which shared memory begins for aligned, if more addresses are
    /// determined then, with that assumption. As a number, or where it decides something, no address is determined by it.
    fn or_aligned(self, aligned: Found, program: &Program, first: VariableId) -> (Found, Option<Assumption>) {
        let left: BTreeSet<usize> = aligned.addresses().collect();
        if self.addresses().all(|at| left.contains(&at)) {
            return (self, None);
        }
        let mut forbidden: BTreeMap<usize, &str> = aligned.forbidden.iter().copied().collect();
        forbidden.extend(self.forbidden.iter().filter(|(_, why)| *why != ADDRESSED).copied());
        let name = pretty_name(&program.variables[first.index()].name);
        let assumption = Assumption::relied(misaligned(name, WINDOW_ALIGN));
        (Found { forbidden: forbidden.into_iter().collect(), ..aligned }, Some(assumption))
    }
}

impl<'p> Analysis<'p> {
    /// Takes an object for aligned to this number of bytes.
    fn align(&mut self, variable: VariableId, bytes: u64) {
        let is_dynamic = self.program.variables[variable.index()].size.is_none();
        let of = if is_dynamic { self.dynamic.unwrap_or(variable) } else { variable };
        self.sums.align(Base::Variable(of), bytes.trailing_zeros());
    }

    /// An analysis for CTAs of a grid.
    fn new(job: &Job<'p>, grid: [u32; 3]) -> Analysis<'p> {
        let Job { which, program, kernel, params, .. } = *job;
        let is_dynamic = |at: &usize| {
            let variable = &program.variables[*at];
            variable.space == Space::Shared && variable.size.is_none()
        };
        let dynamic = (0..program.variables.len()).find(is_dynamic).map(VariableId::from_index);
        let mut zeros = FxHashMap::default();
        for (at, variable) in program.variables.iter().enumerate() {
            let zero = variable.align.max(1).trailing_zeros();
            let zero = if is_dynamic(&at) { zero.max(4) } else { zero };
            let base = if is_dynamic(&at) { dynamic } else { Some(VariableId::from_index(at)) };
            let base = Base::Variable(base.unwrap_or(VariableId::from_index(at)));
            let known = zeros.entry(base).or_insert(zero);
            *known = zero.max(*known);
        }
        let (mut compared, mut elements) = (FxHashSet::default(), FxHashMap::default());
        for (at, param) in params.iter().enumerate() {
            if let ParamKind::Tensor { role, reference, opt, .. } = &param.kind {
                let element = if which == Which::Reference { reference } else { opt };
                elements.insert(at, element.bytes());
                zeros.insert(Base::Tensor(at), TENSOR_ALIGN.trailing_zeros());
                let is_compared = matches!(role, Role::Out | Role::InOut);
                // The next step may lie elsewhere in memory.
                if is_compared || job.is_followed {
                    compared.insert(at);
                }
            }
        }
        let global = (0..program.variables.len()).filter(|at| program.variables[*at].space == Space::Global);
        let mut analysis = Analysis {
            program,
            sums: Sums::new(zeros, global.map(VariableId::from_index).collect()),
            compared,
            elements,
            dynamic,
            held: FxHashMap::default(),
            given: FxHashMap::default(),
            numbers_anywhere: false,
            parameters_escape: program.insts.iter().any(|inst| {
                let names_parameter = |source: &Src| match source {
                    Src::Symbol(variable, _) => program.variables[variable.index()].space == Space::Param,
                    Src::Reg(_) | Src::Imm(_) => false,
                };
                // Loads, and the entry of a block that declares it, name a parameter without taking its address. Of a
                // store, only the stored values count.
                let mut names = false;
                if let Op::Store { a, .. } = &inst.op {
                    names = a.iter().any(names_parameter);
                } else if !matches!(inst.op, Op::Load { .. } | Op::Enter { .. }) {
                    inst.op.visit_sources(&mut |source| names |= names_parameter(&source));
                }
                names
            }),
            changed: false,
            widens: false,
            places: None,
            numbers: State(Vec::new()),
            adds: true,
            steps: 0,
            grid,
            allocated: FxHashSet::default(),
            tensor_loads: BTreeSet::new(),
            leaders: false,
            workspace: program.workspace().filter(|_| kernel.launch.cooperative),
        };
        analysis.arguments(kernel, params);
        analysis.pointers(params);
        analysis.initial_addresses();
        analysis.given = analysis.held.clone();
        analysis
    }

    /// Parameters hold the addresses of tensors.
    fn arguments(&mut self, kernel: &KernelLaunch, params: &[Param]) {
        let given = arguments(kernel, params);
        for (argument, parameter) in given.iter().zip(&self.program.parameters) {
            // Arguments that do not fit are reported as an error of the launch.
            for (offset, part) in parts(argument, parameter, params).unwrap_or_default() {
                let Part::Pointer(tensor, number) = part else { continue };
                let bytes = u64::from(self.elements.get(&tensor).copied().unwrap_or(1));
                let form = self.sums.address(&[Base::Tensor(tensor)], i64::try_from(number * bytes).ok());
                let held = self.held.entry(Base::Variable(parameter.variable)).or_default();
                held.by_place.insert((i64::try_from(offset).ok(), 8), form);
                held.has_addresses = true;
            }
        }
    }

    /// Arrays of pointers hold the addresses of tensors.
    fn pointers(&mut self, params: &[Param]) {
        let given = variables::given(self.program, params).unwrap_or_default();
        for (at, param) in params.iter().enumerate() {
            let Some(places) = places_of(param, params) else { continue };
            let variable = given.iter().position(|given| matches!(given, Given::Whole(own) if *own == at));
            let base = match param.binding {
                Binding::Variable => variable.map(|at| self.variable(VariableId::from_index(at))),
                Binding::Argument | Binding::Field(_) => Some(Base::Tensor(at)),
            };
            let Some(base) = base else { continue };
            // The places of a long array are not distinguished.
            let is_long = places.len() > MAX_PLACES / 4;
            // What does not fit is reported as an error of the launch.
            for (number, place) in
                places.into_iter().enumerate().filter_map(|(n, place)| Some((n, place.ok()?)))
            {
                let form = match place {
                    Some((tensor, element)) => {
                        let bytes = u64::from(self.elements.get(&tensor).copied().unwrap_or(1));
                        self.sums.address(&[Base::Tensor(tensor)], i64::try_from(element * bytes).ok())
                    }
                    None => Form::number(0),
                };
                let offset = i64::try_from(number as u64 * 8).ok().filter(|_| !is_long);
                let held = self.held.entry(base).or_default();
                let known = held.by_place.get(&(offset, 8)).copied();
                let joined = known.map_or(form, |known| self.sums.join(known, form));
                held.by_place.insert((offset, 8), joined);
                held.has_addresses |= !joined.is_number();
            }
        }
    }

    /// Initial values of variables hold addresses of others.
    fn initial_addresses(&mut self) {
        for (at, variable) in self.program.variables.iter().enumerate() {
            let Some(init) = &variable.init else { continue };
            for (offset, target, addend, generic) in &init.addresses {
                let mut bases = vec![self.variable(*target)];
                let space = self.program.variables[target.index()].space;
                bases.extend(Base::window(space).filter(|_| *generic));
                let form = self.sums.address(&bases, Some(*addend));
                let base = self.variable(VariableId::from_index(at));
                let held = self.held.entry(base).or_default();
                held.by_place.insert((i64::try_from(*offset).ok(), 8), form);
                held.has_addresses = true;
            }
        }
    }

    /// The base of a variable.
    fn variable(&self, variable: VariableId) -> Base {
        let declared = &self.program.variables[variable.index()];
        let is_dynamic = declared.space == Space::Shared && declared.size.is_none();
        Base::Variable(self.dynamic.filter(|_| is_dynamic).unwrap_or(variable))
    }

    /// Runs the analysis.
    fn run(mut self) -> Found {
        let mut all = State(vec![None; self.program.registers as usize]);
        let mut pass = 0;
        loop {
            self.changed = false;
            self.widens = pass >= WIDENING;
            pass += 1;
            if pass > MAX_PASSES {
                // Nothing is known.
                all.0.fill(Some(Form::tainted(u64::MAX)));
                return self.found(&all);
            }
            for at in 0..self.program.insts.len() {
                self.step(&mut all, at);
            }
            if self.changed {
                continue;
            }
            // A register that is never written, or only from itself, is undefined, and nothing computed from it is an
            // address.
            let unwritten = all.0.iter_mut().filter(|form| form.is_none());
            if unwritten.map(|form| *form = Some(Form::number(0))).count() == 0 {
                break;
            }
        }
        let found = self.found(&all);
        if found.forbidden.is_empty() {
            return found;
        }
        let may_be_address = |at: &usize| all.0[*at].is_some_and(|form| !form.is_number());
        let registers = (0..all.0.len()).filter(may_be_address).map(RegId::from_index);
        let places: FxHashMap<RegId, usize> = registers.enumerate().map(|(at, id)| (id, at)).collect();
        self.numbers = all;
        let Some(again) = self.again(places) else { return found };
        let tensor_loads = std::mem::take(&mut self.tensor_loads);
        // An operation is allowed if either pass allows it.
        let again: FxHashSet<usize> = again.into_iter().map(|(at, _)| at).collect();
        let forbidden = found.forbidden.into_iter().filter(|(at, _)| again.contains(at)).collect();
        Found { forbidden, tensor_loads, leaders: self.leaders, ..found }
    }

    /// The flow-sensitive pass; `None` if it exceeds its limits.
    fn again(&mut self, places: FxHashMap<RegId, usize>) -> Option<Vec<(usize, &'static str)>> {
        let insts = self.program.insts.len();
        let starts = self.program.block_starts();
        let blocks = starts.iter().filter(|start| **start).count();
        if places.len().saturating_mul(blocks) > MAX_FORMS {
            return None;
        }
        let nothing = State(vec![Some(Form::number(0)); places.len()]);
        self.places = Some(places);
        self.adds = false;
        self.held = self.given.clone();
        self.numbers_anywhere = false;
        self.steps = 0;
        self.allocated.clear();
        let mut entered: FxHashMap<usize, State> = FxHashMap::default();
        entered.insert(0, nothing);
        loop {
            self.changed = false;
            let mut work = BTreeSet::from([0usize]);
            work.extend(entered.keys());
            while let Some(start) = work.pop_first() {
                let mut state = entered.get(&start)?.clone();
                let mut at = start;
                loop {
                    self.steps += 1;
                    if self.steps > MAX_STEPS {
                        return None;
                    }
                    self.step(&mut state, at);
                    let next: Vec<usize> =
                        self.program.successors(at as u32).map(|next| next as usize).collect();
                    if let [next] = next.as_slice()
                        && *next == at + 1
                        && *next < insts
                        && !starts[*next]
                    {
                        at += 1;
                        continue;
                    }
                    for next in next {
                        if self.enter(&mut entered, next, &state) {
                            work.insert(next);
                        }
                    }
                    break;
                }
            }
            if !self.changed {
                break;
            }
        }
        let mut state: Option<State> = None;
        let mut found = Vec::new();
        for at in 0..insts {
            if starts[at] {
                state = entered.get(&at).cloned();
            }
            if let Some(state) = &mut state {
                found.extend(self.forbidden(state, at).map(|why| (at, why)));
                self.step(state, at);
            }
        }
        Some(found)
    }

    /// Joins a state into that at the entry of a place; true if this changes it.
    fn enter(&self, entered: &mut FxHashMap<usize, State>, at: usize, state: &State) -> bool {
        let Some(known) = entered.get_mut(&at) else {
            entered.insert(at, state.clone());
            return true;
        };
        let before = known.clone();
        for (own, other) in known.0.iter_mut().zip(&state.0) {
            *own = match (*own, *other) {
                (Some(own), Some(other)) => Some(self.joined(own, other)),
                (own, other) => own.or(other),
            };
        }
        *known != before
    }

    /// The least upper bound of two values, widened if numbers still grow.
    fn joined(&self, old: Form, form: Form) -> Form {
        match (old, self.sums.join(old, form)) {
            (Form::Bits { ones: before, .. }, Form::Bits { ones, taint, down })
                if self.widens && ones != before =>
            {
                Form::Bits { ones: u64::MAX, taint, down }
            }
            (_, joined) => joined,
        }
    }

    fn found(&mut self, all: &State) -> Found {
        let (tensor_loads, leaders) = (self.tensor_loads.clone(), self.leaders);
        let mut found = Found { tensor_loads, leaders, ..Found::default() };
        for at in 0..self.program.insts.len() {
            found.forbidden.extend(self.forbidden(all, at).map(|why| (at, why)));
            found.widest = found.widest.max(self.wide_access(all, at));
            found.nowhere.extend(self.leads_nowhere(all, at).then_some(at));
        }
        found
    }
}
