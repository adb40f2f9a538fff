//! The laws on which canonical forms rest: one line each, for the documentation and for the tests, which also draw
//! random instances of them.
//!
//! They are not rewrite rules that are tried in turn: a form is made in one walk over a term, and most laws hold by
//! construction (a sum is a sorted list, so that sums commute). For each group, [`Group::applied`] names the code
//! that applies it, and says why it is code.
//!
//! Terms range over reals where every partial operation below them is defined (V8; [`super::obligation`] collects
//! these from the term as it was executed), and [`super::extended_value`] decides beforehand what is infinite or
//! undefined (V3, V6), so a law meets an infinity only where it says so.
//!
//! The statements are in the language of the suite's `identities` folder. Each is proved there, and both of its
//! sides are evaluated at many points by intervals, which are independent of the laws; limits are refuted, or
//! proved under conditions only.

/// A law.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// In mathematical notation.
    pub law: &'static str,
    /// Where it holds.
    pub holds: &'static str,
    /// The law as a statement that must be proved; assumptions on inputs stand before a colon.
    pub statement: &'static str,
    /// Similar statements that are false, or that hold under conditions only: the side condition violated, and a
    /// near miss.
    pub limits: &'static [&'static str],
}

const fn law(
    law: &'static str,
    holds: &'static str,
    statement: &'static str,
    limits: &'static [&'static str],
) -> Law {
    Law { law, holds, statement, limits }
}

/// Laws of some functions.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The functions that the laws are about.
    pub title: &'static str,
    /// The files of `algebra/` that apply them, and why they are code there.
    pub applied: &'static [(&'static str, &'static str)],
    /// The laws, one line each.
    pub laws: &'static [Law],
}

/// All laws, by function.
pub const LAWS: &[Group] = &[
    Group {
        title: "Sums, products, quotients",
        applied: &[
            (
                "polynomial.rs",
                "a sum is a sorted list of monomials, in which equal ones are added: the laws of rings hold by \
                 construction",
            ),
            ("product.rs", "whether products are multiplied out or kept as factors depends on the cost"),
            ("ratio.rs", "quotients get common denominators only where a proof needs them"),
            ("polarization.rs", "products that are squares of long sums are searched for"),
        ],
        laws: SUMS,
    },
    Group {
        title: "Exponentials and logarithms",
        applied: &[
            (
                "exponent.rs",
                "a monomial has one exponent of two, to which the exponents of its factors are added",
            ),
            ("larger_and_smaller.rs", "the two terms of a sum that are such powers are found by lookup"),
            ("function.rs", "a logarithm is split by the factors of its operand and their signs"),
            ("constant_readings.rs", "the constant that a literal stands for depends on its context"),
        ],
        laws: EXPONENTIALS,
    },
    Group {
        title: "Roots",
        applied: &[(
            "root.rs",
            "factors are taken out of a root by their signs, and numbers by their prime factors",
        )],
        laws: ROOTS,
    },
    Group {
        title: "Maxima, minima, magnitudes",
        applied: &[
            ("maximum.rs", "a maximum is a set of sums, from which the common part is taken out"),
            ("cases.rs", "the orders of compared quantities are cases, which are searched"),
        ],
        laws: MAXIMA,
    },
    Group {
        title: "Choices",
        applied: &[
            ("comparison.rs", "a comparison has one form, a sum above zero"),
            ("function.rs", "arms are compared with one another"),
            ("chosen_sum.rs", "so are sums of parts, in both orders in which all of them are chosen"),
            ("cases.rs", "as for maxima"),
        ],
        laws: CHOICES,
    },
    Group {
        title: "Whole numbers and their binary digits",
        applied: &[
            ("integer.rs", "whether a law applies is decided by ranges, which are computed"),
            (
                "bitwise.rs",
                "words are sums of common digits, and a truth table decides whether a sum is such a word",
            ),
        ],
        laws: WHOLE,
    },
    Group {
        title: "Other functions",
        applied: &[(
            "function.rs",
            "a function is replaced by its definition, or the sign of its operand is taken out",
        )],
        laws: FUNCTIONS,
    },
];

/// All laws.
pub fn laws() -> impl Iterator<Item = &'static Law> {
    LAWS.iter().flat_map(|group| group.laws)
}

