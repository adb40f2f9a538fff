//! The statements of `identities/`, one test a line: two terms, and the expected result of comparing them. And the laws
//! of the algebra: each is proved and evaluated, and its near misses are refuted.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::LazyLock;

use libtest_mimic::{Arguments, Failed, Trial};
use volta_core::algebra::laws::{self, Group, LAWS};
use volta_core::decide::counterexample::{SearchBudget, refute};
use volta_core::decide::{Decision, DecisionOptions, ElementPair, Failure, InputInfo, decide};
use volta_core::term::{Store, TermId};
use volta_suite::expression::{Input, Relation, Statement, build, statements};
use volta_suite::laws::Instances;
use volta_suite::lemmas::{Lemmas, for_certificates};
use volta_suite::page;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("identities");
    let mut files: Vec<_> =
        fs::read_dir(&folder).expect("the folder is there").flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut trials = Vec::new();
    for path in files {
        let group = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("the file can be read");
        match statements(&text) {
            Ok(statements) => trials.extend(statements.into_iter().map(|statement| {
                let name = format!("{group}::{:03}: {}", statement.line, statement.text);
                Trial::test(name, move || check(&statement))
            })),
            Err(why) => trials.push(Trial::test(group, move || Err(Failed::from(why)))),
        }
    }
    trials.extend(laws());
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// So many instances of each law are drawn.
const INSTANCES: u64 = 10;
/// Of so many of them, one at least is proved: equal wherever it has a value.
const PROVED: u64 = 3;

/// Points at which both sides of a law are evaluated.
const POINTS: u32 = 400;

/// The statements of all laws.
static STATEMENTS: LazyLock<Vec<Statement>> = LazyLock::new(|| {
    laws::laws()
        .flat_map(|law| statements(law.statement).expect("the test of the law says why not"))
        .collect()
});

/// Instances of a law in which its letters are terms, themselves equal by laws: none may be refuted. What is left open is
/// told with `--nocapture`.
fn drawn(law: usize) -> Result<(), Failed> {
    let count = std::env::var("VOLTA_LAW_INSTANCES").ok().and_then(|count| count.parse().ok());
    let count = count.unwrap_or(INSTANCES);
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..count {
        let instance = Instances::new(&STATEMENTS, seed << 16 | law as u64).of(law);
        let outcome = decided(&instance);
        let what = match &outcome.first_failure {
            None if outcome.conditions.is_empty() => "equal",
            None => "equal under conditions",
            Some((_, Failure::Unknown { .. })) => "open",
            Some((_, Failure::Undefined { .. })) => "undefined",
            Some((_, Failure::Exhausted(_))) => "exhausted",
            Some((_, Failure::Different(witness))) => {
                return Err(format!("{:?} and {:?}: {witness:?}", instance.left, instance.right).into());
            }
        };
        *found.entry(what).or_default() += 1;
    }
    println!("{:60} {found:?}", STATEMENTS[law].text);
    let proved = found.get("equal").copied().unwrap_or_default() as u64;
    if proved * PROVED < count { Err(format!("too few are proved: {found:?}").into()) } else { Ok(()) }
}

/// The laws of the algebra, their limits, and what evaluation says of them.
fn laws() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (at, law) in STATEMENTS.iter().enumerate() {
        trials.push(Trial::test(format!("laws::drawn: {}", law.text), move || drawn(at)));
    }
    for law in laws::laws() {
        let read = |text: &str| {
            statements(text).map_err(Failed::from)?.pop().ok_or_else(|| Failed::from("no statement"))
        };
        trials.push(Trial::test(format!("laws::proved: {}", law.statement), move || {
            check(&read(law.statement)?)
        }));
        trials.push(Trial::test(format!("laws::evaluated: {}", law.statement), move || {
            evaluate(&read(law.statement)?)
        }));
        for limit in law.limits {
            trials.push(Trial::test(format!("laws::limits: {limit}"), move || check(&read(limit)?)));
        }
    }
    trials.push(Trial::test("laws::documented", documented));
    trials.push(Trial::test("laws::stated", stated));
    trials
}

