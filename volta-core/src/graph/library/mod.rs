//! The operators, by the names of PyTorch's Core ATen IR: one row each.
//!
//! An operator is a text of its operands, element by element, or a few values that a function adds to a graph.

mod contract;
mod index;
mod loss;
mod norm;
mod pointwise;
mod reduce;
mod shape;
mod window;

use volta_case::Element;

use super::build::{Builder, Built, TensorOrNumber};
use super::{ValueId, check::ExprKind};
use crate::number::{Extended, Rational};

/// An operator.
#[derive(Debug)]
pub struct Operator {
    /// Its names: that of Core ATen IR, and others by which it is known.
    pub names: &'static [&'static str],
    /// Its arguments: `self, weight, bias?, stride: ints = 1`. One without a type is a tensor or a number.
    pub arguments: &'static str,
    /// What it computes.
    pub formula: &'static str,
    make: Make,
}

/// How an operator is made.
#[derive(Debug)]
enum Make {
    /// Its formula, element by element, of numbers.
    Numbers,
    /// Its formula, element by element, of truth values.
    Truths,
    /// By a function.
    Built(fn(&mut Call<'_>) -> Built<Vec<ValueId>>),
}

/// An argument that is given to an operator.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A value.
    Value(ValueId),
    /// A number.
    Number(Extended),
    /// A number that is written as a float: with a point or an exponent.
    Float(Extended),
    /// `true` or `false`.
    Flag(bool),
    /// A word.
    Text(String),
    /// Several.
    List(Vec<Given>),
}

/// An argument that an operator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorArgument {
    /// Its name.
    pub name: &'static str,
    /// Its type; `tensor` is also a number.
    pub takes: &'static str,
    /// Whether it may be left out.
    pub optional: bool,
}

impl Operator {
    /// All operators, by family.
    pub fn families() -> [(&'static str, &'static [Operator]); 8] {
        [
            ("Functions of elements", pointwise::OPERATORS),
            ("Shapes", shape::OPERATORS),
            ("Reductions and prefixes", reduce::OPERATORS),
            ("Contractions and convolutions", contract::OPERATORS),
            ("Windows", window::OPERATORS),
            ("Norms, softmax, attention", norm::OPERATORS),
            ("Elements by index", index::OPERATORS),
            ("Losses", loss::OPERATORS),
        ]
    }

    /// The operator of this name, which may have the prefix `aten.` and an overload: `aten.add.Tensor`.
    ///
    /// # Errors
    /// That there is none, and a similar name.
    pub fn named(name: &str) -> Built<&'static Operator> {
        let short = name.strip_prefix("aten.").or_else(|| name.strip_prefix("aten::")).unwrap_or(name);
        let all = || Operator::families().into_iter().flat_map(|(_, operators)| operators);
        let find = |short: &str| all().find(|operator| operator.names.contains(&short));
        let base = short.split('.').next().unwrap_or(short);
        find(short).or_else(|| find(base)).ok_or_else(|| {
            let near = volta_case::nearest(base, all().flat_map(|operator| operator.names.iter().copied()));
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("there is no operator `{name}`{near}")
        })
    }

    /// The arguments that it takes, in order.
    pub fn takes(&self) -> impl Iterator<Item = OperatorArgument> {
        self.arguments.split(", ").filter(|text| !text.is_empty()).map(|text| {
            let (text, has_default) = text.split_once(" = ").map_or((text, false), |(text, _)| (text, true));
            let (name, takes) = text.split_once(": ").unwrap_or((text, "tensor"));
            let optional = has_default || name.ends_with('?');
            OperatorArgument { name: name.trim_end_matches('?'), takes, optional }
        })
    }

    /// The argument of a name, which may be another name that it has.
    pub fn argument(&self, name: &str) -> Option<OperatorArgument> {
        let find = |name: &str| self.takes().find(|argument| argument.name == name);
        find(name).or_else(|| {
            let (_, name) = ALIASES.iter().find(|(alias, _)| *alias == name)?;
            find(name)
        })
    }

    /// Adds the operator to a graph, and returns its results.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub fn apply(&'static self, builder: &mut Builder, given: Vec<(String, Given)>) -> Built<Vec<ValueId>> {
        let mut call = Call { builder, operator: self, given: Vec::new() };
        for (name, value) in given {
            call.give(&name, value)?;
        }
        for argument in self.takes() {
            if !argument.optional && call.get(argument.name).is_none() {
                return Err(format!("`{}` needs `{}`", self.names[0], argument.name));
            }
        }
        match self.make {
            Make::Built(make) => make(&mut call),
            Make::Truths => call.formula(false),
            Make::Numbers => call.formula(true),
        }
    }
}

