//! What is wrong with a graph: shapes, types, and indices that may lie outside.

use volta_case::Element;

use super::{
    At, Construct, Expr, Function, Graph, GraphValue, Indexing, Listing, Meaning, Read, ValueDefinition,
    ValueId, Wrong, listed, spell_shape,
};
use crate::number::Extended;
use crate::term::{FunctionInfo, TermOp};

/// What an expression is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// A real.
    Real,
    /// A whole number.
    Whole,
    /// A truth value.
    Truth,
}

impl ExprKind {
    /// What the elements of a tensor are.
    pub fn of(element: Element) -> ExprKind {
        match element {
            Element::Float(_) => ExprKind::Real,
            Element::Int { .. } => ExprKind::Whole,
            Element::Bool => ExprKind::Truth,
        }
    }

    fn name(self) -> &'static str {
        match self {
            ExprKind::Real => "a real",
            ExprKind::Whole => "a whole number",
            ExprKind::Truth => "a truth value",
        }
    }
}

/// More elements than a tensor of a case can have.
const MOST_ELEMENTS: u64 = 1 << 40;

/// Checks all values of a graph and what it writes.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(graph: &Graph) -> Result<(), Wrong> {
    for (at, value) in graph.values.iter().enumerate() {
        check_value(&graph.values[..at], value).map_err(|message| Wrong::new(value.path.clone(), message))?;
    }
    let is_partial = |id: ValueId| match &graph.values[id.0].definition {
        ValueDefinition::Listed(listing) => listing.elements.contains(&None),
        ValueDefinition::Tensor(_)
        | ValueDefinition::View(_)
        | ValueDefinition::Concatenation(..)
        | ValueDefinition::Construct(_) => false,
    };
    for value in &graph.values {
        let mut reads_partial = false;
        value.visit_operands(&mut |operand| reads_partial |= is_partial(operand));
        if reads_partial {
            return Err(Wrong::new(value.path.clone(), "what it reads is not written everywhere"));
        }
    }
    for (at, (name, value)) in graph.outputs.iter().enumerate() {
        let path = format!("outputs.{name}");
        if graph.outputs[..at].iter().any(|(other, _)| other == name) {
            return Err(Wrong::new(path, format!("`{name}` is written twice")));
        }
        if value.0 >= graph.values.len() {
            return Err(Wrong::new(path, "there is no such value"));
        }
    }
    Ok(())
}

/// Checks a value that is defined by `earlier` ones.
///
/// # Errors
/// What is wrong, as a sentence.
pub fn check_value(earlier: &[GraphValue], value: &GraphValue) -> Result<(), String> {
    if value.shape.iter().fold(1u64, |all, own| all.saturating_mul(own.max(&1).to_owned())) > MOST_ELEMENTS {
        return Err(format!("the shape {} has too many elements", spell_shape(&value.shape)));
    }
    let of =
        |id: &ValueId| earlier.get(id.0).ok_or_else(|| "a value is used before it is defined".to_string());
    match &value.definition {
        ValueDefinition::Tensor(_) => Ok(()),
        ValueDefinition::View(source) => {
            let source = of(source)?;
            if source.count() != value.count() {
                let [from, to] = [&source.shape, &value.shape].map(|shape| spell_shape(shape));
                return Err(format!("the elements of a tensor of shape {from} do not fill {to}"));
            }
            same_kind(source, value)
        }
        ValueDefinition::Concatenation(parts, along) => {
            let mut length = 0u64;
            if parts.is_empty() || *along >= value.shape.len() {
                return Err("there is nothing to concatenate, or no such dimension".into());
            }
            for part in parts {
                let part = of(part)?;
                same_kind(part, value)?;
                let fits = part.shape.len() == value.shape.len()
                    && (0..value.shape.len()).all(|at| at == *along || part.shape[at] == value.shape[at]);
                if !fits {
                    let [part, all] = [&part.shape, &value.shape].map(|shape| spell_shape(shape));
                    return Err(format!("a part of shape {part} does not fit {all} along dimension {along}"));
                }
                length = length.saturating_add(part.shape[*along]);
            }
            let fills = length == value.shape[*along];
            if fills {
                Ok(())
            } else {
                Err(format!("the parts have {length} places along dimension {along}"))
            }
        }
        ValueDefinition::Construct(construct) => check_construct(earlier, value, construct),
        ValueDefinition::Listed(listing) => check_listing(earlier, value, listing),
    }
}