/// The page lists the laws as the table does; `VOLTA_WRITE_DOCS=1` writes it.
fn documented() -> Result<(), Failed> {
    Ok(page::hold("docs/algebra.md", &[("laws", table())])?)
}

/// So do the files of the proofs that are generated.
fn stated() -> Result<(), Failed> {
    let lemmas = Lemmas::new()?;
    page::hold_file("proofs/laws/Table.v", &lemmas.table())?;
    page::hold_file("volta-certificate/src/laws.txt", &for_certificates()?)?;
    Ok(page::hold_file("proofs/laws/Complete.v", &lemmas.complete())?)
}

fn table() -> String {
    let code = |text: &str| format!("`{}`", text.replace('|', "\\|"));
    let mut out = String::new();
    for Group { title, applied, laws } in LAWS {
        out += &format!("\n### {title}\n\n");
        for (file, why) in *applied {
            out += &format!("- [`{file}`](../volta-core/src/algebra/{file}): {why}.\n");
        }
        out += "\n| law | holds | statement | limits |\n|---|---|---|---|\n";
        for law in laws.iter() {
            let limits: Vec<String> = law.limits.iter().map(|limit| code(limit)).collect();
            let name = law.law.replace('|', "\\|");
            out +=
                &format!("| {name} | {} | {} | {} |\n", law.holds, code(law.statement), limits.join("<br>"));
        }
    }
    out + "\n"
}

/// Evaluation knows no laws: it must not tell the two sides of one apart.
fn evaluate(statement: &Statement) -> Result<(), Failed> {
    let (mut left, mut right) = (Store::new(), Store::new());
    let (reference, opt, inputs) = terms(statement, &mut left, &mut right);
    let effort = SearchBudget { points: POINTS, ..SearchBudget::default() };
    match refute((&left, reference), (&right, opt), &inputs, &effort) {
        None => Ok(()),
        Some(witness) => Err(format!("{witness:?}").into()),
    }
}

/// Both sides in stores of their own: terms are shared within one side only, as in two kernels.
fn terms(statement: &Statement, left: &mut Store, right: &mut Store) -> (TermId, TermId, Vec<InputInfo>) {
    let mut inputs = statement.inputs.clone();
    let reference = build(&statement.left, left, &mut inputs);
    let opt = build(&statement.right, right, &mut inputs);
    for store in [left, right] {
        store.set_integers(inputs.integers());
    }
    let described = inputs.0.into_iter().map(|Input { name, sign, integers }| {
        let is_tensor = [&statement.left, &statement.right].iter().any(|side| side.has_elements_of(&name));
        let shape = if is_tensor { vec![64] } else { vec![] };
        InputInfo { name, shape, sign, integers, ..InputInfo::default() }
    });
    (reference, opt, described.collect())
}

fn decided(statement: &Statement) -> Decision {
    let (mut left, mut right) = (Store::new(), Store::new());
    let (reference, opt, inputs) = terms(statement, &mut left, &mut right);
    let element = ElementPair { reference: (&left, reference), opt: (&right, opt) };
    decide(&[element], &inputs, &DecisionOptions::default())
}

fn check(statement: &Statement) -> Result<(), Failed> {
    let outcome = decided(statement);
    let found = relation(&outcome);
    if found == Ok(statement.relation.clone()) { Ok(()) } else { Err(told(&outcome).into()) }
}

/// What was found out; `Err` for what no statement says.
fn relation(outcome: &Decision) -> Result<Relation, ()> {
    match &outcome.first_failure {
        None if outcome.conditions.is_empty() => Ok(Relation::Equal),
        None => Ok(Relation::EqualWhere(outcome.conditions.join(", "))),
        Some((_, Failure::Different(_))) => Ok(Relation::Different),
        Some((_, Failure::Unknown { .. })) => Ok(Relation::Open),
        Some((_, Failure::Undefined { .. } | Failure::Exhausted(_))) => Err(()),
    }
}

fn told(outcome: &Decision) -> String {
    match &outcome.first_failure {
        None if outcome.conditions.is_empty() => "proved equal".to_string(),
        None => format!("proved equal where {}", outcome.conditions.join(", ")),
        Some((_, failure)) => format!("{failure:?}"),
    }
}
