//! Structs in memory: one for a variable or a parameter, consecutive ones for a tensor of structs.

use super::bind_error::BindError;
use super::tensor::{ElementAt, Field, Fields, Initial, Rest, Tensor, tensor as field_of};
use crate::case::{Binding, Element, FieldPlace, Param, Which};
use crate::verdict::CasePart;

impl Fields {
    /// One struct: fields, each with its byte offset.
    pub(crate) fn of_one(fields: Vec<(u64, Tensor)>, rest: Rest) -> Fields {
        let field = |(offset, tensor): (u64, Tensor)| Field { offset, count: tensor.elements, tensor };
        Fields { fields: fields.into_iter().map(field).collect(), stride: u64::MAX, rest }
    }

    /// The element at a byte; `None` where no field lies there.
    pub(crate) fn at(&self, byte: u64) -> Option<ElementAt<'_>> {
        let (number, byte) = (byte / self.stride, byte % self.stride);
        let field = self.fields.iter().rev().find(|field| field.offset <= byte)?;
        let bytes = u64::from(field.tensor.element.bytes());
        let (within, byte) = ((byte - field.offset) / bytes, (byte - field.offset) % bytes);
        let element = number * field.count + within;
        (within < field.count && element < field.tensor.elements).then_some(ElementAt {
            tensor: &field.tensor,
            element,
            byte,
        })
    }
}

impl Fields {
    /// What is wrong with the offsets of fields in a struct of this size, with the name of a field.
    pub(super) fn misplaced(&self, size: u64) -> Option<(&str, String)> {
        let mut free = 0;
        for Field { offset, count, tensor } in &self.fields {
            let element = u64::from(tensor.element.bytes());
            let end = offset.saturating_add(count.saturating_mul(element));
            let wrong = if !offset.is_multiple_of(element) {
                format!("begins at a byte that is not a multiple of {element}")
            } else if *offset < free {
                "overlaps the field before it".into()
            } else if end > size {
                format!("ends at byte {end}, but there are only {size} bytes")
            } else {
                free = end;
                continue;
            };
            return Some((&tensor.name, wrong));
        }
        None
    }
}

/// The tensor of structs whose first field is `params[at]`, as `which` declares it; `None` for another field.
pub(crate) fn tensor(which: Which, at: usize, params: &[Param]) -> Result<Option<Tensor>, BindError> {
    let name = params[at].argument();
    let wrong = |message: String| BindError {
        part: Some(CasePart::Parameter(params[at].name.clone())),
        ..BindError::new(message, None)
    };
    let mut fields = Vec::new();
    let mut stride = 1;
    for own in Param::called(params, name) {
        let Binding::Field(place) = params[own].binding else {
            return Err(wrong(format!("`{name}` is a parameter, and a tensor of structs")));
        };
        if fields.is_empty() && own != at {
            return Ok(None);
        }
        if own != at + fields.len() {
            return Err(wrong(format!("the fields of `{name}` are not in the order of their bytes")));
        }
        let Some(tensor) = field_of(which, own, &params[own])? else {
            return Err(wrong(format!("`{}` is no tensor", params[own].name)));
        };
        let FieldPlace { offset, count, .. } = place;
        stride = place.stride;
        fields.push(Field { offset, count, tensor });
    }
    let Some(Field { count, tensor: Tensor { elements, role, .. }, .. }) = fields.first() else {
        return Ok(None);
    };
    let (structs, role) = (elements / (*count).max(1), *role);
    let fields = Fields { fields, stride, rest: Rest::Undefined };
    if let Some((field, what)) = fields.misplaced(stride) {
        return Err(wrong(format!("the field `{field}` {what}")));
    }
    for Field { count, tensor, .. } in &fields.fields {
        if tensor.role != role {
            return Err(wrong(format!(
                "the field `{}` does not have the role of the first field",
                tensor.name
            )));
        }
        if tensor.elements != structs * count || !stride.is_multiple_of(u64::from(tensor.element.bytes())) {
            return Err(wrong(format!(
                "the field `{}` is not at the same place in each struct",
                tensor.name
            )));
        }
    }
    Ok(Some(Tensor {
        name: name.to_owned(),
        element: Element::Int { bytes: 1, signed: false },
        elements: structs * stride,
        role,
        initial: Initial::Fields(fields),
        param: Some(at),
    }))
}
