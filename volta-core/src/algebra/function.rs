//! Functions of canonical arguments: roots, logarithms, roundings, choice.

use super::Stop;
use super::analysis::{INFINITE, PARTIAL};
use super::atom::Atom;
use super::condition::{Condition, ConditionId};
use super::constant_readings::Irrational;
use super::extended_value::Class;
use super::id::TermRef;
use super::monomial::MonomialId;
use super::polynomial::{
    Key, PolynomialId, Term, add, as_number, collect, content, negated, number, times_number,
};
use super::prover::Prover;
use super::table::Table;
use super::tactic::Choices;
use crate::number::Rational;
use crate::number::interval::Function;
use crate::number::signs::Signs;
use crate::number::value::LimitAtInfinity;
use crate::term::{FunctionInfo, Kind, Parity, Piecewise, Predicate, TermId, TermOp, View};
use rustc_hash::FxHashSet;

/// Conditions nested deeper than this are not looked at.
const MAX_CONDITION_DEPTH: u32 = 200;

impl Prover<'_> {
    /// A resolved argument, with literals read as numbers.
    pub(super) fn argument(&mut self, at: TermRef) -> Result<Vec<Term>, Stop> {
        let id = self.resolve(at)?;
        let terms = self.table.polynomials.shared_terms(id).to_vec();
        self.plain(terms)
    }

    /// The value of a function node, resolved.
    pub(super) fn resolve_function(&mut self, at: TermRef) -> Result<Vec<Term>, Stop> {
        let View::Apply(op, operands) = self.terms.view(at) else {
            return Err(Stop::Unknown("an operation that is not a function".to_string()));
        };
        if let Some((op, _)) = self.terms.extremum(at) {
            return self.maximum_of(at, op);
        }
        let [a, b, c] = operands.map(|term| TermRef { store: at.store, term });
        match op.kind() {
            Kind::Function(info) => self.resolve_real_function(op, info, a),
            Kind::Piecewise(Piecewise::Abs) => {
                let id = self.resolve(a)?;
                let inside = self.table.polynomials.shared_terms(id).to_vec();
                self.magnitude(inside)
            }
            Kind::Piecewise(Piecewise::CopySign) => self.copy_sign(a, b),
            Kind::Piecewise(Piecewise::Select) => self.select(a, b, c),
            Kind::Piecewise(Piecewise::Mod) => self.remainder(a, b),
            Kind::Piecewise(Piecewise::BitAnd) => {
                let (a, b) = (self.argument(a)?, self.argument(b)?);
                self.common_digits(a, b)
            }
            Kind::Ieee => Err(Stop::Unknown("an operation of IEEE arithmetic is used as a real".to_string())),
            Kind::Piecewise(Piecewise::Max | Piecewise::Min)
            | Kind::Sum(_)
            | Kind::Product(_)
            | Kind::Exponential
            | Kind::Condition(_) => Err(Stop::Unknown("a condition is used as a number".to_string())),
        }
    }

    /// The value of a function of one real, resolved: by its laws, if it has any.
    fn resolve_real_function(
        &mut self,
        op: TermOp,
        info: &FunctionInfo,
        a: TermRef,
    ) -> Result<Vec<Term>, Stop> {
        let limit = match self.class(a)? {
            Class::NegInf => Some(info.limits[0]),
            Class::PosInf => Some(info.limits[1]),
            Class::Finite | Class::Known(_) | Class::Undefined(_) | Class::Unknown(_) => None,
        };
        if let Some(LimitAtInfinity::Number(value)) = limit {
            return Ok(number(Rational::from_integer(value)));
        }
        match info.function {
            Function::Saturate => {
                let id = self.resolve(a)?;
                let inside = self.table.polynomials.shared_terms(id).to_vec();
                let raised = self.maximum(vec![inside, Vec::new()])?;
                let lowered = vec![negated(&raised), number(Rational::MINUS_ONE)];
                Ok(negated(&self.maximum(lowered)?))
            }
            Function::Sqrt => {
                let root = self.root_of(a)?;
                self.expand(vec![root]).map(drop_zeros)
            }
            Function::Rsqrt => {
                let root = self.root_of(a)?;
                let root = self.table.term_power(&root, -1)?;
                self.expand(vec![root])
            }
            Function::Log2 => {
                let argument = self.argument(a)?;
                self.logarithm(argument, 0)
            }
            Function::Sin
            | Function::Cos
            | Function::Erf
            | Function::Atan
            | Function::Cbrt
            | Function::Gamma
            | Function::BesselJ0
            | Function::BesselJ1
            | Function::BesselY0
            | Function::BesselY1 => self.opaque_function(op, info, a),
            Function::Tanh => self.tanh(a),
            Function::Round(towards) => self.rounding(towards, a, 0),
            Function::Encode(_) | Function::Decode(_) | Function::Outcome => {
                Err(Stop::Unknown("the encoding of a real is used as a number".to_string()))
            }
        }
    }

    /// `|terms| = max(terms, −terms)`
    pub(super) fn magnitude(&mut self, terms: Vec<Term>) -> Result<Vec<Term>, Stop> {
        let opposite = negated(&terms);
        self.maximum(vec![terms, opposite])
    }

    /// A function without laws but those of its row: `sin(−a) = −sin a`, `cos(−a) = cos a`.
    fn opaque_function(&mut self, op: TermOp, info: &FunctionInfo, at: TermRef) -> Result<Vec<Term>, Stop> {
        let argument = self.argument(at)?;
        let at_point = as_number(&argument).and_then(|value| {
            let known = info.points.iter().find(|(at, _)| value == Rational::from_integer(*at));
            known.map(|(_, value)| number(Rational::from_integer(*value)))
        });
        if let Some(value) = at_point {
            return Ok(value);
        }
        let (argument, turned) = match info.parity {
            Parity::Odd | Parity::Even => self.table.oriented(argument),
            Parity::None => (argument, false),
        };
        let argument = self.table.polynomial(&argument);
        let value = self.table.atom_term(Atom::Apply(op, argument));
        Ok(if turned && info.parity == Parity::Odd { negated(&value) } else { value })
    }

    /// `tanh a = 1 − 2/(1 + e^(2a))`; the denominator is above 1.
    fn tanh(&mut self, at: TermRef) -> Result<Vec<Term>, Stop> {
        let argument = self.argument(at)?;
        if argument.is_empty() {
            return Ok(argument);
        }
        let base = self.table.intern(Atom::Irrational(Irrational::Log2E));
        let base = self.table.single(base);
        let scale = Term { coefficient: Rational::TWO, key: Key::of(base) };
        let exponent = self.scaled(&argument, &scale)?;
        let power = self.exponential(exponent)?;
        let mut denominator = number(Rational::ONE);
        denominator.push(power);
        collect(&mut denominator);
        let denominator = self.factor_terms(denominator)?;
        let mut quotient = self.table.term_power(&denominator, -1)?;
        quotient.coefficient = &quotient.coefficient * &Rational::from_integer(-2);
        let mut out = number(Rational::ONE);
        out.push(quotient);
        collect(&mut out);
        Ok(out)
    }

    fn copy_sign(&mut self, sign: TermRef, magnitude: TermRef) -> Result<Vec<Term>, Stop> {
        let sign_signs = self.terms.signs_with_infinities(sign, &mut self.account)?;
        let inside = self.argument(magnitude)?;
        let magnitude = self.magnitude(inside)?;
        if sign_signs == Signs::POSITIVE {
            return Ok(magnitude);
        }
        if sign_signs == Signs::NEGATIVE {
            return Ok(negated(&magnitude));
        }
        if self.terms.flags(sign) & INFINITE != 0 {
            return Err(Stop::Unknown("the sign of a value that may be infinite".to_string()));
        }
        let (read, flipped) = self.terms.sign_read(sign);
        let sign = self.argument(sign)?;
        let signs = self.signs_of(&sign);
        if signs == Signs::POSITIVE {
            return Ok(magnitude);
        }
        if signs == Signs::NEGATIVE {
            return Ok(negated(&magnitude));
        }
        let mut magnitude = self.plain(magnitude)?;
        if signs == Signs::ZERO {
            magnitude = self.at_zeros(magnitude)?;
        }
        if magnitude.is_empty() {
            return Ok(magnitude);
        }
        let sign = if flipped { negated(&sign) } else { sign };
        let sign = self.table.polynomial(&sign);
        let magnitude = self.table.polynomial(&magnitude);
        let copied = self.table.atom_term(Atom::CopySign(sign, magnitude, read));
        Ok(if flipped { negated(&copied) } else { copied })
    }

    /// A choice. If the arms differ by `k` times the compared sum, it is a maximum:
    /// `p > 0 ? b + k·p : b = b + k·max(p, 0)`, which covers maxima, minima, magnitudes and clamps. So it is if one
    /// arm is the other times `2^(k·p)`, as when two parts of a softmax are merged by which has the larger maximum.
    /// A choice between integers by a bit `d` is `d·a + (1 − d)·b`, and so is one between other short sums by the
    /// indicator of the condition, if both always have a value: an arm that may have none must not be multiplied by 0.
    fn select(&mut self, at: TermRef, a: TermRef, b: TermRef) -> Result<Vec<Term>, Stop> {
        let condition = self.condition(at, 0)?;
        match self.table.conditions.get(&condition) {
            Condition::Known(true) => return self.argument(a),
            Condition::Known(false) => return self.argument(b),
            Condition::Positive(_)
            | Condition::Zero(_)
            | Condition::Not(_)
            | Condition::And(..)
            | Condition::Xor(..) => {}
        }
        if let Some(value) = self.choice_by_comparisons(at, &condition, [a, b])? {
            return Ok(value);
        }
        if self.tactic.indicators
            && let Some(value) = self.guarded_extremum(at, [a, b])?
        {
            return Ok(value);
        }
        let total = self.always_has_value(a)? && self.always_has_value(b)?;
        if total
            && self.tactic.indicators
            && let Some(value) = self.choices_by_exits(&condition, [a, b])?
        {
            return Ok(value);
        }
        if total
            && self.tactic.indicators
            && let Some(value) = self.choices_by_value(&condition, [a, b])?
        {
            return Ok(value);
        }
        let (when_true, when_false) = (self.argument(a)?, self.argument(b)?);
        if when_true == when_false {
            return Ok(when_true);
        }
        if matches!(self.table.conditions.get(&condition), Condition::Positive(_)) {
            let values = [&when_true[..], &when_false[..]];
            if let Some(value) = self.choice_of_candidate(at, [a, b], values)? {
                return Ok(value);
            }
        }
        if !self.tactic.indicators {
            return self.choice_between(condition, when_true, when_false, total);
        }
        let [when_true, when_false] = self.without_indicator(&condition, [when_true, when_false])?;
        if total && let Some(value) = self.choice_by_value(&condition, &when_true, &when_false)? {
            return Ok(value);
        }
        self.choice_between(condition, when_true, when_false, total)
    }

    /// Whether a term has a value at all inputs, by the signs of what its partial operations are applied to (V8).
    pub(super) fn always_has_value(&mut self, root: TermRef) -> Result<bool, Stop> {
        let (mut open, mut seen) = (vec![root], FxHashSet::default());
        while let Some(at) = open.pop() {
            if self.terms.flags(at) & PARTIAL == 0 || !seen.insert(at) {
                continue;
            }
            match self.forms.defined.get(&at) {
                Some(true) => continue,
                Some(false) => return Ok(false),
                None => {}
            }
            self.charge(1)?;
            let View::Apply(op, operands) = self.terms.view(at) else { continue };
            let operands = operands.map(|term| TermRef { store: at.store, term });
            if let Some((demand, which)) = op.info().demand {
                let operand = self.argument(operands[which])?;
                if !self.signs_of(&operand).within(demand.signs()) {
                    self.forms.defined.insert(root, false);
                    return Ok(false);
                }
            }
            open.extend(&operands[..op.arity()]);
        }
        self.forms.defined.extend(seen.into_iter().map(|at| (at, true)));
        Ok(true)
    }

    /// A choice between two sums. `total`: both always have a value.
    pub(super) fn choice_between(
        &mut self,
        mut condition: ConditionId,
        mut when_true: Vec<Term>,
        mut when_false: Vec<Term>,
        total: bool,
    ) -> Result<Vec<Term>, Stop> {
        if let Condition::Not(inner) = self.table.conditions.get(&condition) {
            condition = inner.clone();
            std::mem::swap(&mut when_true, &mut when_false);
        }
        if total && let Some(joined) = self.joined_indicators(&condition, [&when_true, &when_false])? {
            return Ok(joined);
        }
        if let Condition::Positive(compared) = self.table.conditions.get(&condition) {
            let compared = self.table.polynomials.shared_terms(*compared);
            let gap = add(&when_true, &negated(&when_false));
            if let Some(factor) = multiple_of(&gap, &compared) {
                let positive = self.maximum(vec![compared.to_vec(), Vec::new()])?;
                return Ok(add(&when_false, &times_number(&positive, &factor)));
            }
            if let Some(scale) = self.power_between(&when_true, &when_false, &compared)? {
                let positive = self.maximum(vec![compared.to_vec(), Vec::new()])?;
                let exponent = self.scaled(&positive, &scale)?;
                let power = self.exponential(exponent)?;
                return self.scaled(&when_false, &power);
            }
        }
        // With other arms, the signs of the choice would be lost.
        if self.table.is_counted(&when_true)
            && self.table.is_counted(&when_false)
            && let Some((digit, where_one)) = self.table.digit_compared(&condition)
        {
            let (one, zero) = if where_one { (&when_true, &when_false) } else { (&when_false, &when_true) };
            let gap = add(one, &negated(zero));
            if gap.len() * digit.len() <= self.tactic.short_product {
                return Ok(add(zero, &self.multiply(&digit, &gap)?));
            }
        }
        if total && self.tactic.indicators {
            let indicator = self.indicator(&condition, 0)?;
            let gap = add(&when_true, &negated(&when_false));
            if gap.len() * indicator.len() <= self.tactic.short_product {
                let chosen = add(&when_false, &self.multiply(&indicator, &gap)?);
                if self.table.keeps_bounds(&chosen, &[&when_true, &when_false]) {
                    return Ok(chosen);
                }
            }
        }
        if self.tactic.indicators
            && let Some(shared) = shared_by_arms(&when_true, &when_false)
        {
            // What both arms add is added to the choice.
            let less = negated(&shared);
            let [own_true, own_false] = [&when_true, &when_false].map(|arm| add(arm, &less));
            let chosen = add(&shared, &self.choice_between(condition.clone(), own_true, own_false, total)?);
            if self.table.keeps_bounds(&chosen, &[&when_true, &when_false]) {
                return Ok(chosen);
            }
        }
        Ok(self.table.choice_atom(condition, &when_true, &when_false))
    }

    /// A choice as one of its arms times a power of two, `p < q ? b·2^(k·(q − p)) : b = b·2^(k·(m − p))` if some
    /// term `m` is the larger of `p` and `q`: sums that were merged by choices become one sum under a scale, whose
    /// form need not be known yet. If an infinity decides the choice, it is the chosen arm.
    pub(super) fn power_of_choice(&mut self, at: TermRef) -> Result<Option<(TermId, Term)>, Stop> {
        if let View::Apply(TermOp::Select, [condition, a, b]) = self.terms.view(at)
            && let Class::Known(holds) = self.class(TermRef { store: at.store, term: condition })?
        {
            return Ok(Some((if holds { a } else { b }, Term::one())));
        }
        match self.tactic.choices {
            Choices::Scaled => {}
            Choices::Kept => return Ok(None),
            Choices::Ordered(order, holds) => {
                let arm = self.terms.in_order(at, order, holds);
                return Ok(arm.map(|arm| (arm.term, Term::one())));
            }
        }
        if let Some(known) = self.forms.choices.get(&at) {
            return Ok(known.clone());
        }
        let Some(([low, high], [when_true, when_false])) = self.terms.choice_by_order(at) else {
            return Ok(None);
        };
        let Some(larger) = self.terms.larger_of(low, high) else { return Ok(None) };
        for operand in [low, high, when_true, when_false] {
            if self.terms.flags(operand) & INFINITE != 0 && self.class(operand)? != Class::Finite {
                return Ok(None);
            }
        }
        let found =
            self.shallowly(|prover| prover.power_of_arm([low, high], larger, [when_true, when_false]))?;
        self.forms.choices.insert(at, found.clone());
        Ok(found)
    }

    /// The second arm and its scale; choices below the arms are kept.
    fn power_of_arm(
        &mut self,
        [low, high]: [TermRef; 2],
        larger: TermRef,
        [first, second]: [TermRef; 2],
    ) -> Result<Option<(TermId, Term)>, Stop> {
        let arm = second.term;
        let mut forms = [low, high, first, second].map(|_| Vec::new());
        for (form, at) in forms.iter_mut().zip([low, high, first, second]) {
            let flat = self.flat(at)?;
            *form = self.spread(&flat)?;
        }
        let [low, high, first, second] = forms;
        let gap = add(&high, &negated(&low));
        let Some(scale) = self.power_between(&first, &second, &gap)? else { return Ok(None) };
        let larger = self.table.opaque(larger);
        let key = Key::of(self.table.single(larger));
        let mut raised = negated(&low);
        raised.push(Term::of(key));
        collect(&mut raised);
        let exponent = self.scaled(&raised, &scale)?;
        Ok(Some((arm, self.exponential(exponent)?)))
    }

    /// The `k` with `a = b·2^(k·base)`, a number or one times an irrational constant.
    pub(super) fn power_between(
        &mut self,
        a: &[Term],
        b: &[Term],
        base: &[Term],
    ) -> Result<Option<Term>, Stop> {
        if a.len() != b.len() || a.iter().chain(b).all(|term| term.exponent() == PolynomialId::ZERO) {
            return Ok(None);
        }
        let (a, rest) = self.take_common(a.to_vec())?;
        let (b, other) = self.take_common(b.to_vec())?;
        if rest != other || a.key.monomial() != b.key.monomial() {
            return Ok(None);
        }
        let [a, b] = [a, b].map(|scale| self.table.polynomials.shared_terms(scale.key.exponent()));
        let exponent = add(&a, &negated(&b));
        let irrational = self.table.intern(Atom::Irrational(Irrational::Log2E));
        for monomial in [self.table.single(irrational), MonomialId::ONE] {
            let unit = Term::of(Key::of(monomial));
            let multiples = self.scaled(base, &unit)?;
            if let Some(coefficient) = multiple_of(&exponent, &multiples) {
                return Ok(Some(Term { coefficient, ..unit }));
            }
        }
        Ok(None)
    }

    /// A condition in canonical form.
    pub(super) fn condition(&mut self, at: TermRef, depth: u32) -> Result<ConditionId, Stop> {
        if depth > MAX_CONDITION_DEPTH {
            return Err(Stop::Unknown("conditions are nested too deeply".to_string()));
        }
        self.charge(1)?;
        let View::Apply(op, [a, b, _]) = self.terms.view(at) else {
            return Err(Stop::Unknown("a number is used as a condition".to_string()));
        };
        let [a, b] = [a, b].map(|term| TermRef { store: at.store, term });
        let Kind::Condition(predicate) = op.kind() else {
            return Err(Stop::Unknown("a number is used as a condition".to_string()));
        };
        let both = |prover: &mut Self| Ok((prover.condition(a, depth + 1)?, prover.condition(b, depth + 1)?));
        match predicate {
            Predicate::Less => self.less(a, b),
            Predicate::LessEqual => {
                let opposite = self.less(b, a)?;
                Ok(self.table.not(opposite))
            }
            Predicate::Equal => self.equal_to(a, b),
            Predicate::Not => {
                let inner = self.condition(a, depth + 1)?;
                Ok(self.table.not(inner))
            }
            Predicate::And => both(self).map(|(a, b)| self.table.and(a, b)),
            Predicate::Or => both(self).map(|(a, b)| self.table.or(a, b)),
            Predicate::Xor => both(self).map(|(a, b)| self.table.xor(a, b)),
        }
    }

    /// `a < b`, that is `b − a > 0`
    pub(super) fn less(&mut self, a: TermRef, b: TermRef) -> Result<ConditionId, Stop> {
        let (left, right) = (self.defined_class(a)?, self.defined_class(b)?);
        if let Some(less) = left.is_less(&right) {
            return Ok(self.table.known(less));
        }
        let gap = self.gap(a, b)?;
        self.is_positive(gap)
    }

    /// The condition that a sum is positive, as a comparison shows it.
    pub(super) fn is_positive(&mut self, gap: Vec<Term>) -> Result<ConditionId, Stop> {
        let signs = self.signs_of(&gap);
        if signs == Signs::POSITIVE {
            return Ok(self.table.known(true));
        }
        if signs.within(Signs::NEGATIVE | Signs::ZERO) {
            return Ok(self.table.known(false));
        }
        if let Some(any) = self.is_any_counted(&gap)? {
            return Ok(any);
        }
        Ok(self.table.positive(gap))
    }

    pub(super) fn equal_to(&mut self, a: TermRef, b: TermRef) -> Result<ConditionId, Stop> {
        let (left, right) = (self.defined_class(a)?, self.defined_class(b)?);
        if let Some(equal) = left.is_equal(&right) {
            return Ok(self.table.known(equal));
        }
        let gap = self.gap(a, b)?;
        let signs = self.signs_of(&gap);
        if self.table.is_never_zero(&gap) {
            return Ok(self.table.known(false));
        }
        if signs == Signs::ZERO || signs.excludes_zero() {
            return Ok(self.table.known(signs == Signs::ZERO));
        }
        for count in [gap.clone(), negated(&gap)] {
            if let Some(any) = self.is_any_counted(&count)? {
                return Ok(self.table.not(any));
            }
        }
        Ok(self.table.zero(gap))
    }

    /// `b − a`
    fn gap(&mut self, a: TermRef, b: TermRef) -> Result<Vec<Term>, Stop> {
        let (a, b) = (self.argument(a)?, self.argument(b)?);
        Ok(add(&b, &negated(&a)))
    }
}

