//! Layout of a kernel's parameters in memory, from what the case gives: numbers, pointers to tensors, tensor maps, and
//! structs of these.

use super::advice::{argument_help, argument_name, parameter_element};
use super::bind::{Builder, name_and_shape, signature};
use super::bind_error::BindError;
use super::objects::{Backing, Objects};
use super::tensor::{Fields, Initial, Rest, Tensor};
use super::tensor_map::Map;
use crate::case::{
    Argument, Binding, Element, KernelLaunch, Member, Param, ParamKind, Role, ScalarValue, TensorAddress,
    TensorMap, bits_of, spell,
};
use crate::number::{Extended, Rational};
use crate::program::{Parameter, Space};
use crate::term::InputId;
use crate::verdict::CasePart;
use rustc_hash::FxHashMap;

/// Bytes of a pointer.
const POINTER: u64 = 8;
/// Size and alignment of a `CUtensorMap`.
const MAP: (u64, u64) = (128, 64);

/// A value inside a parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'c> {
    /// The address of an element of a tensor, by its index among the case's parameters.
    Pointer(usize, u64),
    /// A scalar of the case, by its index.
    Scalar(usize),
    Number(Element, &'c Extended),
    Map(&'c str, &'c TensorMap),
}

/// The parts of a parameter, each with its byte offset.
pub(super) type Parts<'c> = Vec<(u64, Part<'c>)>;

impl Part<'_> {
    /// Size and alignment.
    fn extent(self, params: &[Param]) -> (u64, u64) {
        let own = |element: Element| (u64::from(element.bytes()), u64::from(element.bytes()));
        match self {
            Part::Pointer(..) => (POINTER, POINTER),
            Part::Scalar(at) => own(params[at].elements()[0]),
            Part::Number(element, _) => own(element),
            Part::Map(..) => MAP,
        }
    }
}

/// The value of the case's parameter with a name: a pointer or a scalar.
fn named<'c>(name: &str, params: &[Param]) -> Result<Part<'c>, String> {
    let at = Param::called(params, name).next().ok_or_else(|| {
        match params.iter().find(|param| param.name == *name) {
            Some(field) => format!("`{name}` is a field: kernels take `{}`", field.argument()),
            None => {
                format!("there is no parameter `{name}`; declared are {}", Param::declared(params).join(", "))
            }
        }
    })?;
    match (&params[at].kind, params[at].binding) {
        (_, Binding::Variable) => {
            Err(format!("`{name}` is a variable of the module, which kernels take by its name"))
        }
        (ParamKind::Tensor { .. }, Binding::Argument) | (_, Binding::Field(_)) => Ok(Part::Pointer(at, 0)),
        (ParamKind::Scalar { .. }, Binding::Argument) => Ok(Part::Scalar(at)),
    }
}

/// A pointer to an element of a tensor of the case.
fn element_of<'c>(name: &str, element: u64, params: &[Param]) -> Result<Part<'c>, String> {
    let Part::Pointer(at, _) = named(name, params)? else {
        return Err(format!("`{name}` is a scalar, which has no elements"));
    };
    if let Binding::Field(_) = params[at].binding {
        return Err(format!("`{name}` is a tensor of structs: pointers into it are not supported"));
    }
    let count = params[at].count();
    if element > count {
        return Err(format!("`{name}` has {count} elements, and a pointer is to element {element} of it"));
    }
    Ok(Part::Pointer(at, element))
}

/// What a pointer of an array points to: a parameter and an element of it, or nothing.
type PlaceOfPointer = Result<Option<(usize, u64)>, String>;

/// What the pointers of an array point to; `None` if it is no array of pointers.
pub(super) fn places_of(param: &Param, params: &[Param]) -> Option<Vec<PlaceOfPointer>> {
    let place = |pointer: &Option<TensorAddress>| {
        let Some(TensorAddress { of, at }) = pointer else { return Ok(None) };
        let part = if *at == 0 { named(of, params)? } else { element_of(of, *at, params)? };
        match part {
            Part::Pointer(tensor, element) => Ok(Some((tensor, element))),
            Part::Scalar(_) | Part::Number(..) | Part::Map(..) => {
                Err(format!("`{of}` is a scalar, which has no address"))
            }
        }
    };
    Some(param.pointers()?.iter().map(place).collect())
}

