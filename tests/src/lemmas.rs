//! The table of laws as statements for Rocq, `proofs/laws/Table.v`, and the list of lemmas that prove them,
//! `proofs/laws/Complete.v`: a law without a lemma, or other than its lemma says, is an error there.
//!
//! A law becomes two terms of `proofs/laws/Semantics.v`, which says what rule V8 claims of them.

use std::fmt::Write as _;

use crate::expression::{Expression, Input, Relation, Statement, build, expression, statements};
use volta_core::algebra::laws::{Group, LAWS, Law};
use volta_core::certificate;
use volta_core::decide::InputInfo;
use volta_core::number::Extended;
use volta_core::term::{Sign, Store, TermOp};

/// The names of the laws, in the order of the table.
const NAMES: &[&[&str]] = &[
    &[
        "sum_order",
        "product_order",
        "distributivity",
        "polarization",
        "difference_of_equals",
        "product_with_zero",
        "quotient_of_equals",
        "cancelled_factor",
        "common_denominator",
        "quotient_by_infinity",
    ],
    &[
        "product_of_powers",
        "reciprocal_of_power",
        "whole_summand_of_exponent",
        "power_of_power",
        "power_of_minus_infinity",
        "powers_of_maximum_and_minimum",
        "power_of_logarithm",
        "logarithm_of_power",
        "logarithm_of_scaled",
        "logarithm_of_quotient",
        "logarithm_of_even_power",
        "logarithm_of_root",
        "reading_of_constants",
        "reading_of_scaled_constants",
        "reading_of_reciprocals",
    ],
    &[
        "square_of_root",
        "reciprocal_root",
        "root_of_maximum",
        "root_of_scaled_by_number",
        "root_of_scaled_by_power",
        "root_of_scaled",
        "root_of_square",
    ],
    &[
        "maximum_is_a_set",
        "maximum_with_minus_infinity",
        "maximum_of_shifted",
        "maximum_of_scaled",
        "maximum_by_sign",
        "minimum_by_maximum",
        "magnitude_by_maximum",
        "saturation",
        "maximum_of_minima",
        "orders_of_maxima",
    ],
    &[
        "equal_arms",
        "chosen_summand",
        "chosen_exponent",
        "condition_by_sign",
        "chosen_scales",
        "choice_by_digit",
        "choice_as_sum",
        "product_of_choices",
        "joined_conditions",
        "scaled_comparison",
        "orders_of_choices",
        "equal_atoms",
    ],
    &[
        "floor_of_shifted",
        "rounding_of_whole",
        "remainder_by_floor",
        "nested_floor",
        "floor_above_half",
        "floor_by_range",
        "floor_of_fields",
        "floor_of_offset",
        "simplest_multiplier",
        "rounding_of_maximum",
        "mask_by_digits",
        "mask_of_complement",
        "mask_of_exclusive_or",
        "disjoint_masks",
        "exclusive_or_by_range",
        "comparison_of_whole",
    ],
    &[
        "tanh_by_exponential",
        "parity_of_sine_and_cosine",
        "odd_functions",
        "parity_of_bessel",
        "squares_of_sine_and_cosine",
        "copied_sign",
    ],
];