impl Table {
    pub(super) fn atom_term(&mut self, atom: Atom) -> Vec<Term> {
        let atom = self.intern(atom);
        vec![self.unit(atom)]
    }

    /// The condition that a sum is positive.
    pub(super) fn positive(&mut self, sum: Vec<Term>) -> ConditionId {
        // Of the integers p and −p + 1 exactly one is positive: the condition is on the one whose leading
        // coefficient is positive.
        let (sum, negated) = self.turned_whole(&sum).unwrap_or((sum, false));
        let sum = self.unit_leading(sum, true);
        let condition = self.intern_condition(Condition::Positive(sum));
        if negated { self.not(condition) } else { condition }
    }

    /// The condition that a sum is zero.
    pub(super) fn zero(&mut self, sum: Vec<Term>) -> ConditionId {
        let sum = self.unit_leading(sum, false);
        self.intern_condition(Condition::Zero(sum))
    }

    /// A choice that is not rewritten.
    pub(super) fn choice_atom(
        &mut self,
        condition: ConditionId,
        when_true: &[Term],
        when_false: &[Term],
    ) -> Vec<Term> {
        let mut arms = [when_true, when_false].map(|arm| self.polynomial(arm));
        let mut condition = condition;
        while let Some(joined) = self.nested_choice(&condition, arms) {
            (condition, arms) = joined;
        }
        let [when_true, when_false] = arms;
        self.atom_term(match self.conditions.get(&condition) {
            Condition::Not(inner) => Atom::Select(inner.clone(), when_false, when_true),
            Condition::Known(_)
            | Condition::Positive(_)
            | Condition::Zero(_)
            | Condition::And(..)
            | Condition::Xor(..) => Atom::Select(condition, when_true, when_false),
        })
    }

