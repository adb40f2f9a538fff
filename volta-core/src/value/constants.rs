//! Functions of the mathematical library at known points: which functions a run recognises, and which decisions it must
//! then not make (rules V5, V10).
//!
//! A call with known numbers for all operands leaves no graph: the machine folds its steps, and the result is the value
//! of the polynomial, not of the function. So a kernel in which such steps were met is executed once more. Integers
//! that it converts to floats, and floats that the case gives, are then kept as terms, as if they were inputs.
//! Functions of them are recognised like functions of inputs, and outputs are terms of these functions at known points.
//!
//! In that run, known floats decide nothing. A decision of the first run was the same with and without rounding. An
//! output that depends on any other decision of known floats is refused.

use crate::base::lane::LaneMask;
use crate::number::format::Format;
use crate::number::interval::{Function, Wide};
use crate::number::value::Value;
use crate::number::{Extended, Rational};
use crate::program::InstId;
use crate::term::{
    Constant, Kind, NodeId, Piecewise, Predicate, Reads, Store, Templates, TermId, TermKind, TermOp, View,
    enclose,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Precision of enclosures of known terms, in bits.
const PRECISION: u32 = 192;

/// The largest number of known terms that are examined.
const MAX_KNOWN: usize = 1 << 20;

/// The functions that a run recognises.
#[derive(Clone, Debug, Default)]
pub struct Recognition {
    /// The templates of functions; `None` if the kernel contains no mark of one.
    pub functions: Option<Arc<Templates>>,
    /// The bits of literals that are coefficients: an operation on one and on other known numbers is a step of a
    /// function at a known point.
    pub coefficients: Arc<FxHashSet<u64>>,
    /// The representation of floats that depend on no input.
    pub known: KnownFloats,
}

/// The representation of floats that depend on no input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KnownFloats {
    /// They are numbers.
    #[default]
    Numbers,
    /// Those converted from integers are terms, and so is everything computed from them.
    Terms {
        /// Whether those that the case gives are terms as well.
        given: bool,
        /// Whether an earlier run made each decision that depends on no function alike, with and without rounding.
        decided: bool,
    },
}

/// Known floats that are kept as terms.
#[derive(Debug, Default)]
pub(crate) struct Points {
    /// The term of each number.
    terms: FxHashMap<(Format, TermId), TermId>,
    /// The floors of a compiler's idiom, which cancel whatever their value is.
    pub(crate) floors: FxHashSet<NodeId>,
}

impl Points {
    /// The term of a number in a format, which is no constant, so that nothing is folded. `None` for an infinity.
    pub(crate) fn term(
        &mut self,
        store: &mut Store,
        format: Format,
        number: TermId,
        site: InstId,
    ) -> Option<TermId> {
        if let Some(known) = self.terms.get(&(format, number)) {
            return Some(*known);
        }
        let View::Constant(Constant { exact: Extended::Finite(_), .. }) = store.view(number) else {
            return None;
        };
        let zero = Constant { exact: Extended::Finite(Rational::ZERO), literal: None, rounded: None };
        let zero = store.intern(zero);
        // The number times 2⁰, which is not folded: nothing is known of its range, as for an input.
        let one = store.apply(TermOp::Exp2, &[zero], site);
        let term = store.apply(TermOp::Mul, &[number, one], site);
        self.terms.insert((format, number), term);
        Some(term)
    }

