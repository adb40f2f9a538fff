//! A launch: the program, its arguments, and the placement of every object in the address space.

use super::bag::MOST_TICKET;
use super::fits;
use super::globals::{self, Given};
use super::job::Job;
use super::left::Left;
use super::memory::Memory;
use super::objects::{Backing, MAX_NARROW, MAX_NARROW_SIZE, Objects, Request, has_room, to_generic};
use super::opaque::TENSOR_ALIGN;
use super::place::place;
use super::points::Recognition;
use super::structs::{self, ElementAt};
use super::tensor::{Initial, Tensor, tensor};
use super::tensor_map::Map;
use super::tensor_memory;
use super::warp::Warp;
use crate::base::assumption::Assumption;
use crate::base::budget::Exhausted;
use crate::base::span::LineTable;
use crate::case::{Binding, Claim, Element, KernelLaunch, Param, ParamKind, Role, Which};
use crate::program::{Inst, InstId, Joins, Loops, Program, Space, Variable, is_table_of_library};
use crate::term::{InputId, Integers, Rounds, Templates, spell_element};
use crate::verdict::{CasePart, Place, Thread};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Shared memory is assumed to begin at a multiple of this number of bytes (rule M1).
pub(super) const WINDOW_ALIGN: u64 = 1024;
/// The dynamic window, if it follows other objects, is assumed to begin at a multiple of this number of bytes (rule
/// M1).
const DYNAMIC_ALIGN: u64 = 128;
/// Every object in shared memory is assumed to lie at a multiple of this number of bytes (rule M1).
const SHARED_ALIGN: u64 = 16;

/// Inputs of which no two elements are equal.
fn distinct_inputs(params: &[Param]) -> Vec<InputId> {
    let inputs = params.iter().enumerate().filter(|(_, param)| param.is_distinct());
    inputs.map(|(at, _)| InputId::from_index(at)).collect()
}

/// The integer types of elements of inputs, and, where places may be those that counters give, of what atomic additions
/// return.
fn integers(params: &[Param]) -> Vec<Option<Integers>> {
    let mut integers: Vec<Option<Integers>> = params.iter().map(Param::integers).collect();
    if params.iter().any(Param::is_set) {
        integers.resize(2 * params.len(), None);
        integers.push(Some(Integers { least: 0, greatest: MOST_TICKET }));
    }
    integers
}

/// The clusters to run, by linear number; these are CTAs if each cluster has one. All clusters of a grid are not stored
/// as a list, since there may be billions.
#[derive(Debug)]
pub(super) enum Clusters {
    /// This many, from 0 on.
    All(u64),
    /// These, in ascending order.
    Chosen(Vec<u64>),
}

impl Clusters {
    pub(super) fn len(&self) -> u64 {
        match self {
            Clusters::All(count) => *count,
            Clusters::Chosen(list) => list.len() as u64,
        }
    }

    /// Up to `count` of them, beginning at position `start`.
    pub(super) fn window(&self, start: u64, count: u64) -> Vec<u64> {
        let end = start.saturating_add(count).min(self.len());
        match self {
            Clusters::All(_) => (start..end).collect(),
            Clusters::Chosen(list) => list[start as usize..end as usize].to_vec(),
        }
    }
}

/// The use of a run's outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outputs {
    /// They are compared, so each must be known.
    #[default]
    Compared,
    /// Their values are not examined: those computed by unsupported instructions are left out (rule S2).
    Written,
}

