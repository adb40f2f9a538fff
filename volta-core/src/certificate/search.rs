//! The search of proofs: pairs of terms at which to cut, found by values at some points, and cases.
//!
//! Nothing rests on it: the checker replays what is found.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use volta_certificate::{Certificate, Checker, Class, Failure, Laws, Node, Number, Op, Operand, Step};

/// The steps of one attempt.
const STEPS: u64 = 1 << 21;
/// The steps of an attempt without cuts at a pair of terms.
const LONG_STEPS: u64 = 1 << 20;
/// An attempt takes no more steps for each term that it has to look at; at a pair of terms, fewer.
const STEPS_A_TERM: u64 = 1 << 11;
const STEPS_A_TERM_OF_A_PAIR: u64 = 1 << 9;
/// Most that succeed take fewer than these. After attempts at pairs that failed have taken so many steps for each term of
/// the certificate, others may take no more; after twice as many, there are none. Nor is there another element after
/// attempts at elements that failed have.
const FEW_STEPS_A_TERM: u64 = 16;
const MAX_LOST_A_TERM: u64 = 64;
/// For short proofs, so many are more.
const FIRST_STEPS: u64 = 1 << 12;
/// No case of a proof is split off by more comparisons; and so many attempts are made for each of these.
const MAX_SPLITS: usize = 12;
const ATTEMPTS_A_SPLIT: usize = 4;
/// Terms of fewer operations are not cut at.
const MIN_SIZE: u32 = 4;
/// Terms are evaluated at so many points, and seem equal if they differ by no more than this part of their values.
const POINTS: usize = 12;
const NEAR: f64 = 1e-9;

type Values = [f64; POINTS];

/// The search of the proofs of one certificate, under the same readings.
pub(super) struct Search<'t> {
    checker: Checker,
    laws: &'t Laws,
    /// Whether literals are read.
    reads: bool,
    /// Whether attempts are short.
    is_brief: bool,
    /// Whether the elements of each input are whole.
    whole: Vec<bool>,
    terms: Vec<Term>,
    /// For each side, the terms at which proofs can cut, with the term of the reference that stands for them.
    of: [HashMap<u32, u32>; 2],
    proved: BTreeSet<[u32; 2]>,
    failed: BTreeSet<[u32; 2]>,
    /// The steps of attempts that failed: at elements, and at pairs of terms.
    lost: [u64; 2],
    /// The steps that are left.
    pub(super) left: u64,
}

/// What the search knows of a term.
struct Term {
    values: Values,
    /// Its operations, those of shared terms counted each time, up to a limit.
    size: u32,
    /// Whether it is a polynomial of inputs.
    is_polynomial: bool,
    /// A number for what a maximum is of, in any order; for any other term, for its value.
    leaves: u64,
}

