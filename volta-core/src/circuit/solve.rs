//! Whether some values of the unknown bits fulfil a condition: a search by clauses, within a budget.

use super::reduce::Reduced;
use super::word::Word;
use super::{Bit, Circuit, Gate};
use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, Var, lbool};
use std::cell::Cell;

/// What a search has found.
#[derive(Clone, Debug)]
pub enum Found {
    /// Values of bits that fulfil the condition.
    Values(Values),
    /// That no values fulfil it.
    Nothing,
    /// Nothing: the budget is used up.
    Open,
}

/// The values of all gates; unknown bits that the condition does not depend on are not set.
#[derive(Clone, Debug)]
pub struct Values(Vec<bool>);

impl Values {
    /// The value of a bit.
    pub fn of(&self, bit: Bit) -> bool {
        self.0.get(bit.gate()).copied().unwrap_or_default() != bit.is_negated()
    }

    /// The value of an integer.
    pub fn of_word(&self, word: &Word) -> i128 {
        let places = word.bits().len().min(127);
        word.bits().iter().take(127).enumerate().fold(0, |value, (at, bit)| match self.of(*bit) {
            true if at + 1 == places => value | -1 << at,
            true => value | 1 << at,
            false => value,
        })
    }
}

/// Ends a search after so many literals in learnt clauses, and decisions.
#[derive(Debug, Default)]
struct Budget {
    most: u64,
    taken: Cell<u64>,
}

impl Callbacks for Budget {
    fn on_new_clause(&mut self, clause: &[Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt {
            self.taken.set(self.taken.get() + clause.len() as u64);
        }
    }

    fn stop(&self) -> bool {
        self.taken.set(self.taken.get() + 1);
        self.taken.get() > self.most
    }
}

/// A search among the gates of a circuit that have been added.
pub(super) struct Search {
    solver: Solver<Budget>,
    variables: Vec<Option<Var>>,
    /// Steps of all searches together: those left.
    left: u64,
    clause: Vec<Lit>,
    /// Whether each bit of a clause had been added before.
    is_whole: bool,
}

impl Search {
    fn new() -> Search {
        let solver = Solver::new(SolverOpts::default(), Budget::default());
        Search { solver, variables: Vec::new(), left: 0, clause: Vec::new(), is_whole: true }
    }

    /// The literal of a bit whose gate has been added.
    fn literal(&self, bit: Bit) -> Option<Lit> {
        let variable = self.variables.get(bit.gate()).copied().flatten()?;
        Some(Lit::new(variable, !bit.is_negated()))
    }

    fn clause(&mut self, literals: &[Option<Lit>]) {
        self.is_whole &= literals.iter().all(Option::is_some);
        self.clause.clear();
        self.clause.extend(literals.iter().copied().flatten());
        self.solver.add_clause_reuse(&mut self.clause);
    }

    /// Adds the gate of a bit, behind those that it reads.
    pub(super) fn add(&mut self, circuit: &Circuit, bit: Bit) {
        let at = bit.gate();
        self.variables.resize(self.variables.len().max(at + 1), None);
        self.variables[at] = Some(self.solver.new_var_default());
        let own = self.literal(Bit(2 * at as u32));
        let not = own.map(|own| !own);
        match circuit.gates[at] {
            Gate::Never => self.clause(&[not]),
            Gate::Unknown => {}
            Gate::And(a, b) => {
                let (a, b) = (self.literal(a), self.literal(b));
                self.clause(&[not, a]);
                self.clause(&[not, b]);
                self.clause(&[own, a.map(|a| !a), b.map(|b| !b)]);
            }
        }
    }

    /// Requires that a bit is set.
    pub(super) fn require(&mut self, bit: Bit) {
        let literal = self.literal(bit);
        self.clause(&[literal]);
    }