    /// Of a choice of which one arm is a choice with its other arm, `c ? (d ? x : y) : y`, the condition under which that is
    /// not taken, and what is taken then and else.
    fn nested_choice(
        &mut self,
        condition: &ConditionId,
        arms: [PolynomialId; 2],
    ) -> Option<(ConditionId, [PolynomialId; 2])> {
        let not = self.not(condition.clone());
        [(condition.clone(), arms), (not, [arms[1], arms[0]])].into_iter().find_map(
            |(holds, [arm, other])| {
                let [Term { key, coefficient }] = self.polynomials.terms(arm) else { return None };
                if !coefficient.is_one() || key.exponent() != PolynomialId::ZERO {
                    return None;
                }
                let [(atom, 1)] = *self.monomials.factors(key.monomial()) else { return None };
                let Atom::Select(inner, then, otherwise) = self.atom(atom).clone() else { return None };
                let (inner, taken) = if otherwise == other {
                    (inner, then)
                } else if then == other {
                    (self.not(inner), otherwise)
                } else {
                    return None;
                };
                Some((self.and(holds, inner), [taken, other]))
            },
        )
    }

    /// Makes the leading coefficient of a sum positive; also returns whether the sum was negated.
    fn oriented(&self, terms: Vec<Term>) -> (Vec<Term>, bool) {
        match self.leading(&terms) {
            Some(leading) if terms[leading].coefficient.is_negative() => (negated(&terms), true),
            _ => (terms, false),
        }
    }

