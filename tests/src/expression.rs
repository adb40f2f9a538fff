//! A small language for terms: `max(a, b) + 1/2`, `if(x < 0, -x, x)`, `exp(x[0] - m)`.
//!
//! Names are inputs, `x[3]` an element of one. Numbers are exact, `0x3f800000` is the f32 literal with these bits.
//! `exp` and `ln` are expressed as compilers do, by `ex2` and `lg2` with the literals of rule V9. `let f(x) = …`
//! defines a function for the statements after it. `mod(n, 8)` is a remainder, `and(n, m)` the bitwise and.

use std::collections::{BTreeSet, HashMap};

use volta_core::number::format::{Format, decode};
use volta_core::number::{Extended, Rational, Rounded};
use volta_core::program::InstId;
use volta_core::term::{Constant, InputId, Integers, Sign, Store, TermId, TermOp};

/// A term, or a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Number(Extended),
    /// The f32 literal with these bits.
    Literal(u64),
    /// An element of an input.
    Input(String, u64),
    /// An operation.
    Apply(TermOp, Vec<Expression>),
}

/// The inputs, numbered by their order, with the assumptions on each.
#[derive(Clone, Debug, Default)]
pub struct Inputs(pub Vec<Input>);

/// An input, and the assumptions on it.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// The sign of its elements.
    pub sign: Sign,
    /// The range of its elements if they are integers; `None` for reals.
    pub integers: Option<Integers>,
}

impl Expression {
    /// Whether an element of the input other than the first occurs.
    pub fn has_elements_of(&self, name: &str) -> bool {
        match self {
            Expression::Input(other, element) => other == name && *element > 0,
            Expression::Number(_) | Expression::Literal(_) => false,
            Expression::Apply(_, operands) => operands.iter().any(|operand| operand.has_elements_of(name)),
        }
    }

    /// The names of the inputs that occur.
    pub fn inputs(&self) -> BTreeSet<String> {
        match self {
            Expression::Input(name, _) => BTreeSet::from([name.clone()]),
            Expression::Number(_) | Expression::Literal(_) => BTreeSet::new(),
            Expression::Apply(_, operands) => operands.iter().flat_map(Expression::inputs).collect(),
        }
    }
}

impl Inputs {
    fn number(&mut self, name: &str) -> InputId {
        let at = self.0.iter().position(|known| known.name == name).unwrap_or_else(|| {
            self.0.push(Input { name: name.to_string(), sign: Sign::Any, integers: None });
            self.0.len() - 1
        });
        InputId(at as u32)
    }

    /// For each input, the range of its elements if they are integers.
    pub fn integers(&self) -> Vec<Option<Integers>> {
        self.0.iter().map(|input| input.integers).collect()
    }
}

/// The expected relation of two terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `==`: proved equal, wherever the left one is defined.
    Equal,
    /// `== … where …`: proved equal under these conditions, as they are printed.
    EqualWhere(String),
    /// `!=`: a witness is found.
    Different,
    /// `=?`: neither a proof nor a witness is found.
    Open,
}

/// A line of a file of statements.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The line's number, from 1.
    pub line: usize,
    /// The text as written.
    pub text: String,
    /// The assumptions on inputs.
    pub inputs: Inputs,
    /// The term of the reference.
    pub left: Expression,
    /// The term that is compared with it.
    pub right: Expression,
    /// Their expected relation.
    pub relation: Relation,
}

/// Functions defined so far: parameters and body.
type Definitions = HashMap<String, (Vec<String>, Expression)>;

/// Reads a file of statements: one a line; `#` begins a comment, a line that begins with spaces continues the last.
///
/// # Errors
/// The number of the first line that cannot be read, and the reason.
pub fn statements(text: &str) -> Result<Vec<Statement>, String> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim_end();
        if line.starts_with(' ')
            && let Some((_, last)) = lines.last_mut()
        {
            last.push(' ');
            last.push_str(line.trim());
        } else if !line.is_empty() {
            lines.push((at + 1, line.to_string()));
        }
    }
    let mut definitions = Definitions::new();
    let mut found = Vec::new();
    for (line, text) in lines {
        let told = |why: String| format!("line {line}: {why}: {text}");
        if let Some(definition) = text.strip_prefix("let ") {
            define(definition, &mut definitions).map_err(told)?;
        } else {
            found.push(statement(line, &text, &definitions).map_err(told)?);
        }
    }
    Ok(found)
}

