//! Reading formulas, in the notation in which formulas of kernels are printed:
//!
//! ```text
//! y[i,j] = Σ{k<64} x[i,k]·w[j,k]      i < 32, j < 16
//! ```

use super::{At, Combination, Construct, Expr, Function, Indexing, Read, Reduce, ValueId};
use crate::number::{Extended, Rational};

/// A formula for all elements of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorFormula {
    /// The name before the indices.
    pub name: String,
    /// The extents of the indices.
    pub shape: Vec<u64>,
    /// What each element is.
    pub construct: Construct,
}

/// What a name in an expression stands for.
#[derive(Clone, Debug)]
pub enum Named {
    /// A value, whose elements are read.
    Value(ValueId),
    /// An expression.
    Expr(Expr),
}

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The bytes in the text.
    pub span: (usize, usize),
    /// One sentence.
    pub message: String,
}

/// Expressions are nested no deeper, so that reading and checking them need not much of the stack.
const MAX_NESTING: usize = 64;

/// Reads a formula. `named` says what the names in it stand for.
///
/// # Errors
/// What is not a formula.
pub fn formula(text: &str, named: &dyn Fn(&str) -> Option<Named>) -> Result<TensorFormula, Unreadable> {
    let mut reader = Reader::new(text, named);
    let (name, _) = reader.word()?;
    let mut indices = Vec::new();
    if reader.takes("[") {
        loop {
            indices.push(reader.word()?);
            if !reader.takes(",") {
                break;
            }
        }
        reader.wants("]")?;
    }
    reader.variables = indices.iter().map(|(name, _)| (name.clone(), indices_at(&indices, name))).collect();
    if let Some((name, span)) = indices
        .iter()
        .enumerate()
        .find_map(|(at, index)| indices[..at].iter().any(|(known, _)| *known == index.0).then_some(index))
    {
        return Err(Unreadable { span: *span, message: format!("the index `{name}` occurs twice") });
    }
    reader.wants("=")?;
    let (over, reduce) = reader.reduction(indices.len())?;
    let start = reader.at;
    let expr = match reduce.map(|reduce| reduce.with) {
        None => reader.sum()?,
        Some(Combination::Sum) => reader.product()?,
        Some(_) => {
            if !reader.rest().trim_start().starts_with('(') {
                return Err(reader.wrong("what is combined is wanted in parentheses here"));
            }
            reader.factor()?
        }
    };
    reader.blanks();
    if reduce.is_some() && reader.rest().starts_with(['+', '-', '*', '/', '·', '^', '<', '>']) {
        let message =
            "a formula is one expression or one reduction: give the reduction a formula of its own".into();
        return Err(Unreadable { span: (start, reader.at), message });
    }
    let ranges = reader.ranges()?;
    let mut shape = Vec::new();
    for (name, span) in &indices {
        match ranges.iter().find(|(ranged, ..)| ranged == name) {
            Some((_, extent, _)) => shape.push(*extent),
            None => {
                let message = format!("`{name}` has no range: `{name} < …` is wanted at the end");
                return Err(Unreadable { span: *span, message });
            }
        }
    }
    if let Some((name, _, span)) =
        ranges.iter().find(|(ranged, ..)| indices.iter().all(|(name, _)| name != ranged))
    {
        return Err(Unreadable { span: *span, message: format!("`{name}` is no index of the formula") });
    }
    Ok(TensorFormula { name, shape, construct: Construct { over, reduce, expr } })
}

/// Reads an expression that has no variables.
///
/// # Errors
/// What is not an expression.
pub fn expression(text: &str, named: &dyn Fn(&str) -> Option<Named>) -> Result<Expr, Unreadable> {
    let mut reader = Reader::new(text, named);
    let expr = reader.sum()?;
    reader.blanks();
    if reader.rest().is_empty() { Ok(expr) } else { Err(reader.wrong("the expression ends before this")) }
}

/// The place of an index among all of them.
fn indices_at(indices: &[(String, (usize, usize))], name: &str) -> usize {
    indices.iter().position(|(known, _)| known == name).unwrap_or(0)
}

/// An index with its extent, and its bytes in the text.
type Ranged = (String, u64, (usize, usize));

