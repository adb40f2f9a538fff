//! One pass over a store before anything is proved: use counts, which terms may be infinite, which are partial.

use super::constant_readings::{Encoded, Irrational, IrrationalLiteral, Role, folded, read_all};
use crate::base::lane::{Lane, LaneMask};
use crate::number::value::{Demand, LimitAtInfinity};
use crate::number::{Extended, Rational};
use crate::term::{
    Constant, ConstantId, Kind, Lanes, NodeId, NodeParts, Piecewise, Product, Reached, Store, Sum, TermId,
    TermKind, TermOp, whole_node,
};

/// The term may be −∞.
pub(super) const NEGATIVE_INFINITE: u8 = 1;
/// The term may be +∞.
pub(super) const POSITIVE_INFINITE: u8 = 2;
/// An infinity may have made the term undefined (V3).
pub(super) const UNDEFINED: u8 = 4;
/// A partial operation (V8) is below the term, or is the term.
pub(super) const PARTIAL: u8 = 8;
/// A choice is below the term, or is the term: an undefined arm may never be taken.
pub(super) const CHOICE: u8 = 16;
/// The term may be infinite, or undefined by an infinity.
pub(super) const INFINITE: u8 = NEGATIVE_INFINITE | POSITIVE_INFINITE | UNDEFINED;

/// Facts about the terms of a store. Everything is an over-approximation except the constants.
#[derive(Debug)]
pub struct Analysis {
    /// The terms that facts are known of; asking about any other panics.
    reached: Reached,
    /// For each node, the index in the lists where the entries of its reached lanes begin.
    starts: Vec<u32>,
    /// For each reached term, how many operands name it in the whole store, saturating at 255: a term that many use
    /// is better kept opaque, even if the roots use it once.
    uses: Vec<u8>,
    /// For each reached term, the flags above; empty when no term of the store has any.
    flags: Vec<u8>,
    /// For each node, the inputs that some reached lane of it depends on, as bits; the last bit is for all further ones.
    inputs: Vec<u32>,
    constant_flags: Vec<u8>,
    readings: Vec<Option<(Rational, IrrationalLiteral)>>,
}

/// The bit of an input.
fn input_bit(input: usize) -> u32 {
    1 << input.min(31)
}

impl Analysis {
    /// Memory of the analysis in bytes.
    pub fn bytes(&self) -> u64 {
        let words = self.starts.capacity() + self.inputs.capacity();
        let readings = self.readings.capacity() * size_of::<Option<(Rational, IrrationalLiteral)>>();
        (4 * words + self.uses.capacity() + self.flags.capacity() + self.constant_flags.capacity() + readings)
            as u64
            + self.reached.bytes()
    }

    /// Analyses the terms from which `roots` are computed, and `roots` themselves; no others may be asked about.
    ///
    /// # Cost
    /// That of [`Reached`], and a few nanoseconds for each reached term.
    pub fn new(store: &Store, roots: &[TermId]) -> Analysis {
        Analysis::of_reached(store, Reached::new(store, roots))
    }

    /// Analyses a store of which nearly all is computed from `roots`: all of it, if every node has a single lane,
    /// since that is quicker than to search for what is not reached.
    pub fn of_most(store: &Store, roots: &[TermId]) -> Analysis {
        let alone = (0..store.len()).all(|at| store.mask(at).only().is_some());
        if alone { Analysis::of_all(store) } else { Analysis::new(store, roots) }
    }

    /// Analyses a store that holds a part of the terms of another and all of its constants: literals are read as in
    /// `whole`.
    pub fn of_part(store: &Store, roots: &[TermId], whole: &Analysis) -> Analysis {
        Analysis { readings: whole.readings.clone(), ..Analysis::new(store, roots) }
    }

    /// Whether rule V9 may read a term as another number than its bits encode: true of some constants only.
    pub fn is_read(&self, term: TermId) -> bool {
        match term.kind() {
            TermKind::Constant(id) => self.reading(id).is_some(),
            TermKind::Lane(..) | TermKind::Input { .. } => false,
        }
    }

