//! `volta.toml`: a case in a folder.
//!
//! Reading is strict: an unknown key or a wrong value is an error with its span, never ignored.

mod args;
mod document;
mod expression;
mod family;
pub mod graph;
mod guesses;
mod initial;
mod locate;
pub(crate) mod parts;
mod reader;
mod side;
mod structs;

use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use toml::de::{DeTable, DeValue};
use volta_case::{
    About, CASE, Claim, DOCUMENT, FORMAT_VERSION, InputProblem, Options, PARAM, Section, Shard, TYPE,
    TensorMap, Value as Given, VerdictName, Word, Wrong, choose, spellings,
};
use volta_core::case::{
    Assumed, Binding, Comparison, Contents, Element, Elements, Param, ParamKind, Role, ScalarValue, Sign,
    Which, bits_of,
};

use args::Known;
pub(crate) use expression::{Even, Quantity, Unequal};
pub(crate) use family::{MOST_PERIOD, too_long};
use initial::read_contents;
pub use locate::locate;
pub use reader::Problem;
use reader::{Problems, Table, Value, as_integer, as_number};
use side::Names;
pub(crate) use side::{MOST_RUNS, graph_of};

use volta_core::number::Extended;
use volta_core::verdict::CasePart;

use crate::case::{AtSize, Case, Contains, DataFile, Every, Expectation, Home};
use crate::contents;
use crate::files;
use crate::limits;
use crate::number;

/// The name of the file.
pub const FILE_NAME: &str = "volta.toml";

/// A longer file is not read.
const MAX_BYTES: u64 = 4 << 20;

/// A case that could not be read.
#[derive(Debug)]
pub struct Unreadable {
    /// The file.
    pub path: PathBuf,
    /// Its text; empty when it could not be opened.
    pub text: String,
    /// The problems, in the order of the text.
    pub problems: Vec<Problem>,
}

