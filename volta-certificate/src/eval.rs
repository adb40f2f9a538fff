//! The form of each term as it was executed, from the forms of its operands.

use crate::form::{Atom, AtomId, Forms, Made, Poly, integer};
use crate::number::Number;
use crate::readings::{Readings, Role};
use crate::sign::Signs;
use crate::text::{Certificate, Node, Op, Operand};
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
    pub(crate) fn form(&self) -> Option<&Poly> {
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

/// Why there is no value: the reference is undefined in this case, or something is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Vacuous,
    Refused(String),
}

impl<T: Into<String>> From<T> for Stop {
    fn from(why: T) -> Stop {
        Stop::Refused(why.into())
    }
}

/// A pair of terms that were proved equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lemma {
    /// The signs that they can have, where the first is defined: at least one.
    pub(crate) signs: Signs,
    /// Whether both are defined everywhere.
    pub(crate) is_total: bool,
}

/// The forms of one case.
pub(crate) struct Evaluation<'c> {
    pub(crate) certificate: &'c Certificate,
    /// How literals are read, if they are.
    readings: Option<&'c Readings>,
    /// The terms of both sides at which there is a cut, each with the term of the reference that stands for it.
    cuts: [HashMap<u32, (u32, Lemma)>; 2],
    pub(crate) forms: Forms,
    values: HashMap<u32, (Value, Mode)>,
    /// Whether nothing was found so far that would leave the reference undefined anywhere.
    pub(crate) is_total: bool,
    /// The terms for which maxima and conditions were made that are not decided.
    pub(crate) compared: HashMap<AtomId, u32>,
}

