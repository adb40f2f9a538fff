//! References written in Rust: the parameters of a case as the [numbers](crate::graph::trace) of a function, and what it
//! does with them as a graph.

use std::sync::Arc;

use crate::case::{Contents, Param, ParamKind, Role};
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

    fn param(&self, name: &str) -> usize {
        // The attribute takes both from one signature.
        self.params.iter().position(|param| param.name == name).unwrap_or_default()
    }

    /// The value of a scalar, or the contents of a tensor before the function runs, in row-major order: those of the
    /// case, or nothing.
    ///
    /// # Panics
    /// When it has too many elements.
    pub fn tensor<T: Tensor>(&mut self, name: &str) -> Box<T> {
        let at = self.param(name);
        let (element, shape, is_known) = match &self.params[at].kind {
            ParamKind::Tensor { reference, shape, role, contents, .. } => {
                let is_undefined = matches!(contents, Contents::Undefined);
                (*reference, shape.clone(), *role == Role::In || !is_undefined)
            }
            ParamKind::Scalar { element, .. } => (*element, Vec::new(), true),
        };
        if !is_known {
            return Box::new(T::made(&mut || trace::NOTHING));
        }
        let value = match self.builder.tensor(name, element, shape) {
            Ok(value) => value,
            Err(message) => panic!("`{name}`: {message}"),
        };
        let mut place = 0;
        Box::new(T::made(&mut || {
            place += 1;
            trace::element(value, place - 1)
        }))
    }

    /// What the function leaves in a tensor.
    pub fn written<T: Tensor>(&mut self, name: &str, tensor: &T) {
        let mut elements = Vec::new();
        tensor.see(&mut |id| elements.push(id));
        let at = self.param(name);
        self.written.push((at, elements));
    }
}