const SUMS: &[Law] = &[
    law(
        "a + b = b + a, (a + b) + c = a + (b + c)",
        "always",
        "(a + b) + c == b + (c + a)",
        &["a + b + c != a + b"],
    ),
    law("a·b = b·a, (a·b)·c = a·(b·c)", "always", "(a*b)*c == b*(c*a)", &["a*b*c != a*b"]),
    law("a·(b + c) = a·b + a·c", "always", "a*(b + c) == a*b + a*c", &["a*(b + c) != a*b + c"]),
    law(
        "a·b = ((a + b)² − a² − b²)/2",
        "always; used for long sums whose squares cancel",
        "a*b == ((a + b)^2 - a^2 - b^2)/2",
        &["a*b != (a + b)^2 - a^2 - b^2", "a*b != ((a - b)^2 - a^2 - b^2)/2"],
    ),
    law("a − a = 0", "a is defined", "a/b - a/b == 0", &["0 == a/b - a/b where b != 0", "a/b - b/a != 0"]),
    law("0·a = 0", "a is defined", "0*(a/b) == 0", &["0 == 0*(a/b) where b != 0", "0*a + b != 0"]),
    law("a/a = 1", "a ≠ 0", "a/a == 1", &["1 == a/a where a != 0", "a/a != 0"]),
    law(
        "(a·c)/(b·c) = a/b",
        "c ≠ 0",
        "(a*c)/(b*c) == a/b",
        &["a/b == (a*c)/(b*c) where b*c != 0", "(a + c)/(b + c) != a/b"],
    ),
    law(
        "a/b + c/d = (a·d + c·b)/(b·d)",
        "b, d ≠ 0",
        "a/b + c/d == (a*d + c*b)/(b*d)",
        &["a/b + c/d != (a + c)/(b + d)"],
    ),
    law("a/±∞ = 0", "a is a number", "a/inf == 0", &["a/1000000000 != 0"]),
];

const EXPONENTIALS: &[Law] = &[
    law("2^a·2^b = 2^(a + b)", "always", "exp2(a)*exp2(b) == exp2(a + b)", &["exp2(a)*exp2(b) != exp2(a*b)"]),
    law("1/2^a = 2^(−a)", "always: 2^a > 0", "1/exp2(a) == exp2(-a)", &["1/exp2(a) != -exp2(a)"]),
    law("2^(n + a) = 2ⁿ·2^a", "integer n", "exp2(a + 5) == 32*exp2(a)", &["exp2(a + 1/2) != 32*exp2(a)"]),
    law("(2^a)ⁿ = 2^(n·a)", "integer n", "exp2(a)^3 == exp2(3*a)", &["exp2(a)^3 != exp2(a^3)"]),
    law("2^(−∞) = 0", "always", "exp2(-inf) == 0", &["exp2(-1000) != 0"]),
    law(
        "2^max(a, b) + 2^min(a, b) = 2^a + 2^b",
        "always; with any scale",
        "c*exp2(2*max(a, b)) + c*exp2(2*(a + b - max(a, b))) == c*exp2(2*a) + c*exp2(2*b)",
        &[
            "exp2(max(a, b)) + 2*exp2(min(a, b)) != exp2(a) + 2*exp2(b)",
            "exp2(max(a, b)) - exp2(min(a, b)) != exp2(a) - exp2(b)",
            "exp2(max(a, b)) + exp2(2*min(a, b)) != exp2(a) + exp2(2*b)",
        ],
    ),
    law(
        "2^(k·log₂ a) = a^k",
        "integer k; a > 0 is the logarithm's requirement",
        "exp2(3*log2(a)) == a^3",
        &["a^3 == exp2(3*log2(a)) where a > 0", "exp2(3*log2(a)) != 3*a"],
    ),
    law("log₂ 2^a = a", "always", "log2(exp2(a)) == a", &["log2(exp(a)) != a"]),
    law("log₂(2ᵏ·a) = k + log₂ a", "integer k", "log2(8*a) == 3 + log2(a)", &["log2(8*a) != 8 + log2(a)"]),
    law(
        "log₂(a·b) = log₂ a + log₂ b, and for quotients and powers",
        "a > 0 and b > 0 by their signs",
        "a > 0, b > 0: log2(a^2/b) == 2*log2(a) - log2(b)",
        &[
            "log2(a*b) == log2(a) + log2(b) where a > 0, b > 0",
            "a > 0, b > 0: log2(a + b) != log2(a) + log2(b)",
        ],
    ),
    law(
        "log₂ a^k = k·log₂ |a|",
        "even k; that a ≠ 0 is the logarithm's requirement",
        "log2(a^2) == 2*log2(abs(a))",
        &["log2(a^2) == 2*log2(a) where a > 0", "log2(a^2) != log2(a)^2"],
    ),
    law(
        "√ under a logarithm: log₂ √a = log₂(a)/2",
        "a > 0 by its signs",
        "a > 0: log2(sqrt(a)) == log2(a)/2",
        &["a > 0: log2(sqrt(a)) != sqrt(log2(a + 1))"],
    ),
    law(
        "literals near log₂ e and ln 2 are read as these (V9)",
        "in exponents of two, and as factors of logarithms; recorded with the verdict",
        "exp2(a*0x3fb8aa3b)^2 == exp(2*a)",
        &["exp2(a*1.442) != exp(a)", "a*0x3fb8aa3b != a*1.442"],
    ),
    law(
        "a literal that is the rounded r·log₂ e, where r is a literal of the other side, is read as that (V9)",
        "in exponents of two; recorded with the verdict",
        "exp2(a*0x3e252b5b) == exp(a*0x3de4f92e)",
        &["exp2(a*0x3e252b6b) != exp(a*0x3de4f92e)", "a*0x3e252b5b != a*0x3de4f92e"],
    ),
    law(
        "log₂ e and ln 2 as literals are each other's reciprocals (V9)",
        "in a sum in which ln 2 also multiplies a logarithm; recorded with the verdict",
        "(a*0x3fb8aa3b + log2(b))*0x3f317218 == a + log2(b)*0x3f317218",
        &["(a*0x3fb8aa3b + log2(b))*0x3f317228 != a + log2(b)*0x3f317228"],
    ),
];