/// The parts of a parameter, with their offsets.
///
/// # Errors
/// A message that says what does not fit.
pub(crate) fn parts<'c>(
    argument: &'c Argument,
    parameter: &Parameter,
    params: &[Param],
) -> Result<Parts<'c>, String> {
    let element = parameter_element(parameter);
    let part = match argument {
        Argument::Struct(members) => return members_of(members, parameter, params),
        Argument::Map { name, map } if parameter.size == MAP.0 => Part::Map(name, map),
        Argument::Map { name, .. } => {
            return Err(format!(
                "`{name}` is a tensor map of {} bytes, but the kernel takes {} of {} bytes here",
                MAP.0, parameter.element, parameter.size
            ));
        }
        Argument::Literal(value) if parameter.pointer && *value != Extended::Finite(Rational::ZERO) => {
            return Err(format!("{} is a number, but the kernel takes a pointer", spell(value)));
        }
        Argument::Literal(value) => match element.ok_or("a literal cannot be passed as a struct")? {
            // Untyped parameters take a literal, read as signed or unsigned.
            Element::Int { bytes, .. } if parameter.element.starts_with('b') => {
                Part::Number(Element::Int { bytes, signed: value.signum() < 0 }, value)
            }
            element @ (Element::Float(_) | Element::Int { .. } | Element::Bool) => {
                Part::Number(element, value)
            }
        },
        Argument::Named(name) => {
            let part = named(name, params)?;
            fits(name, part, params, parameter, element)?;
            part
        }
        Argument::Element { of, at } => {
            let part = element_of(of, *at, params)?;
            fits(of, part, params, parameter, element)?;
            part
        }
    };
    Ok(vec![(0, part)])
}

/// Checks that what is given for a parameter has the right kind.
fn fits(
    name: &str,
    part: Part<'_>,
    params: &[Param],
    parameter: &Parameter,
    element: Option<Element>,
) -> Result<(), String> {
    let is_float = |element: Element| matches!(element, Element::Float(_));
    let Part::Scalar(at) = part else {
        if parameter.size == POINTER && !element.is_some_and(is_float) {
            return Ok(());
        }
        return Err(format!("`{name}` is a tensor, but the kernel takes a {} here", parameter.element));
    };
    let declared = params[at].elements()[0];
    if u64::from(declared.bytes()) != parameter.size {
        return Err(format!(
            "`{name}` is declared {} ({} bytes), but the kernel takes {} ({} bytes)",
            declared.name(),
            declared.bytes(),
            parameter.element,
            parameter.size
        ));
    }
    let differs = is_typed(parameter, element) && element.map(is_float) != Some(is_float(declared));
    if parameter.pointer || differs {
        let takes = if parameter.pointer { "a pointer" } else { parameter.element.as_str() };
        return Err(format!("`{name}` is declared {}, but the kernel takes {takes}", declared.name()));
    }
    Ok(())
}

/// A struct that is filled member by member, as C lays it out.
struct Layout<'c, 'p> {
    params: &'p [Param],
    parts: Parts<'c>,
    /// The first byte that is free.
    end: u64,
}

