//! `volta.toml`: a case in a folder.
//!
//! Reading is strict: what is not understood is an error at its place, never ignored.

mod reader;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::de::{DeTable, DeValue};
use volta_core::case::{
    Argument, Binding, Contents, Element, Options, Param, ParamKind, Role, ScalarValue, Sign, Which,
    WmmaLayout, bits_of,
};

pub use reader::Problem;
use reader::{Problems, Table, Value, as_integer, as_number, did_you_mean};

use volta_core::number::Extended;

use crate::case::{self, Case, Contains, Expectation, Home, Kernel};
use crate::files;
use crate::limits;

/// The name of the file.
pub const FILE_NAME: &str = "volta.toml";

/// A longer file is not a case.
const MAX_BYTES: u64 = 4 << 20;

/// A case that could not be read.
#[derive(Debug)]
pub struct Unreadable {
    /// The file.
    pub path: PathBuf,
    /// Its text; empty when it could not be opened.
    pub text: String,
    /// What is wrong, in the order of the text.
    pub problems: Vec<Problem>,
}

/// Reads the case in the folder `dir`, below the fixtures' folder `root`.
pub fn load(name: &str, dir: &Path, root: &Path) -> Result<Case, Unreadable> {
    let path = dir.join(FILE_NAME);
    let home = Home {
        file: path.clone(),
        line: None,
        dir: dir.into(),
        root: root.into(),
        snapshot_dir: dir.join("snapshots"),
        snapshot_name: name.rsplit("::").next().unwrap_or(name).into(),
    };
    let unreadable = |text, message: String| {
        let problem = Problem { span: 0..0, message, help: None };
        Unreadable { path: path.clone(), text, problems: vec![problem] }
    };
    // Its lines are shown where they are wrong, and snapshots are written beside it: links must not lead out.
    for own in [&path, &dir.join("snapshots")] {
        if own.exists() && !files::lies_below(own, root) {
            let message = format!("{} leads out of {}", own.display(), root.display());
            return Err(unreadable(String::new(), message));
        }
    }
    let text =
        files::read_text(&path, MAX_BYTES).map_err(|error| unreadable(String::new(), error.to_string()))?;
    parse(name, home, &text).map_err(|problems| Unreadable { path, text, problems })
}

/// Whether the case in `dir` says `slow = true`. A case that cannot be read is not slow: it must be run to fail.
pub fn is_slow(dir: &Path) -> bool {
    let Ok(text) = files::read_text(&dir.join(FILE_NAME), MAX_BYTES) else { return false };
    let Ok(document) = DeTable::parse(&text) else { return false };
    let options = document.get_ref().get("options").and_then(|options| options.get_ref().as_table());
    options.and_then(|options| options.get("slow")?.get_ref().as_bool()).unwrap_or(false)
}

/// Reads the text of a `volta.toml`.
pub fn parse(name: &str, home: Home, text: &str) -> Result<Case, Vec<Problem>> {
    let document = DeTable::parse(text).map_err(|error| {
        let message = error.message().lines().next().unwrap_or("not TOML").to_owned();
        vec![Problem { span: error.span().unwrap_or(0..0), message, help: None }]
    })?;
    let problems = Problems::default();
    let case = read_case(name, home, document.get_ref(), &problems);
    // A case may be about what the verifier says to input that makes no sense.
    let wants_error = case.as_ref().is_some_and(|case| case.expect.verdict == "input-error");
    let problems = problems.into_sorted(wants_error);
    case.filter(|_| problems.is_empty()).ok_or(problems)
}

