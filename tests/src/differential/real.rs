//! Formulas over unknown reals: two kernels that compute one formula in different ways, or nearly so, evaluated with a
//! hundred digits where the formula is defined.

use std::fmt::Write as _;

use rug::ops::Pow as _;
use rug::{Float as Big, Rational};
use volta_core::case::{Case, Contents, Role};
use volta_core::verdict::{How, Verdict};

use super::{Checked, Family, kernel, one_of, pair, side, tensor, told, verify};
use crate::interpreter::random::Random;

/// See the module.
pub const FAMILY: Family =
    Family { name: "reals", share: 500, check, expects: &[("equivalent", 60), ("different", 60)] };

/// The number of inputs of a formula.
const INPUTS: usize = 3;

/// The number of points at which a proof is checked.
const POINTS: usize = 48;

/// The precision of evaluation in bits: a hundred digits.
const DIGITS: u32 = 340;

/// Values that are closer than their scale times this power of two are not distinguished.
const CLOSE: i32 = -300;

/// A formula.
#[derive(Clone, Debug, PartialEq)]
enum Formula {
    Input(usize),
    /// A constant, in eighths.
    Constant(i32),
    Unary(Unary, Box<Formula>),
    Binary(Binary, Box<[Formula; 2]>),
    Fma(Box<[Formula; 3]>),
    /// A choice between the last two formulas by a comparison of the first two.
    Select(Relation, Box<[Formula; 4]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unary {
    Neg,
    Abs,
    Sqrt,
    Rcp,
    Rsqrt,
    Exp2,
    Log2,
    Saturate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Lt,
    Le,
    Same,
    Apart,
}

use Binary::{Add, Div, Max, Min, Mul, Sub};
use Formula::{Constant, Fma, Input, Select};
use Relation::{Apart, Le, Lt, Same};
use Unary::{Abs, Exp2, Log2, Neg, Rcp, Rsqrt, Saturate, Sqrt};

fn unary(op: Unary, a: Formula) -> Formula {
    Formula::Unary(op, Box::new(a))
}

fn binary(op: Binary, a: Formula, b: Formula) -> Formula {
    Formula::Binary(op, Box::new([a, b]))
}

fn select(relation: Relation, [a, b, c, d]: [Formula; 4]) -> Formula {
    Select(relation, Box::new([a, b, c, d]))
}

fn random_formula(random: &mut Random, depth: usize) -> Formula {
    if depth == 0 || random.below(9) == 0 {
        return match random.below(5) {
            0 => Constant([8, 16, -8, 4, 0, 24, 12, -20, 2][random.below(9)]),
            _ => Input(random.below(INPUTS)),
        };
    }
    let mut next = || random_formula(random, depth - 1);
    let parts = [next(), next(), next(), next()];
    let [a, b, c, d] = parts;
    match random.below(24) {
        0..=3 => binary(Add, a, b),
        4..=6 => binary(Sub, a, b),
        7..=10 => binary(Mul, a, b),
        11 | 12 => binary(Div, a, b),
        13 => binary(Min, a, b),
        14 => binary(Max, a, b),
        15 => Fma(Box::new([a, b, c])),
        16 | 17 => select(one_of(random, &[Lt, Le, Same, Apart]), [a, b, c, d]),
        18 => unary(Neg, a),
        19 => unary(Abs, a),
        20 => unary(one_of(random, &[Sqrt, Rsqrt]), a),
        21 => unary(Rcp, a),
        22 => unary(one_of(random, &[Exp2, Log2]), a),
        _ => unary(Saturate, a),
    }
}

impl Formula {
    fn children(&mut self) -> &mut [Formula] {
        match self {
            Input(_) | Constant(_) => &mut [],
            Formula::Unary(_, a) => std::slice::from_mut(&mut **a),
            Formula::Binary(_, parts) => &mut parts[..],
            Fma(parts) => &mut parts[..],
            Select(_, parts) => &mut parts[..],
        }
    }

    fn size(&self) -> usize {
        1 + match self {
            Input(_) | Constant(_) => 0,
            Formula::Unary(_, a) => a.size(),
            Formula::Binary(_, parts) => parts.iter().map(Formula::size).sum(),
            Fma(parts) => parts.iter().map(Formula::size).sum(),
            Select(_, parts) => parts.iter().map(Formula::size).sum(),
        }
    }

    /// The subformula with this number in depth-first order.
    fn part(&mut self, mut number: usize) -> Option<&mut Formula> {
        if number == 0 {
            return Some(self);
        }
        number -= 1;
        for child in self.children() {
            let size = child.size();
            if number < size {
                return child.part(number);
            }
            number -= size;
        }
        None
    }
}

/// The formula written in another way, if a rewrite applies: it may have a larger or a smaller domain.
fn rewritten(formula: &Formula, random: &mut Random) -> Option<Formula> {
    let two = || Constant(16);
    let mut ways: Vec<Formula> = Vec::new();
    let of = |op, a: &Formula, b: &Formula| binary(op, a.clone(), b.clone());
    let neg = |a: &Formula| unary(Neg, a.clone());
    match formula {
        Input(_) | Constant(_) => {
            ways.push(unary(Neg, neg(formula)));
            ways.push(binary(Sub, of(Add, formula, formula), formula.clone()));
            ways.push(of(Max, formula, formula));
        }
        Formula::Unary(op, a) => match op {
            Neg => {
                ways.push(of(Sub, &Constant(0), a));
                ways.push(of(Mul, a, &Constant(-8)));
            }
            Abs => {
                ways.push(binary(Max, (**a).clone(), neg(a)));
                ways.push(unary(Sqrt, of(Mul, a, a)));
                ways.push(select(Lt, [(**a).clone(), Constant(0), neg(a), (**a).clone()]));
                ways.push(unary(Abs, neg(a)));
            }
            Sqrt => {
                ways.push(binary(Mul, (**a).clone(), unary(Rsqrt, (**a).clone())));
                ways.push(unary(Abs, formula.clone()));
                ways.push(unary(Exp2, binary(Div, unary(Log2, (**a).clone()), two())));
            }
            Rcp => ways.push(of(Div, &Constant(8), a)),
            Rsqrt => {
                ways.push(unary(Rcp, unary(Sqrt, (**a).clone())));
                ways.push(binary(Div, unary(Sqrt, (**a).clone()), (**a).clone()));
            }
            Exp2 => {
                let half = || unary(Exp2, of(Div, a, &two()));
                ways.push(binary(Mul, half(), half()));
                ways.push(unary(Rcp, unary(Exp2, neg(a))));
                ways.push(unary(Abs, formula.clone()));
            }
            Log2 => {
                ways.push(unary(Neg, unary(Log2, unary(Rcp, (**a).clone()))));
                ways.push(binary(Mul, two(), unary(Log2, unary(Sqrt, (**a).clone()))));
                ways.push(binary(Div, unary(Log2, of(Mul, a, a)), two()));
            }
            Saturate => ways.push(binary(Min, of(Max, a, &Constant(0)), Constant(8))),
        },
        Formula::Binary(op, parts) => {
            let [a, b] = &**parts;
            match op {
                Add => {
                    ways.push(of(Add, b, a));
                    ways.push(binary(Sub, a.clone(), neg(b)));
                    ways.push(Fma(Box::new([a.clone(), Constant(8), b.clone()])));
                    ways.push(binary(Div, binary(Add, of(Mul, a, &two()), of(Add, b, b)), two()));
                    if let Formula::Binary(Add, inner) = a {
                        ways.push(binary(Add, inner[0].clone(), of(Add, &inner[1], b)));
                    }
                    if let (Formula::Binary(Div, x), Formula::Binary(Div, y)) = (a, b) {
                        ways.push(binary(
                            Div,
                            binary(Add, of(Mul, &x[0], &y[1]), of(Mul, &y[0], &x[1])),
                            of(Mul, &x[1], &y[1]),
                        ));
                    }
                }
                Sub => {
                    ways.push(binary(Add, a.clone(), neg(b)));
                    ways.push(unary(Neg, of(Sub, b, a)));
                    ways.push(binary(Div, binary(Sub, of(Mul, a, a), of(Mul, b, b)), of(Add, a, b)));
                }
                Mul => {
                    ways.push(of(Mul, b, a));
                    ways.push(Fma(Box::new([a.clone(), b.clone(), Constant(0)])));
                    ways.push(binary(Div, a.clone(), unary(Rcp, b.clone())));
                    let square = |a: Formula| binary(Mul, a.clone(), a);
                    ways.push(binary(
                        Div,
                        binary(Sub, square(of(Add, a, b)), square(of(Sub, a, b))),
                        Constant(32),
                    ));
                    if let Formula::Binary(Add | Sub, inner) = b {
                        let Formula::Binary(op, _) = b else { return None };
                        ways.push(binary(*op, of(Mul, a, &inner[0]), of(Mul, a, &inner[1])));
                    }
                    if let (Formula::Unary(Sqrt, x), Formula::Unary(Sqrt, y)) = (a, b) {
                        ways.push(unary(Sqrt, of(Mul, x, y)));
                    }
                }
                Div => {
                    ways.push(binary(Mul, a.clone(), unary(Rcp, b.clone())));
                    ways.push(binary(Div, of(Mul, a, b), of(Mul, b, b)));
                    ways.push(unary(Rcp, of(Div, b, a)));
                    ways.push(binary(Div, neg(a), neg(b)));
                    if let Formula::Binary(Add, inner) = a {
                        ways.push(binary(Add, of(Div, &inner[0], b), of(Div, &inner[1], b)));
                    }
                }
                Min | Max => {
                    let (other, sign) = if *op == Max { (Min, Add) } else { (Max, Sub) };
                    ways.push(of(*op, b, a));
                    ways.push(unary(Neg, binary(other, neg(a), neg(b))));
                    let apart = unary(Abs, of(Sub, a, b));
                    ways.push(binary(Div, binary(sign, of(Add, a, b), apart), two()));
                    let [first, second] = if *op == Max { [b, a] } else { [a, b] };
                    let arms = [a.clone(), b.clone(), first.clone(), second.clone()];
                    ways.push(select(one_of(random, &[Lt, Le]), arms));
                    ways.push(binary(Sub, of(Add, a, b), of(other, a, b)));
                }
            }
        }
        Fma(parts) => {
            let [a, b, c] = &**parts;
            ways.push(binary(Add, of(Mul, a, b), c.clone()));
            ways.push(binary(Sub, c.clone(), binary(Mul, neg(a), b.clone())));
        }
        Select(relation, parts) => {
            let [a, b, c, d] = parts.each_ref().map(|part| part.clone());
            let turned = match relation {
                Lt => select(Le, [b.clone(), a.clone(), d.clone(), c.clone()]),
                Le => select(Lt, [b.clone(), a.clone(), d.clone(), c.clone()]),
                Same => select(Apart, [a.clone(), b.clone(), d.clone(), c.clone()]),
                Apart => select(Same, [a.clone(), b.clone(), d.clone(), c.clone()]),
            };
            ways.push(turned);
            ways.push(select(
                *relation,
                [binary(Sub, a.clone(), b.clone()), Constant(0), c.clone(), d.clone()],
            ));
            let difference = binary(Sub, c.clone(), d.clone());
            ways.push(binary(
                Add,
                d.clone(),
                select(*relation, [a.clone(), b.clone(), difference, Constant(0)]),
            ));
            if *relation == Same {
                ways.push(select(Same, [unary(Abs, binary(Sub, a, b)), Constant(0), c, d]));
            }
        }
    }
    let at = random.below(ways.len().max(1));
    ways.into_iter().nth(at)
}

/// A formula that differs slightly.
fn spoiled(formula: &Formula, random: &mut Random) -> Formula {
    let mut near = formula.clone();
    match &mut near {
        Input(at) => *at = (*at + 1) % INPUTS,
        Constant(eighths) => *eighths += [1, -1, 8][random.below(3)],
        Formula::Unary(op, a) => match op {
            Abs | Saturate => near = (**a).clone(),
            Neg => near = unary(Abs, (**a).clone()),
            Sqrt => near = unary(Sqrt, unary(Abs, (**a).clone())),
            Rcp | Rsqrt | Exp2 | Log2 => near = unary(*op, binary(Add, (**a).clone(), Constant(1))),
        },
        Formula::Binary(op, parts) => match op {
            Sub | Div => parts.swap(0, 1),
            Add => near = binary(Max, parts[0].clone(), parts[1].clone()),
            Mul => near = binary(Mul, unary(Abs, parts[0].clone()), parts[1].clone()),
            Min => *op = Max,
            Max => *op = Min,
        },
        Fma(parts) => parts[2] = unary(Neg, parts[2].clone()),
        Select(relation, parts) => match random.below(3) {
            0 => parts.swap(0, 1),
            1 => parts.swap(2, 3),
            _ => {
                *relation = match relation {
                    Lt => Le,
                    Le => Lt,
                    Same => Le,
                    Apart => Lt,
                };
            }
        },
    }
    near
}

/// The value of a formula at a point.
#[derive(Clone, Debug)]
enum Value {
    /// A number and its scale: the largest magnitude from which it was computed.
    Number(Big, Big),
    /// It has no value.
    Undefined,
    /// It is too close to call.
    Open,
}

fn number(value: Big, of: &[&Big]) -> Value {
    if !value.is_finite() {
        return Value::Open;
    }
    let mut scale = value.clone().abs();
    for other in of {
        scale = scale.max(other);
    }
    // A very large number is not evaluated further: functions of it would overflow.
    if scale.get_exp().is_some_and(|exponent| exponent > 4000) {
        Value::Open
    } else {
        Value::Number(value, scale)
    }
}

/// The order of two values, if they are clearly apart, or both exact and equal.
fn compared(a: &Value, b: &Value) -> Result<std::cmp::Ordering, Value> {
    let (Value::Number(x, sx), Value::Number(y, sy)) = (a, b) else {
        return Err(if matches!(a, Value::Undefined) || matches!(b, Value::Undefined) {
            Value::Undefined
        } else {
            Value::Open
        });
    };
    let apart = Big::with_val(DIGITS, x - y);
    let bound = sx.clone().max(sy) * Big::with_val(DIGITS, 2).pow(CLOSE);
    if !apart.is_zero() && apart.clone().abs() <= bound {
        return Err(Value::Open);
    }
    // Values that are equal to the last bit may be so by chance if functions computed them: too close to call.
    x.partial_cmp(y).ok_or(Value::Open)
}

impl Formula {
    fn at(&self, point: &[Rational]) -> Value {
        let big = |value: f64| Big::with_val(DIGITS, value);
        match self {
            Input(at) => {
                let value = Big::with_val(DIGITS, &point[*at]);
                number(value, &[])
            }
            Constant(eighths) => number(big(f64::from(*eighths) / 8.0), &[]),
            Formula::Unary(op, a) => {
                let (a, scale) = match a.at(point) {
                    Value::Number(a, scale) => (a, scale),
                    other @ (Value::Undefined | Value::Open) => return other,
                };
                // A sum that cancels to zero cannot be distinguished from a tiny number.
                let bound = scale.clone() * Big::with_val(DIGITS, 2).pow(CLOSE);
                let unclear = !a.is_zero() && a.clone().abs() <= bound;
                let zero = a.is_zero();
                match op {
                    Neg => number(-a, &[&scale]),
                    Abs => number(a.abs(), &[&scale]),
                    Saturate => number(a.clamp(&big(0.0), &big(1.0)), &[]),
                    Exp2 if scale.get_exp().is_some_and(|exponent| exponent > 11) => Value::Open,
                    Exp2 => {
                        // The error of the exponent is relative to its scale.
                        let value = a.exp2();
                        let scale: Big = value.clone() * (scale + 1);
                        number(value, &[&scale.abs()])
                    }
                    Sqrt | Rcp | Rsqrt | Log2 if unclear => Value::Open,
                    Rcp | Rsqrt | Log2 if zero => Value::Undefined,
                    Sqrt | Rsqrt | Log2 if a < 0 => Value::Undefined,
                    Sqrt if zero => number(a, &[]),
                    Sqrt => {
                        let root = a.sqrt();
                        let scale = scale / root.clone();
                        number(root, &[&scale])
                    }
                    Rcp => {
                        let scale = scale / Big::with_val(DIGITS, a.square_ref());
                        number(a.recip(), &[&scale])
                    }
                    Rsqrt => {
                        let scale = scale / a.clone() / a.clone().sqrt();
                        number(a.recip_sqrt(), &[&scale])
                    }
                    Log2 => {
                        let scale = scale / a.clone() * 2;
                        number(a.log2(), &[&scale])
                    }
                }
            }
            Formula::Binary(op, parts) => {
                let [a, b] = parts.each_ref().map(|part| part.at(point));
                let ((x, sx), (y, sy)) = match (&a, &b) {
                    (Value::Number(x, sx), Value::Number(y, sy)) => ((x, sx), (y, sy)),
                    (Value::Undefined, _) | (_, Value::Undefined) => return Value::Undefined,
                    _ => return Value::Open,
                };
                let product = || {
                    Big::with_val(DIGITS, x.clone().abs() * sy) + Big::with_val(DIGITS, y.clone().abs() * sx)
                };
                match op {
                    Add => number(Big::with_val(DIGITS, x + y), &[sx, sy]),
                    Sub => number(Big::with_val(DIGITS, x - y), &[sx, sy]),
                    Mul => number(Big::with_val(DIGITS, x * y), &[&product()]),
                    Div => {
                        let bound = sy.clone() * Big::with_val(DIGITS, 2).pow(CLOSE);
                        if y.is_zero() {
                            return Value::Undefined;
                        }
                        if y.clone().abs() <= bound {
                            return Value::Open;
                        }
                        let scale = product() / Big::with_val(DIGITS, y.square_ref());
                        number(Big::with_val(DIGITS, x / y), &[&scale])
                    }
                    Min => number(x.clone().min(y), &[sx, sy]),
                    Max => number(x.clone().max(y), &[sx, sy]),
                }
            }
            Fma(parts) => {
                let [a, b, c] = (**parts).clone();
                binary(Add, binary(Mul, a, b), c).at(point)
            }
            Select(relation, parts) => {
                let [a, b, c, d] = &**parts;
                let order = match compared(&a.at(point), &b.at(point)) {
                    Ok(order) => order,
                    Err(value) => return value,
                };
                let holds = match relation {
                    Lt => order.is_lt(),
                    Le => order.is_le(),
                    Same => order.is_eq(),
                    Apart => order.is_ne(),
                };
                if holds { c.at(point) } else { d.at(point) }
            }
        }
    }
}

/// Writes instructions that compute a formula, and returns the register of the result.
fn emit(formula: &Formula, out: &mut String, next: &mut usize, wide: bool) -> String {
    let ty = if wide { "f64" } else { "f32" };
    let mut of = |part: &Formula, out: &mut String| emit(part, out, next, wide);
    let line = match formula {
        Input(at) => return format!("%i{at}"),
        Constant(eighths) => {
            let value = f64::from(*eighths) / 8.0;
            if wide {
                format!("mov.f64 $d, 0d{:016X};", value.to_bits())
            } else {
                format!("mov.f32 $d, 0f{:08X};", (value as f32).to_bits())
            }
        }
        Formula::Unary(op, a) => {
            let a = of(a, out);
            match op {
                Neg => format!("neg.{ty} $d, {a};"),
                Abs => format!("abs.{ty} $d, {a};"),
                Sqrt => format!("sqrt.rn.{ty} $d, {a};"),
                Rcp => format!("rcp.rn.{ty} $d, {a};"),
                Rsqrt => format!("rsqrt.approx.{ty} $d, {a};"),
                Exp2 => format!("ex2.approx.{ty} $d, {a};"),
                Log2 => format!("lg2.approx.{ty} $d, {a};"),
                Saturate => format!("add.rn.sat.{ty} $d, {a}, 0f00000000;"),
            }
        }
        Formula::Binary(op, parts) => {
            let [a, b] = [of(&parts[0], out), of(&parts[1], out)];
            match op {
                Add => format!("add.rn.{ty} $d, {a}, {b};"),
                Sub => format!("sub.rn.{ty} $d, {a}, {b};"),
                Mul => format!("mul.rn.{ty} $d, {a}, {b};"),
                Div => format!("div.rn.{ty} $d, {a}, {b};"),
                Min => format!("min.{ty} $d, {a}, {b};"),
                Max => format!("max.{ty} $d, {a}, {b};"),
            }
        }
        Fma(parts) => {
            let list: Vec<String> = parts.iter().map(|part| of(part, out)).collect();
            format!("fma.rn.{ty} $d, {};", list.join(", "))
        }
        Select(relation, parts) => {
            let list: Vec<String> = parts.iter().map(|part| of(part, out)).collect();
            let relation = match relation {
                Lt => "lt",
                Le => "le",
                Same => "eq",
                Apart => "ne",
            };
            let [a, b, c, d] = [&list[0], &list[1], &list[2], &list[3]];
            format!("setp.{relation}.{ty} %p, {a}, {b}; selp.{ty} $d, {c}, {d}, %p;")
        }
    };
    let register = format!("%f{next}");
    *next += 1;
    let _ = writeln!(out, "  {}", line.replace("$d", &register));
    register
}

impl Formula {
    /// Whether it and all its subformulas are defined at a point.
    fn is_defined(&self, point: &[Rational]) -> bool {
        let mut copy = self.clone();
        matches!(self.at(point), Value::Number(..))
            && copy.children().iter().all(|child| child.is_defined(point))
    }

    /// Whether instructions for it exist in f32 only.
    fn is_narrow(&self) -> bool {
        let mut copy = self.clone();
        matches!(self, Formula::Unary(Exp2 | Log2 | Saturate, _))
            || copy.children().iter().any(|child| child.is_narrow())
    }
}

fn program(formula: &Formula, wide: bool) -> String {
    let (ty, size) = if wide { ("f64", 8) } else { ("f32", 4) };
    let mut out = String::new();
    for at in 0..INPUTS {
        let _ = writeln!(out, "  ld.global.{ty} %i{at}, [%P0+{}];", at * size);
    }
    let mut next = 0;
    let register = emit(formula, &mut out, &mut next, wide);
    let _ = writeln!(out, "  st.global.{ty} [%P1], {register};");
    let registers = format!("  .reg .{ty} %f<{}>, %i<{INPUTS}>; .reg .pred %p;\n", next + 1);
    kernel(&["x", "y"], &registers, &out)
}

fn coordinate(random: &mut Random) -> Rational {
    const NICE: [(i32, u32); 14] = [
        (0, 1),
        (1, 1),
        (-1, 1),
        (2, 1),
        (-2, 1),
        (1, 2),
        (-1, 2),
        (3, 1),
        (1, 3),
        (5, 4),
        (-7, 3),
        (10, 1),
        (1, 64),
        (-20, 1),
    ];
    match random.below(3) {
        0 => Rational::from(NICE[random.below(NICE.len())]),
        _ => Rational::from((random.below(4001) as i32 - 2000, 1 + random.below(700) as u32)),
    }
}

fn point(random: &mut Random) -> Vec<Rational> {
    let mut point: Vec<Rational> = (0..INPUTS).map(|_| coordinate(random)).collect();
    // Choices change at ties, opposites and equal inputs.
    match random.below(6) {
        0 => point[1] = point[0].clone(),
        1 => point[2] = Rational::from(-&point[0]),
        2 => point = vec![point[0].clone(); INPUTS],
        3 => point.iter_mut().for_each(|at| *at = at.clone().abs()),
        _ => {}
    }
    point
}

/// Whether two values are certainly different.
fn apart(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a, sa), Value::Number(b, sb)) => {
            let bound = sa.clone().max(sb) * Big::with_val(DIGITS, 2).pow(CLOSE + 20);
            Big::with_val(DIGITS, a - b).abs() > bound
        }
        _ => false,
    }
}