/// Reads the case in the folder `dir`, below the fixtures' folder `root`.
pub fn load(name: &str, dir: &Path, root: &Path) -> Result<Case, Unreadable> {
    let path = dir.join(FILE_NAME);
    let home = Home {
        file: path.clone(),
        document: None,
        line: None,
        dir: dir.into(),
        root: root.into(),
        snapshot_dir: dir.join("snapshots"),
        snapshot_name: last(Shard::split(name).0).into(),
    };
    let unreadable = |text, message: String| {
        let problem = Problem { span: 0..0, kind: InputProblem::FileUnreadable, message, help: None };
        Unreadable { path: path.clone(), text, problems: vec![problem] }
    };
    // Messages show lines of the file, and snapshots are written beside it: links must not lead out of the root.
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

/// The last part of a name.
fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// How the names of the cases in `dir` go on behind that of the folder: nothing where there is one, else a member of its
/// family, a part, or both.
pub fn tests(dir: &Path) -> Vec<String> {
    let text = files::read_text(&dir.join(FILE_NAME), MAX_BYTES).unwrap_or_default();
    let document = document::parse(&text);
    let document = document.as_ref().ok();
    let parts = |plain: String, member: &str| -> Vec<String> {
        let shards = document.and_then(|document| parts::count(document, member)).unwrap_or(1);
        match shards {
            0 | 1 => vec![plain],
            of => Shard::all(of).map(|shard| format!("{plain}/{shard}")).collect(),
        }
    };
    let members = members_of(&text);
    if members.is_empty() {
        return parts(String::new(), "");
    }
    members.iter().flat_map(|member| parts(format!("::{member}"), member)).collect()
}

/// The names of the members of the family in the text of a `volta.toml`.
pub fn members_of(text: &str) -> Vec<String> {
    let Ok(document) = document::parse(text) else { return Vec::new() };
    let family = family::read(&document).unwrap_or_default();
    // What is wrong already in the first member is told once.
    if family.members().next().is_some_and(|first| family::replaced(&document, &first).is_err()) {
        return Vec::new();
    }
    family.members().map(|member| member.to_string()).collect()
}

/// Whether the case in `dir` says `slow = true`. A case that cannot be read is not slow: it must be run to fail.
pub fn is_slow(dir: &Path) -> bool {
    let Ok(text) = files::read_text(&dir.join(FILE_NAME), MAX_BYTES) else { return false };
    let Ok(document) = DeTable::parse(&text) else { return false };
    let options = document.get_ref().get("options").and_then(|options| options.get_ref().as_table());
    options.and_then(|options| options.get("slow")?.get_ref().as_bool()).unwrap_or(false)
}

/// Reads the text of a `volta.toml`. Of a family, the member is read that ends the name.
pub fn parse(name: &str, home: Home, text: &str) -> Result<Case, Vec<Problem>> {
    let plain = document::parse(text)?;
    let family = family::read(&plain)?;
    let Some(first) = family.members().next() else { return read(name, home, text, &plain) };
    let wanted = last(Shard::split(name).0);
    let Some(member) = family.member(wanted) else {
        family::replaced(&plain, &first)?;
        let message = format!("`{wanted}` is no member of this family, which has {}", family.count());
        let help = Some(format!("the first one is `{first}`"));
        return Err(vec![Problem { span: 0..0, kind: InputProblem::WrongValue, message, help }]);
    };
    let every = family::any(&member).map(|(variable, least)| Every {
        variable: variable.to_owned(),
        least: least.unsigned_abs(),
        periods: family::periods(&plain, &member),
        source: AtSize::Text(text.into(), name.to_owned(), home.clone()),
    });
    let replaced = family::replaced(&plain, &member)?;
    let mut document = plain;
    replaced.apply(&mut document);
    let mut case = read(name, home, text, &document)?;
    // The forms of all sizes are not for reading.
    case.options.run.snapshot = false;
    case.every = every;
    Ok(case)
}

/// The member with a name of a family, its text, at one size of a variable that is every number.
pub(crate) fn at_size(
    (text, name, home): (&str, &str, &Home),
    variable: &str,
    size: u64,
) -> Result<Case, String> {
    let told =
        |problems: Vec<Problem>| problems.into_iter().next().map_or(String::new(), |problem| problem.message);
    let plain = document::parse(text).map_err(told)?;
    let family = family::read(&plain).map_err(told)?;
    let member = family.member(last(Shard::split(name).0)).ok_or("there is no such member")?;
    let value = i64::try_from(size).map_err(|_| format!("{size} is too large for {variable}"))?;
    let member = member.with(variable, family::Bound::Number(value));
    let replaced = family::replaced(&plain, &member).map_err(told)?;
    let mut document = plain;
    replaced.apply(&mut document);
    read(name, home.clone(), text, &document).map_err(told)
}

fn read(name: &str, home: Home, text: &str, document: &DeTable<'_>) -> Result<Case, Vec<Problem>> {
    let problems = Problems::default();
    let top = Table::new(document, 0..0, "a case", CASE.iter().chain(About::keys()), &problems);
    let mut case = read_case(name, home, top, &problems);
    case.iter_mut().for_each(|case| case.guesses = guesses::marked(text, document));
    finished(case, problems)
}

/// A case with the texts of its sources, as `cargo volta check --stdin` reads it.
pub struct Document {
    /// The case; its sources are files below its root, to be written there before it runs.
    pub case: Case,
    /// The sources and contents: path, as the case names it, and bytes.
    pub sources: Vec<(String, Vec<u8>)>,
}

/// Reads a case with the texts of its sources, which will lie in the folder `root`: TOML, or JSON of the same keys.
pub fn parse_document(text: &str, root: &Path) -> Result<Document, Vec<Problem>> {
    let document = document::parse(text)?;
    let problems = Problems::default();
    let keys = CASE.iter().chain(About::keys()).chain(DOCUMENT);
    let top = Table::new(&document, 0..0, "a case with its sources", keys, &problems);
    let name = top.string("name").unwrap_or_else(|| DOCUMENT_NAME.into());
    if top.get(family::KEY).is_some() {
        let help = "a family lies in a folder; write a document for each member";
        problems.add(top.key_span(family::KEY), "a document holds one case", Some(help.into()));
    }
    let sources = match top.table("sources", []) {
        Some(table) => read_sources(&table, &problems),
        None if top.get("sources").is_some() => Vec::new(),
        None => {
            let help = "\"sources\": { \"kernel.ptx\": \"…\" }, the texts by the names used in `source`";
            problems.add_missing(0..0, "a document needs its sources", Some(help.into()));
            Vec::new()
        }
    };
    let home = Home {
        file: DOCUMENT_NAME.into(),
        document: Some(text.into()),
        dir: root.into(),
        root: root.into(),
        ..Home::default()
    };
    let names_are_good = problems.is_empty();
    let mut case = read_case(&name, home, top, &problems);
    case.iter_mut().for_each(|case| case.guesses = guesses::marked(text, &document));
    for (side, step, kernel) in case.iter().flat_map(Case::kernels).filter(|_| names_are_good) {
        let file = &kernel.source;
        if !sources.iter().any(|(name, _)| name == file) {
            let names: Vec<&str> = sources.iter().map(|(name, _)| name.as_str()).collect();
            let Wrong { message, help } =
                Wrong::unknown(format!("there is no source `{file}`"), file, &names);
            let span = locate(text, Some((side, step)), &CasePart::Key("source".into())).unwrap_or(0..0);
            problems.add(span, message, help);
        }
    }
    for DataFile { of, file } in case.iter().flat_map(|case| &case.data).filter(|_| names_are_good) {
        if !sources.iter().any(|(name, _)| name == file) {
            let help = format!("\"sources\": {{ \"{file}\": {{ \"base64\": \"…\" }} }}");
            let span = locate(text, None, &CasePart::Parameter(of.clone())).unwrap_or(0..0);
            problems.add(span, format!("there is no source `{file}`"), Some(help));
        }
    }
    Ok(Document { case: finished(case, problems)?, sources })
}

/// The name of a document that gives none.
const DOCUMENT_NAME: &str = "stdin";

fn read_sources(table: &Table<'_>, problems: &Problems) -> Vec<(String, Vec<u8>)> {
    let mut sources = Vec::new();
    for (name, span, value) in table.entries() {
        let is_plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        if name.is_empty() || !is_plain || name.contains(['\\', '\0']) {
            let message = format!("`{name}` is not a name for a source");
            let help = "a path without `..` that does not begin with `/`, such as kernel.ptx";
            problems.add(span, message, Some(help.into()));
            continue;
        }
        let bytes = match value.get_ref() {
            DeValue::String(text) => Some(text.as_bytes().to_vec()),
            DeValue::Table(own) => entry(own, "base64")
                .filter(|_| own.len() == 1)
                .and_then(DeValue::as_str)
                .and_then(contents::of_base64),
            DeValue::Array(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => None,
        };
        match bytes {
            Some(bytes) => sources.push((name.to_owned(), bytes)),
            None => table.wrong_type(
                value,
                &format!("the source `{name}`"),
                "a text, or { base64 = \"…\" } for contents of a tensor",
            ),
        }
    }
    sources
}

/// The case, or the problems that were found.
fn finished(case: Option<Case>, problems: Problems) -> Result<Case, Vec<Problem>> {
    // A case that expects `input-error` passes inconsistent input on to the verifier.
    let wants_error = case.as_ref().is_some_and(|case| case.expect.verdict == VerdictName::InputError);
    let problems = problems.into_sorted(wants_error);
    case.filter(|_| problems.is_empty()).ok_or(problems)
}

/// Advice on sizes.
const SIZES: &str =
    "sizes must be numbers, since a case is verified at one size: shape = [128]; for several, see [family]";

fn read_case(name: &str, home: Home, top: Table<'_>, problems: &Problems) -> Option<Case> {
    read_version(&top, problems)?;
    let table = top.table("params", []);
    let names: Vec<&str> = table.iter().flat_map(Table::entries).map(|(name, _, _)| name).collect();
    let params = table.map(|table| read_params(&table, Binding::Argument, &names, problems));
    if params.is_none() && top.get("params").is_none() && top.get("globals").is_none() {
        problems.add_missing(0..0, "a case needs a table [params]", None);
    }
    let mut params = params.unwrap_or_default();
    if let Some(globals) = top.table("globals", []) {
        for (name, span, _) in globals.entries().filter(|(name, _, _)| names.contains(name)) {
            problems.add(
                span,
                format!("`{name}` is a parameter already"),
                Some("rename the parameter".into()),
            );
        }
        params.extend(read_params(&globals, Binding::Variable, &names, problems));
    }
    let data = data_files(&top);
    let maps =
        top.table("tensor_maps", []).map(|maps| read_maps(&maps, &names, problems)).unwrap_or_default();
    let known = Names { params: &names, values: &params, maps: &maps, problems };
    let side = |key| known.side(&top, key);
    let (reference, opt, kernel) = (side("reference"), side("opt"), side("kernel"));
    let has = |key| top.get(key).is_some();
    if has("kernel") && (has("opt") || has("reference")) {
        let message = "[kernel] stands alone: a pair is [reference] and [opt]";
        problems.add(top.key_span("kernel"), message, None);
    } else if !has("kernel") && (!has("opt") || !has("reference")) {
        let span = if has("opt") { top.key_span("opt") } else { top.key_span("reference") };
        let message = "a case needs [reference] and [opt], or [kernel] for one kernel alone";
        problems.add_missing(span, message, None);
    }
    let is_pair = has("reference");
    let mut options = Options { limits: limits::of_machine(), ..Options::default() };
    if let Some(table) = top.table("options", Options::keys()) {
        table.section(&mut options);
        table.finish();
    }
    let expect = read_expectation(&top, is_pair, options.rules.claim, problems);
    let shard = parts::part(name, &options, expect.verdict, is_pair);
    let shard = shard.unwrap_or_else(|Wrong { message, help }| {
        let options = top.table("options", Options::keys());
        let span = options.map_or(0..0, |options| options.value_span("shards"));
        problems.add(span, message, help);
        None
    });
    // Its forms are those of a share.
    options.run.snapshot &= shard.is_none();
    let contains = read_contains(&top, is_pair, problems);
    let description = top.string("description");
    let mut about = About::default();
    top.section(&mut about);
    top.finish();
    Some(Case {
        name: name.into(),
        home,
        description,
        about,
        params,
        reference,
        opt: opt.or(kernel)?,
        expect,
        options,
        recheck: 0,
        contains,
        guesses: Vec::new(),
        data,
        shard,
        every: None,
    })
}

/// The value of a key.
fn entry<'d, 't>(table: &'d DeTable<'t>, key: &str) -> Option<&'d DeValue<'t>> {
    table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value.get_ref())
}

/// The files with contents that the parameters and the variables of a case name.
fn data_files(top: &Table<'_>) -> Vec<DataFile> {
    let mut found = Vec::new();
    let mut add = |name: String, table: &DeTable<'_>| {
        let file = entry(table, "contents").and_then(DeValue::as_str).filter(|text| contents::is_file(text));
        found.extend(file.map(|file| DataFile { of: name, file: file.to_owned() }));
    };
    let tables = ["params", "globals"].into_iter().filter_map(|key| top.get(key)?.get_ref().as_table());
    for (name, value) in tables.flat_map(|table| table.iter()) {
        let Some(table) = value.get_ref().as_table() else { continue };
        add(name.get_ref().to_string(), table);
        // The fields of a struct have contents of their own.
        let fields = entry(table, "type").and_then(DeValue::as_table);
        for (field, value) in fields.into_iter().flat_map(|fields| fields.iter()) {
            if let Some(table) = value.get_ref().as_table() {
                add(format!("{}.{}", name.get_ref(), field.get_ref()), table);
            }
        }
    }
    found
}

