//! The table of operations on terms: one row each, which all consumers read.
//!
//! Messages, solvers' scripts, obligations (V8), infinities (V3), signs and ranges need only the row of a function
//! of one real. The rest of the code matches on [`Kind`], exhaustively: enclosures in [`crate::number::interval`],
//! and laws in `algebra/function.rs`.

use crate::number::format::Format;
use crate::number::interval::{Function, Towards};
use crate::number::signs::Signs;
use crate::number::value::{Demand, LimitAtInfinity};

/// How many operands an operation takes.
pub type Arity = usize;

/// The properties of an operation.
#[derive(Debug)]
pub struct Info {
    /// The notation in messages, operands as `{0}`, `{1}`, `{2}`.
    pub text: &'static str,
    /// The notation in SMT-LIB.
    pub smt: Smt,
    /// The number of operands.
    pub arity: Arity,
    /// The class of operations for code that treats several alike.
    pub kind: Kind,
    /// The demand and its operand, if the operation is partial (rule V8).
    pub demand: Option<(Demand, usize)>,
    /// Whether the first two operands commute.
    pub commutes: bool,
    /// The value that is compared where two kernels differ, if any.
    pub landmark: Option<LandmarkOf>,
}

/// Classes of operations.
#[derive(Debug)]
pub enum Kind {
    /// A sum of operands.
    Sum(Sum),
    /// A product of operands.
    Product(Product),
    /// `2^a`. Like sums and products, it has a meaning in any field with an exponential.
    Exponential,
    /// A function of one real.
    Function(FunctionInfo),
    /// A real that is chosen by cases, or computed from bits.
    Piecewise(Piecewise),
    /// A truth value rather than a real.
    Condition(Predicate),
    /// An operation of IEEE arithmetic, in the terms of a claim about bits. It has no meaning over the reals.
    Ieee,
}

/// Operations that are sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// `a + b`
    Add,
    /// `a − b`
    Sub,
    /// `a · b + c`
    Fma,
}

/// Operations that are products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// `a · b`
    Mul,
    /// `a / b`
    Div,
    /// `−a`
    Neg,
}

/// Operations whose result is one operand or another, or is computed from their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piecewise {
    /// `|a|`
    Abs,
    /// `max(a, b)`
    Max,
    /// `min(a, b)`
    Min,
    /// The magnitude of `b` with the sign of `a`
    CopySign,
    /// `b` where `a` holds, else `c`
    Select,
    /// `a − b·⌊a/b⌋`
    Mod,
    /// The bitwise AND of two non-negative integers
    BitAnd,
}

/// Operations whose result is a truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// `a < b`
    Less,
    /// `a ≤ b`
    LessEqual,
    /// `a = b`
    Equal,
    /// `¬a`
    Not,
    /// `a ∧ b`
    And,
    /// `a ∨ b`
    Or,
    /// `a ⊕ b`
    Xor,
}

/// The properties of a function of one real, except enclosures of its values.
#[derive(Debug)]
pub struct FunctionInfo {
    /// The function.
    pub function: Function,
    /// Its limits at −∞ and at +∞.
    pub limits: [LimitAtInfinity; 2],
    /// The signs of its values for a negative, zero and positive argument, where it is defined.
    pub signs: [Signs; 3],
    /// Integer bounds of all of its values.
    pub between: Option<(i128, i128)>,
    /// Arguments with known rational values, and these values.
    pub points: &'static [(i64, i64)],
    /// The relation of its values at `a` and `−a`.
    pub parity: Parity,
    /// Whether its value at a negative zero is a negative zero (IEEE 754).
    pub keeps_negative_zero: bool,
    /// How literals in its argument are read as irrational constants.
    pub reads: Reads,
    /// Orders functions within forms. Must not change: forms are printed in that order.
    pub rank: u8,
}

/// The relation of `f(−a)` and `f(a)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// `f(−a) = −f(a)`
    Odd,
    /// `f(−a) = f(a)`
    Even,
    /// Neither, or not used.
    None,
}

/// How rule V9 reads literals below an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// As rationals.
    Nothing,
    /// Below a power, or an operation rewritten into one: literals in the exponent may be log₂ of a base.
    Exponent,
    /// Below a logarithm: literals that multiply it may be the logarithm of 2.
    Logarithm,
}