    /// For an integer `gap`, one that is positive at the same inputs, or (`true`) exactly at the others: without a
    /// common factor, and with a positive leading coefficient.
    fn turned_whole(&self, gap: &[Term]) -> Option<(Vec<Term>, bool)> {
        let whole = self.tightest(gap)?;
        let leading = self.leading(&whole)?;
        if !whole[leading].coefficient.is_negative() {
            return Some((whole, false));
        }
        Some((add(&negated(&whole), &number(Rational::ONE)), true))
    }

    /// The sum of leading coefficient 1 of which one is a multiple, and whether by a negative number.
    pub(super) fn of_any_sign(&mut self, terms: Vec<Term>) -> (PolynomialId, bool) {
        let (terms, is_negated) = self.oriented(terms);
        (self.unit_leading(terms, true), is_negated)
    }

    /// Divides a sum by its leading coefficient, or by that coefficient's magnitude.
    fn unit_leading(&mut self, terms: Vec<Term>, keep_sign: bool) -> PolynomialId {
        let Some(leading) = self.leading(&terms) else { return PolynomialId::ZERO };
        let leading = terms[leading].coefficient.clone();
        let leading = if keep_sign { leading.abs() } else { leading };
        let factor = leading.recip().unwrap_or(Rational::ONE);
        self.polynomial(&times_number(&terms, &factor))
    }

