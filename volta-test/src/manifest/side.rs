//! A side of a case: a kernel, or steps one after the other.

use std::sync::Arc;

use toml::Spanned;
use toml::de::DeValue;
use volta_case::{GRAPH, KERNEL, SIDE, STEP, Section, TensorMap, path_problem, source_problem, split_source};

use volta_core::case::{Param, Which};

use super::args::Known;
use super::reader::{Problem, Problems, Table, Value, as_number};
use super::{document, graph};
use crate::case::{GraphSource, Kernel, Side, Step};

/// What sides refer to.
pub(super) struct Names<'c> {
    /// The parameters.
    pub(super) params: &'c [&'c str],
    /// The parameters themselves.
    pub(super) values: &'c [Param],
    pub(super) maps: &'c [(String, TensorMap)],
    pub(super) problems: &'c Problems,
}

/// A side runs no more often than this: the second run already shows what the first one left.
pub(crate) const MOST_RUNS: u64 = 16;

/// A side has no more steps than this.
const MOST_STEPS: usize = 1000;

/// The graph that a side is, from its keys with their values in TOML.
///
/// # Errors
/// What is wrong with them.
pub(crate) fn graph_of(keys: &[(&str, &str)], params: &[Param], which: Which) -> Result<Step, String> {
    let text: String = keys.iter().map(|(key, value)| format!("\"{key}\" = {value}\n")).collect();
    let told = |problems: Vec<Problem>| {
        let one = |Problem { message, help, .. }: Problem| match help {
            Some(help) => format!("{message}: {help}"),
            None => message,
        };
        problems.into_iter().map(one).collect::<Vec<_>>().join("; ")
    };
    let document = document::parse(&text).map_err(told)?;
    let problems = Problems::default();
    let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
    let step = {
        let known = Names { params: &names, values: params, maps: &[], problems: &problems };
        let table = Table::new(&document, 0..0, "a graph", GRAPH.iter().chain(SIDE), &problems);
        known.graph(&table, which).flatten()
    };
    let problems = problems.into_sorted(false);
    step.filter(|_| problems.is_empty()).ok_or_else(|| told(problems))
}