fn read_case(name: &str, home: Home, document: &DeTable<'_>, problems: &Problems) -> Option<Case> {
    let top = Table::new(document, 0..0, "a case", problems);
    let table = top.table("params");
    let names: Vec<&str> = table.iter().flat_map(Table::entries).map(|(name, _, _)| name).collect();
    let params = table.map(|table| read_params(&table, Binding::Argument, problems));
    if params.is_none() && top.get("params").is_none() && top.get("globals").is_none() {
        problems.add(0..0, "a case needs a table [params]", None);
    }
    let mut params = params.unwrap_or_default();
    if let Some(globals) = top.table("globals") {
        for (name, span, _) in globals.entries().filter(|(name, _, _)| names.contains(name)) {
            problems.add(
                span,
                format!("`{name}` is a parameter already"),
                Some("rename the parameter".into()),
            );
        }
        params.extend(read_params(&globals, Binding::Variable, problems));
    }
    let side = |key| top.table(key).and_then(|table| read_kernel(table, &names, problems));
    let (reference, opt, kernel) = (side("reference"), side("opt"), side("kernel"));
    let has = |key| document.iter().any(|(name, _)| name.get_ref() == key);
    if has("kernel") && (has("opt") || has("reference")) {
        let message = "[kernel] stands alone: a pair is [reference] and [opt]";
        problems.add(top.key_span("kernel"), message, None);
    } else if !has("kernel") && (!has("opt") || !has("reference")) {
        let span = if has("opt") { top.key_span("opt") } else { top.key_span("reference") };
        let message = "a case needs [reference] and [opt], or [kernel] for one kernel alone";
        problems.add(span, message, None);
    }
    let is_pair = has("reference");
    let expect = read_expectation(&top, is_pair, problems);
    let Chosen { options, timeout, slow, snapshots } = read_options(&top, problems);
    let contains = read_contains(&top, is_pair, problems);
    let (description, why) = (top.string("description"), top.string("why"));
    top.finish();
    Some(Case {
        name: name.into(),
        home,
        description,
        why,
        params,
        reference,
        opt: opt.or(kernel)?,
        expect,
        options,
        timeout,
        slow,
        snapshots,
        contains,
    })
}

fn read_params(table: &Table<'_>, binding: Binding, problems: &Problems) -> Vec<Param> {
    let mut params = Vec::new();
    let what = match binding {
        Binding::Argument => "parameter",
        Binding::Variable => "variable",
    };
    for (name, span, value) in table.entries() {
        let Some(entries) = value.get_ref().as_table() else {
            table.wrong_type(value, &format!("the {what} `{name}`"), "a table");
            continue;
        };
        let table = Table::new(entries, span, format!("the {what} `{name}`"), problems);
        if let Some(kind) = read_param(&table, name, binding, problems) {
            params.push(Param { name: name.into(), kind, binding });
        }
        table.finish();
    }
    params
}

fn read_param(table: &Table<'_>, name: &str, binding: Binding, problems: &Problems) -> Option<ParamKind> {
    let types = read_types(table, name, problems);
    let sign = match table.get("assume") {
        None => Some(Sign::Any),
        Some(value) => choose(value, SIGNS, "`assume`", problems),
    };
    // Asking for every key first makes the suggestions for unknown ones complete.
    let (role, shape, contents) = (table.get("role"), table.get("shape"), table.get("contents"));
    let (value, symbolic) = (table.get("value"), table.flag("symbolic"));
    if role.is_none() && shape.is_none() {
        return read_scalar(table, name, types, value, symbolic, sign?, problems);
    }
    if let (Some(role), None, Binding::Variable) = (role, shape, binding)
        && (value.is_some() || symbolic.is_some())
    {
        let scalar = read_scalar(table, name, types, value, symbolic, sign?, problems)?;
        return Some(of_one_element(scalar, choose(role, ROLES, "`role`", problems)?));
    }
    if value.is_some() || symbolic.is_some() {
        let key = if value.is_some() { "value" } else { "symbolic" };
        problems.add(
            table.key_span(key),
            format!("the tensor `{name}` takes no `{key}`; see `contents`"),
            None,
        );
        return None;
    }
    let role = match (role, binding) {
        (Some(role), _) => Some(choose(role, ROLES, "`role`", problems)?),
        (None, Binding::Variable) => Some(Role::In),
        (None, Binding::Argument) => None,
    };
    let Some(role) = role else {
        let help = Some("role = \"in\", \"out\", \"inout\", \"scratch\" or \"ignored\"".into());
        problems.add(table.span.clone(), format!("the tensor `{name}` needs a role"), help);
        return None;
    };
    let Some(shape) = shape else {
        let help = Some("shape = [128] (outermost dimension first; [] is one element)".into());
        problems.add(table.span.clone(), format!("the tensor `{name}` needs a shape"), help);
        return None;
    };
    let shape = read_shape(table, shape)?;
    let (reference, opt) = types?;
    let contents = match contents {
        None if matches!(role, Role::In | Role::InOut) => Contents::Symbolic,
        None => Contents::Undefined,
        Some(value) => read_contents(value, &shape, [reference, opt], problems)?,
    };
    Some(ParamKind::Tensor { reference, opt, shape, role, contents, sign: sign? })
}