impl<'t> Search<'t> {
    /// A search that takes at most so many steps. Whether it reads literals, and whether attempts are short.
    pub(super) fn new(laws: &'t Laws, reads: [bool; 2], whole: &[bool], left: u64) -> Search<'t> {
        let [reads, is_brief] = reads;
        Search {
            checker: Checker::default(),
            laws,
            reads,
            is_brief,
            whole: whole.to_vec(),
            terms: Vec::new(),
            of: Default::default(),
            proved: BTreeSet::new(),
            failed: BTreeSet::new(),
            lost: [0; 2],
            left,
        }
    }

    /// Proves a pair of terms for some elements, and adds the proof with those of the pairs that it cuts at.
    ///
    /// # Errors
    /// Why no proof was found.
    pub(super) fn class(
        &mut self,
        certificate: &mut Certificate,
        name: &str,
        elements: u64,
        roots: [u32; 2],
    ) -> Result<(), String> {
        self.evaluate(certificate);
        for pair in self.candidates(&certificate.nodes, roots) {
            if self.proved.contains(&pair) || self.failed.contains(&pair) || self.left == 0 {
                continue;
            }
            let class = unproved("lemma", 0, pair, self.reads);
            match self.prove(certificate, class, 0) {
                Ok(class) => {
                    let [reference, opt] = pair;
                    self.of[0].insert(reference, reference);
                    self.of[1].insert(opt, reference);
                    if self.checker.is_total(pair) {
                        self.of[0].entry(opt).or_insert(reference);
                        self.of[1].entry(reference).or_insert(reference);
                    }
                    self.proved.insert(pair);
                    certificate.classes.push(class);
                }
                Err(_) => {
                    self.failed.insert(pair);
                }
            }
        }
        let class = unproved(name, elements, roots, self.reads);
        let class = self.prove(certificate, class, MAX_SPLITS)?;
        certificate.classes.push(class);
        Ok(())
    }

    /// Tries to cut at all pairs, at polynomials alone, and at none.
    fn prove(&mut self, certificate: &Certificate, mut class: Class, splits: usize) -> Result<Class, String> {
        let mut why = "all steps of the certificate are used up".to_string();
        // What hides too little takes long, and often fails: not for pairs at which there need be no cut.
        let is_lemma = class.elements == 0;
        let nodes = certificate.nodes.len() as u64;
        let lost = self.lost[usize::from(is_lemma)] / (16 * FIRST_STEPS + MAX_LOST_A_TERM * nodes);
        let mut last = None;
        for only in [|_: &Term| true, |term: &Term| term.is_polynomial, |_: &Term| false] {
            let cuts = self.cuts(&certificate.nodes, class.roots, only);
            if last.as_ref() == Some(&cuts) {
                continue;
            }
            class.cuts.clone_from(&cuts);
            if lost > 1 || lost > 0 && is_lemma && last.is_some() {
                break;
            }
            let hidden: BTreeSet<u32> = cuts.iter().flatten().copied().collect();
            let stops = |at: u32| hidden.contains(&at);
            let terms: usize =
                class.roots.iter().map(|root| cone(&certificate.nodes, *root, stops).len()).sum();
            let a_term = match is_lemma {
                _ if self.is_brief => FEW_STEPS_A_TERM,
                true if lost > 0 => FEW_STEPS_A_TERM,
                true => STEPS_A_TERM_OF_A_PAIR,
                false => STEPS_A_TERM,
            };
            let most = FIRST_STEPS + a_term * terms as u64;
            let most = most.min(if cuts.is_empty() { LONG_STEPS } else { STEPS }).min(self.left);
            if most == 0 {
                break;
            }
            let mut steps = most;
            let found =
                by_cases(&mut self.checker, certificate, class.clone(), self.laws, &mut steps, splits);
            self.left -= most - steps;
            match found {
                Ok((mut class, used)) => {
                    class.laws = used.iter().map(|law| law.to_string()).collect();
                    return Ok(class);
                }
                Err((_, failure)) => {
                    self.lost[usize::from(is_lemma)] += most - steps;
                    why = failure.why;
                }
            }
            last = Some(cuts);
        }
        Err(why)
    }

    /// The pairs at which a proof can cut: those that both sides reach without reaching a term of another one before.
    fn cuts(&self, nodes: &[Node], roots: [u32; 2], only: fn(&Term) -> bool) -> Vec<[u32; 2]> {
        let mut unusable: BTreeSet<u32> = BTreeSet::new();
        loop {
            let reached = [0, 1].map(|side| {
                let mut found: BTreeMap<u32, u32> = BTreeMap::new();
                let stops = |at: u32| match self.of[side].get(&at) {
                    Some(cut)
                        if !roots.contains(&at)
                            && !unusable.contains(cut)
                            && only(&self.terms[*cut as usize]) =>
                    {
                        found.insert(at, *cut);
                        true
                    }
                    _ => false,
                };
                cone(nodes, roots[side], stops);
                found
            });
            let [first, second] =
                reached.each_ref().map(|found| found.values().copied().collect::<BTreeSet<_>>());
            if first == second {
                let pairs: BTreeSet<[u32; 2]> =
                    reached.iter().flatten().map(|(at, cut)| [*cut, *at]).collect();
                return pairs.into_iter().filter(|pair| self.proved.contains(pair)).collect();
            }
            unusable.extend(first.symmetric_difference(&second));
        }
    }

    /// Pairs of terms that seem equal, and at which it may help to cut, by ascending terms.
    fn candidates(&self, nodes: &[Node], roots: [u32; 2]) -> Vec<[u32; 2]> {
        let [reference, opt] =
            [0, 1].map(|side| cone(nodes, roots[side], |at| self.of[side].contains_key(&at)));
        let mut uses: HashMap<u32, u32> = HashMap::new();
        for at in reference.iter().chain(&opt).collect::<BTreeSet<_>>() {
            let Node::Apply(op, operands) = &nodes[*at as usize] else { continue };
            for (place, operand) in operands[..op.arity()].iter().enumerate() {
                let adds = matches!(op, Op::Add | Op::Sub | Op::Neg) || (*op == Op::Fma && place == 2);
                // An exponent is taken apart by laws: alone, it is better not hidden.
                *uses.entry(*operand).or_default() += if adds || *op == Op::Exp2 { 1 } else { 2 };
            }
        }
        let wanted = |at: &u32| {
            let Node::Apply(op, _) = &nodes[*at as usize] else { return false };
            let is_condition =
                matches!(op, Op::Less | Op::LessEqual | Op::Equal | Op::Not | Op::And | Op::Or | Op::Xor);
            let cut = !is_condition && !matches!(op, Op::Neg | Op::Exp2);
            cut && self.terms[*at as usize].size >= MIN_SIZE && uses.get(at).is_some_and(|uses| *uses > 1)
        };
        let value = |at: &u32| self.terms[*at as usize].values;
        let mut known: Vec<(f64, u32)> =
            reference.iter().map(|at| (value(at)[0], *at)).filter(|(value, _)| value.is_finite()).collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let leaves = |at: u32| self.terms[at as usize].leaves;
        let equal = |at: u32| -> Vec<u32> {
            let own = value(&at);
            let least = own[0] - own[0].abs() * NEAR;
            let from = known.partition_point(|(value, _)| *value < least);
            let near = known[from..].iter().take_while(|(value, _)| *value <= own[0] + own[0].abs() * NEAR);
            let extreme = |at: u32| matches!(nodes[at as usize], Node::Apply(Op::Max | Op::Min, _));
            let is_equal = |other: &u32| {
                let pairs = own.iter().zip(value(other));
                // A maximum is often reached before all of it is.
                let leaves = !extreme(at) || !extreme(*other) || leaves(at) == leaves(*other);
                leaves
                    && matches!(nodes[*other as usize], Node::Apply(..))
                    && pairs.into_iter().all(|(a, b)| a.abs() > NEAR && (a - b).abs() <= a.abs() * NEAR)
            };
            near.map(|(_, other)| *other).filter(is_equal).collect()
        };
        let mut found: Vec<[u32; 2]> = Vec::new();
        let mut chosen: BTreeSet<u32> = self.of[0].values().copied().collect();
        for at in opt.iter().filter(|at| wanted(at) && !self.of[1].contains_key(at)) {
            let equal = equal(*at);
            // Of several, one that others are equal to, the same one, or the last.
            let partner = equal.iter().find(|other| chosen.contains(other));
            let partner = partner.or_else(|| equal.iter().find(|other| *other == at)).or(equal.last());
            chosen.extend(partner);
            found.extend(partner.map(|other| [*other, *at]));
        }
        for at in reference.iter().filter(|at| wanted(at) && !self.of[0].contains_key(at)) {
            let equal = equal(*at);
            let partner = equal.iter().find(|other| chosen.contains(other));
            found.extend(partner.filter(|other| *other != at).map(|other| [*other, *at]));
        }
        found.retain(|pair| *pair != roots);
        found.sort_by_key(|pair| pair[0].max(pair[1]));
        found
    }

    fn evaluate(&mut self, certificate: &Certificate) {
        for at in self.terms.len()..certificate.nodes.len() {
            let node = &certificate.nodes[at];
            let term = match node {
                Node::Input(input, element) => {
                    let signs =
                        certificate.inputs.get(*input as usize).map_or([true; 3], |input| input.signs);
                    let whole = self.whole.get(*input as usize).is_some_and(|whole| *whole);
                    let values = std::array::from_fn(|point| sample(*input, *element, point, signs, whole));
                    Term { values, size: 0, is_polynomial: true, leaves: 0 }
                }
                Node::Number(number) => Term {
                    values: [number.rational().to_f64(); POINTS],
                    size: 0,
                    is_polynomial: true,
                    leaves: 0,
                },
                Node::Literal(_, number) => {
                    let value = number.rational().to_f64();
                    let value = if self.reads { read(value) } else { value };
                    Term { values: [value; POINTS], size: 0, is_polynomial: true, leaves: 0 }
                }
                Node::Infinity(negative) => {
                    let value = if *negative { f64::NEG_INFINITY } else { f64::INFINITY };
                    Term { values: [value; POINTS], size: 0, is_polynomial: false, leaves: 0 }
                }
                Node::Apply(op, operands) => {
                    let of = operands.map(|at| &self.terms[at as usize]);
                    let own = &of[..op.arity()];
                    let values = std::array::from_fn(|point| applied(*op, of.map(|term| term.values[point])));
                    let size = own.iter().fold(1_u32, |sum, term| sum.saturating_add(term.size));
                    let is_sum = matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Fma | Op::Neg);
                    let is_polynomial = is_sum && own.iter().all(|term| term.is_polynomial);
                    // An infinity is where a running maximum begins.
                    let finite = own.iter().filter(|term| term.values[0].is_finite());
                    let leaves = finite.fold(0_u64, |sum, term| sum.wrapping_add(term.leaves));
                    let leaves = if matches!(op, Op::Max | Op::Min) { leaves } else { 0 };
                    Term { values, size, is_polynomial, leaves }
                }
            };
            let own = format!("{:.6e}", term.values[0]);
            let own = own.bytes().fold(0, |hash, byte| mixed(hash ^ u64::from(byte)));
            let leaves = if term.leaves == 0 { own } else { term.leaves };
            self.terms.push(Term { leaves, ..term });
        }
    }
}