    /// The integer in {0, 1} that a condition compares, and whether the condition holds where it is 1.
    pub(super) fn digit_compared(&self, condition: &ConditionId) -> Option<(Vec<Term>, bool)> {
        let (compared, where_zero) = match self.conditions.get(condition) {
            Condition::Zero(compared) => (*compared, true),
            Condition::Positive(compared) => (*compared, false),
            Condition::Known(_) | Condition::Not(_) | Condition::And(..) | Condition::Xor(..) => return None,
        };
        let compared = self.polynomials.terms(compared);
        let whole = times_number(compared, &content(compared)?.recip()?);
        if !self.is_whole(&whole) {
            return None;
        }
        let (low, high) = self.bounds_of(&whole)?;
        if low.is_zero() && high.is_one() {
            Some((whole, !where_zero))
        } else if where_zero && high.is_zero() && low == Rational::MINUS_ONE {
            Some((negated(&whole), false))
        } else {
            None
        }
    }

    /// Whether a sum has no signs that none of some others has, and no wider bounds.
    pub(super) fn keeps_bounds(&self, sum: &[Term], arms: &[&[Term]]) -> bool {
        let signs = arms.iter().map(|arm| self.signs_of(arm)).reduce(|all, one| all | one);
        if !signs.is_none_or(|signs| self.signs_of(sum).within(signs)) {
            return false;
        }
        let bounds: Option<Vec<_>> = arms.iter().map(|arm| self.bounds_of(arm)).collect();
        let least_and_greatest = bounds.and_then(|bounds| {
            let (low, high): (Vec<_>, Vec<_>) = bounds.into_iter().unzip();
            low.into_iter().min().zip(high.into_iter().max())
        });
        least_and_greatest.is_none_or(|(least, greatest)| {
            self.bounds_of(sum).is_some_and(|(low, high)| low >= least && high <= greatest)
        })
    }

