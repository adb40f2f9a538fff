//! A formula as plain text.

use std::fmt::{self, Display, Write};

use super::number;
use super::tree::{Affine, Definition, Expression, Formula, Over, Piece, Range, Variable};
use crate::number::Rational;
use crate::term::{TermOp, fill};

/// What indices are called, but for names of inputs and outputs.
const LETTERS: [&str; 18] =
    ["i", "j", "k", "l", "m", "n", "p", "q", "r", "s", "t", "u", "v", "w", "a", "b", "c", "d"];

impl Display for Formula {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Text { formula: self, letters: letters(self) };
        let mut lines = Vec::new();
        lines.extend(self.pieces.iter().map(|piece| text.piece(piece)));
        if let (pieces @ 1.., elements) = self.omitted {
            lines.push(format!("… {pieces} more pieces, of {elements} elements …"));
        }
        if self.open > 0 {
            lines.push(format!("… {} elements whose formula is too large …", self.open));
        }
        lines.extend(self.definitions.iter().map(|definition| text.definition(definition)));
        to.write_str(&lines.join("\n"))
    }
}

fn letters(formula: &Formula) -> Vec<&'static str> {
    let is_free = |letter: &&str| {
        !formula.tensors.iter().any(|name| **name == **letter)
            && !formula.definitions.iter().any(|definition| definition.name == **letter)
    };
    LETTERS.into_iter().filter(is_free).collect()
}

/// How tightly a text holds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
    Power,
}

struct Text<'f> {
    formula: &'f Formula,
    letters: Vec<&'static str>,
}

