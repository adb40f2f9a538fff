//! Operators that compute each element from one element of each operand.

use volta_case::Element;

use super::{Built, Call, ExprKind, Make, Operator, TensorOrNumber, ValueId};
use crate::graph::build::FLOAT;
use crate::number::{Extended, Rational};

const fn numbers(names: &'static [&'static str], arguments: &'static str, formula: &'static str) -> Operator {
    Operator { names, arguments, formula, make: Make::Numbers }
}

const fn either(
    names: &'static [&'static str],
    formula: &'static str,
    make: fn(&mut Call<'_>) -> Built<Vec<ValueId>>,
) -> Operator {
    Operator { names, arguments: "self, other", formula, make: Make::Built(make) }
}

const fn truths(names: &'static [&'static str], arguments: &'static str, formula: &'static str) -> Operator {
    Operator { names, arguments, formula, make: Make::Truths }
}

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        names: &["add"],
        arguments: "self, other, alpha: number = 1",
        formula: "self + alpha*other",
        make: Make::Built(|call| sum(call, "self + other", "self + alpha*other")),
    },
    Operator {
        names: &["sub"],
        arguments: "self, other, alpha: number = 1",
        formula: "self - alpha*other",
        make: Make::Built(|call| sum(call, "self - other", "self - alpha*other")),
    },
    Operator {
        names: &["rsub"],
        arguments: "self, other, alpha: number = 1",
        formula: "other - alpha*self",
        make: Make::Built(|call| sum(call, "other - self", "other - alpha*self")),
    },
    either(&["mul", "multiply"], "self*other", |call| of_two(call, "self*other", "and(self, other)")),
    Operator {
        names: &["div", "divide", "true_divide"],
        arguments: "self, other, rounding_mode?: text",
        formula: "self/other, rounded down (floor) or towards zero (trunc)",
        make: Make::Built(quotient),
    },
    numbers(&["floor_divide"], "self, other", "floor(self/other)"),
    numbers(&["remainder"], "self, other", "self - other*floor(self/other)"),
    numbers(&["fmod"], "self, other", "self - other*trunc(self/other)"),
    Operator {
        names: &["pow"],
        arguments: "self, exponent",
        formula: "self^exponent",
        make: Make::Built(power),
    },
    numbers(&["square"], "self", "self*self"),
    numbers(&["addcmul"], "self, tensor1, tensor2, value = 1", "self + value*tensor1*tensor2"),
    numbers(&["addcdiv"], "self, tensor1, tensor2, value = 1", "self + value*tensor1/tensor2"),
    numbers(&["lerp"], "self, end, weight", "self + weight*(end - self)"),
    numbers(&["neg"], "self", "-self"),
    numbers(&["abs"], "self", "abs(self)"),
    numbers(&["sign"], "self", "where(self > 0, 1, where(self < 0, -1, 0))"),
    numbers(&["reciprocal"], "self", "1/self"),
    numbers(&["sqrt"], "self", "sqrt(self)"),
    numbers(&["rsqrt"], "self", "rsqrt(self)"),
    numbers(&["exp"], "self", "exp(self)"),
    numbers(&["exp2"], "self", "exp2(self)"),
    numbers(&["expm1"], "self", "exp(self) - 1"),
    numbers(&["log"], "self", "log(self)"),
    numbers(&["log2"], "self", "log2(self)"),
    numbers(&["log10"], "self", "log10(self)"),
    numbers(&["log1p"], "self", "log(1 + self)"),
    numbers(&["sin"], "self", "sin(self)"),
    numbers(&["cos"], "self", "cos(self)"),
    numbers(&["tan"], "self", "sin(self)/cos(self)"),
    numbers(&["sinh"], "self", "(exp(self) - exp(-self))/2"),
    numbers(&["cosh"], "self", "(exp(self) + exp(-self))/2"),
    numbers(&["tanh"], "self", "tanh(self)"),
    numbers(&["atan"], "self", "atan(self)"),
    numbers(&["asinh"], "self", "log(self + sqrt(self*self + 1))"),
    numbers(&["acosh"], "self", "log(self + sqrt(self*self - 1))"),
    numbers(&["atanh"], "self", "log((1 + self)/(1 - self))/2"),
    numbers(&["erf"], "self", "erf(self)"),
    numbers(&["floor"], "self", "floor(self)"),
    numbers(&["ceil"], "self", "ceil(self)"),
    numbers(&["trunc"], "self", "trunc(self)"),
    numbers(&["round"], "self", "round(self)"),
    numbers(&["sigmoid"], "self", "1/(1 + exp(-self))"),
    numbers(&["log_sigmoid", "logsigmoid"], "self", "-log(1 + exp(-self))"),
    numbers(&["silu", "swish"], "self", "self/(1 + exp(-self))"),
    numbers(&["mish"], "self", "self*tanh(log(1 + exp(self)))"),
    Operator {
        names: &["gelu"],
        arguments: "self, approximate: text = none",
        formula: "self*0.5*(1 + erf(self*0.7071067811865476)), or with tanh: \
                  0.5*self*(1 + tanh(0.7978845608028654*(self + 0.044715*self^3)))",
        make: Make::Built(gelu),
    },
    numbers(&["relu"], "self", "max(self, 0)"),
    numbers(&["relu6"], "self", "min(max(self, 0), 6)"),
    numbers(&["leaky_relu"], "self, negative_slope = 0.01", "where(self > 0, self, self*negative_slope)"),
    Operator {
        names: &["prelu"],
        arguments: "self, weight",
        formula: "where(self > 0, self, weight*self), a weight for each place of dimension 1",
        make: Make::Built(prelu),
    },
    numbers(&["_prelu_kernel"], "self, weight", "where(self > 0, self, weight*self)"),
    numbers(
        &["elu"],
        "self, alpha = 1, scale = 1, input_scale = 1",
        "where(self > 0, scale*self, scale*alpha*(exp(self*input_scale) - 1))",
    ),
    numbers(
        &["selu"],
        "self",
        "where(self > 0, 1.0507009873554805*self, 1.0507009873554805*1.6732632423543772*(exp(self) - 1))",
    ),
    numbers(&["celu"], "self, alpha = 1", "where(self > 0, self, alpha*(exp(self/alpha) - 1))"),
    numbers(
        &["softplus"],
        "self, beta = 1, threshold = 20",
        "where(self*beta > threshold, self, log(1 + exp(self*beta))/beta)",
    ),
    numbers(&["softsign"], "self", "self/(1 + abs(self))"),
    numbers(&["hardsigmoid"], "self", "min(max(self + 3, 0), 6)/6"),
    numbers(&["hardswish"], "self", "self*min(max(self + 3, 0), 6)/6"),
    numbers(&["hardtanh"], "self, min_val = -1, max_val = 1", "min(max(self, min_val), max_val)"),
    numbers(&["hardshrink"], "self, lambd = 0.5", "where(self > lambd, self, where(self < -lambd, self, 0))"),
    numbers(
        &["softshrink"],
        "self, lambd = 0.5",
        "where(self > lambd, self - lambd, where(self < -lambd, self + lambd, 0))",
    ),
    numbers(&["threshold"], "self, threshold, value", "where(self > threshold, self, value)"),
    Operator {
        names: &["clamp", "clip"],
        arguments: "self, min?, max?",
        formula: "min(max(self, min), max)",
        make: Make::Built(clamp),
    },
    numbers(&["clamp_min"], "self, min", "max(self, min)"),
    numbers(&["clamp_max"], "self, max", "min(self, max)"),
    either(&["maximum"], "max(self, other)", |call| of_two(call, "max(self, other)", "or(self, other)")),
    either(&["minimum"], "min(self, other)", |call| of_two(call, "min(self, other)", "and(self, other)")),
    numbers(&["eq"], "self, other", "(self == other)"),
    numbers(&["ne"], "self, other", "(self != other)"),
    numbers(&["lt"], "self, other", "(self < other)"),
    numbers(&["le"], "self, other", "(self <= other)"),
    numbers(&["gt"], "self, other", "(self > other)"),
    numbers(&["ge"], "self, other", "(self >= other)"),
    truths(&["logical_not"], "self", "not(self)"),
    truths(&["logical_and"], "self, other", "and(self, other)"),
    truths(&["logical_or"], "self, other", "or(self, other)"),
    truths(&["logical_xor"], "self, other", "xor(self, other)"),
    Operator {
        names: &["bitwise_not"],
        arguments: "self",
        formula: "of truth values: not(self)",
        make: Make::Built(|call| bits(call, "not(self)")),
    },
    Operator {
        names: &["bitwise_and"],
        arguments: "self, other",
        formula: "of truth values: and(self, other)",
        make: Make::Built(|call| bits(call, "and(self, other)")),
    },
    Operator {
        names: &["bitwise_or"],
        arguments: "self, other",
        formula: "of truth values: or(self, other)",
        make: Make::Built(|call| bits(call, "or(self, other)")),
    },
    Operator {
        names: &["where"],
        arguments: "condition, self, other",
        formula: "where(condition, self, other)",
        make: Make::Built(choice),
    },
    Operator {
        names: &["masked_fill"],
        arguments: "self, mask, value",
        formula: "where(mask, value, self)",
        make: Make::Built(masked_fill),
    },
    Operator {
        names: &["_to_copy", "to", "type_as", "clone", "alias", "contiguous", "detach", "lift_fresh_copy"],
        arguments: "self, dtype?: type, memory_format?: text, layout?: text, device?: text",
        formula: "self, in another type; a float becomes an integer without its fraction, the nearest of the type",
        make: Make::Built(cast),
    },
    Operator {
        names: &["dropout", "native_dropout"],
        arguments: "self, p: number = 0.5, train: flag = false",
        formula: "self: only for inference",
        make: Make::Built(dropout),
    },
];