/// The parameters or variables of a table; `names` are those of parameters, to which pointers may point.
fn read_params(table: &Table<'_>, binding: Binding, names: &[&str], problems: &Problems) -> Vec<Param> {
    let mut params = Vec::new();
    let what = match binding {
        Binding::Variable => "variable",
        Binding::Argument | Binding::Field(_) => "parameter",
    };
    for (name, span, value) in table.entries() {
        let Some(entries) = value.get_ref().as_table() else {
            table.wrong_type(value, &format!("the {what} `{name}`"), "a table");
            continue;
        };
        let table = Table::new(entries, span, format!("the {what} `{name}`"), PARAM, problems);
        if let Some(list) = table.get("pointers") {
            let known = Known { names, maps: &[], problems };
            params.extend(known.pointers(&table, name, list).map(|kind| Param::new(name, kind, binding)));
        } else if let Some(fields) = structs::fields(&table, problems) {
            params.extend(structs::read(&table, name, &fields, binding, problems).into_iter().flatten());
        } else if let Some(kind) = read_param(&table, name, binding, problems) {
            let compare = read_comparison(&table, &kind, problems);
            params.push(Param { compare, ..Param::new(name, kind, binding) });
        }
        table.finish();
    }
    params
}

fn read_param(table: &Table<'_>, name: &str, binding: Binding, problems: &Problems) -> Option<ParamKind> {
    let types = read_types(table, name, problems);
    let assumed = read_assumed(table, types, problems);
    let (role, shape, contents) = (table.get("role"), table.get("shape"), table.get("contents"));
    let (value, symbolic) = (table.get("value"), table.flag("symbolic"));
    if role.is_none() && shape.is_none() {
        return read_scalar(table, name, types, value, symbolic, assumed?, problems);
    }
    if let (Some(role), None, Binding::Variable) = (role, shape, binding)
        && (value.is_some() || symbolic.is_some())
    {
        let scalar = read_scalar(table, name, types, value, symbolic, assumed?, problems)?;
        return Some(of_one_element(scalar, read_word(role, "`role`", problems)?));
    }
    if value.is_some() || symbolic.is_some() {
        let key = if value.is_some() { "value" } else { "symbolic" };
        problems.add(
            table.key_span(key),
            format!("a tensor has no `{key}`, as given for `{name}`; see `contents`"),
            None,
        );
        return None;
    }
    let role = match (role, binding) {
        (Some(role), _) => Some(read_word(role, "`role`", problems)?),
        (None, Binding::Variable) => Some(Role::In),
        (None, Binding::Argument | Binding::Field(_)) => None,
    };
    let Some(role) = role else {
        let help = Some("role = \"in\", \"out\", \"inout\", \"scratch\" or \"ignored\"".into());
        problems.add_missing(table.span.clone(), format!("the tensor `{name}` needs a role"), help);
        return None;
    };
    let Some(shape) = shape else {
        let help = Some("shape = [128] (outermost dimension first; [] is one element)".into());
        problems.add_missing(table.span.clone(), format!("the tensor `{name}` needs a shape"), help);
        return None;
    };
    let shape = read_shape(table, shape, problems)?;
    let (reference, opt) = types?;
    let contents = match contents {
        None => Contents::of_role(role),
        Some(value) => read_contents(value, &shape, [reference, opt], problems)?,
    };
    Some(ParamKind::Tensor { reference, opt, shape, role, contents, assumed: assumed? })
}