/// A launch, ready to run.
#[derive(Debug)]
pub(super) struct Launch<'a> {
    pub(super) which: Which,
    /// Its number among the steps of its side.
    pub(super) step: usize,
    /// Whether another step follows, which may read all that this one writes.
    pub(super) is_followed: bool,
    /// Whether it may begin before the launch before it has ended (rule Y17).
    pub(super) is_dependent: bool,
    /// Whether it, or the launch after it, is such a launch.
    pub(super) overlaps: bool,
    /// What the steps before it left.
    pub(super) before: Option<Arc<Left>>,
    pub(super) program: &'a Program,
    /// The case's parameters, by input number.
    pub(super) params: &'a [Param],
    pub(super) text: &'a str,
    pub(super) lines: LineTable,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) dynamic_shared: u32,
    /// The clusters to run.
    pub(super) clusters: Clusters,
    /// CTAs of a cluster in each dimension.
    pub(super) cluster: [u32; 3],
    /// CTAs that run together, in each dimension: those of a cluster, or all CTAs of a cooperative grid, or of one that
    /// draws tickets.
    pub(super) together: [u32; 3],
    /// Whether these are all CTAs of the grid, each a cluster of its own.
    pub(super) cooperative: bool,
    /// Whether tickets are followed (rule Y18).
    pub(super) has_tickets: bool,
    /// Whether some output is compared as a multiset, so that its places may be those that counters give (rule Y18).
    pub(super) has_sets: bool,
    /// Whether threads take locks, and are followed in doing so.
    pub(super) has_locks: bool,
    /// What exceeds a limit of the hardware, in words.
    pub(super) exceeded: Vec<String>,
    /// The address of the memory that the driver provides for the barrier of a cooperative grid.
    pub(super) workspace: Option<u64>,
    /// Whether some loop of the kernel waits for a flag (rule Y15).
    pub(super) has_flags: bool,
    /// Whether arrivals or waits at mbarriers are relaxed, and may order memory together with fences (rule Y9).
    pub(super) has_relaxed_barriers: bool,
    /// Whether the kernel or the case gives the size of clusters.
    pub(super) is_explicit: bool,
    pub(super) outputs: Outputs,
    pub(super) objects: Objects,
    pub(super) tensors: Vec<Tensor>,
    /// Tensor maps, by the object that contains each and its byte offset there.
    pub(super) maps: FxHashMap<(u32, u64), Map>,
    /// Cells of the shared memory of a CTA, and of the local memory of a thread.
    pub(super) shared_cells: u32,
    pub(super) local_cells: u32,
    /// Names and shapes of the case's parameters, by input number.
    pub(super) names: Vec<(String, Vec<u64>)>,
    /// The integer types of elements of the case's parameters, by input number.
    pub(super) integers: Vec<Option<Integers>>,
    /// Inputs whose elements differ from one another.
    pub(super) distinct: Vec<InputId>,
    /// Assumptions about the launch.
    pub(super) assumptions: Vec<Assumption>,
    /// The library functions to recognise, and the rounding of each instruction by its number; `None` if there are
    /// none.
    pub(super) functions: Option<(Arc<Templates>, Arc<[Rounds]>)>,
    /// What is to be recognised.
    pub(super) recognition: Recognition,
    /// Whether a loop that only computes is some function of its registers: in claims about bits, but not where each
    /// of its operations is to stay finite (rule B2).
    loops_are_steps: bool,
    /// Computed at the first branch that depends on the input.
    joins: OnceLock<Joins>,
    /// Computed at its first use.
    loops: OnceLock<Loops>,
}

/// The launch does not fit the kernel: a sentence, and a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindError {
    /// The step of the side that does not fit.
    pub step: usize,
    /// Lowercase, no period.
    pub message: String,
    /// May have several lines.
    pub help: Option<String>,
    /// The instruction at which it was found, if that took a run.
    pub place: Option<Place>,
    /// The part of the case that is wrong.
    pub part: Option<CasePart>,
    /// The limit of the case that was reached, if it is not a mistake.
    pub exhausted: Option<Exhausted>,
}

impl BindError {
    /// An error of the first step.
    pub fn new(message: String, help: Option<String>) -> BindError {
        BindError { step: 0, message, help, place: None, part: None, exhausted: None }
    }

    /// This error, attributed to a key of the kernel.
    pub(super) fn of_key(self, key: &str) -> BindError {
        BindError { part: Some(CasePart::Key(key.into())), ..self }
    }
}

