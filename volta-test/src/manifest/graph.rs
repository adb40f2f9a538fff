//! Graphs of operators: in a file of their own, or in place of a kernel in a case.

use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use volta_case::{Element, InputProblem, nearest};
use volta_core::case::{Param, ParamKind, Role, Which};
use volta_core::graph::build::Builder;
use volta_core::graph::library::{Given, Operator, OperatorArgument};
use volta_core::graph::text::{self, Named, Unreadable};
use volta_core::graph::{Graph, ValueDefinition, ValueId, check, spell_shape};

use super::document;
use super::reader::{Problem, Problems, Value, as_integer, as_number};

/// The keys of a side that is a graph, and of a file that holds one.
const INPUTS: &str = "inputs";
const NODES: &str = "nodes";
const OUTPUTS: &str = "outputs";

/// A graph has no more nodes than this.
const MOST_NODES: usize = 100_000;

/// Reads the text of a file that holds a graph, for a side of a case.
///
/// # Errors
/// What is wrong with it, in the order of the text.
pub fn parse(path: &Path, text: &str, params: &[Param], which: Which) -> Result<Graph, Vec<Problem>> {
    let document = document::parse(text)?;
    let problems = Problems::default();
    let name = path.file_name().map_or_else(|| "graph".into(), |name| name.to_string_lossy().into_owned());
    let graph = {
        let reader = Reader::new(name, params, which, &problems);
        let entries = entries(&document);
        for (key, span, _) in &entries {
            if ![INPUTS, NODES, OUTPUTS].contains(key) {
                problems.add(span.clone(), format!("unknown key `{key}` in a graph"), None);
            }
        }
        reader.graph(&entries, 0..0)
    };
    let problems = problems.into_sorted(false);
    graph.filter(|_| problems.is_empty()).ok_or(problems)
}

/// Keys with their spans and values.
pub(super) type Entries<'a> = Vec<(&'a str, Range<usize>, Value<'a>)>;

fn entries<'a>(table: &'a DeTable<'a>) -> Entries<'a> {
    table.iter().map(|(key, value)| (key.get_ref().as_ref(), key.span(), value)).collect()
}

fn find<'a>(entries: &Entries<'a>, key: &str) -> Option<Value<'a>> {
    entries.iter().find(|(name, ..)| *name == key).map(|(_, _, value)| *value)
}

/// What a graph is read from, and what there is so far.
pub(super) struct Reader<'p> {
    params: &'p [Param],
    which: Which,
    problems: &'p Problems,
    builder: RefCell<Builder>,
    /// The values that were named, the latest last.
    names: RefCell<Vec<(String, ValueId)>>,
}

