//! Writes a formula in a notation: the order of addends and factors, signs, brackets and indices are the same in
//! all notations.

use std::fmt::{self, Display};

use super::notation::{Latex, MathMl, Notation, Plain};
use super::number;
use super::tree::{AffineIndex, Definition, Expression, Family, Formula, IndexRange, IndexVariable, Over};
use crate::number::Rational;
use crate::term::{TermOp, fill};

/// Names of indices, except those that inputs or outputs have.
const LETTERS: [&str; 18] =
    ["i", "j", "k", "l", "m", "n", "p", "q", "r", "s", "t", "u", "v", "w", "a", "b", "c", "d"];

impl Display for Formula {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.lines(&Plain).join("\n"))
    }
}

impl Formula {
    /// As LaTeX: the lines of an `align*`.
    pub fn latex(&self) -> String {
        format!("\\begin{{align*}}\n{}\n\\end{{align*}}", self.lines(&Latex).join(" \\\\\n"))
    }

    /// As MathML: a paragraph for each line.
    pub fn mathml(&self) -> String {
        self.lines(&MathMl).join("\n")
    }

    fn lines(&self, notation: &impl Notation) -> Vec<String> {
        let writer = Writer { formula: self, letters: letters(self), notation };
        let mut lines: Vec<String> = self.pieces.iter().map(|piece| writer.piece(piece)).collect();
        if let (pieces @ 1.., elements) = self.omitted {
            lines.push(notation.remark(&format!("… {pieces} more pieces, of {elements} elements …")));
        }
        if self.open > 0 {
            let open = self.open;
            lines.push(notation.remark(&format!("… {open} elements whose formula is too large …")));
        }
        lines.extend(self.definitions.iter().map(|definition| writer.definition(definition)));
        lines
    }
}

fn letters(formula: &Formula) -> Vec<&'static str> {
    let is_free = |letter: &&str| {
        !formula.tensors.iter().any(|name| **name == **letter)
            && !formula.definitions.iter().any(|definition| definition.name == **letter)
    };
    LETTERS.into_iter().filter(is_free).collect()
}

/// Marks do not change the order of the parts.
fn unmarked(expression: &Expression) -> &Expression {
    let Expression::Marked(inner) = expression else { return expression };
    if let Expression::Sum(one) = &**inner
        && let [(_, one)] = one.as_slice()
    {
        one
    } else if let Expression::Product(one) = &**inner
        && let [(one, _)] = one.as_slice()
    {
        one
    } else {
        inner
    }
}

fn is_constant(expression: &Expression) -> bool {
    matches!(unmarked(expression), Expression::Number(_) | Expression::Constant(_))
}

fn goes_on(expression: &Expression) -> bool {
    matches!(unmarked(expression), Expression::Over(Over::Sum | Over::Product, ..))
}

/// Binding strength of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Sum,
    Product,
    Power,
}

/// A written part.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) level: Level,
    /// Whether it extends to the right without a bracket, as a sum over a range does.
    pub(super) is_open: bool,
}

impl Written {
    pub(super) fn new(text: String, level: Level) -> Written {
        Written { text, level, is_open: false }
    }
}

struct Writer<'f, N> {
    formula: &'f Formula,
    letters: Vec<&'static str>,
    notation: &'f N,
}

