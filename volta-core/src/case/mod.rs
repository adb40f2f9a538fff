//! A case: the input of [`crate::verify`]. Data only, which other crates read; its words, rules and limits are those of
//! [`volta_case`].

mod numbers;
mod param;
mod structs;

pub use volta_case::{
    Claim, Comparison, Element, Elements, Launch, Literals, MaxError, Region, Role, Rules, Shard, Sign,
    Swizzle, TensorMap, Which, WmmaLayout,
};

use std::sync::Arc;

use crate::base::budget::Budgets;
use crate::graph::Graph;
use crate::number::Extended;
pub use numbers::bits_of;
pub(crate) use numbers::{has_iota, number_bits, spell};
pub use param::{Assumed, Binding, Contents, Param, ParamKind, ScalarValue, TensorAddress};
pub use structs::{FieldPlace, FieldType, tensor_of_structs};

/// One or two sides over shared parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Parameters, in declaration order.
    pub params: Vec<Param>,
    /// The reference; without one, only faults of `opt` are looked for.
    pub reference: Option<Side>,
    /// The optimized kernel, or the only one.
    pub opt: Side,
    /// Relaxations and limits.
    pub options: Options,
}

impl Case {
    /// Of the reference and of the optimized kernel, whether it alone runs in part: parts of both are to write the same.
    pub(crate) fn alone_in_part(&self) -> [bool; 2] {
        let reference = self.reference.as_ref().is_some_and(Side::runs_in_part);
        let opt = self.opt.runs_in_part();
        [reference && !opt, opt && !reference]
    }
}

/// An argument in a side's parameter list.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// The parameter of the case with this name.
    Named(String),
    /// A pointer to an element of a tensor.
    Element {
        /// The tensor.
        of: String,
        /// The element, by its row-major number; the number of elements is the end of the tensor.
        at: u64,
    },
    /// A literal; a float is rounded to the type of the kernel's parameter, an integer must fit it.
    Literal(Extended),
    /// A tensor map, passed by value.
    Map {
        /// Its name.
        name: String,
        /// Its description.
        map: TensorMap,
    },
    /// A struct or a vector, passed by value.
    Struct(Vec<Member>),
}

/// A member of a struct. As in C, it begins after the previous one, at the next multiple of its size.
#[derive(Clone, Debug, PartialEq)]
pub enum Member {
    /// An argument other than a literal.
    Argument(Argument),
    /// A number of this type.
    Number(Element, Extended),
    /// The offset in bytes of the next member, or of the end of the struct.
    Offset(u64),
}

impl Argument {
    /// Replaces the names of tensor maps by the maps.
    pub fn with_maps(list: Vec<Argument>, maps: &[(String, TensorMap)]) -> Vec<Argument> {
        list.into_iter().map(|argument| argument.with_map(maps)).collect()
    }

    fn with_map(self, maps: &[(String, TensorMap)]) -> Argument {
        match self {
            Argument::Named(name) => match maps.iter().find(|(known, _)| *known == name) {
                Some((_, map)) => Argument::Map { name, map: map.clone() },
                None => Argument::Named(name),
            },
            Argument::Struct(members) => {
                let resolve = |member| match member {
                    Member::Argument(argument) => Member::Argument(argument.with_map(maps)),
                    other @ (Member::Number(..) | Member::Offset(_)) => other,
                };
                Argument::Struct(members.into_iter().map(resolve).collect())
            }
            other @ (Argument::Literal(_) | Argument::Element { .. } | Argument::Map { .. }) => other,
        }
    }

    /// Calls `see` for the argument, or for each member of a struct, recursively.
    pub(crate) fn visit(&self, see: &mut impl FnMut(Seen<'_>)) {
        match self {
            Argument::Named(name) | Argument::Element { of: name, .. } => see(Seen::Named(name)),
            Argument::Map { name, map } => see(Seen::Map(name, map)),
            Argument::Literal(value) => see(Seen::Number(None, value)),
            Argument::Struct(members) => {
                for member in members {
                    match member {
                        Member::Argument(argument) => argument.visit(see),
                        Member::Number(element, value) => see(Seen::Number(Some(*element), value)),
                        Member::Offset(_) => {}
                    }
                }
            }
        }
    }
}

/// A leaf of an argument, as [`Argument::visit`] passes it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen<'a> {
    /// A parameter of the case.
    Named(&'a String),
    /// A tensor map.
    Map(&'a String, &'a TensorMap),
    /// A number, and its type if it gives one.
    Number(Option<Element>, &'a Extended),
}

/// What one side of a case does with the case's tensors: steps, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// At least one.
    pub steps: Vec<Step>,
}

/// A step of a side. It begins when those before it have ended, and sees all that they wrote.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A kernel.
    Launch(KernelLaunch),
    /// Every element of a tensor becomes this number.
    Fill {
        /// A parameter of the case.
        tensor: String,
        /// The number.
        with: Extended,
    },
    /// Every element of a tensor becomes that of another one of as many elements.
    Copy {
        /// The parameter of the case that is read.
        from: String,
        /// The parameter of the case that is written.
        to: String,
    },
    /// A graph of operators.
    Graph(Arc<Graph>),
}

impl Step {
    /// The kernel, if it is a launch.
    pub fn launch(&self) -> Option<&KernelLaunch> {
        match self {
            Step::Launch(launch) => Some(launch),
            Step::Fill { .. } | Step::Copy { .. } | Step::Graph(_) => None,
        }
    }