/// The table of laws as the checker of certificates reads it, `volta-certificate/src/laws.txt`: names, statements and near
/// misses, each as it is written and as a certificate.
///
/// # Errors
/// A statement that cannot be read.
pub fn for_certificates() -> Result<String, String> {
    let mut text = String::new();
    for (Group { laws, .. }, names) in LAWS.iter().zip(NAMES) {
        for (law, name) in laws.iter().zip(*names) {
            let _ = writeln!(text, "law {name}");
            let limits = law.limits.iter().map(|limit| ("not", *limit));
            for (word, statement) in std::iter::once(("is", law.statement)).chain(limits) {
                let _ = writeln!(text, "{word} {statement}");
                let Statement { mut inputs, left, right, .. } = read(statement)?;
                let mut store = Store::default();
                let sides = [&left, &right].map(|side| build(side, &mut store, &mut inputs));
                let inputs: Vec<InputInfo> = inputs
                    .0
                    .into_iter()
                    .map(|Input { name, sign, integers }| InputInfo {
                        name,
                        sign,
                        integers,
                        ..Default::default()
                    })
                    .collect();
                // A statement of what certificates have no words for is left out: no proof can name its law.
                if let Ok(certificate) = certificate::statement(&inputs, &store, sides) {
                    let lines = certificate::Text(&certificate).to_string();
                    text.extend(
                        lines.lines().skip(2).filter(|line| *line != "end").flat_map(|line| [line, "\n"]),
                    );
                }
            }
        }
    }
    Ok(text)
}

/// The laws that say how literals are read (V9): definitions, of which there is nothing to prove.
pub const READINGS: [&str; 3] =
    ["reading_of_constants", "reading_of_scaled_constants", "reading_of_reciprocals"];

/// The laws whose right side needs values that the left side may drop: applied to terms that may have none, they leave a
/// condition (V8).
const OF_VALUES: [&str; 2] = ["choice_by_digit", "choice_as_sum"];

/// What is claimed of statements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    Holds,
    HoldsOfValues,
    Refuted,
    HoldsWhere,
}

impl Claim {
    /// The claims, each with a list of the statements of which it is claimed.
    const ALL: [Claim; 4] = [Claim::Holds, Claim::HoldsOfValues, Claim::Refuted, Claim::HoldsWhere];

    /// The name of the list, and what its statements are.
    fn list(self) -> (&'static str, &'static str) {
        match self {
            Claim::Holds => ("laws", "Laws of terms"),
            Claim::HoldsOfValues => ("laws_of_values", "Laws of terms that have values"),
            Claim::Refuted => ("false_near_misses", "Near misses that are false"),
            Claim::HoldsWhere => {
                ("conditional_near_misses", "Near misses that are true under conditions only")
            }
        }
    }

    /// The theorem about the list, the predicate in it, and how the lemma of a statement is called after it.
    fn theorem(self) -> [&'static str; 3] {
        match self {
            Claim::Holds => ["every_law_holds", "holds", "holds"],
            Claim::HoldsOfValues => ["every_law_of_values_holds", "holds_of_values", "holds"],
            Claim::Refuted => ["every_false_near_miss_is_refuted", "refuted", "refuted"],
            Claim::HoldsWhere => ["every_conditional_near_miss_holds_where", "holds_where", "where"],
        }
    }
}

/// The statements, as text of Rocq, and what is claimed of each by its name.
#[derive(Default)]
pub struct Lemmas {
    text: String,
    claims: Vec<(Claim, String)>,
}

impl Lemmas {
    /// All laws of the table, and their limits.
    ///
    /// # Errors
    /// A law without a name, or with an operation that has no meaning in `Semantics.v`.
    pub fn new() -> Result<Lemmas, String> {
        if NAMES.len() != LAWS.len() {
            return Err("a group of laws has no names in tests/src/lemmas.rs".to_string());
        }
        let mut lemmas = Lemmas::default();
        let mut readings = Vec::new();
        for (Group { title, laws, .. }, names) in LAWS.iter().zip(NAMES) {
            let (count, named) = (laws.len(), names.len());
            if count != named {
                return Err(format!("{title}: {count} laws have {named} names in tests/src/lemmas.rs"));
            }
            let _ = write!(lemmas.text, "\n(** * {title} *)\n");
            for (law, name) in laws.iter().zip(*names) {
                let _ = write!(lemmas.text, "\n(** {}: {}. *)\n", comment(law.law), comment(law.holds));
                if law.law.contains("(V9)") {
                    readings.push(*name);
                    let _ = writeln!(lemmas.text, "(* {name}: how a literal is read is a definition. *)");
                } else {
                    lemmas.law(law, name).map_err(|why| format!("{name}: {why}"))?;
                }
            }
        }
        if readings == READINGS {
            Ok(lemmas)
        } else {
            Err(format!("the readings of literals are {readings:?}, and not {READINGS:?}"))
        }
    }