fn check(seed: u64) -> Result<Checked, String> {
    let random = &mut Random::new(seed);
    let depth = 1 + random.below(3);
    let formula = random_formula(random, depth);
    let mut other = formula.clone();
    for _ in 0..1 + random.below(3) {
        let at = random.below(other.size());
        if let Some(part) = other.part(at)
            && let Some(new) = rewritten(part, random)
        {
            *part = new;
        }
    }
    if random.below(3) == 0 {
        let at = random.below(other.size());
        if let Some(part) = other.part(at) {
            *part = spoiled(part, random);
        }
    }
    let [reference, opt] = if random.below(2) == 0 { [&formula, &other] } else { [&other, &formula] };
    let wide = !reference.is_narrow() && !opt.is_narrow() && random.below(4) == 0;
    let element = if wide { "f64" } else { "f32" };
    let params = vec![
        tensor("x", element, INPUTS as u64, Role::In, Contents::Symbolic),
        tensor("y", element, 1, Role::Out, Contents::Undefined),
    ];
    let case: Case = pair(params, side(program(reference, wide), 1), side(program(opt, wide), 1));
    let verdict = verify(&case).verdict;
    let name = verdict.name();
    let failed = |why: String| told(&case, &format!("{why}\nverdict: {verdict:?}\n{reference:?}\n{opt:?}"));
    let mut points: Vec<Vec<Rational>> = (0..POINTS).map(|_| point(random)).collect();
    let mut told = name.clone();
    match &verdict {
        Verdict::Different(difference) => {
            let How::Values(witness) = &difference.how else { return Err(failed("no values".into())) };
            let mut at = vec![Rational::new(); INPUTS];
            for (name, text) in &witness.inputs {
                let number = name.strip_prefix("x[").and_then(|name| name.strip_suffix(']'));
                let number: usize =
                    number.and_then(|text| text.parse().ok()).ok_or_else(|| failed("no input".into()))?;
                at[number] = text.parse().map_err(|_| failed(format!("{name} = {text} is no number")))?;
            }
            let [a, b] = [reference.at(&at), opt.at(&at)];
            let differs = apart(&a, &b) || matches!((&a, &b), (Value::Number(..), Value::Undefined));
            if !differs {
                // An evaluation that overflows even at this precision shows nothing.
                if matches!(a, Value::Open) || matches!(b, Value::Open) {
                    return Ok(vec![name, "the witness is too large to evaluate".into()]);
                }
                return Err(failed(format!("at the witness {at:?} they are {a:?} and {b:?}")));
            }
        }
        Verdict::Equivalent | Verdict::EquivalentWhere(_) => {
            let conditional = name == "equivalent-where";
            let mut compared = 0;
            for at in points.drain(..) {
                let [a, b] = [reference.at(&at), opt.at(&at)];
                let missing = matches!((&a, &b), (Value::Number(..), Value::Undefined));
                if apart(&a, &b) || missing && !conditional {
                    return Err(failed(format!("at {at:?} they are {a:?} and {b:?}")));
                }
                compared += usize::from(matches!((&a, &b), (Value::Number(..), Value::Number(..))));
            }
            if compared == 0 {
                told += ", of which no point is known";
            }
        }
        Verdict::Unknown(_) => {
            let differ = points.iter().any(|at| apart(&reference.at(at), &opt.at(at)));
            if differ {
                told += ", and different somewhere";
            }
        }
        Verdict::Fault(_) => {
            // Both sides of a choice are executed.
            let defined = points.iter().find(|at| [reference, opt].iter().all(|side| side.is_defined(at)));
            if let Some(at) = defined {
                return Err(failed(format!("it is {name}, but all has values at {at:?}")));
            }
        }
        Verdict::InputError(_) | Verdict::Clean | Verdict::Same(_) => {
            return Err(failed(format!("it is {name}")));
        }
    }
    Ok(vec![told])
}
