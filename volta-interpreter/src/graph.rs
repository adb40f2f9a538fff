//! Evaluates a graph of operators on numbers, element by element, in f64: every element of every value is what its
//! definition says, by recursion on the expression.

use volta_core::case::Element;
use volta_core::graph::{
    At, Combination, Construct, Expr, Function, Graph, GraphValue, Indexing, Listing, Meaning, Operation,
    OperationId, Read, ValueDefinition,
};

use crate::float::{self, Round};
use crate::values;

/// The values of a graph, in its order. Truth values are 1 and 0.
///
/// # Errors
/// If an index lies outside that must not, or a number cannot be read.
pub fn evaluate(
    graph: &Graph,
    read: &mut dyn FnMut(&str, u64) -> Result<f64, String>,
) -> Result<Vec<Vec<f64>>, String> {
    let mut known: Vec<Vec<f64>> = Vec::new();
    for value in &graph.values {
        let elements = match &value.definition {
            ValueDefinition::Tensor(name) => {
                (0..value.count()).map(|at| read(name, at)).collect::<Result<_, String>>()?
            }
            ValueDefinition::View(source) => known[source.0].clone(),
            ValueDefinition::Concatenation(parts, along) => {
                let row = |at: usize| graph.values[at].shape[*along..].iter().product::<u64>() as usize;
                let rows = value.shape[..*along].iter().product::<u64>() as usize;
                let mut all = Vec::new();
                for number in 0..rows {
                    for part in parts {
                        all.extend(&known[part.0][number * row(part.0)..(number + 1) * row(part.0)]);
                    }
                }
                all
            }
            ValueDefinition::Listed(listing) => listed(listing, &known, value.element)?,
            ValueDefinition::Construct(construct) => {
                let scope = Scope { graph, known: &known, wide: is_wide(graph, value, construct) };
                let mut indices = Indices::new(&value.shape);
                let mut all = Vec::new();
                while let Some(index) = indices.next() {
                    all.push(scope.element(construct, index)?);
                }
                all.iter_mut().for_each(|own| *own = wrapped(*own, value.element));
                all
            }
        };
        known.push(elements);
    }
    Ok(known)
}

/// Elements one by one, each operation in turn.
fn listed(listing: &Listing, known: &[Vec<f64>], element: Element) -> Result<Vec<f64>, String> {
    let mut done: Vec<f64> = Vec::with_capacity(listing.operations.len());
    for operation in listing.operations.iter() {
        let of = |own: &OperationId| done[own.0 as usize];
        let number = match operation {
            Operation::Number(number) => values::constant(number)?,
            Operation::Element(value, at) => known[value.0][*at as usize],
            Operation::Apply(function, operands) => {
                let operands: Vec<f64> = operands.iter().map(of).collect();
                apply(*function, &operands)
            }
            Operation::Pick(place, among) => {
                let place = of(place);
                if !(0.0..among.len() as f64).contains(&place) {
                    return Err(format!("place {place} of {}", among.len()));
                }
                of(&among[place as usize])
            }
        };
        done.push(number);
    }
    let elements = listing.elements.iter();
    Ok(elements.map(|own| own.map_or(f64::NAN, |own| wrapped(done[own.0 as usize], element))).collect())
}

/// Whether numbers of a construct are those of f64, and not of f32 or exact.
fn is_wide(graph: &Graph, value: &GraphValue, construct: &Construct) -> Option<bool> {
    fn reads(graph: &Graph, expr: &Expr, see: &mut dyn FnMut(Element)) {
        match expr {
            Expr::Number(_) | Expr::Index(_) => {}
            Expr::Element(read) => see(graph.values[read.value.0].element),
            Expr::Apply(_, operands) => operands.iter().for_each(|operand| reads(graph, operand, see)),
        }
    }
    let mut widest = None;
    let mut see = |element: Element| {
        if let Element::Float(_) = element {
            widest = widest.max(Some(element.bytes() == 8));
        }
    };
    see(value.element);
    if let Element::Float(_) = value.element {
        return widest;
    }
    reads(graph, &construct.expr, &mut see);
    widest
}

/// An integer in its type; other numbers stay what they are.
fn wrapped(number: f64, element: Element) -> f64 {
    match values::range(element) {
        Some((least, greatest)) if matches!(element, Element::Int { .. }) && number.is_finite() => {
            let (number, count) = (number as i128, greatest - least + 1);
            (least + (number - least).rem_euclid(count)) as f64
        }
        Some(_) | None => number,
    }
}

/// All indices below extents, row-major.
struct Indices<'s> {
    shape: &'s [u64],
    next: Option<Vec<i64>>,
    begun: bool,
}

impl Indices<'_> {
    fn new(shape: &[u64]) -> Indices<'_> {
        let next = (!shape.contains(&0)).then(|| vec![0; shape.len()]);
        Indices { shape, next, begun: false }
    }

    fn next(&mut self) -> Option<&[i64]> {
        if self.begun
            && let Some(index) = &mut self.next
        {
            let more = (0..index.len()).rev().any(|at| {
                index[at] = (index[at] + 1) % self.shape[at].cast_signed();
                index[at] != 0
            });
            if !more {
                self.next = None;
            }
        }
        self.begun = true;
        self.next.as_deref()
    }
}

struct Scope<'g> {
    graph: &'g Graph,
    known: &'g [Vec<f64>],
    wide: Option<bool>,
}