    fn law(&mut self, law: &Law, name: &str) -> Result<(), String> {
        let own = read(law.statement)?;
        if own.relation != Relation::Equal {
            return Err("a law is a statement with `==`".to_string());
        }
        self.define(name, &own)?;
        let claim = if OF_VALUES.contains(&name) { Claim::HoldsOfValues } else { Claim::Holds };
        self.claims.push((claim, name.to_string()));
        for (at, limit) in law.limits.iter().enumerate() {
            let (own, name) = (read(limit)?, format!("{name}_limit_{}", at + 1));
            self.define(&name, &own)?;
            let claim = match &own.relation {
                Relation::Equal => Claim::Holds,
                Relation::Different => Claim::Refuted,
                Relation::EqualWhere(conditions) => {
                    let conditions: Result<Vec<String>, String> =
                        conditions.split(", ").map(condition).collect();
                    let _ =
                        writeln!(self.text, "Definition {name}_conditions := [{}].", conditions?.join("; "));
                    Claim::HoldsWhere
                }
                Relation::Open => return Err("nothing is claimed".to_string()),
            };
            self.claims.push((claim, name));
        }
        Ok(())
    }

    fn define(&mut self, name: &str, own: &Statement) -> Result<(), String> {
        let Statement { inputs, left, right, .. } = own;
        let assumed: Vec<String> =
            inputs.0.iter().map(|input| format!("({:?}, {})", input.name, assumption(input))).collect();
        let parts = [format!("Statement [{}]", assumed.join("; ")), term(left, ATOM)?, term(right, ATOM)?];
        let line = format!("Definition {name} := {}.", parts.join(" "));
        self.text += &if line.len() <= WIDTH {
            line + "\n"
        } else {
            format!("Definition {name} :=\n  {}.\n", parts.join("\n    "))
        };
        Ok(())
    }

    fn of(&self, claim: Claim) -> impl Iterator<Item = &str> {
        self.claims.iter().filter(move |(own, _)| *own == claim).map(|(_, name)| name.as_str())
    }

    /// `Table.v`: the statements.
    pub fn table(&self) -> String {
        let mut out = format!(
            "(** The table of laws, as statements. {GENERATED} *)\n\
             From Volta.laws Require Export Semantics.\n\
             Local Open Scope Z_scope.\n\
             Local Open Scope string_scope.\n\
             Local Open Scope term_scope.\n\
             {}\n\
             (** * All of them *)\n",
            self.text
        );
        for claim in Claim::ALL {
            let (list, what) = claim.list();
            let names: Vec<String> = self
                .of(claim)
                .map(|name| match claim {
                    Claim::Holds | Claim::HoldsOfValues | Claim::Refuted => name.to_string(),
                    Claim::HoldsWhere => format!("({name}_conditions, {name})"),
                })
                .collect();
            let _ = write!(out, "\n(** {what}. *)\nDefinition {list} := [\n  {}\n].\n", names.join(";\n  "));
        }
        out
    }

    /// `Complete.v`: each statement has its lemma.
    pub fn complete(&self) -> String {
        let mut out = format!(
            "(** Each statement of the table has its lemma. {GENERATED} *)\n\
             From Volta.laws Require Import Table {}.\n",
            FILES.join(" ")
        );
        for claim in Claim::ALL {
            let ([theorem, predicate, suffix], (list, _)) = (claim.theorem(), claim.list());
            let lemmas: String =
                self.of(claim).map(|name| format!("exact {name}_{suffix}\n    | ")).collect();
            let _ = write!(
                out,
                "\nTheorem {theorem} : Forall {predicate} {list}.\n\
                 Proof.\n  repeat apply Forall_cons;\n    [ {lemmas}apply Forall_nil ].\nQed.\n"
            );
        }
        out
    }
}