    /// Whether a term may be an infinity, or be undefined because of an infinity.
    pub fn may_be_infinite(&self, term: TermId) -> bool {
        self.flags(term) & INFINITE != 0
    }

    /// Whether a term is known to have a finite value at every input.
    pub fn is_total(&self, term: TermId) -> bool {
        self.flags(term) & (INFINITE | PARTIAL) == 0
    }

    /// Whether a choice is below a term, or the term is one.
    pub fn has_choices(&self, term: TermId) -> bool {
        self.flags(term) & CHOICE != 0
    }

    /// The constants that are read as log₂ e in exponents, and as ln 2 beside logarithms.
    pub fn natural(&self) -> Option<[ConstantId; 2]> {
        let whole = |role| matches!(role, Role::Whole(Irrational::Log2E) | Role::High(Irrational::Log2E));
        let reciprocal = |role| matches!(role, Role::Reciprocal(Irrational::Log2E));
        Some([self.first_read(whole)?, self.first_read(reciprocal)?])
    }

    /// The first constant that is exactly a literal of the given role, not a multiple of one.
    fn first_read(&self, fits: fn(Role) -> bool) -> Option<ConstantId> {
        let fits = |reading: &Option<(Rational, IrrationalLiteral)>| {
            reading.as_ref().is_some_and(|(factor, literal)| {
                let is_folded = matches!(literal, IrrationalLiteral::Folded { .. });
                factor.is_one() && !is_folded && fits(literal.role())
            })
        };
        self.readings.iter().position(fits).map(ConstantId::from_index)
    }

    /// Whether a term is a literal that is read as a multiple of ln 2 beside logarithms.
    pub fn is_natural_reciprocal(&self, term: TermId) -> bool {
        match term.kind() {
            TermKind::Constant(id) => {
                let role = self.reading(id).map(|(_, literal)| literal.role());
                role == Some(Role::Reciprocal(Irrational::Log2E))
            }
            TermKind::Lane(..) | TermKind::Input { .. } => false,
        }
    }

    /// Analyses a whole store.
    pub(super) fn of_all(store: &Store) -> Analysis {
        Analysis::of_reached(store, Reached::all(store))
    }

    fn of_reached(store: &Store, reached: Reached) -> Analysis {
        let readings = read_all(constants_that_matter(store));
        let constants = constants_of(store);
        let constant_flags: Vec<u8> = constants
            .clone()
            .map(|constant| match constant.exact {
                Extended::Finite(_) => 0,
                Extended::PosInf => POSITIVE_INFINITE,
                Extended::NegInf => NEGATIVE_INFINITE,
            })
            .collect();
        let flagged = store.may_be_undefined();
        let mut starts = vec![0; store.len()];
        let mut terms = 0;
        let mut next = reached.first_from(0);
        while let Some(at) = next {
            assert!(terms <= u64::from(u32::MAX), "proofs reach fewer terms");
            starts[at] = terms as u32;
            terms += u64::from(reached.lanes(at).count());
            next = reached.first_from(at + 1);
        }
        let terms = terms as usize;
        let (uses, flags) = (vec![0; terms], vec![0; if flagged { terms } else { 0 }]);
        let inputs = vec![0; store.len()];
        let mut analysis = Analysis { reached, starts, uses, flags, inputs, constant_flags, readings };
        analysis.count_uses(store);
        let mut next = analysis.reached.first_from(0);
        while let Some(at) = next {
            analysis.visit(store, at);
            next = analysis.reached.first_from(at + 1);
        }
        analysis
    }

