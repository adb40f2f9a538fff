//! Literals that are read as irrational numbers (rule V9): which, and where that is allowed.
//!
//! A class is proved with all literals as they are, or with all readings of that rule; where one cannot be, it is refused.

use crate::form::{Made, two_adic};
use crate::number::Number;
use crate::text::{Certificate, Class, Node, Op};
use std::collections::HashMap;

/// What a literal is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// log₂ e, as a factor in an exponent.
    Log2E,
    /// What log₂ e has more than that literal: 0 beside it, with the same factor.
    Rest,
    /// 1/log₂ e, beside a logarithm.
    Ln2,
    /// One that rule V9 reads, and no proof here.
    Refused,
}

/// The table of rule V9: floats, by their significant digits and their bits. The first forms in a kernel are read.
const TABLE: [(u32, u64, Role); 14] = [
    (24, 0x3FB8_AA3B, Role::Log2E),
    (24, 0x3FB8_AA3C, Role::Refused),
    (24, 0x32A5_7060, Role::Rest),
    (24, 0x32A5_5E34, Role::Refused),
    (11, 0x3DC5, Role::Refused),
    (8, 0x3FB9, Role::Refused),
    (53, 0x3FF7_1547_652B_82FE, Role::Refused),
    (24, 0x3F31_7218, Role::Ln2),
    (53, 0x3FE6_2E42_FEFA_39EF, Role::Refused),
    (24, 0x4054_9A78, Role::Refused),
    (24, 0x3397_9A37, Role::Refused),
    (24, 0x3E9A_209B, Role::Refused),
    (53, 0x400A_934F_0979_A371, Role::Refused),
    (53, 0x3FD3_4413_509F_79FF, Role::Refused),
];
/// Literals are read up to powers of two, with exponents from and to these.
const SHIFTS: std::ops::RangeInclusive<i64> = -12..=4;

// Which products a sum has: without a literal that is read, with one logarithm, with a literal, with ln 2.
const PLAIN: u16 = 1;
const LOGARITHM: u16 = 2;
const LITERAL: u16 = 4;
const RECIPROCAL: u16 = 16;
const KINDS: [u16; 4] = [PLAIN, LOGARITHM, LITERAL, RECIPROCAL];
/// All products with a literal.
const READ: u16 = LITERAL | RECIPROCAL;
// What is below a term: a literal alone, one with its rest, one where it is not read.
const ALONE: u16 = 32;
const REST: u16 = 64;
const MISPLACED: u16 = 128;
const BELOW: u16 = ALONE | REST | MISPLACED;

/// What is read in the terms of a certificate.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    /// The literals, each with the factor of what it is read as.
    literals: HashMap<u32, (Role, Number)>,
    kinds: Vec<u16>,
}

impl Readings {
    pub(crate) fn get(&self, at: u32) -> Option<&(Role, Number)> {
        self.literals.get(&at)
    }

    /// Refuses readings where rule V9 has none.
    pub(crate) fn check(&mut self, certificate: &Certificate, class: &Class) -> Made<()> {
        for at in self.kinds.len()..certificate.nodes.len() {
            let kinds = self.kinds(&certificate.nodes, at as u32);
            self.kinds.push(kinds);
        }
        let kinds = |root: u32| self.kinds.get(root as usize).copied().unwrap_or(MISPLACED);
        for (side, root) in class.roots.into_iter().enumerate() {
            let whole = certificate.classes.iter().filter(|class| class.elements > 0);
            let mut roots = whole.map(|class| class.roots);
            if kinds(root) & (READ | MISPLACED) != 0 {
                return Err("a literal of rule V9 stands where that rule does not read it".to_string());
            }
            if kinds(root) & ALONE != 0
                && (kinds(root) & REST != 0 || roots.any(|roots| kinds(roots[side]) & REST != 0))
            {
                return Err("log₂ e stands with its rest and alone in one kernel".to_string());
            }
        }
        Ok(())
    }

    /// How literals are read, as text.
    pub(crate) fn told(&self) -> Vec<String> {
        let names = [
            (Role::Log2E, "f32 literal 0x3fb8aa3b, up to a power of two, read as log2(e)"),
            (Role::Rest, "f32 literal 0x32a57060, up to a power of two, read as the rest of log2(e)"),
            (Role::Ln2, "f32 literal 0x3f317218, up to a power of two, read as ln(2)"),
        ];
        let read = |role| self.literals.values().any(|(of, _)| *of == role);
        names.into_iter().filter(|(role, _)| read(*role)).map(|(_, name)| name.to_string()).collect()
    }

