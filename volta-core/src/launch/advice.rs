//! Help beside the fault itself: where a value became undefined, and which part of the case may be the cause.

use crate::case::{Argument, Element, Param, ParamKind, ScalarValue, spell};
use crate::launch::Launch;
use crate::number::format::Format;
use crate::program::{Float1, Float2, InstId, Op, Parameter};
use crate::term::{Store, TermId, TermKind, View};
use crate::value::Origin;
use crate::verdict::{FaultKind, Site};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// The largest number of terms that a search below a term visits.
const MAX_TERMS: usize = 1 << 12;

/// The site at which a value became undefined.
pub(crate) fn origin_site(launch: &Launch<'_>, origin: Origin) -> Option<Site> {
    let (inst, action) = match origin {
        Origin::Unwritten(inst) => (inst, nothing_there(launch, inst).to_owned()),
        Origin::Unpredictable(inst) => (inst, "the launch does not determine this value".to_owned()),
        Origin::Invalid(inst) => (inst, format!("this value is undefined{}", without_value(launch, inst))),
        Origin::Unevaluated(inst) => (inst, unevaluated(launch, inst)),
        Origin::Doubtful(_) | Origin::State(_) | Origin::Columns(_) | Origin::Partly(_) => return None,
    };
    Some(Site { action, thread: None, place: Some(launch.place(inst)?) })
}

