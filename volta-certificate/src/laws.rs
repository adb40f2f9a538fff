//! The laws that proofs may use, by their names in the verifier's table, and the check that each is what the code here
//! applies.
//!
//! The [table](STANDARD) is generated from the verifier's, statements and near misses. A law counts only if this
//! checker proves its statement, and none of its near misses: where the table says something else than the code here
//! does, the law is refused, and with it every certificate that names it.

use crate::cases::search;
use crate::number::Number;
use crate::text::{Certificate, Class, Input, Node, Op, Proof, Reading, Step};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The verifier's table of laws: a line for each name, then its statement, and near misses that are no laws.
const STANDARD: &str = include_str!("laws.txt");

macro_rules! laws {
    ($($law:ident $name:literal;)*) => {
        /// A law that this checker can apply.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the names say what they are")]
        pub enum Law { $($law,)* }

        impl Law {
            /// All of them.
            pub const ALL: &[Law] = &[$(Law::$law,)*];

            /// Its name in the table.
            pub fn name(self) -> &'static str {
                match self { $(Law::$law => $name,)* }
            }
        }
    };
}

laws! {
    ProductOfPowers "product_of_powers";
    ReciprocalOfPower "reciprocal_of_power";
    WholeSummandOfExponent "whole_summand_of_exponent";
    PowerOfPower "power_of_power";
    PowerOfMinusInfinity "power_of_minus_infinity";
    PowerOfLogarithm "power_of_logarithm";
    LogarithmOfPower "logarithm_of_power";
    LogarithmOfScaled "logarithm_of_scaled";
    LogarithmOfQuotient "logarithm_of_quotient";
    SquareOfRoot "square_of_root";
    ReciprocalRoot "reciprocal_root";
    RootOfScaledByNumber "root_of_scaled_by_number";
    RootOfScaledByPower "root_of_scaled_by_power";
    RootOfSquare "root_of_square";
    QuotientByInfinity "quotient_by_infinity";
    MaximumIsASet "maximum_is_a_set";
    MaximumWithMinusInfinity "maximum_with_minus_infinity";
    MaximumOfShifted "maximum_of_shifted";
    MaximumOfScaled "maximum_of_scaled";
    MaximumBySign "maximum_by_sign";
    MinimumByMaximum "minimum_by_maximum";
    MagnitudeByMaximum "magnitude_by_maximum";
    Saturation "saturation";
    OrdersOfMaxima "orders_of_maxima";
    EqualArms "equal_arms";
    ConditionBySign "condition_by_sign";
    ScaledComparison "scaled_comparison";
    OrdersOfChoices "orders_of_choices";
    TanhByExponential "tanh_by_exponential";
    ParityOfSineAndCosine "parity_of_sine_and_cosine";
    OddFunctions "odd_functions";
    ParityOfBessel "parity_of_bessel";
    SquaresOfSineAndCosine "squares_of_sine_and_cosine";
}

/// A set of laws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LawSet(u64);

impl LawSet {
    /// All laws that this checker can apply.
    pub fn all() -> LawSet {
        Law::ALL.iter().fold(LawSet::default(), |mut all, law| {
            all.insert(*law);
            all
        })
    }

    /// Whether it has a law.
    pub fn contains(self, law: Law) -> bool {
        self.0 >> law as u64 & 1 == 1
    }

    /// Adds a law.
    pub fn insert(&mut self, law: Law) {
        self.0 |= 1 << law as u64;
    }

    /// Without a law.
    #[must_use]
    pub fn without(self, law: Law) -> LawSet {
        LawSet(self.0 & !(1 << law as u64))
    }

    /// Its laws, in the order of the table here.
    pub fn laws(self) -> impl Iterator<Item = Law> {
        Law::ALL.iter().copied().filter(move |law| self.contains(*law))
    }

    /// The laws that only one of both has are left out.
    #[must_use]
    pub fn and(self, other: LawSet) -> LawSet {
        LawSet(self.0 & other.0)
    }
}

/// A table of laws, each of which was compared with the code here.
#[derive(Clone, Debug)]
pub struct Table {
    accepted: LawSet,
    /// The laws that are not what the code here applies, and why.
    pub refused: Vec<(Law, String)>,
}

/// The steps to prove a law.
const STEPS: u64 = 1 << 20;
/// The cases to prove a law.
const SPLITS: usize = 8;