impl<N: Notation> Writer<'_, N> {
    fn variable(&self, variable: IndexVariable) -> String {
        match self.letters.get(variable.index()) {
            Some(letter) => (*letter).to_string(),
            None => format!("i{}", variable.0),
        }
    }

    fn affine(&self, affine: &AffineIndex) -> String {
        let name = |(variable, times): (IndexVariable, i64)| (times, self.variable(variable));
        let (above, below): (Vec<_>, Vec<_>) =
            affine.terms.iter().copied().partition(|(_, times)| *times > 0);
        let mut terms: Vec<(i64, String)> = above.into_iter().map(name).collect();
        let constant = || (affine.constant, String::new());
        if affine.constant > 0 {
            terms.push(constant());
        }
        terms.extend(below.into_iter().map(name));
        if affine.constant < 0 || terms.is_empty() {
            terms.push(constant());
        }
        self.notation.index(&terms)
    }

    fn range(&self, range: &IndexRange, spaced: bool) -> String {
        let name = self.notation.index(&[(1, self.variable(range.variable))]);
        let mut parts = Vec::new();
        if range.from != AffineIndex::constant(0) {
            parts.extend([self.affine(&range.from), "≤".into()]);
        }
        parts.push(name);
        let last = range.to.plus(&AffineIndex::constant(1), -1);
        // `j ≤ i` is shorter than `j < i + 1`.
        if !range.to.terms.is_empty() && last.constant == 0 {
            parts.extend(["≤".into(), self.affine(&last)]);
        } else {
            parts.extend(["<".into(), self.affine(&range.to)]);
        }
        self.notation.comparison(&parts, spaced)
    }

    fn ranges(&self, ranges: &[IndexRange], spaced: bool) -> Vec<String> {
        ranges.iter().map(|range| self.range(range, spaced)).collect()
    }

    fn indexed(&self, name: &str, index: &[AffineIndex]) -> String {
        let index: Vec<String> = index.iter().map(|index| self.affine(index)).collect();
        self.notation.indexed(&self.notation.name(name), &index)
    }

    fn piece(&self, piece: &Family) -> String {
        let index: Vec<String> = piece.index.iter().map(|index| self.affine(index)).collect();
        // Its elements after the launch, on the left, are others than those before it.
        let values = self.formula.pieces.iter().map(|piece| &piece.value);
        let is_read = values
            .chain(self.formula.definitions.iter().map(|definition| &definition.value))
            .any(|value| value.reads(&piece.output));
        let name = self.notation.name(&piece.output);
        let left = self.notation.indexed(&if is_read { self.notation.after(name) } else { name }, &index);
        let ranges = self.ranges(&piece.ranges, true);
        self.notation.line(&left, &self.plain(&piece.value), &ranges, false)
    }

    fn definition(&self, definition: &Definition) -> String {
        let parameters: Vec<AffineIndex> =
            (0..definition.parameters).map(|number| AffineIndex::variable(IndexVariable(number))).collect();
        let left = self.indexed(&definition.name, &parameters);
        self.notation.line(&left, &self.plain(&definition.value), &[], true)
    }

    fn expression(&self, expression: &Expression) -> Written {
        let text = match expression {
            Expression::Number(value) => return self.number(value),
            Expression::Whole(index) => return Written::new(self.affine(index), Level::Sum),
            Expression::Constant(name) => self.notation.constant(name),
            Expression::Element(name, index) => self.indexed(name, index),
            Expression::Name(at, index) => self.indexed(&self.formula.definitions[*at].name, index),
            Expression::Sum(addends) => return self.sum(addends),
            Expression::Product(factors) => return self.product(&Rational::ONE, factors),
            Expression::Exp(part) => self.notation.call("exp", &[self.plain(part)]),
            Expression::Positive(part) => return self.compared(part, [">", "<"]),
            Expression::Zero(part) => return self.compared(part, ["=", "="]),
            Expression::Apply(op, operands) => self.applied(*op, operands),
            Expression::Over(over, ranges, body) => return self.over(*over, ranges, body),
            Expression::Marked(part) => {
                let inner = self.expression(part);
                return Written { text: self.notation.marked(&inner.text), ..inner };
            }
        };
        Written::new(text, Level::Power)
    }

    fn number(&self, value: &Rational) -> Written {
        let (above, below) = number::parts(value);
        let level = match (value.is_negative(), &below) {
            (true, _) => Level::Sum,
            (false, None) => Level::Power,
            (false, Some(_)) => Level::Product,
        };
        let above = self.notation.literal(&above);
        let text = match below {
            None => above,
            Some(below) => self.notation.ratio(&above, &self.notation.literal(&below)),
        };
        Written::new(text, level)
    }

    fn over(&self, over: Over, ranges: &[IndexRange], body: &Expression) -> Written {
        let ranges = self.ranges(ranges, false);
        let named =
            |name| Written::new(self.notation.call_over(name, &ranges, &self.plain(body)), Level::Power);
        let sign = match over {
            Over::Sum => "Σ",
            Over::Product => "Π",
            Over::Mean => return named("mean"),
            Over::Max => return named("max"),
            Over::Min => return named("min"),
            Over::All => return Written::new(self.plain(body), Level::Sum),
        };
        let text = self.notation.sign_over(sign, &ranges, &self.at(body, Level::Product));
        Written { text, level: Level::Product, is_open: true }
    }

    fn plain(&self, expression: &Expression) -> String {
        self.expression(expression).text
    }

    /// In brackets if it binds less tightly than the context.
    fn at(&self, expression: &Expression, level: Level) -> String {
        self.held(self.expression(expression), level)
    }

    fn held(&self, written: Written, level: Level) -> String {
        if written.level < level { self.notation.brackets(&written.text) } else { written.text }
    }

    fn sum(&self, addends: &[(Rational, Expression)]) -> Written {
        let mut order: Vec<&(Rational, Expression)> = addends.iter().collect();
        // The sum begins with a positive addend, if there is one, and ends with constants.
        order.sort_by_key(|(_, part)| is_constant(part));
        if let Some(first) = order.iter().position(|(coefficient, _)| coefficient.is_positive()) {
            order[..=first].rotate_right(1);
        }
        let written = |(coefficient, part): &&(Rational, Expression)| {
            (coefficient.is_negative(), self.times(&coefficient.abs(), part))
        };
        let mut parts: Vec<(bool, Written)> = order.iter().map(written).collect();
        if parts.len() == 1 && !parts[0].0 {
            return parts.swap_remove(0).1;
        }
        let part = |(negative, part)| (negative, self.held(part, Level::Product));
        let parts: Vec<(bool, String)> = parts.into_iter().map(part).collect();
        Written::new(self.notation.sum(&parts), Level::Sum)
    }

    /// A non-negative number times an expression.
    fn times(&self, coefficient: &Rational, part: &Expression) -> Written {
        if let Expression::Product(factors) = part {
            self.product(coefficient, factors)
        } else if let Expression::Number(value) = part {
            self.expression(&Expression::Number(coefficient * value))
        } else if coefficient.is_one() {
            self.expression(part)
        } else {
            self.product(coefficient, &[(part.clone(), 2)])
        }
    }

    fn product(&self, coefficient: &Rational, factors: &[(Expression, i32)]) -> Written {
        let (mut above, mut below) = (Vec::new(), Vec::new());
        let tight = |text: String| Written::new(text, Level::Power);
        let (num, den) = number::parts(coefficient);
        if num != "1" {
            above.push(tight(self.notation.literal(&num)));
        }
        below.extend(den.map(|den| tight(self.notation.literal(&den))));
        // Parts that are open to the right come last.
        let mut order: Vec<&(Expression, i32)> = factors.iter().collect();
        order.sort_by_key(|(part, power)| *power == 2 && goes_on(part));
        for (part, power) in order {
            let whole = power.unsigned_abs() / 2;
            let list = if *power > 0 { &mut above } else { &mut below };
            if power % 2 != 0 {
                list.push(tight(self.notation.root(&self.plain(part))));
            }
            match whole {
                0 => {}
                1 => list.push(self.expression(part)),
                whole => list.push(tight(self.notation.power(&self.at(part, Level::Power), whole))),
            }
        }
        match (above.as_slice(), below.as_slice()) {
            ([one], []) if !one.is_open => tight(self.held(one.clone(), Level::Product)),
            (above, []) => {
                let factors = above.iter().map(|factor| self.held(factor.clone(), Level::Product)).collect();
                let is_open = above.last().is_some_and(|last| last.is_open);
                Written { text: self.notation.product(factors), level: Level::Product, is_open }
            }
            (above, below) => Written::new(self.notation.quotient(above, below), Level::Product),
        }
    }

    fn compared(&self, part: &Expression, [relation, opposite]: [&str; 2]) -> Written {
        // Negative addends are moved to the other side.
        let addends = if let Expression::Sum(addends) = part {
            addends.clone()
        } else {
            vec![(Rational::ONE, part.clone())]
        };
        let (left, right): (Vec<_>, Vec<_>) =
            addends.into_iter().partition(|(coefficient, _)| coefficient.is_positive());
        let right: Vec<_> = right.into_iter().map(|(coefficient, part)| (-&coefficient, part)).collect();
        let zero = || self.notation.literal("0");
        let sides = match (left.as_slice(), right.as_slice()) {
            (left, []) => [self.sum(left).text, relation.into(), zero()],
            ([], right) => [self.sum(right).text, opposite.into(), zero()],
            // A number stands on the right.
            ([(_, number)], right)
                if is_constant(number) && !right.iter().all(|(_, part)| is_constant(part)) =>
            {
                [self.sum(right).text, opposite.into(), self.sum(&left).text]
            }
            (left, right) => [self.sum(left).text, relation.into(), self.sum(right).text],
        };
        Written::new(self.notation.comparison(&sides, true), Level::Sum)
    }

    fn applied(&self, op: TermOp, operands: &[Expression]) -> String {
        // Operands between infix operators are set apart.
        let level = if matches!(op, TermOp::Mod | TermOp::BitAnd) { Level::Product } else { Level::Sum };
        let list: Vec<String> = operands.iter().map(|operand| self.at(operand, level)).collect();
        if op == TermOp::Not {
            return if let Expression::Positive(part) = &operands[0] {
                self.compared(part, ["≤", "≥"]).text
            } else if let Expression::Zero(part) = &operands[0] {
                self.compared(part, ["≠", "≠"]).text
            } else {
                self.notation.call("not ", &list)
            };
        }
        if let (TermOp::Select, [condition, then, other]) = (op, list.as_slice()) {
            return self.notation.choice(condition, then, other);
        }
        match (op.info().name(), op.info().between()) {
            (Some(name), _) => self.notation.call(name, &list),
            (None, Some(word)) => self.notation.brackets(&self.notation.between(word, &list)),
            (None, None) => fill(op.info().text, &list),
        }
    }
}