    /// Reads literals of this store that are the product of a scale of the other kernel and log₂ e (V9).
    pub fn read_scales(&mut self, store: &Store, others: &[&Store]) {
        let is_whole = |(_, literal): &(Rational, IrrationalLiteral)| {
            matches!(literal.role(), Role::Whole(Irrational::Log2E) | Role::High(Irrational::Log2E))
        };
        if self.readings.iter().flatten().any(is_whole) {
            return;
        }
        let products = folded(
            constants_that_matter(store).flatten(),
            others.iter().flat_map(|other| constants_that_matter(other).flatten()),
        );
        if products.is_empty() {
            return;
        }
        for (reading, constant) in self.readings.iter_mut().zip(constants_of(store)) {
            let Some((format, bits)) = constant.literal.filter(|_| reading.is_none()) else { continue };
            let sign = 1 << (8 * format.bytes() - 1);
            let product: Encoded = (format, bits & !sign);
            if let Some(scale) = products.get(&product) {
                let sign = if bits & sign == 0 { Rational::ONE } else { Rational::MINUS_ONE };
                *reading = Some((sign, IrrationalLiteral::Folded { product, scale: *scale }));
            }
        }
    }

    /// How many operands name a term; inputs and constants count as used once.
    pub(super) fn uses(&self, term: TermId) -> u8 {
        match term.kind() {
            TermKind::Lane(node, lane) => self.uses[self.entry(node.index(), lane)],
            TermKind::Input { .. } | TermKind::Constant(_) => 1,
        }
    }

    /// The reached terms of some operations.
    pub(super) fn terms_of(&self, store: &Store, ops: &[TermOp]) -> Vec<TermId> {
        let mut found = Vec::new();
        let mut next = self.reached.first_from(0);
        while let Some(at) = next {
            if ops.contains(&store.node_ref(at).op()) {
                let node = NodeId::from_index(at);
                found.extend(self.reached.lanes(at).iter().map(|lane| TermId::lane(node, lane)));
            }
            next = self.reached.first_from(at + 1);
        }
        found
    }

    /// The flags of a term.
    pub(super) fn flags(&self, term: TermId) -> u8 {
        match term.kind() {
            TermKind::Lane(node, lane) => {
                let entry = self.entry(node.index(), lane);
                self.flags.get(entry).copied().unwrap_or(0)
            }
            TermKind::Constant(id) => self.constant_flags[id.index()],
            TermKind::Input { .. } => 0,
        }
    }

    /// The inputs that a term may depend on, as bits; the last is for all from the 32nd on.
    pub(super) fn inputs(&self, term: TermId) -> u32 {
        match term.kind() {
            TermKind::Lane(node, lane) => {
                self.entry(node.index(), lane);
                self.inputs[node.index()]
            }
            TermKind::Constant(_) => 0,
            TermKind::Input { input, .. } => input_bit(input.index()),
        }
    }

    /// How rule V9 reads a constant.
    pub(crate) fn reading(&self, id: ConstantId) -> Option<&(Rational, IrrationalLiteral)> {
        self.readings[id.index()].as_ref()
    }

    /// The index of a term's entries in the lists.
    ///
    /// # Panics
    /// If the term is not reached: the entry of another term must not be read in its place.
    fn entry(&self, node: usize, lane: Lane) -> usize {
        let lanes = self.reached.lanes(node);
        assert!(lanes.contains(lane), "analysis of a term that no root is computed from");
        self.starts[node] as usize + lanes.rank(lane)
    }

    /// Counts how often each reached term is used.
    fn count_uses(&mut self, store: &Store) {
        for at in 0..store.len() {
            let node = store.node_ref(at);
            let (mask, lanes) = (node.mask(), node.mask().count());
            for which in 0..node.op().arity() {
                self.count_operand(node.operand(which), mask, lanes);
            }
        }
    }