impl From<Exhausted> for BindError {
    fn from(exhausted: Exhausted) -> BindError {
        BindError { exhausted: Some(exhausted), ..BindError::new(exhausted.to_string(), None) }
    }
}

/// `name(u64, u64, u32)`, for messages about arguments.
pub fn signature(program: &Program) -> String {
    let list: Vec<String> = program
        .parameters
        .iter()
        .map(|parameter| match parameter.element.as_str() {
            "b8" if parameter.size > 1 => format!("{} bytes", parameter.size),
            element => element.to_string(),
        })
        .collect();
    format!("{}({})", program.source_name(), list.join(", "))
}

impl<'a> Launch<'a> {
    /// Binds the case's parameters to the kernel's.
    ///
    /// `program` is that of the job, with faults in it. `tickets`: whether operations draw tickets (rule Y18), and some of
    /// them from global memory.
    pub(super) fn bind(
        job: &Job<'a>,
        program: &'a Program,
        recognition: Recognition,
        tickets: Option<bool>,
    ) -> Result<Launch<'a>, BindError> {
        let Job { which, kernel, params, options, .. } = *job;
        let fits::Fit { clusters, cluster, together, exceeded } =
            fits::check(program, kernel, options, tickets == Some(true))?;
        let tensors: Vec<Tensor> = params
            .iter()
            .enumerate()
            .filter(|(_, param)| param.binding != Binding::Variable)
            .filter_map(|(at, param)| match param.binding {
                Binding::Argument | Binding::Variable => tensor(which, at, param).transpose(),
                Binding::Field(_) => structs::tensor(which, at, params).transpose(),
            })
            .collect::<Result<_, _>>()?;
        let given = globals::given(program, params)?;
        let mut builder = Builder { which, program, params, given, tensors, requests: Vec::new() };
        for (at, tensor) in builder.tensors.iter().enumerate() {
            builder.requests.push(Request {
                name: tensor.name.clone(),
                space: Space::Global,
                size: tensor.elements * u64::from(tensor.element.bytes()),
                declared: TENSOR_ALIGN,
                align: TENSOR_ALIGN,
                backing: Backing::Tensor(at as u32),
                element: (!tensor.has_fields()).then_some(tensor.element),
            });
        }
        let variables = builder.variables(kernel, options.rules.strict_alignment)?;
        // Variables of the module are tensors as well.
        if let Some(before) = &job.before {
            builder.tensors.iter_mut().for_each(|tensor| tensor.set_left(before));
        }
        let ranks: u32 = together.iter().product();
        let shared = builder.requests.iter().filter(|request| request.space == Space::Shared).count() as u64;
        if ranks > 1 && !has_room(ranks, shared) {
            let (what, help) = if kernel.launch.cooperative {
                ("a cooperative grid", "launch fewer CTAs, or merge several variables into one")
            } else {
                ("clusters", "merge several variables into one")
            };
            let message = format!(
                "{what} of {ranks} CTAs with {shared} variables each in shared memory exceeds what the memory model \
                 can represent"
            );
            return Err(BindError::new(message, Some(help.into())));
        }
        let requests = std::mem::take(&mut builder.requests);
        let mut objects = Objects::place(requests, options.layout, ranks, variables.shared_cells);
        objects.set_addresses(&variables.objects);
        builder.initial_addresses(&objects, &variables);
        builder.pointers(&objects)?;
        let maps = builder.arguments(&objects, kernel)?;
        let workspace = program.workspace().filter(|_| kernel.launch.cooperative);
        let workspace = workspace.and_then(|variable| variables.objects[variable.index()]);
        let workspace = workspace.map(|object| objects.get(object).base);
        Ok(Launch {
            which,
            step: job.step,
            is_followed: job.is_followed,
            is_dependent: job.kernel.launch.programmatic && job.before.is_some(),
            overlaps: job.overlaps,
            before: job.before.clone(),
            program,
            params,
            text: &kernel.ptx,
            lines: LineTable::new(&kernel.ptx),
            grid: kernel.launch.grid,
            block: kernel.launch.block,
            dynamic_shared: kernel.launch.shared,
            clusters,
            cluster,
            together,
            cooperative: kernel.launch.cooperative || tickets == Some(true),
            has_tickets: tickets.is_some(),
            has_sets: params.iter().any(Param::is_set),
            has_locks: tickets.is_some() && program.has_locks(),
            exceeded,
            workspace,
            has_flags: program.waits_for_flags(),
            has_relaxed_barriers: program.has_relaxed_barriers(),
            is_explicit: kernel.launch.cluster.or(program.bounds.cluster).is_some(),
            outputs: job.outputs,
            objects,
            tensors: builder.tensors,
            maps,
            shared_cells: variables.shared_cells,
            local_cells: variables.local_cells,
            names: params.iter().map(name_and_shape).collect(),
            integers: integers(params),
            distinct: distinct_inputs(params),
            assumptions: assumptions(program, &builder.given, kernel),
            functions: recognition
                .functions
                .clone()
                .map(|templates| (templates, program.insts.iter().map(rounds).collect())),
            recognition,
            loops_are_steps: job.options.ieee && job.options.rules.claim != Claim::Finite,
            joins: OnceLock::new(),
            loops: OnceLock::new(),
        })
    }

    /// An element of a parameter of the case as text; `None` for an element of another tensor.
    pub(super) fn spell(&self, at: ElementAt<'_>) -> Option<String> {
        let (name, shape) = &self.names[at.tensor.param?];
        Some(spell_element(name, shape, at.element))
    }

    /// An element of an input as text: `x[3]`, `A[0][7]`, `alpha`.
    pub(super) fn element_name(&self, input: InputId, element: u64) -> String {
        match self.names.get(input.index()) {
            Some((name, shape)) => spell_element(name, shape, element),
            None => format!("{input}[{element}]"),
        }
    }

    /// The number of threads of a CTA.
    pub(super) fn threads(&self) -> usize {
        self.block.iter().product::<u32>() as usize
    }

    /// Whether one thread runs.
    pub(super) fn is_one_thread(&self) -> bool {
        self.threads() == 1 && self.grid == [1; 3] && self.ranks() == 1
    }

    /// The points at which the sides of branches meet.
    pub(super) fn joins(&self) -> &Joins {
        self.joins.get_or_init(|| self.program.joins())
    }

    /// The loops that are executed as one step: those that may be part of a function to recognise, and in claims about
    /// bits all.
    pub(super) fn loops(&self) -> &Loops {
        self.loops.get_or_init(|| {
            let holds = |(templates, _): &(Arc<Templates>, _)| templates.hold_loops();
            let are_steps = self.loops_are_steps || self.functions.as_ref().is_some_and(holds);
            if are_steps { self.program.loops() } else { Loops::default() }
        })
    }

    /// The number of warps of a CTA.
    pub(super) fn warps(&self) -> usize {
        self.threads().div_ceil(32)
    }

    /// The number of CTAs that run together: those of a cluster, or of a cooperative grid.
    pub(super) fn ranks(&self) -> u32 {
        self.together.iter().product()
    }

    /// The number of CTAs of a cluster.
    pub(super) fn cluster_ranks(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// The rank in its cluster of a CTA, by its rank among those that run together. The clusters of a cooperative grid
    /// have one CTA.
    pub(super) fn rank_in_cluster(&self, rank: u32) -> u32 {
        if self.cooperative { 0 } else { rank }
    }

    /// An upper bound of the thread numbers of a cluster. Each CTA begins with a warp of its own, so some numbers are
    /// unused.
    pub(super) fn thread_numbers(&self) -> usize {
        32 * self.warps() * self.ranks() as usize
    }

    /// The numbers of the threads of a CTA of the cluster.
    pub(super) fn numbers_of(&self, rank: u32) -> Range<usize> {
        let first = 32 * self.warps() * rank as usize;
        first..first + self.threads()
    }

    /// Bytes that a cluster takes before its first step: registers, local memory, shared memory.
    pub(super) fn cluster_bytes(&self) -> u64 {
        let Program { registers, predicates, .. } = *self.program;
        let warp = Warp::bytes(registers, predicates, self.local_cells);
        let shared = Memory::shared_bytes(self.shared_cells);
        let cta = (self.warps() as u64).saturating_mul(warp).saturating_add(shared);
        cta.saturating_mul(self.ranks().into())
    }

    /// The index of a cluster by its linear number.
    pub(super) fn cluster_at(&self, linear: u64) -> [u32; 3] {
        unravel(linear, std::array::from_fn(|at| self.grid[at] / self.together[at]))
    }

    /// The index of a CTA of the cluster with that linear number.
    pub(super) fn cta(&self, linear: u64, rank: u32) -> [u32; 3] {
        let (first, own) = (self.cluster_at(linear), unravel(rank.into(), self.together));
        std::array::from_fn(|at| first[at] * self.together[at] + own[at])
    }

    /// The rank of the CTA of a thread, by the thread's number in its cluster.
    pub(super) fn rank_of(&self, number: u32) -> u32 {
        number / (32 * self.warps() as u32)
    }

    /// The index of a thread in its CTA.
    pub(super) fn thread_index(&self, number: u32) -> [u32; 3] {
        unravel((number % (32 * self.warps() as u32)).into(), self.block)
    }

    /// Names a thread by its number in the cluster with that linear number.
    pub(super) fn thread(&self, linear: u64, number: u32) -> Thread {
        Thread { cta: self.cta(linear, self.rank_of(number)), thread: self.thread_index(number) }
    }

    /// Whether strong stores may set a word for which other threads wait.
    pub(super) fn sets(&self) -> bool {
        self.has_flags || self.has_locks
    }

    /// Whether what the launch leaves in a parameter of the case is compared.
    pub(super) fn is_compared(&self, param: usize) -> bool {
        matches!(&self.params[param].kind, ParamKind::Tensor { role: Role::Out | Role::InOut, .. })
    }

    /// Whether the contents of a tensor matter after the launch: they are compared, or a later step may read them.
    pub(super) fn is_left(&self, tensor: &Tensor) -> bool {
        tensor.param.is_some()
            && match tensor.role {
                Role::Out | Role::InOut => true,
                Role::Scratch | Role::Ignored => self.is_followed,
                Role::In => false,
            }
    }

    /// The source position of an instruction.
    pub(super) fn place(&self, inst: InstId) -> Option<Place> {
        let inst = self.program.insts.get(inst.index())?;
        Some(place(self.program, self.text, &self.lines, inst, self.step))
    }
}

