//! Terms that are others with their inputs renamed.
//!
//! What is proved of a pair of terms for all inputs holds of every pair obtained from it by renaming inputs in the same
//! way in both terms: it is the same proof, instantiated. Most outputs of a kernel are renamings of one another, by a
//! translation of each tensor by a constant number of elements: from `Σ A[0,k]·B[k,0]` to
//! `Σ A[i,k]·B[k,j]`. Seeing that takes a walk through both; it multiplies nothing out.

use super::analysis::Analysis;
use crate::base::index::number_of;
use crate::term::{Constant, InputId, Store, TermId, TermKind, TermOp, View};
use rustc_hash::{FxHashMap, FxHashSet};

/// A term with its store and what is known of that.
#[derive(Clone, Copy)]
pub struct Located<'s> {
    /// The store.
    pub store: &'s Store,
    /// Of the store.
    pub analysis: &'s Analysis,
    /// Of the store.
    pub term: TermId,
}

/// More inputs than this are not renamed: a bit each.
const MAX_INPUTS: usize = 31;

/// How far elements of each input move.
#[derive(Debug, Default)]
struct Shifts {
    /// By this, for inputs that move.
    by: [i64; MAX_INPUTS],
    moved: u32,
    fixed: u32,
}

impl Shifts {
    /// Notes that an element of an input moves by `by`; false if that contradicts what was noted before.
    fn note(&mut self, input: InputId, by: i64) -> bool {
        let bit = 1 << input.index();
        if by == 0 {
            self.fixed |= bit;
            return self.moved & bit == 0;
        }
        if self.moved & bit != 0 {
            return self.by[input.index()] == by;
        }
        self.moved |= bit;
        self.by[input.index()] = by;
        self.fixed & bit == 0
    }

    /// Notes that inputs stay where they are.
    fn note_fixed(&mut self, inputs: u32) -> bool {
        self.fixed |= inputs;
        self.moved & inputs == 0
    }
}

/// Why a term is not another with its inputs renamed, at the place where it showed.
enum Obstacle {
    /// Different operations.
    Shape,
    /// The same operations on inputs that would have to move otherwise.
    Place,
}

/// Finds renamings; keeps memory between searches.
#[derive(Debug, Default)]
pub struct Renaming {
    stack: Vec<(TermId, TermId)>,
    seen: FxHashSet<(TermId, TermId)>,
    classes: Classes,
    /// The last renaming that was found needed a look at classes.
    looks_at_classes: bool,
    steps: u64,
    allowed: u64,
}

