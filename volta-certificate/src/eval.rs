//! The form of each term as it was executed, from the forms of its operands.

use crate::form::{Atom, AtomId, Forms, Made, Poly, half, integer};
use crate::laws::Law;
use crate::number::Number;
use crate::readings::Readings;
use crate::sign::Signs;
use crate::text::{Node, Op, Operand};
use std::collections::HashMap;

/// What a term is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Finite(Poly),
    /// `−∞` if true.
    Infinite(bool),
    /// 1 where it holds, else 0.
    Condition(Poly),
}

impl Value {
    fn form(&self) -> Option<&Poly> {
        match self {
            Value::Finite(form) | Value::Condition(form) => Some(form),
            Value::Infinite(_) => None,
        }
    }
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

impl Mode {
    /// In an arm of a choice that is not decided.
    fn in_arm(self) -> Mode {
        if self == Mode::Assumed { Mode::Loose } else { self }
    }
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

/// A pair of terms that were proved equal.
#[derive(Clone, Debug)]
pub(crate) struct Lemma {
    /// The signs that they can have, where the first is defined: at least one.
    pub(crate) signs: Signs,
    /// Whether both are defined everywhere.
    pub(crate) is_total: bool,
}

/// What stands for a term: the unknown number of the term of the reference that it was proved equal to.
#[derive(Clone, Copy, Debug)]
struct Cut {
    reference: u32,
    is_total: bool,
}

/// The forms of one case.
pub(crate) struct Evaluation<'c> {
    pub(crate) nodes: &'c [Node],
    readings: &'c Readings,
    /// The terms of both sides at which there is a cut.
    cuts: [HashMap<u32, Cut>; 2],
    pub(crate) forms: Forms,
    values: HashMap<u32, (Value, Mode)>,
    /// Whether nothing was found so far that would leave the reference undefined anywhere.
    pub(crate) is_total: bool,
    /// The comparison that a maximum or a condition decides, and the last one that must be decided.
    pub(crate) compared: HashMap<AtomId, [Operand; 2]>,
    pub(crate) undecided: Option<[Operand; 2]>,
}

impl<'c> Evaluation<'c> {
    pub(crate) fn new(
        nodes: &'c [Node],
        readings: &'c Readings,
        lemmas: &[([u32; 2], Lemma)],
        forms: Forms,
    ) -> Evaluation<'c> {
        let mut cuts = [HashMap::new(), HashMap::new()];
        for ([reference, opt], lemma) in lemmas {
            let cut = Cut { reference: *reference, is_total: lemma.is_total };
            cuts[0].insert(*reference, cut);
            cuts[1].insert(*opt, cut);
            if lemma.is_total {
                cuts[0].insert(*opt, cut);
                cuts[1].insert(*reference, cut);
            }
        }
        Evaluation {
            nodes,
            readings,
            cuts,
            forms,
            values: HashMap::new(),
            is_total: true,
            compared: HashMap::new(),
            undecided: None,
        }
    }

