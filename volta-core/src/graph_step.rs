//! A graph as a step of a side: what it reads are the contents of the case's tensors, what it writes are values of
//! terms, as after a kernel.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::base::assumption::Assumption;
use crate::case::{Binding, Element, FieldPlace, Param, ParamKind, ScalarValue};
use crate::given::spelled;
use crate::graph::check::ExprKind;
use crate::graph::evaluate::{Computed, Content, Stop, Within, between, evaluate};
use crate::graph::{Graph, Wrong, check, spell_shape};
use crate::machine::{self, Execution, Lost, Output, OutputValue, Overlap, RunError, integer_constant};
use crate::number::format::{Format, Rounding, decode, encode};
use crate::number::{Extended, Rational, Rounded};
use crate::steps::{SideRun, wrong};
use crate::term::{Constant, InputId, Store, TermId, spell_element};
use crate::verdict::FaultKind;

impl SideRun<'_> {
    /// Evaluates the graph that is step number `at`. The next step may overlap with it, as with a launch.
    pub(crate) fn graph(
        &self,
        at: usize,
        graph: &Graph,
        is_overlapped: bool,
    ) -> (Result<Execution, RunError>, BTreeSet<Assumption>) {
        let mut relied = BTreeSet::new();
        let mut done = self.evaluated(at, graph, &mut relied);
        if is_overlapped {
            done = done.and_then(|mut done| {
                done.overlap = Some(self.accesses(graph, &done)?);
                Ok(done)
            });
        }
        (done, relied)
    }

    /// What a graph accesses, by what it did: the elements that it writes, and tensors that it may read.
    fn accesses(&self, graph: &Graph, done: &Execution) -> Result<Overlap, RunError> {
        // An access takes several times the memory of an output.
        let read = graph.inputs().map(|(_, value)| value.count()).fold(0, u64::saturating_add);
        let all = read.saturating_add((done.outputs.len() + done.lost.len()) as u64);
        self.room(all.saturating_mul(8), None)?;
        let written = done.outputs.iter().map(|output| (output.param, output.element));
        let written = written.chain(done.lost.iter().map(|lost| (lost.param, lost.element)));
        let reads = graph.inputs().flat_map(|(name, value)| {
            let param = self.params.iter().position(|param| param.name == name);
            let param = param.filter(|param| matches!(self.params[*param].kind, ParamKind::Tensor { .. }));
            param.into_iter().flat_map(move |param| (0..value.count()).map(move |element| (param, element)))
        });
        let bytes = |(param, element)| self.bytes(param, element);
        Ok(Overlap::of_graph(written.map(bytes), reads.map(bytes)))
    }

    /// The bytes of an element, and the parameter of whose memory they are: of structs, that of the first field.
    fn bytes(&self, param: usize, element: u64) -> (usize, Range<u64>) {
        let size = u64::from(self.element(param).bytes());
        let Binding::Field(FieldPlace { offset, count, stride }) = self.params[param].binding else {
            return (param, element * size..(element + 1) * size);
        };
        let structs = self.params[param].argument();
        let first = self.params.iter().position(|own| own.argument() == structs).unwrap_or(param);
        let start = element / count * stride + offset + element % count * size;
        (first, start..start + size)
    }

    fn evaluated(
        &self,
        at: usize,
        graph: &Graph,
        relied: &mut BTreeSet<Assumption>,
    ) -> Result<Execution, RunError> {
        check::check(graph).map_err(|Wrong { path, message, .. }| {
            let place = if path.is_empty() { String::new() } else { format!(" at {path}") };
            wrong(at, None, format!("`{}`{place}: {message}", graph.name))
        })?;
        for (name, value) in graph.inputs() {
            self.fits(at, graph, name, (value.element, &value.shape))?;
        }
        let mut targets = Vec::new();
        for (name, value) in &graph.outputs {
            let (param, _) = self.written(at, "outputs", name)?;
            let value = graph.value(*value);
            self.fits(at, graph, name, (value.element, &value.shape))?;
            targets.push(param);
        }
        let mut store = self.store();
        let (held, taken) =
            self.left.as_ref().map(|left| (left.did.held, left.did.taken)).unwrap_or_default();
        let within = Within {
            budgets: self.options.budgets.clone(),
            held,
            instructions: taken,
            mask_below: self.options.rules.mask_below.map(Rational::from_i128),
        };
        let mut read = |name: &str, element: u64, store: &mut Store| self.read(name, element, store);
        let evaluated = evaluate(graph, &mut store, &within, &mut read).map_err(|stop| match stop {
            Stop::Exhausted(exhausted) => RunError::Exhausted(exhausted),
            Stop::Outside(outside) => wrong(
                at,
                None,
                format!(
                    "in `{}`, {}: declare the `range` of what it is computed from",
                    graph.name,
                    outside.told(graph)
                ),
            ),
            Stop::Picked { bounds, count } => wrong(
                at,
                None,
                format!(
                    "in `{}`, place {} of {count} is picked: declare the `range` of what it is computed from",
                    graph.name,
                    between(bounds)
                ),
            ),
            Stop::Unwritten(value, element) => {
                let value = graph.value(value);
                let name = spell_element(&value.name, &value.shape, element);
                wrong(at, None, format!("`{}` reads {name}, which nothing has written", graph.name))
            }
        })?;
        let read_so = |mask: &Rational| format!("{mask} is read as -inf (`mask_below`, V3)");
        relied.extend(evaluated.masks.iter().map(|mask| Assumption::relied(read_so(mask))));
        let is_rounded = |(number, format): &(Extended, Format)| {
            let spelled = spelled(number, &[Element::Float(*format)]);
            Assumption::relied(format!("in `{}`, a number is the nearest of its type: {spelled}", graph.name))
        };
        relied.extend(evaluated.rounded.iter().map(is_rounded));
        let (mut outputs, mut lost) = (Vec::new(), Vec::new());
        for (param, elements) in targets.into_iter().zip(evaluated.outputs) {
            let is_real = matches!(self.element(param), Element::Float(_));
            for (element, computed) in (0..).zip(elements) {
                match computed {
                    Computed::Term(term) => {
                        let value =
                            if is_real { OutputValue::Real(term) } else { OutputValue::Integer(term) };
                        outputs.push(Output { param, element, store: 0, value });
                    }
                    Computed::Unwritten => {}
                    Computed::Undefined(value) => lost.push(Lost {
                        param,
                        element,
                        step: at,
                        kind: FaultKind::Undefined,
                        rule: "V6",
                        what: format!(
                            "is undefined: `{}` of `{}` has no value there",
                            graph.value(value).name,
                            graph.name
                        ),
                    }),
                }
            }
        }
        outputs.sort_unstable_by_key(|output| (output.param, output.element));
        lost.sort_unstable_by_key(|lost: &Lost| (lost.param, lost.element));
        let mut done = self.execution(store, outputs, lost);
        done.taken = taken.saturating_add(evaluated.instructions);
        done.counts.thread_instructions = evaluated.instructions;
        Ok(done)
    }

    /// The type of a parameter's elements on this side.
    fn element(&self, param: usize) -> Element {
        self.params[param].elements()[usize::from(self.which == crate::case::Which::Opt)]
    }

    /// Checks that a value is one of a parameter.
    fn fits(
        &self,
        at: usize,
        graph: &Graph,
        name: &str,
        (element, shape): (Element, &[u64]),
    ) -> Result<(), RunError> {
        let param = self.params.iter().position(|param| param.name == name);
        let param = param.ok_or_else(|| {
            wrong(at, None, format!("there is no parameter `{name}`, as `{}` needs", graph.name))
        })?;
        let own = match &self.params[param].kind {
            ParamKind::Tensor { shape, .. } => shape.as_slice(),
            ParamKind::Scalar { .. } => &[],
        };
        let count = |shape: &[u64]| shape.iter().fold(1u64, |all, extent| all.saturating_mul(*extent));
        // A flat tensor of the case has the elements of any shape, row-major.
        let is_flat = own.len() <= 1 || shape.len() <= 1;
        if own != shape && !(is_flat && count(own) == count(shape)) {
            let [own, wanted] = [own, shape].map(spell_shape);
            let message = format!("`{name}` has the shape {own}, and in `{}` it is {wanted}", graph.name);
            return Err(wrong(at, None, message));
        }
        let own = self.element(param);
        let same = match (own, element) {
            (Element::Float(_), Element::Float(_)) => true,
            (one, other) => one == other,
        };
        if same && ExprKind::of(own) == ExprKind::of(element) {
            return Ok(());
        }
        let (own, wanted) = (own.name(), element.name());
        Err(wrong(at, None, format!("`{name}` holds {own}, and in `{}` it is {wanted}", graph.name)))
    }

    /// What an element of a parameter holds.
    fn read(&self, name: &str, element: u64, store: &mut Store) -> Content {
        let Some(param) = self.params.iter().position(|param| param.name == name) else {
            return Content::Nothing;
        };
        if let Param { kind: ParamKind::Scalar { element, value }, .. } = &self.params[param] {
            return match value {
                ScalarValue::Symbolic(_) => Content::Term(TermId::input(InputId::from_index(param), 0)),
                ScalarValue::Number(number) => Content::Term(constant(*element, number, store)),
            };
        }
        let of = (self.params, param);
        match machine::contents(self.which, of, element, self.left.as_deref(), (store, &self.options.rules)) {
            Ok(OutputValue::Real(term) | OutputValue::Integer(term)) => Content::Term(term),
            Ok(OutputValue::Bits(bits)) => Content::Term(integer_constant(self.element(param), bits, store)),
            Err(_) => Content::Nothing,
        }
    }
}

/// A number as a constant of a type.
fn constant(element: Element, number: &Extended, store: &mut Store) -> TermId {
    let (exact, literal, rounded) = match element {
        Element::Float(format) => {
            let bits = encode(number, format, Rounding::Nearest);
            let exact = decode(format, bits).extended().unwrap_or_else(|| number.clone());
            (exact, Some((format, bits)), Rounded::exactly(format, bits))
        }
        Element::Int { .. } | Element::Bool => (number.clone(), None, None),
    };
    store.intern(Constant { exact, literal, rounded })
}
