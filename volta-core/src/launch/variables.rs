//! Variables of the module (rule M5): memory that the host sets before the launch and reads after it.

use super::bind_error::BindError;
use super::tensor::{Fields, Initial, Rest, Tensor};
use crate::base::assumption::Assumption;
use crate::case::{Binding, Element, Param, Role};
use crate::launch::Launch;
use crate::program::{Program, Space, Variable, is_made_by_compiler, is_variable_called, variable_name};
use crate::verdict::Place;
use std::collections::BTreeSet;

/// What the case declares of a variable.
#[derive(Clone, Debug, Default)]
pub(crate) enum Given {
    #[default]
    Nothing,
    /// The whole variable, by this parameter.
    Whole(usize),
    /// Fields, each by its byte offset and a parameter.
    Fields(Vec<(u64, usize)>),
}

/// The name of a variable, and the byte offset if it names a field: `affine+4`.
fn field(name: &str) -> (&str, Option<u64>) {
    let parts = name.rsplit_once('+');
    let field = parts.and_then(|(variable, offset)| Some((variable, offset.trim().parse().ok()?)));
    field.map_or((name, None), |(variable, offset)| (variable.trim_end(), Some(offset)))
}

/// For each variable of a program, what the case declares of it.
pub(crate) fn given(program: &Program, params: &[Param]) -> Result<Vec<Given>, BindError> {
    let mut given = vec![Given::Nothing; program.variables.len()];
    for (at, param) in params.iter().enumerate() {
        if param.binding != Binding::Variable {
            continue;
        }
        let called = called(program, &param.name);
        if let [_, _, ..] = called.as_slice() {
            let message = format!("`{}` is the name of several variables: {}", param.name, called.join(", "));
            let help = Some("give the full name, or the one that the PTX has".into());
            return Err(BindError::new(message, help));
        }
        let mut variables = program.variables.iter();
        let found = variables
            .position(|variable| variable.is_of_module() && called.contains(&variable.name.as_str()));
        let Some(only) = found else {
            // The other kernel may have it, or the compiler removed it from this one.
            continue;
        };
        let other = match (&mut given[only], field(&param.name).1) {
            (slot @ Given::Nothing, None) => {
                *slot = Given::Whole(at);
                continue;
            }
            (slot @ Given::Nothing, Some(offset)) => {
                *slot = Given::Fields(vec![(offset, at)]);
                continue;
            }
            (Given::Fields(fields), Some(offset)) => {
                fields.push((offset, at));
                continue;
            }
            (Given::Whole(other), _) => *other,
            (Given::Fields(fields), None) => fields.first().map_or(at, |(_, other)| *other),
        };
        let message = format!(
            "`{}` and `{}` are the same variable, `{}`",
            params[other].name, param.name, program.variables[only].name
        );
        return Err(BindError::new(message, None));
    }
    Ok(given)
}

/// A variable of which the case declares fields: an input, whose other bytes are unknown.
pub(crate) fn of_fields(variable: &Variable, mut fields: Vec<(u64, Tensor)>) -> Result<Tensor, BindError> {
    fields.sort_by_key(|(offset, _)| *offset);
    let size = variable.size.unwrap_or(0);
    if let Some((_, field)) = fields.iter().find(|(_, field)| !field.is_read_only()) {
        return Err(BindError::new(format!("`{}` is a field, whose role must be `in`", field.name), None));
    }
    let fields = Fields::of_one(fields, Rest::NotGiven);
    if let Some((field, what)) = fields.misplaced(size) {
        return Err(BindError::new(format!("`{field}` {what} in `{}`", variable.name), None));
    }
    Ok(Tensor {
        name: variable.name.clone(),
        element: Element::Int { bytes: 1, signed: false },
        elements: size,
        role: Role::In,
        initial: Initial::Fields(fields),
        param: None,
    })
}

/// The variables of a module with a name: in PTX, or else in the source.
fn called<'p>(program: &'p Program, name: &str) -> Vec<&'p str> {
    let (name, _) = field(name);
    let of_kernel = program.variables.iter().filter(|variable| variable.is_of_module());
    let names = of_kernel.map(|variable| &variable.name).chain(&program.module_variables);
    let names: BTreeSet<&str> = names.map(String::as_str).collect();
    match names.get(name) {
        Some(exactly) => vec![*exactly],
        None => names.into_iter().filter(|own| is_variable_called(own, name)).collect(),
    }
}

/// Whether a kernel can access the variable with a name, by naming it or through initial values.
pub fn names_variable(program: &Program, name: &str) -> bool {
    let called = called(program, name);
    let mut variables = program.variables.iter().filter(|variable| variable.is_of_module());
    variables.any(|variable| called.contains(&variable.name.as_str()))
}