fn check_listing(earlier: &[GraphValue], value: &GraphValue, listing: &Listing) -> Result<(), String> {
    if listing.elements.len() as u64 != value.count() {
        let (given, shape) = (listing.elements.len(), spell_shape(&value.shape));
        return Err(format!("{given} elements are given for the shape {shape}"));
    }
    let mut reads_computed = false;
    listing.visit_reads(&mut |id| {
        let source = earlier.get(id.0);
        reads_computed |=
            source.is_none_or(|source| !matches!(source.definition, ValueDefinition::Tensor(_)));
    });
    if reads_computed {
        return Err("elements that are given one by one read tensors of the case only".into());
    }
    let kinds = listed::kinds(&listing.operations, earlier)?;
    let wanted = ExprKind::of(value.element);
    for own in listing.elements.iter().flatten() {
        let found = kinds.get(own.0 as usize).ok_or("there is no such operation")?;
        fits(*found, wanted, "an element")?;
    }
    Ok(())
}

fn same_kind(source: &GraphValue, value: &GraphValue) -> Result<(), String> {
    if ExprKind::of(source.element) == ExprKind::of(value.element) {
        Ok(())
    } else {
        Err(format!("elements of type {} are no {}", source.element.name(), value.element.name()))
    }
}

fn check_construct(earlier: &[GraphValue], value: &GraphValue, construct: &Construct) -> Result<(), String> {
    let Construct { over, reduce, expr } = construct;
    let extents: Vec<u64> = value.shape.iter().chain(over).copied().collect();
    if reduce.is_none() && !over.is_empty() {
        return Err("variables are reduced over, and no reduction is given".into());
    }
    if over.iter().fold(1u64, |all, extent| all.saturating_mul(*extent)) > MOST_ELEMENTS {
        return Err("a reduction over too many elements".into());
    }
    let scope = Scope { earlier, extents: &extents, may_be_left_out: reduce.is_some() };
    let found = scope.kind(expr)?;
    let wanted = ExprKind::of(value.element);
    let Some(reduce) = reduce else {
        return fits(found, wanted, "the expression");
    };
    if reduce.prefix.is_some_and(|prefix| prefix >= value.shape.len() || !over.is_empty()) {
        return Err("a prefix is over one index of the value".into());
    }
    if found == ExprKind::Truth {
        return Err("numbers are combined, and the expression is a truth value".into());
    }
    if reduce.with.is_place() {
        return match value.element {
            Element::Int { .. } => Ok(()),
            Element::Float(_) | Element::Bool => {
                Err("a place is an integer: the type is wanted to be i64".into())
            }
        };
    }
    fits(found, wanted, "what is combined")
}

fn fits(found: ExprKind, wanted: ExprKind, what: &str) -> Result<(), String> {
    match (found, wanted) {
        (ExprKind::Real, ExprKind::Real)
        | (ExprKind::Whole, ExprKind::Real | ExprKind::Whole)
        | (ExprKind::Truth, ExprKind::Truth) => Ok(()),
        (ExprKind::Real | ExprKind::Truth, ExprKind::Whole)
        | (ExprKind::Truth, ExprKind::Real)
        | (ExprKind::Real | ExprKind::Whole, ExprKind::Truth) => {
            Err(format!("{what} is {}, and {} is wanted", found.name(), wanted.name()))
        }
    }
}

/// What the expressions of a construct may use.
struct Scope<'g> {
    earlier: &'g [GraphValue],
    extents: &'g [u64],
    may_be_left_out: bool,
}

impl Scope<'_> {
    fn kind(&self, expr: &Expr) -> Result<ExprKind, String> {
        match expr {
            Expr::Number(Extended::Finite(number)) if number.is_integer() => Ok(ExprKind::Whole),
            Expr::Number(_) => Ok(ExprKind::Real),
            Expr::Index(affine) => {
                self.bounds(affine)?;
                if affine.divisor() == 1 { Ok(ExprKind::Whole) } else { Ok(ExprKind::Real) }
            }
            Expr::Element(read) => self.read(read),
            Expr::Apply(function, operands) => {
                let kinds: Result<Vec<ExprKind>, String> =
                    operands.iter().map(|operand| self.kind(operand)).collect();
                applied(*function, &kinds?)
            }
        }
    }

    fn bounds(&self, affine: &Indexing) -> Result<[i64; 2], String> {
        if affine.terms.iter().any(|(variable, _)| *variable >= self.extents.len()) {
            return Err("a variable is used that there is not".into());
        }
        affine.bounds(self.extents).ok_or_else(|| "an index does not fit into 64 bits".into())
    }

    fn read(&self, read: &Read) -> Result<ExprKind, String> {
        let Some(source) = self.earlier.get(read.value.0) else {
            return Err("a value is used before it is defined".into());
        };
        let name = &source.name;
        if read.at.len() != source.shape.len() {
            let (given, shape) = (read.at.len(), spell_shape(&source.shape));
            return Err(format!("`{name}` has the shape {shape}, and {given} indices are given"));
        }
        for (dimension, (at, extent)) in read.at.iter().zip(&source.shape).enumerate() {
            match at {
                At::Affine(affine) => {
                    let [low, high] = self.bounds(affine)?;
                    let last = i64::try_from(*extent).unwrap_or(i64::MAX) - 1;
                    let outside = low < 0 || high > last || affine.divisor() != 1;
                    let is_empty = self.extents.contains(&0);
                    if outside && !is_empty && read.outside.is_none() && !self.may_be_left_out {
                        return Err(format!(
                            "index {dimension} of `{name}` is between {low} and {high}, and the extent is {extent}: \
                             `{name}[… else 0]` says what is read outside"
                        ));
                    }
                }
                At::Computed(expr) => {
                    if self.kind(expr)? != ExprKind::Whole {
                        return Err(format!("index {dimension} of `{name}` is no whole number"));
                    }
                }
            }
        }
        let kind = ExprKind::of(source.element);
        if kind == ExprKind::Truth && read.outside.is_some() {
            return Err(format!("`{name}` has truth values, and a number is given for those outside"));
        }
        if kind == ExprKind::Whole && read.outside.as_ref().is_some_and(|outside| !is_whole(outside)) {
            return Ok(ExprKind::Real);
        }
        Ok(kind)
    }
}