impl<'p> Reader<'p> {
    pub(super) fn new(
        name: impl Into<String>,
        params: &'p [Param],
        which: Which,
        problems: &'p Problems,
    ) -> Reader<'p> {
        let builder = RefCell::new(Builder::new(name));
        Reader { params, which, problems, builder, names: RefCell::default() }
    }

    /// A graph of nodes.
    pub(super) fn graph(self, entries: &Entries<'_>, whole: Range<usize>) -> Option<Graph> {
        if let Some(inputs) = find(entries, INPUTS) {
            self.inputs(inputs)?;
        }
        let Some(nodes) = find(entries, NODES) else {
            let help = Some("\"nodes\": [{ \"name\": \"y\", \"op\": \"relu\", \"self\": \"x\" }]".into());
            self.problems.add_missing(whole, "a graph needs its nodes", help);
            return None;
        };
        let Some(list) = nodes.get_ref().as_array().filter(|list| list.len() <= MOST_NODES) else {
            let message = format!("`nodes` is a list of at most {MOST_NODES} tables");
            self.problems.add(nodes.span(), message, None);
            return None;
        };
        for (at, node) in list.iter().enumerate() {
            self.node(at, node)?;
        }
        let Some(outputs) = find(entries, OUTPUTS) else {
            let help = Some("\"outputs\": { \"y\": \"name of a value\" }".into());
            self.problems.add_missing(nodes.span(), "a graph needs its outputs", help);
            return None;
        };
        self.outputs(outputs)?;
        self.finished(nodes.span())
    }

    /// The declared inputs: types and shapes, which must be those of the case.
    fn inputs(&self, inputs: Value<'_>) -> Option<()> {
        let Some(table) = inputs.get_ref().as_table() else {
            let message = "`inputs` is a table: { \"x\": { \"type\": \"f32\", \"shape\": [4, 8] } }";
            self.problems.add(inputs.span(), message, None);
            return None;
        };
        for (name, span, value) in entries(table) {
            let wrong = |message: &str| self.problems.add(value.span(), format!("`{name}`: {message}"), None);
            let Some(own) = value.get_ref().as_table() else {
                wrong("a type and a shape are wanted here");
                return None;
            };
            let own = entries(own);
            if let Some((key, span, _)) =
                own.iter().find(|(key, ..)| !["type", "shape", "tensor"].contains(key))
            {
                self.problems.add(span.clone(), format!("unknown key `{key}` of an input"), None);
                return None;
            }
            let tensor = find(&own, "tensor").and_then(|tensor| tensor.get_ref().as_str()).unwrap_or(name);
            let (element, shape) = self.of_case(tensor).or_else(|| {
                self.unknown(&span, tensor);
                None
            })?;
            let given = find(&own, "type").map(|given| given.get_ref().as_str().and_then(Element::parse));
            let element = match given {
                None => element,
                Some(Some(given)) if is_alike(given, element) => given,
                Some(_) => {
                    wrong(&format!("in the case, the type of `{tensor}` is {}", element.name()));
                    return None;
                }
            };
            let shape = match find(&own, "shape") {
                None => shape,
                Some(given) => {
                    let extents = given.get_ref().as_array().map(|list| {
                        list.iter().map(|extent| as_integer(extent.get_ref())).collect::<Option<Vec<u64>>>()
                    });
                    let Some(Some(given)) = extents else {
                        wrong("a shape is a list of whole numbers");
                        return None;
                    };
                    let count = |shape: &[u64]| shape.iter().fold(1u64, |all, own| all.saturating_mul(*own));
                    let is_flat = shape.len() <= 1 || given.len() <= 1;
                    if given != shape && !(is_flat && count(&given) == count(&shape)) {
                        wrong(&format!("in the case, the shape of `{tensor}` is {}", spell_shape(&shape)));
                        return None;
                    }
                    given
                }
            };
            self.tensor(name, tensor, element, shape, &span)?;
        }
        Some(())
    }

    /// The type and the shape of a tensor or a scalar of the case.
    fn of_case(&self, name: &str) -> Option<(Element, Vec<u64>)> {
        let param = self.params.iter().find(|param| param.name == name)?;
        let element = param.elements()[usize::from(self.which == Which::Opt)];
        let shape = match &param.kind {
            ParamKind::Tensor { shape, .. } => shape.clone(),
            ParamKind::Scalar { .. } => Vec::new(),
        };
        Some((element, shape))
    }

    fn tensor(
        &self,
        name: &str,
        tensor: &str,
        element: Element,
        shape: Vec<u64>,
        span: &Range<usize>,
    ) -> Option<ValueId> {
        let added = self.builder.borrow_mut().tensor(tensor, element, shape);
        let value = self.told(span, added)?;
        self.names.borrow_mut().push((name.into(), value));
        Some(value)
    }

    /// The value of a name: one of the graph, or a tensor of the case.
    fn value(&self, name: &str) -> Option<ValueId> {
        let known =
            self.names.borrow().iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value);
        known.or_else(|| {
            let (element, shape) = self.of_case(name)?;
            self.tensor(name, name, element, shape, &(0..0))
        })
    }

    fn unknown(&self, span: &Range<usize>, name: &str) {
        let names = self.names.borrow();
        let all = names.iter().map(|(name, _)| name.as_str());
        let all = all.chain(self.params.iter().map(|param| param.name.as_str()));
        let help = nearest(name, all).map(|near| format!("did you mean `{near}`?"));
        self.problems.add(span.clone(), format!("there is no value `{name}`"), help);
    }

    fn told<T>(&self, span: &Range<usize>, built: Result<T, String>) -> Option<T> {
        built.map_err(|message| self.problems.add(span.clone(), message, None)).ok()
    }

    /// A node: an operator or a formula.
    fn node(&self, at: usize, node: Value<'_>) -> Option<()> {
        let Some(table) = node.get_ref().as_table() else {
            self.problems.add(node.span(), "a node is a table", None);
            return None;
        };
        let own = entries(table);
        let path = format!("{NODES}[{at}]");
        if let Some(formula) = find(&own, "formula") {
            if let Some((key, span, _)) = own.iter().find(|(key, ..)| !["formula", "type"].contains(key)) {
                self.problems.add(span.clone(), format!("unknown key `{key}` beside a formula"), None);
                return None;
            }
            let element = match find(&own, "type") {
                None => None,
                Some(given) => match given.get_ref().as_str().and_then(Element::parse) {
                    Some(element) => Some(element),
                    None => {
                        self.problems.add(given.span(), "this is no type of elements", None);
                        return None;
                    }
                },
            };
            return self.formula(formula, element, &path).map(|_| ());
        }
        let text = |key: &str| find(&own, key).and_then(|value| value.get_ref().as_str());
        let Some(name) = text("op") else {
            let message = "a node has an operator `op`, or a `formula`";
            self.problems.add_missing(node.span(), message, None);
            return None;
        };
        let span = find(&own, "op").map_or_else(|| node.span(), Spanned::span);
        let own_name = text("name").map_or_else(|| format!("{name}.{at}"), str::to_owned);
        let arguments = own.iter().filter(|(key, ..)| !["op", "name"].contains(key)).cloned().collect();
        self.operator((name, &span), &own_name, arguments, &path).map(|_| ())
    }

    /// A formula; the name before its indices is that of its value.
    fn formula(&self, formula: Value<'_>, element: Option<Element>, path: &str) -> Option<ValueId> {
        let Some(text) = formula.get_ref().as_str() else {
            self.problems.add(formula.span(), "a formula is a text", None);
            return None;
        };
        let named = |name: &str| self.value(name).map(Named::Value);
        // The text begins after its quote.
        let start = formula.span().start + 1;
        let read = match text::formula(text, &named) {
            Ok(read) => read,
            Err(Unreadable { span, message }) => {
                self.problems.add(start + span.0..start + span.1.max(span.0 + 1), message, None);
                return None;
            }
        };
        let mut builder = self.builder.borrow_mut();
        let extents: Vec<u64> = read.shape.iter().chain(&read.construct.over).copied().collect();
        let kind = check::kind_of(&builder.graph.values, &extents, &read.construct.expr);
        let kind = self.told(&formula.span(), kind)?;
        let rounds = check::rounds_reals(&builder.graph.values, &extents, &read.construct.expr);
        let is_place = read.construct.reduce.is_some_and(|reduce| reduce.with.is_place());
        let float = || Element::Float(volta_case::Format::F32);
        let whole = Element::Int { bytes: 8, signed: true };
        let element = element.unwrap_or_else(|| match kind {
            _ if is_place => whole,
            check::ExprKind::Real => float(),
            check::ExprKind::Whole if rounds => float(),
            check::ExprKind::Whole => whole,
            check::ExprKind::Truth => Element::Bool,
        });
        (builder.name, builder.path) = (read.name.clone(), path.into());
        let added = builder.add(element, read.shape, ValueDefinition::Construct(read.construct));
        let value = self.told(&formula.span(), added)?;
        self.names.borrow_mut().push((read.name, value));
        Some(value)
    }

    /// The results of an operator, which are named.
    fn operator(
        &self,
        (operator, span): (&str, &Range<usize>),
        name: &str,
        arguments: Entries<'_>,
        path: &str,
    ) -> Option<Vec<ValueId>> {
        let operator = self.told(span, Operator::named(operator))?;
        let mut given = Vec::new();
        for (key, span, value) in arguments {
            let Some(argument) = operator.argument(key) else {
                let names: Vec<&str> = operator.takes().map(|argument| argument.name).collect();
                let help = nearest(key, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
                let message =
                    format!("`{}` has no argument `{key}`; it takes {}", operator.names[0], names.join(", "));
                self.problems.add(span, message, help);
                return None;
            };
            given.push((argument.name.to_owned(), self.given(argument, value)?));
        }
        self.applied(operator, span, name, given, path)
    }

    fn applied(
        &self,
        operator: &'static Operator,
        span: &Range<usize>,
        name: &str,
        given: Vec<(String, Given)>,
        path: &str,
    ) -> Option<Vec<ValueId>> {
        let mut builder = self.builder.borrow_mut();
        (builder.name, builder.path) = (name.into(), path.into());
        let results = operator.apply(&mut builder, given);
        let results =
            self.told(span, results.map_err(|message| format!("`{}`: {message}", operator.names[0])))?;
        let mut names = self.names.borrow_mut();
        for (at, value) in results.iter().enumerate() {
            names.push((format!("{name}.{at}"), *value));
        }
        names.extend(results.first().map(|value| (name.to_owned(), *value)));
        Some(results)
    }

    fn given(&self, argument: OperatorArgument, value: Value<'_>) -> Option<Given> {
        let is_word = ["text", "type", "reduction"].contains(&argument.takes);
        Some(match value.get_ref() {
            DeValue::String(text) if is_word => Given::Text(text.as_ref().into()),
            DeValue::Boolean(flag) => Given::Flag(*flag),
            DeValue::Array(list) => {
                let list = list.iter().map(|item| self.given(argument, item));
                Given::List(list.collect::<Option<_>>()?)
            }
            DeValue::String(text) => match as_number(value.get_ref()) {
                Some(number) => Given::Float(number),
                None => Given::Value(self.value(text).or_else(|| {
                    self.unknown(&value.span(), text);
                    None
                })?),
            },
            DeValue::Integer(_) | DeValue::Float(_) => match as_number(value.get_ref()) {
                Some(number) if matches!(value.get_ref(), DeValue::Float(_)) => Given::Float(number),
                Some(number) => Given::Number(number),
                None => {
                    self.problems.add(value.span(), "this is no number", None);
                    return None;
                }
            },
            DeValue::Datetime(_) | DeValue::Table(_) => {
                self.problems.add(value.span(), "an argument is a name, a number, a word or a list", None);
                return None;
            }
        })
    }

    /// What is written: tensors of the case, each with a value; or a list, where values have the names of tensors.
    fn outputs(&self, outputs: Value<'_>) -> Option<()> {
        let mut pairs: Vec<(String, String, Range<usize>)> = Vec::new();
        match outputs.get_ref() {
            DeValue::Array(list) => {
                for item in list.iter() {
                    let name = item.get_ref().as_str()?;
                    pairs.push((name.into(), name.into(), item.span()));
                }
            }
            DeValue::Table(table) => {
                for (tensor, _, value) in entries(table) {
                    pairs.push((tensor.into(), value.get_ref().as_str()?.into(), value.span()));
                }
            }
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => {
                self.problems.add(outputs.span(), "`outputs` is a table, or a list of names", None);
                return None;
            }
        }
        for (tensor, name, span) in pairs {
            let Some(value) =
                self.names.borrow().iter().rev().find(|(known, _)| *known == name).map(|(_, id)| *id)
            else {
                self.unknown(&span, &name);
                return None;
            };
            self.writes(&tensor, value, &span)?;
        }
        Some(())
    }

    /// Notes that a tensor of the case is written.
    fn writes(&self, tensor: &str, value: ValueId, span: &Range<usize>) -> Option<()> {
        if self.of_case(tensor).is_none() {
            self.problems.add(span.clone(), format!("the case has no tensor `{tensor}`"), None);
            return None;
        }
        self.builder.borrow_mut().graph.outputs.push((tensor.into(), value));
        Some(())
    }

    fn finished(self, span: Range<usize>) -> Option<Graph> {
        let graph = self.builder.into_inner().graph;
        if graph.outputs.is_empty() {
            self.problems.add(span, "the graph writes nothing", None);
            return None;
        }
        let wrong = check::check(&graph).map_err(|wrong| self.problems.add(span, wrong.message, None));
        wrong.is_ok().then_some(graph)
    }

    /// Formulas whose names are outputs of the case write these.
    pub(super) fn formulas(self, formulas: Value<'_>) -> Option<Graph> {
        let list: Vec<Value<'_>> = match formulas.get_ref().as_array() {
            Some(list) => list.iter().collect(),
            None => vec![formulas],
        };
        for (at, formula) in list.into_iter().enumerate() {
            self.formula(formula, None, &format!("formula[{at}]"))?;
        }
        let written = self.written();
        let names = self.names.borrow().clone();
        let mut written = written.iter().filter_map(|name| {
            let value = names.iter().rev().find(|(known, _)| known == name)?.1;
            Some((name, value))
        });
        written.try_for_each(|(name, value)| self.writes(name, value, &formulas.span()))?;
        self.finished(formulas.span())
    }

    /// The outputs of the case, in order.
    fn written(&self) -> Vec<String> {
        let is_output =
            |param: &&Param| matches!(param.kind, ParamKind::Tensor { role: Role::Out | Role::InOut, .. });
        self.params.iter().filter(is_output).map(|param| param.name.clone()).collect()
    }

    /// An operator of the case's inputs, which writes its outputs.
    pub(super) fn spec(
        self,
        spec: Value<'_>,
        arguments: Entries<'_>,
        output: Option<Value<'_>>,
    ) -> Option<Graph> {
        let Some(name) = spec.get_ref().as_str() else {
            self.problems.add(spec.span(), "`spec` is the name of an operator", None);
            return None;
        };
        let span = spec.span();
        let operator = self.told(&span, Operator::named(name))?;
        let named: Vec<&str> =
            arguments.iter().filter_map(|(key, ..)| Some(operator.argument(key)?.name)).collect();
        let mut given = Vec::new();
        for (key, span, value) in &arguments {
            let Some(argument) = operator.argument(key) else {
                let names: Vec<&str> = operator.takes().map(|argument| argument.name).collect();
                let message = format!("`{name}` has no argument `{key}`; it takes {}", names.join(", "));
                self.problems.add(span.clone(), message, None);
                return None;
            };
            given.push((argument.name.to_owned(), self.given(argument, value)?));
        }
        let uses =
            |tensor: &str| arguments.iter().any(|(_, _, value)| value.get_ref().as_str() == Some(tensor));
        let is_input = |param: &&Param| {
            matches!(param.kind, ParamKind::Tensor { role: Role::In | Role::InOut, .. }) && !uses(&param.name)
        };
        let open = operator.takes().filter(|own| own.takes == "tensor" && !named.contains(&own.name));
        let mut open = open.map(|own| own.name.to_owned());
        let list = operator.takes().find(|own| own.takes == "tensors" && !named.contains(&own.name));
        let mut several = Vec::new();
        for param in self.params.iter().filter(is_input) {
            let value = self.value(&param.name)?;
            if list.is_some() {
                several.push(Given::Value(value));
            } else if let Some(argument) = open.next() {
                given.push((argument, Given::Value(value)));
            } else {
                let message = format!("`{name}` takes fewer tensors than the case has inputs");
                let help = "name those that it takes: self = \"x\"".to_owned();
                self.problems.add(span, message, Some(help));
                return None;
            }
        }
        given.extend(list.map(|list| (list.name.to_owned(), Given::List(several))));
        let results = self.applied(operator, &span, name, given, "")?;
        let targets = match output {
            None => self.written(),
            Some(one) => vec![one.get_ref().as_str()?.to_owned()],
        };
        if targets.len() > results.len() {
            let message =
                format!("`{name}` has {} results, and the case {} outputs", results.len(), targets.len());
            let help = "name the one that is written: output = \"y\"".to_owned();
            self.problems.add(span, message, Some(help));
            return None;
        }
        for (target, value) in targets.iter().zip(results) {
            // A flat tensor of the case takes the elements of any shape.
            let (_, shape) = self.of_case(target)?;
            let mut builder = self.builder.borrow_mut();
            let own = builder.shape(value);
            let value =
                if own.len() > 1 && shape.len() == 1 { builder.view(value, shape) } else { Ok(value) };
            drop(builder);
            let value = self.told(&span, value)?;
            self.writes(target, value, &span)?;
        }
        self.finished(span)
    }
}

/// Whether a value of one type is read as one of another: floats are reals.
fn is_alike(one: Element, other: Element) -> bool {
    match (one, other) {
        (Element::Float(_), Element::Float(_)) => true,
        (one, other) => one == other,
    }
}

/// The first problem of a graph's file, in words.
pub fn told(path: &str, text: &str, problems: &[Problem]) -> (InputProblem, String, Option<String>) {
    match problems.first() {
        Some(problem) => {
            let (line, column) = super::position(text, &problem.span);
            (problem.kind, format!("{path}:{line}:{column}: {}", problem.message), problem.help.clone())
        }
        None => (InputProblem::Syntax, format!("{path} holds no graph"), None),
    }
}