    pub(super) fn known(&mut self, value: bool) -> ConditionId {
        self.intern_condition(Condition::Known(value))
    }
}

/// What two collected sums have in common, if anything: equal terms, and, where one of them is a number beside these and the
/// other has a number too, that number.
fn shared_by_arms(a: &[Term], b: &[Term]) -> Option<Vec<Term>> {
    let is_shared = |term: &&Term| {
        let place = b.binary_search_by_key(&term.key, |other| other.key);
        place.is_ok_and(|place| b[place].coefficient == term.coefficient)
    };
    let mut shared: Vec<Term> = a.iter().filter(is_shared).cloned().collect();
    let rests = [a, b].map(|arm| add(arm, &negated(&shared)));
    if rests.iter().all(|rest| rest.iter().any(|term| term.key == Key::ONE))
        && let Some(one) = rests.iter().find_map(|rest| as_number(rest))
    {
        shared = add(&shared, &number(one));
    }
    (!shared.is_empty()).then_some(shared)
}

fn drop_zeros(mut terms: Vec<Term>) -> Vec<Term> {
    collect(&mut terms);
    terms
}

/// `k` with `terms = k·base`, both collected and `base` not empty.
fn multiple_of(terms: &[Term], base: &[Term]) -> Option<Rational> {
    if terms.len() != base.len() {
        return None;
    }
    let factor = terms.first()?.coefficient.checked_div(&base.first()?.coefficient)?;
    let fits = |(term, base): (&Term, &Term)| {
        term.key == base.key && term.coefficient == &base.coefficient * &factor
    };
    terms.iter().zip(base).all(fits).then_some(factor)
}
