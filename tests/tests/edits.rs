//! Single mistakes in kernels whose data decide (`edits/*.toml`): a guard dropped, a neighbour's index, a plain addition
//! in place of an atomic one, a fence left out. Each is an edit of the PTX of a fixture that passes, and must be found
//! under its name. With the fixtures that have a mistake of their own, every kernel has ten.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;
use volta_core::verify;
use volta_suite::{OneLaunch as _, fixture};
use volta_test::manifest;

/// The mistakes that each kernel must have.
const MISTAKES: usize = 10;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kernel: Vec<Kernel>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kernel {
    fixture: String,
    /// Fixtures of this kernel with a mistake each.
    #[serde(default)]
    siblings: Vec<String>,
    mistake: Vec<Mistake>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mistake {
    what: String,
    /// Instructions one below the other: those behind `-` go, those behind `+` come, others stay. An empty line stands
    /// between places.
    edit: String,
    expect: Expect,
    /// Why the verdict has this name, or either of several.
    why: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Expect {
    One(String),
    Several(Vec<String>),
}

impl Expect {
    fn names(&self) -> &[String] {
        match self {
            Expect::One(one) => std::slice::from_ref(one),
            Expect::Several(names) => names,
        }
    }
}

fn main() {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("edits");
    let mut paths: Vec<_> = fs::read_dir(folder).expect("the edits are there").flatten().collect();
    paths.sort_by_key(fs::DirEntry::path);
    let mut trials = Vec::new();
    let mut seen = BTreeSet::new();
    for path in paths {
        let text = fs::read_to_string(path.path()).expect("a list of edits");
        let file: File = toml::from_str(&text).unwrap_or_else(|error| panic!("{:?}: {error}", path.path()));
        for kernel in file.kernel {
            assert!(seen.insert(kernel.fixture.clone()), "{} has two lists", kernel.fixture);
            trials.push(Trial::test(kernel.fixture.clone(), move || check(&kernel)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// The verdict that a fixture expects.
fn expected(name: &str) -> Result<&'static str, String> {
    let dir = fixture::root().join(name.replace("::", "/"));
    let case = manifest::load(name, &dir, &fixture::root());
    Ok(case.map_err(|_| format!("{name} cannot be read"))?.expect.verdict.name())
}

fn check(kernel: &Kernel) -> Result<(), Failed> {
    let name = &kernel.fixture;
    let dir = fixture::root().join(name.replace("::", "/"));
    let case = fixture::load(name, &dir).ok_or("the fixture cannot be loaded")?;
    let (own, wanted) = (verify(&case).verdict.name(), expected(name)?);
    if own != wanted || !PASSES.contains(&wanted) {
        return Err(format!("without an edit it is {own}, and it expects {wanted}").into());
    }
    let mut wrong = siblings(kernel);
    let count = kernel.mistake.len() + kernel.siblings.len();
    if count < MISTAKES {
        wrong.push(format!("{count} mistakes are too few"));
    }
    let launch = case.opt.one();
    let entry = entry(&launch.ptx, launch.kernel.as_deref().unwrap_or_default())?;
    let mut texts = BTreeSet::new();
    for mistake in &kernel.mistake {
        let what = &mistake.what;
        match edited(entry, &mistake.edit) {
            Err(why) => wrong.push(format!("{what}: {why}")),
            Ok(text) if !texts.insert(text.clone()) => wrong.push(format!("{what}: the edit stands twice")),
            Ok(text) => {
                let mut case = case.clone();
                case.opt.one_mut().ptx = launch.ptx.replacen(entry, &text, 1);
                let verdict = verify(&case).verdict;
                wrong.extend(mistake.judge(&verdict.name()).map(|why| format!("{what}: {why}: {verdict:?}")));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Verdicts of a kernel without a mistake.
const PASSES: [&str; 3] = ["equivalent", "equivalent-where", "clean"];

impl Mistake {
    /// What is wrong with a verdict about it.
    fn judge(&self, verdict: &str) -> Option<String> {
        let names = self.expect.names();
        let open = |name: &String| PASSES.contains(&name.as_str()) || name.starts_with("unknown");
        if names.is_empty() || names.iter().any(open) {
            return Some(format!("{names:?} does not find it"));
        }
        if names.len() > 1 && self.why.is_none() {
            return Some("why several verdicts?".to_owned());
        }
        (!names.iter().any(|name| name == verdict)).then(|| format!("expected {names:?}, got {verdict}"))
    }
}

/// What is wrong with the fixtures that are counted as mistakes.
fn siblings(kernel: &Kernel) -> Vec<String> {
    let mut seen = BTreeSet::from([&kernel.fixture]);
    let one = |name| {
        if !seen.insert(name) {
            return Some(format!("{name} is counted twice"));
        }
        match expected(name) {
            Ok(verdict) if PASSES.contains(&verdict) || verdict.starts_with("unknown") => {
                Some(format!("{name} has no mistake: it expects {verdict}"))
            }
            Ok(_) => None,
            Err(why) => Some(why),
        }
    };
    kernel.siblings.iter().filter_map(one).collect()
}

/// The text of a kernel.
fn entry<'t>(ptx: &'t str, kernel: &str) -> Result<&'t str, String> {
    let begin = ptx.find(&format!(".entry {kernel}(")).ok_or_else(|| format!("no kernel `{kernel}`"))?;
    let end = ptx[begin + 1..].find("\n.visible ").map_or(ptx.len(), |at| begin + 1 + at);
    Ok(&ptx[begin..end])
}

/// Words with one space between them.
fn plain(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A kernel with an edit, each of whose places must occur once.
fn edited(entry: &str, edit: &str) -> Result<String, String> {
    let mut lines: Vec<String> = entry.lines().map(str::to_owned).collect();
    for place in edit.trim().split("\n\n") {
        let mut find = Vec::new();
        let mut put: Vec<Option<String>> = Vec::new();
        for line in place.lines() {
            if let Some(line) = line.strip_prefix('-') {
                find.push(plain(line));
                put.push(Some(String::new()));
            } else if let Some(line) = line.strip_prefix('+') {
                let last = put.last_mut().ok_or("nothing stands before what comes")?;
                let kept = last.take().unwrap_or_else(|| find.last().cloned().unwrap_or_default());
                *last = Some(format!("{kept}\n{}", line.trim()));
            } else {
                find.push(plain(line));
                put.push(None);
            }
        }
        let is_code = |line: &String| !line.trim().is_empty() && !line.trim().starts_with(".loc");
        let code: Vec<usize> = (0..lines.len()).filter(|at| is_code(&lines[*at])).collect();
        let fits = |at: &&[usize]| at.iter().zip(&find).all(|(at, find)| plain(&lines[*at]) == *find);
        let found: Vec<&[usize]> = code.windows(find.len()).filter(fits).collect();
        let [found] = found.as_slice() else {
            return Err(format!("`{}` occurs {} times", find.join(" / "), found.len()));
        };
        for (at, put) in found.iter().zip(put) {
            lines[*at] = put.unwrap_or_else(|| lines[*at].clone());
        }
    }
    let text = lines.join("\n");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    if words(&text) == words(entry) { Err("it changes nothing".to_owned()) } else { Ok(text) }
}