    /// Like [`Step::launch`].
    pub fn launch_mut(&mut self) -> Option<&mut KernelLaunch> {
        match self {
            Step::Launch(launch) => Some(launch),
            Step::Fill { .. } | Step::Copy { .. } | Step::Graph(_) => None,
        }
    }
}

impl Side {
    /// Its launches, each with its number among the steps.
    pub fn launches(&self) -> impl Iterator<Item = (usize, &KernelLaunch)> {
        self.steps.iter().enumerate().filter_map(|(at, step)| Some((at, step.launch()?)))
    }

    /// Whether some launch runs a part of its CTAs.
    pub fn runs_in_part(&self) -> bool {
        self.launches().any(|(_, kernel)| kernel.launch.ctas.is_some())
    }

    /// The launch of a side that has no other step.
    pub fn only(&self) -> Option<&KernelLaunch> {
        match self.steps.as_slice() {
            [step] => step.launch(),
            [] | [_, _, ..] => None,
        }
    }

    /// Like [`Side::only`].
    pub fn only_mut(&mut self) -> Option<&mut KernelLaunch> {
        match self.steps.as_mut_slice() {
            [step] => step.launch_mut(),
            [] | [_, _, ..] => None,
        }
    }

    /// The launch that is step number `at`.
    pub fn launch(&self, at: usize) -> Option<&KernelLaunch> {
        self.steps.get(at)?.launch()
    }
}

impl From<Graph> for Side {
    fn from(graph: Graph) -> Side {
        Side { steps: vec![Step::Graph(Arc::new(graph))] }
    }
}

impl From<KernelLaunch> for Side {
    fn from(launch: KernelLaunch) -> Side {
        Side { steps: vec![Step::Launch(launch)] }
    }
}

/// One kernel and how it is launched.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelLaunch {
    /// The PTX.
    pub ptx: String,
    /// The name of the PTX in messages: its path relative to the case.
    pub path: String,
    /// Which entry; `None` when there is only one.
    pub kernel: Option<String>,
    /// Arguments in the kernel's order; `None` is the declaration order of the case's parameters.
    pub arguments: Option<Vec<Argument>>,
    /// The launch: block, grid, shared memory and clusters.
    pub launch: Launch,
}

/// How objects are laid out in the address space; verdicts must not depend on it (rule M1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// In declaration order.
    #[default]
    Forward,
    /// In reverse order, with other gaps.
    Reverse,
}

/// The order in which warps and lanes of a CTA are executed (rule Y8). A kernel is clean under all schedules or under
/// none; which of several faults is reported, and how much was executed, may differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// Warps in order, each until it can take no step; of diverged lanes those at the lowest instruction.
    #[default]
    InOrder,
    /// The last warp first; of diverged lanes those at the highest instruction, until they can take no step.
    Reversed,
    /// Any warp, any of its lanes, a few instructions at a time, chosen by the seed. Lanes at one instruction need not
    /// execute together, so that `activemask` has no value (rule S4), and there is no arithmetic on fragments, which
    /// needs a whole warp.
    Shuffled(u64),
}

/// Whether to make the canonical forms of all elements, as formulas and digests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FormsWanted {
    /// Never.
    #[default]
    Never,
    /// Only if the kernels differ.
    OfDifferent,
    /// Always, if the outputs have them.
    Always,
}

/// The rules and limits of a case, and the options of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Rules that are relaxed or tightened; verdicts name those that are relaxed.
    pub rules: Rules,
    /// Limits.
    pub budgets: Budgets,
    /// Worker threads; 0 is one a core. Results do not depend on it.
    pub threads: usize,
    /// How memory is laid out. Results do not depend on it.
    pub layout: Layout,
    /// Disables the detection of lane patterns. Results do not depend on it.
    pub plain_terms: bool,
    /// Always detects races with vector clocks. Results do not depend on it.
    pub exact_clocks: bool,
    /// Proves each element separately, even if it is a proved one with its inputs translated. Results do not depend on
    /// it, except for the number of steps.
    pub every_element: bool,
    /// Executes each CTA, even if it does as another one does with other elements. Results do not depend on it.
    pub every_cta: bool,
    /// Executes one CTA for all that do the same, where that can be followed: whoever asks for it reads
    /// [`crate::machine::Execution::classes`].
    pub by_classes: bool,
    /// The number of additional points at which a proof is compared with evaluation. A contradiction is a defect of the
    /// verifier.
    pub recheck: u32,
    /// The order in which warps and lanes are executed.
    pub schedule: Schedule,
    /// Does not look for further findings after the first fault (rule R2). The verdict does not depend on it.
    pub first_fault_only: bool,
    /// Only whether the verdict is *clean* matters, or *equivalent*: whether a fault that may happen for some inputs does is
    /// not decided.
    pub only_clean: bool,
    /// Whether to make the canonical forms of all elements.
    pub forms: FormsWanted,
    /// If the kernels differ, finds out in which elements.
    pub maps: bool,
    /// Decides only the share of this part of the compared elements (rule R1). Both sides are executed, and their faults
    /// are those of the whole case.
    pub shard: Option<Shard>,
    /// Executes floats as values of IEEE arithmetic, for claims about bits.
    pub ieee: bool,
    /// Records the cost of accesses of warps to shared and global memory. The verdict does not depend on it.
    pub access_patterns: bool,
}