/// A tensor of one element that holds a scalar.
fn of_one_element(scalar: ParamKind, role: Role) -> ParamKind {
    let ParamKind::Scalar { element, value } = scalar else { return scalar };
    let (contents, sign) = match value {
        ScalarValue::Number(value) => (Contents::Fill(value), Sign::Any),
        ScalarValue::Symbolic(sign) => (Contents::Symbolic, sign),
    };
    ParamKind::Tensor { reference: element, opt: element, shape: Vec::new(), role, contents, sign }
}

fn read_scalar(
    table: &Table<'_>,
    name: &str,
    types: Option<(Element, Element)>,
    value: Option<Value<'_>>,
    symbolic: Option<bool>,
    sign: Sign,
    problems: &Problems,
) -> Option<ParamKind> {
    let value = match (value, symbolic) {
        (Some(_), Some(true)) => {
            problems.add(table.key_span("symbolic"), format!("`{name}` has a value and is symbolic"), None);
            return None;
        }
        (Some(value), _) => match as_number(value.get_ref()) {
            Some(number) => {
                for element in types.iter().flat_map(|(reference, opt)| [reference, opt]).take(1) {
                    check_number(*element, &number, &value, problems);
                }
                ScalarValue::Number(number)
            }
            None => {
                table.wrong_type(value, "`value`", "a number");
                return None;
            }
        },
        (None, Some(true)) => ScalarValue::Symbolic(sign),
        (None, _) => {
            let help =
                Some("a tensor needs `role` and `shape`, a scalar `value` (or `symbolic = true`)".to_owned());
            problems.add(table.span.clone(), format!("`{name}` is neither a tensor nor a scalar"), help);
            return None;
        }
    };
    let (element, other) = types?;
    if element != other {
        let message = format!("the scalar `{name}` has one type, from its declaration");
        problems.add(table.key_span("type"), message, None);
        return None;
    }
    Some(ParamKind::Scalar { element, value })
}

/// Element types in the reference and in the optimized kernel.
fn read_types(table: &Table<'_>, name: &str, problems: &Problems) -> Option<(Element, Element)> {
    let Some(value) = table.get("type") else {
        let help = Some(format!("type = \"f32\"; there are: {}", ELEMENTS.join(", ")));
        problems.add(table.span.clone(), format!("`{name}` needs a type"), help);
        return None;
    };
    let element = |value: Value<'_>| {
        let Some(text) = value.get_ref().as_str() else {
            table.wrong_type(value, "an element type", "a text");
            return None;
        };
        let element = Element::parse(text);
        if element.is_none() {
            let message = format!("unknown element type `{text}`");
            problems.add(value.span(), message, Some(did_you_mean(text, &ELEMENTS)));
        }
        element
    };
    let Some(sides) = value.get_ref().as_table() else {
        return element(value).map(|element| (element, element));
    };
    let sides = Table::new(sides, value.span(), "`type`", problems);
    let types = (sides.get("ref").or_else(|| sides.get("reference")), sides.get("opt"));
    sides.finish();
    match types {
        (Some(reference), Some(opt)) => Some((element(reference)?, element(opt)?)),
        _ => {
            let help = Some("type = { ref = \"f32\", opt = \"f16\" }".into());
            problems.add(value.span(), "a type by side needs both sides", help);
            None
        }
    }
}

fn read_shape(table: &Table<'_>, value: Value<'_>) -> Option<Vec<u64>> {
    if let Some(length) = as_integer(value.get_ref()) {
        return Some(vec![length]);
    }
    table.list("shape", "a whole number from 0", |item| as_integer(item.get_ref()))
}

/// A number that its type has nothing near is a mistake.
fn check_number(element: Element, number: &Extended, at: &Value<'_>, problems: &Problems) {
    if let Err(message) = bits_of(element, number) {
        problems.add_senseless(at.span(), message, None);
    }
}