    /// Counts one use of the operand's term by each of the `lanes` lanes of `mask`. Most operands are not reached.
    #[inline(always)] // As it decides how much of an operand is read at all.
    fn count_operand(&mut self, own: Lanes<'_>, mask: LaneMask, lanes: u32) {
        match own {
            Lanes::Affine { base, stride: 0 } => self.count(TermId::from_raw(base), lanes),
            Lanes::Affine { base, stride } => {
                if let Some(used) = whole_node(own) {
                    self.count_lanes(used, mask);
                } else if self.reaches_between(ends_of_strided(base, stride, mask)) {
                    mask.iter().for_each(|lane| self.count(own.term(lane, mask), 1));
                }
            }
            Lanes::Strides { base, motion } => {
                if self.reaches_between(motion.min_max(base).map(TermId::from_raw)) {
                    // Lanes that differ only in bits with stride 0 have the same term.
                    let steps = &motion.steps;
                    let moving = (0..5).fold(0, |bits, bit| bits | u32::from(steps[bit] != 0) << bit);
                    let each = Lane::all().filter(|lane| lane.number() & !moving == 0);
                    each.for_each(|lane| self.count(own.term(lane, mask), 32 >> moving.count_ones()));
                }
            }
            Lanes::Repeated { list, .. } => {
                list.iter().for_each(|raw| self.count(TermId::from_raw(*raw), 32 / list.len() as u32));
            }
            Lanes::List(list) => list.iter().for_each(|raw| self.count(TermId::from_raw(*raw), 1)),
        }
    }

    /// Adds uses by `lanes` lanes to the count of a term.
    #[inline]
    fn count(&mut self, term: TermId, lanes: u32) {
        let TermKind::Lane(node, lane) = term.kind() else { return };
        if !self.reached.has(node.index()) {
            return;
        }
        let reached = self.reached.lanes(node.index());
        if reached.contains(lane) {
            let uses = &mut self.uses[self.starts[node.index()] as usize + reached.rank(lane)];
            *uses = uses.saturating_add(lanes as u8);
        }
    }

    /// Adds one use to each reached lane of `node` that is in `lanes`.
    #[inline]
    fn count_lanes(&mut self, node: usize, lanes: LaneMask) {
        if !self.reached.has(node) {
            return;
        }
        let reached = self.reached.lanes(node);
        let uses = &mut self.uses[self.starts[node] as usize..][..reached.count() as usize];
        if reached.is_within(lanes) {
            uses.iter_mut().for_each(|uses| *uses = uses.saturating_add(1));
        } else {
            for (lane, uses) in reached.iter().zip(uses) {
                *uses = uses.saturating_add(lanes.contains(lane).into());
            }
        }
    }

    /// Whether a term between two ends may be reached: an over-approximation, by groups of 64 nodes.
    #[inline]
    fn reaches_between(&self, ends: [TermId; 2]) -> bool {
        match ends.map(TermId::kind) {
            [TermKind::Lane(first, _), TermKind::Lane(last, _)] => {
                let (first, last) = (first.index().min(last.index()), first.index().max(last.index()));
                (first / 64..=last / 64).any(|word| self.reached.has_near(word))
            }
            [TermKind::Input { .. }, TermKind::Input { .. }]
            | [TermKind::Constant(_), TermKind::Constant(_)] => false,
            _ => true,
        }
    }

