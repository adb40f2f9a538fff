//! Small edits of the PTX of equivalent pairs (`fixtures/mutants.toml`, `fixtures/mutants_paper.toml`): each must get the verdict that a person
//! wrote down for it, and none may pass for equivalent by accident.

use std::collections::BTreeSet;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;
use volta_suite::fixture;

/// The kinds of mutation that each fixture must have at least four of.
const KINDS: usize = 4;
/// Mutants that each fixture must have at least.
const COUNT: usize = 6;

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
    find: String,
    occurrence: usize,
    replace: String,
    expect: Expect,
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
            "reference" => case.reference.as_mut().ok_or("the fixture has no reference")?,
            "opt" | "kernel" => &mut case.opt,
            other => return Err(format!("there is no side `{other}`").into()),
        };
        let at = side.ptx.match_indices(&self.find).nth(self.occurrence - 1);
        let at = at.ok_or_else(|| format!("`{}` is not in the PTX", self.find))?.0;
        side.ptx.replace_range(at..at + self.find.len(), &self.replace);
        let report = volta_core::verify(&case);
        let verdict = report.verdict.name();
        let wanted = match &self.expect {
            Expect::One(one) => std::slice::from_ref(one),
            Expect::Several(list) => list,
        };
        if wanted.contains(&verdict) {
            return Ok(());
        }
        let why = &self.reason;
        Err(format!("expected {wanted:?}, because {why}; got {verdict}: {:?}", report.verdict).into())
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut file = File { mutant: Vec::new() };
    for list in ["mutants.toml", "mutants_paper.toml"] {
        let text = std::fs::read_to_string(fixture::root().join(list)).expect("a list of mutants");
        file.mutant.extend(toml::from_str::<File>(&text).expect("a list of mutants").mutant);
    }
    let mut trials = Vec::new();
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
            trials.push(Trial::test(name, move || mutant.check()));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