/// The arguments whose numbers take part in the promotion of types.
const OPERANDS: [&str; 5] = ["self", "other", "exponent", "min", "max"];

/// Other names of arguments.
const ALIASES: [(&str, &str); 6] = [
    ("input", "self"),
    ("axis", "dim"),
    ("axes", "dim"),
    ("keepdims", "keepdim"),
    ("tensor1", "self"),
    ("x", "self"),
];

/// The largest size, and the largest step of a window: so that no product of them is beyond 64 bits.
const MOST: u64 = 1 << 40;
const MOST_STEP: u64 = 1 << 20;

/// An operator that is added to a graph.
struct Call<'b> {
    builder: &'b mut Builder,
    operator: &'static Operator,
    given: Vec<(&'static str, Given)>,
}

impl Call<'_> {
    fn give(&mut self, name: &str, value: Given) -> Built<()> {
        let Some(argument) = self.operator.argument(name) else {
            let names: Vec<&str> = self.operator.takes().map(|argument| argument.name).collect();
            let operator = self.operator.names[0];
            return Err(format!("`{operator}` has no argument `{name}`; it takes {}", names.join(", ")));
        };
        if self.get(argument.name).is_some() {
            return Err(format!("`{}` is given twice", argument.name));
        }
        let fits = match (argument.takes, &value) {
            ("tensor", Given::Value(_) | Given::Number(_) | Given::Float(_))
            | ("number" | "int" | "ints", Given::Number(_) | Given::Float(_))
            | ("flag", Given::Flag(_))
            | ("text" | "type", Given::Text(_))
            | ("reduction", Given::Number(_) | Given::Text(_))
            | ("ints" | "tensors", Given::List(_)) => true,
            // PyTorch exports `ones` of truth values as a `full` of `true`.
            ("number", Given::Flag(_)) => argument.name == "fill_value",
            // Numbers may be given as tensors of one element, and the other way round a flag is a number.
            (_, _) => false,
        };
        if !fits {
            return Err(format!(
                "`{name}` of `{}` is wanted to be of type {}",
                self.operator.names[0], argument.takes
            ));
        }
        self.given.push((argument.name, value));
        Ok(())
    }

    fn get(&self, name: &str) -> Option<&Given> {
        self.given.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The operands of the formula, as numbers if they are wanted so.
    fn formula(&mut self, as_numbers: bool) -> Built<Vec<ValueId>> {
        let mut operands: Vec<(&str, TensorOrNumber)> = Vec::new();
        for argument in self.operator.takes() {
            let operand = match self.operand(argument.name) {
                Some(operand) => operand,
                None => match self.default(argument.name) {
                    Some(number) => TensorOrNumber::Number(number),
                    None => continue,
                },
            };
            operands.push((argument.name, operand));
        }
        match as_numbers {
            true => Ok(vec![self.elementwise(self.operator.formula, operands)?]),
            false => {
                let list: Vec<TensorOrNumber> = operands.iter().map(|(_, own)| own.clone()).collect();
                if ExprKind::of(self.builder.common_type(&list)?) == ExprKind::Whole {
                    self.converted(&mut operands)?;
                }
                for (name, own) in &mut operands {
                    *own = match own {
                        TensorOrNumber::Value(value) => self.truth(*value)?.into(),
                        TensorOrNumber::Number(_) | TensorOrNumber::Float(_) => {
                            return Err(format!("`{name}` is wanted to be a tensor"));
                        }
                    };
                }
                Ok(vec![self.builder.pointwise(self.operator.formula, &operands)?])
            }
        }
    }

    /// A text of numbers, element by element, which are converted to their common type before.
    fn elementwise(&mut self, text: &str, mut operands: Vec<(&str, TensorOrNumber)>) -> Built<ValueId> {
        let common = self.converted(&mut operands)?;
        let value = self.builder.pointwise(text, &operands)?;
        if common == Element::Bool && self.builder.element(value) != Element::Bool {
            return match ExprKind::of(self.builder.element(value)) {
                ExprKind::Whole => Err(self.no_operator_of(common)),
                ExprKind::Real | ExprKind::Truth => Ok(value),
            };
        }
        Ok(value)
    }

    /// Converts operands to their common type, and returns it. Truth values are numbers afterwards.
    fn converted(&mut self, operands: &mut [(&str, TensorOrNumber)]) -> Built<Element> {
        // Other numbers are parameters of the operator, and have the type of its operands.
        let counts = |own: &&(&str, TensorOrNumber)| {
            matches!(own.1, TensorOrNumber::Value(_)) || OPERANDS.contains(&own.0)
        };
        let list: Vec<TensorOrNumber> = operands.iter().filter(counts).map(|(_, own)| own.clone()).collect();
        let common = self.builder.common_type(&list)?;
        let kind = ExprKind::of(common);
        for (name, own) in operands.iter_mut() {
            let value = match own {
                TensorOrNumber::Value(value) => *value,
                number if number.is_float() && kind != ExprKind::Real => {
                    return Err(format!(
                        "the operands are of type {}, and `{name}` is a float",
                        common.name()
                    ));
                }
                TensorOrNumber::Number(number) => {
                    self.wants_number_of(common, number).map_err(|message| format!("`{name}`: {message}"))?;
                    continue;
                }
                TensorOrNumber::Float(_) => continue,
            };
            let converted = match (ExprKind::of(self.builder.element(value)), kind) {
                (ExprKind::Truth, ExprKind::Truth) => self.builder.as_number(value)?,
                (ExprKind::Truth, _) | (ExprKind::Whole, ExprKind::Whole | ExprKind::Real) => {
                    self.cast(value, common)?
                }
                (ExprKind::Real, _) | (ExprKind::Whole, ExprKind::Truth) => value,
            };
            *own = converted.into();
        }
        Ok(common)
    }

    /// The least and the greatest number of an integer type.
    fn range_of(&self, element: Element) -> Option<[Rational; 2]> {
        let Element::Int { bytes, signed } = element else { return None };
        let bits = 8 * bytes - u32::from(signed);
        let end = Rational::power_of_two(bits.cast_signed());
        let low = if signed { -&end } else { Rational::ZERO };
        Some([low, &end - &Rational::ONE])
    }

    /// Refuses a number that an integer type does not have.
    fn wants_number_of(&self, element: Element, number: &Extended) -> Built<()> {
        let Some([low, high]) = self.range_of(element) else { return Ok(()) };
        match number.finite().is_some_and(|own| low <= *own && *own <= high) {
            true => Ok(()),
            false => Err(format!("{number} is no number of type {}", element.name())),
        }
    }

    /// That the operator takes no operands of a type.
    fn no_operator_of(&self, element: Element) -> String {
        format!("there is no `{}` of elements of type {}", self.operator.names[0], element.name())
    }

    /// Refuses tensors whose elements are no floats.
    fn wants_floats(&self, values: &[ValueId]) -> Built<()> {
        let wrong = values.iter().map(|value| self.builder.element(*value));
        match wrong.into_iter().find(|element| ExprKind::of(*element) != ExprKind::Real) {
            Some(element) => Err(self.no_operator_of(element)),
            None => Ok(()),
        }
    }

    /// A value as truth values: whether it is not 0.
    fn truth(&mut self, value: ValueId) -> Built<ValueId> {
        match ExprKind::of(self.builder.element(value)) {
            ExprKind::Truth => Ok(value),
            ExprKind::Real | ExprKind::Whole => self.builder.pointwise("(x != 0)", &[("x", value.into())]),
        }
    }

    /// The number that an argument is if it is left out.
    fn default(&self, name: &str) -> Option<Extended> {
        let own = self
            .operator
            .arguments
            .split(", ")
            .find(|text| text.split([':', ' ', '?']).next().is_some_and(|own| own == name))?;
        let (_, text) = own.split_once(" = ")?;
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
        let number = super::text::decimal(digits).map(Extended::Finite)?;
        Some(if sign < 0 { Extended::Finite(-number.finite()?.clone()) } else { number })
    }

    /// A tensor.
    fn tensor(&self, name: &str) -> Built<ValueId> {
        match self.get(name) {
            Some(Given::Value(value)) => Ok(*value),
            _ => Err(format!("`{name}` is wanted to be a tensor")),
        }
    }

    /// A tensor that may be left out.
    fn optional(&self, name: &str) -> Built<Option<ValueId>> {
        self.get(name).map(|_| self.tensor(name)).transpose()
    }

    /// A tensor or a number that may be left out.
    fn operand(&self, name: &str) -> Option<TensorOrNumber> {
        match self.get(name)? {
            Given::Value(value) => Some(TensorOrNumber::Value(*value)),
            Given::Number(number) => Some(TensorOrNumber::Number(number.clone())),
            Given::Float(number) => Some(TensorOrNumber::Float(number.clone())),
            Given::Flag(_) | Given::Text(_) | Given::List(_) => None,
        }
    }

    /// A number, or its default.
    fn number(&self, name: &str) -> Extended {
        match self.get(name) {
            Some(Given::Number(number) | Given::Float(number)) => number.clone(),
            Some(Given::Flag(flag)) => Extended::Finite(Rational::from_integer(i64::from(*flag))),
            _ => self.default(name).unwrap_or(Extended::Finite(Rational::ZERO)),
        }
    }

    /// A whole number, or its default.
    fn int(&self, name: &str) -> Built<i64> {
        let number = self.number(name);
        let whole = number.finite().and_then(Rational::to_i64).filter(|number| *number > i64::MIN / 2);
        whole.ok_or_else(|| format!("`{name}` is wanted to be a whole number"))
    }

    /// Whole numbers; `None` if they are left out and have no default.
    fn ints(&self, name: &str) -> Built<Option<Vec<i64>>> {
        let wrong = || format!("`{name}` is wanted to be a list of whole numbers");
        let whole = |given: &Given| match given {
            Given::Number(Extended::Finite(number)) | Given::Float(Extended::Finite(number)) => {
                number.to_i64().filter(|own| number.is_integer() && own.unsigned_abs() <= MOST)
            }
            Given::Number(_)
            | Given::Float(_)
            | Given::Value(_)
            | Given::Flag(_)
            | Given::Text(_)
            | Given::List(_) => None,
        };
        match self.get(name) {
            Some(Given::List(list)) => {
                list.iter().map(whole).collect::<Option<Vec<i64>>>().map(Some).ok_or_else(wrong)
            }
            Some(one) => Ok(Some(vec![whole(one).ok_or_else(wrong)?])),
            None => Ok(self
                .default(name)
                .map(|number| vec![number.finite().and_then(Rational::to_i64).unwrap_or(0)])),
        }
    }

    /// One whole number for each of `count` dimensions, of a list or of one that holds for all.
    fn each(&self, name: &str, count: usize) -> Built<Vec<i64>> {
        let list = self.ints(name)?.filter(|list| !list.is_empty());
        let list = list.or_else(|| self.default(name).map(|_| Vec::new())).unwrap_or_default();
        match list.len() {
            0 => Ok(vec![self.int(name)?; count]),
            1 if list[0].unsigned_abs() <= MOST_STEP => Ok(vec![list[0]; count]),
            length if length == count && list.iter().all(|own| own.unsigned_abs() <= MOST_STEP) => Ok(list),
            length if length == count => Err(format!("`{name}` is too large")),
            length => Err(format!("`{name}` has {length} numbers, and there are {count} dimensions")),
        }
    }

    /// `true` or `false`; left out, the default.
    fn flag(&self, name: &str, default: bool) -> bool {
        match self.get(name) {
            Some(Given::Flag(flag)) => *flag,
            _ => default,
        }
    }

    /// A word; left out, empty.
    fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Given::Text(text)) => text,
            _ => "",
        }
    }

    /// The type that an argument names, if it is given.
    fn element(&self, name: &str) -> Built<Option<Element>> {
        match self.text(name) {
            "" => Ok(None),
            text => match Element::parse(text) {
                Some(element) => Ok(Some(element)),
                None => Err(format!("`{text}` is no type of elements")),
            },
        }
    }

    /// The tensors of a list.
    fn tensors(&self, name: &str) -> Built<Vec<ValueId>> {
        let Some(Given::List(list)) = self.get(name) else {
            return Err(format!("`{name}` is wanted to be a list"));
        };
        list.iter()
            .map(|given| match given {
                Given::Value(value) => Ok(*value),
                Given::Number(_) | Given::Float(_) | Given::Flag(_) | Given::Text(_) | Given::List(_) => {
                    Err(format!("`{name}` is wanted to be a list of tensors"))
                }
            })
            .collect()
    }

    /// A value in another type. A float becomes an integer without its fraction, the nearest one of the type (V4).
    fn cast(&mut self, value: ValueId, element: Element) -> Built<ValueId> {
        if self.builder.element(value) == element {
            return Ok(value);
        }
        match (ExprKind::of(self.builder.element(value)), ExprKind::of(element)) {
            (_, ExprKind::Truth) => self.truth(value),
            (ExprKind::Truth, ExprKind::Real | ExprKind::Whole) => {
                self.builder.pointwise_as(Some(element), "where(x, 1, 0)", &[("x", value.into())])
            }
            (ExprKind::Real, ExprKind::Whole) => {
                let [low, high] = self.range_of(element).ok_or("an integer type is wanted")?;
                // Beside floats, the greatest number of a type may be rounded, and the one after it is not.
                let after = &high + &Rational::ONE;
                let [low, after] = [low, after].map(|own| TensorOrNumber::Number(Extended::Finite(own)));
                let operands = [("x", value.into()), ("low", low), ("after", after)];
                self.builder.pointwise_as(Some(element), "min(max(trunc(x), low), after - 1)", &operands)
            }
            (ExprKind::Real, ExprKind::Real) | (ExprKind::Whole, ExprKind::Real | ExprKind::Whole) => {
                self.builder.pointwise_as(Some(element), "x", &[("x", value.into())])
            }
        }
    }

    /// The shape of a tensor.
    fn shape(&self, value: ValueId) -> Vec<u64> {
        self.builder.shape(value)
    }

    /// A dimension of a tensor of some rank; negative ones count from the end.
    fn dim(&self, name: &str, rank: usize) -> Built<usize> {
        dimension(self.int(name)?, rank)
    }

    /// Dimensions; all, if none are given.
    fn dims(&self, name: &str, rank: usize) -> Built<Vec<usize>> {
        match self.ints(name)? {
            None => Ok((0..rank).collect()),
            Some(list) if list.is_empty() => Ok((0..rank).collect()),
            Some(list) => list.into_iter().map(|dim| dimension(dim, rank)).collect(),
        }
    }
}

/// A dimension by its number; negative ones count from the end.
fn dimension(number: i64, rank: usize) -> Built<usize> {
    let count = i64::try_from(rank.max(1)).unwrap_or(i64::MAX);
    let at = if number < 0 { number + count } else { number };
    let at = usize::try_from(at).ok().filter(|_| at < count);
    at.ok_or_else(|| format!("there is no dimension {number}: the tensor has {rank}"))
}

/// A whole number as an operand.
fn whole(number: u64) -> TensorOrNumber {
    TensorOrNumber::Number(Extended::Finite(Rational::from_u64(number)))
}
