//! The header of a file test: `//@ key: value` lines.

use std::path::Path;

use volta_case::{Launch, Limits, NamedContents, Section, Takes, Value};
use volta_core::case::{
    Argument, Assumed, Binding, Case, Comparison, Contents, Element, Elements, FieldType, KernelLaunch,
    Member, Options, Param, ParamKind, Region, Role, ScalarValue, Sign, TensorMap, tensor_of_structs,
};
use volta_core::number::Extended;

use super::annotation::{self, Annotations};

/// The command of a file test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Parses.
    Parse,
    /// Parses and lowers.
    Lower,
    /// Runs one kernel.
    Run,
    /// Runs one kernel, whose only permitted fault is a race.
    Race,
    /// Compares the entries `reference` and `opt`.
    Check,
}

/// A file test.
#[derive(Clone, Debug)]
pub struct File {
    /// The command.
    pub command: Command,
    /// The case, with default options of the run.
    pub case: Case,
    /// The verdict's name; for `parse` and `lower`, `clean` or `input-error`.
    pub verdict: String,
    /// The rule that a fault must name.
    pub(super) rule: Option<String>,
    /// Texts that the message must contain.
    pub(super) says: Vec<String>,
    /// The further findings: the kernel, if there are two, and the kind, as in `opt race`.
    pub(super) also: Vec<String>,
    /// Texts, each of which one of the assumptions must contain.
    pub(super) assumes: Vec<String>,
    /// Whether the claim is about `all` inputs, or about those `allowed` by the case.
    pub(super) scope: Option<String>,
    /// Texts, each of which one condition of the claim's domain must contain; `none` if there must be no condition.
    pub(super) domain: Vec<String>,
    pub(super) annotations: Annotations,
}

/// The keys of a header with their meanings, for `tests/files/README.md`.
pub const KEYS: &[(&str, &str)] = &[
    (
        "test",
        "what is done, once: `parse`, `lower` (parse and resolve), `run` (one kernel), `race` (one kernel, which may race and have no other fault), `check` (the entries `reference` and `opt` are compared)",
    ),
    (
        "verdict",
        "the name of the verdict, once, as in the `expect` of a case; for `parse` and `lower`, `clean` or `input-error`",
    ),
    ("rule", "the rule that the fault names, once, where no line is annotated with it: `Y5`"),
    (
        "says",
        "a text that the message or its help contains; as often as wanted, like all keys that are not *once*",
    ),
    (
        "also",
        "a finding behind the fault, in the order of the report: its kind, and of a pair the kernel before it, `opt race`. All findings are given; their lines are annotated",
    ),
    ("assumes", "a text that one of the assumptions contains"),
    ("scope", "once: whether the claim is about `all` inputs or about those `allowed` by the case"),
    (
        "domain",
        "a text that one of the conditions on where the claim holds contains, or `none` where there are none",
    ),
    ("kernel", "the entry that is run, where the file has several"),
    (
        "launch",
        "how both sides are launched: keys of a kernel in a case, separated by blanks, `block=16x2 grid=4 shared=1024`",
    ),
    ("reference-launch", "the same for `reference` alone"),
    ("opt-launch", "the same for `opt` alone"),
    (
        "args",
        "the arguments of both sides, where they are not the parameters in order: names, numbers, and structs: `y {x n f32=0.5 @24 {a b}}`, where `@24` is the byte of what follows, or of the end",
    ),
    ("opt-args", "the same for `opt` alone"),
    (
        "param",
        "a parameter, in order: `x = in f32[4x8] list 1 2 3` (role, type, shape, then contents, a sign, `range 0 9` or `range 0 9 distinct`, or nothing), `x = in f32/f16[8]` (one type a side), `x = in {d:f16,q:u8[2]}[8]` (structs), `y = out f32[8] set` (compared as a multiset), `n = i32 64`, `a = symbolic f32 positive`",
    ),
    ("global", "a variable of the module, likewise"),
    (
        "map",
        "a tensor map, which arguments name: `m = of=x box=64,64 swizzle=128B`, with the keys of `[tensor_maps]` in a case",
    ),
    ("options", "rules and limits, as keys of `[options]` in a case: `partial max_ctas=8`"),
];

