//! The form of each term as it was executed, from the forms of its operands.

use crate::form::{Atom, AtomId, CondId, Forms, Made, Poly, half};
use crate::laws::Law;
use crate::number::Number;
use crate::sign::Signs;
use crate::text::{Node, Op, Operand, Reading};
use std::collections::{HashMap, HashSet};

/// What a term is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Finite(Poly),
    /// `−∞` if true.
    Infinite(bool),
    Condition(CondId),
}

/// For which claim a term is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The reference is defined only where this term is: its demands may be assumed.
    Assumed,
    /// A term of the reference whose value may not count.
    Loose,
    /// A term of the other kernel: its demands must follow.
    Demanded,
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The reference is undefined in this case, or the case is impossible.
    Vacuous,
    Refused(String),
}

impl From<String> for Stop {
    fn from(why: String) -> Stop {
        Stop::Refused(why)
    }
}

impl From<&str> for Stop {
    fn from(why: &str) -> Stop {
        Stop::Refused(why.to_string())
    }
}

/// The forms of one case.
pub(crate) struct Evaluation<'c> {
    nodes: &'c [Node],
    readings: HashMap<&'c Number, (bool, &'c Number)>,
    cuts: [HashMap<u32, u32>; 2],
    /// The form of each cut point in the reference.
    cut_forms: HashMap<u32, Poly>,
    pub(crate) forms: Forms,
    values: HashMap<u32, (Value, Mode)>,
    /// The comparison that a maximum or a condition decides.
    pub(crate) compared: HashMap<AtomId, [Operand; 2]>,
    pub(crate) ordered: HashMap<CondId, [Operand; 2]>,
}