fn read_contents(
    value: Value<'_>,
    shape: &[u64],
    types: [Element; 2],
    problems: &Problems,
) -> Option<Contents> {
    let check = |number: &Extended, at: &Value<'_>| {
        let other = (types[0] != types[1]).then_some(types[1]);
        [Some(types[0]), other]
            .into_iter()
            .flatten()
            .for_each(|element| check_number(element, number, at, problems));
    };
    let wrong = |message: String, help: Option<String>| {
        problems.add(value.span(), message, help);
        None
    };
    match value.get_ref() {
        DeValue::String(text) => match text.as_ref() {
            "undefined" => Some(Contents::Undefined),
            "symbolic" => Some(Contents::Symbolic),
            "iota" => Some(Contents::Iota),
            "lower_triangular" if shape.len() < 2 => {
                wrong("`lower_triangular` needs two dimensions or more".into(), None)
            }
            "lower_triangular" => Some(Contents::LowerTriangular),
            other => wrong(format!("unknown contents `{other}`"), Some(did_you_mean(other, &CONTENTS))),
        },
        DeValue::Table(table) => {
            let table = Table::new(table, value.span(), "`contents`", problems);
            let fill =
                table.read("fill", "a number, \"inf\" or \"-inf\"", |value| as_number(value.get_ref()));
            let missing = table.get("fill").is_none();
            table.finish();
            match fill {
                None if missing => wrong("contents are a name, a list or { fill = … }".into(), None),
                fill => {
                    if let Some(number) = &fill {
                        check(number, &value);
                    }
                    fill.map(Contents::Fill)
                }
            }
        }
        DeValue::Array(items) => {
            let mut list = Vec::new();
            for item in items.iter() {
                match as_number(item.get_ref()) {
                    Some(number) => {
                        check(&number, &item);
                        list.push(number);
                    }
                    None => problems.add(item.span(), "an element of `contents` is a number", None),
                }
            }
            let expected = shape.iter().try_fold(1u64, |product, length| product.checked_mul(*length));
            if expected != Some(list.len() as u64) {
                let count = expected.map_or("too many".into(), |count| count.to_string());
                let message = format!("{} numbers for a tensor of {count} elements", list.len());
                problems.add_senseless(value.span(), message, None);
            }
            Some(Contents::List(list))
        }
        _ => wrong("contents are a name, a list or { fill = … }".into(), None),
    }
}

fn read_kernel(table: Table<'_>, names: &[&str], problems: &Problems) -> Option<Kernel> {
    let source = table.string("source");
    if source.is_none() && table.get("source").is_none() {
        let help = Some("source = \"kernel.cu\", or \"kernel.cu::name\" when it has several kernels".into());
        problems.add(table.span.clone(), "a kernel needs a source", help);
    }
    if let Some(source) = &source {
        let (file, _) = case::split_source(source);
        let span = table.get("source").map_or(table.span.clone(), |value| value.span());
        if let Some(message) = wrong_source(file) {
            problems.add(span, message, None);
        }
    }
    let mut kernel = Kernel::new(source.as_deref().unwrap_or_default());
    if let Some(block) = read_extent(&table, "block", problems) {
        kernel.block = block;
    } else if table.get("block").is_none() {
        let help = Some("block = 128, or [16, 16]".into());
        problems.add(table.span.clone(), "a kernel needs a block", help);
    }
    if let Some(grid) = read_extent(&table, "grid", problems) {
        kernel.grid = grid;
    }
    if let Some(shared) = table.integer("shared") {
        match u32::try_from(shared) {
            Ok(shared) => kernel.shared = shared,
            Err(_) => problems.add(table.key_span("shared"), "too much shared memory", None),
        }
    }
    let text = |value: Value<'_>| value.get_ref().as_str().map(str::to_owned);
    kernel.ctas = table.list("ctas", "a whole number from 0", |value| as_integer(value.get_ref()));
    kernel.flags = table.list("flags", "a text", text).unwrap_or_default();
    if let Some(arch) = table.string("arch") {
        kernel.arch = arch;
    }
    kernel.args = table.list("args", "a parameter's name or a number", |value| {
        if let Some(number) = as_number(value.get_ref()) {
            return Some(Argument::Literal(number));
        }
        let name = value.get_ref().as_str()?;
        if !names.contains(&name) {
            let message = format!("no parameter is called `{name}`");
            problems.add_senseless(value.span(), message, Some(did_you_mean(name, names)));
        }
        Some(Argument::Named(name.into()))
    });
    table.finish();
    source.map(|_| kernel)
}

/// What is wrong with the path of a source.
pub fn wrong_source(file: &str) -> Option<String> {
    if !file.ends_with(".cu") && !file.ends_with(".ptx") {
        return Some(format!("`{file}` is neither a .cu nor a .ptx file"));
    }
    Path::new(file).is_absolute().then(|| format!("`{file}` is absolute; paths are relative to the case"))
}