impl Text<'_> {
    fn variable(&self, variable: Variable) -> String {
        match self.letters.get(variable.index()) {
            Some(letter) => (*letter).to_string(),
            None => format!("i{}", variable.0),
        }
    }

    fn affine(&self, affine: &Affine) -> String {
        let mut text = String::new();
        let mut put = |number: i64, name: &str| {
            let sign = match (text.is_empty(), number < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => "-",
                (false, false) => "+",
            };
            let size = number.unsigned_abs();
            let _ = match (size, name) {
                (_, "") => write!(text, "{sign}{size}"),
                (1, name) => write!(text, "{sign}{name}"),
                (size, name) => write!(text, "{sign}{size}{name}"),
            };
        };
        let (above, below): (Vec<_>, Vec<_>) =
            affine.terms.iter().copied().partition(|(_, times)| *times > 0);
        above.into_iter().for_each(|(variable, times)| put(times, &self.variable(variable)));
        if affine.constant > 0 {
            put(affine.constant, "");
        }
        below.into_iter().for_each(|(variable, times)| put(times, &self.variable(variable)));
        if affine.constant < 0 || text.is_empty() {
            let sign = if affine.constant < 0 { "-" } else { "" };
            let _ = write!(text, "{sign}{}", affine.constant.unsigned_abs());
        }
        text
    }

    fn range(&self, range: &Range, space: &str) -> String {
        let name = self.variable(range.variable);
        let from = match self.affine(&range.from) {
            zero if zero == "0" => String::new(),
            from => format!("{from}{space}≤{space}"),
        };
        let last = range.to.plus(&Affine::constant(1), -1);
        // `j ≤ i` is shorter than `j < i + 1`.
        if !range.to.terms.is_empty() && last.constant == 0 {
            return format!("{from}{name}{space}≤{space}{}", self.affine(&last));
        }
        format!("{from}{name}{space}<{space}{}", self.affine(&range.to))
    }

    fn indexed(&self, name: &str, index: &[Affine]) -> String {
        if index.is_empty() {
            return name.to_string();
        }
        let list: Vec<String> = index.iter().map(|index| self.affine(index)).collect();
        format!("{name}[{}]", list.join(","))
    }

    fn piece(&self, piece: &Piece) -> String {
        let left = self.indexed(&piece.output, &piece.index);
        let ranges: Vec<String> = piece.ranges.iter().map(|range| self.range(range, " ")).collect();
        let behind = if ranges.is_empty() { String::new() } else { format!("      {}", ranges.join(", ")) };
        format!("{left} = {}{behind}", self.expression(&piece.value).0)
    }

    fn definition(&self, definition: &Definition) -> String {
        let parameters: Vec<Affine> =
            (0..definition.parameters).map(|number| Affine::variable(Variable(number))).collect();
        let left = self.indexed(&definition.name, &parameters);
        format!("  {left} = {}", self.expression(&definition.value).0)
    }

    fn expression(&self, expression: &Expression) -> (String, Level) {
        match expression {
            Expression::Number(value) => {
                let level = match (value.is_negative(), value.is_integer()) {
                    (true, _) => Level::Sum,
                    (false, true) => Level::Power,
                    (false, false) => Level::Product,
                };
                (number::text(value), level)
            }
            Expression::Whole(index) => (self.affine(index), Level::Sum),
            Expression::Constant(name) => (name.to_string(), Level::Power),
            Expression::Element(name, index) => (self.indexed(name, index), Level::Power),
            Expression::Name(at, index) => {
                (self.indexed(&self.formula.definitions[*at].name, index), Level::Power)
            }
            Expression::Sum(addends) => self.sum(addends),
            Expression::Product(factors) => self.product(&Rational::ONE, factors),
            Expression::Exp(part) => (format!("exp({})", self.plain(part)), Level::Power),
            Expression::Positive(part) => (self.compared(part, [">", "<"]), Level::Sum),
            Expression::Zero(part) => (self.compared(part, ["=", "="]), Level::Sum),
            Expression::Apply(op, operands) => (self.applied(*op, operands), Level::Power),
            Expression::Over(over, ranges, body) => {
                let ranges: Vec<String> = ranges.iter().map(|range| self.range(range, "")).collect();
                let ranges = ranges.join(",");
                match over {
                    Over::Sum => (format!("Σ{{{ranges}}} {}", self.at(body, Level::Product)), Level::Product),
                    Over::Product => {
                        (format!("Π{{{ranges}}} {}", self.at(body, Level::Product)), Level::Product)
                    }
                    Over::Mean => (format!("mean{{{ranges}}}({})", self.plain(body)), Level::Power),
                    Over::Max => (format!("max{{{ranges}}}({})", self.plain(body)), Level::Power),
                    Over::Min => (format!("min{{{ranges}}}({})", self.plain(body)), Level::Power),
                    Over::All => (self.plain(body), Level::Sum),
                }
            }
        }
    }

    fn plain(&self, expression: &Expression) -> String {
        self.expression(expression).0
    }

    /// In brackets, if it would fall apart.
    fn at(&self, expression: &Expression, level: Level) -> String {
        let (text, own) = self.expression(expression);
        if own < level { format!("({text})") } else { text }
    }

    fn sum(&self, addends: &[(Rational, Expression)]) -> (String, Level) {
        let mut order: Vec<&(Rational, Expression)> = addends.iter().collect();
        // The sum begins with a plus, and ends with what is constant.
        order.sort_by_key(|(_, part)| matches!(part, Expression::Number(_) | Expression::Constant(_)));
        if let Some(first) = order.iter().position(|(coefficient, _)| coefficient.is_positive()) {
            order[..=first].rotate_right(1);
        }
        let mut text = String::new();
        let mut level = Level::Sum;
        for (coefficient, part) in &order {
            let sign = match (text.is_empty(), coefficient.is_negative()) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let (term, own) = self.times(&coefficient.abs(), part);
            level = own;
            let term = if own < Level::Product { format!("({term})") } else { term };
            text.push_str(sign);
            text.push_str(&term);
        }
        let alone = order.len() == 1 && !order[0].0.is_negative();
        (text, if alone { level } else { Level::Sum })
    }

    /// A number that is not negative times an expression.
    fn times(&self, coefficient: &Rational, part: &Expression) -> (String, Level) {
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

    fn product(&self, coefficient: &Rational, factors: &[(Expression, i32)]) -> (String, Level) {
        let (mut above, mut below) = (Vec::new(), Vec::new());
        let (num, den) = number::parts(coefficient);
        if num != "1" {
            above.push(num);
        }
        below.extend(den);
        // What is long and open to the right stands last.
        let mut order: Vec<&(Expression, i32)> = factors.iter().collect();
        order.sort_by_key(|(part, power)| {
            *power == 2 && matches!(part, Expression::Over(Over::Sum | Over::Product, ..))
        });
        for (part, power) in order {
            let whole = power.unsigned_abs() / 2;
            let list = if *power > 0 { &mut above } else { &mut below };
            if power % 2 != 0 {
                list.push(format!("sqrt({})", self.plain(part)));
            }
            match whole {
                0 => {}
                1 => list.push(self.at(part, if *power > 0 { Level::Product } else { Level::Power })),
                whole => list.push(format!("{}^{whole}", self.at(part, Level::Power))),
            }
        }
        let over = |above: String| match below.as_slice() {
            [] => above,
            [one] => format!("{above} / {one}"),
            several => format!("{above} / ({})", several.join("·")),
        };
        match above.as_slice() {
            [] => (over("1".to_string()), Level::Product),
            [one] if below.is_empty() && !one.starts_with('Σ') => (one.clone(), Level::Power),
            above => {
                let last_is_open = above.last().is_some_and(|last| last.starts_with(['Σ', 'Π']));
                let mut above = above.to_vec();
                if last_is_open
                    && !below.is_empty()
                    && let Some(last) = above.last_mut()
                {
                    *last = format!("({last})");
                }
                (over(above.join("·")), Level::Product)
            }
        }
    }

    fn compared(&self, part: &Expression, [relation, opposite]: [&str; 2]) -> String {
        // Negative addends stand on the other side.
        let addends = if let Expression::Sum(addends) = part {
            addends.clone()
        } else {
            vec![(Rational::ONE, part.clone())]
        };
        let (left, right): (Vec<_>, Vec<_>) =
            addends.into_iter().partition(|(coefficient, _)| coefficient.is_positive());
        let right: Vec<_> = right.into_iter().map(|(coefficient, part)| (-&coefficient, part)).collect();
        match (left.as_slice(), right.as_slice()) {
            (left, []) => format!("{} {relation} 0", self.sum(left).0),
            ([], right) => format!("{} {opposite} 0", self.sum(right).0),
            (left, right) => format!("{} {relation} {}", self.sum(left).0, self.sum(right).0),
        }
    }

    fn applied(&self, op: TermOp, operands: &[Expression]) -> String {
        // What stands between signs is set apart from them.
        let level = if matches!(op, TermOp::Mod | TermOp::BitAnd) { Level::Product } else { Level::Sum };
        let list: Vec<String> = operands.iter().map(|operand| self.at(operand, level)).collect();
        if matches!(op, TermOp::Max | TermOp::Min) {
            return format!("{}({})", op.info().name().unwrap_or_default(), list.join(", "));
        }
        if op == TermOp::Not {
            return if let Expression::Positive(part) = &operands[0] {
                self.compared(part, ["≤", "≥"])
            } else if let Expression::Zero(part) = &operands[0] {
                self.compared(part, ["≠", "≠"])
            } else {
                format!("not ({})", list[0])
            };
        }
        if op == TermOp::Select {
            return format!("({} ? {} : {})", list[0], list[1], list[2]);
        }
        let between = if op == TermOp::And {
            " and "
        } else if op == TermOp::Xor {
            " xor "
        } else {
            return fill(op.info().text, &list);
        };
        format!("({})", list.join(between))
    }
}