impl<'c> Layout<'c, '_> {
    /// Adds members at `end`; returns the struct's alignment.
    fn add(&mut self, members: &'c [Member]) -> Result<u64, String> {
        let start = self.end;
        let mut most = 1;
        for member in members {
            let part = match member {
                Member::Offset(offset) => {
                    let next = start.saturating_add(*offset);
                    if next < self.end {
                        return Err(format!(
                            "the members before byte {offset} of the struct end at byte {}",
                            self.end - start
                        ));
                    }
                    self.end = next;
                    continue;
                }
                Member::Number(element, value) => Part::Number(*element, value),
                Member::Argument(Argument::Struct(members)) => {
                    let align = alignment(members, self.params)?;
                    most = most.max(align);
                    self.end = self.end.next_multiple_of(align);
                    self.add(members)?;
                    self.end = self.end.next_multiple_of(align);
                    continue;
                }
                Member::Argument(Argument::Named(name)) => named(name, self.params)?,
                Member::Argument(Argument::Element { of, at }) => element_of(of, *at, self.params)?,
                Member::Argument(Argument::Map { name, map }) => Part::Map(name, map),
                Member::Argument(Argument::Literal(value)) => {
                    return Err(format!("{} is a member of a struct and needs a type", spell(value)));
                }
            };
            let (bytes, align) = part.extent(self.params);
            most = most.max(align);
            let at = self.end.next_multiple_of(align);
            self.parts.push((at, part));
            self.end = at + bytes;
        }
        Ok(most)
    }
}

/// The alignment of a struct.
fn alignment(members: &[Member], params: &[Param]) -> Result<u64, String> {
    Layout { params, parts: Vec::new(), end: 0 }.add(members)
}

fn members_of<'c>(
    members: &'c [Member],
    parameter: &Parameter,
    params: &[Param],
) -> Result<Parts<'c>, String> {
    if parameter_element(parameter).is_some() {
        return Err(format!("a struct is given, but the kernel takes a {} here", parameter.element));
    }
    let mut layout = Layout { params, parts: Vec::new(), end: 0 };
    let align = layout.add(members)?.max(parameter.align);
    let Layout { parts, end, .. } = layout;
    if end.next_multiple_of(align) == parameter.size || end == parameter.size {
        return Ok(parts);
    }
    let places = parts.iter().map(|(offset, part)| {
        let what = match part {
            Part::Pointer(at, _) | Part::Scalar(at) => params[*at].argument().to_owned(),
            Part::Number(_, value) => spell(value),
            Part::Map(name, _) => (*name).to_string(),
        };
        format!("{what} at byte {offset}")
    });
    let places: Vec<String> = places.collect();
    Err(format!(
        "the given struct has {} bytes ({}), but the kernel takes one of {}; `offset` says where the next member \
         begins, or where the struct ends",
        end.next_multiple_of(align),
        places.join(", "),
        parameter.size
    ))
}

/// The arguments of a side: in declaration order, unless the side lists them.
pub(crate) fn arguments(kernel: &KernelLaunch, params: &[Param]) -> Vec<Argument> {
    let declared =
        || Param::declared(params).into_iter().map(|name| Argument::Named(name.to_owned())).collect();
    kernel.arguments.clone().unwrap_or_else(declared)
}