    /// Whether these terms of outputs may be compared: none depends on a decision of known floats that the earlier run
    /// did not make, and every function of known floats has a value at its point.
    pub(crate) fn allow(&self, store: &Store, outputs: impl Iterator<Item = TermId>, decided: bool) -> bool {
        let needed = needed(store, outputs);
        let mut own = KnownTerms { depends: vec![LaneMask::NONE; store.len()], values: FxHashMap::default() };
        for (at, mask) in needed.into_iter().enumerate() {
            let node = NodeId::from_index(at);
            for lane in mask {
                let term = TermId::lane(node, lane);
                let View::Apply(op, operands) = store.view(term) else { continue };
                let operands = &operands[..op.arity()];
                let is_sign = matches!(op.kind(), Kind::Piecewise(Piecewise::CopySign));
                if operands.iter().any(|operand| own.depends_on_inputs(*operand)) {
                    own.depends[at].insert(lane);
                    // The sign is the first operand.
                    let known_sign = is_sign && !own.depends_on_inputs(operands[0]);
                    if known_sign && (!decided || own.is_of_function(store, operands[0])) {
                        return false;
                    }
                    continue;
                }
                // Literals in exponents and beside logarithms may be read as constants, as in functions.
                let is_of_function = store.is_meant(node)
                    || op.reads() != Reads::Nothing
                    || operands.iter().any(|operand| own.is_of_function(store, *operand));
                let may_decide = decided && !is_of_function || self.floors.contains(&node);
                if decides(op) && !may_decide || own.values.len() == MAX_KNOWN {
                    return false;
                }
                let values: Vec<Value<Wide>> =
                    operands.iter().map(|operand| own.value(store, *operand)).collect();
                let [a, b, c] = [0, 1, 2].map(|which| values.get(which).unwrap_or(&values[0]));
                let value = enclose(op, [a, b, c]);
                if matches!(value, Value::Undefined | Value::Unresolved | Value::Either) {
                    return false;
                }
                own.values.insert(term, (value, is_of_function));
            }
        }
        true
    }
}

/// The known terms that were examined.
struct KnownTerms {
    /// For each node, the lanes that depend on an input.
    depends: Vec<LaneMask>,
    /// The values of the others, and whether they depend on a recognised function.
    values: FxHashMap<TermId, (Value<Wide>, bool)>,
}

impl KnownTerms {
    fn depends_on_inputs(&self, term: TermId) -> bool {
        match term.kind() {
            TermKind::Input { .. } => true,
            TermKind::Constant(_) => false,
            TermKind::Lane(node, lane) => self.depends[node.index()].contains(lane),
        }
    }

    fn is_of_function(&self, store: &Store, term: TermId) -> bool {
        match store.view(term) {
            View::Apply(..) => self.values.get(&term).is_none_or(|(_, of_function)| *of_function),
            View::Constant(_) | View::Input { .. } => false,
        }
    }

    fn value(&self, store: &Store, term: TermId) -> Value<Wide> {
        match store.view(term) {
            View::Constant(constant) => Value::exact(&constant.exact, PRECISION),
            View::Apply(..) => self.values.get(&term).map_or(Value::Unresolved, |(value, _)| value.clone()),
            View::Input { .. } => Value::Unresolved,
        }
    }
}

/// Whether an operation decides something, so that rounding of its operands may matter (rule V10).
fn decides(op: TermOp) -> bool {
    match op.kind() {
        Kind::Function(info) => matches!(
            info.function,
            Function::Round(_) | Function::Encode(_) | Function::Decode(_) | Function::Outcome
        ),
        Kind::Piecewise(Piecewise::CopySign | Piecewise::Mod | Piecewise::BitAnd) => true,
        Kind::Condition(Predicate::Less | Predicate::LessEqual | Predicate::Equal) => true,
        Kind::Condition(Predicate::Not | Predicate::And | Predicate::Or | Predicate::Xor)
        | Kind::Piecewise(Piecewise::Abs | Piecewise::Max | Piecewise::Min | Piecewise::Select)
        | Kind::Sum(_)
        | Kind::Product(_)
        | Kind::Exponential
        | Kind::Ieee => false,
    }
}

/// For each node, the lanes from which outputs are computed.
fn needed(store: &Store, outputs: impl Iterator<Item = TermId>) -> Vec<LaneMask> {
    let mut needed = vec![LaneMask::NONE; store.len()];
    let note = |needed: &mut Vec<LaneMask>, term: TermId| {
        if let TermKind::Lane(node, lane) = term.kind() {
            needed[node.index()].insert(lane);
        }
    };
    outputs.for_each(|term| note(&mut needed, term));
    for at in (0..store.len()).rev() {
        for lane in needed[at] {
            let term = TermId::lane(NodeId::from_index(at), lane);
            let View::Apply(op, operands) = store.view(term) else { continue };
            operands[..op.arity()].iter().for_each(|operand| note(&mut needed, *operand));
        }
    }
    needed
}