const ROOTS: &[Law] = &[
    law(
        "(√a)² = a",
        "a ≥ 0 is the root's requirement",
        "sqrt(a)*sqrt(a) == a",
        &["a == sqrt(a)*sqrt(a) where a >= 0"],
    ),
    law("1/√a = √a/a", "a > 0 is the root's requirement", "rsqrt(a) == sqrt(a)/a", &["rsqrt(a) != 1/a"]),
    law(
        "√max(a, b) = max(√a, √b)",
        "neither is negative, by their signs",
        "sqrt(max(a^2, exp(b))) == max(abs(a), exp(b/2))",
        &["sqrt(max(a, b)) != max(a, b)"],
    ),
    law("√(q²·a) = q·√a", "rational q ≥ 0", "sqrt(9/4*a) == 3/2*sqrt(a)", &["sqrt(9*a) != 9*sqrt(a)"]),
    law(
        "√(2^(2a)·b) = 2^a·√b",
        "always",
        "sqrt(exp(2*a)*b) == exp(a)*sqrt(b)",
        &["sqrt(exp(2*a) + b) != exp(a) + sqrt(b)"],
    ),
    law(
        "√(p²·a) = p·√a",
        "p > 0 by its signs",
        "p > 0: sqrt(p^2*a) == p*sqrt(a)",
        &["sqrt(p^2*a) != p*sqrt(a)"],
    ),
    law("√(a²) = |a|", "always", "sqrt(a^2) == abs(a)", &["sqrt(a^2) != a", "a < 0: sqrt(a^2) == -a"]),
];

const MAXIMA: &[Law] = &[
    law(
        "max is a set: max(a, b) = max(b, a), max(a, max(b, c)) = max(a, b, c), max(a, a) = a",
        "always",
        "max(a, max(b, a)) == max(b, a)",
        &["max(a, b) != a"],
    ),
    law("max(−∞, a) = a", "always", "max(-inf, a) == a", &["max(-2^20, a) != a"]),
    law(
        "max(a + c, b + c) = max(a, b) + c",
        "always",
        "max(a + c, b + c) == max(a, b) + c",
        &["max(a + c, b) != max(a, b) + c"],
    ),
    law(
        "max(k·a, k·b) = k·max(a, b)",
        "k ≥ 0 by its signs",
        "k > 0: max(k*a, k*b) == k*max(a, b)",
        &["max(k*a, k*b) != k*max(a, b)", "k < 0: max(k*a, k*b) == k*min(a, b)"],
    ),
    law(
        "max(a, b) = a",
        "a − b ≥ 0 by its signs",
        "b >= 0: max(a + b, a) == a + b",
        &["max(a + b, a) != a + b"],
    ),
    law(
        "min(a, b) = −max(−a, −b) = a + b − max(a, b)",
        "always",
        "min(a, b) + max(a, b) == a + b",
        &["min(a, b) != -max(a, b)"],
    ),
    law("|a| = max(a, −a)", "always", "abs(a) == max(a, -a)", &["abs(a) != a"]),
    law("saturate(a) = min(max(a, 0), 1)", "always", "sat(a) == max(min(a, 1), 0)", &["sat(a) != max(a, 0)"]),
    law(
        "max(min(a, b), min(a, c)) = min(a, max(b, c)), and its variants",
        "always",
        "max(min(a, b), min(a, c)) == min(a, max(b, c))",
        &["max(min(a, b), min(a, c)) != min(a, min(b, c))"],
    ),
    law(
        "each order of the compared quantities separately",
        "orders that are linear in products of atoms, within a budget",
        "max(a, b)*min(a, b) == a*b",
        &["max(a, b)*max(a, b) != a*b"],
    ),
];