/// Why an instruction finds nothing, as text.
fn nothing_there(launch: &Launch<'_>, inst: InstId) -> &'static str {
    if let Some(Op::Shuffle { .. }) = launch.program.insts.get(inst.index()).map(|inst| &inst.op) {
        "this reads the value of a lane that takes no part"
    } else {
        "this reads memory that nothing has written"
    }
}

/// Why an instruction's results are not known, as text.
pub(crate) fn unevaluated(launch: &Launch<'_>, inst: InstId) -> String {
    let op = launch.program.insts.get(inst.index()).map(|inst| &inst.op);
    let reason = op.and_then(Op::unevaluated).unwrap_or(match op {
        Some(Op::Load { .. }) if launch.before.is_some() => {
            "an earlier step leaves no value here that can be used: it is written for some inputs only, or depends on \
             what is not supported (S6)"
        }
        Some(Op::Atomic { .. } | Op::Special { .. }) => {
            "who takes which number is open (Y18): what depends on that is not known, nor what a thread keeps from \
             before, such as from an earlier item of work"
        }
        Some(Op::Async(_)) => "products of factors of 6 or 4 bits are not computed yet",
        _ => "the value that this computes is not supported",
    });
    reason.to_owned()
}

/// When an operation has no value (rule V3), as text.
fn without_value(launch: &Launch<'_>, inst: InstId) -> &'static str {
    let Some(op) = launch.program.insts.get(inst.index()).map(|inst| &inst.op) else { return "" };
    if let Op::Float2 { op, .. } = op {
        match op {
            Float2::Add => ": the sum of opposite infinities, ∞ + (−∞)",
            Float2::Sub => ": the difference of equal infinities, ∞ − ∞",
            Float2::Mul => ": the product of zero and an infinity, 0 · ∞",
            Float2::Div => ": a quotient x / 0 or ∞ / ∞",
            Float2::Min | Float2::Max | Float2::CopySign => "",
        }
    } else if let Op::Float1 { op, .. } = op {
        match op {
            Float1::Rcp => ": 1 / 0",
            Float1::Sqrt => ": the root of a negative number",
            Float1::Rsqrt => ": 1 / √x of a number that is not positive",
            Float1::Lg2 => ": the logarithm of a number that is not positive",
            Float1::Neg | Float1::Abs | Float1::Ex2 | Float1::Sin | Float1::Cos | Float1::Tanh => "",
        }
    } else if let Op::Fma { .. } = op {
        ": in a·b + c, 0 · ∞ or ∞ − ∞"
    } else {
        ""
    }
}

/// Help for a fault that is about an undefined value.
pub(crate) fn undefined_help(kind: FaultKind) -> Option<&'static str> {
    match kind {
        FaultKind::Uninitialised => Some(
            "write it first, or read only what was written; if the host fills it, give the tensor `contents` in the \
             case",
        ),
        FaultKind::Undefined => Some(
            "avoid the infinity: test for rows without elements, or start the maximum at the first element or at a \
             finite number",
        ),
        FaultKind::Race
        | FaultKind::ProxyRace
        | FaultKind::Deadlock
        | FaultKind::BarrierDivergence
        | FaultKind::AmbiguousBarrier
        | FaultKind::BarrierMisuse
        | FaultKind::InFlight
        | FaultKind::Allocation
        | FaultKind::OutOfBounds
        | FaultKind::Misaligned
        | FaultKind::TypeMismatch
        | FaultKind::DependsOnRounding
        | FaultKind::InputDependentControl
        | FaultKind::Unsupported
        | FaultKind::Assertion
        | FaultKind::ReadOnly
        | FaultKind::Nondeterministic
        | FaultKind::Overflow => None,
    }
}

/// Help: values of scalars and contents of integer tensors that the case can give so that terms no longer depend on
/// inputs.
pub(crate) fn to_be_given(launch: &Launch<'_>, store: &Store, terms: &[TermId]) -> Option<String> {
    let inputs = inputs_of(store, terms)?;
    let advice = |param: &Param| match &param.kind {
        ParamKind::Scalar { element, value: ScalarValue::Symbolic(_) } => {
            let name = &param.name;
            Some(format!("give `{name}` a value: `{name} = {{ type = \"{}\", value = 64 }}`", element.name()))
        }
        ParamKind::Tensor { reference: Element::Int { .. } | Element::Bool, .. } => {
            let name = &param.name;
            Some(format!("give `{name}` its `contents`: a list of numbers, `\"iota\"` or `{{ fill = 0 }}`"))
        }
        ParamKind::Scalar { .. } | ParamKind::Tensor { .. } => None,
    };
    // Only if the terms depend on nothing else does fixing these help.
    let advice: Option<Vec<String>> =
        inputs.iter().map(|input| launch.params.get(*input).and_then(advice)).collect();
    let advice = advice.filter(|advice| !advice.is_empty())?.join("; ");
    Some(format!("a case is verified at one size and layout: {advice}"))
}

/// Help for an argument that does not fit.
pub(super) fn argument_help(
    params: &[Param],
    parameters: &[Parameter],
    given: &[Argument],
    at: usize,
) -> Option<String> {
    exchanged(params, parameters, given, at).or_else(|| pointer_wanted(params, &given[at], &parameters[at]))
}

/// The argument with which a wrong one may have been exchanged.
fn exchanged(params: &[Param], parameters: &[Parameter], given: &[Argument], at: usize) -> Option<String> {
    let fits = |from: usize, to: usize| match &given[from] {
        Argument::Named(name) => Param::called(params, name).any(|at| match &params[at].kind {
            ParamKind::Tensor { .. } => parameters[to].pointer,
            ParamKind::Scalar { element, .. } => {
                parameter_element(&parameters[to]).map(same_class) == Some(same_class(*element))
            }
        }),
        Argument::Literal(_) | Argument::Element { .. } | Argument::Map { .. } | Argument::Struct(_) => false,
    };
    let other = (0..given.len()).find(|other| *other != at && fits(*other, at) && fits(at, *other))?;
    let [one, other] = [at, other].map(|at| argument_name(&given[at]));
    Some(format!(
        "`{one}` and `{other}` may be exchanged: the order of parameters, and of `args`, is that of the kernel"
    ))
}

/// Help for a scalar where a kernel most likely takes a pointer.
fn pointer_wanted(params: &[Param], argument: &Argument, parameter: &Parameter) -> Option<String> {
    let Argument::Named(name) = argument else { return None };
    let param = params.iter().find(|param| param.name == *name)?;
    let ParamKind::Scalar { element, .. } = param.kind else { return None };
    (parameter.pointer || parameter.element == "u64" && parameter.size == 8).then(|| {
        format!(
            "PTX declares pointers as u64; a tensor has a role and a shape: `{name} = {{ role = \"in\", type = \"{}\", \
             shape = [128] }}`",
            element.name()
        )
    })
}

/// The properties by which one type may stand for another: its size, and whether it is a float.
fn same_class(element: Element) -> (u32, bool) {
    (element.bytes(), matches!(element, Element::Float(_)))
}

/// Help: the declaration in the case that may be wrong, where an operation on `format` reads another type.
pub(crate) fn declared_otherwise(launch: &Launch<'_>, terms: &[TermId], format: Format) -> Option<String> {
    let mut names = BTreeSet::new();
    for term in terms {
        // Only elements that are read unchanged: computed values have the type of their operation.
        let TermKind::Input { input, .. } = term.kind() else { return None };
        names.insert(input.index());
    }
    let [at] = names.into_iter().collect::<Vec<_>>()[..] else { return None };
    let param = launch.params.get(at)?;
    let ParamKind::Tensor { reference, opt, .. } = &param.kind else { return None };
    let declared = if launch.which == crate::case::Which::Reference { reference } else { opt };
    (*declared != Element::Float(format)).then(|| {
        format!(
            "the case declares `{0}` as {1}, and the kernel reads it as {2}: `{0} = {{ type = \"{2}\", … }}`",
            param.name,
            declared.name(),
            format.name()
        )
    })
}

/// The distinct inputs that terms depend on; `None` where there are too many terms.
fn inputs_of(store: &Store, terms: &[TermId]) -> Option<BTreeSet<usize>> {
    let (mut inputs, mut seen, mut stack) = (BTreeSet::new(), FxHashSet::default(), terms.to_vec());
    while let Some(term) = stack.pop() {
        if !seen.insert(term) {
            continue;
        }
        if seen.len() > MAX_TERMS {
            return None;
        }
        match store.view(term) {
            View::Input { input, .. } => drop(inputs.insert(input.index())),
            View::Apply(op, operands) => stack.extend(&operands[..op.arity()]),
            View::Constant(_) => {}
        }
    }
    Some(inputs)
}

/// The rule about using an undefined value, by the kind of fault.
pub(crate) fn rule_of(kind: FaultKind) -> &'static str {
    if kind == FaultKind::Nondeterministic {
        "S4"
    } else if kind == FaultKind::Unsupported {
        "S2"
    } else {
        "V6"
    }
}

pub(super) fn argument_name(argument: &Argument) -> String {
    match argument {
        Argument::Named(name) | Argument::Map { name, .. } => name.clone(),
        Argument::Element { of, at } => format!("{of} + {at}"),
        Argument::Literal(value) => spell(value),
        Argument::Struct(_) => "a struct".into(),
    }
}

/// The element type of a scalar parameter; `None` for structs.
pub(crate) fn parameter_element(parameter: &Parameter) -> Option<Element> {
    let int = |bytes, signed| Some(Element::Int { bytes, signed });
    match (parameter.element.as_str(), parameter.size) {
        ("f32", 4) => Element::parse("f32"),
        ("f64", 8) => Element::parse("f64"),
        ("f16", 2) => Element::parse("f16"),
        ("s8", 1) | ("s16", 2) | ("s32", 4) | ("s64", 8) => int(parameter.size as u32, true),
        ("u8" | "b8", 1) | ("u16", 2) | ("u32", 4) | ("u64", 8) => int(parameter.size as u32, false),
        ("b16", 2) | ("b32", 4) | ("b64", 8) => int(parameter.size as u32, true),
        _ => None,
    }
}