impl Scope<'_> {
    fn element(&self, construct: &Construct, index: &[i64]) -> Result<f64, String> {
        let Some(reduce) = construct.reduce else {
            return self.value(&construct.expr, index)?.ok_or_else(|| "an element lies outside".into());
        };
        let mut all: Vec<(i64, f64)> = Vec::new();
        if let Some(prefix) = reduce.prefix {
            for at in 0..=index[prefix] {
                let mut own = index.to_vec();
                own[prefix] = at;
                all.extend(self.value(&construct.expr, &own)?.map(|value| (at, value)));
            }
        } else {
            let mut over = Indices::new(&construct.over);
            let mut place = 0;
            while let Some(own) = over.next() {
                let own: Vec<i64> = index.iter().chain(own).copied().collect();
                all.extend(self.value(&construct.expr, &own)?.map(|value| (place, value)));
                place += 1;
            }
        }
        let values = || all.iter().map(|(_, value)| *value);
        let first_of = |is_better: fn(f64, f64) -> bool| {
            let mut best: Option<(i64, f64)> = None;
            for (place, value) in &all {
                if best.is_none_or(|(_, known)| is_better(*value, known)) {
                    best = Some((*place, *value));
                }
            }
            best.unwrap_or((0, f64::NAN))
        };
        Ok(match reduce.with {
            Combination::Sum => values().sum(),
            Combination::Product => values().product(),
            Combination::Max => first_of(|new, old| new > old).1,
            Combination::Min => first_of(|new, old| new < old).1,
            Combination::ArgMax => first_of(|new, old| new > old).0 as f64,
            Combination::ArgMin => first_of(|new, old| new < old).0 as f64,
        })
    }

    /// A number in the format of the construct.
    fn number(&self, exact: f64) -> f64 {
        if self.wide != Some(false) {
            return exact;
        }
        let bits = float::from_f64(float::Format::F32, exact, Round::NearestTiesToEven);
        float::to_f64(float::Format::F32, bits)
    }

    /// The value of an expression; `None` where an element lies outside and is left out.
    fn value(&self, expr: &Expr, index: &[i64]) -> Result<Option<f64>, String> {
        match expr {
            Expr::Number(number) => Ok(Some(self.number(values::constant(number)?))),
            Expr::Index(affine) => Ok(Some(numerator(affine, index) as f64 / affine.divisor() as f64)),
            Expr::Element(read) => self.read(read, index),
            Expr::Apply(function, operands) => {
                let mut own = Vec::new();
                for operand in operands {
                    match self.value(operand, index)? {
                        Some(value) => own.push(value),
                        None => return Ok(None),
                    }
                }
                Ok(Some(apply(*function, &own)))
            }
        }
    }

    fn read(&self, read: &Read, index: &[i64]) -> Result<Option<f64>, String> {
        let source = &self.graph.values[read.value.0];
        let mut place = 0;
        for (at, extent) in read.at.iter().zip(&source.shape) {
            let own = match at {
                At::Affine(affine) => {
                    let (over, under) = (numerator(affine, index), affine.divisor());
                    let own = over.div_euclid(under);
                    if over.rem_euclid(under) != 0 || own < 0 || own >= extent.cast_signed() {
                        let outside = read.outside.as_ref().map(values::constant).transpose()?;
                        return Ok(outside.map(|outside| self.number(outside)));
                    }
                    own
                }
                At::Computed(expr) => {
                    let own = self.value(expr, index)?.unwrap_or(f64::NAN);
                    if !(0.0..*extent as f64).contains(&own) {
                        return Err(format!("index {own} of {extent}"));
                    }
                    own as i64
                }
            };
            place = place * extent.cast_signed() + own;
        }
        Ok(Some(self.known[read.value.0][place as usize]))
    }
}

fn numerator(affine: &Indexing, index: &[i64]) -> i64 {
    affine.terms.iter().map(|(variable, own)| own * index[*variable]).sum::<i64>() + affine.constant
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

fn apply(function: Function, operands: &[f64]) -> f64 {
    let a = operands.first().copied().unwrap_or(f64::NAN);
    let b = operands.get(1).copied().unwrap_or(f64::NAN);
    debug_assert!(!matches!(function.meaning(), Meaning::Choice) || operands.len() == 3);
    match function {
        Function::Add => a + b,
        Function::Sub => a - b,
        Function::Mul => a * b,
        Function::Div => a / b,
        Function::Neg => -a,
        Function::Pow => a.powf(b),
        Function::Max => a.max(b),
        Function::Min => a.min(b),
        Function::Abs => a.abs(),
        Function::Exp => a.exp(),
        Function::Log => a.ln(),
        Function::Exp2 => a.exp2(),
        Function::Log2 => a.log2(),
        Function::Log10 => a.log10(),
        Function::Sqrt => a.sqrt(),
        Function::Rsqrt => 1.0 / a.sqrt(),
        Function::Sin => a.sin(),
        Function::Cos => a.cos(),
        Function::Tanh => a.tanh(),
        Function::Atan => a.atan(),
        Function::Erf => rug::Float::with_val(53, a).erf().to_f64(),
        Function::Floor => a.floor(),
        Function::Ceil => a.ceil(),
        Function::Trunc => a.trunc(),
        Function::Round => a.round_ties_even(),
        Function::Less => truth(a < b),
        Function::LessEqual => truth(a <= b),
        Function::Greater => truth(a > b),
        Function::GreaterEqual => truth(a >= b),
        Function::Equal => truth(a == b),
        Function::NotEqual => truth(a != b),
        Function::Not => 1.0 - a,
        Function::And => a * b,
        Function::Or => a.max(b),
        Function::Xor => truth(a != b),
        Function::Where => {
            if a == 0.0 {
                operands.get(2).copied().unwrap_or(f64::NAN)
            } else {
                b
            }
        }
    }
}