const CHOICES: &[Law] = &[
    law("(c ? a : a) = a", "always", "if(b > 0, a, a) == a", &["if(b > 0, a, b) != a"]),
    law(
        "(p > 0 ? b + k·p : b) = b + k·max(p, 0)",
        "rational k",
        "if(p > 0, b + 3*p, b) == b + 3*max(p, 0)",
        &["if(p > 1, b + 3*p, b) != b + 3*max(p, 0)"],
    ),
    law(
        "(p > 0 ? b·2^(k·p) : b) = b·2^(k·max(p, 0))",
        "rational k, or one times log₂ e",
        "if(p > 0, b*exp(3*p), b) == b*exp(3*max(p, 0))",
        &["if(p > 1, b*exp(3*p), b) != b*exp(3*max(p, 0))", "if(p > 0, b*exp(p), c) != b*exp(max(p, 0))"],
    ),
    law("(c ? a : b) = a", "c holds, by signs", "if(exp(c) > 0, a, b) == a", &["if(c > 0, a, b) != a"]),
    law(
        "(p < q ? b : a) + (p < q ? a : b)·2^(k·(min(p, q) − max(p, q))) = (a·2^(k·p) + b·2^(k·q))·2^(−k·max(p, q)), and its \
         variants",
        "rational k, or one times log₂ e; all choices agree where p = q",
        "if(p < q, b, a) + if(p < q, a, b)*exp(if(p < q, p, q) - if(p < q, q, p)) \
         == (a*exp(p) + b*exp(q))*exp(-max(p, q))",
        &[
            "if(p < q, b, a) + if(p <= q, a, b)*exp(if(p < q, p, q) - if(p < q, q, p)) \
             != (a*exp(p) + b*exp(q))*exp(-max(p, q))",
            "if(p < q, b, a) + if(p < q, b, a)*exp(if(p < q, p, q) - if(p < q, q, p)) \
             != (a*exp(p) + b*exp(q))*exp(-max(p, q))",
        ],
    ),
    law(
        "(d = 0 ? a : b) = a + d·(b − a)",
        "d is 0 or 1 by the ranges of inputs and of digits; a and b are multiples of whole numbers",
        "n is u8, m is u8: if(and(n, 16) = 0, 3, m) == 3 + and(n, 16)*(m - 3)/16",
        &[
            "n is u8, m is u8: if(mod(n, 3) = 0, 3, m) != 3 + mod(n, 3)*(m - 3)",
            "n is u8, m is u8: if(mod(n, 2) = 0, 3, m) != m + mod(n, 2)*(3 - m)",
        ],
    ),
    law(
        "(c ? a : b) = b + [c]·(a − b), where [c] is (c ? 1 : 0)",
        "a and b have a value at every input, and the sum shows the signs and the range of the choice; short sums",
        "if(b > 0, a, 0) + if(b > 0, c, 2*c) == a*if(b > 0, 1, 0) + c*(2 - if(b > 0, 1, 0))",
        &[
            "if(b > 0, a, 0) != a*if(b < 0, 1, 0)",
            "if(b > 0, a, c) != c + (a - c)*if(c > 0, 1, 0)",
            "if(b > 0, 1/a, 0) == if(b > 0, 1, 0)/a where a != 0",
        ],
    ),
    law(
        "[c]² = [c]",
        "of choices between 1 and 0, and of integers that are 0 or 1 by their ranges",
        "if(b > 0, a, 0)*if(b > 0, c, 0) == if(b > 0, a*c, 0)",
        &["if(b > 0, 2, 0)^2 != if(b > 0, 2, 0)", "if(b > 0, a, 0)*if(b <= 0, c, 0) != a*c"],
    ),
    law(
        "[c ∧ d] = [c]·[d], and for all ways to join conditions",
        "the products are short",
        "if(a > 0 & b > 0, c, 0) == if(a > 0, if(b > 0, c, 0), 0)",
        &["if(a > 0 & b > 0, c, 0) != if(a > 0, c, 0) + if(b > 0, c, 0)"],
    ),
    law(
        "comparisons up to positive factors and to shifts on both sides",
        "always",
        "if(2*a < 2*b, 1, 0) == if(a - b < 0, 1, 0)",
        &["if(a < b, 1, 0) != if(a <= b, 1, 0)"],
    ),
    law(
        "each order of the quantities that a choice compares, separately",
        "as for maxima",
        "if(a < b, 1, 0) + if(b <= a, 1, 0) == 1",
        &["if(a < b, 1, 0) + if(b < a, 1, 0) != 1"],
    ),
    law(
        "where a = b, one stands for the other",
        "the sum that is zero has a term that is an atom",
        "if(a = b, a*c, 0) == if(a = b, b*c, 0)",
        &["if(a = b, a*c, 1) != if(a = b, b*b, 1)"],
    ),
];