    /// Searches with some bits set, for a number of steps.
    fn with(&mut self, bits: &[Bit], steps: u64) -> lbool {
        let assumed: Vec<Lit> = bits.iter().filter_map(|bit| self.literal(*bit)).collect();
        let budget = self.solver.cb_mut();
        budget.most = steps.min(self.left);
        budget.taken.set(0);
        let found = self.solver.solve_limited(&assumed);
        self.left = self.left.saturating_sub(self.solver.cb().taken.get());
        found
    }

    /// Takes steps; whether there are so many left.
    pub(super) fn take(&mut self, steps: u64) -> bool {
        let is_enough = self.left >= steps;
        self.left = self.left.saturating_sub(steps);
        is_enough
    }

    /// Whether two bits are proved to be equal within a number of steps; then they are from here on.
    pub(super) fn proves_equal(&mut self, a: Bit, b: Bit, steps: u64) -> bool {
        let equal = [[a, !b], [!a, b]].iter().all(|differ| self.with(differ, steps) == lbool::FALSE);
        if equal {
            let (a, b) = (self.literal(a), self.literal(b));
            self.clause(&[a.map(|a| !a), b]);
            self.clause(&[a, b.map(|b| !b)]);
        }
        equal
    }
}

/// A search for values of unknown bits that fulfil a condition, which goes on where it ended.
pub struct Solving {
    circuit: Circuit,
    wanted: Bit,
    /// Which gates the condition and the facts depend on.
    is_read: Vec<bool>,
    reduced: Reduced,
    search: Search,
}

impl Solving {
    /// Prepares a search for values at which the facts and one more bit are set. The facts hold at the values of some inputs
    /// in any case.
    pub fn new(mut circuit: Circuit, facts: &[Bit], wanted: Bit) -> Solving {
        let mut is_read = vec![false; circuit.gates.len()];
        is_read[0] = true;
        for bit in facts.iter().chain([&wanted]) {
            is_read[bit.gate()] = true;
        }
        for at in (0..circuit.gates.len()).rev() {
            if let (true, Gate::And(a, b)) = (is_read[at], circuit.gates[at]) {
                is_read[a.gate()] = true;
                is_read[b.gate()] = true;
            }
        }
        circuit.simulate();
        let mut search = Search::new();
        let reduced = Reduced::new(facts, &mut search);
        Solving { circuit, wanted, is_read, reduced, search }
    }

    /// Searches for so many more steps. Returns the steps taken with what was found.
    pub fn go_on(&mut self, steps: u64) -> (Found, u64) {
        let Solving { circuit, wanted, is_read, reduced, search } = self;
        if circuit.is_full || *wanted == Bit::NO {
            return (if circuit.is_full { Found::Open } else { Found::Nothing }, 0);
        }
        search.left = steps;
        if !reduced.go_on(circuit, is_read, search) || !search.is_whole || reduced.is_full() {
            return (Found::Open, steps - search.left);
        }
        let found = match search.with(&[reduced.place(*wanted)], search.left) {
            found if found == lbool::FALSE => Found::Nothing,
            found if found == lbool::TRUE => Found::Values(self.values()),
            _ => Found::Open,
        };
        (found, steps - self.search.left)
    }

    /// The values that were found, of gates that the condition does not depend on as well.
    fn values(&self) -> Values {
        let Solving { circuit, is_read, reduced, search, .. } = self;
        let unknown = |at: usize| {
            let literal = search.literal(reduced.place(Bit(2 * at as u32)));
            literal.is_some_and(|literal| search.solver.value_lit(literal) == lbool::TRUE)
        };
        let mut values = Values(Vec::with_capacity(circuit.gates.len()));
        for (at, gate) in circuit.gates.iter().enumerate() {
            let value = match gate {
                Gate::Never => false,
                Gate::Unknown => is_read[at] && unknown(at),
                Gate::And(a, b) => values.of(*a) && values.of(*b),
            };
            values.0.push(value);
        }
        values
    }
}