/// A class, with no proof yet but that the forms are equal.
pub(super) fn unproved(name: &str, elements: u64, roots: [u32; 2], reads: bool) -> Class {
    let name = name.to_string();
    Class { name, elements, roots, laws: Vec::new(), reads, cuts: Vec::new(), step: Step::Equal }
}

/// A class without a proof.
pub(super) fn open(name: &str, elements: u64, roots: [u32; 2], why: String) -> Class {
    Class { step: Step::Open(why), ..unproved(name, elements, roots, false) }
}

/// Searches the cases of a proof, up to a number of splits. All attempts together take at most `steps`, which are
/// subtracted.
///
/// # Errors
/// The cases before any is split by the other order of two numbers, and the first of them that is not proved.
pub(super) fn by_cases(
    checker: &mut Checker,
    certificate: &Certificate,
    mut class: Class,
    laws: &Laws,
    steps: &mut u64,
    splits: usize,
) -> Result<(Class, Laws), (Class, Failure)> {
    // The cases that are split by the other order of two numbers: where these are equal, it is the other case in which
    // they are.
    let mut turned: BTreeSet<Vec<bool>> = BTreeSet::new();
    let mut attempts = ATTEMPTS_A_SPLIT * splits;
    let mut first = None;
    loop {
        let failure = match checker.prove(certificate, &class, laws, steps) {
            Ok(used) => return Ok((class, used)),
            Err(failure) => failure,
        };
        if attempts == 0 || *steps == 0 {
            return Err(first.unwrap_or((class, failure)));
        }
        attempts -= 1;
        let comparisons = failure.hint.and_then(|at| compared(certificate.nodes.get(at as usize)?));
        let mut done: Vec<[Operand; 2]> = Vec::new();
        let found = at_case(&mut class.step, &failure.case, &mut done);
        let new = comparisons.into_iter().flatten().find(|pair| !done.contains(pair));
        if let (Some([low, high]), true) = (new, done.len() < splits) {
            *found = Step::Split(low, high, Box::new([Step::Equal, Step::Equal]));
            continue;
        }
        // Not those that were compared in both orders.
        let one_order = |length: &usize| {
            let [low, high] = &done[*length];
            !done.contains(&[high.clone(), low.clone()])
        };
        let mut cases = (0..done.len()).rev().filter(one_order).map(|length| &failure.case[..length]);
        let Some(case) = cases.find(|case| !turned.contains(*case)) else {
            return Err(first.unwrap_or((class, failure)));
        };
        if first.is_none() {
            first = Some((class.clone(), failure.clone()));
        }
        turned.retain(|other| !other.starts_with(case));
        turned.insert(case.to_vec());
        let found = at_case(&mut class.step, case, &mut Vec::new());
        if let Step::Split(low, high, _) = found {
            *found = Step::Split(high.clone(), low.clone(), Box::new([Step::Equal, Step::Equal]));
        }
    }
}