    /// Forgets all forms: they may depend on the case.
    pub(crate) fn forget(&mut self) {
        self.values.clear();
        self.forms.forget();
        self.undecided = None;
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
            let value = match self.cut(at, mode) {
                Some(value) => value,
                None => {
                    let needed = self.needed(at, mode)?;
                    let before = stack.len();
                    stack.extend(needed.into_iter().filter(|(at, mode)| self.known(*at, *mode).is_none()));
                    if stack.len() > before {
                        continue;
                    }
                    let made = self.node(at, mode);
                    if made.is_err() && self.undecided.is_none() {
                        self.undecided = stack.iter().rev().find_map(|(at, mode)| {
                            let Node::Apply(Op::Select, [condition, ..]) = self.nodes[*at as usize] else {
                                return None;
                            };
                            let Some(Value::Condition(condition)) = self.known(condition, *mode) else {
                                return None;
                            };
                            self.comparison(condition)
                        });
                    }
                    made?
                }
            };
            self.values.insert(at, (value, mode));
            stack.pop();
        }
        Ok(self.value(root, mode)?)
    }

    /// The unknown number that a term is at a cut. In the other kernel, only where the reference has reached it, unless
    /// both terms are defined everywhere.
    fn cut(&mut self, at: u32, mode: Mode) -> Option<Value> {
        let Cut { reference, is_total } = *self.cuts[usize::from(mode == Mode::Demanded)].get(&at)?;
        if mode != Mode::Demanded {
            self.is_total &= is_total;
        } else if !is_total && self.values.get(&reference).is_none_or(|(_, made)| *made != Mode::Assumed) {
            return None;
        }
        Some(Value::Finite(self.forms.atom(Atom::Cut(reference))))
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
        Ok(match self.known(condition, mode) {
            None => vec![(condition, mode)],
            Some(Value::Condition(known)) => match self.forms.constant(known) {
                Some(truth) => vec![(if truth.is_zero() { b } else { a }, mode)],
                None => vec![(a, mode.in_arm()), (b, mode.in_arm())],
            },
            Some(Value::Finite(_) | Value::Infinite(_)) => return Err("a number is a condition".to_string()),
        })
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
        let of: Vec<Poly> = values.iter().filter_map(Value::form).cloned().collect();
        let conditions = values.iter().filter(|value| matches!(value, Value::Condition(_))).count();
        let is_logical = matches!(op, Op::Not | Op::And | Op::Or | Op::Xor);
        if conditions != if is_logical { op.arity() } else { 0 } {
            return Err("a number is a condition, or a condition a number".into());
        }
        if is_logical {
            return Ok(Value::Condition(self.forms.logical(op, &of)?));
        }
        if of.len() < values.len() {
            return Ok(self.with_infinity(op, &values)?);
        }
        self.finite(op, operands, &of, mode)
    }

    fn select(&mut self, [condition, a, b]: [u32; 3], mode: Mode) -> Made<Value> {
        let Value::Condition(condition) = self.value(condition, mode)? else {
            return Err("a number is a condition".to_string());
        };
        if let Some(truth) = self.forms.constant(&condition) {
            return self.value(if truth.is_zero() { b } else { a }, mode);
        }
        match (self.value(a, mode.in_arm())?, self.value(b, mode.in_arm())?) {
            (Value::Finite(a), Value::Finite(b)) => Ok(Value::Finite(self.forms.select(&condition, &a, &b)?)),
            (Value::Infinite(a), Value::Infinite(b)) if a == b => Ok(Value::Infinite(a)),
            _ => Err("a choice of an infinity".to_string()),
        }
    }

    /// The comparison that decides a condition.
    fn comparison(&self, condition: &Poly) -> Option<[Operand; 2]> {
        let mut atoms = condition.iter().flat_map(|(mono, _)| self.forms.factors(*mono).to_vec());
        atoms.find_map(|(atom, _)| self.compared.get(&atom).cloned())
    }

    /// An operation with an infinite operand (rule V3).
    fn with_infinity(&mut self, op: Op, values: &[Value]) -> Made<Value> {
        use Value::{Finite, Infinite};
        let forms = &mut self.forms;
        let number = |number: i64| Ok(Finite(integer(number)));
        match (op, values) {
            (Op::Neg, [Infinite(negative)]) => Ok(Infinite(!negative)),
            (Op::Abs, [Infinite(_)]) => Ok(Infinite(false)),
            (Op::Floor | Op::Ceil | Op::Trunc | Op::RoundEven, [infinite]) => Ok(infinite.clone()),
            (Op::Exp2, [Infinite(false)]) => Ok(Infinite(false)),
            (Op::Saturate, [Infinite(negative)]) if forms.uses(Law::Saturation) => {
                number(i64::from(!negative))
            }
            (Op::Tanh | Op::Erf, [Infinite(negative)]) => number(1 - 2 * i64::from(*negative)),
            (Op::Exp2, [Infinite(true)]) if forms.uses(Law::PowerOfMinusInfinity) => number(0),
            (Op::Div, [Finite(_), Infinite(_)]) if forms.uses(Law::QuotientByInfinity) => number(0),
            (Op::Add, [Infinite(a), Infinite(b)]) if a == b => Ok(Infinite(*a)),
            (Op::Add, [Infinite(a), Finite(_)] | [Finite(_), Infinite(a)]) => Ok(Infinite(*a)),
            (Op::Sub, [a, b]) => {
                let opposite = match b {
                    Infinite(negative) => Infinite(!negative),
                    Finite(b) | Value::Condition(b) => Finite(forms.negated(b)),
                };
                self.with_infinity(Op::Add, &[a.clone(), opposite])
            }
            (Op::Mul, [Infinite(a), Infinite(b)]) => Ok(Infinite(a != b)),
            (Op::Mul, [Infinite(a), Finite(by)] | [Finite(by), Infinite(a)]) => {
                let signs = forms.sign(by);
                if signs.positive() || signs == Signs::NEGATIVE {
                    return Ok(Infinite(*a == signs.positive()));
                }
                Err("an infinity times a number whose sign is not known".to_string())
            }
            (Op::Fma, [a, b, c]) => {
                let product = match (a, b) {
                    (Finite(a), Finite(b)) => Finite(forms.mul(a, b)?),
                    _ => self.with_infinity(Op::Mul, &[a.clone(), b.clone()])?,
                };
                if let (Finite(a), Finite(b)) = (&product, c) {
                    return Ok(Finite(self.forms.add(a, b)));
                }
                self.with_infinity(Op::Add, &[product, c.clone()])
            }
            (Op::Max | Op::Min, [Infinite(a), other] | [other, Infinite(a)]) => {
                if *a != (op == Op::Max) {
                    return Ok(Infinite(*a));
                }
                if forms.uses(Law::MaximumWithMinusInfinity) {
                    return Ok(other.clone());
                }
                Err("a maximum with an infinity".to_string())
            }
            (Op::Less | Op::LessEqual | Op::Equal, [a, b]) => {
                let rank = |value: &Value| {
                    if let Infinite(negative) = value { 1 - 2 * i32::from(*negative) } else { 0 }
                };
                let (a, b) = (rank(a), rank(b));
                let holds = (op != Op::Equal && a < b) || (op != Op::Less && a == b);
                Ok(Value::Condition(integer(i64::from(holds))))
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
        let pair = [Operand::Term(operands[0]), Operand::Term(operands[1])];
        let with = |number: i64| [pair[0].clone(), Operand::Number(Number::Small(number))];
        let (one, zero) = (integer(1), integer(0));
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
                self.note(&form, &pair);
                form
            }
            (Op::Min, [a, b]) if forms.uses(Law::MaximumIsASet) && forms.uses(Law::MinimumByMaximum) => {
                let negated = forms.max(vec![forms.negated(a), forms.negated(b)])?;
                self.note(&negated, &pair);
                self.forms.negated(&negated)
            }
            (Op::Abs, [a]) if forms.uses(Law::MaximumIsASet) && forms.uses(Law::MagnitudeByMaximum) => {
                let form = forms.max(vec![a.clone(), forms.negated(a)])?;
                self.note(&form, &with(0));
                form
            }
            (Op::Saturate, [a]) if forms.uses(Law::MaximumIsASet) && forms.uses(Law::Saturation) => {
                let positive = forms.max(vec![a.clone(), zero])?;
                let negated = forms.max(vec![forms.negated(&positive), forms.negated(&one)])?;
                self.note(&positive, &with(0));
                self.note(&negated, &with(1));
                self.forms.negated(&negated)
            }
            (Op::Tanh, [a]) if forms.uses(Law::TanhByExponential) => {
                let log2e = forms.atom(Atom::Log2E);
                let exponent = forms.mul(&forms.scaled(&log2e, &Number::Small(2)), a)?;
                let power = forms.exp2(&exponent)?;
                let quotient = forms.inverse(&forms.add(&power, &one))?;
                forms.sub(&one, &forms.scaled(&quotient, &Number::Small(2)))
            }
            (Op::Sin | Op::Cos | Op::Erf | Op::Atan | Op::Cbrt | Op::BesselJ0 | Op::BesselJ1, [a]) => {
                function(forms, op, a)
            }
            (Op::Less, [a, b]) => {
                let condition = forms.positive(&forms.sub(b, a));
                self.note(&condition, &pair);
                return Ok(Value::Condition(condition));
            }
            (Op::LessEqual | Op::Equal, [a, b]) if forms.uses(Law::OrdersOfChoices) => {
                let above = forms.positive(&forms.sub(a, b));
                let mut condition = forms.sub(&one, &above);
                if op == Op::Equal {
                    let below = forms.positive(&forms.sub(b, a));
                    condition = forms.sub(&condition, &below);
                }
                self.note(&condition, &pair);
                return Ok(Value::Condition(condition));
            }
            (Op::Floor | Op::Ceil | Op::Trunc | Op::RoundEven, [a]) => match forms.constant(a) {
                Some(number) => forms.number(&rounded(op, &number)),
                None => forms.opaque(op, of),
            },
            _ => forms.opaque(op, of),
        };
        let is_condition = matches!(op, Op::Less | Op::LessEqual | Op::Equal);
        Ok(if is_condition { Value::Condition(form) } else { Value::Finite(form) })
    }

    /// Whether a demand holds. Those of the reference are assumed where it is defined only if they hold; those of the
    /// other kernel must follow from them, or hold everywhere.
    fn demand(&mut self, of: &Poly, signs: Signs, mode: Mode) -> Result<bool, Stop> {
        if self.forms.implies(of, signs)? {
            return Ok(true);
        }
        self.is_total = false;
        match mode {
            Mode::Loose => Ok(false),
            Mode::Demanded => Err("the second term demands what the first one does not".into()),
            Mode::Assumed if self.forms.learn(of, signs)? => Ok(true),
            Mode::Assumed => Err(Stop::Vacuous),
        }
    }

    /// Notes the comparison that decides the maxima and conditions of a form.
    fn note(&mut self, form: &Poly, pair: &[Operand; 2]) {
        for (atom, _) in form.iter().flat_map(|(mono, _)| self.forms.factors(*mono).to_vec()) {
            if matches!(self.forms.atoms.get(atom), Atom::Max(_) | Atom::Positive(_)) {
                self.compared.entry(atom).or_insert_with(|| pair.clone());
            }
        }
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
    let even = op == Op::Cos || op == Op::BesselJ0;
    if !even && a.is_empty() {
        return a.clone();
    }
    let negative = a.first().is_some_and(|(_, factor)| factor.signum() < 0) && forms.uses(law);
    let of = if negative { forms.negated(a) } else { a.clone() };
    let value = forms.opaque(op, &[of]);
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
