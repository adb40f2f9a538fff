//! Operators of graphs on numbers: what PyTorch computes (`scripts/operators.py`), what the interpreter computes, and
//! the values of the verifier's terms. Affine indices, drawn at random, in both.

use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use volta_case::{Element, Format};
use volta_core::case::{Assumed, Binding, Param, ParamKind, Role, Which};
use volta_core::graph::build::{Builder, INT64};
use volta_core::graph::evaluate::{Computed, Content as Read, Within, evaluate};
use volta_core::graph::library::{Given, Operator};
use volta_core::graph::text::decimal;
use volta_core::graph::{
    At, Combination, Construct, Expr, Function, Graph, Indexing, Reduce, ValueDefinition, ValueId, check,
};
use volta_core::number::{Extended, Rational};
use volta_core::term::{Constant, InputId, Store, TermId};
use volta_suite::fixture;
use volta_suite::graph_schema::{graph_schema, graph_schema_text};
use volta_suite::interpreter::graph as numbers;
use volta_suite::replay::bound::{Precision, Tape, Value as Bounded};
use volta_suite::tree::{read, root};
use volta_test::manifest::graph::{self, parse};

/// A tensor of the file: its type, its shape and its elements.
struct Tensor {
    element: Element,
    shape: Vec<u64>,
    values: Vec<f64>,
}

fn number(value: &Value) -> f64 {
    if let Some(text) = value.as_str() {
        return if text == "inf" { f64::INFINITY } else { f64::NEG_INFINITY };
    }
    let truth = value.as_bool().map(|holds| f64::from(u8::from(holds)));
    truth.or(value.as_f64()).expect("a number")
}

fn tensor(value: &Value) -> Tensor {
    let list = |key: &str| value[key].as_array().expect("a list").clone();
    Tensor {
        element: Element::parse(value["type"].as_str().expect("a type")).expect("a type"),
        shape: list("shape").iter().map(|extent| extent.as_u64().expect("an extent")).collect(),
        values: list("values").iter().map(number).collect(),
    }
}

fn exact(text: &str) -> Extended {
    match text {
        "inf" => Extended::PosInf,
        text => {
            let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
            Extended::Finite(&decimal(digits).expect("a number") * &Rational::from_integer(sign))
        }
    }
}

/// An argument that is no tensor.
fn given(value: &Value, named: &dyn Fn(&str) -> ValueId) -> Given {
    match value {
        Value::Bool(flag) => Given::Flag(*flag),
        Value::Number(number) if number.is_f64() => Given::Float(exact(&number.to_string())),
        Value::Number(number) => Given::Number(exact(&number.to_string())),
        Value::String(text) if text == "inf" => Given::Float(Extended::PosInf),
        Value::String(text) => Given::Text(text.clone()),
        Value::Array(list) => Given::List(list.iter().map(|item| given(item, named)).collect()),
        Value::Object(of) => {
            let names = of["of"].as_array().expect("names").iter();
            Given::List(names.map(|name| Given::Value(named(name.as_str().expect("a name")))).collect())
        }
        Value::Null => panic!("an argument that is left out stands in no case"),
    }
}

/// The elements of an output, as the interpreter computes them, and as the verifier's terms are.
type Outputs = Vec<(Vec<f64>, Vec<Bounded>)>;