/// How the elements of a parameter are compared.
fn read_comparison(table: &Table<'_>, kind: &ParamKind, problems: &Problems) -> Comparison {
    let Some(value) = table.get("compare") else { return Comparison::Each };
    let compare = read_word(value, "`compare`", problems).unwrap_or_default();
    if compare != Comparison::Each && !matches!(kind, ParamKind::Tensor { role: Role::Out, .. }) {
        let help = Some("only what is written may be in any order: role = \"out\"".into());
        problems.add(table.key_span("compare"), "`compare` is for `out` tensors".to_owned(), help);
        return Comparison::Each;
    }
    compare
}

/// A tensor of one element that holds a scalar.
fn of_one_element(scalar: ParamKind, role: Role) -> ParamKind {
    let ParamKind::Scalar { element, value } = scalar else { return scalar };
    let (contents, assumed) = match value {
        ScalarValue::Number(value) => (Contents::Fill(value), Assumed::default()),
        ScalarValue::Symbolic(assumed) => (Contents::Symbolic, assumed),
    };
    ParamKind::Tensor { reference: element, opt: element, shape: Vec::new(), role, contents, assumed }
}

/// What a parameter, or a field of one, assumes of its symbolic elements.
fn read_assumed(
    table: &Table<'_>,
    types: Option<(Element, Element)>,
    problems: &Problems,
) -> Option<Assumed> {
    let sign = match table.get("assume") {
        None => Sign::Any,
        Some(value) => read_word(value, "`assume`", problems)?,
    };
    let elements = match table.get("elements") {
        None => Elements::Any,
        Some(value) => read_word(value, "`elements`", problems)?,
    };
    let is_float = |element: Element| matches!(element, Element::Float(_));
    if elements != Elements::Any && types.is_some_and(|(one, other)| is_float(one) && is_float(other)) {
        problems.add(table.key_span("elements"), "`elements` is for tensors of integers".to_owned(), None);
        return None;
    }
    let Some(value) = table.get("range") else {
        return Some(Assumed { sign, elements, ..Assumed::default() });
    };
    if types.is_some_and(|(one, other)| is_float(one) && is_float(other)) {
        let ends = value.get_ref().as_array().map(|ends| {
            let number = |end: &DeValue<'_>| as_number(end).as_ref().map(number::nearest);
            ends.iter().map(|end| number(end.get_ref())).collect::<Vec<_>>()
        });
        let Some([Some(least), Some(greatest)]) = ends.as_deref() else {
            table.wrong_type(value, "`range`", "the least and the greatest number: [-8, 8]");
            return None;
        };
        return Some(Assumed { sign, floats: Some([*least, *greatest]), elements, ..Assumed::default() });
    }
    let ends = value.get_ref().as_array().map(|ends| {
        let integer = |end: &DeValue<'_>| as_number(end)?.finite()?.to_i64();
        ends.iter().map(|end| integer(end.get_ref())).collect::<Vec<_>>()
    });
    let Some([Some(least), Some(greatest)]) = ends.as_deref() else {
        table.wrong_type(value, "`range`", "the least and the greatest integer: [0, 9]");
        return None;
    };
    Some(Assumed { sign, range: Some([*least, *greatest]), elements, ..Assumed::default() })
}