fn number(word: &str) -> Result<Extended, String> {
    volta_test::number::parse(word).ok_or_else(|| format!("`{word}` is no number"))
}

fn numbers(words: &[&str]) -> Result<Vec<Extended>, String> {
    words.iter().map(|word| number(word)).collect()
}

/// Reads `range 0 9` without its first word.
fn range(ends: &[&str]) -> Result<Assumed, String> {
    let (ends, elements) = match ends {
        [ends @ .., word] if ends.len() == 2 => (ends, Elements::parse(word).ok_or("no such elements")?),
        ends => (ends, Elements::Any),
    };
    let [least, greatest] = ends else {
        return Err("a range is `range 0 9`, or `range 0 9 distinct`".into());
    };
    if ends.iter().any(|word| word.contains(['.', 'e', 'f'])) {
        let end = |word: &str| word.parse().map_err(|_| format!("`{word}` is no number"));
        return Ok(Assumed { floats: Some([end(least)?, end(greatest)?]), elements, ..Assumed::default() });
    }
    let end = |word: &str| word.parse().map_err(|_| format!("`{word}` is no integer"));
    Ok(Assumed { range: Some([end(least)?, end(greatest)?]), elements, ..Assumed::default() })
}

fn element(name: &str) -> Result<Element, String> {
    Element::parse(name).ok_or_else(|| format!("`{name}` is no element type"))
}

/// Reads parameters: structs such as `x = in {d:f16,qs:u8[16]}[4]`, with a parameter for each field; or as [`param`]
/// does.
fn params_of(text: &str, binding: Binding) -> Result<Vec<Param>, String> {
    let structs = text.split_once('=').and_then(|(name, rest)| {
        let (role, rest) = rest.trim().split_once(' ')?;
        let (fields, shape) = rest.trim().strip_prefix('{')?.split_once('}')?;
        Some((name.trim(), role, fields, shape))
    });
    let Some((name, role, fields, shape)) = structs else { return Ok(vec![param(text, binding)?]) };
    let role = Role::parse(role).ok_or_else(|| format!("`{role}` is no role"))?;
    if binding == Binding::Variable {
        return Err("variables of structs are given by their fields, each by its byte: `v+4 = …`".into());
    }
    let (_, shape) = FieldType::parse_type(&format!("u8{shape}"))?;
    let field = |field: &str| {
        let (name, ty) = field.split_once(':').ok_or("a field is `name:type`")?;
        let (element, shape) = FieldType::parse_type(ty)?;
        Ok(FieldType {
            name: name.trim().into(),
            element,
            shape,
            contents: None,
            assumed: Assumed::default(),
        })
    };
    tensor_of_structs(name, &shape, role, fields.split(',').map(field).collect::<Result<_, String>>()?)
}