/// A case of a proof, with the comparisons by which it is split off.
fn at_case<'s>(step: &'s mut Step, case: &[bool], done: &mut Vec<[Operand; 2]>) -> &'s mut Step {
    match (step, case) {
        (Step::Split(low, high, arms), [second, rest @ ..]) => {
            done.push([low.clone(), high.clone()]);
            at_case(&mut arms[usize::from(*second)], rest, done)
        }
        (step, _) => step,
    }
}

/// The comparisons that decide a term, in both orders.
fn compared(node: &Node) -> Option<Vec<[Operand; 2]>> {
    let Node::Apply(op, [a, b, _]) = node else { return None };
    let a = Operand::Term(*a);
    let others = if *op == Op::Saturate {
        vec![Operand::Number(Number::ZERO), Operand::Number(Number::ONE)]
    } else if *op == Op::Abs {
        vec![Operand::Number(Number::ZERO)]
    } else {
        vec![Operand::Term(*b)]
    };
    let orders = |other: Operand| [[a.clone(), other.clone()], [other, a.clone()]];
    Some(others.into_iter().flat_map(orders).collect())
}

/// The terms below one, in ascending order, and none below those at which to stop.
fn cone(nodes: &[Node], root: u32, mut stops: impl FnMut(u32) -> bool) -> Vec<u32> {
    let mut seen = BTreeSet::new();
    let mut stack = vec![root];
    while let Some(at) = stack.pop() {
        if seen.insert(at)
            && !stops(at)
            && let Node::Apply(op, operands) = &nodes[at as usize]
        {
            stack.extend(&operands[..op.arity()]);
        }
    }
    seen.into_iter().collect()
}