    /// Computes the facts of a node's reached lanes from those of its operands.
    fn visit(&mut self, store: &Store, at: usize) {
        let lanes = self.reached.lanes(at);
        if self.flags.is_empty() {
            // No term of the store has a flag.
            let node = store.node_ref(at);
            let operands = (0..node.op().arity()).map(|which| node.operand(which));
            self.inputs[at] =
                operands.fold(0, |inputs, own| inputs | self.inputs_of_lanes(own, lanes, node.mask()));
            return;
        }
        let node = store.node(at);
        let own = own_flags(store, &node);
        if lanes.only().is_some() {
            self.visit_lane(&node, at, own);
            return;
        }
        let mut inside = [[0u8; 32]; 3];
        let mut any = own;
        let mut inputs = 0;
        for (operand, flags) in node.operands.iter().zip(&mut inside).take(node.op.arity()) {
            // Lanes of one row of an input have nothing to record.
            if let Some(row) = inputs_of_row(*operand, lanes) {
                inputs |= row;
                continue;
            }
            if let Some(used) = whole_node(*operand)
                && self.reached.lanes(used) == lanes
            {
                inputs |= self.inputs[used];
                for (lane, own) in lanes.iter().zip(&self.flags[self.starts[used] as usize..]) {
                    flags[lane] = *own;
                    any |= own;
                }
                continue;
            }
            // Lanes mostly have the same term as others before them.
            let (mut last, mut last_flags) = (None, 0);
            for lane in lanes {
                let term = operand.term(lane, node.mask);
                if last != Some(term) {
                    inputs |= self.inputs(term);
                    last_flags = self.flags(term);
                    any |= last_flags;
                    last = Some(term);
                }
                flags[lane] = last_flags;
            }
        }
        self.inputs[at] = inputs;
        if any != 0 {
            let start = self.starts[at] as usize;
            // Lanes mostly are like those before them.
            let (mut last, mut result) = ([0; 3], transfer(node.op, 0, 0, 0) | own);
            for (lane, flags) in lanes.iter().zip(&mut self.flags[start..]) {
                let [a, b, c] = [0, 1, 2].map(|operand: usize| inside[operand][lane]);
                if [a, b, c] != last {
                    last = [a, b, c];
                    result = transfer(node.op, a, b, c) | own;
                }
                *flags = result;
            }
        }
    }

    /// The inputs that the lanes of an operand depend on, of a node with the lanes of `mask`.
    #[inline(always)] // As it decides how much of an operand is read at all.
    fn inputs_of_lanes(&self, own: Lanes<'_>, lanes: LaneMask, mask: LaneMask) -> u32 {
        if let Lanes::Affine { base, stride: 0 } = own {
            return self.inputs(TermId::from_raw(base));
        }
        if let Some(used) = whole_node(own) {
            return self.inputs[used];
        }
        inputs_of_row(own, lanes).unwrap_or_else(|| {
            lanes.iter().fold(0, |inputs, lane| inputs | self.inputs(own.term(lane, mask)))
        })
    }

    /// Like `visit`, for a node with one reached lane; `own` are the flags of its operation.
    fn visit_lane(&mut self, node: &NodeParts<'_>, at: usize, own: u8) {
        let lane = self.reached.lanes(at).first();
        let mut inside = [0; 3];
        let mut inputs = 0;
        for (operand, flags) in node.operands.iter().zip(&mut inside).take(node.op.arity()) {
            let term = operand.term(lane, node.mask);
            *flags = self.flags(term);
            inputs |= self.inputs(term);
        }
        self.inputs[at] = inputs;
        if inside != [0; 3] || own != 0 {
            let [a, b, c] = inside;
            self.flags[self.starts[at] as usize] = transfer(node.op, a, b, c) | own;
        }
    }
}

/// The terms in the first and the last of some lanes, for an operand with a stride.
#[inline]
fn ends_of_strided(base: u64, stride: i64, lanes: LaneMask) -> [TermId; 2] {
    let ends = [lanes.first(), lanes.last()];
    ends.map(|lane| TermId::from_raw(base.wrapping_add_signed(stride * i64::from(lane.number()))))
}

/// The inputs that an operand's lanes are elements of, as bits; `None` if a lane is something else.
fn inputs_of_row(operand: Lanes<'_>, lanes: LaneMask) -> Option<u32> {
    let ends = match operand {
        Lanes::Affine { base, stride } => ends_of_strided(base, stride, lanes),
        Lanes::Strides { base, motion } => motion.min_max(base).map(TermId::from_raw),
        Lanes::List(_) | Lanes::Repeated { .. } => return None,
    };
    let [Some(first), Some(last)] = ends.map(input_of) else { return None };
    Some((first.min(last)..=first.max(last)).fold(0, |bits, input| bits | input_bit(input)))
}