impl Names<'_> {
    /// The side in a section of this name, if there is one.
    pub(super) fn side(&self, top: &Table<'_>, key: &str) -> Option<Side> {
        let table = top.table(key, SIDE.iter().chain(GRAPH).chain(KERNEL).chain(Kernel::keys()))?;
        let repeat = table.integer("repeat");
        if repeat.is_some_and(|repeat| repeat == 0 || repeat > MOST_RUNS) {
            let message = format!("`repeat` must be from 1 to {MOST_RUNS}");
            self.problems.add(table.value_span("repeat"), message, None);
        }
        let repeat = repeat.unwrap_or(1).min(MOST_RUNS) as u32;
        let which = if key == "reference" { Which::Reference } else { Which::Opt };
        if let Some(step) = self.graph(&table, which) {
            return Side::of_steps(vec![step?], repeat);
        }
        let Some(launches) = table.get("launch") else {
            let kernel = self.kernel(&table);
            table.finish();
            return kernel.map(|kernel| Side::from(kernel).repeated(repeat));
        };
        let (steps, span) = (self.steps(&table, launches, which), table.key_span("launch"));
        if table.get("source").is_some() {
            let message = "the kernels of a side are all in its `launch` tables";
            self.problems.add(table.key_span("source"), message, None);
        }
        table.finish();
        let side = Side::of_steps(steps?, repeat);
        if side.is_none() {
            let message = "a side needs a step that launches a kernel";
            self.problems.add_missing(span, message, None);
        }
        side
    }

    /// The step of a side that is a graph; `None` for a side of kernels, and within it for a graph that is wrong.
    fn graph(&self, table: &Table<'_>, which: Which) -> Option<Option<Step>> {
        let words = ["spec", "formula", "graph", "nodes"];
        let word = words.into_iter().find(|word| table.get(word).is_some())?;
        let own = |name: &str| match word {
            "spec" => true,
            "nodes" => ["inputs", "nodes", "outputs", "repeat"].contains(&name),
            word => [word, "repeat"].contains(&name),
        };
        for (name, span, _) in table.entries() {
            if !own(name) {
                self.problems.add(span, format!("a side that is a `{word}` has no `{name}`"), None);
            }
        }
        let value = table.get(word)?;
        let span = table.span.clone();
        let reader = |name: String| graph::Reader::new(name, self.values, which, self.problems);
        let graph = match word {
            "graph" => {
                let file = table.string("graph")?;
                if let Some(message) = path_problem(&file) {
                    self.problems.add(value.span(), message, None);
                }
                return Some(Some(Step::Graph(GraphSource::File(file))));
            }
            "spec" => {
                let fixed = ["spec", "output", "repeat"];
                let arguments = table.entries().filter(|(name, ..)| !fixed.contains(name)).collect();
                let name = value.get_ref().as_str().unwrap_or_default();
                reader(format!("spec {name}")).spec(value, arguments, table.get("output"))
            }
            "formula" => reader("formula".into()).formulas(value),
            _ => reader("nodes".into()).graph(&table.entries().collect(), span),
        };
        Some(graph.map(|graph| Step::Graph(GraphSource::Here(Arc::new(graph)))))
    }

    /// The steps in a list of tables; `None` if one cannot be read.
    fn steps(&self, table: &Table<'_>, launches: &Spanned<DeValue<'_>>, which: Which) -> Option<Vec<Step>> {
        let Some(items) = launches.get_ref().as_array().filter(|items| !items.is_empty()) else {
            table.wrong_type(launches, "`launch`", "a list of tables, one for each step");
            return None;
        };
        if items.len() > MOST_STEPS {
            let message = format!("a side has at most {MOST_STEPS} steps");
            self.problems.add(launches.span(), message, None);
            return None;
        }
        let steps: Vec<Option<Step>> = items.iter().map(|item| self.step(table, item, which)).collect();
        steps.into_iter().collect()
    }

    fn step(&self, outer: &Table<'_>, item: Value<'_>, which: Which) -> Option<Step> {
        let Some(entries) = item.get_ref().as_table() else {
            outer.wrong_type(item, "a step", "a table");
            return None;
        };
        let keys = STEP.iter().chain(GRAPH).chain(KERNEL).chain(Kernel::keys());
        let table = Table::new(entries, item.span(), "a launch", keys, self.problems);
        if let Some(step) = self.graph(&table, which) {
            return step;
        }
        let (fill, copy) = (table.string("fill"), table.string("copy"));
        let step = match (fill, copy) {
            (Some(tensor), _) => {
                self.tensor(&table, "fill", &tensor);
                let with = table.read("with", "a number", |value| as_number(value.get_ref()));
                if with.is_none() && table.get("with").is_none() {
                    let help = Some("with = 0".into());
                    self.problems.add_missing(item.span(), "a fill needs a number", help);
                }
                with.map(|with| Step::Fill { tensor, with })
            }
            (None, Some(from)) => {
                self.tensor(&table, "copy", &from);
                let to = table.string("to");
                to.iter().for_each(|to| self.tensor(&table, "to", to));
                if to.is_none() && table.get("to").is_none() {
                    let help = Some("to = \"y\"".into());
                    self.problems.add_missing(item.span(), "a copy needs a tensor that it writes", help);
                }
                to.map(|to| Step::Copy { from, to })
            }
            (None, None) => self.kernel(&table).map(Step::Launch),
        };
        if let Some(Step::Fill { .. } | Step::Copy { .. }) = step {
            let own = ["fill", "with", "copy", "to"];
            for (name, span, _) in table.entries().filter(|(name, _, _)| !own.contains(name)) {
                self.problems.add(span, format!("a step that is no kernel has no `{name}`"), None);
            }
        }
        table.finish();
        step
    }

    fn tensor(&self, table: &Table<'_>, key: &str, name: &str) {
        let field = |known: &&str| name.split('.').next() == Some(known);
        if !self.params.iter().any(field) {
            let wrong =
                volta_case::Wrong::unknown(format!("there is no parameter `{name}`"), name, self.params);
            table.refuse(key, wrong);
        }
    }

    fn kernel(&self, table: &Table<'_>) -> Option<Kernel> {
        let problems = self.problems;
        let source = table.string("source");
        if source.is_none() && table.get("source").is_none() {
            let help =
                Some("source = \"kernel.cu\", or \"kernel.cu::name\" when it has several kernels".into());
            problems.add_missing(table.span.clone(), "a kernel needs a source", help);
        }
        if let Some(source) = &source {
            let (file, _) = split_source(source);
            if let Some(message) = source_problem(file) {
                problems.add(table.value_span("source"), message, None);
            }
        }
        let mut kernel = Kernel::new(source.as_deref().unwrap_or_default());
        if table.get("block").is_none() {
            let help = Some("block = 128, or [16, 16]".into());
            problems.add_missing(table.span.clone(), "a kernel needs a block", help);
        }
        table.section(&mut kernel);
        for (key, sizes) in [("block", kernel.launch.block), ("grid", kernel.launch.grid)] {
            if let (Some(value), true) = (table.get(key), sizes.contains(&0)) {
                let message =
                    format!("`{key}` must be a whole number from 1, or a list of one to three of them");
                problems.add_senseless(value.span(), message, None);
            }
        }
        kernel.args = Known { names: self.params, maps: self.maps, problems }.arguments(table);
        source.map(|_| kernel)
    }
}