/// The assumptions about a launch.
fn assumptions(program: &Program, given: &[Given], kernel: &KernelLaunch) -> Vec<Assumption> {
    let together = kernel.launch.cooperative.then(|| {
        let ctas: u64 = kernel.launch.grid.iter().map(|n| u64::from(*n)).product();
        Assumption::given(format!("all {ctas} CTAs of the grid run at the same time (`cooperative`, Y15)"))
    });
    let asks = program.workspace().is_some() && kernel.launch.cooperative;
    let is_reset = asks.then(|| {
        Assumption::given(
            "the memory that the driver provides for the barrier of the grid holds 0 before the launch (Y15)",
        )
    });
    globals::assumptions(program, given).into_iter().chain(together).chain(is_reset).collect()
}

/// The format and rounding of an instruction, as a number; 0 if it does not round.
fn rounds(inst: &Inst) -> Rounds {
    inst.op.rounding().map_or(0, |(format, rounding)| 1 + format as Rounds * 8 + rounding as Rounds)
}

pub(super) fn name_and_shape(param: &Param) -> (String, Vec<u64>) {
    let shape = match &param.kind {
        ParamKind::Tensor { shape, .. } => shape.clone(),
        ParamKind::Scalar { .. } => Vec::new(),
    };
    (param.name.clone(), shape)
}