/// Whether an operand is one number in all lanes and meets a demand, so that the operation has no obligation (V8).
fn is_number_that_meets(store: &Store, operand: &Lanes<'_>, demand: Demand) -> bool {
    let Lanes::Affine { base, stride: 0 } = *operand else { return false };
    match TermId::from_raw(base).kind() {
        TermKind::Constant(id) => {
            store.constant(id).exact.finite().is_some_and(|value| demand.is_met_by(value))
        }
        TermKind::Input { .. } | TermKind::Lane(..) => false,
    }
}

/// The flags that an operation adds to those of its operands.
fn own_flags(store: &Store, node: &NodeParts<'_>) -> u8 {
    match node.op.info().demand {
        Some((demand, at)) if !is_number_that_meets(store, &node.operands[at], demand) => PARTIAL,
        Some(_) => 0,
        None if node.op == TermOp::Select => CHOICE,
        None => 0,
    }
}

fn constants_of(store: &Store) -> impl Iterator<Item = &Constant> + Clone {
    (0..store.constant_count()).map(|at| store.constant(ConstantId::from_index(at)))
}

/// The constants of a store, `None` for those on which no output depends.
fn constants_that_matter(store: &Store) -> impl Iterator<Item = Option<&Constant>> {
    (0..store.constant_count()).map(|at| {
        let id = ConstantId::from_index(at);
        store.may_matter(id).then(|| store.constant(id))
    })
}

/// The input of which a term is an element.
fn input_of(term: TermId) -> Option<usize> {
    match term.kind() {
        TermKind::Input { input, .. } => Some(input.index()),
        TermKind::Constant(_) | TermKind::Lane(..) => None,
    }
}

fn swap(flags: u8) -> u8 {
    flags & !3 | (flags & 1) << 1 | (flags & 2) >> 1
}

/// The flags of a function's limit at an infinity.
fn flags_at(limit: LimitAtInfinity) -> u8 {
    match limit {
        LimitAtInfinity::PosInf => POSITIVE_INFINITE,
        LimitAtInfinity::NegInf => NEGATIVE_INFINITE,
        LimitAtInfinity::Number(_) => 0,
        LimitAtInfinity::Undefined(_) => UNDEFINED,
    }
}

/// The flags of a result, from those of its operands.
fn transfer(op: TermOp, a: u8, b: u8, c: u8) -> u8 {
    const EITHER: u8 = NEGATIVE_INFINITE | POSITIVE_INFINITE;
    let kept = (a | b | c) & (UNDEFINED | PARTIAL | CHOICE);
    let when = |condition: bool, flags: u8| if condition { flags } else { 0 };
    let infinite = |flags: u8| flags & EITHER != 0;
    let add = |a: u8, b: u8| (a | b) & EITHER | when(a & swap(b) & EITHER != 0, UNDEFINED);
    let multiply = |a: u8, b: u8| when(infinite(a) || infinite(b), EITHER | UNDEFINED);
    let own = match op.kind() {
        Kind::Sum(Sum::Add) => add(a, b),
        Kind::Sum(Sum::Sub) => add(a, swap(b)),
        Kind::Sum(Sum::Fma) => add(multiply(a, b), c) | multiply(a, b) & UNDEFINED,
        Kind::Product(Product::Mul) => multiply(a, b),
        Kind::Product(Product::Div) => when(infinite(a), EITHER | UNDEFINED),
        Kind::Product(Product::Neg) => swap(a) & EITHER,
        Kind::Exponential => a & POSITIVE_INFINITE,
        Kind::Function(function) => {
            let [low, high] = function.limits.map(flags_at);
            when(a & NEGATIVE_INFINITE != 0, low) | when(a & POSITIVE_INFINITE != 0, high)
        }
        Kind::Piecewise(Piecewise::Abs) => when(infinite(a), POSITIVE_INFINITE),
        Kind::Piecewise(Piecewise::Max) => (a | b) & POSITIVE_INFINITE | a & b & NEGATIVE_INFINITE,
        Kind::Piecewise(Piecewise::Min) => (a | b) & NEGATIVE_INFINITE | a & b & POSITIVE_INFINITE,
        Kind::Piecewise(Piecewise::Mod) => when(infinite(a), UNDEFINED),
        Kind::Piecewise(Piecewise::CopySign) => when(infinite(b), EITHER),
        Kind::Piecewise(Piecewise::Select) => (b | c) & EITHER,
        Kind::Piecewise(Piecewise::BitAnd) => 0,
        // An infinity may decide it.
        Kind::Condition(_) => (a | b) & EITHER,
        // Never read by the algebra.
        Kind::Ieee => EITHER | UNDEFINED,
    };
    kept | own
}