/// So long may a line be before a statement is broken into three.
const WIDTH: usize = 110;

const GENERATED: &str = "Generated from volta-core/src/algebra/laws.rs by tests/src/lemmas.rs.";

/// The files of proofs, one for each group of laws.
const FILES: [&str; 7] = ["Sums", "Exponentials", "Roots", "Maxima", "Choices", "Whole", "OtherFunctions"];

/// Text that cannot end a comment or begin a string in it.
fn comment(text: &str) -> String {
    text.replace("(*", "( *").replace("*)", "* )").replace('"', "''")
}

fn read(text: &str) -> Result<Statement, String> {
    statements(text)?.pop().ok_or_else(|| "no statement".to_string())
}

/// A condition as verdicts print it.
fn condition(text: &str) -> Result<String, String> {
    let parsed = match text.split_once(" != ") {
        Some((left, right)) => expression(&format!("!({left} = {right})"), &Default::default()),
        None => expression(text, &Default::default()),
    };
    term(&parsed?, COMPARISON)
}

fn assumption(input: &Input) -> String {
    if let Some(integers) = input.integers {
        let whole = |bound: i128| if bound < 0 { format!("({bound})") } else { bound.to_string() };
        return format!("Between {} {}", whole(integers.least), whole(integers.greatest));
    }
    let word = match input.sign {
        Sign::Any => "Any",
        Sign::Positive => "Positive",
        Sign::NonNegative => "NotNegative",
        Sign::Negative => "Negative",
        Sign::NonPositive => "NotPositive",
        Sign::Nonzero => "NotZero",
    };
    word.to_string()
}

/// How tightly the parts of a term are bound, as in Rocq: what is bound less tightly than its place needs parentheses.
type Level = u8;
const ATOM: Level = 0;
const CALL: Level = 10;
const NEGATION: Level = 35;
const PRODUCT: Level = 40;
const SUM: Level = 50;
const COMPARISON: Level = 70;

/// A term, where no more than `at` is allowed without parentheses.
fn term(expression: &Expression, at: Level) -> Result<String, String> {
    let (level, text) = written(expression)?;
    Ok(if level > at { format!("({text})") } else { text })
}