fn operand(call: &mut Call<'_>, name: &str) -> Built<TensorOrNumber> {
    call.operand(name).ok_or_else(|| format!("`{name}` is wanted to be a tensor or a number"))
}

/// Whether all operands are tensors of truth values.
fn are_truths(call: &Call<'_>, operands: &[&TensorOrNumber]) -> bool {
    operands.iter().all(|operand| match operand {
        TensorOrNumber::Value(value) => call.builder.element(*value) == Element::Bool,
        TensorOrNumber::Number(_) | TensorOrNumber::Float(_) => false,
    })
}

/// An operator of two numbers, `self` and `other`, or of two truth values.
pub(super) fn of_both(
    call: &mut Call<'_>,
    [a, b]: [TensorOrNumber; 2],
    numbers: &str,
    truths: &str,
) -> Built<ValueId> {
    match are_truths(call, &[&a, &b]) {
        true => call.builder.pointwise(truths, &[("self", a), ("other", b)]),
        false => call.elementwise(numbers, vec![("self", a), ("other", b)]),
    }
}

fn of_two(call: &mut Call<'_>, numbers: &str, truths: &str) -> Built<Vec<ValueId>> {
    let operands = [operand(call, "self")?, operand(call, "other")?];
    Ok(vec![of_both(call, operands, numbers, truths)?])
}