#[cfg(test)]
mod tests {
    use super::super::translation::tests::{Draw, append, draws};
    use super::*;
    use crate::base::index::InstId;
    use crate::term::View;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// Each term that some roots are computed from.
    fn below(store: &Store, roots: &[TermId]) -> Vec<TermId> {
        let mut found = std::collections::BTreeSet::new();
        let mut stack = roots.to_vec();
        while let Some(term) = stack.pop() {
            if found.insert(term)
                && let View::Apply(op, operands) = store.view(term)
            {
                stack.extend(&operands[..op.arity()]);
            }
        }
        found.into_iter().collect()
    }

    fn check(drawn: &[Draw], infinite: bool, mut store: Store) -> Result<(), TestCaseError> {
        let nodes = append(drawn, &mut store);
        let lane = |(node, mask): (NodeId, LaneMask)| TermId::lane(node, mask.first());
        let mut last = lane(nodes[nodes.len() - 1]);
        if infinite {
            let exact = Extended::NegInf;
            let infinity = store.intern(Constant { exact, literal: None, rounded: None });
            last = store.apply(TermOp::Add, &[last, infinity], InstId(0));
            last = store.apply(TermOp::Log2, &[last], InstId(0));
        }
        let roots = [last, lane(nodes[0])];
        let (some, all) = (Analysis::new(&store, &roots), Analysis::of_all(&store));
        let mut uses: HashMap<TermId, u32> = HashMap::new();
        for at in 0..store.len() {
            for lane in store.mask(at) {
                if let View::Apply(op, operands) = store.view(TermId::lane(NodeId::from_index(at), lane)) {
                    operands[..op.arity()].iter().for_each(|own| *uses.entry(*own).or_default() += 1);
                }
            }
        }
        for term in below(&store, &roots) {
            prop_assert_eq!(some.flags(term), all.flags(term));
            prop_assert_eq!(some.inputs(term) & !all.inputs(term), 0);
            prop_assert_eq!(some.uses(term), all.uses(term));
            if let TermKind::Lane(..) = term.kind() {
                let uses = uses.get(&term).map_or(0, |uses| (*uses).min(255) as u8);
                prop_assert_eq!(some.uses(term), uses);
            }
            for own in below(&store, &[term]) {
                if let TermKind::Input { input, .. } = own.kind() {
                    prop_assert_eq!(some.inputs(term) >> input.0 & 1, 1);
                }
            }
        }
        Ok(())
    }

    proptest! {
        /// The facts about terms below some roots are the facts that an analysis of the whole store finds.
        #[test]
        fn facts_of_some_terms_are_those_of_all(drawn in draws(), infinite: bool) {
            check(&drawn, infinite, Store::new())?;
            check(&drawn, infinite, Store::without_patterns())?;
        }
    }

    #[test]
    #[should_panic(expected = "analysis of a term that no root is computed from")]
    fn nothing_is_told_of_other_terms() {
        let mut store = Store::new();
        let x = TermId::input(crate::term::InputId(0), 0);
        let [one, other] = [TermOp::Neg, TermOp::Abs].map(|op| store.apply(op, &[x], InstId(0)));
        let analysis = Analysis::new(&store, &[one]);
        assert_eq!(analysis.uses(one), 0);
        analysis.uses(other);
    }
}
