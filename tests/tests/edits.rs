//! Single mistakes in kernels whose data decide (`edits/*.toml`): a guard dropped, a neighbour's index, a plain addition
//! in place of an atomic one, a fence left out. Each is an edit of the PTX of a fixture that passes, and must be found
//! under its name. With the fixtures that have a mistake of their own, every kernel has ten.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;
use volta_core::case::{Case, KernelLaunch};
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
    /// Whether the other kernel of the pair is edited.
    #[serde(default)]
    side: Side,
    /// Instructions one below the other: those behind `-` go, those behind `+` come, others stay. An empty line stands
    /// between places.
    edit: String,
    /// The name of its verdict.
    expect: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Side {
    Reference,
    #[default]
    Opt,
}

impl Side {
    fn of(self, case: &mut Case) -> Result<&mut KernelLaunch, &'static str> {
        match self {
            Side::Reference => case.reference.as_mut().map(|side| side.one_mut()).ok_or("it is no pair"),
            Side::Opt => Ok(case.opt.one_mut()),
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
    let mut texts = BTreeSet::new();
    for mistake in &kernel.mistake {
        let found = mistake.made(&case).and_then(|(case, text)| {
            if !texts.insert(text) {
                return Err("the edit stands twice".to_owned());
            }
            let verdict = verify(&case).verdict;
            mistake.judge(&verdict.name()).map_err(|why| format!("{why}: {verdict:?}"))
        });
        wrong.extend(found.err().map(|why| format!("{}: {why}", mistake.what)));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Verdicts of a kernel without a mistake.
const PASSES: [&str; 3] = ["equivalent", "equivalent-where", "clean"];

/// Verdicts that say nothing about a mistake.
const OPEN: [&str; 3] = ["unsupported", "input-dependent-control", "input-error"];

/// Whether a verdict finds a mistake.
fn finds(verdict: &str) -> bool {
    !(PASSES.contains(&verdict) || OPEN.contains(&verdict) || verdict.starts_with("unknown"))
}

impl Mistake {
    /// The case with it, and the text of its kernel.
    fn made(&self, case: &Case) -> Result<(Case, String), String> {
        let mut case = case.clone();
        let launch = self.side.of(&mut case)?;
        let entry = entry(&launch.ptx, launch.kernel.as_deref())?;
        let text = edited(entry, &self.edit)?;
        launch.ptx = launch.ptx.replacen(entry, &text, 1);
        Ok((case, text))
    }

    /// Compares a verdict about it with the one that is right.
    fn judge(&self, verdict: &str) -> Result<(), String> {
        let wanted = &self.expect;
        if !finds(wanted) {
            return Err(format!("{wanted} does not find it"));
        }
        if verdict == wanted { Ok(()) } else { Err(format!("expected {wanted}, got {verdict}")) }
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
            Ok(verdict) if finds(verdict) => None,
            Ok(verdict) => Some(format!("{name} has no mistake: it expects {verdict}")),
            Err(why) => Some(why),
        }
    };
    kernel.siblings.iter().filter_map(one).collect()
}

/// The text of a kernel: all, if it is the only one.
fn entry<'t>(ptx: &'t str, kernel: Option<&str>) -> Result<&'t str, String> {
    let Some(kernel) = kernel else { return Ok(ptx) };
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
        let is_code = |line: &String| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with(".loc") && !line.starts_with("//")
        };
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