/// A reader of text.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    nesting: usize,
    variables: Vec<(String, usize)>,
    named: &'t dyn Fn(&str) -> Option<Named>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, named: &'t dyn Fn(&str) -> Option<Named>) -> Reader<'t> {
        Reader { text, at: 0, nesting: 0, variables: Vec::new(), named }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn takes(&mut self, sign: &str) -> bool {
        self.blanks();
        let is_next = self.rest().starts_with(sign);
        self.at += if is_next { sign.len() } else { 0 };
        is_next
    }

    /// Takes the first of these signs that comes next.
    fn takes_one<T: Copy>(&mut self, signs: &[(&str, T)]) -> Option<T> {
        signs.iter().find(|(sign, _)| self.takes(sign)).map(|(_, what)| *what)
    }

    fn wants(&mut self, sign: &str) -> Result<(), Unreadable> {
        if self.takes(sign) { Ok(()) } else { Err(self.wrong(&format!("`{sign}` is wanted here"))) }
    }

    fn wrong(&self, message: &str) -> Unreadable {
        let next = self.rest().chars().next().map_or(0, char::len_utf8);
        Unreadable { span: (self.at, self.at + next), message: message.into() }
    }

    /// A name, and its bytes. Names may contain periods.
    fn word(&mut self) -> Result<(String, (usize, usize)), Unreadable> {
        self.blanks();
        let is_part = |c: char| c.is_alphanumeric() && !"ΣΠ".contains(c) || c == '_' || c == '.';
        let length = self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        if !word.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return Err(self.wrong("a name is wanted here"));
        }
        let span = (self.at, self.at + length);
        self.at += length;
        Ok((word.into(), span))
    }

    /// A whole number, and its bytes.
    fn whole(&mut self) -> Result<u64, Unreadable> {
        self.blanks();
        let length = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
        let Ok(value) = self.rest()[..length].parse() else {
            return Err(self.wrong("a whole number is wanted here"));
        };
        self.at += length;
        Ok(value)
    }

    /// `Σ{k<4, l<5}`, if it comes next.
    fn reduction(&mut self, indices: usize) -> Result<(Vec<u64>, Option<Reduce>), Unreadable> {
        self.blanks();
        let start = self.at;
        let with = Combination::WORDS.iter().find(|(word, _)| {
            let rest = self.rest().strip_prefix(word);
            rest.is_some_and(|rest| rest.trim_start().starts_with('{'))
        });
        let Some((word, with)) = with else { return Ok((Vec::new(), None)) };
        self.at += word.len();
        self.wants("{")?;
        let (mut over, mut prefix) = (Vec::new(), None);
        loop {
            let (name, span) = self.word()?;
            if self.variables.iter().any(|(known, _)| *known == name) {
                return Err(Unreadable { span, message: format!("`{name}` is already an index") });
            }
            if self.takes("≤") || self.takes("<=") {
                let (until, span) = self.word()?;
                let until = self.variables.iter().find(|(known, at)| *known == until && *at < indices);
                let Some((_, until)) = until else {
                    return Err(Unreadable {
                        span,
                        message: "an index of the formula is wanted here".into(),
                    });
                };
                prefix = Some(*until);
                self.variables.push((name, *until));
            } else {
                self.wants("<")?;
                over.push(self.whole()?);
                self.variables.push((name, indices + over.len() - 1));
            }
            if !self.takes(",") {
                break;
            }
        }
        self.wants("}")?;
        if prefix.is_some() && !over.is_empty() {
            let message = "a prefix is over one index".into();
            return Err(Unreadable { span: (start, self.at), message });
        }
        if let Some(prefix) = prefix {
            // An element combined is a function of its own place, not of the one up to which it is combined.
            let own = self.variables.pop();
            self.variables.retain(|(_, variable)| *variable != prefix);
            self.variables.extend(own);
        }
        Ok((over, Some(Reduce { with: *with, prefix })))
    }

    /// `i < 8, j < 16`, up to the end.
    fn ranges(&mut self) -> Result<Vec<Ranged>, Unreadable> {
        let mut ranges = Vec::new();
        self.blanks();
        while !self.rest().is_empty() {
            let Ok((name, span)) = self.word() else {
                return Err(self.wrong("the formula ends before this"));
            };
            self.wants("<")?;
            ranges.push((name, self.whole()?, span));
            self.blanks();
            if !self.rest().is_empty() {
                self.wants(",")?;
            }
        }
        Ok(ranges)
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Unreadable>) -> Result<T, Unreadable> {
        if self.nesting == MAX_NESTING {
            return Err(self.wrong("this is nested too deep"));
        }
        self.nesting += 1;
        let read = read(self);
        self.nesting -= 1;
        read
    }

    /// Sums and differences.
    fn sum(&mut self) -> Result<Expr, Unreadable> {
        let mut sum = self.product()?;
        while let Some(function) = self.takes_one(&[("+", Function::Add), ("-", Function::Sub)]) {
            sum = Expr::Apply(function, vec![sum, self.product()?]);
        }
        Ok(sum)
    }

    /// Products and quotients.
    fn product(&mut self) -> Result<Expr, Unreadable> {
        let mut product = self.factor()?;
        let signs = [("*", Function::Mul), ("·", Function::Mul), ("/", Function::Div)];
        while let Some(function) = self.takes_one(&signs) {
            product = Expr::Apply(function, vec![product, self.factor()?]);
        }
        Ok(product)
    }

    fn factor(&mut self) -> Result<Expr, Unreadable> {
        if self.takes("-") {
            let operand = self.nested(Self::factor)?;
            return Ok(match operand {
                Expr::Number(Extended::Finite(number)) => Expr::Number(Extended::Finite(-&number)),
                Expr::Number(Extended::PosInf) => Expr::Number(Extended::NegInf),
                Expr::Number(Extended::NegInf) => Expr::Number(Extended::PosInf),
                operand @ (Expr::Index(_) | Expr::Element(_) | Expr::Apply(..)) => {
                    Expr::Apply(Function::Neg, vec![operand])
                }
            });
        }
        let base = self.atom()?;
        if self.takes("^") {
            let power = self.nested(Self::factor)?;
            return Ok(Expr::Apply(Function::Pow, vec![base, power]));
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<Expr, Unreadable> {
        self.blanks();
        if self.rest().starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.number();
        }
        if self.takes("(") {
            let inner = self.nested(Self::choice)?;
            self.wants(")")?;
            return Ok(inner);
        }
        let (name, span) = self.word()?;
        if name == "inf" {
            return Ok(Expr::Number(Extended::PosInf));
        }
        if self.rest().starts_with('(') {
            return self.call(&name, span);
        }
        if let Some((_, variable)) = self.variables.iter().find(|(known, _)| *known == name) {
            return Ok(Expr::Index(Indexing::variable(*variable)));
        }
        match (self.named)(&name) {
            None => Err(Unreadable { span, message: format!("there is no `{name}` here") }),
            Some(Named::Expr(expr)) => Ok(expr),
            Some(Named::Value(value)) => self.element(value),
        }
    }

    /// `name(a, b)`
    fn call(&mut self, name: &str, span: (usize, usize)) -> Result<Expr, Unreadable> {
        let Some(function) = Function::named(name) else {
            let names: Vec<&str> = Function::ALL.iter().map(|function| function.word()).collect();
            let near = volta_case::nearest(name, names);
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(Unreadable { span, message: format!("there is no function `{name}`{near}") });
        };
        self.wants("(")?;
        let mut operands = vec![self.nested(Self::choice)?];
        while self.takes(",") {
            operands.push(self.nested(Self::choice)?);
        }
        self.wants(")")?;
        if operands.len() != function.arity() {
            let (given, arity) = (operands.len(), function.arity());
            let message = format!("`{name}` takes {arity} operands, and {given} are given");
            return Err(Unreadable { span: (span.0, self.at), message });
        }
        Ok(Expr::Apply(function, operands))
    }

    /// Within parentheses: comparisons, and `c ? a : b`.
    fn choice(&mut self) -> Result<Expr, Unreadable> {
        let left = self.sum()?;
        let signs = [
            ("<=", Function::LessEqual),
            (">=", Function::GreaterEqual),
            ("==", Function::Equal),
            ("!=", Function::NotEqual),
            ("<", Function::Less),
            (">", Function::Greater),
        ];
        let condition = match self.takes_one(&signs) {
            Some(function) => Expr::Apply(function, vec![left, self.sum()?]),
            None => left,
        };
        if !self.takes("?") {
            return Ok(condition);
        }
        let then = self.nested(Self::choice)?;
        self.wants(":")?;
        let otherwise = self.nested(Self::choice)?;
        Ok(Expr::Apply(Function::Where, vec![condition, then, otherwise]))
    }

    /// The indices of an element.
    fn element(&mut self, value: ValueId) -> Result<Expr, Unreadable> {
        let (mut at, mut outside) = (Vec::new(), None);
        if self.takes("[") && !self.takes("]") {
            loop {
                let start = self.at;
                let index = self.nested(Self::sum)?;
                at.push(match affine(&index) {
                    Some(affine) => At::Affine(affine),
                    None if reads(&index) => At::Computed(index),
                    None => {
                        let message = "an index is affine in the variables, or computed from elements".into();
                        return Err(Unreadable { span: (start, self.at), message });
                    }
                });
                if !self.takes(",") {
                    break;
                }
            }
            if self.takes("else") {
                let start = self.at;
                let Expr::Number(number) = self.factor()? else {
                    return Err(Unreadable {
                        span: (start, self.at),
                        message: "a number is wanted here".into(),
                    });
                };
                outside = Some(number);
            }
            self.wants("]")?;
        }
        Ok(Expr::Element(Read { value, at, outside }))
    }

    fn number(&mut self) -> Result<Expr, Unreadable> {
        let rest = self.rest();
        let digits = |from: usize| {
            rest[from..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |length| from + length)
        };
        let mut end = digits(0);
        if rest[end..].starts_with('.') {
            end = digits(end + 1);
        }
        if rest[end..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
            let exponent = digits(end + 1 + sign);
            if exponent > end + 1 + sign {
                end = exponent;
            }
        }
        let Some(number) = decimal(&rest[..end]) else { return Err(self.wrong("this is no number")) };
        self.at += end;
        Ok(Expr::Number(Extended::Finite(number)))
    }
}