fn sum(call: &mut Call<'_>, plain: &str, scaled: &str) -> Built<Vec<ValueId>> {
    let (a, b) = (operand(call, "self")?, operand(call, "other")?);
    let is_one = call.number("alpha") == Extended::Finite(Rational::ONE);
    Ok(vec![match call.operand("alpha").filter(|_| !is_one) {
        None if plain == "self + other" => of_both(call, [a, b], plain, "or(self, other)")?,
        None => call.elementwise(plain, vec![("self", a), ("other", b)])?,
        Some(alpha) => call.elementwise(scaled, vec![("self", a), ("other", b), ("alpha", alpha)])?,
    }])
}

fn quotient(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let text = match call.text("rounding_mode") {
        "" => "self/other",
        "floor" => "floor(self/other)",
        "trunc" => "trunc(self/other)",
        other => return Err(format!("`rounding_mode` is floor or trunc, not {other}")),
    };
    let mut operands = vec![("self", operand(call, "self")?), ("other", operand(call, "other")?)];
    let list: Vec<TensorOrNumber> = operands.iter().map(|(_, own)| own.clone()).collect();
    if text == "self/other" && ExprKind::of(call.builder.common_type(&list)?) == ExprKind::Whole {
        // No integer becomes one of another type before the quotient, which is a float.
        for (_, own) in &mut operands {
            if let TensorOrNumber::Value(value) = own {
                *own = call.cast(*value, FLOAT)?.into();
            }
        }
    }
    Ok(vec![call.elementwise(text, operands)?])
}

fn prelu(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let (x, weight) = (call.tensor("self")?, call.tensor("weight")?);
    let (shape, count) = (call.shape(x), call.builder.graph.value(weight).count());
    let channels = shape.get(1).copied().unwrap_or(1);
    if count != 1 && count != channels {
        return Err(format!("`weight` has {count} elements, and dimension 1 of `self` has {channels}"));
    }
    let mut own = vec![1; shape.len()];
    if shape.len() > 1 {
        own[1] = count;
    }
    let weight = call.builder.view(weight, own)?;
    let text = "where(x > 0, x, w*x)";
    Ok(vec![call.elementwise(text, vec![("x", x.into()), ("w", weight.into())])?])
}

/// The largest power of integers, as a product.
const MOST_FACTORS: i64 = 16;

