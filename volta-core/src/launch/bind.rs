//! Binds the parameters of a case to those of a kernel, and places every object in the address space.

use super::bind_error::BindError;
use super::infeasible::Feasibility;
use super::limits;
use super::objects::{
    Backing, MAX_NARROW, MAX_NARROW_SIZE, Objects, Request, TENSOR_ALIGN, WINDOW_ALIGN, has_room, to_generic,
};
use super::structs;
use super::tensor::{Before, Initial, Tensor, tensor};
use super::variables::{self, Given};
use crate::base::assumption::Assumption;
use crate::base::span::LineTable;
use crate::case::{Binding, Claim, Element, KernelLaunch, Options, Param, ParamKind, Role, Sign, Which};
use crate::launch::{Launch, Outputs};
use crate::program::{Inst, Program, Space, TENSOR_COLUMNS, TENSOR_LANES, Variable, is_table_of_library};
use crate::term::{InputId, Integers, Rounds};
use crate::value::constants::Recognition;
use std::sync::OnceLock;

/// What atomic additions return is at most this, which is checked at the end: places do not wrap around.
pub(crate) const MOST_TICKET: i128 = (1 << 30) - 1;

/// Number of cells of the tensor memory of a CTA.
const TENSOR_CELLS: u32 = TENSOR_LANES * TENSOR_COLUMNS;
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

fn is_not_negative(param: &Param) -> bool {
    matches!(param.sign(), Sign::Positive | Sign::NonNegative)
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
    pub(crate) fn bind(
        job: &Job<'a>,
        program: &'a Program,
        recognition: Recognition,
        tickets: Option<bool>,
    ) -> Result<Launch<'a>, BindError> {
        let Job { which, kernel, params, options, .. } = *job;
        let limits::Fit { clusters, cluster, together, exceeded } =
            limits::check(program, kernel, options, tickets == Some(true))?;
        let tensors: Vec<Tensor> = params
            .iter()
            .enumerate()
            .filter(|(_, param)| param.binding != Binding::Variable)
            .filter_map(|(at, param)| match param.binding {
                Binding::Argument | Binding::Variable => tensor(which, at, param).transpose(),
                Binding::Field(_) => structs::tensor(which, at, params).transpose(),
            })
            .collect::<Result<_, _>>()?;
        let given = variables::given(program, params)?;
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
        let before = job.before.clone().map(|Before(left)| left);
        if let Some(before) = &before {
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
            before,
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
            reads_uncached: program.reads_uncached(),
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
            not_negative: params.iter().map(is_not_negative).collect(),
            distinct: distinct_inputs(params),
            // What holds of the inputs that one CTA reads need not hold of those of the CTAs that it stands for.
            infeasible: job.infeasible.filter(|_| !options.by_classes),
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
    variables::assumptions(program, given).into_iter().chain(together).chain(is_reset).collect()
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

pub(super) struct Builder<'a> {
    which: Which,
    pub(crate) program: &'a Program,
    pub(crate) params: &'a [Param],
    /// For each variable, what the case gives of it.
    given: Vec<Given>,
    pub(crate) tensors: Vec<Tensor>,
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
            out.shared_cells += TENSOR_CELLS;
            self.requests.push(Request {
                name: "tensor memory".into(),
                space: Space::Tensor,
                size: 4 * u64::from(TENSOR_CELLS),
                declared: 4,
                align: 4,
                backing: Backing::Shared(out.shared_cells - TENSOR_CELLS),
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
                return variables::of_fields(variable, tensors).map(Some);
            }
        };
        match tensor.as_ref().and_then(|tensor| variables::misfit(variable, tensor)) {
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

/// A launch to run.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The side.
    pub which: Which,
    /// Its number among the steps of the side.
    pub step: usize,
    /// Whether another step follows, which may read all that this one writes.
    pub is_followed: bool,
    /// Whether it may overlap with the launch before it or after it (rule Y17).
    pub overlaps: bool,
    /// What the steps before it left, if there are any.
    pub before: Option<Before>,
    /// The kernel, as resolved code.
    pub program: &'a Program,
    /// The kernel, and how it is launched.
    pub kernel: &'a KernelLaunch,
    /// The case's parameters.
    pub params: &'a [Param],
    /// Rules and limits.
    pub options: &'a Options,
    /// The use of its outputs.
    pub outputs: Outputs,
    /// Decides whether inputs fulfil the conditions of faults; it is asked where each CTA runs for itself.
    pub infeasible: Option<&'a dyn Feasibility>,
}

impl<'a> Job<'a> {
    /// The only launch of a side, whose outputs are compared.
    pub fn only(
        which: Which,
        (program, kernel): (&'a Program, &'a KernelLaunch),
        params: &'a [Param],
        options: &'a Options,
    ) -> Job<'a> {
        let outputs = Outputs::Compared;
        Job {
            which,
            step: 0,
            is_followed: false,
            overlaps: false,
            before: None,
            program,
            kernel,
            params,
            options,
            outputs,
            infeasible: None,
        }
    }
}