const WHOLE: &[Law] = &[
    law(
        "⌊a + n⌋ = ⌊a⌋ + n; ⌈a⌉ = −⌊−a⌋",
        "n is whole at every input",
        "n is i32: floor(a + 3*n - 2) == -ceil(-a) + 3*n - 2",
        &["floor(a + 1/2) != floor(a) + 1/2", "floor(a + b) != floor(a) + b"],
    ),
    law(
        "⌊n⌋ = n, and for all roundings",
        "n is whole at every input",
        "n is i8: trunc(n) + round(3*n) == 4*n",
        &["n is i8: trunc(n/2) != n/2", "trunc(a) != a"],
    ),
    law(
        "n mod m = n − m·⌊n/m⌋",
        "whole m > 0",
        "n is i32: mod(n, 16) == n - 16*floor(n/16)",
        &["n is i32: mod(n, 16) != n - 16*trunc(n/16)"],
    ),
    law(
        "⌊(⌊a⌋ + n)/b⌋ = ⌊(a + n)/b⌋",
        "whole n and whole b > 0",
        "n is i32: floor((floor(a/3) + n)/4) == floor((a/3 + n)/4)",
        &["n is i32: floor(3*floor(n/2)/4) != floor(3*n/8)", "floor((floor(a) + b)/4) != floor((a + b)/4)"],
    ),
    law(
        "⌊a + 1/2⌋ = ⌊2a⌋ − ⌊a⌋",
        "a is a whole number over a power of two",
        "n is i16: floor((n + 4)/8) == floor(n/4) - floor(n/8)",
        &["n is i16: floor((n + 2)/8) != floor(n/4) - floor(n/8)"],
    ),
    law(
        "⌊a⌋ = k",
        "k ≤ a < k + 1 by the ranges of inputs and of digits",
        "n is u8: floor(n/256) + floor((mod(n, 16) + 32)/16) == 2",
        &["n is i8: floor(n/256) != 0", "n is u8: floor(n/255) != 0"],
    ),
    law(
        "⌊(n + k·m)/(k·l)⌋ = ⌊m/l⌋",
        "0 ≤ n < k by the ranges of inputs and of digits; whole m, k and l",
        "n is u8, m is u16: floor((n + 256*m)/4096) == floor(m/16)",
        &[
            "n is u16, m is u8: floor((n + 256*m)/4096) != floor(m/16)",
            "n is i8, m is u16: floor((n + 256*m)/4096) != floor(m/16)",
        ],
    ),
    law(
        "⌊(n + c)/b⌋ = ⌊n/(b − c)⌋",
        "0 ≤ n < 2·(b − c) by the ranges of inputs and of digits; whole n, 0 < c < b, b − c a power of two",
        "n is u8: floor((mod(n, 4) + 6)/8) == floor(mod(n, 4)/2)",
        &[
            "n is u8: floor((mod(n, 8) + 6)/8) != floor(mod(n, 8)/2)",
            "n is i8: floor((n + 6)/8) != floor(n/2)",
        ],
    ),
    law(
        "⌊c·n⌋ = ⌊c'·n⌋, for the simplest such c'",
        "for every n of its range",
        "n is u32: floor(2863311531*n/8589934592) == floor(n/3)",
        &["n is u32: floor(2863311530*n/8589934592) != floor(n/3)"],
    ),
    law(
        "⌊max(a, b)⌋ = max(⌊a⌋, ⌊b⌋), and for all roundings",
        "always",
        "round(max(a, min(b, 7))) == max(round(a), min(round(b), 7))",
        &["floor(max(a, b)) != max(floor(a), b)"],
    ),
    law(
        "n & m = Σ 2ᵏ·(⌊n/2ᵏ⌋ mod 2), over the ones of m",
        "a known m",
        "n is u32: and(n, 240) == 16*mod(floor(n/16), 16)",
        &["n is u32: and(n, 240) != mod(floor(n/16), 16)"],
    ),
    law(
        "n & n = n; n & (2ᵏ − 1 − n) = 0",
        "n has no more than k digits",
        "n is u8, m is u8: and(n, 255 - n) + and(m, m) == m",
        &["n is u8: and(n, 256 - n) != 0"],
    ),
    law(
        "(a ^ b) & c = (a & c) ^ (b & c), where n ^ m is n + m − 2·(n & m), and its variants",
        "natural numbers; of ~a = 2ᵏ − 1 − a, none has more than k digits",
        "n is u32, m is u32, k is u32: and(n + m - 2*and(n, m), k) == and(n, k) + and(m, k) - 2*and(n, and(m, k))",
        &[
            "n is u32, m is u32, k is u32: and(n + m, k) != and(n, k) + and(m, k)",
            "n is u32, m is u32: and(n + m - 2*and(n, m), m) != m",
            "n is u32, m is u8: and(255 - m, n) != n - and(m, n)",
        ],
    ),
    law(
        "n & 2ᵏ·m = 0",
        "0 ≤ n < 2ᵏ, whole m",
        "n is u8, m is u8: and(n, 256*m) == 0",
        &["n is u8, m is u8: and(n, 128*m) != 0"],
    ),
    law(
        "(n + m − 2·(n & m)) < 2ᵏ",
        "n and m have no more than k digits",
        "n is u8, m is u8: floor((n + m - 2*and(n, m))/256) == 0",
        &["n is u8, m is u8: floor((n + m)/256) != 0"],
    ),
    law(
        "k·n + c > 0 where n + ⌈c/k⌉ > 0, and not where 1 − n − ⌈c/k⌉ > 0",
        "whole n and whole k > 0",
        "n is i32: if(2*n > 5, 1, 0) == if(n < 3, 0, 1)",
        &["n is i32: if(2*n > 5, 1, 0) != if(n < 2, 0, 1)", "if(2*a > 5, 1, 0) != if(a < 3, 0, 1)"],
    ),
];