/// One to three numbers, each at least 1.
fn read_extent(table: &Table<'_>, key: &'static str, problems: &Problems) -> Option<[u32; 3]> {
    let value = table.get(key)?;
    let sizes: Vec<Option<u64>> = match value.get_ref() {
        DeValue::Array(items) => items.iter().map(|item| as_integer(item.get_ref())).collect(),
        single => vec![as_integer(single)],
    };
    let sizes: Option<Vec<u32>> = sizes.into_iter().map(|size| u32::try_from(size?).ok()).collect();
    let message = format!("`{key}` is a whole number from 1, or a list of one to three of them");
    if sizes.as_ref().is_some_and(|sizes| sizes.contains(&0)) {
        problems.add_senseless(value.span(), message.clone(), None);
    }
    match sizes.as_deref() {
        Some(&[x]) => Some([x, 1, 1]),
        Some(&[x, y]) => Some([x, y, 1]),
        Some(&[x, y, z]) => Some([x, y, z]),
        _ => {
            problems.add(value.span(), message, None);
            None
        }
    }
}

fn read_expectation(top: &Table<'_>, is_pair: bool, problems: &Problems) -> Expectation {
    let mut expect = Expectation::of(if is_pair { "equivalent" } else { "clean" });
    let Some(value) = top.get("expect") else { return expect };
    let mut verdict = |value: Value<'_>, text: &str| {
        let names = case::verdict_names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if !names.contains(&text) {
            let message = format!("unknown verdict `{text}`");
            problems.add(value.span(), message, Some(did_you_mean(text, &names)));
        } else if let Some(message) = impossible_verdict(text, is_pair) {
            problems.add(value.span(), message, None);
        }
        expect.verdict = text.into();
    };
    match value.get_ref() {
        DeValue::String(text) => verdict(value, text),
        DeValue::Table(entries) => {
            let table = Table::new(entries, value.span(), "`expect`", problems);
            match (table.get("verdict"), table.string("verdict")) {
                (Some(value), Some(text)) => verdict(value, &text),
                (None, _) => problems.add(value.span(), "`expect` needs a verdict", None),
                (Some(_), None) => {}
            }
            expect.side = table.get("side").and_then(|value| choose(value, SIDES, "`side`", problems));
            expect.rule = table.string("rule");
            expect.lines = table
                .list("lines", "a line number", |value| u32::try_from(as_integer(value.get_ref())?).ok())
                .map(|lines| lines.into_iter().collect());
            table.finish();
        }
        _ => top.wrong_type(value, "`expect`", "a verdict's name or a table"),
    }
    expect
}

/// Why a case of this kind cannot have that verdict.
pub fn impossible_verdict(verdict: &str, is_pair: bool) -> Option<String> {
    let only_pairs = ["equivalent", "equivalent-where", "different"].contains(&verdict);
    if is_pair && verdict == "clean" {
        return Some("`clean` is for one kernel alone; a pair is `equivalent`".into());
    }
    (!is_pair && only_pairs)
        .then(|| format!("`{verdict}` is for pairs; one kernel alone is `clean`, or a fault's name"))
}

/// What stands under `[options]`.
struct Chosen {
    options: Options,
    timeout: Option<Duration>,
    slow: bool,
    snapshots: bool,
}

fn read_options(top: &Table<'_>, problems: &Problems) -> Chosen {
    let mut options = Options { budgets: limits::budgets(), ..Options::default() };
    let Some(table) = top.table("options") else {
        return Chosen { options, timeout: None, slow: false, snapshots: true };
    };
    options.partial = table.flag("partial").unwrap_or(false);
    options.exit_orders_memory = table.flag("exit_orders_memory").unwrap_or(false);
    options.strict_barriers = table.flag("strict_barriers").unwrap_or(false);
    options.warp_collectives_order_memory = table.flag("warp_collectives_order_memory").unwrap_or(false);
    if let Some(layout) = table.string("wmma_layout")
        && let Err(message) = set_wmma_layout(&mut options, &layout)
    {
        problems.add(table.key_span("wmma_layout"), message, None);
    }
    for key in BUDGETS {
        if let Some(value) = table.integer(key)
            && let Err(message) = set_budget(&mut options, key, value)
        {
            problems.add(table.key_span(key), message, None);
        }
    }
    let timeout = table.string("timeout").and_then(|text| match limits::timeout(&text) {
        Ok(timeout) => Some(timeout),
        Err(message) => {
            problems.add(table.key_span("timeout"), message, None);
            None
        }
    });
    let slow = table.flag("slow").unwrap_or(false);
    let snapshots = table.flag("snapshot").unwrap_or(true);
    table.finish();
    Chosen { options, timeout, slow, snapshots }
}

