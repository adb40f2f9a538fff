//! Finds the variable that contains the matrix of a descriptor (rule Y12). A descriptor holds 14 bits of an address,
//! which determine a place only together with the variable that the address comes from.

use super::asynchronous::{Async, Factor, Groups};
use super::code::{Inst, Program, Variable};
use super::op::{Op, RegId, Space, Src, VariableId};
use super::tensor_memory::TensorMemoryOp;
use super::visit::Named;
use rustc_hash::FxHashMap;

/// The variables in shared memory with addresses that a register is computed from, anywhere in the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Origin {
    #[default]
    None,
    One(VariableId),
    Several,
}

impl Origin {
    fn and(self, other: Origin) -> Origin {
        match (self, other) {
            (Origin::None, origin) | (origin, Origin::None) => origin,
            (one, other) if one == other => one,
            _ => Origin::Several,
        }
    }
}

struct Origins<'v> {
    variables: &'v [Variable],
    registers: FxHashMap<RegId, Origin>,
    /// State spaces where a value computed from such an address is stored, so that a load may return one.
    stored: Vec<Space>,
}

impl Origins<'_> {
    fn of(&self, source: Src) -> Origin {
        match source {
            Src::Reg(register) => self.registers.get(&register).copied().unwrap_or_default(),
            Src::Symbol(variable, _) if self.variables[variable.index()].space == Space::Shared => {
                Origin::One(self.dynamic(variable))
            }
            Src::Imm(_) | Src::Symbol(..) => Origin::None,
        }
    }

    /// Whether a load from a space may return a value computed from such an address.
    fn may_be_stored(&self, space: Space) -> bool {
        let of = |space| if space == Space::Cluster { Space::Shared } else { space };
        self.stored
            .iter()
            .any(|stored| of(*stored) == of(space) || *stored == Space::Generic || space == Space::Generic)
    }

    /// All dynamic arrays are represented by the first.
    fn dynamic(&self, variable: VariableId) -> VariableId {
        let is_dynamic = |variable: &Variable| variable.space == Space::Shared && variable.size.is_none();
        if !is_dynamic(&self.variables[variable.index()]) {
            return variable;
        }
        self.variables.iter().position(is_dynamic).map_or(variable, VariableId::from_index)
    }

    /// Applies an operation; returns whether anything new is known.
    fn step(&mut self, op: &Op) -> bool {
        // A product computes floats, wherever its factors lie.
        if matches!(op, Op::Async(Async::Multiply(_) | Async::Tensor(TensorMemoryOp::Load { .. }))) {
            return false;
        }
        let written = if let Op::Store { space, a, .. } = op {
            Some((*space, a.as_slice()))
        } else if let Op::Atomic { space, a, .. } = op {
            Some((*space, std::slice::from_ref(a)))
        } else if let Op::Swap(swap) = op {
            Some((swap.space, std::slice::from_ref(&swap.new)))
        } else {
            None
        };
        let mut grows = false;
        if let Some((space, values)) = written
            && !self.stored.contains(&space)
            && values.iter().any(|source| self.of(*source) != Origin::None)
        {
            self.stored.push(space);
            grows = true;
        }
        let mut origin = Origin::None;
        if let Op::Load { space, .. } | Op::Atomic { space, .. } = op {
            // Places within a space are not distinguished.
            origin = if self.may_be_stored(*space) { Origin::Several } else { Origin::None };
        } else if let Op::Swap(swap) = op {
            origin = if self.may_be_stored(swap.space) { Origin::Several } else { Origin::None };
        } else {
            op.visit_sources(&mut |source| origin = origin.and(self.of(source)));
        }
        if origin == Origin::None {
            return grows;
        }
        op.visit(&mut |named| {
            if let Named::Write(register) = named {
                let known = self.registers.entry(register).or_default();
                let joined = known.and(origin);
                grows |= *known != joined;
                *known = joined;
            }
        });
        grows
    }
}

impl Inst {
    /// Whether it is an operation on products of warpgroups.
    fn multiplies(&self) -> bool {
        matches!(
            self.op,
            Op::Async(
                Async::Multiply(_)
                    | Async::FenceRegisters
                    | Async::Commit { groups: Groups::Products }
                    | Async::Wait { groups: Groups::Products, .. }
            )
        )
    }
}

impl Inst {
    /// Whether it is an operation on tensor memory.
    fn uses_tensor_memory(&self) -> bool {
        matches!(self.op, Op::Async(Async::Tensor(_)))
    }
}

impl Program {
    /// Whether the program uses tensor memory.
    pub fn uses_tensor_memory(&self) -> bool {
        self.insts.iter().any(Inst::uses_tensor_memory)
    }

    /// Whether warpgroups multiply matrices.
    pub fn multiplies(&self) -> bool {
        self.insts.iter().any(Inst::multiplies)
    }
}

/// Determines the variable of each descriptor.
pub(super) fn find_matrices(insts: &mut [Inst], variables: &[Variable]) {
    if !insts.iter().any(|inst| inst.multiplies() || inst.uses_tensor_memory()) {
        return;
    }
    let is_shared = |variable: VariableId| variables[variable.index()].space == Space::Shared;
    let initial = variables.iter().filter(|variable| {
        let mut addresses = variable.init.iter().flat_map(|init| &init.addresses);
        addresses.any(|(_, target, _, _)| is_shared(*target))
    });
    let stored = initial.map(|variable| variable.space).collect();
    let mut origins = Origins { variables, registers: FxHashMap::default(), stored };
    loop {
        let mut grows = false;
        for inst in insts.iter() {
            grows |= origins.step(&inst.op);
        }
        if !grows {
            break;
        }
    }
    for inst in insts {
        let factors: Vec<&mut Factor> = if let Op::Async(Async::Multiply(product)) = &mut inst.op {
            vec![&mut product.a, &mut product.b]
        } else if let Op::Async(Async::Tensor(operation)) = &mut inst.op {
            operation.shared_matrices_mut()
        } else {
            continue;
        };
        for factor in factors {
            if let Factor::Shared { descriptor, of, .. } = factor
                && let Origin::One(variable) = origins.of(*descriptor)
            {
                *of = Some(variable);
            }
        }
    }
}