fn define(text: &str, definitions: &mut Definitions) -> Result<(), String> {
    let (head, body) = text.split_once('=').ok_or("a definition is `let f(x) = …`")?;
    let (name, parameters) =
        head.trim().strip_suffix(')').and_then(|head| head.split_once('(')).ok_or("no parameters")?;
    let parameters = parameters.split(',').map(|parameter| parameter.trim().to_string()).collect();
    let body = expression(body, definitions)?;
    definitions.insert(name.trim().to_string(), (parameters, body));
    Ok(())
}

fn statement(line: usize, text: &str, definitions: &Definitions) -> Result<Statement, String> {
    let (assumptions, rest) = text.split_once(':').unwrap_or(("", text));
    let mut inputs = Inputs::default();
    for assumption in assumptions.split(',').filter(|part| !part.trim().is_empty()) {
        inputs.0.push(assumed(assumption)?);
    }
    let split = |by: &str| rest.split_once(by);
    let (sides, relation) = if let Some(sides) = split(" == ") {
        (sides, Relation::Equal)
    } else if let Some(sides) = split(" != ") {
        (sides, Relation::Different)
    } else {
        (split(" =? ").ok_or("none of ` == `, ` != `, ` =? `")?, Relation::Open)
    };
    let (right, relation) = match sides.1.split_once(" where ") {
        Some((right, conditions)) => (right, Relation::EqualWhere(conditions.trim().to_string())),
        None => (sides.1, relation),
    };
    let [left, right] = [sides.0, right].map(|side| expression(side, definitions));
    Ok(Statement { line, text: text.to_string(), inputs, left: left?, right: right?, relation })
}

/// Reads an assumption: `x > 0`, or `n is u8`.
fn assumed(text: &str) -> Result<Input, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if let [name, "is", ty] = words[..] {
        let bits =
            ty.get(1..).and_then(|bits| bits.parse().ok()).filter(|bits| [8, 16, 32, 64].contains(bits));
        let signed = ty.starts_with('i');
        let Some(bits) = bits.filter(|_| signed || ty.starts_with('u')) else {
            return Err(format!("`{ty}` is none of u8, i8, … i64"));
        };
        let integers = Some(Integers::of_bits(bits, signed));
        return Ok(Input { name: name.to_string(), sign: Sign::Any, integers });
    }
    let [name, relation, "0"] = words[..] else { return Err(format!("`{text}` is not like `x > 0`")) };
    let sign = match relation {
        ">" => Sign::Positive,
        ">=" => Sign::NonNegative,
        "<" => Sign::Negative,
        "<=" => Sign::NonPositive,
        "/=" => Sign::Nonzero,
        _ => return Err(format!("`{relation}` is none of > >= < <= /=")),
    };
    Ok(Input { name: name.to_string(), sign, integers: None })
}

/// Reads a term.
///
/// # Errors
/// What cannot be read.
pub fn expression(text: &str, definitions: &Definitions) -> Result<Expression, String> {
    let mut reader = Reader { rest: text.trim(), definitions };
    let read = reader.condition()?;
    if reader.rest.is_empty() { Ok(read) } else { Err(format!("`{}` is left over", reader.rest)) }
}

struct Reader<'t> {
    rest: &'t str,
    definitions: &'t Definitions,
}

fn apply(op: TermOp, operands: impl Into<Vec<Expression>>) -> Expression {
    Expression::Apply(op, operands.into())
}

fn ratio(num: i64, den: i64) -> Expression {
    Expression::Number(Extended::Finite(Rational::from_ratio(num, den)))
}