/// Of each output, the elements as the interpreter computes them, and as the verifier's terms are.
fn computed(graph: &Graph, tensors: &[(String, Tensor)]) -> Result<Outputs, String> {
    check::check(graph).map_err(|wrong| wrong.message)?;
    let of = |name: &str| tensors.iter().position(|(known, _)| known == name).expect("it is a tensor");
    let values = numbers::evaluate(graph, &mut |name, at| Ok(tensors[of(name)].1.values[at as usize]))?;
    let mut store = Store::new();
    let within = Within { budgets: Default::default(), ..Within::default() };
    let evaluated = evaluate(graph, &mut store, &within, &mut |name, at, store| {
        let held = &tensors[of(name)].1;
        Read::Term(match held.element {
            Element::Float(_) => TermId::input(InputId(of(name) as u32), at),
            Element::Int { .. } | Element::Bool => {
                let exact = Rational::from_integer(held.values[at as usize] as i64);
                store.intern(Constant { exact: Extended::Finite(exact), literal: None, rounded: None })
            }
        })
    });
    let evaluated = evaluated.map_err(|stop| format!("{stop:?}"))?;
    store.close();
    let outputs = graph.outputs.iter().zip(evaluated.outputs).map(|((_, value), elements)| {
        let mut tape = Tape::new(&store);
        let places: Vec<Option<usize>> = elements
            .iter()
            .map(|element| match element {
                Computed::Term(term) => Some(tape.add(*term).expect("a term")),
                Computed::Undefined(_) | Computed::Unwritten => None,
            })
            .collect();
        let all = tape.evaluate(&Precision::single(), &|param, at| tensors[param].1.values.get(at).copied());
        let bounded = places.into_iter().map(|place| place.map_or(Bounded::Undefined, |place| all[place]));
        (values[value.0].clone(), bounded.collect())
    });
    Ok(outputs.collect())
}