const FUNCTIONS: &[Law] = &[
    law(
        "tanh a = 1 − 2/(1 + e^(2a))",
        "always: the denominator is above 1",
        "tanh(a) == 1 - 2/(1 + exp(2*a))",
        &["tanh(a) != 1 - 2/(1 + exp(a))"],
    ),
    law(
        "sin(−a) = −sin a, cos(−a) = cos a",
        "always",
        "sin(a - b)*cos(b - a) == -sin(b - a)*cos(a - b)",
        &["sin(-a) != sin(a)"],
    ),
    law(
        "f(−a) = −f(a) for erf, atan and cbrt",
        "always",
        "erf(a - b)*atan(b - a)*cbrt(a - b) == -erf(a - b)*atan(a - b)*cbrt(a - b)",
        &["erf(-a) != erf(a)", "atan(-a) != atan(a)", "cbrt(-a) != cbrt(a)"],
    ),
    law(
        "j0(−a) = j0(a), j1(−a) = −j1(a)",
        "always",
        "j0(a - b)*j1(b - a) == -j0(b - a)*j1(a - b)",
        &["j1(-a) != j1(a)"],
    ),
    law(
        "cos² a = 1 − sin² a",
        "always",
        "sin(a)^2 + cos(a)^2 == 1",
        &["sin(a)^2 + cos(b)^2 != 1", "sin(a)^2 - cos(a)^2 != 1"],
    ),
    law(
        "copysign(p, a) = |a|, copysign(−p, a) = −|a|",
        "p > 0 by its signs",
        "p > 0: copysign(p, a) == abs(a)",
        &["copysign(p, a) != abs(a)"],
    ),
];