/// Reads a parameter: `x = in f32[4] list 1 2 3 4`, `y = out f32[64]`, `n = i32 64`, `alpha = symbolic f32 positive`.
fn param(text: &str, binding: Binding) -> Result<Param, String> {
    let (name, rest) = text.split_once('=').ok_or("a parameter is `name = …`")?;
    let (rest, compare) = match rest.strip_suffix(" set") {
        Some(rest) => (rest, Comparison::Set),
        None => (rest, Comparison::Each),
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let kind = match words.as_slice() {
        ["symbolic", ty, rest @ ..] => {
            let assumed = match rest {
                [] => Assumed::default(),
                [word] => Sign::parse(word).ok_or_else(|| format!("`{word}` is no sign"))?.into(),
                ["range", ends @ ..] => range(ends)?,
                _ => return Err("a symbolic scalar has a type and perhaps a sign or a range".into()),
            };
            ParamKind::Scalar { element: element(ty)?, value: ScalarValue::Symbolic(assumed) }
        }
        [word, ty, rest @ ..] if Role::parse(word).is_some() => {
            let role = Role::parse(word).unwrap_or(Role::In);
            let (ty, shape) = match ty.split_once('[') {
                None => (*ty, Vec::new()),
                Some((ty, rest)) => {
                    let list = rest.strip_suffix(']').ok_or("a shape ends with `]`")?;
                    let shape: Result<Vec<u64>, _> = list.split('x').map(str::parse).collect();
                    (ty, shape.map_err(|_| "a shape is `[4]` or `[4x8]`")?)
                }
            };
            let any = Assumed::default();
            let (contents, assumed) = match rest {
                [] => (Contents::of_role(role), any),
                ["fill", value] => (Contents::Fill(number(value)?), any),
                ["fill", value, "symbolic", region] => {
                    let region = Region::parse(region).ok_or_else(|| format!("`{region}` is no part"))?;
                    (Contents::Partly(region, number(value)?), any)
                }
                ["list", values @ ..] => (Contents::List(numbers(values)?), any),
                ["range", ends @ ..] => (Contents::Symbolic, range(ends)?),
                [word] => match (NamedContents::parse(word), Sign::parse(word)) {
                    (Some(named), _) => (named.into(), any),
                    (None, Some(sign)) => (Contents::Symbolic, sign.into()),
                    (None, None) => return Err(format!("`{word}` is no contents")),
                },
                _ => return Err("contents are one of `iota`, `fill 0`, `list 1 2`, `undefined`, …".into()),
            };
            let (reference, opt) = ty.split_once('/').unwrap_or((ty, ty));
            let (reference, opt) = (element(reference)?, element(opt)?);
            ParamKind::Tensor { reference, opt, shape, role, contents, assumed }
        }
        [ty, value] => {
            ParamKind::Scalar { element: element(ty)?, value: ScalarValue::Number(number(value)?) }
        }
        _ => return Err("a parameter is a tensor with a role, a value, or symbolic".into()),
    };
    Ok(Param { compare, ..Param::new(name.trim(), kind, binding) })
}

/// Reads a tensor map: `m = of=x box=64,64 swizzle=128B`.
fn tensor_map(text: &str) -> Result<(String, TensorMap), String> {
    let (name, rest) = text.split_once('=').ok_or("a tensor map is `name = …`")?;
    let mut map = TensorMap::default();
    keys(&mut map, rest)?;
    Ok((name.trim().to_string(), map))
}

/// Reads keys of a section: `block=16x2 ctas=0,2 partial`.
fn keys(section: &mut impl Section, text: &str) -> Result<(), String> {
    text.split_whitespace().try_for_each(|word| key(section, word))
}

fn key<S: Section>(section: &mut S, word: &str) -> Result<(), String> {
    let (name, text) = word.split_once('=').map_or((word, None), |(name, text)| (name, Some(text)));
    let keys = S::keys();
    let Some(key) = keys.iter().find(|key| key.name == name) else {
        let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
        return Err(format!("`{name}` is none of: {}", names.join(", ")));
    };
    let given = || text.ok_or_else(|| format!("`{name}` needs a value: `{name}=…`"));
    let number = |digits: &str| digits.parse().map_err(|_| format!("`{word}` has no whole number"));
    let numbers = |separator| given()?.split(separator).map(number).collect::<Result<_, _>>();
    let value = match key.takes {
        Takes::Flag if text.is_none() => Value::Flag(true),
        Takes::Flag => return Err(format!("`{name}` stands alone")),
        Takes::Count | Takes::Size => Value::Count(number(given()?)?),
        Takes::Extent => Value::Counts(numbers('x')?),
        Takes::Counts => Value::Counts(numbers(',')?),
        Takes::Text => Value::Text(given()?.to_string()),
        Takes::Number => Value::Number(given()?.to_string()),
        Takes::Texts | Takes::Own => return Err(format!("`{name}` does not stand in a header")),
    };
    section.set(name, value).map_err(|wrong| wrong.to_string())
}

fn arguments(text: &str) -> Result<Vec<Argument>, String> {
    let spaced = text.replace('{', " { ").replace('}', " } ");
    let members = members(&mut spaced.split_whitespace(), None)?;
    let argument = |member| match member {
        Member::Argument(argument) => Ok(argument),
        Member::Number(..) | Member::Offset(_) => Err("`type=number` and `@byte` stand in structs".into()),
    };
    members.into_iter().map(argument).collect()
}

/// Reads the members of a struct from the words up to `end`, or from all words.
fn members<'t>(words: &mut impl Iterator<Item = &'t str>, end: Option<&str>) -> Result<Vec<Member>, String> {
    let mut list = Vec::new();
    loop {
        let word = match words.next() {
            word if word == end => return Ok(list),
            word => word.ok_or("a struct ends with `}`")?,
        };
        list.push(if word == "{" {
            Member::Argument(Argument::Struct(members(words, Some("}"))?))
        } else if let Some(byte) = word.strip_prefix('@') {
            Member::Offset(byte.parse().map_err(|_| format!("`{byte}` is no byte"))?)
        } else if let Some((ty, value)) = word.split_once('=') {
            Member::Number(element(ty)?, number(value)?)
        } else if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            Member::Argument(Argument::Literal(number(word)?))
        } else {
            Member::Argument(Argument::Named(word.to_string()))
        });
    }
}