impl<'c> Evaluation<'c> {
    pub(crate) fn new(
        nodes: &'c [Node],
        readings: &'c [Reading],
        cuts: &[[u32; 2]],
        forms: Forms,
    ) -> Evaluation<'c> {
        let side = |side: usize| cuts.iter().enumerate().map(|(at, pair)| (pair[side], at as u32)).collect();
        Evaluation {
            nodes,
            readings: readings.iter().map(|read| (&read.literal, (read.reciprocal, &read.factor))).collect(),
            cuts: [side(0), side(1)],
            cut_forms: HashMap::new(),
            forms,
            values: HashMap::new(),
            compared: HashMap::new(),
            ordered: HashMap::new(),
        }
    }

    /// Forgets all forms: they may depend on the case.
    pub(crate) fn forget(&mut self) {
        self.values.clear();
        self.cut_forms.clear();
        self.forms.forget();
    }

    /// The number of terms.
    pub(crate) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn known(&self, at: u32, mode: Mode) -> Option<&Value> {
        let (value, made) = self.values.get(&at)?;
        (*made == Mode::Assumed || *made == mode).then_some(value)
    }

    fn value(&self, at: u32, mode: Mode) -> Made<Value> {
        self.known(at, mode).cloned().ok_or_else(|| "an operand has no value".to_string())
    }

    /// The value of an operand of a split.
    pub(crate) fn operand(&mut self, operand: &Operand) -> Result<Poly, Stop> {
        match operand {
            Operand::Number(number) => Ok(self.forms.number(number)),
            Operand::Term(at) => match self.eval(*at, Mode::Loose)? {
                Value::Finite(form) => Ok(form),
                Value::Infinite(_) | Value::Condition(_) => Err("cases are of finite numbers".into()),
            },
        }
    }

    /// The value of a term.
    pub(crate) fn eval(&mut self, root: u32, mode: Mode) -> Result<Value, Stop> {
        let mut stack = vec![(root, mode)];
        while let Some((at, mode)) = stack.last().copied() {
            if self.known(at, mode).is_some() {
                stack.pop();
                continue;
            }
            self.forms.charge(1)?;
            let needed = self.needed(at, mode)?;
            let before = stack.len();
            stack.extend(needed.into_iter().filter(|(at, mode)| self.known(*at, *mode).is_none()));
            if stack.len() > before {
                continue;
            }
            let value = self.node(at, mode)?;
            let value = self.cut(at, mode, value)?;
            self.values.insert(at, (value, mode));
            stack.pop();
        }
        Ok(self.value(root, mode)?)
    }

    /// The operands that a term needs next.
    fn needed(&self, at: u32, mode: Mode) -> Made<Vec<(u32, Mode)>> {
        let node = self.nodes.get(at as usize).ok_or_else(|| format!("there is no term {at}"))?;
        let Node::Apply(op, operands) = node else { return Ok(Vec::new()) };
        let own = &operands[..op.arity()];
        if own.iter().any(|operand| *operand >= at) {
            return Err(format!("an operand of term {at} does not come before it"));
        }
        if *op != Op::Select {
            return Ok(own.iter().map(|operand| (*operand, mode)).collect());
        }
        let [condition, a, b] = *operands;
        let below = if mode == Mode::Assumed { Mode::Loose } else { mode };
        Ok(match self.known(condition, mode) {
            None => vec![(condition, mode)],
            Some(Value::Condition(known)) => match self.forms.truth(*known) {
                Some(true) => vec![(a, mode)],
                Some(false) => vec![(b, mode)],
                None => vec![(a, below), (b, below)],
            },
            Some(Value::Finite(_) | Value::Infinite(_)) => return Err("a number is a condition".to_string()),
        })
    }

    /// Replaces the value of a cut point by an unknown number; in the other kernel, after comparing it.
    fn cut(&mut self, at: u32, mode: Mode, value: Value) -> Made<Value> {
        let Some(cut) = self.cuts[usize::from(mode == Mode::Demanded)].get(&at).copied() else {
            return Ok(value);
        };
        let Value::Finite(form) = value else { return Err("a cut point is not a finite number".to_string()) };
        match self.cut_forms.get(&cut).cloned() {
            Some(known) if known != form => {
                if !self.forms.equal(&known, &form)? {
                    return Err(format!("the terms of cut point {cut} have different forms"));
                }
            }
            Some(_) => {}
            None if mode == Mode::Demanded => {
                return Err(format!("the reference does not reach cut point {cut}"));
            }
            None => {
                let signs = self.forms.sign(&form);
                self.forms.facts.set_cut(cut, signs);
                self.cut_forms.insert(cut, form);
            }
        }
        Ok(Value::Finite(self.forms.atom(Atom::Cut(cut))))
    }

    fn node(&mut self, at: u32, mode: Mode) -> Result<Value, Stop> {
        let nodes = self.nodes;
        let (op, operands) = match &nodes[at as usize] {
            Node::Input(input, element) => {
                return Ok(Value::Finite(self.forms.atom(Atom::Input(*input, *element))));
            }
            Node::Number(number) => return Ok(Value::Finite(self.forms.number(number))),
            Node::Infinity(negative) => return Ok(Value::Infinite(*negative)),
            Node::Literal(_, number) => {
                let form = match self.readings.get(number) {
                    None => self.forms.number(number),
                    Some((reciprocal, factor)) => {
                        let atom = self.forms.atoms.id(Atom::Log2E);
                        let power = self.forms.single(atom, if *reciprocal { -1 } else { 1 });
                        self.forms.scaled(&power, factor)
                    }
                };
                return Ok(Value::Finite(form));
            }
            Node::Apply(op, operands) => (*op, *operands),
        };
        if op == Op::Select {
            return Ok(self.select(operands, mode)?);
        }
        let values: Vec<Value> =
            operands[..op.arity()].iter().map(|operand| self.value(*operand, mode)).collect::<Made<_>>()?;
        let mut conditions = values.iter().filter_map(|value| match value {
            Value::Condition(condition) => Some(*condition),
            Value::Finite(_) | Value::Infinite(_) => None,
        });
        match (op, conditions.next(), conditions.next()) {
            (Op::Not, Some(a), None) => return Ok(Value::Condition(self.forms.not(a))),
            (Op::And | Op::Or | Op::Xor, Some(a), Some(b)) => {
                return Ok(Value::Condition(self.forms.joined(op, a, b)));
            }
            (Op::Not | Op::And | Op::Or | Op::Xor, ..) => return Err("a number is a condition".into()),
            (_, Some(_), _) => return Err("a condition is a number".into()),
            (_, None, _) => {}
        }
        if values.iter().any(|value| matches!(value, Value::Infinite(_))) {
            return Ok(self.with_infinity(op, &values)?);
        }
        let forms: Vec<Poly> = values
            .into_iter()
            .filter_map(|value| match value {
                Value::Finite(form) => Some(form),
                Value::Infinite(_) | Value::Condition(_) => None,
            })
            .collect();
        self.finite(op, operands, &forms, mode)
    }

    fn select(&mut self, [condition, a, b]: [u32; 3], mode: Mode) -> Made<Value> {
        let Value::Condition(condition) = self.value(condition, mode)? else {
            return Err("a number is a condition".to_string());
        };
        let below = if mode == Mode::Assumed { Mode::Loose } else { mode };
        match self.forms.truth(condition) {
            Some(true) => self.value(a, mode),
            Some(false) => self.value(b, mode),
            None => match (self.value(a, below)?, self.value(b, below)?) {
                (Value::Finite(a), Value::Finite(b)) => {
                    Ok(Value::Finite(self.forms.select(condition, &a, &b)))
                }
                (Value::Infinite(a), Value::Infinite(b)) if a == b => Ok(Value::Infinite(a)),
                _ => Err("a choice of an infinity".to_string()),
            },
        }
    }

    /// An operation with an infinite operand (rule V3).
    fn with_infinity(&mut self, op: Op, values: &[Value]) -> Made<Value> {
        let zero = self.forms.number(&Number::ZERO);
        match (op, values) {
            (Op::Neg, [Value::Infinite(negative)]) => Ok(Value::Infinite(!negative)),
            (Op::Abs, [Value::Infinite(_)]) => Ok(Value::Infinite(false)),
            (Op::Floor | Op::Ceil | Op::Trunc | Op::RoundEven, [Value::Infinite(negative)]) => {
                Ok(Value::Infinite(*negative))
            }
            (Op::Saturate, [Value::Infinite(negative)]) if self.forms.uses(Law::Saturation) => {
                let limit = Number::Small(i64::from(!*negative));
                Ok(Value::Finite(self.forms.number(&limit)))
            }
            (Op::Tanh | Op::Erf, [Value::Infinite(negative)]) => {
                let limit = Number::Small(1 - 2 * i64::from(*negative));
                Ok(Value::Finite(self.forms.number(&limit)))
            }
            (Op::Exp2, [Value::Infinite(false)]) => Ok(Value::Infinite(false)),
            (Op::Exp2, [Value::Infinite(true)]) if self.forms.uses(Law::PowerOfMinusInfinity) => {
                Ok(Value::Finite(zero))
            }
            (Op::Add, [Value::Infinite(a), Value::Infinite(b)]) if a == b => Ok(Value::Infinite(*a)),
            (Op::Add, [Value::Infinite(a), Value::Finite(_)] | [Value::Finite(_), Value::Infinite(a)]) => {
                Ok(Value::Infinite(*a))
            }
            (Op::Sub, [Value::Infinite(a), Value::Infinite(b)]) if a != b => Ok(Value::Infinite(*a)),
            (Op::Sub, [Value::Infinite(a), Value::Finite(_)]) => Ok(Value::Infinite(*a)),
            (Op::Sub, [Value::Finite(_), Value::Infinite(a)]) => Ok(Value::Infinite(!a)),
            (Op::Mul, [Value::Infinite(a), Value::Infinite(b)]) => Ok(Value::Infinite(a != b)),
            (Op::Mul, [Value::Infinite(a), Value::Finite(by)] | [Value::Finite(by), Value::Infinite(a)]) => {
                let (signs, opposite) = (self.forms.sign(by), self.forms.negated(by));
                if signs.positive() {
                    Ok(Value::Infinite(*a))
                } else if self.forms.sign(&opposite).positive() {
                    Ok(Value::Infinite(!a))
                } else {
                    Err("an infinity times a number whose sign is not known".to_string())
                }
            }
            (Op::Fma, [a, b, c]) => {
                let product = match (a, b) {
                    (Value::Finite(a), Value::Finite(b)) => Value::Finite(self.forms.mul(a, b)?),
                    _ => self.with_infinity(Op::Mul, &[a.clone(), b.clone()])?,
                };
                self.with_infinity(Op::Add, &[product, c.clone()])
            }
            (Op::Div, [Value::Finite(_), Value::Infinite(_)]) if self.forms.uses(Law::QuotientByInfinity) => {
                Ok(Value::Finite(zero))
            }
            (Op::Max | Op::Min, [Value::Infinite(a), other] | [other, Value::Infinite(a)]) => {
                let neutral = *a == (op == Op::Max);
                if neutral && self.forms.uses(Law::MaximumWithMinusInfinity) {
                    Ok(other.clone())
                } else if neutral {
                    Err("a maximum with an infinity".to_string())
                } else {
                    Ok(Value::Infinite(*a))
                }
            }
            (Op::Less | Op::LessEqual | Op::Equal, [a, b]) => {
                let rank = |value: &Value| match value {
                    Value::Infinite(negative) => 1 - 2 * i32::from(*negative),
                    Value::Finite(_) | Value::Condition(_) => 0,
                };
                let (a, b) = (rank(a), rank(b));
                let holds =
                    (op == Op::Less && a < b) || (op != Op::Less && a == b) || (op == Op::LessEqual && a < b);
                Ok(Value::Condition(self.forms.known(holds)))
            }
            _ => Err(format!("`{}` of an infinity", op.name())),
        }
    }

    /// An operation on finite numbers.
    fn finite(&mut self, op: Op, operands: [u32; 3], of: &[Poly], mode: Mode) -> Result<Value, Stop> {
        let is_met = match op.demand() {
            None => true,
            Some((demand, at)) => self.demand(&of[at], Signs::of(demand), mode)?,
        };
        let forms = &mut self.forms;
        let opaque = |forms: &mut Forms| {
            let ids: Vec<u32> = of.iter().map(|form| forms.polys.id(form.clone())).collect();
            forms.atom(Atom::Apply(op, ids.into()))
        };
        let pair = [Operand::Term(operands[0]), Operand::Term(operands[1])];
        let with_zero = [Operand::Term(operands[0]), Operand::Number(Number::ZERO)];
        let form = match (op, of) {
            (Op::Add, [a, b]) => forms.add(a, b),
            (Op::Sub, [a, b]) => forms.sub(a, b),
            (Op::Mul, [a, b]) => forms.mul(a, b)?,
            (Op::Fma, [a, b, c]) => {
                let product = forms.mul(a, b)?;
                forms.add(&product, c)
            }
            (Op::Neg, [a]) => forms.negated(a),
            (Op::Div, [a, b]) if is_met => forms.quotient(a, b)?,
            (Op::Sqrt, [a]) if is_met => forms.sqrt(a)?,
            (Op::Rsqrt, [a]) if is_met && forms.uses(Law::ReciprocalRoot) => {
                let root = forms.sqrt(a)?;
                forms.quotient(&root, a)?
            }
            (Op::Log2, [a]) if is_met => forms.log2(a)?,
            (Op::Exp2, [a]) => forms.exp2(a)?,
            (Op::Max, [a, b]) if forms.uses(Law::MaximumIsASet) => {
                let form = forms.max(vec![a.clone(), b.clone()])?;
                self.note(&form, pair);
                form
            }
            (Op::Min, [a, b]) if forms.uses(Law::MaximumIsASet) && forms.uses(Law::MinimumByMaximum) => {
                let negated = forms.max(vec![forms.negated(a), forms.negated(b)])?;
                self.note(&negated, pair);
                self.forms.negated(&negated)
            }
            (Op::Abs, [a]) if forms.uses(Law::MaximumIsASet) && forms.uses(Law::MagnitudeByMaximum) => {
                let form = forms.max(vec![a.clone(), forms.negated(a)])?;
                self.note(&form, with_zero);
                form
            }
            (Op::Saturate, [a]) if forms.uses(Law::MaximumIsASet) && forms.uses(Law::Saturation) => {
                let positive = forms.max(vec![a.clone(), forms.number(&Number::ZERO)])?;
                let one = forms.number(&Number::Small(-1));
                let negated = forms.max(vec![forms.negated(&positive), one])?;
                self.note(&positive, with_zero);
                self.note(&negated, [Operand::Term(operands[0]), Operand::Number(Number::ONE)]);
                self.forms.negated(&negated)
            }
            (Op::Tanh, [a]) if forms.uses(Law::TanhByExponential) => {
                let log2e = forms.atom(Atom::Log2E);
                let twice = forms.scaled(&log2e, &Number::Small(2));
                let exponent = forms.mul(&twice, a)?;
                let power = forms.exp2(&exponent)?;
                let one = forms.number(&Number::ONE);
                let below = forms.add(&power, &one);
                let quotient = forms.inverse(&below)?;
                forms.sub(&one, &forms.scaled(&quotient, &Number::Small(2)))
            }
            (
                Op::Sin | Op::Cos | Op::Tanh | Op::Erf | Op::Atan | Op::Cbrt | Op::BesselJ0 | Op::BesselJ1,
                [a],
            ) => function(forms, op, a),
            (Op::Less, [a, b]) => {
                let gap = forms.sub(b, a);
                let condition = forms.positive(&gap);
                self.ordered.entry(condition).or_insert(pair);
                return Ok(Value::Condition(condition));
            }
            (Op::LessEqual, [a, b]) => {
                let gap = forms.sub(a, b);
                let condition = forms.positive(&gap);
                let [low, high] = pair;
                self.ordered.entry(condition).or_insert([high, low]);
                return Ok(Value::Condition(self.forms.not(condition)));
            }
            (Op::Equal, [a, b]) => {
                let gap = forms.sub(a, b);
                let condition = forms.zero(&gap);
                self.ordered.entry(condition).or_insert(pair);
                return Ok(Value::Condition(condition));
            }
            (Op::Floor | Op::Ceil | Op::Trunc | Op::RoundEven, [a]) => match forms.constant(a) {
                Some(number) => forms.number(&rounded(op, &number)),
                None => opaque(forms),
            },
            (Op::BitAnd, [a, b]) => {
                let mut ids = [forms.polys.id(a.clone()), forms.polys.id(b.clone())];
                ids.sort_unstable();
                forms.atom(Atom::Apply(op, Box::from(ids)))
            }
            _ => opaque(forms),
        };
        Ok(Value::Finite(form))
    }

    /// Whether a demand holds. Those of the reference are assumed where it is defined only if they hold; those of the
    /// other kernel must follow from them, or hold everywhere.
    fn demand(&mut self, of: &Poly, signs: Signs, mode: Mode) -> Result<bool, Stop> {
        if self.forms.implies(of, signs)? {
            return Ok(true);
        }
        match mode {
            Mode::Loose => Ok(false),
            Mode::Demanded => Err("the second term demands what the first one does not".into()),
            Mode::Assumed if self.forms.learn(of, signs)? => Ok(true),
            Mode::Assumed => Err(Stop::Vacuous),
        }
    }

    fn note(&mut self, form: &Poly, pair: [Operand; 2]) {
        for (mono, _) in form.iter() {
            for (atom, _) in self.forms.factors(*mono).iter() {
                if matches!(self.forms.atoms.get(*atom), Atom::Max(_)) {
                    self.compared.entry(*atom).or_insert_with(|| pair.clone());
                }
            }
        }
    }

    /// Refuses readings of literals outside of exponents and of sums that ln 2 and a logarithm make natural (V9).
    pub(crate) fn check_readings(&self, roots: [u32; 2]) -> Made<()> {
        let mut seen = HashSet::new();
        let mut stack: Vec<(u32, bool)> =
            if self.readings.is_empty() { Vec::new() } else { roots.map(|at| (at, false)).into() };
        while let Some((at, inside)) = stack.pop() {
            if !seen.insert((at, inside)) {
                continue;
            }
            match self.nodes.get(at as usize) {
                Some(Node::Literal(_, number)) if !inside && self.readings.contains_key(number) => {
                    return Err(format!("{number} is read as irrational outside of exponents"));
                }
                Some(Node::Apply(Op::Exp2, operands)) => stack.push((operands[0], true)),
                Some(Node::Apply(Op::Select, operands)) => {
                    stack.extend([(operands[0], false), (operands[1], inside), (operands[2], inside)]);
                }
                Some(Node::Apply(op @ (Op::Mul | Op::Fma), operands)) => {
                    let [a, b, c] = *operands;
                    for (at, other) in [(a, b), (b, a)] {
                        let natural = self.is_ln2(other) && self.has_logarithm(at);
                        let own = self.is_ln2(at) && self.has_logarithm(other);
                        stack.push((at, inside || natural || own));
                    }
                    stack.extend((*op == Op::Fma).then_some((c, inside)));
                }
                Some(Node::Apply(op, operands)) => {
                    let keeps = matches!(op, Op::Add | Op::Sub | Op::Neg | Op::Max | Op::Min);
                    stack.extend(operands[..op.arity()].iter().map(|at| (*at, inside && keeps)));
                }
                Some(Node::Input(..) | Node::Number(_) | Node::Literal(..) | Node::Infinity(_)) | None => {}
            }
        }
        Ok(())
    }

    fn is_ln2(&self, at: u32) -> bool {
        match self.nodes.get(at as usize) {
            Some(Node::Literal(_, number)) => {
                self.readings.get(number).is_some_and(|(reciprocal, _)| *reciprocal)
            }
            _ => false,
        }
    }

    /// Whether a term is a sum with a logarithm in it.
    fn has_logarithm(&self, root: u32) -> bool {
        let mut seen = HashSet::new();
        let mut stack = vec![root];
        while let Some(at) = stack.pop() {
            if !seen.insert(at) {
                continue;
            }
            if let Some(Node::Apply(op, operands)) = self.nodes.get(at as usize) {
                if *op == Op::Log2 {
                    return true;
                }
                if matches!(op, Op::Add | Op::Sub | Op::Neg | Op::Fma) {
                    stack.extend(&operands[..op.arity()]);
                }
            }
        }
        false
    }
}