/// Whether a literal seems to be one that is read.
pub(super) fn is_read(node: &Node) -> bool {
    let Node::Literal(_, number) = node else { return false };
    let value = number.rational().to_f64();
    value != 0.0 && read(value) != value
}

/// What a literal seems to be read as: the constant that it is nearest to, up to a power of two.
fn read(value: f64) -> f64 {
    let near = |of: f64| {
        let power = (value.abs() / of).log2().round().exp2() * value.signum() * of;
        ((value / power - 1.0).abs() < 1e-7).then_some(power)
    };
    // What log₂ e has more than its nearest float is read as 0 beside it.
    let rest = near(338_819.0 / 17_592_186_044_416.0).map(|_| 0.0);
    rest.or_else(|| near(std::f64::consts::LOG2_E)).or_else(|| near(std::f64::consts::LN_2)).unwrap_or(value)
}

/// A number that looks like any other.
fn mixed(mut bits: u64) -> u64 {
    for factor in [0x9E37_79B9_7F4A_7C15_u64, 0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB] {
        bits = (bits ^ (bits >> 29)).wrapping_add(1).wrapping_mul(factor);
    }
    bits ^ (bits >> 32)
}

/// The value of an element of an input at a point.
fn sample(input: u32, element: u64, point: usize, signs: [bool; 3], whole: bool) -> f64 {
    let bits = mixed((element << 24) ^ (u64::from(input) << 8) ^ point as u64);
    let part = (bits >> 12) as f64 / (1_u64 << 52) as f64;
    let size = if whole { (part * 8.0).floor() } else { 0.25 + part };
    let negative = signs[0] && (!signs[2] || bits & 1 == 1);
    if negative { -size } else { size }
}

/// The value of an operation; of a rare function, of another one that is as good to tell terms apart.
fn applied(op: Op, [a, b, c]: [f64; 3]) -> f64 {
    let truth = |holds: bool| f64::from(u8::from(holds));
    let as_bits = |a: f64, b: f64| (a as i64 & b as i64) as f64;
    match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Fma => a * b + c,
        Op::Div => a / b,
        Op::Neg => -a,
        Op::Abs => a.abs(),
        Op::Max => a.max(b),
        Op::Min => a.min(b),
        Op::Saturate => a.clamp(0.0, 1.0),
        Op::Exp2 => a.exp2(),
        Op::Log2 => a.log2(),
        Op::Sqrt => a.sqrt(),
        Op::Rsqrt => a.sqrt().recip(),
        Op::Sin => a.sin(),
        Op::Cos => a.cos(),
        Op::Tanh => a.tanh(),
        Op::Floor => a.floor(),
        Op::Ceil => a.ceil(),
        Op::Trunc => a.trunc(),
        Op::RoundEven => a.round_ties_even(),
        Op::Less => truth(a < b),
        Op::LessEqual => truth(a <= b),
        Op::Equal => truth(a == b),
        Op::Not => 1.0 - a,
        Op::And => a * b,
        Op::Or => a.max(b),
        Op::Xor => truth(a != b),
        Op::Select => {
            if a == 0.0 {
                c
            } else {
                b
            }
        }
        Op::Mod => a.rem_euclid(b),
        Op::BitAnd => as_bits(a, b),
        Op::Cbrt => a.cbrt(),
        Op::Erf => (1.1 * a).tanh(),
        Op::Atan => a.atan(),
        Op::BesselJ0 => (0.7 * a).cos(),
        Op::BesselJ1 => (0.7 * a).sin(),
        Op::Gamma => (a + 0.3).recip(),
        Op::BesselY0 => (a + 0.2).ln(),
        Op::BesselY1 => (a + 0.1).ln(),
    }
}