/// Sets where the elements of `wmma` fragments lie: as on an architecture.
pub fn set_wmma_layout(options: &mut Options, architecture: &str) -> Result<(), String> {
    match architecture {
        "sm_80" => options.wmma_layout = WmmaLayout::Sm80,
        other => return Err(format!("`wmma_layout` is \"sm_80\", not \"{other}\"")),
    }
    Ok(())
}

/// The options that raise or lower a limit.
pub const BUDGETS: [&str; 6] = [
    "max_instructions",
    "max_memory_bytes",
    "max_block_threads",
    "max_ctas",
    "max_algebra_steps",
    "max_program_size",
];

/// Sets the limit that the option `key` names.
pub fn set_budget(options: &mut Options, key: &str, value: u64) -> Result<(), String> {
    let budgets = &mut options.budgets;
    let limit = match key {
        "max_instructions" => &mut budgets.instructions,
        "max_memory_bytes" => &mut budgets.memory_bytes,
        "max_block_threads" => &mut budgets.block_threads,
        "max_ctas" => &mut budgets.ctas,
        "max_algebra_steps" => &mut budgets.algebra_steps,
        "max_program_size" => &mut budgets.program_size,
        other => return Err(format!("no limit is called `{other}`")),
    };
    *limit = value;
    Ok(())
}

fn read_contains(top: &Table<'_>, is_pair: bool, problems: &Problems) -> Vec<Contains> {
    let Some(value) = top.get("contains") else { return Vec::new() };
    let Some(items) = value.get_ref().as_array() else {
        top.wrong_type(value, "`contains`", "a list of tables: [[contains]]");
        return Vec::new();
    };
    let read = |item: Value<'_>| {
        let Some(entries) = item.get_ref().as_table() else {
            top.wrong_type(item, "an element of `contains`", "a table");
            return None;
        };
        let table = Table::new(entries, item.span(), "[[contains]]", problems);
        let side = table.get("side");
        let side = side.map_or(Some(Which::Opt), |value| choose(value, SIDES, "`side`", problems));
        let (text, count) = (table.string("text"), table.integer("count").unwrap_or(1));
        if text.is_none() {
            problems.add(item.span(), "[[contains]] needs a text", None);
        }
        if side == Some(Which::Reference) && !is_pair {
            problems.add(table.key_span("side"), "this case has no reference", None);
        }
        table.finish();
        Some(Contains { side: side?, text: text?, count })
    };
    items.iter().filter_map(read).collect()
}

/// The value that a name stands for.
fn choose<T: Copy>(value: Value<'_>, choices: &[(&str, T)], what: &str, problems: &Problems) -> Option<T> {
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let Some(text) = value.get_ref().as_str() else {
        problems.add(value.span(), format!("{what} is one of: {}", names.join(", ")), None);
        return None;
    };
    let found = choices.iter().find(|(name, _)| *name == text);
    if found.is_none() {
        let message = format!("{what} is not `{text}`");
        problems.add(value.span(), message, Some(did_you_mean(text, &names)));
    }
    found.map(|(_, choice)| *choice)
}

/// Roles by name.
pub const ROLES: &[(&str, Role)] = &[
    ("in", Role::In),
    ("out", Role::Out),
    ("inout", Role::InOut),
    ("scratch", Role::Scratch),
    ("ignored", Role::Ignored),
];

/// Sign assumptions by name.
pub const SIGNS: &[(&str, Sign)] = &[
    ("positive", Sign::Positive),
    ("nonnegative", Sign::NonNegative),
    ("negative", Sign::Negative),
    ("nonpositive", Sign::NonPositive),
    ("nonzero", Sign::Nonzero),
];

const SIDES: &[(&str, Which)] =
    &[("reference", Which::Reference), ("opt", Which::Opt), ("kernel", Which::Opt)];

const ELEMENTS: [&str; 16] = [
    "f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "i8", "i16", "i32", "i64", "u8", "u16", "u32",
    "u64", "bool",
];

const CONTENTS: [&str; 4] = ["undefined", "symbolic", "iota", "lower_triangular"];

/// Where a span begins, as `line:column` from 1.
pub fn position(text: &str, span: &Range<usize>) -> (usize, usize) {
    let before = text.get(..span.start.min(text.len())).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests;