/// The number that decimal digits denote, exactly.
pub fn decimal(text: &str) -> Option<Rational> {
    const MOST: usize = 400;
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let digits = whole.chars().chain(fraction.chars());
    if whole.len() + fraction.len() > MOST || exponent.unsigned_abs() as usize > MOST || mantissa == "." {
        return None;
    }
    let ten = Rational::from_integer(10);
    let value = digits.into_iter().try_fold(Rational::ZERO, |value, digit| {
        Some(&(&value * &ten) + &Rational::from_integer(digit.to_digit(10)?.into()))
    })?;
    Some(&value * &ten.pow(exponent)?)
}

/// An expression of variables and whole numbers as an affine function; `None` if it is none.
fn affine(expr: &Expr) -> Option<Indexing> {
    match expr {
        Expr::Number(number) => Some(Indexing::number(number.finite()?.to_i64()?)),
        Expr::Index(index) => Some(index.clone()),
        Expr::Element(_) => None,
        Expr::Apply(function, operands) => {
            let operands: Option<Vec<Indexing>> = operands.iter().map(affine).collect();
            match (function, operands?.as_slice()) {
                (Function::Add, [a, b]) => combined(a, b, 1),
                (Function::Sub, [a, b]) => combined(a, b, -1),
                (Function::Neg, [a]) => combined(&Indexing::default(), a, -1),
                (Function::Mul, [a, b]) if b.terms.is_empty() => scaled(a, b),
                (Function::Mul, [a, b]) if a.terms.is_empty() => scaled(b, a),
                (Function::Div, [a, b]) if b.terms.is_empty() && b.constant > 0 && b.divisor() == 1 => {
                    Some(Indexing { divisor: a.divisor().checked_mul(b.constant)?, ..a.clone() })
                }
                _ => None,
            }
        }
    }
}

