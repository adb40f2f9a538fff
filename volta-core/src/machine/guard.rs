//! Conditions under which threads execute where an input decides (rule S1).
//!
//! A thread that no input has led astray executes under the guard that always holds, which costs nothing.

use crate::base::index::number_of;
use crate::base::lane::Lane;
use crate::term::{InputId, Store, TermId, TermKind, TermOp, View};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A condition that holds, or one that does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Literal {
    pub(super) condition: TermId,
    pub(super) holds: bool,
}

impl Literal {
    /// The literal that holds where this one does not.
    pub(super) fn negated(self) -> Literal {
        Literal { holds: !self.holds, ..self }
    }
}

/// A conjunction of literals, by its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Guard(u32);

impl Guard {
    /// The guard that always holds.
    pub(super) const ALWAYS: Guard = Guard(0);
}

/// That a term is an integer: what two guards may disagree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    of: TermId,
    is: i64,
}

/// A guard other than the first: that of the code around it, and one more literal.
#[derive(Clone, Copy, Debug)]
struct Narrowed {
    outer: Guard,
    literal: Literal,
    /// The literal as a value, if it says that two terms are equal, one of them a constant.
    value: Option<Value>,
}

/// The guards of a CTA, and those under which the lanes of the running warp execute.
#[derive(Debug)]
pub(super) struct Guards {
    narrowed: Vec<Narrowed>,
    numbers: FxHashMap<(Guard, Literal), Guard>,
    current: [Guard; 32],
    /// Whether some lane executes under another guard than the first.
    narrow: bool,
    /// Inputs whose elements differ from one another.
    distinct: Vec<InputId>,
}

impl Guards {
    pub(super) fn new(distinct: Vec<InputId>) -> Guards {
        let current = [Guard::ALWAYS; 32];
        Guards { narrowed: Vec::new(), numbers: FxHashMap::default(), current, narrow: false, distinct }
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> u64 {
        (self.narrowed.len() * 2 * size_of::<Narrowed>()) as u64
    }

    /// Whether some lane executes under a condition.
    #[inline]
    pub(super) fn are_narrow(&self) -> bool {
        self.narrow
    }

    /// The guard of a lane.
    #[inline]
    pub(super) fn of(&self, lane: Lane) -> Guard {
        self.current[lane]
    }

    /// The guards of all lanes.
    pub(super) fn all(&self) -> [Guard; 32] {
        self.current
    }

    /// Restores the guards of all lanes.
    pub(super) fn restore(&mut self, guards: [Guard; 32]) {
        self.current = guards;
        self.narrow = guards != [Guard::ALWAYS; 32];
    }

    /// Narrows the guard of a lane by one more condition.
    pub(super) fn narrow(&mut self, store: &Store, lane: Lane, condition: TermId, holds: bool) {
        self.current[lane] = self.narrowed(store, self.current[lane], condition, holds);
        self.narrow |= self.current[lane] != Guard::ALWAYS;
    }

    /// A guard narrowed by one more condition.
    pub(super) fn narrowed(&mut self, store: &Store, outer: Guard, condition: TermId, holds: bool) -> Guard {
        if let View::Apply(op, [a, b, _]) = store.view(condition) {
            match (op, holds) {
                (TermOp::Not, _) => return self.narrowed(store, outer, a, !holds),
                (TermOp::And, true) | (TermOp::Or, false) => {
                    let outer = self.narrowed(store, outer, a, holds);
                    return self.narrowed(store, outer, b, holds);
                }
                _ => {}
            }
        }
        let literal = Literal { condition, holds };
        if self.decides(outer, condition) == Some(holds) {
            return outer;
        }
        if let Some(known) = self.numbers.get(&(outer, literal)) {
            return *known;
        }
        self.narrowed.push(Narrowed { outer, literal, value: value_of(store, literal) });
        let guard = Guard(number_of(self.narrowed.len()));
        self.numbers.insert((outer, literal), guard);
        guard
    }

    fn parts(&self, guard: Guard) -> impl Iterator<Item = &Narrowed> {
        let mut at = guard;
        std::iter::from_fn(move || {
            let part = self.narrowed.get((at.0 as usize).checked_sub(1)?)?;
            at = part.outer;
            Some(part)
        })
    }

    /// The literals of a guard, outermost first.
    pub(super) fn literals(&self, guard: Guard) -> SmallVec<[Literal; 4]> {
        let mut literals: SmallVec<[Literal; 4]> = self.parts(guard).map(|part| part.literal).collect();
        literals.reverse();
        literals
    }

    /// Whether a condition holds wherever a guard does, if the guard has it as a literal.
    pub(super) fn decides(&self, guard: Guard, condition: TermId) -> Option<bool> {
        self.parts(guard).find(|part| part.literal.condition == condition).map(|part| part.literal.holds)
    }

    /// Whether two guards, by their literals alone, never hold together.
    pub(super) fn exclude(&self, one: Guard, other: Guard) -> bool {
        self.parts(one).any(|one| {
            self.parts(other).any(|other| {
                one.literal == other.literal.negated()
                    || one.value.zip(other.value).is_some_and(|(one, other)| self.differ(one, other))
            })
        })
    }

    /// Whether two values are not taken together.
    fn differ(&self, one: Value, other: Value) -> bool {
        if one.of == other.of {
            return one.is != other.is;
        }
        let (TermKind::Input { input, .. }, TermKind::Input { input: also, .. }) =
            (one.of.kind(), other.of.kind())
        else {
            return false;
        };
        input == also && one.is == other.is && self.distinct.contains(&input)
    }
}

/// What a literal says of the value of a term.
fn value_of(store: &Store, literal: Literal) -> Option<Value> {
    let View::Apply(op, [a, b, _]) = store.view(literal.condition) else { return None };
    if !literal.holds || op != TermOp::Equal {
        return None;
    }
    let number = |term| match store.view(term) {
        View::Constant(constant) => constant.exact.finite()?.to_i64(),
        View::Input { .. } | View::Apply(..) => None,
    };
    match (number(a), number(b)) {
        (None, Some(is)) => Some(Value { of: a, is }),
        (Some(is), None) => Some(Value { of: b, is }),
        (Some(_), Some(_)) | (None, None) => None,
    }
}
