//! Tensors of structs: a parameter for each field, laid out as C does.

use super::{Assumed, Binding, Contents, Element, Param, ParamKind, Role};

/// A field of structs.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldType {
    /// Its name, without that of the tensor.
    pub name: String,
    /// The type of its elements, on both sides.
    pub element: Element,
    /// Its dimensions in one struct, outermost first; empty is one element.
    pub shape: Vec<u64>,
    /// Its contents before the launch; `None` for the default of the tensor's role.
    pub contents: Option<Contents>,
    /// What is assumed of every element, when symbolic.
    pub assumed: Assumed,
}

impl FieldType {
    /// Reads a type, optionally followed by dimensions: `u8[16]`, `f16[4x8]`, `f32`.
    ///
    /// # Errors
    /// Why the text is no such type.
    pub fn parse_type(text: &str) -> Result<(Element, Vec<u64>), String> {
        let (name, shape) = match text.split_once('[') {
            None => (text, Vec::new()),
            Some((name, rest)) => {
                let list =
                    rest.strip_suffix(']').map(|list| list.split('x').map(|n| n.trim().parse()).collect());
                let shape: Option<Result<Vec<u64>, _>> = list;
                let shape = shape.and_then(Result::ok);
                (name, shape.ok_or_else(|| format!("`{text}` has no size: write `u8[16]`, or `u8[4x8]`"))?)
            }
        };
        let element = Element::parse(name.trim()).ok_or_else(|| format!("unknown element type `{name}`"))?;
        Ok((element, shape))
    }
}

/// Where a field lies in a tensor of structs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPlace {
    /// Its offset in each struct, in bytes.
    pub offset: u64,
    /// Its number of elements in each struct.
    pub count: u64,
    /// The size of a struct in bytes, padding included.
    pub stride: u64,
}

/// The parameters that represent a tensor of structs: one for each field, called `tensor.field`, with its elements in
/// the order of the structs. A field begins at the next multiple of its element's size; the size of a struct is a
/// multiple of the largest element's.
///
/// # Errors
/// What is wrong with the fields.
pub fn tensor_of_structs(
    name: &str,
    shape: &[u64],
    role: Role,
    fields: Vec<FieldType>,
) -> Result<Vec<Param>, String> {
    if let Some(field) = fields.iter().find(|field| field.name.is_empty() || field.name.contains(['.', '[']))
    {
        return Err(format!("`{}` is not a name for a field", field.name));
    }
    if name.contains('.') {
        return Err(format!("the name `{name}` of a tensor of structs contains a point"));
    }
    let (mut end, mut align) = (0u64, 1u64);
    let mut places = Vec::new();
    for field in &fields {
        let bytes = u64::from(field.element.bytes());
        let count = field.shape.iter().try_fold(1u64, |product, n| product.checked_mul(*n));
        let offset = end.next_multiple_of(bytes);
        let next = count
            .filter(|count| *count > 0)
            .and_then(|count| count.checked_mul(bytes)?.checked_add(offset).filter(|end| *end < 1 << 32));
        let Some((count, next)) = count.zip(next) else {
            return Err(format!("the field `{}` has no elements, or too many", field.name));
        };
        (end, align) = (next, align.max(bytes));
        places.push((offset, count));
    }
    let stride = end.next_multiple_of(align);
    if fields.is_empty() {
        return Err("a struct needs at least one field".into());
    }
    let param = |(field, (offset, count)): (FieldType, (u64, u64))| {
        let FieldType { name: own, element, shape: inner, contents, assumed } = field;
        let kind = ParamKind::Tensor {
            reference: element,
            opt: element,
            shape: [shape, &inner].concat(),
            role,
            contents: contents.unwrap_or(Contents::of_role(role)),
            assumed,
        };
        let binding = Binding::Field(FieldPlace { offset, count, stride });
        Param::new(format!("{name}.{own}"), kind, binding)
    };
    Ok(fields.into_iter().zip(places).map(param).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(fields: &[(&str, &str)]) -> Result<Vec<(String, Vec<u64>, FieldPlace)>, String> {
        let field = |(name, ty): &(&str, &str)| {
            let (element, shape) = FieldType::parse_type(ty)?;
            let name = (*name).into();
            Ok(FieldType { name, element, shape, contents: None, assumed: Assumed::default() })
        };
        let fields = fields.iter().map(field).collect::<Result<_, String>>()?;
        let params = tensor_of_structs("x", &[7], Role::In, fields)?;
        let place = |param: Param| match (param.binding, param.kind) {
            (Binding::Field(place), ParamKind::Tensor { shape, .. }) => Ok((param.name, shape, place)),
            other => Err(format!("{other:?}")),
        };
        params.into_iter().map(place).collect()
    }

    #[test]
    fn fields_lie_as_c_lays_them_out() {
        let place = |offset, count, stride| FieldPlace { offset, count, stride };
        assert_eq!(
            laid_out(&[("d", "f16"), ("qs", "u8[16]")]),
            Ok(vec![
                ("x.d".to_string(), vec![7], place(0, 1, 18)),
                ("x.qs".to_string(), vec![7, 16], place(2, 16, 18)),
            ])
        );
        // `struct { char a; double b; short c[2][3]; }`
        assert_eq!(
            laid_out(&[("a", "i8"), ("b", "f64"), ("c", "i16[2x3]")]),
            Ok(vec![
                ("x.a".to_string(), vec![7], place(0, 1, 32)),
                ("x.b".to_string(), vec![7], place(8, 1, 32)),
                ("x.c".to_string(), vec![7, 2, 3], place(16, 6, 32)),
            ])
        );
    }

    #[test]
    fn what_is_no_struct_is_told() {
        for (fields, what) in [
            (&[][..], "a struct needs at least one field"),
            (&[("a", "u8[0]")], "the field `a` has no elements, or too many"),
            (&[("a", "u9")], "unknown element type `u9`"),
            (&[("a", "u8[]")], "`u8[]` has no size: write `u8[16]`, or `u8[4x8]`"),
            (&[("a", "u8[4294967296x4294967296]")], "the field `a` has no elements, or too many"),
        ] {
            assert_eq!(laid_out(fields), Err(what.to_string()));
        }
    }
}