impl Table {
    /// The verifier's table.
    pub fn standard() -> &'static Table {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| Table::new(STANDARD))
    }

    /// The text of the verifier's table.
    pub fn text() -> &'static str {
        STANDARD
    }

    /// A table: lines `law NAME`, each followed by one line `is STATEMENT` and lines `not STATEMENT`.
    pub fn new(text: &str) -> Table {
        let mut rows: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut last = "";
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("law", name)) => last = name,
                Some(("is" | "not", _)) => rows.entry(last).or_default().push(line),
                _ => {}
            }
        }
        let mut table = Table { accepted: LawSet::default(), refused: Vec::new() };
        for law in Law::ALL {
            let lines = rows.get(law.name()).map_or(&[][..], Vec::as_slice);
            match is_applied(*law, lines) {
                Ok(()) => table.accepted.insert(*law),
                Err(why) => table.refused.push((*law, why)),
            }
        }
        table
    }

    /// The laws that are what the code here applies.
    pub fn accepted(&self) -> LawSet {
        self.accepted
    }

    /// The laws of some names.
    ///
    /// # Errors
    /// A name that is not one of a law, or of one that was refused.
    pub fn named(&self, names: &[String]) -> Result<LawSet, String> {
        let mut laws = LawSet::default();
        for name in names {
            let law = Law::ALL.iter().copied().find(|law| law.name() == name);
            let law = law.ok_or_else(|| format!("there is no law `{name}`"))?;
            if let Some((_, why)) = self.refused.iter().find(|(refused, _)| *refused == law) {
                return Err(format!("the law `{name}` of the table is not one: {why}"));
            }
            laws.insert(law);
        }
        Ok(laws)
    }
}

/// Compares a law's statements with what the code here proves.
fn is_applied(law: Law, lines: &[&str]) -> Result<(), String> {
    let mut stated = false;
    for line in lines {
        let (word, statement) = line.split_once(' ').ok_or("a line has no statement")?;
        if word == "not" && !statement.contains("!=") && !statement.contains(" where ") {
            // True, under another assumption.
            continue;
        }
        let proved = is_proved(statement, LawSet::all(), SPLITS)?;
        if word == "is" {
            stated = true;
            if let Err(why) = proved {
                return Err(format!("`{statement}` is not proved: {why}"));
            }
            if is_proved(statement, LawSet::all().without(law), 0)?.is_ok() {
                return Err(format!("`{statement}` needs no such law"));
            }
        } else if proved.is_ok() {
            return Err(format!("its near miss `{statement}` is proved"));
        }
    }
    if stated { Ok(()) } else { Err("the table does not have it".to_string()) }
}

/// Whether both sides of a statement are proved equal; an error if it cannot be read.
fn is_proved(statement: &str, laws: LawSet, splits: usize) -> Result<Result<(), String>, String> {
    let told = |why: &str| format!("`{statement}` cannot be read: {why}");
    let (assumed, equation) = match statement.split_once(':') {
        Some((assumed, equation)) => (assumed, equation),
        None => ("", statement),
    };
    let equation = equation.split(" where ").next().unwrap_or_default();
    let sides = equation.split_once("==").or_else(|| equation.split_once("!="));
    let (left, right) = sides.ok_or_else(|| told("it is no equation"))?;
    let mut made = Certificate::default();
    for one in assumed.split(',').map(str::trim).filter(|one| !one.is_empty()) {
        let words: Vec<&str> = one.split(' ').collect();
        let signs = match words.as_slice() {
            [_, ">", "0"] => [false, false, true],
            [_, ">=", "0"] => [false, true, true],
            [_, "<", "0"] => [true, false, false],
            [_, "is", _] => [true; 3],
            _ => return Err(told("an assumption is not about a sign")),
        };
        made.inputs.push(Input { name: words[0].to_string(), signs });
    }
    let mut roots = [0, 0];
    for (root, side) in roots.iter_mut().zip([left, right]) {
        let mut parser = Parser { tokens: tokens(side), at: 0, made: &mut made };
        *root = parser.condition().map_err(|why| told(&why))?;
        if parser.at < parser.tokens.len() {
            return Err(told("something follows it"));
        }
    }
    let name = String::new();
    let log2e = Reading { literal: symbol(), reciprocal: false, factor: Number::ONE };
    let names = laws.laws().map(|law| law.name().to_string()).collect();
    let proof = Proof { laws: names, readings: vec![log2e], cuts: Vec::new(), step: Step::Equal };
    let class = Class { name, elements: 1, roots, proof };
    Ok(search(&made, &class, laws, &mut STEPS.clone(), splits).map(|_| ()).map_err(|failure| failure.why))
}

/// A literal that stands for log₂ e in statements.
fn symbol() -> Number {
    Number::of(rug::Rational::from((12_102_203, 8_388_608)))
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut joins = false;
    for c in text.chars() {
        let is_word = c.is_ascii_alphanumeric();
        let last =
            tokens.last_mut().filter(|last| joins && (is_word || c == '=' && (*last == "<" || *last == ">")));
        match last {
            Some(last) => last.push(c),
            None if c.is_whitespace() => {}
            None => tokens.push(c.to_string()),
        }
        joins = is_word || c == '<' || c == '>';
        if is_word && tokens.last().is_some_and(|last| last.starts_with(['<', '>'])) {
            tokens.pop();
            tokens.push("?".to_string());
        }
    }
    tokens
}

