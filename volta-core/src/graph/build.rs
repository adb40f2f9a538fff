//! Making graphs: values that are checked as they are added, and the shapes of what operators are made of.

use volta_case::{Element, Format};

use super::check::{ExprKind, check_value, kind_of};
use super::text::{self, Named};
use super::{
    At, Combination, Construct, Expr, Function, Graph, GraphValue, Indexing, Read, Reduce, ValueDefinition,
    ValueId, spell_shape,
};
use crate::number::{Extended, Rational};

/// The type of counts and places.
pub const INT64: Element = Element::Int { bytes: 8, signed: true };
/// The type of numbers that come from nothing that has one.
pub const FLOAT: Element = Element::Float(Format::F32);

/// An operand of an operator.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorOrNumber {
    /// A value.
    Value(ValueId),
    /// A number. One that is whole leaves integers what they are.
    Number(Extended),
    /// A number of a float type, though it may be whole.
    Float(Extended),
}

impl From<ValueId> for TensorOrNumber {
    fn from(value: ValueId) -> TensorOrNumber {
        TensorOrNumber::Value(value)
    }
}

impl TensorOrNumber {
    /// Whether it is a number of a float type.
    pub fn is_float(&self) -> bool {
        match self {
            TensorOrNumber::Value(_) => false,
            TensorOrNumber::Number(number) => !number.finite().is_some_and(Rational::is_integer),
            TensorOrNumber::Float(_) => true,
        }
    }
}

/// A graph that is being made.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    /// What there is so far.
    pub graph: Graph,
    /// What the next values are parts of, in messages.
    pub name: String,
    /// Where that is in the text of the graph.
    pub path: String,
}

/// The result of adding to a graph; an error is a sentence.
pub type Built<T> = Result<T, String>;

impl Builder {
    /// A graph without values.
    pub fn new(name: impl Into<String>) -> Builder {
        Builder { graph: Graph { name: name.into(), ..Graph::default() }, ..Builder::default() }
    }