/// A function of one number, the sign of which may leave it.
fn function(forms: &mut Forms, op: Op, a: &Poly) -> Poly {
    let law = if matches!(op, Op::Sin | Op::Cos) {
        Law::ParityOfSineAndCosine
    } else if matches!(op, Op::BesselJ0 | Op::BesselJ1) {
        Law::ParityOfBessel
    } else {
        Law::OddFunctions
    };
    if op != Op::Cos && op != Op::BesselJ0 && a.is_empty() {
        return a.clone();
    }
    let negative =
        a.first().is_some_and(|(_, factor)| factor.signum() < 0) && op != Op::Tanh && forms.uses(law);
    let of = if negative { forms.negated(a) } else { a.clone() };
    let of = forms.polys.id(of);
    let value = forms.atom(Atom::Apply(op, Box::from([of])));
    let even = op == Op::Cos || op == Op::BesselJ0;
    if negative && !even { forms.negated(&value) } else { value }
}

fn rounded(op: Op, number: &Number) -> Number {
    let up = |number: &Number| number.negated().floor().negated();
    let truncated_up = op == Op::Trunc && number.signum() < 0;
    if op == Op::Ceil || truncated_up {
        return up(number);
    }
    if op == Op::Floor || op == Op::Trunc {
        return number.floor();
    }
    let low = number.plus(&half()).floor();
    let is_tie = low.plus(&number.negated()) == half();
    let is_odd = low.times(&half()).floor() != low.times(&half());
    if is_tie && is_odd { low.plus(&Number::Small(-1)) } else { low }
}
