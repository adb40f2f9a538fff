//! Small edits of the PTX of equivalent pairs (`fixtures/mutants*.toml`): each must have its recorded verdict, and none
//! may be proved equivalent by accident.

use std::collections::BTreeSet;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;
use volta_core::case::Side;
use volta_core::verdict::Verdict;
use volta_suite::fixture::{self, Size};
use volta_test::manifest;

/// The kinds of mutation that each fixture must have at least four of.
const KINDS: usize = 4;
/// Mutants that each fixture must have at least.
const COUNT: usize = 6;

/// Wrong ones among them that each published pair must have at least.
const WRONG: usize = 6;
/// Where they stand.
const LISTS: [&str; 3] = ["mutants.toml", "mutants_paper.toml", "mutants_tensor.toml"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    mutant: Vec<Mutant>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutant {
    fixture: String,
    side: String,
    kind: String,
    /// Occurrences are counted from this text on: a kernel's first line, where a file has several.
    after: Option<String>,
    find: String,
    occurrence: usize,
    replace: String,
    expect: Expect,
    /// Of a fault: the rule that it breaks.
    rule: Option<String>,
    reason: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Expect {
    One(String),
    Several(Vec<String>),
}

impl Mutant {
    fn check(&self) -> Result<(), Failed> {
        let dir = fixture::root().join(&self.fixture);
        let name = self.fixture.replace('/', "::");
        let mut case = fixture::load(&name, &dir).ok_or("the fixture cannot be loaded")?;
        let side = match self.side.as_str() {
            "reference" => case.reference.as_mut(),
            "opt" | "kernel" => Some(&mut case.opt),
            other => return Err(format!("there is no side `{other}`").into()),
        };
        let side = side.and_then(Side::only_mut).ok_or("the fixture has no such side of one launch")?;
        let missing = |text: &str| format!("`{text}` is not in the PTX");
        let from = match &self.after {
            Some(after) => side.ptx.find(after).ok_or_else(|| missing(after))?,
            None => 0,
        };
        let at = side.ptx[from..].match_indices(&self.find).nth(self.occurrence - 1);
        let at = from + at.ok_or_else(|| missing(&self.find))?.0;
        side.ptx.replace_range(at..at + self.find.len(), &self.replace);
        let report = volta_core::verify(&case);
        let verdict = report.verdict.name();
        let wanted = match &self.expect {
            Expect::One(one) => std::slice::from_ref(one),
            Expect::Several(list) => list,
        };
        let broken = if let Verdict::Fault(fault) = &report.verdict { Some(fault.rule) } else { None };
        if wanted.contains(&verdict) && (self.rule.is_none() || self.rule.as_deref() == broken) {
            return Ok(());
        }
        let (rule, why) = (&self.rule, &self.reason);
        Err(format!("expected {wanted:?} {rule:?}, because {why}; got {verdict}: {:?}", report.verdict)
            .into())
    }

    /// Must the kernel be found wrong? Not if it may pass for equivalent, or may be left undecided.
    fn is_wrong(&self) -> bool {
        let found = |name: &String| !name.starts_with("equivalent") && !name.starts_with("unknown");
        match &self.expect {
            Expect::One(one) => found(one),
            Expect::Several(list) => list.iter().all(found),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Published {
    row: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    case: String,
}

/// Every published pair that is proved equivalent has enough mutants that are found wrong.
fn published_pairs(mutants: &[Mutant]) -> Result<(), Failed> {
    let text = std::fs::read_to_string(fixture::root().join("published.toml"))?;
    let published: Published = toml::from_str(&text)?;
    let mut seen = 0;
    for Row { case } in published.row {
        let dir = case.replace("::", "/");
        let loaded = manifest::load(&case, &fixture::root().join(&dir), &fixture::root());
        let loaded = loaded.map_err(|_| format!("{case} cannot be read"))?;
        if loaded.expect.verdict.name() != "equivalent" {
            continue;
        }
        seen += 1;
        let wrong = mutants.iter().filter(|mutant| mutant.fixture == dir && mutant.is_wrong()).count();
        if wrong < WRONG {
            return Err(format!("{case}: {wrong} wrong mutants are too few").into());
        }
    }
    if seen == 0 { Err("no pair was published".into()) } else { Ok(()) }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut file = File { mutant: Vec::new() };
    for list in LISTS {
        let text = std::fs::read_to_string(fixture::root().join(list)).expect("a list of mutants");
        file.mutant.extend(toml::from_str::<File>(&text).expect("a list of mutants").mutant);
    }
    let mut trials = Vec::new();
    let all = file.mutant.clone();
    trials.push(Trial::test("published_pairs_have_enough", move || published_pairs(&all)));
    let fixtures: BTreeSet<&String> = file.mutant.iter().map(|mutant| &mutant.fixture).collect();
    for fixture in fixtures {
        let own: Vec<&Mutant> = file.mutant.iter().filter(|mutant| mutant.fixture == *fixture).collect();
        let kinds: BTreeSet<&String> = own.iter().map(|mutant| &mutant.kind).collect();
        let (count, kinds) = (own.len(), kinds.len());
        trials.push(Trial::test(format!("{}::enough", fixture.replace('/', "::")), move || {
            if count >= COUNT && kinds >= KINDS {
                return Ok(());
            }
            Err(format!("{count} mutants of {kinds} kinds are too few").into())
        }));
        for (at, mutant) in own.into_iter().cloned().enumerate() {
            let name = format!("{}::{}_{at:02}", fixture.replace('/', "::"), mutant.kind);
            let size = fixture::size(&mutant.fixture.replace('/', "::"));
            // Of a published pair at its full size, too, some are edited every time.
            let size = if size == Size::Huge { Size::Large } else { size };
            let skipped = !fixture::runs_every_time(size, &name);
            trials.push(Trial::test(name, move || mutant.check()).with_ignored_flag(skipped));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