impl Renaming {
    /// Whether a renaming that moves elements of each of `inputs` inputs by a constant makes each of `from` into
    /// the term of `to` beside it. Gives up after about `allowed` steps.
    pub fn exists(
        &mut self,
        from: [Located<'_>; 2],
        to: [Located<'_>; 2],
        inputs: usize,
        allowed: u64,
    ) -> bool {
        self.steps = 0;
        self.allowed = allowed;
        if inputs > MAX_INPUTS {
            return false;
        }
        for classes in [self.looks_at_classes, !self.looks_at_classes] {
            let mut shifts = Shifts::default();
            let mut sides = from.into_iter().zip(to);
            match sides.try_for_each(|(from, to)| self.extend(&mut shifts, from, to, classes)) {
                Ok(()) => {
                    self.looks_at_classes = classes;
                    return true;
                }
                // Another order of operands would hardly help.
                Err(Obstacle::Shape) => return false,
                Err(Obstacle::Place) => {}
            }
        }
        false
    }

    /// Steps that the last search took: operations seen.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Adds to `shifts` what makes one term into another.
    fn extend(
        &mut self,
        shifts: &mut Shifts,
        from: Located<'_>,
        to: Located<'_>,
        classes: bool,
    ) -> Result<(), Obstacle> {
        let one_store = std::ptr::eq(from.store, to.store);
        self.seen.clear();
        self.stack.clear();
        self.stack.push((from.term, to.term));
        while let Some((a, b)) = self.stack.pop() {
            self.steps += 1;
            if self.steps > self.allowed {
                return Err(Obstacle::Shape);
            }
            if one_store && a == b {
                if !shifts.note_fixed(from.analysis.inputs(a)) {
                    return Err(Obstacle::Place);
                }
                continue;
            }
            // A shared term is walked once for each of its images.
            if from.analysis.uses(a) > 1
                && matches!(a.kind(), TermKind::Lane(..))
                && !self.seen.insert((a, b))
            {
                continue;
            }
            match (from.store.view(a), to.store.view(b)) {
                (View::Input { input, element }, View::Input { input: other, element: moved })
                    if input == other =>
                {
                    if !shifts.note(input, moved as i64 - element as i64) {
                        return Err(Obstacle::Place);
                    }
                }
                (View::Constant(a), View::Constant(b)) if a == b => {}
                (View::Apply(op, operands), View::Apply(other, mut images)) if op == other => {
                    if op.info().commutes && self.crosswise([from, to], [operands, images], classes) {
                        images.swap(0, 1);
                    }
                    let pairs = operands.into_iter().zip(images).take(op.arity());
                    self.stack.extend(pairs.rev());
                }
                _ => return Err(Obstacle::Shape),
            }
        }
        Ok(())
    }

    /// Whether the first operand of one operation is rather the second of the other. Compilers put the factors of a
    /// product either way round, and lanes that exchange values put their own first. Only a guess: the walk tells.
    fn crosswise(&mut self, [from, to]: [Located<'_>; 2], [a, b]: [[TermId; 3]; 2], classes: bool) -> bool {
        let look = |store: &Store, term: TermId| match term.kind() {
            TermKind::Input { input, .. } => (0, input.index()),
            TermKind::Constant(_) => (1, 0),
            TermKind::Lane(..) => (2, store.op(term).map_or(0, |op| op as usize)),
        };
        let [first, second] = [0, 1].map(|at| look(from.store, a[at]));
        if first != second || !classes {
            return first != look(to.store, b[0]);
        }
        let [first, second] = [0, 1].map(|at| self.classes.of(from.store, a[at], &mut self.steps));
        let [other, image] = [0, 1].map(|at| self.classes.of(to.store, b[at], &mut self.steps));
        first == image && second == other
    }
}

/// Terms by what they compute, whichever node does: one number for what is the same but for the order of the operands
/// of commutative operations.
#[derive(Debug, Default)]
struct Classes {
    known: FxHashMap<(usize, TermId), u32>,
    numbers: FxHashMap<Content, u32>,
}

/// What a class consists of.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Content {
    Input(TermId),
    Constant(Constant),
    Apply(TermOp, [u32; 3]),
}

impl Classes {
    fn of(&mut self, store: &Store, root: TermId, steps: &mut u64) -> u32 {
        let key = |term| (std::ptr::from_ref::<Store>(store) as usize, term);
        let mut stack = vec![root];
        let mut class = 0;
        while let Some(&term) = stack.last() {
            if let Some(known) = self.known.get(&key(term)) {
                class = *known;
                stack.pop();
                continue;
            }
            *steps += 1;
            let content = match store.view(term) {
                View::Input { .. } => Content::Input(term),
                View::Constant(constant) => Content::Constant(constant.clone()),
                View::Apply(op, operands) => {
                    let before = stack.len();
                    let mut inner = [0; 3];
                    for (inner, operand) in inner.iter_mut().zip(operands).take(op.arity()) {
                        match self.known.get(&key(operand)) {
                            Some(known) => *inner = *known,
                            None => stack.push(operand),
                        }
                    }
                    if stack.len() > before {
                        continue;
                    }
                    if op.info().commutes {
                        inner[..2].sort_unstable();
                    }
                    Content::Apply(op, inner)
                }
            };
            let new = number_of(self.numbers.len());
            class = *self.numbers.entry(content).or_insert(new);
            self.known.insert(key(term), class);
            stack.pop();
        }
        class
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::tests::{Side, X, Y};

    /// `Σₖ x[row + k]·y[step·k + column]`, from the first term on.
    fn dot(side: &mut Side, row: u64, column: u64, terms: u64) -> TermId {
        let zero = side.int(0);
        (0..terms)
            .fold(zero, |sum, k| side.fma(TermId::input(X, row + k), TermId::input(Y, 8 * k + column), sum))
    }

    /// Whether the two terms of `from` become those of `to`; each pair's terms are in one store.
    fn renamed(from: (&Side, [TermId; 2]), to: (&Side, [TermId; 2])) -> bool {
        let (one, other) = (Analysis::of_all(&from.0.store), Analysis::of_all(&to.0.store));
        let from = from.1.map(|term| Located { store: &from.0.store, analysis: &one, term });
        let to = to.1.map(|term| Located { store: &to.0.store, analysis: &other, term });
        Renaming::default().exists(from, to, 2, 10_000)
    }

    #[test]
    fn rows_and_columns_of_a_product_are_renamed() {
        let mut side = Side::new();
        let template = [dot(&mut side, 0, 0, 8), dot(&mut side, 0, 0, 8)];
        for (row, column) in [(0, 0), (0, 3), (8, 0), (16, 7)] {
            let other = [dot(&mut side, row, column, 8), dot(&mut side, row, column, 8)];
            assert!(renamed((&side, template), (&side, other)));
            assert!(renamed((&side, other), (&side, template)));
            let mut elsewhere = Side::new();
            let other = [dot(&mut elsewhere, row, column, 8), dot(&mut elsewhere, row, column, 8)];
            assert!(renamed((&side, template), (&elsewhere, other)));
        }
        let apart = [dot(&mut side, 8, 0, 8), dot(&mut side, 8, 1, 8)];
        assert!(!renamed((&side, template), (&side, apart)));
        let longer = [dot(&mut side, 8, 0, 8), dot(&mut side, 8, 0, 9)];
        assert!(!renamed((&side, template), (&side, longer)));
    }

    #[test]
    fn what_stays_in_one_place_moves_nowhere_else() {
        let mut side = Side::new();
        let [first, second, third] = [0, 1, 2].map(|at| side.x(at));
        let sum = side.sum(&[first, second, third]);
        let [share, next, same] = [first, second, first].map(|part| side.div(part, sum));
        // The divisor names the elements that would have to move.
        assert!(!renamed((&side, [share, share]), (&side, [next, next])));
        assert!(renamed((&side, [share, share]), (&side, [same, same])));
        let scaled = [0, 1].map(|at| side.mul(TermId::input(Y, at), sum));
        assert!(renamed((&side, [scaled[0]; 2]), (&side, [scaled[1]; 2])));
        // Moved in the first pair, kept in the second.
        let [here, there] = [0, 1].map(|at| side.neg(TermId::input(Y, at)));
        assert!(!renamed((&side, [scaled[0], here]), (&side, [scaled[1], here])));
        assert!(renamed((&side, [scaled[0], here]), (&side, [scaled[1], there])));
    }

    #[test]
    fn factors_change_places_and_what_is_added_to_them_does_not() {
        let mut side = Side::new();
        let [a, b, c] = [0, 1, 2].map(|at| side.x(at));
        let orders = [[a, b, c], [b, a, c], [a, c, b], [b, c, a]];
        let terms = orders.map(|[one, other, added]| side.fma(one, other, added));
        let (mut classes, mut steps) = (Classes::default(), 0);
        let [kept, swapped, moved, other] = terms.map(|term| classes.of(&side.store, term, &mut steps));
        assert_eq!(kept, swapped);
        assert!(kept != moved && kept != other && moved != other);
    }

    #[test]
    fn operations_and_constants_are_kept() {
        let mut side = Side::new();
        let (x, y, two, three) = (side.x(0), side.y(0), side.int(2), side.int(3));
        let [double, triple] = [two, three].map(|by| side.mul(x, by));
        let [sum, difference] = [TermOp::Add, TermOp::Sub].map(|op| side.op(op, &[x, two]));
        let other = side.mul(y, two);
        for (a, b) in [(double, triple), (sum, difference), (double, sum), (double, other), (x, y), (x, two)]
        {
            assert!(!renamed((&side, [a, a]), (&side, [b, b])));
        }
    }
}
