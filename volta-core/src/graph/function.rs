//! The functions that expressions of graphs are made of: one row each.

use crate::term::TermOp;

/// What a function is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// An operation on numbers.
    Numbers(TermOp),
    /// A comparison of numbers: a truth value.
    Comparison(TermOp),
    /// A comparison, negated or with its operands exchanged: a truth value.
    Derived,
    /// An operation on truth values.
    Truths(TermOp),
    /// A choice between numbers, or between truth values, by a truth value.
    Choice,
    /// e to the power of a number, or a logarithm: an operation and a constant.
    Exponential,
    /// A power.
    Power,
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident $word:literal $arity:literal $meaning:expr;)*) => {
        /// A function of expressions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Function { $($(#[$doc])* $name,)* }

        impl Function {
            /// All functions.
            pub const ALL: &[Function] = &[$(Function::$name,)*];

            /// How it is written: a sign between its operands, or a name before them.
            pub fn word(self) -> &'static str {
                match self { $(Function::$name => $word,)* }
            }

            /// The number of its operands.
            pub fn arity(self) -> usize {
                match self { $(Function::$name => $arity,)* }
            }

            /// What it is made of.
            pub fn meaning(self) -> Meaning {
                use Meaning::{Choice, Comparison, Derived, Exponential, Numbers, Power, Truths};
                match self { $(Function::$name => $meaning,)* }
            }
        }
    };
}

functions! {
    /// `a + b`
    Add "+" 2 Numbers(TermOp::Add);
    /// `a - b`
    Sub "-" 2 Numbers(TermOp::Sub);
    /// `a · b`
    Mul "*" 2 Numbers(TermOp::Mul);
    /// `a / b`, also of integers a real
    Div "/" 2 Numbers(TermOp::Div);
    /// `-a`
    Neg "neg" 1 Numbers(TermOp::Neg);
    /// `a^b`: a product where b is a small whole number, else 2^(b·log₂ a)
    Pow "^" 2 Power;
    /// The greater of two
    Max "max" 2 Numbers(TermOp::Max);
    /// The lesser of two
    Min "min" 2 Numbers(TermOp::Min);
    /// `|a|`
    Abs "abs" 1 Numbers(TermOp::Abs);
    /// e^a
    Exp "exp" 1 Exponential;
    /// ln a
    Log "log" 1 Exponential;
    /// 2^a
    Exp2 "exp2" 1 Numbers(TermOp::Exp2);
    /// log₂ a
    Log2 "log2" 1 Numbers(TermOp::Log2);
    /// log₁₀ a
    Log10 "log10" 1 Exponential;
    /// √a
    Sqrt "sqrt" 1 Numbers(TermOp::Sqrt);
    /// 1/√a
    Rsqrt "rsqrt" 1 Numbers(TermOp::Rsqrt);
    /// sin a
    Sin "sin" 1 Numbers(TermOp::Sin);
    /// cos a
    Cos "cos" 1 Numbers(TermOp::Cos);
    /// tanh a
    Tanh "tanh" 1 Numbers(TermOp::Tanh);
    /// arctan a
    Atan "atan" 1 Numbers(TermOp::Atan);
    /// The error function
    Erf "erf" 1 Numbers(TermOp::Erf);
    /// The largest whole number not above a
    Floor "floor" 1 Numbers(TermOp::Floor);
    /// The smallest whole number not below a
    Ceil "ceil" 1 Numbers(TermOp::Ceil);
    /// a without its fraction
    Trunc "trunc" 1 Numbers(TermOp::Trunc);
    /// The nearest whole number, of two the even one
    Round "round" 1 Numbers(TermOp::RoundEven);
    /// `a < b`
    Less "<" 2 Comparison(TermOp::Less);
    /// `a <= b`
    LessEqual "<=" 2 Comparison(TermOp::LessEqual);
    /// `a > b`
    Greater ">" 2 Derived;
    /// `a >= b`
    GreaterEqual ">=" 2 Derived;
    /// `a == b`
    Equal "==" 2 Comparison(TermOp::Equal);
    /// `a != b`
    NotEqual "!=" 2 Derived;
    /// Neither: `a` does not hold
    Not "not" 1 Truths(TermOp::Not);
    /// Both hold
    And "and" 2 Truths(TermOp::And);
    /// One of both holds, or both
    Or "or" 2 Truths(TermOp::Or);
    /// One of both holds
    Xor "xor" 2 Truths(TermOp::Xor);
    /// `b` where `a` holds, else `c`
    Where "where" 3 Choice;
}

impl Function {
    /// The function that is written as a call of this name.
    pub fn named(word: &str) -> Option<Function> {
        let is_name = |function: &&Function| function.word() == word && word.starts_with(char::is_alphabetic);
        Function::ALL.iter().find(is_name).copied()
    }
}