    fn kinds(&mut self, nodes: &[Node], at: u32) -> u16 {
        let (op, operands) = match &nodes[at as usize] {
            Node::Input(..) => return PLAIN,
            Node::Infinity(_) => return 0,
            Node::Number(number) => return if role(None, number).is_some() { MISPLACED } else { PLAIN },
            Node::Literal(digits, number) => {
                let Some((role, factor)) = role(Some(*digits), number) else { return PLAIN };
                self.literals.insert(at, (role, factor));
                return match role {
                    Role::Log2E => LITERAL | ALONE,
                    Role::Rest => REST | MISPLACED,
                    Role::Ln2 => RECIPROCAL,
                    Role::Refused => MISPLACED,
                };
            }
            Node::Apply(op, operands) => (*op, *operands),
        };
        if operands[..op.arity()].iter().any(|operand| *operand >= at) {
            return MISPLACED;
        }
        let [a, b, c] =
            [0, 1, 2].map(|which| if which < op.arity() { self.kinds[operands[which] as usize] } else { 0 });
        let all = a | b | c;
        let only_if = |holds: bool, kinds: u16| (all & BELOW) | if holds { kinds } else { MISPLACED };
        match (op, all & READ == 0) {
            (Op::Add | Op::Sub | Op::Neg, _) => all,
            (Op::Mul, _) => product(a, b),
            (Op::Fma, _) => self.with_rest(nodes, operands).unwrap_or_else(|| product(a, b) | c),
            (Op::Div, _) => only_if(b & !(PLAIN | BELOW) == 0, a),
            (Op::Max | Op::Min, false) => only_if(all & !BELOW == LITERAL, LITERAL),
            (Op::Exp2, _) => only_if(a & RECIPROCAL == 0, PLAIN),
            (Op::Log2, plain) => only_if(plain, LOGARITHM),
            (_, plain) => only_if(plain, PLAIN),
        }
    }

    /// `x·rest + x·literal`, and more that is added.
    fn with_rest(&self, nodes: &[Node], [a, b, beside]: [u32; 3]) -> Option<u16> {
        let Node::Apply(op @ (Op::Mul | Op::Fma), [p, q, more]) = &nodes[beside as usize] else {
            return None;
        };
        let of = |at: u32| self.kinds[at as usize];
        [(a, b), (b, a)].into_iter().find_map(|(factor, rest)| {
            let high = if *p == factor { q } else { p };
            let (Some((Role::Rest, low)), Some((Role::Log2E, scale))) = (self.get(rest), self.get(*high))
            else {
                return None;
            };
            let more = if *op == Op::Fma { of(*more) } else { 0 };
            (low == scale && (*p == factor || *q == factor))
                .then(|| product(of(factor), LITERAL) | more | REST)
        })
    }
}

/// The products of the products of two sums.
fn product(a: u16, b: u16) -> u16 {
    let mut made = (a | b) & BELOW;
    for (x, y) in KINDS.into_iter().flat_map(|x| KINDS.map(|y| (x, y))) {
        if a & x == 0 || b & y == 0 {
            continue;
        }
        made |= match (x.min(y), x.max(y)) {
            (PLAIN, other) => other,
            (LOGARITHM, RECIPROCAL) => PLAIN,
            // In `(log₂ s + m·log₂ e)·ln 2`.
            (LITERAL, RECIPROCAL) if (if x == LITERAL { a } else { b }) & LOGARITHM != 0 => PLAIN,
            _ => MISPLACED,
        };
    }
    made
}

/// What a literal is, and the power of two, with a sign, that it has as a factor.
fn role(digits: Option<u32>, number: &Number) -> Option<(Role, Number)> {
    TABLE.iter().filter(|row| digits.is_none_or(|digits| digits == row.0)).find_map(|(digits, bits, role)| {
        let fraction = digits - 1;
        let bias = match digits {
            11 => 15,
            53 => 1023,
            _ => 127,
        };
        let whole = rug::Integer::from(bits & ((1 << fraction) - 1) | 1 << fraction);
        let exponent = (bits >> fraction) as i64 - bias - i64::from(fraction);
        let value = Number::of(whole.into()).times(&Number::power_of_two(exponent)?);
        let factor = number.times(&value.recip()?);
        let shift = two_adic(&factor);
        let is_power = factor.abs() == Number::power_of_two(shift)?;
        (is_power && SHIFTS.contains(&shift)).then_some((*role, factor))
    })
}