fn unravel(linear: u64, extent: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = extent.map(u64::from);
    [(linear % x) as u32, (linear / x % y) as u32, (linear / (x * y)) as u32]
}

pub(super) struct Builder<'a> {
    which: Which,
    pub(super) program: &'a Program,
    pub(super) params: &'a [Param],
    /// For each variable, what the case gives of it.
    given: Vec<Given>,
    pub(super) tensors: Vec<Tensor>,
    requests: Vec<Request>,
}

/// The object of each variable, and the size of shared and local memory.
struct Variables {
    objects: Vec<Option<u32>>,
    shared_cells: u32,
    local_cells: u32,
}

impl Builder<'_> {
    fn variables(&mut self, kernel: &KernelLaunch, strict: bool) -> Result<Variables, BindError> {
        let mut out = Variables { objects: Vec::new(), shared_cells: 0, local_cells: 0 };
        let mut dynamic = None;
        let dynamic_align = self
            .program
            .variables
            .iter()
            .filter(|variable| variable.space == Space::Shared && variable.size.is_none())
            .map(|variable| variable.align)
            .max();
        let first_shared = self.program.first_in_shared_memory();
        let begins_dynamic =
            first_shared.is_some_and(|first| self.program.variables[first.index()].size.is_none());
        for (number, variable) in self.program.variables.iter().enumerate() {
            let given = self.given_tensor(number, variable)?;
            let element = given.as_ref().map(|tensor| tensor.element);
            let size = match (&given, variable.size, variable.space) {
                (_, Some(size), _) => size,
                (Some(tensor), None, _) => tensor.elements * u64::from(tensor.element.bytes()),
                (None, None, Space::Shared) => u64::from(kernel.launch.shared),
                (None, None, _) => {
                    let message =
                        format!("`{}` is declared in another module, without a size (M5)", variable.name);
                    let help = format!("give its type and shape under [globals], as `{}`", variable.name);
                    return Err(BindError::new(message, Some(help)));
                }
            };
            let narrow = variable.space != Space::Global;
            if narrow && size > MAX_NARROW_SIZE {
                let message = format!("variable `{}` of {size} bytes is too large", variable.name);
                return Err(BindError::new(message, None));
            }
            let cells = size.div_ceil(4) as u32;
            let backing = match variable.space {
                Space::Shared if variable.size.is_none() => {
                    // All `extern` shared arrays are one window.
                    if dynamic.is_some() {
                        out.objects.push(dynamic);
                        continue;
                    }
                    dynamic = Some(self.requests.len() as u32);
                    out.shared_cells += cells;
                    Backing::Shared(out.shared_cells - cells)
                }
                Space::Shared => {
                    out.shared_cells += cells;
                    Backing::Shared(out.shared_cells - cells)
                }
                Space::Local | Space::Param if variable.parameter.is_none() => {
                    out.local_cells += cells;
                    Backing::Local(out.local_cells - cells)
                }
                Space::Global
                | Space::Const
                | Space::Generic
                | Space::Cluster
                | Space::Param
                | Space::Local
                | Space::Tensor => {
                    self.tensors.push(given.unwrap_or_else(|| Tensor {
                        name: variable.name.clone(),
                        element: Element::Int { bytes: 1, signed: false },
                        elements: size,
                        role: if matches!(variable.space, Space::Const | Space::Param)
                            || is_table_of_library(&variable.name)
                        {
                            Role::In
                        } else {
                            Role::Scratch
                        },
                        initial: match &variable.init {
                            Some(init) => Initial::Bytes(init.bytes.clone()),
                            None => Initial::NotGiven,
                        },
                        param: None,
                    }));
                    Backing::Tensor(self.tensors.len() as u32 - 1)
                }
            };
            out.objects.push(Some(self.requests.len() as u32));
            let is_dynamic = variable.space == Space::Shared && variable.size.is_none();
            let declared = if is_dynamic { dynamic_align.unwrap_or(16).max(16) } else { variable.align };
            let align = match variable.space {
                Space::Shared if strict => declared,
                Space::Shared if is_dynamic && begins_dynamic => declared.max(WINDOW_ALIGN),
                Space::Shared if first_shared.is_some_and(|first| first.index() == number) => {
                    declared.max(WINDOW_ALIGN)
                }
                Space::Shared if is_dynamic => declared.max(DYNAMIC_ALIGN),
                Space::Shared => declared.max(SHARED_ALIGN),
                Space::Global
                | Space::Local
                | Space::Const
                | Space::Param
                | Space::Generic
                | Space::Cluster
                | Space::Tensor => declared,
            };
            self.requests.push(Request {
                name: variable.name.clone(),
                space: variable.space,
                size,
                declared,
                align,
                backing,
                element,
            });
        }
        if self.program.uses_tensor_memory() {
            out.shared_cells += tensor_memory::CELLS;
            self.requests.push(Request {
                name: "tensor memory".into(),
                space: Space::Tensor,
                size: 4 * u64::from(tensor_memory::CELLS),
                declared: 4,
                align: 4,
                backing: Backing::Shared(out.shared_cells - tensor_memory::CELLS),
                element: None,
            });
        }
        let most = [Space::Shared, Space::Local, Space::Const, Space::Param]
            .map(|space| self.requests.iter().filter(|request| request.space == space).count());
        if most.iter().any(|count| *count > MAX_NARROW) {
            let message = format!(
                "kernel `{}` has more than {MAX_NARROW} variables in one space",
                self.program.source_name()
            );
            return Err(BindError::new(
                message,
                Some("calls are inlined; each keeps its own variables".into()),
            ));
        }
        Ok(out)
    }

    /// The tensor for a variable, if the case gives it.
    fn given_tensor(&self, number: usize, variable: &Variable) -> Result<Option<Tensor>, BindError> {
        let of = |at: usize| tensor(self.which, at, &self.params[at]);
        let tensor = match &self.given[number] {
            Given::Nothing => return Ok(None),
            Given::Whole(at) => of(*at)?,
            Given::Fields(fields) => {
                let tensors = fields.iter().map(|(offset, at)| Ok(of(*at)?.map(|tensor| (*offset, tensor))));
                let tensors = tensors.filter_map(Result::transpose).collect::<Result<_, BindError>>()?;
                return globals::of_fields(variable, tensors).map(Some);
            }
        };
        match tensor.as_ref().and_then(|tensor| globals::misfit(variable, tensor)) {
            Some(misfit) => Err(misfit),
            None => Ok(tensor),
        }
    }

    /// Fills in the addresses of variables that initialisers name.
    fn initial_addresses(&mut self, objects: &Objects, variables: &Variables) {
        for (at, variable) in self.program.variables.iter().enumerate() {
            let Some(init) = &variable.init else { continue };
            for (offset, target, addend, generic) in &init.addresses {
                let Some(object) = variables.objects[target.index()] else { continue };
                let object = objects.get(object);
                let address = object.base.wrapping_add_signed(*addend);
                let address = if *generic { to_generic(object.space, address) } else { address };
                let Some(own) = variables.objects[at] else { continue };
                let Backing::Tensor(tensor) = objects.get(own).backing else { continue };
                if let Initial::Bytes(bytes) = &mut self.tensors[tensor as usize].initial {
                    let end = *offset as usize + 8;
                    bytes.resize(bytes.len().max(end), 0);
                    bytes[end - 8..end].copy_from_slice(&address.to_le_bytes());
                }
            }
        }
    }
}