impl Builder<'_> {
    /// Fills in the arguments; returns those that are tensor maps, by object and byte offset.
    pub(crate) fn arguments(
        &mut self,
        objects: &Objects,
        kernel: &KernelLaunch,
    ) -> Result<FxHashMap<(u32, u64), Map>, BindError> {
        let mut maps = FxHashMap::default();
        let given = arguments(kernel, self.params);
        let kernel = signature(self.program);
        if given.len() != self.program.parameters.len() {
            let takes = self.program.parameters.len();
            let message =
                format!("kernel `{kernel}` takes {takes} arguments, but the case gives {}", given.len());
            let names: Vec<String> = given.iter().map(argument_name).collect();
            let help = format!(
                "given are ({}); `args` lists a side's arguments by name when they differ from the declared ones",
                names.join(", ")
            );
            return Err(BindError::new(message, Some(help)).of_key("args"));
        }
        for (at, (argument, parameter)) in given.iter().zip(&self.program.parameters).enumerate() {
            let wrong = |message: String| BindError {
                part: Some(CasePart::Argument(at)),
                ..BindError::new(
                    format!("argument {} of kernel `{kernel}`: {message}", at + 1),
                    argument_help(self.params, &self.program.parameters, &given, at),
                )
            };
            let address = objects.address(parameter.variable, 0);
            let Some((object, _)) = objects.find(Space::Param, address) else { continue };
            let Backing::Tensor(tensor) = objects.get(object).backing else { continue };
            let mut fields = Vec::new();
            for (offset, part) in parts(argument, parameter, self.params).map_err(wrong)? {
                if let Part::Map(name, map) = part {
                    maps.insert((object, offset), self.map(name, map).map_err(wrong)?);
                } else {
                    fields.push((offset, self.field(objects, part).map_err(wrong)?));
                }
            }
            self.tensors[tensor as usize].initial = Initial::Fields(Fields::of_one(fields, Rest::Undefined));
        }
        Ok(maps)
    }

    fn map(&self, name: &str, map: &TensorMap) -> Result<Map, String> {
        let shape =
            self.params.iter().find(|param| param.name == map.of).map(|param| name_and_shape(param).1);
        let made = Map::new(name, map, &self.tensors, &shape.unwrap_or_default());
        made.map_err(|message| format!("`{name}`: {message}"))
    }

    /// The address of an element of a tensor of the case.
    fn address(&self, objects: &Objects, param: usize, element: u64) -> u64 {
        let tensor = self.tensors.iter().position(|tensor| tensor.param == Some(param));
        let is_it = |backing| tensor.is_some_and(|at| backing == Backing::Tensor(at as u32));
        let object = objects.iter().find(|(_, object)| is_it(object.backing));
        let bytes = tensor.map_or(0, |at| u64::from(self.tensors[at].element.bytes()));
        object.map_or(0, |(_, object)| object.base) + element * bytes
    }

    /// Fills in the addresses that arrays of pointers hold.
    pub(super) fn pointers(&mut self, objects: &Objects) -> Result<(), BindError> {
        for (at, param) in self.params.iter().enumerate() {
            let Some(own) = self.tensors.iter().position(|tensor| tensor.param == Some(at)) else { continue };
            let Some(places) = places_of(param, self.params) else { continue };
            let addresses = places.into_iter().map(|place| {
                Ok(place?.map_or(0, |(tensor, element)| self.address(objects, tensor, element)))
            });
            let addresses = addresses.collect::<Result<_, String>>().map_err(|message| BindError {
                part: Some(CasePart::Parameter(param.name.clone())),
                ..BindError::new(format!("`{}`: {message}", param.name), None)
            })?;
            self.tensors[own].initial = Initial::Addresses(addresses);
        }
        Ok(())
    }

    /// One part of a parameter, as a tensor.
    fn field(&self, objects: &Objects, part: Part<'_>) -> Result<Tensor, String> {
        let (name, element, initial) = match part {
            Part::Map(..) => return Err("a tensor map is not a number".into()),
            Part::Number(element, value) => (String::new(), element, Initial::Fill(bits_of(element, value)?)),
            Part::Pointer(at, number) => {
                let address = self.address(objects, at, number);
                let element = Element::Int { bytes: POINTER as u32, signed: false };
                (self.params[at].argument().to_owned(), element, Initial::Fill(address))
            }
            Part::Scalar(at) => {
                let name = self.params[at].name.clone();
                let ParamKind::Scalar { element, value } = &self.params[at].kind else {
                    return Err(format!("`{name}` is not a scalar"));
                };
                let initial = match value {
                    ScalarValue::Number(value) => Initial::Fill(
                        bits_of(*element, value).map_err(|message| format!("`{name}`: {message}"))?,
                    ),
                    ScalarValue::Symbolic(_) => Initial::Symbolic(InputId::from_index(at)),
                };
                (name, *element, initial)
            }
        };
        Ok(Tensor { name, element, elements: 1, role: Role::In, initial, param: None })
    }
}

/// Whether a parameter's declaration says if it is a float: untyped ones do not, nor do bytes, which hold the small
/// float formats.
fn is_typed(parameter: &Parameter, element: Option<Element>) -> bool {
    element.is_some() && !parameter.element.starts_with('b') && parameter.size > 1
}