    /// Adds a value.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn add(&mut self, element: Element, shape: Vec<u64>, definition: ValueDefinition) -> Built<ValueId> {
        let value =
            GraphValue { name: self.name.clone(), path: self.path.clone(), element, shape, definition };
        check_value(&self.graph.values, &value)?;
        self.graph.values.push(value);
        Ok(ValueId(self.graph.values.len() - 1))
    }

    /// Adds a tensor of the case.
    ///
    /// # Errors
    /// If it has too many elements.
    pub fn tensor(&mut self, name: &str, element: Element, shape: Vec<u64>) -> Built<ValueId> {
        self.name = name.into();
        self.add(element, shape, ValueDefinition::Tensor(name.into()))
    }

    /// The shape of a value.
    pub fn shape(&self, value: ValueId) -> Vec<u64> {
        self.graph.value(value).shape.clone()
    }

    /// The type of a value.
    pub fn element(&self, value: ValueId) -> Element {
        self.graph.value(value).element
    }

    /// The type to which PyTorch promotes operands: that of the tensors with dimensions, unless a tensor without them,
    /// or a number beside neither, is of a higher kind (truth values, integers, floats).
    ///
    /// # Errors
    /// If there is none.
    pub fn common_type(&self, operands: &[TensorOrNumber]) -> Built<Element> {
        let mut by_rank: [Option<Element>; 3] = [None; 3];
        for operand in operands {
            let (rank, own) = match operand {
                TensorOrNumber::Value(value) => {
                    (usize::from(self.shape(*value).is_empty()), self.element(*value))
                }
                number if number.is_float() => (2, FLOAT),
                TensorOrNumber::Number(_) | TensorOrNumber::Float(_) => (2, INT64),
            };
            by_rank[rank] = Some(by_rank[rank].map_or(Ok(own), |known| wider(known, own))?);
        }
        let mut types = by_rank.into_iter().flatten();
        let Some(first) = types.next() else { return Ok(INT64) };
        types.try_fold(first, |known, own| match (ExprKind::of(known), ExprKind::of(own)) {
            (ExprKind::Real, _) | (ExprKind::Whole, ExprKind::Whole | ExprKind::Truth) => Ok(known),
            (ExprKind::Truth, _) | (ExprKind::Whole, ExprKind::Real) => wider(known, own),
        })
    }

    /// The type of the result of an expression that computes with operands.
    ///
    /// # Errors
    /// If there is none.
    fn promoted(&self, kind: ExprKind, operands: &[TensorOrNumber]) -> Built<Element> {
        let common = self.common_type(operands)?;
        Ok(match (ExprKind::of(common), kind) {
            (_, ExprKind::Truth) => Element::Bool,
            (ExprKind::Real, _) | (ExprKind::Whole, ExprKind::Whole) => common,
            (ExprKind::Whole | ExprKind::Truth, ExprKind::Real) => FLOAT,
            (ExprKind::Truth, ExprKind::Whole) => INT64,
        })
    }

    /// The shape to which shapes are broadcast.
    ///
    /// # Errors
    /// Two that do not fit.
    pub fn broadcast(&self, operands: &[TensorOrNumber]) -> Built<Vec<u64>> {
        let mut all: Vec<u64> = Vec::new();
        for operand in operands {
            let TensorOrNumber::Value(value) = operand else { continue };
            let own = self.shape(*value);
            let rank = all.len().max(own.len());
            let extent =
                |shape: &[u64], at: usize| (at + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
            let fits = |at: usize| match (extent(&all, at), extent(&own, at)) {
                (a, b) if a == b || b == 1 => Some(a),
                (1, b) => Some(b),
                _ => None,
            };
            let both: Option<Vec<u64>> = (0..rank).map(fits).collect();
            all = both.ok_or_else(|| {
                format!("the shapes {} and {} do not go together", spell_shape(&all), spell_shape(&own))
            })?;
        }
        Ok(all)
    }

    /// The element of an operand for the indices of a shape to which it is broadcast.
    fn broadcast_read(&self, operand: &TensorOrNumber, rank: usize) -> Expr {
        match operand {
            TensorOrNumber::Number(number) | TensorOrNumber::Float(number) => Expr::Number(number.clone()),
            TensorOrNumber::Value(value) => {
                let own = self.shape(*value);
                let at = own.iter().enumerate().map(|(at, extent)| {
                    let variable = at + rank - own.len();
                    At::Affine(if *extent == 1 { Indexing::number(0) } else { Indexing::variable(variable) })
                });
                Expr::Element(Read { value: *value, at: at.collect(), outside: None })
            }
        }
    }

    /// The expression of a text whose names are operands, for the indices of a shape to which they are broadcast.
    fn expression(&self, text: &str, operands: &[(&str, TensorOrNumber)], rank: usize) -> Built<Expr> {
        let named = |name: &str| {
            let known = operands.iter().find(|(known, _)| *known == name)?;
            Some(Named::Expr(self.broadcast_read(&known.1, rank)))
        };
        text::expression(text, &named).map_err(|wrong| format!("{} in `{text}`", wrong.message))
    }

    /// A text of operands, element by element; they are broadcast.
    ///
    /// # Errors
    /// What does not fit.
    pub fn pointwise(&mut self, text: &str, operands: &[(&str, TensorOrNumber)]) -> Built<ValueId> {
        self.pointwise_as(None, text, operands)
    }

    /// Like [`Builder::pointwise`], of a given type.
    ///
    /// # Errors
    /// What does not fit.
    pub fn pointwise_as(
        &mut self,
        element: Option<Element>,
        text: &str,
        operands: &[(&str, TensorOrNumber)],
    ) -> Built<ValueId> {
        let list: Vec<TensorOrNumber> = operands.iter().map(|(_, operand)| operand.clone()).collect();
        let shape = self.broadcast(&list)?;
        let expr = self.expression(text, operands, shape.len())?;
        let kind = kind_of(&self.graph.values, &shape, &expr)?;
        let element = element.map_or_else(|| self.promoted(kind, &list), Ok)?;
        self.add(
            element,
            shape,
            ValueDefinition::Construct(Construct { over: Vec::new(), reduce: None, expr }),
        )
    }

    /// The truth values of a value as numbers; other values as they are.
    ///
    /// # Errors
    /// None that a value of the graph leads to.
    pub fn as_number(&mut self, value: ValueId) -> Built<ValueId> {
        match ExprKind::of(self.element(value)) {
            ExprKind::Truth => self.pointwise("where(x, 1, 0)", &[("x", value.into())]),
            ExprKind::Real | ExprKind::Whole => Ok(value),
        }
    }

    /// A text of operands, which are broadcast, combined along dimensions. `keep` keeps these with extent 1.
    ///
    /// # Errors
    /// What does not fit.
    pub fn reduce(
        &mut self,
        with: Combination,
        text: &str,
        operands: &[(&str, TensorOrNumber)],
        dims: &[usize],
        keep: bool,
    ) -> Built<ValueId> {
        let list: Vec<TensorOrNumber> = operands.iter().map(|(_, operand)| operand.clone()).collect();
        let full = self.broadcast(&list)?;
        let expr = self.expression(text, operands, full.len())?;
        let kind = kind_of(&self.graph.values, &full, &expr)?;
        let over: Vec<u64> = dims.iter().map(|at| full[*at]).collect();
        let (mut shape, mut variables) = (Vec::new(), Vec::new());
        for (at, extent) in full.iter().enumerate() {
            variables.push(shape.len());
            if !dims.contains(&at) {
                shape.push(*extent);
            } else if keep {
                shape.push(1);
            }
        }
        dims.iter().enumerate().for_each(|(at, dim)| variables[*dim] = shape.len() + at);
        if over.contains(&0)
            && matches!(with, Combination::Max | Combination::Min | Combination::ArgMax | Combination::ArgMin)
        {
            return Err(format!(
                "the shape {} has nothing of which there is a greatest or least",
                spell_shape(&full)
            ));
        }
        let element = if with.is_place() { INT64 } else { self.promoted(kind, &list)? };
        let expr = renamed(expr, &|variable| variables[variable]);
        let reduce = Some(Reduce { with, prefix: None });
        self.add(element, shape, ValueDefinition::Construct(Construct { over, reduce, expr }))
    }

    /// The prefixes of a reduction along a dimension.
    ///
    /// # Errors
    /// What does not fit.
    pub fn prefix(&mut self, with: Combination, value: ValueId, dim: usize) -> Built<ValueId> {
        let value = self.as_number(value)?;
        let shape = self.shape(value);
        let expr = self.broadcast_read(&value.into(), shape.len());
        let reduce = Some(Reduce { with, prefix: Some(dim) });
        let element = if with.is_place() { INT64 } else { self.element(value) };
        self.add(element, shape, ValueDefinition::Construct(Construct { over: Vec::new(), reduce, expr }))
    }

    /// Sums of products: `ik,kj->ij`, with a letter for each dimension.
    ///
    /// # Errors
    /// What does not fit.
    pub fn contract(&mut self, letters: &str, values: &[ValueId]) -> Built<ValueId> {
        let (operands, result) = letters.split_once("->").ok_or("a contraction is written `ik,kj->ij`")?;
        let operands: Vec<Vec<char>> = operands.split(',').map(|own| own.chars().collect()).collect();
        let mut variables: Vec<char> = result.chars().collect();
        let rank = variables.len();
        let mut extents: Vec<Option<u64>> = vec![None; rank];
        if operands.len() != values.len() {
            return Err(format!("`{letters}` is of {} tensors", operands.len()));
        }
        for (own, value) in operands.iter().zip(values) {
            let shape = self.shape(*value);
            if own.len() != shape.len() {
                return Err(format!(
                    "a tensor of shape {} has no {} dimensions",
                    spell_shape(&shape),
                    own.len()
                ));
            }
            for (letter, extent) in own.iter().zip(&shape) {
                let at = variables.iter().position(|known| known == letter).unwrap_or_else(|| {
                    variables.push(*letter);
                    extents.push(None);
                    variables.len() - 1
                });
                if extents[at].is_some_and(|known| known != *extent) {
                    let shapes: Vec<String> =
                        values.iter().map(|value| spell_shape(&self.shape(*value))).collect();
                    return Err(format!("tensors of shapes {} do not go together", shapes.join(" and ")));
                }
                extents[at] = Some(*extent);
            }
        }
        let extents: Option<Vec<u64>> = extents.into_iter().collect();
        let extents = extents.ok_or("a dimension of the result is none of a tensor")?;
        let place = |letter: &char| variables.iter().position(|known| known == letter).unwrap_or(0);
        let reads = operands.iter().zip(values).map(|(own, value)| {
            let at = own.iter().map(|letter| At::Affine(Indexing::variable(place(letter)))).collect();
            Expr::Element(Read { value: *value, at, outside: None })
        });
        let expr =
            reads.reduce(|a, b| Expr::Apply(Function::Mul, vec![a, b])).ok_or("there are no tensors")?;
        let list: Vec<TensorOrNumber> = values.iter().map(|value| TensorOrNumber::Value(*value)).collect();
        let kind = kind_of(&self.graph.values, &extents, &expr)?;
        let element = self.promoted(kind, &list)?;
        let (shape, over) = (extents[..rank].to_vec(), extents[rank..].to_vec());
        let reduce = (!over.is_empty()).then_some(Reduce { with: Combination::Sum, prefix: None });
        self.add(element, shape, ValueDefinition::Construct(Construct { over, reduce, expr }))
    }

    /// The elements of a value under another shape.
    ///
    /// # Errors
    /// If they do not fill it.
    pub fn view(&mut self, value: ValueId, shape: Vec<u64>) -> Built<ValueId> {
        if self.shape(value) == shape {
            return Ok(value);
        }
        self.add(self.element(value), shape, ValueDefinition::View(value))
    }

    /// The elements of a value in a shape to which it is broadcast.
    ///
    /// # Errors
    /// If it is not.
    pub fn expanded(&mut self, value: ValueId, shape: Vec<u64>) -> Built<ValueId> {
        let own = self.shape(value);
        let fits =
            |new: &usize| own.iter().zip(&shape[*new..]).all(|(own, extent)| own == extent || *own == 1);
        let Some(new) = shape.len().checked_sub(own.len()).filter(fits) else {
            return Err(format!("{} is not expanded to {}", spell_shape(&own), spell_shape(&shape)));
        };
        if own == shape {
            return Ok(value);
        }
        let at = own.iter().zip(new..);
        let at = at
            .map(|(extent, at)| if *extent == 1 { Indexing::default() } else { Indexing::variable(at) })
            .collect();
        self.moved(value, shape, at, None)
    }

    /// The elements of a value at other places: an index of it for each of its dimensions, in the variables of `shape`.
    ///
    /// # Errors
    /// What does not fit.
    pub fn moved(
        &mut self,
        value: ValueId,
        shape: Vec<u64>,
        at: Vec<Indexing>,
        outside: Option<Extended>,
    ) -> Built<ValueId> {
        let at = at.into_iter().map(At::Affine).collect();
        let expr = Expr::Element(Read { value, at, outside });
        let element = self.element(value);
        self.add(
            element,
            shape,
            ValueDefinition::Construct(Construct { over: Vec::new(), reduce: None, expr }),
        )
    }

    /// Values one after the other along a dimension.
    ///
    /// # Errors
    /// What does not fit.
    pub fn concatenate(&mut self, parts: &[ValueId], along: usize) -> Built<ValueId> {
        let first = *parts.first().ok_or("there is nothing to concatenate")?;
        let mut shape = self.shape(first);
        if along >= shape.len() {
            return Err(format!("there is no dimension {along}"));
        }
        let length = |part: &ValueId| self.shape(*part).get(along).copied().unwrap_or(0);
        shape[along] = parts.iter().map(length).fold(0, u64::saturating_add);
        let list: Vec<TensorOrNumber> = parts.iter().map(|part| TensorOrNumber::Value(*part)).collect();
        let element = self.common_type(&list)?;
        self.add(element, shape, ValueDefinition::Concatenation(parts.to_vec(), along))
    }
}

