//! References written in Rust: the parameters of a case as the [numbers](crate::graph::trace) of a function, and what it
//! does with them as a graph.

use std::sync::Arc;

use crate::case::{Binding, Contents, Param, ParamKind, Role};
use crate::graph::build::{Builder, Built};
use crate::graph::trace::{self, Tensor};
use crate::graph::{Graph, Listing, ValueDefinition};

/// The parameters of a function that is recorded, and what it writes.
#[derive(Debug)]
pub struct Trace<'p> {
    params: &'p [Param],
    builder: Builder,
    written: Vec<(usize, Vec<u32>)>,
}

impl<'p> Trace<'p> {
    /// Calls a function, which takes its parameters from the trace and gives back what it writes, and returns what it
    /// computes as a graph.
    ///
    /// # Errors
    /// What is wrong with a parameter, or with an operation.
    ///
    /// # Panics
    /// If the function does.
    pub fn record(name: &str, params: &'p [Param], function: impl FnOnce(&mut Trace<'p>)) -> Built<Graph> {
        let (operations, trace) = trace::recorded(|| {
            let mut trace = Trace { params, builder: Builder::new(name), written: Vec::new() };
            function(&mut trace);
            trace
        });
        let Trace { mut builder, written, .. } = trace;
        for (param, elements) in written {
            let ParamKind::Tensor { reference, shape, .. } = &params[param].kind else { continue };
            let elements = elements.into_iter().map(trace::operation).collect();
            let listing = Listing { operations: Arc::clone(&operations), elements };
            builder.name.clone_from(&params[param].name);
            let value = builder.add(*reference, shape.clone(), ValueDefinition::Listed(listing))?;
            builder.graph.outputs.push((params[param].name.clone(), value));
        }
        Ok(builder.graph)
    }

    /// The parameters that a name stands for, each with its number of elements: one, or the fields of a tensor of
    /// structs with those in one struct.
    fn parts(&self, name: &str) -> Vec<(usize, u64)> {
        let fields = Param::called(self.params, name).filter_map(|at| match self.params[at].binding {
            Binding::Field(place) => Some((at, place.count)),
            Binding::Argument | Binding::Variable => None,
        });
        let fields: Vec<(usize, u64)> = fields.collect();
        if !fields.is_empty() {
            return fields;
        }
        // The attribute takes both from one signature.
        let at = self.params.iter().position(|param| param.name == name).unwrap_or_default();
        vec![(at, self.params[at].count())]
    }

    /// The value of a scalar, or the contents of a tensor before the function runs, in row-major order: those of the
    /// case, or nothing. Of structs, all fields of one come before those of the next.
    ///
    /// # Panics
    /// When it has too many elements.
    pub fn tensor<T: Tensor>(&mut self, name: &str) -> Box<T> {
        let parts = self.parts(name);
        let mut values = Vec::new();
        for (at, _) in &parts {
            let param = &self.params[*at];
            let (element, shape, is_known) = match &param.kind {
                ParamKind::Tensor { reference, shape, role, contents, .. } => {
                    let is_undefined = matches!(contents, Contents::Undefined);
                    (*reference, shape.clone(), *role == Role::In || !is_undefined)
                }
                ParamKind::Scalar { element, .. } => (*element, Vec::new(), true),
            };
            let value = is_known.then(|| self.builder.tensor(&param.name, element, shape)).transpose();
            match value {
                Ok(value) => values.push(value),
                Err(message) => panic!("`{}`: {message}", param.name),
            }
        }
        let mut places = in_order(parts.into_iter().map(|(_, count)| count).collect());
        Box::new(T::made(&mut || {
            let (part, place) = places();
            values[part].map_or(trace::NOTHING, |value| trace::element(value, place))
        }))
    }

    /// What the function leaves in a tensor.
    pub fn written<T: Tensor>(&mut self, name: &str, tensor: &T) {
        let parts = self.parts(name);
        let mut places = in_order(parts.iter().map(|(_, count)| *count).collect());
        let mut elements: Vec<Vec<u32>> = vec![Vec::new(); parts.len()];
        tensor.see(&mut |id| elements[places().0].push(id));
        self.written.extend(parts.into_iter().map(|(at, _)| at).zip(elements));
    }
}

/// The elements of structs in their order, each by its field and its number there, if a struct has so many of each field.
fn in_order(counts: Vec<u64>) -> impl FnMut() -> (usize, u64) {
    let (mut structs, mut field, mut own) = (0, 0, 0);
    move || {
        let place = (field, structs * counts[field] + own);
        own += 1;
        if own == counts[field] {
            (field, own) = (field + 1, 0);
        }
        if field == counts.len() {
            (structs, field) = (structs + 1, 0);
        }
        place
    }
}