/// Whether a module has a variable with this name.
pub fn has_variable(program: &Program, name: &str) -> bool {
    !called(program, name).is_empty()
}

/// A guess at a variable's type and shape in the source, from its PTX declaration.
fn guess(variable: &Variable) -> (&'static str, Option<u64>) {
    let (element, bytes) = match variable.element.as_str() {
        "f32" => ("f32", 4),
        "f64" => ("f64", 8),
        "f16" => ("f16", 2),
        "bf16" => ("bf16", 2),
        "s8" => ("i8", 1),
        "s16" => ("i16", 2),
        "s32" => ("i32", 4),
        "s64" => ("i64", 8),
        "u16" | "b16" => ("u16", 2),
        "u32" | "b32" => ("u32", 4),
        "u64" | "b64" => ("u64", 8),
        // Arrays and structs are declared as bytes, aligned as their elements.
        _ => match variable.align {
            2 => ("f16", 2),
            8 => ("f64", 8),
            align if align >= 4 => ("f32", 4),
            _ => ("u8", 1),
        },
    };
    (element, variable.size.map(|size| size.div_ceil(bytes)))
}

/// An entry of `[globals]` for a variable, with a role or without.
fn entry(variable: &Variable, role: Option<&str>) -> String {
    let (element, count) = guess(variable);
    let role = role.map(|role| format!("role = \"{role}\", ")).unwrap_or_default();
    let shape = match count {
        Some(1) => "[]".to_string(),
        Some(count) => format!("[{count}]"),
        None => "[…]".to_string(),
    };
    let name = variable_name(&variable.name);
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let name = if plain { name } else { format!("\"{name}\"") };
    format!("{name} = {{ {role}type = \"{element}\", shape = {shape} }}")
}

/// Assumptions about variables that the case does not declare: that they hold their initial values. PTX does not say
/// which of them are `const` in the source.
pub(crate) fn assumptions(program: &Program, given: &[Given]) -> Vec<Assumption> {
    let variables = program.variables.iter().zip(given);
    let initialised = variables.filter(|(variable, given)| {
        variable.is_of_module()
            && matches!(given, Given::Nothing)
            && variable.init.is_some()
            && !is_made_by_compiler(&variable.name)
    });
    let listed = initialised.map(|(variable, _)| {
        Assumption::given(format!(
            "`{}` has its initial value, although the host can set it (M5)",
            variable_name(&variable.name)
        ))
    });
    listed.collect()
}

impl Launch<'_> {
    fn variable_of(&self, tensor: &Tensor) -> Option<&Variable> {
        let mut variables = self.program.variables.iter();
        variables.find(|variable| variable.is_of_module() && variable.name == tensor.name)
    }

    /// The error that a thread reads a variable whose contents neither the PTX nor the case gives.
    #[cold]
    pub(crate) fn not_given(&self, tensor: &Tensor, place: Option<Place>) -> BindError {
        let name = variable_name(&tensor.name);
        let message = format!("`{name}` is read, but the case does not say to what the host has set it (M5)");
        let help = self.variable_of(tensor).map(|variable| {
            format!(
                "declare it under [globals]: `{}` may hold anything; `value` and `contents` say what it holds",
                entry(variable, None)
            )
        });
        BindError { place, ..BindError::new(message, help) }
    }

    /// Message and help: a variable was written that the case does not declare.
    pub(crate) fn undeclared(&self, tensor: &Tensor) -> (String, String) {
        let line = self.variable_of(tensor).map(|variable| {
            format!(
                "declare it under [globals]: `{}` compares it, `role = \"scratch\"` does not",
                entry(variable, Some("out"))
            )
        });
        (variable_name(&tensor.name), line.unwrap_or_default())
    }
}

/// Why the variable does not match what the case declares; `None` where it does.
pub(super) fn misfit(variable: &Variable, tensor: &Tensor) -> Option<BindError> {
    let bytes = tensor.elements.saturating_mul(u64::from(tensor.element.bytes()));
    let (name, element) = (&tensor.name, tensor.element.name());
    if let Some(size) = variable.size
        && size != bytes
    {
        let message = format!(
            "`{name}` is declared with {bytes} bytes ({} of {element}), but the variable has {size}",
            tensor.elements
        );
        return Some(BindError::new(message, Some(format!("perhaps `{}`", entry(variable, None)))));
    }
    if variable.space == Space::Const && !tensor.is_read_only() {
        let message =
            format!("`{name}` is in constant memory, which no kernel writes: its role must be `in`");
        return Some(BindError::new(message, None));
    }
    None
}