/// The type that holds what is of either type.
fn wider(a: Element, b: Element) -> Built<Element> {
    match (ExprKind::of(a), ExprKind::of(b)) {
        (ExprKind::Real, ExprKind::Real) => Ok(wider_float(a, b)),
        (ExprKind::Whole, ExprKind::Whole) => wider_integer(a, b),
        (ExprKind::Truth, _) | (ExprKind::Whole, ExprKind::Real) => Ok(b),
        (ExprKind::Real | ExprKind::Whole, ExprKind::Truth) | (ExprKind::Real, ExprKind::Whole) => Ok(a),
    }
}

/// The type that holds numbers of both.
fn wider_float(a: Element, b: Element) -> Element {
    match (a.bytes(), b.bytes()) {
        _ if a == b => a,
        (one, other) if one == other => FLOAT,
        (one, other) => {
            if one > other {
                a
            } else {
                b
            }
        }
    }
}

/// The type that holds the integers of both.
fn wider_integer(a: Element, b: Element) -> Built<Element> {
    let (Element::Int { bytes: one, signed: of_one }, Element::Int { bytes: other, signed: of_other }) =
        (a, b)
    else {
        return Ok(INT64);
    };
    let (signed, unsigned) = if of_one { (one, other) } else { (other, one) };
    match of_one == of_other {
        true => Ok(Element::Int { bytes: one.max(other), signed: of_one }),
        false if unsigned < 8 => Ok(Element::Int { bytes: signed.max(2 * unsigned), signed: true }),
        false => Err("u64 and a signed type have no common type".into()),
    }
}

/// An expression with other variables.
pub(super) fn renamed(expr: Expr, to: &dyn Fn(usize) -> usize) -> Expr {
    let affine = |affine: Indexing| Indexing {
        terms: affine.terms.into_iter().map(|(variable, own)| (to(variable), own)).collect(),
        ..affine
    };
    match expr {
        Expr::Number(_) => expr,
        Expr::Index(index) => Expr::Index(affine(index)),
        Expr::Apply(function, operands) => {
            Expr::Apply(function, operands.into_iter().map(|operand| renamed(operand, to)).collect())
        }
        Expr::Element(Read { value, at, outside }) => {
            let at = at.into_iter().map(|at| match at {
                At::Affine(index) => At::Affine(affine(index)),
                At::Computed(index) => At::Computed(renamed(index, to)),
            });
            Expr::Element(Read { value, at: at.collect(), outside })
        }
    }
}