impl Reader<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(format!("`{token}` is missing before `{}`", self.rest)) }
    }

    fn condition(&mut self) -> Result<Expression, String> {
        let mut left = self.comparison()?;
        loop {
            let op = if self.eat("&") {
                TermOp::And
            } else if self.eat("|") {
                TermOp::Or
            } else if self.eat("xor ") {
                TermOp::Xor
            } else {
                return Ok(left);
            };
            left = apply(op, [left, self.comparison()?]);
        }
    }

    fn comparison(&mut self) -> Result<Expression, String> {
        if self.eat("!") {
            let inner = self.comparison()?;
            return Ok(apply(TermOp::Not, [inner]));
        }
        let left = self.sum()?;
        for (token, op, turned) in [
            ("<=", TermOp::LessEqual, false),
            (">=", TermOp::LessEqual, true),
            ("<", TermOp::Less, false),
            (">", TermOp::Less, true),
            ("=", TermOp::Equal, false),
        ] {
            if self.eat(token) {
                let right = self.sum()?;
                return Ok(apply(op, if turned { [right, left] } else { [left, right] }));
            }
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Expression, String> {
        let mut left = self.product()?;
        loop {
            let op = if self.eat("+") {
                TermOp::Add
            } else if self.eat("-") {
                TermOp::Sub
            } else {
                return Ok(left);
            };
            left = apply(op, [left, self.product()?]);
        }
    }

    fn product(&mut self) -> Result<Expression, String> {
        let mut left = self.factor()?;
        loop {
            let op = if self.eat("*") {
                TermOp::Mul
            } else if self.eat("/") {
                TermOp::Div
            } else {
                return Ok(left);
            };
            left = apply(op, [left, self.factor()?]);
        }
    }

    fn factor(&mut self) -> Result<Expression, String> {
        if self.eat("-") {
            let inner = self.factor()?;
            return Ok(match inner {
                Expression::Number(Extended::Finite(value)) => Expression::Number(Extended::Finite(-value)),
                Expression::Number(Extended::PosInf) => Expression::Number(Extended::NegInf),
                inner @ (Expression::Number(_)
                | Expression::Literal(_)
                | Expression::Input(..)
                | Expression::Apply(..)) => apply(TermOp::Neg, [inner]),
            });
        }
        let base = self.primary()?;
        if !self.eat("^") {
            return Ok(base);
        }
        let negative = self.eat("-");
        let power: i32 =
            self.word(|c| c.is_ascii_digit()).parse().map_err(|_| "a power that is no number")?;
        let power = if negative { -power } else { power };
        if let Expression::Number(Extended::Finite(value)) = &base {
            let value = value.pow(power).ok_or("a power of zero")?;
            return Ok(Expression::Number(Extended::Finite(value)));
        }
        if power < 1 {
            return Err("powers of terms are positive".to_string());
        }
        Ok((1..power).fold(base.clone(), |product, _| apply(TermOp::Mul, [product, base.clone()])))
    }

    fn word(&mut self, is_part: impl Fn(char) -> bool) -> String {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word.to_string()
    }

    fn primary(&mut self) -> Result<Expression, String> {
        if self.eat("(") {
            let inner = self.condition()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if let Some(rest) = self.rest.strip_prefix("0x") {
            self.rest = rest;
            let digits = self.word(|c| c.is_ascii_hexdigit());
            return u64::from_str_radix(&digits, 16)
                .map(Expression::Literal)
                .map_err(|error| error.to_string());
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.number();
        }
        let name = self.word(|c| c.is_alphanumeric() || c == '_');
        if name.is_empty() {
            return Err(format!("a term is missing before `{}`", self.rest));
        }
        if self.eat("(") {
            let mut operands = vec![self.condition()?];
            while self.eat(",") {
                operands.push(self.condition()?);
            }
            self.expect(")")?;
            return self.call(&name, operands);
        }
        if name == "inf" {
            return Ok(Expression::Number(Extended::PosInf));
        }
        let mut element = 0;
        if self.eat("[") {
            element =
                self.word(|c| c.is_ascii_digit()).parse().map_err(|_| "an element that is no number")?;
            self.expect("]")?;
        }
        Ok(Expression::Input(name, element))
    }

    fn number(&mut self) -> Result<Expression, String> {
        let text = self.word(|c| c.is_ascii_digit() || c == '.');
        let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
        let digits: i64 = format!("{whole}{part}").parse().map_err(|_| "a number of too many digits")?;
        let value = Rational::from_integer(10)
            .pow(-(part.len() as i32))
            .map(|scale| Rational::from_integer(digits) * scale)
            .ok_or("no number")?;
        Ok(Expression::Number(Extended::Finite(value)))
    }

    fn call(&self, name: &str, operands: Vec<Expression>) -> Result<Expression, String> {
        use TermOp::*;
        if let Some((parameters, body)) = self.definitions.get(name) {
            if parameters.len() != operands.len() {
                return Err(format!("`{name}` takes {} operands", parameters.len()));
            }
            let values = parameters.iter().cloned().zip(operands).collect();
            return Ok(replaced(body, &values));
        }
        let log2_e = || Expression::Literal(0x3fb8_aa3b);
        let ln_2 = || Expression::Literal(0x3f31_7218);
        let op = match name {
            "max" | "min" if operands.len() >= 2 => {
                let op = if name == "max" { Max } else { Min };
                let folded = operands.into_iter().reduce(|folded, next| apply(op, [folded, next]));
                return folded.ok_or_else(|| "nothing to compare".to_string());
            }
            "exp" => return Ok(apply(Exp2, [apply(Mul, [operands[0].clone(), log2_e()])])),
            "ln" => return Ok(apply(Mul, [apply(Log2, operands), ln_2()])),
            "sum" => {
                let folded = operands.into_iter().reduce(|folded, next| apply(Add, [folded, next]));
                return folded.ok_or_else(|| "nothing to add".to_string());
            }
            "rcp" => return Ok(apply(Div, [ratio(1, 1), operands[0].clone()])),
            name => {
                let others = [("fma", Fma), ("sat", Saturate), ("mod", Mod), ("and", BitAnd), ("if", Select)];
                let other = others.into_iter().find(|(own, _)| *own == name).map(|(_, op)| op);
                let called = || TermOp::ALL.iter().copied().find(|op| op.info().name() == Some(name));
                other.or_else(called).ok_or_else(|| format!("`{name}` is no function"))?
            }
        };
        let arity = op.arity();
        if operands.len() != arity {
            return Err(format!("`{name}` takes {arity} operands"));
        }
        Ok(apply(op, operands))
    }
}

/// A term with the named inputs replaced by `values`.
pub fn replaced(body: &Expression, values: &HashMap<String, Expression>) -> Expression {
    match body {
        Expression::Input(name, 0) if values.contains_key(name) => values[name].clone(),
        Expression::Input(..) | Expression::Number(_) | Expression::Literal(_) => body.clone(),
        Expression::Apply(op, operands) => {
            apply(*op, operands.iter().map(|operand| replaced(operand, values)).collect::<Vec<_>>())
        }
    }
}

/// Appends a term to a store; equal subterms are shared.
pub fn build(expression: &Expression, store: &mut Store, inputs: &mut Inputs) -> TermId {
    match expression {
        Expression::Number(value) => {
            store.intern(Constant { exact: value.clone(), literal: None, rounded: None })
        }
        Expression::Literal(bits) => {
            let own = Some((Format::F32, *bits));
            let exact = decode(Format::F32, *bits).extended().expect("literals of files are numbers");
            store.intern(Constant { exact, literal: own, rounded: Rounded::exactly(Format::F32, *bits) })
        }
        Expression::Input(name, element) => TermId::input(inputs.number(name), *element),
        Expression::Apply(op, operands) => {
            let operands: Vec<u64> =
                operands.iter().map(|operand| build(operand, store, inputs).raw()).collect();
            TermId::from_raw(store.push_uniform(*op, &operands, InstId(0)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_read_as_they_are_meant() {
        let read = |text: &str| expression(text, &Definitions::new());
        let [a, b, c] = ["a", "b", "c"].map(|name| Expression::Input(name.to_string(), 0));
        let product = apply(TermOp::Mul, [b.clone(), c.clone()]);
        assert_eq!(read("a + b*c"), Ok(apply(TermOp::Add, [a.clone(), product])));
        let difference = apply(TermOp::Sub, [apply(TermOp::Sub, [a.clone(), b.clone()]), c.clone()]);
        assert_eq!(read("a - b - c"), Ok(difference));
        assert_eq!(read("-2^3"), Ok(ratio(-8, 1)));
        assert_eq!(read("0.125"), Ok(ratio(1, 8)));
        assert_eq!(read("x[3]"), Ok(Expression::Input("x".to_string(), 3)));
        let choice = apply(TermOp::Select, [apply(TermOp::Less, [b.clone(), a.clone()]), a, b]);
        assert_eq!(read("if(a > b, a, b)"), Ok(choice));
        assert!(read("a +").is_err());
        assert!(read("a b").is_err());
        assert!(read("hypot(a, b)").is_err());
    }

    #[test]
    fn statements_define_and_assume() {
        let text = "# a comment\nlet relu(x) = max(x, 0)\na > 0: relu(a) == a\nrelu(a)\n  != a # sometimes\n";
        let read = statements(text).expect("it can be read");
        assert_eq!(read.len(), 2);
        let Input { name, sign, integers } = &read[0].inputs.0[0];
        assert_eq!((name.as_str(), *sign, *integers), ("a", Sign::Positive, None));
        assert_eq!(read[0].relation, Relation::Equal);
        assert_eq!((read[1].line, &read[1].relation), (4, &Relation::Different));
        assert!(statements("a = b").is_err());
    }
}