/// `VOLTA_WRITE_DOCS=1` writes it.
#[test]
fn the_schema_of_graphs_is_that_of_operators() {
    let schema = graph_schema();
    let text = graph_schema_text();
    let path = root().join("docs/graph.schema.json");
    if std::env::var_os("VOLTA_WRITE_DOCS").is_some() {
        std::fs::write(&path, &text).expect("the schema is written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "VOLTA_WRITE_DOCS=1 writes docs/graph.schema.json anew");
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("graph.json", schema).expect("it can be added");
    let mut schemas = boon::Schemas::new();
    let schema = compiler.compile("graph.json", &mut schemas).expect("it is a schema");
    let is_valid = |graph: &Value| schemas.validate(graph, schema).is_ok();
    // Every graph of the fixtures, in files of their own and in cases.
    let mut graphs: Vec<Value> = ["linear_gelu.json", "softmax_file/softmax.json"]
        .iter()
        .map(|file| {
            let text = read(&root().join("fixtures/graph").join(file));
            serde_json::from_str(&text).expect("it is JSON")
        })
        .collect();
    for (_, dir) in fixture::all() {
        let case: Value = toml::from_str(&read(&dir.join("volta.toml"))).expect("it is TOML");
        let sides = ["reference", "opt", "kernel"].into_iter().filter_map(|key| case.get(key));
        let steps = sides.flat_map(|side| {
            let steps = side.get("launch").and_then(Value::as_array).into_iter().flatten();
            std::iter::once(side).chain(steps)
        });
        for own in steps.filter(|own| own.get("nodes").is_some()) {
            let mut graph = own.clone();
            graph.as_object_mut().expect("a table").remove("repeat");
            graphs.push(graph);
        }
    }
    assert!(graphs.len() > 4, "{} graphs", graphs.len());
    // Every call that is compared with PyTorch.
    let calls: Vec<Value> =
        serde_json::from_str(&read(&root().join("tests/operators.json"))).expect("it is JSON");
    for call in &calls {
        let mut node = serde_json::json!({ "name": "result", "op": call["op"] });
        let operator = Operator::named(call["op"].as_str().expect("a name")).expect("an operator");
        for argument in operator.takes().filter(|argument| call["tensors"].get(argument.name).is_some()) {
            node[argument.name] = argument.name.into();
        }
        for (key, value) in call["arguments"].as_object().expect("arguments") {
            // A list of tensors has a form of its own there.
            node[key] = value.get("of").unwrap_or(value).clone();
        }
        graphs.push(serde_json::json!({ "nodes": [node], "outputs": { "y": "result" } }));
    }
    for graph in &graphs {
        assert!(is_valid(graph), "{graph}");
    }
    // Each of these is refused where a graph is read, too.
    let params = ["x", "y"].map(|name| {
        Param::new(
            name,
            ParamKind::Tensor {
                reference: Element::Float(Format::F32),
                opt: Element::Float(Format::F32),
                shape: vec![4, 8],
                role: if name == "x" { Role::In } else { Role::Out },
                contents: volta_core::case::Contents::of_role(Role::In),
                assumed: Assumed::default(),
            },
            Binding::Argument,
        )
    });
    let is_read = |text: &str| parse(Path::new("graph.json"), text, &params, Which::Reference).is_ok();
    let good = r#"{ "nodes": [{ "name": "s", "op": "aten.softmax.int", "self": "x", "dim": 1 }], "outputs": { "y": "s" } }"#;
    let json = |text: &str| -> Value { serde_json::from_str(text).expect("it is JSON") };
    assert!(is_valid(&json(good)) && is_read(good));
    for (from, to) in [
        ("\"nodes\"", "\"node\""),
        ("\"outputs\"", "\"output\""),
        ("aten.softmax.int", "softmin_of"),
        ("\"self\": \"x\", ", ""),
        ("\"dim\"", "\"dims\""),
        ("\"dim\": 1", "\"dim\": {}"),
        ("\"op\"", "\"operator\""),
        ("[{", "{"),
        ("{ \"y\": \"s\" }", "7"),
    ] {
        let text = good.replacen(from, to, 1);
        let text = if from == "[{" { text.replace("}]", "}") } else { text };
        assert!(!is_valid(&json(&text)), "{text}");
        assert!(!is_read(&text), "{text}");
    }
}

#[test]
fn operators_compute_what_pytorch_does() {
    let text = read(&root().join("tests/operators.json"));
    let cases: Vec<Value> = serde_json::from_str(&text).expect("it is JSON");
    let (mut wrong, mut unknown, mut tested) = (Vec::new(), 0, std::collections::BTreeSet::new());
    for case in &cases {
        let name = case["op"].as_str().expect("a name");
        let mut fail = |message: String| wrong.push(format!("{name}: {message}"));
        let tensors = case["tensors"].as_object().expect("tensors");
        let tensors: Vec<(String, Tensor)> =
            tensors.iter().map(|(name, value)| (name.clone(), tensor(value))).collect();
        let mut builder = Builder::new("graph");
        let added = tensors
            .iter()
            .map(|(name, held)| builder.tensor(name, held.element, held.shape.clone()).expect("a tensor"));
        let ids: Vec<ValueId> = added.collect();
        let named = |name: &str| ids[tensors.iter().position(|(known, _)| known == name).expect("a tensor")];
        let operator = match Operator::named(name) {
            Ok(operator) => operator,
            Err(message) => {
                fail(message);
                continue;
            }
        };
        tested.insert(operator.names[0]);
        let mut arguments: Vec<(String, Given)> = Vec::new();
        for argument in operator.takes() {
            if tensors.iter().any(|(name, _)| name == argument.name) {
                arguments.push((argument.name.into(), Given::Value(named(argument.name))));
            }
        }
        for (key, value) in case["arguments"].as_object().expect("arguments") {
            arguments.push((key.clone(), given(value, &named)));
        }
        let results = match operator.apply(&mut builder, arguments) {
            Ok(results) => results,
            Err(message) => {
                fail(message);
                continue;
            }
        };
        let expected: Vec<Tensor> = case["results"].as_array().expect("results").iter().map(tensor).collect();
        if results.len() < expected.len() {
            fail(format!("{} results of {}", results.len(), expected.len()));
            continue;
        }
        let mut graph = builder.graph;
        graph.outputs = (0..).zip(&results).map(|(at, value)| (format!("r{at}"), *value)).collect();
        graph.outputs.truncate(expected.len());
        for (value, wanted) in results.iter().zip(&expected) {
            let own = graph.value(*value).element;
            if own != wanted.element {
                fail(format!("the type is {}, not {}", own.name(), wanted.element.name()));
            }
            if graph.value(*value).shape != wanted.shape {
                fail(format!("the shape is {:?}, not {:?}", graph.value(*value).shape, wanted.shape));
            }
        }
        let outputs = match computed(&graph, &tensors) {
            Ok(outputs) => outputs,
            Err(message) => {
                fail(message);
                continue;
            }
        };
        for (wanted, (interpreted, bounded)) in expected.iter().zip(outputs) {
            for (at, wanted) in wanted.values.iter().enumerate() {
                let near = |value: f64, error: f64| {
                    value == *wanted || (value - wanted).abs() <= error + 2e-6 * wanted.abs().max(1.0)
                };
                if !interpreted.get(at).is_some_and(|value| near(*value, 0.0)) {
                    fail(format!(
                        "element {at}: the interpreter has {:?}, not {wanted}",
                        interpreted.get(at)
                    ));
                }
                match bounded.get(at) {
                    Some(Bounded::Real(value, error)) if near(*value, *error) => {}
                    Some(Bounded::Infinite(value)) if value == wanted => {}
                    Some(Bounded::Unknown) => unknown += 1,
                    other => fail(format!("element {at}: the term is {other:?}, not {wanted}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unknown < 40, "{unknown} elements are unknown");
    let all = Operator::families().into_iter().flat_map(|(_, operators)| operators);
    let untested: Vec<&str> =
        all.map(|operator| operator.names[0]).filter(|name| !tested.contains(name)).collect();
    assert_eq!(untested, UNTESTED, "each operator is compared with PyTorch");
}

/// Operators that PyTorch does not call by a function of their own, or that differ from another one in a name only.
const UNTESTED: [&str; 4] = ["zeros", "ones", "scalar_tensor", "_native_batch_norm_legit.no_stats"];

/// A graph in a file is wrong where its message says.
/// What only the graph reads restricts the claim as well, and a number that is rounded is listed.
#[test]
fn a_claim_lists_what_the_graph_rests_on() {
    for (name, restricted, listed) in [
        ("given_factor", true, "`a` is 2"),
        (
            "rounded_number",
            false,
            "in `formula`, a number is the nearest of its type: 1/10 (0.1000000014901161",
        ),
    ] {
        let dir = fixture::root().join("graph").join(name);
        let case = fixture::load(&format!("graph::{name}"), &dir).expect("the fixture can be loaded");
        let report = volta_core::verify(&case);
        assert_eq!(report.scope.restricted, restricted, "{name}");
        let texts: Vec<String> = report.assumptions.iter().map(ToString::to_string).collect();
        assert!(texts.iter().any(|text| text.starts_with(listed)), "{name}: {texts:?}");
    }
}

#[test]
fn wrong_graphs_are_told_with_their_place() {
    let shape = |name: &str, role| {
        let float = Element::Float(Format::F32);
        let contents = volta_core::case::Contents::of_role(role);
        let assumed = Assumed::default();
        let kind =
            ParamKind::Tensor { reference: float, opt: float, shape: vec![4, 8], role, contents, assumed };
        Param::new(name, kind, Binding::Argument)
    };
    let params = [shape("x", Role::In), shape("y", Role::Out)];
    let told = |text: &str| {
        let wrong = parse(Path::new("g.json"), text, &params, Which::Reference).expect_err(text);
        graph::told("g.json", text, &wrong).1
    };
    let node = |node: &str| told(&format!("{{\"nodes\": [{node}],\n \"outputs\": {{\"y\": \"v\"}}}}"));
    // An operator of bytes, or of truth values.
    let typed = |what: &str, rest: &str| {
        let cast = format!(r#"{{"name": "a", "op": "to", "self": "x", "dtype": "{what}"}}"#);
        node(&format!(r#"{cast}, {{"name": "v", "self": "a", {rest}}}"#))
    };
    let of = |formula: &str| node(&format!("{{\"formula\": \"{formula}\"}}"));
    for (told, wanted) in [
        (
            node(r#"{"name": "v", "op": "sofmax", "self": "x", "dim": 1}"#),
            "g.json:1:32: there is no operator `sofmax`; did you mean `softmax`?",
        ),
        (
            node(r#"{"name": "v", "op": "softmax", "self": "x", "dims": 1}"#),
            "`softmax` has no argument `dims`",
        ),
        (node(r#"{"name": "v", "op": "softmax", "self": "z", "dim": 1}"#), "there is no value `z`"),
        (node(r#"{"name": "v", "op": "softmax", "self": "x", "dim": 2}"#), "there is no dimension 2"),
        (node(r#"{"name": "v", "op": "softmax", "self": "x"}"#), "`softmax` needs `dim`"),
        (
            node(r#"{"name": "v", "op": "mm", "self": "x", "mat2": "x"}"#),
            "tensors of shapes [4, 8] and [4, 8] do not go together",
        ),
        (node(r#"{"name": "w", "op": "relu", "self": "x"}"#), "g.json:2:19: there is no value `v`"),
        (of("v[i] = x[i]      i < 4"), "`x` has the shape [4, 8], and 1 indices are given"),
        (of("v[i,j] = x[i,j+1]      i < 4, j < 8"), "index 1 of `x` is between 1 and 8, and the extent is 8"),
        (of("v[i,j] = x[i,j]      i < 4"), "`j` has no range"),
        (of("v[i,j] = x[i,j*j]      i < 4, j < 8"), "an index is affine"),
        (of("v[i,j] = Σ{k<8} x[i,k] + 1      i < 4, j < 8"), "give the reduction a formula of its own"),
        (of("v[i,j] = max{k<8} x[i,k]      i < 4, j < 8"), "in parentheses here"),
        (of("v[i,j] = and(x[i,j], x[i,j])      i < 4, j < 8"), "takes truth values, and a number is given"),
        (of("v[i,j] = foo(x[i,j])      i < 4, j < 8"), "there is no function `foo`"),
        (of("v[i,j] = x[i,j      i < 4, j < 8"), "`]` is wanted here"),
        (of("v[i,j] = x[9223372036854775807*i + 9223372036854775807*j,j]      i < 4, j < 8"), "64 bits"),
        (typed("u8", r#""op": "add", "other": 300"#), "300 is no number of type u8"),
        (typed("u8", r#""op": "eq", "other": -1"#), "-1 is no number of type u8"),
        (
            typed("u8", r#""op": "add", "other": "a", "alpha": 2.0"#),
            "the operands are of type u8, and `alpha` is a float",
        ),
        (
            typed("i32", r#""op": "masked_fill", "mask": "a", "value": 2.5"#),
            "type i32, and `value` is a float",
        ),
        (typed("i32", r#""op": "pow", "exponent": "a""#), "an integer has powers from 1 to 16"),
        (typed("i32", r#""op": "mean""#), "there is no `mean` of elements of type i32"),
        (typed("i32", r#""op": "var""#), "there is no `var` of elements of type i32"),
        (typed("i32", r#""op": "linalg_vector_norm""#), "of elements of type i32"),
        (
            typed("i32", r#""op": "mse_loss", "target": "a""#),
            "there is no `mse_loss` of elements of type i32",
        ),
        (typed("bool", r#""op": "sub", "other": "a""#), "there is no `sub` of elements of type bool"),
        (typed("bool", r#""op": "neg""#), "there is no `neg` of elements of type bool"),
        (
            typed("bool", r#""op": "add", "other": "a", "alpha": 2"#),
            "there is no `add` of elements of type bool",
        ),
        (
            typed("f16", r#""op": "rms_norm", "normalized_shape": [8]"#),
            "`eps` is wanted for elements of type f16",
        ),
        (
            node(
                r#"{"name": "m", "op": "ones", "size": [4, 4], "dtype": "i32"}, {"name": "v", "query": "x", "key": "x",
                "value": "x", "op": "scaled_dot_product_attention", "attn_mask": "m"}"#,
            ),
            "a mask is of truth values or of floats, not of type i32",
        ),
        (
            node(r#"{"name": "v", "op": "einsum", "equation": ".i->i", "tensors": ["x"]}"#),
            "`.` is no subscript in `.i`: these are letters, and at most one ellipsis `...`",
        ),
        (
            node(r#"{"name": "v", "op": "einsum", "equation": "...i...->i", "tensors": ["x"]}"#),
            "`.` is no subscript",
        ),
        (
            node(r#"{"name": "v", "op": "einsum", "equation": "i1->i", "tensors": ["x"]}"#),
            "`1` is no subscript",
        ),
        (
            node(r#"{"name": "v", "op": "einsum", "equation": "...ijk->i", "tensors": ["x"]}"#),
            "a tensor of shape [4, 8] does not have the dimensions `...ijk`",
        ),
        (
            node(
                r#"{"name": "a", "op": "to", "self": "x", "dtype": "u8"},
                {"name": "v", "op": "einsum", "equation": "ij->i", "tensors": ["a"]}"#,
            ),
            "a sum over a dimension of one tensor alone is not of type u8 in PyTorch",
        ),
        (told("[]"), "g.json:1:"),
    ] {
        assert!(told.contains(wanted), "{told}: {wanted}");
    }
}

proptest! {
    /// Any text is a formula or an error.
    #[test]
    fn texts_are_read_or_refused(text in "[a-c\\[\\](){}<=≤,.+*/^?: 0-9eΣxy-]{0,40}", begin in any::<bool>()) {
        let text = if begin { format!("y[a,b] = {text}      a < 3, b < 2") } else { text };
        let _ = volta_core::graph::text::formula(&text, &|name| {
            (name == "x").then_some(volta_core::graph::text::Named::Value(ValueId(0)))
        });
    }
}

fn affine(variables: usize) -> impl Strategy<Value = Indexing> {
    let terms = prop::collection::vec((0..variables, -2i64..3), 0..3);
    (-3i64..6, terms, 1i64..4).prop_map(|(constant, terms, divisor)| {
        let mut merged: Vec<(usize, i64)> = Vec::new();
        for (variable, own) in terms {
            match merged.iter_mut().find(|(known, _)| *known == variable) {
                Some((_, coefficient)) => *coefficient += own,
                None => merged.push((variable, own)),
            }
        }
        Indexing { constant, terms: merged, divisor }
    })
}

fn reduction() -> impl Strategy<Value = Option<Combination>> {
    prop::sample::select(vec![
        None,
        Some(Combination::Sum),
        Some(Combination::Max),
        Some(Combination::ArgMin),
    ])
}

proptest! {
    /// Elements at random affine indices, combined in all ways, are those that the interpreter finds.
    #[test]
    fn affine_indices_are_those_of_the_interpreter(
        source in prop::collection::vec(1u64..6, 1..3),
        shape in prop::collection::vec(prop::sample::select(vec![1u64, 2, 5, 33]), 0..3),
        over in prop::collection::vec(1u64..4, 0..3),
        with in reduction(),
        is_prefix in any::<bool>(),
        seeds in (affine(4), affine(4), affine(4), affine(4)),
    ) {
        let prefix = (is_prefix && with.is_some() && !shape.is_empty()).then_some(0);
        let over = if with.is_none() || prefix.is_some() { Vec::new() } else { over };
        let variables = shape.len() + over.len();
        let fitted = |affine: Indexing| {
            let terms = affine.terms.into_iter().filter(|(variable, _)| *variable < variables).collect();
            At::Affine(Indexing { terms, ..affine })
        };
        let (a, b, c, d) = seeds;
        let outside = with.is_none().then(|| Extended::Finite(Rational::from_integer(-7)));
        let read = |one: Indexing, other: Indexing| {
            let at: Vec<At> = [one, other].into_iter().take(source.len()).map(fitted).collect();
            Expr::Element(volta_core::graph::Read { value: ValueId(0), at, outside: outside.clone() })
        };
        let expr = Expr::Apply(Function::Mul, vec![read(a, b), read(c, d)]);
        let float = Element::Float(Format::F32);
        let element = if with.is_some_and(Combination::is_place) { INT64 } else { float };
        let mut builder = Builder::new("graph");
        builder.tensor("x", float, source.clone()).expect("a tensor");
        let reduce = with.map(|with| Reduce { with, prefix });
        let construct = ValueDefinition::Construct(Construct { over, reduce, expr });
        let value = builder.add(element, shape, construct).expect("a value");
        let mut graph = builder.graph;
        graph.outputs = vec![("y".into(), value)];
        let count: u64 = source.iter().product();
        let values = (0..count).map(|at| ((at * 37 + 11) % 17) as f64 - 8.0).collect();
        let tensors = [("x".to_owned(), Tensor { element: float, shape: source, values })];
        let outputs = computed(&graph, &tensors).expect("it has values");
        let (interpreted, bounded) = &outputs[0];
        for (interpreted, bounded) in interpreted.iter().zip(bounded) {
            match bounded {
                Bounded::Real(value, _) => prop_assert_eq!(value, interpreted),
                // Nothing was combined, or equal numbers were compared.
                Bounded::Undefined => prop_assert!(interpreted.is_nan() || *interpreted == 0.0),
                Bounded::Unknown => {}
                other @ (Bounded::Infinite(_) | Bounded::Truth(_)) => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