/// `a + sign·b`, both without divisors.
fn combined(a: &Indexing, b: &Indexing, sign: i64) -> Option<Indexing> {
    if a.divisor() != 1 || b.divisor() != 1 {
        return None;
    }
    let mut sum = Indexing { constant: a.constant.checked_add(b.constant.checked_mul(sign)?)?, ..a.clone() };
    for (variable, coefficient) in &b.terms {
        let own = coefficient.checked_mul(sign)?;
        match sum.terms.iter_mut().find(|(known, _)| known == variable) {
            Some((_, coefficient)) => *coefficient = coefficient.checked_add(own)?,
            None => sum.terms.push((*variable, own)),
        }
    }
    sum.terms.retain(|(_, coefficient)| *coefficient != 0);
    Some(sum)
}

/// An affine function times a number.
fn scaled(a: &Indexing, by: &Indexing) -> Option<Indexing> {
    if a.divisor() != 1 || by.divisor() != 1 {
        return None;
    }
    let terms = a.terms.iter().map(|(variable, own)| Some((*variable, own.checked_mul(by.constant)?)));
    let mut terms = terms.collect::<Option<Vec<(usize, i64)>>>()?;
    terms.retain(|(_, coefficient)| *coefficient != 0);
    Some(Indexing { constant: a.constant.checked_mul(by.constant)?, terms, divisor: 1 })
}

/// Whether an expression reads an element.
fn reads(expr: &Expr) -> bool {
    match expr {
        Expr::Number(_) | Expr::Index(_) => false,
        Expr::Element(_) => true,
        Expr::Apply(_, operands) => operands.iter().any(reads),
    }
}