/// A value by which two kernels are compared, and its name in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LandmarkOf {
    /// The result.
    Result(&'static str),
    /// An operand.
    Operand(usize, &'static str),
}

/// The notation in SMT-LIB of an operation on finite operands `{0}`, `{1}`, `{2}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Smt {
    /// An expression.
    Expression(&'static str),
    /// An expression in which `{3}` is the floor of the operand, bound to a fresh name.
    OfFloor(&'static str),
    /// An uninterpreted function, by its name.
    Uninterpreted(&'static str),
    /// A fresh symbol: `{3}` in the assertion about it.
    Defined(&'static str),
    /// A fresh symbol without assertions.
    Unknown,
}

impl Info {
    const fn new(text: &'static str, smt: Smt, arity: Arity, kind: Kind) -> Info {
        Info { text, smt, arity, kind, demand: None, commutes: false, landmark: None }
    }

    const fn demands(self, demand: Demand, operand: usize) -> Info {
        Info { demand: Some((demand, operand)), ..self }
    }

    const fn commutes(self) -> Info {
        Info { commutes: true, ..self }
    }

    const fn landmark(self, landmark: LandmarkOf) -> Info {
        Info { landmark: Some(landmark), ..self }
    }

    /// The word or sign between two operands in messages.
    pub fn between(&self) -> Option<&'static str> {
        self.text.strip_prefix("({0} ")?.strip_suffix(" {1})")
    }

    /// The name of the operation in messages; `None` if it is written with signs.
    pub fn name(&self) -> Option<&'static str> {
        let (name, _) = self.text.split_once('(')?;
        name.chars().all(|c| c.is_ascii_alphanumeric()).then_some(name).filter(|name| !name.is_empty())
    }
}

impl FunctionInfo {
    /// Whether it is a rounding, with integers as values.
    pub fn rounds(&self) -> bool {
        matches!(self.function, Function::Round(_))
    }
}

const fn sum(text: &'static str, smt: &'static str, which: Sum, arity: Arity) -> Info {
    Info::new(text, Smt::Expression(smt), arity, Kind::Sum(which))
}

const fn product(text: &'static str, smt: &'static str, which: Product, arity: Arity) -> Info {
    Info::new(text, Smt::Expression(smt), arity, Kind::Product(which))
}

const fn piecewise(text: &'static str, smt: &'static str, which: Piecewise, arity: Arity) -> Info {
    Info::new(text, Smt::Expression(smt), arity, Kind::Piecewise(which))
}

const fn condition(text: &'static str, smt: &'static str, which: Predicate, arity: Arity) -> Info {
    Info::new(text, Smt::Expression(smt), arity, Kind::Condition(which))
}

const fn function(text: &'static str, smt: Smt, info: FunctionInfo) -> Info {
    Info::new(text, smt, 1, Kind::Function(info))
}

/// Rounding to an integer, with the signs of its values for negative and positive arguments.
const fn rounding(
    text: &'static str,
    smt: Smt,
    towards: Towards,
    [below, above]: [Signs; 2],
    rank: u8,
) -> Info {
    let info = FunctionInfo {
        function: Function::Round(towards),
        limits: [LimitAtInfinity::NegInf, LimitAtInfinity::PosInf],
        signs: [below, Signs::ZERO, above],
        between: None,
        points: &[],
        parity: Parity::None,
        keeps_negative_zero: true,
        reads: Reads::Nothing,
        rank,
    };
    function(text, smt, info).landmark(LandmarkOf::Operand(0, "number that is rounded"))
}

/// The integer that encodes a real in a format, between zero and the largest number of its width.
const fn encoding(text: &'static str, format: Format, rank: u8) -> Info {
    let highest = u64::MAX >> (64 - 8 * format.bytes());
    of_encodings(text, Function::Encode(format), Some((0, highest as i128)), rank)
}

/// The real that an integer encodes in a format.
const fn decoding(text: &'static str, format: Format, rank: u8) -> Info {
    of_encodings(text, Function::Decode(format), None, rank)
}

const fn of_encodings(
    text: &'static str,
    function: Function,
    between: Option<(i128, i128)>,
    rank: u8,
) -> Info {
    let info = FunctionInfo {
        function,
        limits: [LimitAtInfinity::Undefined("the encoding of an infinity"); 2],
        signs: [Signs::ANY; 3],
        between,
        points: &[],
        parity: Parity::None,
        keeps_negative_zero: false,
        reads: Reads::Nothing,
        rank,
    };
    self::function(text, Smt::Unknown, info)
}

const OF_FUNCTION: LandmarkOf = LandmarkOf::Operand(0, "argument of the function");
const UNDER_ROOT: LandmarkOf = LandmarkOf::Operand(0, "number under the root");

/// Declares the operations with their rows.
macro_rules! operations {
    ($($(#[$doc:meta])* $op:ident = $info:expr;)*) => {
        /// What a node computes, lane by lane.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum TermOp { $($(#[$doc])* $op,)* }

        impl TermOp {
            /// All operations.
            pub const ALL: &[TermOp] = &[$(TermOp::$op,)*];
        }

        static TABLE: [Info; TermOp::ALL.len()] = [$($info,)*];

        /// The arities, which every walk through terms reads, packed for the cache.
        static ARITIES: [u8; TermOp::ALL.len()] = [$($info.arity as u8,)*];
    };
}

operations! {
    /// `a + b`
    Add = sum("({0} + {1})", "(+ {0} {1})", Sum::Add, 2).commutes();
    /// `a − b`
    Sub = sum("({0} - {1})", "(- {0} {1})", Sum::Sub, 2);
    /// `a · b`
    Mul = product("({0} * {1})", "(* {0} {1})", Product::Mul, 2).commutes();
    /// `a · b + c`
    Fma = sum("({0} * {1} + {2})", "(+ (* {0} {1}) {2})", Sum::Fma, 3).commutes();
    /// `a / b`; obliges `b ≠ 0`
    Div = product("({0} / {1})", "(/ {0} {1})", Product::Div, 2)
        .demands(Demand::Nonzero, 1)
        .landmark(LandmarkOf::Operand(1, "divisor"));
    /// `−a`
    Neg = product("-{0}", "(- {0})", Product::Neg, 1);
    /// `|a|`
    Abs = piecewise("abs({0})", "(ite (< {0} 0.0) (- {0}) {0})", Piecewise::Abs, 1);
    /// `max(a, b)`
    Max = piecewise("max({0}, {1})", "(ite (< {0} {1}) {1} {0})", Piecewise::Max, 2)
        .commutes()
        .landmark(LandmarkOf::Result("maximum"));
    /// `min(a, b)`
    Min = piecewise("min({0}, {1})", "(ite (< {1} {0}) {1} {0})", Piecewise::Min, 2)
        .commutes()
        .landmark(LandmarkOf::Result("minimum"));
    /// `min(max(a, 0), 1)`
    Saturate = function(
        "saturate({0})",
        Smt::Expression("(ite (< {0} 0.0) 0.0 (ite (< 1.0 {0}) 1.0 {0}))"),
        FunctionInfo {
            function: Function::Saturate,
            limits: [LimitAtInfinity::Number(0), LimitAtInfinity::Number(1)],
            signs: [Signs::ZERO, Signs::ZERO, Signs::POSITIVE],
            between: Some((0, 1)),
            points: &[],
            parity: Parity::None,
            keeps_negative_zero: false,
            reads: Reads::Nothing,
            rank: 8,
        },
    );
    /// `2^a`
    Exp2 = Info::new("exp2({0})", Smt::Uninterpreted("exp2"), 1, Kind::Exponential);
    /// `log₂ a`; obliges `a > 0`
    Log2 = function("log2({0})", Smt::Uninterpreted("log2"), FunctionInfo {
        function: Function::Log2,
        limits: [LimitAtInfinity::Undefined("the logarithm or root of minus infinity"), LimitAtInfinity::PosInf],
        signs: [Signs::ANY; 3],
        between: None,
        points: &[(1, 0)],
        parity: Parity::None,
        keeps_negative_zero: false,
        reads: Reads::Logarithm,
        rank: 1,
    })
    .demands(Demand::Positive, 0)
    .landmark(LandmarkOf::Operand(0, "argument of the logarithm"));
    /// `√a`; obliges `a ≥ 0`
    Sqrt = function(
        "sqrt({0})",
        Smt::Defined("(=> (>= {0} 0.0) (and (>= {3} 0.0) (= (* {3} {3}) {0})))"),
        FunctionInfo {
            function: Function::Sqrt,
            limits: [LimitAtInfinity::Undefined("the logarithm or root of minus infinity"), LimitAtInfinity::PosInf],
            // Undefined where the argument is negative.
            signs: [Signs::POSITIVE, Signs::ZERO, Signs::POSITIVE],
            between: None,
            points: &[(0, 0), (1, 1)],
            parity: Parity::None,
            keeps_negative_zero: true,
            reads: Reads::Nothing,
            rank: 0,
        },
    )
    .demands(Demand::NotNegative, 0)
    .landmark(UNDER_ROOT);
    /// `1/√a`; obliges `a > 0`
    Rsqrt = function(
        "rsqrt({0})",
        Smt::Defined("(=> (> {0} 0.0) (and (> {3} 0.0) (= (* {0} {3} {3}) 1.0)))"),
        FunctionInfo {
            function: Function::Rsqrt,
            limits: [LimitAtInfinity::Undefined("the root of minus infinity"), LimitAtInfinity::Number(0)],
            signs: [Signs::POSITIVE; 3],
            between: None,
            points: &[(1, 1)],
            parity: Parity::None,
            keeps_negative_zero: false,
            reads: Reads::Nothing,
            rank: 9,
        },
    )
    .demands(Demand::Positive, 0)
    .landmark(UNDER_ROOT);
    /// `sin a`
    Sin = function("sin({0})", Smt::Uninterpreted("sin"), FunctionInfo {
        function: Function::Sin,
        limits: [LimitAtInfinity::Undefined("the sine or cosine of an infinity"); 2],
        signs: [Signs::ANY; 3],
        between: Some((-1, 1)),
        points: &[(0, 0)],
        parity: Parity::Odd,
        keeps_negative_zero: true,
        reads: Reads::Nothing,
        rank: 2,
    })
    .landmark(OF_FUNCTION);
    /// `cos a`
    Cos = function("cos({0})", Smt::Uninterpreted("cos"), FunctionInfo {
        function: Function::Cos,
        limits: [LimitAtInfinity::Undefined("the sine or cosine of an infinity"); 2],
        signs: [Signs::ANY; 3],
        between: Some((-1, 1)),
        points: &[(0, 1)],
        parity: Parity::Even,
        keeps_negative_zero: false,
        reads: Reads::Nothing,
        rank: 3,
    })
    .landmark(OF_FUNCTION);
    /// `tanh a`
    Tanh = function("tanh({0})", Smt::Uninterpreted("tanh"), FunctionInfo {
        function: Function::Tanh,
        limits: [LimitAtInfinity::Number(-1), LimitAtInfinity::Number(1)],
        signs: [Signs::NEGATIVE, Signs::ZERO, Signs::POSITIVE],
        between: Some((-1, 1)),
        points: &[(0, 0)],
        parity: Parity::Odd,
        keeps_negative_zero: true,
        reads: Reads::Exponent,
        rank: 10,
    })
    .landmark(OF_FUNCTION);
    /// The largest integer not above `a`
    Floor = rounding(
        "floor({0})",
        Smt::Expression("(to_real (to_int {0}))"),
        Towards::Floor,
        [Signs::NEGATIVE, Signs::NOT_NEGATIVE],
        4,
    );
    /// The smallest integer not below `a`
    Ceil = rounding(
        "ceil({0})",
        Smt::Expression("(- (to_real (to_int (- {0}))))"),
        Towards::Ceil,
        [Signs::NOT_POSITIVE, Signs::POSITIVE],
        5,
    );
    /// `a` rounded towards zero to an integer
    Trunc = rounding(
        "trunc({0})",
        Smt::Expression("(ite (< {0} 0.0) (- (to_real (to_int (- {0})))) (to_real (to_int {0})))"),
        Towards::Zero,
        [Signs::NOT_POSITIVE, Signs::NOT_NEGATIVE],
        6,
    );
    /// `a` rounded to the nearest integer, ties to even
    RoundEven = rounding(
        "round({0})",
        Smt::OfFloor(
            "(ite (or (< (- {0} {3}) 0.5) (and (= (- {0} {3}) 0.5) (= (mod (to_int {0}) 2) 0))) {3} (+ {3} 1.0))",
        ),
        Towards::NearestEven,
        [Signs::NOT_POSITIVE, Signs::NOT_NEGATIVE],
        7,
    );
    /// The magnitude of `b` with the sign of `a` (PTX's operand order). Reals have one zero, and it counts as positive
    CopySign = piecewise(
        "copysign({0}, {1})",
        "(ite (< {0} 0.0) (- (ite (< {1} 0.0) (- {1}) {1})) (ite (< {1} 0.0) (- {1}) {1}))",
        Piecewise::CopySign,
        2,
    );
    /// Condition `a < b`
    Less = condition("{0} < {1}", "(< {0} {1})", Predicate::Less, 2);
    /// Condition `a ≤ b`
    LessEqual = condition("{0} <= {1}", "(<= {0} {1})", Predicate::LessEqual, 2);
    /// Condition `a = b`
    Equal = condition("{0} == {1}", "(= {0} {1})", Predicate::Equal, 2).commutes();
    /// Condition `¬a`
    Not = condition("!({0})", "(not {0})", Predicate::Not, 1);
    /// Condition `a ∧ b`
    And = condition("({0} and {1})", "(and {0} {1})", Predicate::And, 2).commutes();
    /// Condition `a ∨ b`
    Or = condition("({0} or {1})", "(or {0} {1})", Predicate::Or, 2).commutes();
    /// Condition `a ⊕ b`
    Xor = condition("({0} xor {1})", "(xor {0} {1})", Predicate::Xor, 2).commutes();
    /// `b` where condition `a` holds, else `c`
    Select = piecewise("({0} ? {1} : {2})", "(ite {0} {1} {2})", Piecewise::Select, 3)
        .landmark(LandmarkOf::Operand(0, "condition"));
    /// `a − b·⌊a/b⌋` for an integer `a` and a positive constant `b`: what wrapping around leaves
    Mod = piecewise(
        "({0} mod {1})",
        "(- {0} (* {1} (to_real (to_int (/ {0} {1})))))",
        Piecewise::Mod,
        2,
    );
    /// The bitwise AND of non-negative integers `a` and `b`. No theory of SMT-LIB has the bits of reals that are
    /// integers
    BitAnd = Info::new("({0} & {1})", Smt::Unknown, 2, Kind::Piecewise(Piecewise::BitAnd)).commutes();
    /// The integer that encodes `a` as an f32. It depends on rounding, so no output, branch or address may depend
    /// on it except through [recognized functions](super::Template)
    EncodeF32 = encoding("bits32({0})", Format::F32, 11);
    /// The integer that encodes `a` as an f64, likewise
    EncodeF64 = encoding("bits64({0})", Format::F64, 12);
    /// The f32 that an integer encodes, likewise
    DecodeF32 = decoding("float32({0})", Format::F32, 13);
    /// The f64 that an integer encodes, likewise
    DecodeF64 = decoding("float64({0})", Format::F64, 14);
    /// The error function, `2/√π · ∫₀ᵃ e^(−t²) dt`
    Erf = function("erf({0})", Smt::Uninterpreted("erf"), FunctionInfo {
        function: Function::Erf,
        limits: [LimitAtInfinity::Number(-1), LimitAtInfinity::Number(1)],
        signs: [Signs::NEGATIVE, Signs::ZERO, Signs::POSITIVE],
        between: Some((-1, 1)),
        points: &[(0, 0)],
        parity: Parity::Odd,
        keeps_negative_zero: true,
        reads: Reads::Nothing,
        rank: 15,
    })
    .landmark(OF_FUNCTION);
    /// `arctan a`. Its limits at the infinities are irrational, so it counts as undefined there
    Atan = function("atan({0})", Smt::Uninterpreted("atan"), FunctionInfo {
        function: Function::Atan,
        limits: [LimitAtInfinity::Undefined("the arc tangent of an infinity"); 2],
        signs: [Signs::NEGATIVE, Signs::ZERO, Signs::POSITIVE],
        between: Some((-2, 2)),
        points: &[(0, 0)],
        parity: Parity::Odd,
        keeps_negative_zero: true,
        reads: Reads::Nothing,
        rank: 16,
    })
    .landmark(OF_FUNCTION);
    /// The cube root of `a`
    Cbrt = function("cbrt({0})", Smt::Defined("(= (* {3} {3} {3}) {0})"), FunctionInfo {
        function: Function::Cbrt,
        limits: [LimitAtInfinity::NegInf, LimitAtInfinity::PosInf],
        signs: [Signs::NEGATIVE, Signs::ZERO, Signs::POSITIVE],
        between: None,
        points: &[(0, 0), (1, 1), (8, 2), (27, 3), (64, 4)],
        parity: Parity::Odd,
        keeps_negative_zero: true,
        reads: Reads::Nothing,
        rank: 17,
    })
    .landmark(OF_FUNCTION);
    /// Γ(a); obliges `a > 0`, although Γ is also defined at other non-integers
    Gamma = function("gamma({0})", Smt::Uninterpreted("gamma"), FunctionInfo {
        function: Function::Gamma,
        limits: [LimitAtInfinity::Undefined("Γ at minus infinity"), LimitAtInfinity::PosInf],
        signs: [Signs::ANY, Signs::ANY, Signs::POSITIVE],
        between: None,
        points: &[(1, 1), (2, 1), (3, 2), (4, 6), (5, 24)],
        parity: Parity::None,
        keeps_negative_zero: false,
        reads: Reads::Nothing,
        rank: 18,
    })
    .demands(Demand::Positive, 0)
    .landmark(OF_FUNCTION);
    /// The Bessel function J₀
    BesselJ0 = function("j0({0})", Smt::Uninterpreted("j0"), FunctionInfo {
        function: Function::BesselJ0,
        limits: [LimitAtInfinity::Number(0); 2],
        signs: [Signs::ANY; 3],
        between: Some((-1, 1)),
        points: &[(0, 1)],
        parity: Parity::Even,
        keeps_negative_zero: false,
        reads: Reads::Nothing,
        rank: 19,
    })
    .landmark(OF_FUNCTION);
    /// The Bessel function J₁
    BesselJ1 = function("j1({0})", Smt::Uninterpreted("j1"), FunctionInfo {
        function: Function::BesselJ1,
        limits: [LimitAtInfinity::Number(0); 2],
        signs: [Signs::ANY, Signs::ZERO, Signs::ANY],
        between: Some((-1, 1)),
        points: &[(0, 0)],
        parity: Parity::Odd,
        keeps_negative_zero: true,
        reads: Reads::Nothing,
        rank: 20,
    })
    .landmark(OF_FUNCTION);
    /// The Bessel function Y₀; obliges `a > 0`
    BesselY0 = function("y0({0})", Smt::Uninterpreted("y0"), FunctionInfo {
        function: Function::BesselY0,
        limits: [LimitAtInfinity::Undefined("Y₀ at minus infinity"), LimitAtInfinity::Number(0)],
        signs: [Signs::ANY; 3],
        between: None,
        points: &[],
        parity: Parity::None,
        keeps_negative_zero: false,
        reads: Reads::Nothing,
        rank: 21,
    })
    .demands(Demand::Positive, 0)
    .landmark(OF_FUNCTION);
    /// The Bessel function Y₁; obliges `a > 0`
    BesselY1 = function("y1({0})", Smt::Uninterpreted("y1"), FunctionInfo {
        function: Function::BesselY1,
        limits: [LimitAtInfinity::Undefined("Y₁ at minus infinity"), LimitAtInfinity::Number(0)],
        signs: [Signs::ANY; 3],
        between: None,
        points: &[],
        parity: Parity::None,
        keeps_negative_zero: false,
        reads: Reads::Nothing,
        rank: 22,
    })
    .demands(Demand::Positive, 0)
    .landmark(OF_FUNCTION);
    /// A step of a loop whose number of iterations depends on the input: `outcome(code)` is the loop, and
    /// `outcome(outcome(…) + a)` is the loop after it has computed `a`; likewise with a number for one of its
    /// results. It is some function of these values, and like encodings it has a meaning only in [recognized
    /// functions](super::Template)
    Outcome = of_encodings("outcome({0})", Function::Outcome, None, 23);
    /// The operation of IEEE arithmetic with the [key](super::IeeeKey) `a`, of one operand
    Ieee1 = Info::new("ieee({0}; {1})", Smt::Unknown, 2, Kind::Ieee);
    /// The operation of IEEE arithmetic with the [key](super::IeeeKey) `a`, of two operands
    Ieee2 = Info::new("ieee({0}; {1}, {2})", Smt::Unknown, 3, Kind::Ieee);
    /// Two operands of an operation of IEEE arithmetic, as one
    IeeePair = Info::new("({0}, {1})", Smt::Unknown, 2, Kind::Ieee);
}

impl TermOp {
    /// The row of the operation.
    #[inline]
    pub fn info(self) -> &'static Info {
        &TABLE[self as usize]
    }

    /// The class of the operation.
    #[inline]
    pub fn kind(self) -> &'static Kind {
        &self.info().kind
    }

    /// Its properties, if it is a function of one real.
    pub fn function(self) -> Option<&'static FunctionInfo> {
        match self.kind() {
            Kind::Function(info) => Some(info),
            Kind::Sum(_)
            | Kind::Product(_)
            | Kind::Exponential
            | Kind::Piecewise(_)
            | Kind::Condition(_)
            | Kind::Ieee => None,
        }
    }

    /// How rule V9 reads literals below it.
    pub fn reads(self) -> Reads {
        match self.kind() {
            Kind::Exponential => Reads::Exponent,
            Kind::Function(info) => info.reads,
            Kind::Sum(_) | Kind::Product(_) | Kind::Piecewise(_) | Kind::Condition(_) | Kind::Ieee => {
                Reads::Nothing
            }
        }
    }

    /// The rounding operation for a mode.
    pub fn rounding(towards: Towards) -> TermOp {
        match towards {
            Towards::Floor => TermOp::Floor,
            Towards::Ceil => TermOp::Ceil,
            Towards::Zero => TermOp::Trunc,
            Towards::NearestEven => TermOp::RoundEven,
        }
    }

    /// The number of operands. None has more than three; the mask tells the compiler, which then omits checks.
    #[inline]
    pub fn arity(self) -> Arity {
        Arity::from(ARITIES[self as usize] & 3)
    }

    /// Whether it is undefined for some operands (rule V8).
    #[inline]
    pub fn is_partial(self) -> bool {
        self.info().demand.is_some()
    }

    /// Whether the result is a truth value rather than a real.
    pub fn is_condition(self) -> bool {
        matches!(self.kind(), Kind::Condition(_))
    }
}

/// Replaces `{0}`, `{1}` and so on in a text of the table by operands.
pub fn fill(template: &str, operands: &[String]) -> String {
    let mut out = String::with_capacity(template.len() + operands.iter().map(String::len).sum::<usize>());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let (number, after) = after.split_once('}').unwrap_or((after, ""));
        let operand = number.parse().ok().and_then(|at: usize| operands.get(at));
        out.push_str(operand.map_or("", String::as_str));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every placeholder of a text is an operand, and every operand occurs in it.
    #[test]
    fn texts_name_their_operands() {
        for op in TermOp::ALL {
            let info = op.info();
            let extra = match info.smt {
                Smt::Expression(_) | Smt::Uninterpreted(_) | Smt::Unknown => 0,
                Smt::OfFloor(_) | Smt::Defined(_) => 1,
            };
            let smt = match info.smt {
                Smt::Expression(text) | Smt::OfFloor(text) | Smt::Defined(text) => Some((text, extra)),
                Smt::Uninterpreted(_) | Smt::Unknown => None,
            };
            for (text, extra) in [(info.text, 0)].into_iter().chain(smt) {
                for at in 0..4 {
                    let is_operand = at < info.arity || at == 3 && extra == 1;
                    assert_eq!(text.contains(&format!("{{{at}}}")), is_operand, "{op:?}: {text}");
                }
            }
            if let Some((_, operand)) = info.demand {
                assert!(operand < info.arity, "{op:?}");
            }
        }
    }

    /// Functions that occur in forms have distinct ranks.
    #[test]
    fn ranks_differ() {
        let ranks = TermOp::ALL.iter().filter_map(|op| match op.kind() {
            Kind::Function(info) => Some(info.rank),
            Kind::Sum(_)
            | Kind::Product(_)
            | Kind::Exponential
            | Kind::Piecewise(_)
            | Kind::Condition(_)
            | Kind::Ieee => None,
        });
        let mut ranks: Vec<u8> = ranks.collect();
        ranks.sort_unstable();
        assert_eq!(ranks, (0..ranks.len() as u8).collect::<Vec<u8>>());
    }

    #[test]
    fn names_are_those_of_calls() {
        assert_eq!(TermOp::Sqrt.info().name(), Some("sqrt"));
        assert_eq!(TermOp::CopySign.info().name(), Some("copysign"));
        assert_eq!(TermOp::Add.info().name(), None);
        assert_eq!(fill(TermOp::Fma.info().text, &["a", "b", "c"].map(String::from)), "(a * b + c)");
    }
}