impl<'c> Evaluation<'c> {
    pub(crate) fn new(
        certificate: &'c Certificate,
        readings: Option<&'c Readings>,
        lemmas: &[([u32; 2], Lemma)],
        forms: Forms,
    ) -> Evaluation<'c> {
        let mut cuts = [HashMap::new(), HashMap::new()];
        for (pair @ [reference, _], lemma) in lemmas {
            for (side, term) in [(0, 0), (1, 1), (0, 1), (1, 0)] {
                if side == term || lemma.is_total {
                    cuts[side].insert(pair[term], (*reference, *lemma));
                }
            }
        }
        let (values, compared) = (HashMap::new(), HashMap::new());
        Evaluation { certificate, readings, cuts, forms, values, is_total: true, compared }
    }

    /// Forgets all forms: they may depend on the case.
    pub(crate) fn forget(&mut self) {
        self.values.clear();
        self.forms.products.clear();
        self.compared.clear();
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
                    self.node(at, mode)?
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
        let (reference, Lemma { signs, is_total }) =
            *self.cuts[usize::from(mode == Mode::Demanded)].get(&at)?;
        if mode != Mode::Demanded {
            self.is_total &= is_total;
        } else if !is_total && self.values.get(&reference).is_none_or(|(_, made)| *made != Mode::Assumed) {
            return None;
        }
        Some(Value::Finite(self.forms.atom(Atom::Cut(reference, signs))))
    }

    /// The operands that a term needs next.
    fn needed(&self, at: u32, mode: Mode) -> Made<Vec<(u32, Mode)>> {
        let node = self.certificate.nodes.get(at as usize).ok_or_else(|| format!("there is no term {at}"))?;
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
        let form = match &self.certificate.nodes[at as usize] {
            Node::Input(input, element) => {
                let declared = self.certificate.inputs.get(*input as usize);
                let signs = declared.map_or(Signs::ANY, |input| Signs::of(input.signs));
                self.forms.atom(Atom::Input(*input, *element, signs))
            }
            Node::Number(number) => self.forms.number(number),
            Node::Literal(_, number) => match self.readings.and_then(|readings| readings.get(at)) {
                None => self.forms.number(number),
                Some((Role::Rest, _)) => integer(0),
                Some((role, factor)) => {
                    let atom = self.forms.atoms.id(Atom::Log2E);
                    let power = self.forms.single(atom, if *role == Role::Log2E { 1 } else { -1 });
                    self.forms.scaled(&power, factor)
                }
            },
            Node::Infinity(negative) => return Ok(Value::Infinite(*negative)),
            Node::Apply(Op::Select, operands) => return Ok(self.select(*operands, mode)?),
            Node::Apply(op, operands) => {
                let operands = operands[..op.arity()].iter().map(|operand| self.value(*operand, mode));
                let values: Vec<Value> = operands.collect::<Made<_>>()?;
                let value = self.apply(*op, &values, mode)?;
                self.note(*op, &value, at);
                return Ok(value);
            }
        };
        Ok(Value::Finite(form))
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

    /// Notes the maxima and conditions that a term is the first to have.
    fn note(&mut self, op: Op, value: &Value, at: u32) {
        if let (
            Op::Max | Op::Min | Op::Abs | Op::Saturate | Op::Less | Op::LessEqual | Op::Equal,
            Some(form),
        ) = (op, value.form())
        {
            for (atom, _) in form.iter().flat_map(|(mono, _)| self.forms.factors(*mono).to_vec()) {
                if matches!(self.forms.atoms.get(atom), Atom::Max(_) | Atom::Positive(_)) {
                    self.compared.entry(atom).or_insert(at);
                }
            }
        }
    }

    /// An operation, by those that it is made of.
    fn apply(&mut self, op: Op, values: &[Value], mode: Mode) -> Result<Value, Stop> {
        let is_logical = matches!(op, Op::Not | Op::And | Op::Or | Op::Xor);
        if values.iter().any(|value| matches!(value, Value::Condition(_)) != is_logical) {
            return Err("a number is a condition, or a condition a number".into());
        }
        let number = |number: i64| Value::Finite(integer(number));
        let mut uses = |law| self.forms.uses("maximum_is_a_set") && self.forms.uses(law);
        match (op, values) {
            (Op::Sub, [a, b]) => {
                let b = self.apply(Op::Neg, std::slice::from_ref(b), mode)?;
                self.apply(Op::Add, &[a.clone(), b], mode)
            }
            (Op::Fma, [a, b, c]) => {
                let product = self.apply(Op::Mul, &[a.clone(), b.clone()], mode)?;
                self.apply(Op::Add, &[product, c.clone()], mode)
            }
            (Op::Min, [a, b]) if uses("minimum_by_maximum") => {
                let a = self.apply(Op::Neg, std::slice::from_ref(a), mode)?;
                let b = self.apply(Op::Neg, std::slice::from_ref(b), mode)?;
                let largest = self.apply(Op::Max, &[a, b], mode)?;
                self.apply(Op::Neg, &[largest], mode)
            }
            (Op::Abs, [a]) if uses("magnitude_by_maximum") => {
                let opposite = self.apply(Op::Neg, std::slice::from_ref(a), mode)?;
                self.apply(Op::Max, &[a.clone(), opposite], mode)
            }
            (Op::Saturate, [a]) if uses("saturation") => {
                let positive = self.apply(Op::Max, &[a.clone(), number(0)], mode)?;
                self.apply(Op::Min, &[positive, number(1)], mode)
            }
            (Op::LessEqual, [a, b]) if self.forms.uses("orders_of_choices") => {
                let above = self.apply(Op::Less, &[b.clone(), a.clone()], mode)?;
                self.apply(Op::Not, &[above], mode)
            }
            (Op::Equal, [a, b]) if self.forms.uses("orders_of_choices") => {
                let not_above = self.apply(Op::LessEqual, &[a.clone(), b.clone()], mode)?;
                let below = self.apply(Op::Less, &[a.clone(), b.clone()], mode)?;
                // One of them implies the other.
                let (Value::Condition(a), Value::Condition(b)) = (not_above, below) else {
                    return Err("a comparison is no condition".into());
                };
                Ok(Value::Condition(self.forms.sub(&a, &b)))
            }
            _ => {
                let forms: Vec<Poly> = values.iter().filter_map(Value::form).cloned().collect();
                if forms.len() < values.len() {
                    return Ok(self.infinite(op, values)?);
                }
                let form = self.finite(op, &forms, mode)?;
                let is_condition = is_logical || matches!(op, Op::Less | Op::LessEqual | Op::Equal);
                Ok(if is_condition { Value::Condition(form) } else { Value::Finite(form) })
            }
        }
    }

    /// An operation with an infinite operand (rule V3).
    fn infinite(&mut self, op: Op, values: &[Value]) -> Made<Value> {
        use Value::{Condition, Finite, Infinite};
        let forms = &mut self.forms;
        match (op, values) {
            (Op::Neg, [Infinite(negative)]) => Ok(Infinite(!negative)),
            (Op::Exp2, [Infinite(false)]) => Ok(Infinite(false)),
            (Op::Exp2, [Infinite(true)]) if forms.uses("power_of_minus_infinity") => Ok(Finite(integer(0))),
            (Op::Add, [Infinite(a), Infinite(b)]) if a != b => Err("∞ − ∞".to_string()),
            (Op::Add, [Infinite(a), _] | [_, Infinite(a)]) => Ok(Infinite(*a)),
            (Op::Mul, [Infinite(a), Infinite(b)]) => Ok(Infinite(a != b)),
            (Op::Mul, [Infinite(a), Finite(by)] | [Finite(by), Infinite(a)]) => match forms.sign(by) {
                Signs::POSITIVE => Ok(Infinite(*a)),
                Signs::NEGATIVE => Ok(Infinite(!a)),
                _ => Err("an infinity times a number whose sign is not known".to_string()),
            },
            (Op::Max, [Infinite(false), _] | [_, Infinite(false)]) => Ok(Infinite(false)),
            (Op::Max, [Infinite(true), other] | [other, Infinite(true)])
                if forms.uses("maximum_with_minus_infinity") =>
            {
                Ok(other.clone())
            }
            (Op::Less, [a, b]) => {
                let rank = |value: &Value| {
                    if let Infinite(negative) = value { 1 - 2 * i32::from(*negative) } else { 0 }
                };
                Ok(Condition(integer(i64::from(rank(a) < rank(b)))))
            }
            _ => Err(format!("`{}` of an infinity", op.name())),
        }
    }

    /// An operation on finite numbers.
    fn finite(&mut self, op: Op, of: &[Poly], mode: Mode) -> Result<Poly, Stop> {
        let is_met = match op.demand() {
            None => true,
            Some((signs, at)) => self.demand(&of[at], signs, mode)?,
        };
        let forms = &mut self.forms;
        Ok(match (op, of) {
            (Op::Add, [a, b]) => forms.add(a, b),
            (Op::Mul, [a, b]) => forms.mul(a, b)?,
            (Op::Neg, [a]) => forms.negated(a),
            (Op::Div, [a, b]) if is_met => forms.quotient(a, b)?,
            (Op::Rsqrt, [a]) if is_met && forms.uses("reciprocal_root") => {
                let root = forms.opaque(Op::Sqrt, of);
                forms.quotient(&root, a)?
            }
            (Op::Log2, [a]) if is_met => forms.log2(a)?,
            (Op::Exp2, [a]) => forms.exp2(a)?,
            (Op::Max, [a, b]) if forms.uses("maximum_is_a_set") => forms.max(vec![a.clone(), b.clone()])?,
            (Op::Tanh, [a]) if forms.uses("tanh_by_exponential") => {
                let log2e = forms.atom(Atom::Log2E);
                let exponent = forms.mul(&forms.scaled(&log2e, &Number::Small(2)), a)?;
                let power = forms.exp2(&exponent)?;
                let quotient = forms.inverse(&forms.add(&power, &integer(1)))?;
                forms.sub(&integer(1), &forms.scaled(&quotient, &Number::Small(2)))
            }
            (Op::Less, [a, b]) => forms.positive(&forms.sub(b, a)),
            (Op::Not | Op::And | Op::Or | Op::Xor, _) => forms.logical(op, of),
            _ => forms.opaque(op, of),
        })
    }

    /// Whether a demand holds. Those of the reference are assumed where it is defined only if they hold; those of the
    /// other kernel must follow from them, or hold everywhere.
    fn demand(&mut self, of: &Poly, signs: Signs, mode: Mode) -> Result<bool, Stop> {
        if self.forms.sign(of).within(signs) {
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
}
