//! The laws of exact normal forms: what IEEE arithmetic guarantees for all values, zeros of both signs, subnormal
//! numbers, infinities and NaN included. Each is tested on all f16 and on samples of f32 and f64 (`tests.rs`).

/// A law.
#[derive(Clone, Copy, Debug)]
pub struct ExactLaw {
    /// Its name.
    pub name: &'static str,
    /// What is equal, in each rounding mode unless the condition says otherwise.
    pub statement: &'static str,
    /// Its side condition; empty if there is none.
    pub when: &'static str,
}

const fn law(name: &'static str, statement: &'static str, when: &'static str) -> ExactLaw {
    ExactLaw { name, statement, when }
}

/// All laws.
pub const EXACT_LAWS: &[ExactLaw] = &[
    law("operands commute", "a + b = b + a; a · b = b · a; fma(a, b, c) = fma(b, a, c)", ""),
    law("differences", "a − b = a + (−b)", ""),
    law(
        "signs of products",
        "(−a) · b = −(a · b); (−a) / b = −(a / b); fma(−a, b, c) = fma(a, −b, c)",
        "towards ±∞, the other of the two directions for the negated result",
    ),
    law("signs of conversions", "convert(−a) = −convert(a); −⌊a⌋ = ⌈−a⌉", "directions as for products"),
    law("magnitudes", "|−a| = |a|; ||a|| = |a|; copysign(s, −a) = copysign(s, a)", ""),
    law(
        "one",
        "a · 1 = a; a / 1 = a; fma(a, 1, c) = a + c",
        "a has the format of the operation; `.ftz` flushes a",
    ),
    law(
        "negative zero",
        "a + (−0) = a; fma(a, b, −0) = a · b",
        "to nearest or towards zero; a has the format of the operation; `.ftz` flushes a",
    ),
    law("twice", "a + a = 2 · a", ""),
    law("powers of two", "a / 2ᵏ = a · 2⁻ᵏ", "2⁻ᵏ is a normal number of the format, with `.ftz` 2ᵏ too"),
    law("conversions", "convert(a) = a", "the format has all values of the format of a"),
    law(
        "flushing",
        "flush(flush(a)) = flush(a); flush(a) = a",
        "for the second, a is an f16 in an operation on f32",
    ),
    law(
        "maxima",
        "max(a, b) = max(b, a); max(max(a, b), c) = max(a, max(b, c)); max(a, a) = a",
        "likewise for min, and for the forms with `.NaN`; of one kind; `.ftz` flushes a",
    ),
    law(
        "comparisons",
        "−b < −a is a < b; a = b is b = a; an unordered comparison is the opposite ordered one, negated",
        "",
    ),
    law("choices", "c ? a : a = a; ¬c ? a : b = c ? b : a; c ? −a : −b = −(c ? a : b)", ""),
    law("choices of numbers", "f(c ? 2 : 3, a) = c ? f(2, a) : f(3, a)", "both arms are known"),
    law("encodings", "decode(encode(a)) = a", ""),
    law("constants", "an operation on known operands is its result", ""),
];