fn is_whole(number: &Extended) -> bool {
    number.finite().is_some_and(crate::number::Rational::is_integer)
}

/// What an expression is whose reads and variables are those of a construct; for choosing the type of a value.
///
/// # Errors
/// What is wrong with it.
pub fn kind_of(earlier: &[GraphValue], extents: &[u64], expr: &Expr) -> Result<ExprKind, String> {
    Scope { earlier, extents, may_be_left_out: true }.kind(expr)
}

/// Whether an expression is a whole number because it rounds reals.
pub fn rounds_reals(earlier: &[GraphValue], extents: &[u64], expr: &Expr) -> bool {
    let Expr::Apply(function, operands) = expr else { return false };
    let parts = match function.meaning() {
        Meaning::Numbers(op) if op.function().is_some_and(FunctionInfo::rounds) => {
            let is_real = |own: &Expr| kind_of(earlier, extents, own) == Ok(ExprKind::Real);
            return operands.iter().any(|own| is_real(own) || rounds_reals(earlier, extents, own));
        }
        Meaning::Comparison(_) | Meaning::Derived | Meaning::Truths(_) => return false,
        Meaning::Choice => &operands[1.min(operands.len())..],
        Meaning::Numbers(_) | Meaning::Exponential | Meaning::Power => operands,
    };
    parts.iter().any(|own| rounds_reals(earlier, extents, own))
}

/// What the result of a function is.
///
/// # Errors
/// When it takes other operands.
pub(super) fn applied(function: Function, kinds: &[ExprKind]) -> Result<ExprKind, String> {
    let word = function.word();
    if kinds.len() != function.arity() {
        return Err(format!("`{word}` takes {} operands, and {} are given", function.arity(), kinds.len()));
    }
    let numbers = |kinds: &[ExprKind]| match kinds.contains(&ExprKind::Truth) {
        true => Err(format!("`{word}` takes numbers, and a truth value is given")),
        false if kinds.contains(&ExprKind::Real) => Ok(ExprKind::Real),
        false => Ok(ExprKind::Whole),
    };
    match function.meaning() {
        Meaning::Numbers(op) => {
            let kind = numbers(kinds)?;
            let rounds = op.function().is_some_and(FunctionInfo::rounds);
            let keeps = matches!(
                op,
                TermOp::Add
                    | TermOp::Sub
                    | TermOp::Mul
                    | TermOp::Neg
                    | TermOp::Max
                    | TermOp::Min
                    | TermOp::Abs
            );
            match (rounds, keeps) {
                (true, _) => Ok(ExprKind::Whole),
                (false, true) => Ok(kind),
                (false, false) => Ok(ExprKind::Real),
            }
        }
        Meaning::Exponential | Meaning::Power => numbers(kinds).map(|_| ExprKind::Real),
        Meaning::Comparison(_) | Meaning::Derived => numbers(kinds).map(|_| ExprKind::Truth),
        Meaning::Truths(_) => match kinds.iter().all(|kind| *kind == ExprKind::Truth) {
            true => Ok(ExprKind::Truth),
            false => Err(format!("`{word}` takes truth values, and a number is given")),
        },
        Meaning::Choice => match kinds {
            [ExprKind::Truth, ExprKind::Truth, ExprKind::Truth] => Ok(ExprKind::Truth),
            [ExprKind::Truth, arms @ ..] => numbers(arms),
            _ => Err(format!("the first operand of `{word}` is a truth value")),
        },
    }
}