/// Reads rules and limits.
fn options(options: &mut Options, text: &str) -> Result<(), String> {
    let is_limit = |word: &str| {
        let name = word.split('=').next();
        Limits::keys().iter().any(|key| Some(key.name) == name)
    };
    text.split_whitespace().try_for_each(|word| match is_limit(word) {
        true => key(&mut options.budgets.limits, word),
        false => key(&mut options.rules, word),
    })
}

/// Reads a file test.
///
/// # Errors
/// The problem of its header, in a sentence.
pub fn load(path: &Path) -> Result<File, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    read(&text, &name)
}

fn side(text: &str, name: &str) -> KernelLaunch {
    KernelLaunch {
        ptx: text.to_string(),
        path: name.to_string(),
        kernel: None,
        arguments: None,
        launch: Launch::default(),
    }
}

/// Reads the text of a file test with the given name.
///
/// # Errors
/// The problem of its header, in a sentence.
pub fn read(text: &str, name: &str) -> Result<File, String> {
    let mut reference = side(text, name);
    let mut opt = side(text, name);
    let (mut params, mut maps) = (Vec::new(), Vec::new());
    let mut chosen = Options::default();
    let (mut command, mut verdict, mut rule) = (None, None, None);
    let (mut says, mut assumes, mut domain) = (Vec::new(), Vec::new(), Vec::new());
    let mut also = Vec::new();
    let mut scope = None;
    for (at, line) in (1..).zip(text.lines()) {
        let Some(header) = line.strip_prefix("//@") else { continue };
        let wrong = |what: String| format!("line {at}: {what}");
        let (key, value) =
            header.split_once(':').ok_or_else(|| wrong("a header line is `//@ key: value`".into()))?;
        let (key, value) = (key.trim(), value.trim());
        let once = |slot: &mut Option<String>| match slot.replace(value.to_string()) {
            None => Ok(()),
            Some(_) => Err(format!("`{key}` is given twice")),
        };
        match key {
            "test" => once(&mut command),
            "verdict" => once(&mut verdict),
            "rule" => once(&mut rule),
            "says" => {
                says.push(value.to_string());
                Ok(())
            }
            "also" => {
                also.push(value.to_string());
                Ok(())
            }
            "scope" => once(&mut scope),
            "domain" => {
                domain.push(value.to_string());
                Ok(())
            }
            "assumes" => {
                assumes.push(value.to_string());
                Ok(())
            }
            "kernel" => {
                opt.kernel = Some(value.to_string());
                Ok(())
            }
            "launch" => keys(&mut reference.launch, value).and_then(|()| keys(&mut opt.launch, value)),
            "reference-launch" => keys(&mut reference.launch, value),
            "opt-launch" => keys(&mut opt.launch, value),
            "args" => arguments(value).map(|list| {
                reference.arguments = Some(list.clone());
                opt.arguments = Some(list);
            }),
            "opt-args" => arguments(value).map(|list| opt.arguments = Some(list)),
            "param" => params_of(value, Binding::Argument).map(|own| params.extend(own)),
            "global" => params_of(value, Binding::Variable).map(|own| params.extend(own)),
            "map" => tensor_map(value).map(|map| maps.push(map)),
            "options" => options(&mut chosen, value),
            _ => Err(format!("`{key}` is no key of a file test")),
        }
        .map_err(wrong)?;
    }
    let command = match command.as_deref() {
        Some("parse") => Command::Parse,
        Some("lower") => Command::Lower,
        Some("run") => Command::Run,
        Some("race") => Command::Race,
        Some("check") => Command::Check,
        Some(other) => return Err(format!("`{other}` is none of `parse`, `lower`, `run`, `race`, `check`")),
        None => return Err("there is no `//@ test:` line".into()),
    };
    let verdict = verdict.ok_or("there is no `//@ verdict:` line")?;
    if !text.lines().any(|line| line.starts_with("// ")) {
        return Err("there is no comment that says what the file shows".into());
    }
    let mut reference = (command == Command::Check).then(|| {
        reference.kernel = Some("reference".into());
        opt.kernel = Some("opt".into());
        reference
    });
    if command == Command::Race && !["clean", "race"].contains(&verdict.as_str()) {
        return Err("a `race` test is `clean` or a `race`; this is for `run`".into());
    }
    for side in reference.iter_mut().chain([&mut opt]) {
        side.arguments = side.arguments.take().map(|list| Argument::with_maps(list, &maps));
    }
    let annotations = annotation::read(text)?;
    let case = Case { params, reference: reference.map(Into::into), opt: opt.into(), options: chosen };
    Ok(File { command, case, verdict, rule, says, also, assumes, scope, domain, annotations })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_documented_are_those_that_are_read() {
        for (key, _) in KEYS {
            let wrong = read(&format!("// Shows nothing.\n//@ {key}: ?\n"), "x.ptx");
            assert!(wrong.is_err_and(|wrong| !wrong.contains("is no key")), "{key}");
        }
        let source = include_str!("header.rs");
        let arms = source.split("match key {").nth(1).and_then(|rest| rest.split("_ =>").next());
        for line in arms.expect("keys are matched").lines() {
            if let Some((key, _)) = line.trim().strip_prefix('"').and_then(|rest| rest.split_once("\" =>")) {
                assert!(KEYS.iter().any(|(known, _)| *known == key), "{key}");
            }
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let file = |lines: &str| read(&format!("// Shows nothing.\n{lines}"), "x.ptx");
        assert!(file("//@ test: run\n//@ verdict: clean\n").is_ok());
        for wrong in [
            "//@ verdict: clean\n",
            "//@ test: run\n",
            "//@ test: walk\n//@ verdict: clean\n",
            "//@ test: run\n//@ verdict: clean\n//@ colour: red\n",
            "//@ test: run\n//@ verdict: clean\n//@ verdict: race\n",
            "//@ test: race\n//@ verdict: deadlock\n",
            "//@ test: run\n//@ verdict: clean\n//@ launch: blocks=3\n",
            "//@ test: run\n//@ verdict: clean\n//@ options: fast\n",
            "//@ test: run\n//@ verdict: clean\n//@ param: x = in f31[3]\n",
            "//@ test: run\n//@ verdict: clean\nret; //~ ERROR Y1 2\n",
        ] {
            assert!(file(wrong).is_err(), "{wrong}");
        }
        assert!(read("//@ test: run\n//@ verdict: clean\n", "x.ptx").is_err(), "nothing is explained");
    }
}
