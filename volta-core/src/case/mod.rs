//! A case: what [`crate::verify`] is given. Data, read from elsewhere; its words, rules and limits are those of
//! [`volta_case`].

mod numbers;
mod param;
mod structs;

pub use volta_case::{Element, Launch, Region, Role, Rules, Sign, Swizzle, TensorMap, Which, WmmaLayout};

use crate::base::budget::Budgets;
use crate::number::Extended;
pub use numbers::bits_of;
pub(crate) use numbers::{has_iota, number_bits, spell};
pub use param::{Binding, Contents, Param, ParamKind, ScalarValue};
pub use structs::{FieldPlace, FieldType, tensor_of_structs};

/// One or two kernels over shared parameters.
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

/// An argument in a side's parameter list.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// The parameter of the case with this name.
    Named(String),
    /// A literal: rounded or checked against the kernel's parameter type.
    Literal(Extended),
    /// A tensor map, passed by value.
    Map {
        /// Its name.
        name: String,
        /// What it is.
        map: TensorMap,
    },
    /// A struct or a vector, passed by value.
    Struct(Vec<Member>),
}

/// A member of a struct, at the first byte behind the one before it that is a multiple of its size, as C lays it out.
#[derive(Clone, Debug, PartialEq)]
pub enum Member {
    /// What an argument may be, but for literals.
    Argument(Argument),
    /// A number of this type.
    Number(Element, Extended),
    /// The next member, or the end of the struct, is at this byte.
    Offset(u64),
}

impl Argument {
    /// Puts tensor maps in the place of their names.
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
            other @ (Argument::Literal(_) | Argument::Map { .. }) => other,
        }
    }

    /// Calls for it, or for all that a struct is made of.
    pub(crate) fn visit(&self, see: &mut impl FnMut(Seen<'_>)) {
        match self {
            Argument::Named(name) => see(Seen::Named(name)),
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

/// What an argument is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen<'a> {
    /// A parameter of the case.
    Named(&'a String),
    /// A tensor map.
    Map(&'a String, &'a TensorMap),
    /// A number, and its type if it has one of its own.
    Number(Option<Element>, &'a Extended),
}

/// One kernel and how it is launched.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The PTX.
    pub ptx: String,
    /// What to call the PTX in messages: its path relative to the case.
    pub path: String,
    /// Which entry; `None` when there is only one.
    pub kernel: Option<String>,
    /// Arguments in the kernel's order; `None` is the declaration order of the case's parameters.
    pub arguments: Option<Vec<Argument>>,
    /// Its blocks and what they have.
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

/// Which warps and lanes of a CTA go first (rule Y8). A kernel is clean under all of these or under none; which of
/// several faults is reported, and how much was executed, may differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// Warps in order, each until it can take no step; of diverged lanes those at the lowest instruction.
    #[default]
    InOrder,
    /// The last warp first; of diverged lanes those at the highest instruction, as far as they can go.
    Reversed,
    /// Any warp, any of its lanes, a few instructions at a time: a different choice for each seed. Lanes at one
    /// instruction need not go on together, so that no `activemask` can be told (rule S4), nor is there arithmetic on
    /// fragments, which are held by a whole warp.
    Shuffled(u64),
}

/// Of which cases the canonical forms of all elements are made, as formulas and digests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FormsWanted {
    /// Of none.
    #[default]
    Never,
    /// Of those whose kernels differ.
    OfDifferent,
    /// Of all that have them.
    Always,
}

/// What a case chooses, and ways to run it.
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
    /// Switches lane-pattern detection off. Results do not depend on it.
    pub plain_terms: bool,
    /// Always use the exact clocks for races. Results do not depend on it.
    pub exact_clocks: bool,
    /// Prove each element by itself, even if it is another one with its inputs renamed. Results do not depend on it,
    /// but for steps.
    pub every_element: bool,
    /// At how many points of its own a proof is held against evaluation. Another answer is an error of the verifier.
    pub recheck: u32,
    /// Who goes first where several can.
    pub schedule: Schedule,
    /// Do not look for further findings after the first fault (rule R2). The verdict does not depend on it.
    pub first_fault_only: bool,
    /// Whether the canonical forms of all elements are made.
    pub forms: FormsWanted,
    /// Where the kernels differ, find out in which elements.
    pub maps: bool,
    /// Note what accesses of warps to shared and global memory cost. The verdict does not depend on it.
    pub access_patterns: bool,
}