fn written(expression: &Expression) -> Result<(Level, String), String> {
    let call = |name: &str, operands: &[Expression]| {
        let operands: Result<Vec<String>, String> =
            operands.iter().map(|operand| term(operand, ATOM)).collect();
        Ok((CALL, format!("{name} {}", operands?.join(" "))))
    };
    let (op, operands) = match expression {
        Expression::Input(name, 0) => return Ok((ATOM, format!("{name:?}"))),
        Expression::Input(..) => return Err("letters have one element".to_string()),
        Expression::Literal(_) => return Err("a literal is not read as a constant".to_string()),
        Expression::Number(Extended::PosInf) => return Ok((ATOM, "PosInf".to_string())),
        Expression::Number(Extended::NegInf) => return Ok((NEGATION, "- PosInf".to_string())),
        Expression::Number(Extended::Finite(value)) => {
            return match value.to_i64() {
                Some(value) if value >= 0 => Ok((ATOM, value.to_string())),
                Some(value) => Ok((CALL, format!("Whole ({value})"))),
                None => Err(format!("{value} is to be written as a quotient")),
            };
        }
        Expression::Apply(op, operands) => (*op, operands.as_slice()),
    };
    let between = |sign: &str, level: Level, right: Level| {
        Ok((level, format!("{} {sign} {}", term(&operands[0], level)?, term(&operands[1], right)?)))
    };
    match op {
        TermOp::Add => between("+", SUM, PRODUCT),
        TermOp::Sub => between("-", SUM, PRODUCT),
        TermOp::Mul => between("*", PRODUCT, NEGATION),
        TermOp::Div => between("/", PRODUCT, NEGATION),
        TermOp::Neg => Ok((NEGATION, format!("- {}", term(&operands[0], NEGATION)?))),
        TermOp::Less => between("<", COMPARISON, SUM),
        TermOp::LessEqual => between("<=", COMPARISON, SUM),
        TermOp::Equal => between("=", COMPARISON, SUM),
        TermOp::Exp2 => {
            if let Expression::Apply(TermOp::Mul, factors) = &operands[0]
                && factors[1] == Expression::Literal(LOG2_E)
            {
                call("Exp", &factors[..1])
            } else {
                call("Exp2", operands)
            }
        }
        TermOp::Select => call("If", operands),
        TermOp::CopySign => call("CopySign", operands),
        TermOp::Abs => call("Abs", operands),
        TermOp::Max => call("Max", operands),
        TermOp::Min => call("Min", operands),
        TermOp::Saturate => call("Saturate", operands),
        TermOp::Log2 => call("Log2", operands),
        TermOp::Sqrt => call("Sqrt", operands),
        TermOp::Rsqrt => call("Rsqrt", operands),
        TermOp::Sin => call("Sin", operands),
        TermOp::Cos => call("Cos", operands),
        TermOp::Tanh => call("Tanh", operands),
        TermOp::Floor => call("Floor", operands),
        TermOp::Ceil => call("Ceil", operands),
        TermOp::Trunc => call("Trunc", operands),
        TermOp::RoundEven => call("Round", operands),
        TermOp::Not => call("Not", operands),
        TermOp::And => call("And", operands),
        TermOp::Or => call("Or", operands),
        TermOp::Xor => call("Xor", operands),
        TermOp::Mod => call("Mod", operands),
        TermOp::BitAnd => call("BitAnd", operands),
        TermOp::Erf => call("Erf", operands),
        TermOp::Atan => call("Atan", operands),
        TermOp::Cbrt => call("Cbrt", operands),
        TermOp::BesselJ0 => call("BesselJ0", operands),
        TermOp::BesselJ1 => call("BesselJ1", operands),
        TermOp::Fma
        | TermOp::EncodeF32
        | TermOp::EncodeF64
        | TermOp::DecodeF32
        | TermOp::DecodeF64
        | TermOp::Gamma
        | TermOp::BesselY0
        | TermOp::BesselY1
        | TermOp::Outcome
        | TermOp::Ieee1
        | TermOp::Ieee2
        | TermOp::IeeePair => Err(format!("{op:?} has no meaning in proofs/laws/Semantics.v")),
    }
}

/// log₂ e as compilers write it.
const LOG2_E: u64 = 0x3fb8_aa3b;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_written_with_few_parentheses() {
        let written = |text: &str| {
            let mut lemmas = Lemmas::default();
            lemmas.define("own", &read(text)?).map(|()| lemmas.text)
        };
        let told = written("n is i8, a > 0: a*(b - c - 1) + -(a + 2) == exp(3*a)/max(n, -2)");
        let wanted = r#"Definition own :=
  Statement [("n", Between (-128) 127); ("a", Positive)]
    ("a" * ("b" - "c" - 1) + - ("a" + 2))
    (Exp (3 * "a") / Max "n" (Whole (-2))).
"#;
        assert_eq!(
            written("a + 0 == a").as_deref(),
            Ok("Definition own := Statement [] (\"a\" + 0) \"a\".\n")
        );
        assert_eq!(told.as_deref(), Ok(wanted));
        assert!(written("gamma(a) == a").is_err());
        assert!(written("a*0x3f317218 == a").is_err());
        assert_eq!(condition("b*c != 0").as_deref(), Ok(r#"Not ("b" * "c" = 0)"#));
    }
}