fn power(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let (a, b) = (operand(call, "self")?, operand(call, "exponent")?);
    let common = call.builder.common_type(&[a.clone(), b.clone()])?;
    if are_truths(call, &[&b]) {
        let one_or_self = "where(exponent, self, 1)";
        return match ExprKind::of(common) {
            ExprKind::Truth => Err(call.no_operator_of(common)),
            ExprKind::Whole | ExprKind::Real => {
                let operands = [("self", a), ("exponent", b)];
                Ok(vec![call.builder.pointwise_as(Some(common), one_or_self, &operands)?])
            }
        };
    }
    if ExprKind::of(common) == ExprKind::Real {
        return Ok(vec![call.elementwise("self^exponent", vec![("self", a), ("exponent", b)])?]);
    }
    let factors = match &b {
        TensorOrNumber::Number(exponent) => exponent.finite().and_then(Rational::to_i64),
        TensorOrNumber::Value(_) | TensorOrNumber::Float(_) => None,
    };
    let factors = factors.filter(|factors| (1..=MOST_FACTORS).contains(factors));
    let factors = factors.ok_or("an integer has powers from 1 to 16")?;
    // The exponent takes part in the promotion of types.
    let mut operands = [("self", a), ("exponent", b)];
    let common = call.converted(&mut operands)?;
    let text = vec!["self"; factors as usize].join("*");
    Ok(vec![call.builder.pointwise_as(Some(common), &text, &operands[..1])?])
}

fn gelu(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let text = match call.text("approximate") {
        "" | "none" => "x*0.5*(1 + erf(x*0.7071067811865476))",
        "tanh" => "0.5*x*(1 + tanh(0.7978845608028654*(x + 0.044715*x^3)))",
        other => return Err(format!("`approximate` is none or tanh, not {other}")),
    };
    let x = call.tensor("self")?;
    call.wants_floats(&[x])?;
    Ok(vec![call.elementwise(text, vec![("x", x.into())])?])
}

fn clamp(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let x = call.tensor("self")?;
    let bounds = ["min", "max"].map(|name| Some((name, call.operand(name)?)));
    let text = match &bounds {
        [Some(_), Some(_)] => "min(max(x, min), max)",
        [Some(_), None] => "max(x, min)",
        [None, Some(_)] => "min(x, max)",
        [None, None] => return Err("`min` or `max` is wanted".into()),
    };
    let operands = std::iter::once(("x", x.into())).chain(bounds.into_iter().flatten());
    Ok(vec![call.elementwise(text, operands.collect())?])
}

fn bits(call: &mut Call<'_>, text: &str) -> Built<Vec<ValueId>> {
    let mut operands = Vec::new();
    for argument in call.operator.takes() {
        let value = call.tensor(argument.name)?;
        if ExprKind::of(call.builder.element(value)) != ExprKind::Truth {
            return Err("bits of integers are not supported: only truth values have this operator".into());
        }
        operands.push((argument.name, TensorOrNumber::Value(value)));
    }
    Ok(vec![call.builder.pointwise(text, &operands)?])
}

fn choice(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let condition = call.tensor("condition")?;
    let condition = call.truth(condition)?;
    let (a, b) = (operand(call, "self")?, operand(call, "other")?);
    let of_truths = are_truths(call, &[&a, &b]);
    let mut arms = vec![("self", a), ("other", b)];
    let element = if of_truths { Element::Bool } else { call.converted(&mut arms)? };
    arms.push(("condition", condition.into()));
    Ok(vec![call.builder.pointwise_as(Some(element), "where(condition, self, other)", &arms)?])
}

fn masked_fill(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let (own, mask) = (call.tensor("self")?, call.tensor("mask")?);
    let mask = call.truth(mask)?;
    let element = call.builder.element(own);
    let value = match operand(call, "value")? {
        TensorOrNumber::Value(value) => call.cast(value, element)?.into(),
        _ if element == Element::Bool => {
            let is_set = call.number("value") != Extended::Finite(Rational::ZERO);
            let text = if is_set { "or(m, x)" } else { "and(not(m), x)" };
            return Ok(vec![call.builder.pointwise(text, &[("m", mask.into()), ("x", own.into())])?]);
        }
        number @ (TensorOrNumber::Number(_) | TensorOrNumber::Float(_)) => number,
    };
    let mut operands = vec![("self", own.into()), ("value", value)];
    if element != Element::Bool {
        call.converted(&mut operands)?;
    }
    operands.push(("mask", mask.into()));
    Ok(vec![call.builder.pointwise_as(Some(element), "where(mask, value, self)", &operands)?])
}

fn cast(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    let value = call.tensor("self")?;
    let Some(element) = call.element("dtype")? else { return Ok(vec![value]) };
    Ok(vec![call.cast(value, element)?])
}

fn dropout(call: &mut Call<'_>) -> Built<Vec<ValueId>> {
    if call.flag("train", false) {
        return Err(
            "dropout in training draws random numbers, so that its result is no function of its inputs"
                .into(),
        );
    }
    Ok(vec![call.tensor("self")?])
}