/// Reads the language of statements into terms.
struct Parser<'m> {
    tokens: Vec<String>,
    at: usize,
    made: &'m mut Certificate,
}

impl Parser<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn take(&mut self, token: &str) -> bool {
        let is = self.peek() == token;
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(format!("`{token}` is missing")) }
    }

    fn push(&mut self, node: Node) -> u32 {
        if let Some(known) = self.made.nodes.iter().position(|known| *known == node) {
            return known as u32;
        }
        self.made.nodes.push(node);
        self.made.nodes.len() as u32 - 1
    }

    fn number(&mut self, value: i64) -> u32 {
        self.push(Node::Number(Number::Small(value)))
    }

    fn apply(&mut self, op: Op, of: &[u32]) -> u32 {
        let operand = |at: usize| of.get(at).copied().unwrap_or(of[0]);
        self.push(Node::Apply(op, [operand(0), operand(1), operand(2)]))
    }

    fn condition(&mut self) -> Result<u32, String> {
        let mut made = self.comparison()?;
        while self.take("&") {
            let other = self.comparison()?;
            made = self.apply(Op::And, &[made, other]);
        }
        Ok(made)
    }

    fn comparison(&mut self) -> Result<u32, String> {
        let left = self.sum()?;
        let (op, turned) = match self.peek() {
            "<" => (Op::Less, false),
            ">" => (Op::Less, true),
            "<=" => (Op::LessEqual, false),
            ">=" => (Op::LessEqual, true),
            "=" => (Op::Equal, false),
            _ => return Ok(left),
        };
        self.at += 1;
        let right = self.sum()?;
        Ok(if turned { self.apply(op, &[right, left]) } else { self.apply(op, &[left, right]) })
    }

    fn sum(&mut self) -> Result<u32, String> {
        let mut made = self.term()?;
        loop {
            let op = match self.peek() {
                "+" => Op::Add,
                "-" => Op::Sub,
                _ => return Ok(made),
            };
            self.at += 1;
            let other = self.term()?;
            made = self.apply(op, &[made, other]);
        }
    }

    fn term(&mut self) -> Result<u32, String> {
        let mut made = self.factor()?;
        loop {
            let op = match self.peek() {
                "*" => Op::Mul,
                "/" => Op::Div,
                _ => return Ok(made),
            };
            self.at += 1;
            let other = self.factor()?;
            made = self.apply(op, &[made, other]);
        }
    }

    fn factor(&mut self) -> Result<u32, String> {
        if self.take("-") {
            let operand = self.factor()?;
            return Ok(self.apply(Op::Neg, &[operand]));
        }
        let base = self.atom()?;
        if !self.take("^") {
            return Ok(base);
        }
        let power: u32 = self.peek().parse().map_err(|_| "a power is no number")?;
        self.at += 1;
        let mut made = base;
        for _ in 1..power.min(8) {
            made = self.apply(Op::Mul, &[made, base]);
        }
        Ok(made)
    }

    fn atom(&mut self) -> Result<u32, String> {
        let word = self.peek().to_string();
        self.at += 1;
        if word == "(" {
            let inner = self.condition()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if let Ok(value) = word.parse::<i64>() {
            return Ok(self.number(value));
        }
        if word == "inf" {
            return Ok(self.push(Node::Infinity(false)));
        }
        if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(format!("`{word}` is not expected"));
        }
        if !self.take("(") {
            let known = self.made.inputs.iter().position(|input| input.name == word);
            let at = known.unwrap_or_else(|| {
                self.made.inputs.push(Input { name: word, signs: [true; 3] });
                self.made.inputs.len() - 1
            });
            return Ok(self.push(Node::Input(at as u32, 0)));
        }
        let mut of = vec![self.condition()?];
        while self.take(",") {
            of.push(self.condition()?);
        }
        self.expect(")")?;
        if word == "exp" && of.len() == 1 {
            let log2e = self.push(Node::Literal(24, symbol()));
            let scaled = self.apply(Op::Mul, &[of[0], log2e]);
            return Ok(self.apply(Op::Exp2, &[scaled]));
        }
        let name = if word == "if" { "select" } else { &word };
        let op = Op::ALL.iter().copied().find(|op| op.name() == name && op.arity() == of.len());
        let op = op.ok_or_else(|| format!("`{word}` is not a function"))?;
        Ok(self.apply(op, &of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_of_the_table_is_what_the_code_applies() {
        let refused: Vec<_> =
            Table::standard().refused.iter().map(|(law, why)| format!("{}: {why}", law.name())).collect();
        assert!(refused.is_empty(), "{}", refused.join("\n"));
    }
}