fn read_scalar(
    table: &Table<'_>,
    name: &str,
    types: Option<(Element, Element)>,
    value: Option<Value<'_>>,
    symbolic: Option<bool>,
    assumed: Assumed,
    problems: &Problems,
) -> Option<ParamKind> {
    let value = match (value, symbolic) {
        (Some(_), Some(true)) => {
            problems.add(
                table.key_span("symbolic"),
                format!("`{name}` has both a value and `symbolic`"),
                None,
            );
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
        (None, Some(true)) => ScalarValue::Symbolic(assumed),
        (None, _) if assumed.range.is_some() => {
            problems.add_missing(
                table.span.clone(),
                format!("`{name}` has a `range`, and neither a value nor `symbolic = true`"),
                Some("a scalar that may be any number of its range is `symbolic = true`; a tensor has a `role` and a `shape`".to_owned()),
            );
            return None;
        }
        (None, _) => {
            let help =
                Some("a tensor needs `role` and `shape`, a scalar `value` (or `symbolic = true`)".to_owned());
            problems.add_missing(
                table.span.clone(),
                format!("`{name}` is neither a tensor nor a scalar"),
                help,
            );
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
        let help = Some(format!("type = \"f32\"; there are: {}", spellings::<Element>().join(", ")));
        problems.add_missing(table.span.clone(), format!("`{name}` needs a type"), help);
        return None;
    };
    let element = |value: Value<'_>| {
        let Some(text) = value.get_ref().as_str() else {
            table.wrong_type(value, "an element type", "a text");
            return None;
        };
        read_choice(choose(text, || format!("unknown element type `{text}`")), &value, problems)
    };
    let Some(sides) = value.get_ref().as_table() else {
        return element(value).map(|element| (element, element));
    };
    let sides = Table::new(sides, value.span(), "`type`", TYPE, problems);
    let types = (sides.get("ref").or_else(|| sides.get("reference")), sides.get("opt"));
    sides.finish();
    match types {
        (Some(reference), Some(opt)) => Some((element(reference)?, element(opt)?)),
        _ => {
            let help = Some("type = { ref = \"f32\", opt = \"f16\" }".into());
            problems.add_missing(value.span(), "a type by side needs both sides", help);
            None
        }
    }
}

fn read_shape(table: &Table<'_>, value: Value<'_>, problems: &Problems) -> Option<Vec<u64>> {
    if let Some(length) = as_integer(value.get_ref()) {
        return Some(vec![length]);
    }
    let shape = table.list("shape", "a whole number from 0", |item| as_integer(item.get_ref()));
    for name in value.get_ref().as_array().into_iter().flatten().filter(|item| item.get_ref().is_str()) {
        problems.advise(name.span(), SIZES);
    }
    shape
}

/// Reports a number that its type cannot represent, not even rounded.
fn check_number(element: Element, number: &Extended, at: &Value<'_>, problems: &Problems) {
    if let Err(message) = bits_of(element, number) {
        problems.add_senseless(at.span(), message, None);
    }
}

/// Tensor maps, by name.
fn read_maps(table: &Table<'_>, names: &[&str], problems: &Problems) -> Vec<(String, TensorMap)> {
    let mut maps = Vec::new();
    for (name, span, value) in table.entries() {
        let what = format!("the tensor map `{name}`");
        let Some(entries) = value.get_ref().as_table() else {
            table.wrong_type(value, &what, "a table");
            continue;
        };
        if names.contains(&name) {
            let help = Some("rename the tensor map".into());
            problems.add(span.clone(), format!("`{name}` is a parameter already"), help);
        }
        let table = Table::new(entries, span, what, TensorMap::keys(), problems);
        let mut map = TensorMap::default();
        table.section(&mut map);
        for (key, help) in [("of", "of = \"a\""), ("box", "box = [64, 64]")] {
            if table.get(key).is_none() {
                let message = format!("the tensor map `{name}` needs `{key}`");
                problems.add_missing(table.span.clone(), message, Some(help.into()));
            }
        }
        if let Some(of) = table.get("of").filter(|_| !names.contains(&map.of.as_str())) {
            let wrong = Wrong::unknown(format!("there is no parameter `{}`", map.of), &map.of, names);
            problems.add(of.span(), wrong.message, wrong.help);
        }
        table.finish();
        maps.push((name.to_owned(), map));
    }
    maps
}

/// Checks the version of the format; of a case in another version, nothing else is read.
fn read_version(top: &Table<'_>, problems: &Problems) -> Option<()> {
    let Some(value) = top.get("version") else { return Some(()) };
    match as_integer(value.get_ref()) {
        Some(FORMAT_VERSION) => return Some(()),
        Some(newer @ FORMAT_VERSION..) => {
            let message =
                format!("this case is in version {newer} of the format, which this program cannot read");
            let help = format!(
                "install a newer Volta: this one, {}, reads version {FORMAT_VERSION}",
                env!("CARGO_PKG_VERSION")
            );
            problems.add(value.span(), message, Some(help));
        }
        Some(_) | None => top.wrong_type(value, "`version`", &FORMAT_VERSION.to_string()),
    }
    None
}

fn read_expectation(top: &Table<'_>, is_pair: bool, claim: Claim, problems: &Problems) -> Expectation {
    let mut expect = Expectation { verdict: VerdictName::passing(is_pair, claim), ..Expectation::default() };
    let Some(value) = top.get("expect") else { return expect };
    match value.get_ref() {
        DeValue::String(text) => {
            let set = expect.set("verdict", Given::Text(text.to_string()));
            if let Err(wrong) = set.and_then(|()| expect.verdict.check(is_pair)) {
                top.refuse("expect", wrong);
            }
        }
        DeValue::Table(entries) => {
            let table = Table::new(entries, value.span(), "`expect`", Expectation::keys(), problems);
            if table.get("verdict").is_none() {
                problems.add_missing(value.span(), "`expect` needs a verdict", None);
            }
            table.section(&mut expect);
            if let Err(wrong) = expect.verdict.check(is_pair) {
                table.refuse("verdict", wrong);
            }
            table.finish();
        }
        DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_) => top.wrong_type(value, "`expect`", "a verdict's name or a table"),
    }
    expect
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
        let table = Table::new(entries, item.span(), "[[contains]]", Contains::keys(), problems);
        let mut wanted = Contains::default();
        table.section(&mut wanted);
        if table.get("text").is_none() {
            problems.add_missing(item.span(), "[[contains]] needs a text", None);
        }
        if wanted.side == Which::Reference && !is_pair {
            problems.add(table.key_span("side"), "this case has no reference", None);
        }
        table.finish();
        Some(wanted)
    };
    items.iter().filter_map(read).collect()
}

/// The variant that a value names.
fn read_word<W: Word>(value: Value<'_>, what: &str, problems: &Problems) -> Option<W> {
    let Some(text) = value.get_ref().as_str() else {
        let words = spellings::<W>().join(", ");
        problems.add(value.span(), format!("{what} is one of: {words}"), None);
        return None;
    };
    read_choice(choose(text, || format!("{what} is not `{text}`")), &value, problems)
}

fn read_choice<W>(choice: Result<W, Wrong>, at: &Value<'_>, problems: &Problems) -> Option<W> {
    choice.map_err(|Wrong { message, help }| problems.add(at.span(), message, help)).ok()
}

/// Where a span begins, as `line:column` from 1.
pub fn position(text: &str, span: &Range<usize>) -> (usize, usize) {
    let before = text.get(..span.start.min(text.len())).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests;
