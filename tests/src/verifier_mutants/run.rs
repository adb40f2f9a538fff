//! Builds all mutants at once in a folder of their own, and runs the suites for each.
//!
//! Each test is first run without a mutant, in a process of its own, to measure its time and which mutants it reaches.
//! A mutant is then tried on the tests that reach it, first on those that caught another one of its file, then on the
//! quickest, until one fails. A test that takes many times its normal time counts as failed. A mutant that is not
//! caught soon waits until all others have been tried; recorded survivors come last.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::draw::{Mutant, apart, order, share, switched};
use super::record::{Record, records};
use super::sites::Site;
use super::source::{Source, root};
use super::{ACTIVE, REACHED, SWITCH};

/// The options of a run.
pub struct Options {
    /// The seed of the draw.
    pub seed: u64,
    /// The number of lines of code for each mutant.
    pub lines: usize,
    /// Only mutants whose key contains one of these; if empty, all mutants.
    pub only: Vec<String>,
    /// Tests that take longer are left out.
    pub slowest: Duration,
    /// Whether to skip mutants whose fate was recorded by an earlier run.
    pub resume: bool,
}

/// The suites: package, name of its test target, and the folder it runs in.
const SUITES: [(&str, &str); 7] = [
    ("volta-core", "lib"),
    ("volta-suite", "identities"),
    ("volta-suite", "filetests"),
    ("volta-suite", "evaluation"),
    ("volta-suite", "operations"),
    ("volta-suite", "interleavings"),
    ("volta-suite", "fixtures"),
];

/// One suite, built.
struct Suite {
    name: &'static str,
    binary: PathBuf,
    folder: PathBuf,
}

/// One test of a suite.
struct Test<'s> {
    suite: &'s Suite,
    name: String,
    takes: Duration,
    reached: BTreeSet<usize>,
}

/// The files that are changed in the copy: path in the workspace, and new text.
type Changed = HashMap<PathBuf, String>;

/// Copies the files that the build needs, and removes obsolete ones; unchanged files keep their times.
fn copy(from: &Path, to: &Path, changed: &Changed) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(to)?.flatten() {
        let (path, from) = (entry.path(), from.join(entry.file_name()));
        if path.is_dir() && !from.is_dir() {
            fs::remove_dir_all(&path)?;
        } else if path.is_file() && !from.is_file() && !changed.contains_key(&from) {
            fs::remove_file(&path)?;
        }
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let target = to.join(&name);
        if name == "target" || name.to_string_lossy().starts_with('.') {
            continue;
        }
        if path.is_dir() {
            copy(&path, &target, changed)?;
        } else if !changed.contains_key(&path) {
            write(&target, &fs::read(&path)?)?;
        }
    }
    for (path, text) in changed.iter().filter(|(path, _)| path.parent() == Some(from)) {
        write(&to.join(path.file_name().unwrap_or_default()), text.as_bytes())?;
    }
    Ok(())
}

fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) { Ok(()) } else { fs::write(path, content) }
}

/// All sites drawn, with a margin for edits that do not compile.
fn drawn<'a>(sources: &'a [Source], options: &Options, margin: usize) -> Vec<(&'a Source, Vec<&'a Site>)> {
    let wanted = |key: &str| options.only.iter().any(|part| key.contains(part.as_str()));
    let pick = |source: &'a Source| {
        let order = order(source, options.seed);
        if options.only.is_empty() {
            return apart(&order, margin * share(source, options.lines), |_| true);
        }
        apart(&order, usize::MAX, |site| wanted(&Mutant { number: 0, path: &source.path, site }.key()))
    };
    sources.iter().map(|source| (source, pick(source))).collect()
}

/// For each changed file, the bytes of each mutant.
type Owned = HashMap<String, Vec<(Range<usize>, usize)>>;

struct Workshop {
    work: PathBuf,
    target: PathBuf,
}

impl Workshop {
    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments).arg("--message-format=json").current_dir(&self.work);
        command.env("CARGO_TARGET_DIR", &self.target).env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
        command.env("CARGO_PROFILE_DEV_DEBUG", "0").stdout(Stdio::piped());
        command
    }

    /// Cargo's messages, one JSON object a line.
    fn messages(&self, arguments: &[&str]) -> Result<(bool, Vec<serde_json::Value>), String> {
        let mut command = self.cargo(arguments);
        let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cargo: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok((output.status.success(), messages))
    }

    /// Makes the copy with all mutants in it, and returns the bytes of each mutant, by path.
    fn place(&self, sources: &[Source], mutants: &[Mutant<'_>]) -> std::io::Result<Owned> {
        let base = root().join("volta-core/src");
        let (mut changed, mut owned) = (Changed::new(), Owned::new());
        for source in sources {
            let mine: Vec<&Mutant<'_>> = mutants.iter().filter(|mutant| mutant.path == source.path).collect();
            let (text, bytes) = switched(&source.text, &mine);
            changed.insert(base.join(&source.path), text);
            owned.insert(format!("volta-core/src/{}", source.path), bytes);
        }
        let library = fs::read_to_string(base.join("lib.rs"))?;
        changed.insert(base.join("lib.rs"), format!("{library}\nmod mutant;\n"));
        changed.insert(base.join("mutant.rs"), SWITCH.to_owned());
        copy(&root(), &self.work, &changed)?;
        Ok(owned)
    }
}

/// The mutants that a compiler error is about: those at its spans, or else those between its spans.
fn blamed(message: &serde_json::Value, owned: &Owned) -> BTreeSet<usize> {
    let (mut at, mut between) = (BTreeSet::new(), BTreeSet::new());
    for (path, mutants) in owned {
        let (mut first, mut last) = (usize::MAX, 0);
        let mut waiting = vec![message];
        let within = |start, end| {
            let meets = move |bytes: &Range<usize>| bytes.start < end && start < bytes.end;
            mutants.iter().filter(move |(bytes, _)| meets(bytes)).map(|(_, number)| *number)
        };
        while let Some(message) = waiting.pop() {
            for span in message["spans"].as_array().into_iter().flatten() {
                if span["file_name"].as_str().is_some_and(|file| file.ends_with(path.as_str())) {
                    let byte = |end: &str| span[end].as_u64().unwrap_or(0) as usize;
                    let (start, end) = (byte("byte_start"), byte("byte_end"));
                    (first, last) = (first.min(start), last.max(end));
                    at.extend(within(start, end));
                }
            }
            waiting.extend(message["children"].as_array().into_iter().flatten());
        }
        between.extend(within(first, last));
    }
    if at.is_empty() { between } else { at }
}

/// The mutants that compile: the copy is checked, and failing mutants are removed, until it compiles.
fn compiled<'a>(
    workshop: &Workshop,
    sources: &'a [Source],
    options: &Options,
) -> Result<Vec<Mutant<'a>>, String> {
    let mut lists = drawn(sources, options, 2);
    for round in 1.. {
        let mut mutants = Vec::new();
        for (source, sites) in &lists {
            mutants.extend(sites.iter().map(|&site| (source.path.as_str(), site)));
        }
        let mutants: Vec<Mutant<'_>> = mutants
            .into_iter()
            .enumerate()
            .map(|(at, (path, site))| Mutant { number: at + 1, path, site })
            .collect();
        let owned = workshop.place(sources, &mutants).map_err(|error| format!("the copy: {error}"))?;
        let (good, messages) = workshop.messages(&["check", "-p", "volta-core"])?;
        if good {
            break;
        }
        let mut bad = BTreeSet::new();
        let mut other = String::new();
        for message in messages.iter().filter(|message| message["message"]["level"] == "error") {
            let found = blamed(&message["message"], &owned);
            if found.is_empty() {
                other.push_str(message["message"]["rendered"].as_str().unwrap_or_default());
            }
            bad.extend(found);
        }
        eprintln!("check {round}: {} of {} mutants do not compile", bad.len(), mutants.len());
        if bad.is_empty() {
            return Err(other);
        }
        let bad: Vec<(&str, &Site)> = mutants
            .iter()
            .filter(|mutant| bad.contains(&mutant.number))
            .map(|mutant| (mutant.path, mutant.site))
            .collect();
        for (source, sites) in &mut lists {
            sites.retain(|site| {
                !bad.iter().any(|(path, other)| *path == source.path && std::ptr::eq(*other, *site))
            });
        }
    }
    let mut mutants = Vec::new();
    for (source, sites) in lists {
        let count = if options.only.is_empty() { share(source, options.lines) } else { usize::MAX };
        for site in sites.into_iter().take(count) {
            mutants.push(Mutant { number: mutants.len() + 1, path: &source.path, site });
        }
    }
    Ok(mutants)
}

/// All suites, built.
fn suites(workshop: &Workshop) -> Result<Vec<Suite>, String> {
    let mut arguments = vec!["test", "--no-run", "-p", "volta-core", "-p", "volta-suite", "--lib"];
    for (_, name) in SUITES.iter().filter(|(_, name)| *name != "lib") {
        arguments.extend(["--test", name]);
    }
    let (good, messages) = workshop.messages(&arguments)?;
    if !good {
        let errors = messages.iter().filter_map(|message| message["message"]["rendered"].as_str());
        return Err(errors.collect());
    }
    let mut suites = Vec::new();
    for (package, name) in SUITES {
        let folder = workshop.work.join(if package == "volta-core" { "volta-core" } else { "tests" });
        let binary = messages.iter().find_map(|message| {
            let binary = message["executable"].as_str()?;
            let here = message["manifest_path"].as_str()?;
            let target = message["target"]["name"].as_str()?;
            let mine = here == folder.join("Cargo.toml").to_string_lossy()
                && message["profile"]["test"] == true
                && if name == "lib" { target == "volta_core" } else { target == name };
            mine.then(|| PathBuf::from(binary))
        });
        let binary = binary.ok_or_else(|| format!("there is no test program `{name}`"))?;
        suites.push(Suite { name, binary, folder });
    }
    Ok(suites)
}

impl Suite {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder).env("VOLTA_NVCC", "off");
        // All mutants share one program, whose hash is the key of cached verdicts.
        command.env("VOLTA_CACHE", "off");
        command.env("INSTA_UPDATE", "no").env_remove(ACTIVE).env_remove(REACHED).stdin(Stdio::null());
        // Otherwise proptest would try a failure that it recorded for one mutant on all later ones.
        command.env("RUST_BACKTRACE", "0").env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1");
        command
    }

    /// The names of its tests.
    fn tests(&self) -> Result<BTreeSet<String>, String> {
        let output = self.command().arg("--list").output();
        let output = output.map_err(|error| format!("{}: {error}", self.binary.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let names: BTreeSet<String> =
            text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect();
        if names.is_empty() { Err(format!("`{}` lists no tests", self.name)) } else { Ok(names) }
    }
}

impl<'s> Test<'s> {
    /// Measures a test without a mutant.
    fn measured(suite: &'s Suite, name: String, reached: &Path) -> Result<Test<'s>, String> {
        let _ = fs::remove_file(reached);
        let mut test = Test { suite, name, takes: Duration::ZERO, reached: BTreeSet::new() };
        let mut command = test.command();
        command.env(REACHED, reached);
        let start = Instant::now();
        if let Some(how) = failure(command, Duration::from_secs(1200))? {
            return Err(format!("{} {} without a mutant {how}", suite.name, test.name));
        }
        test.takes = start.elapsed();
        let text = fs::read_to_string(reached).unwrap_or_default();
        test.reached = text.lines().filter_map(|line| line.parse().ok()).collect();
        Ok(test)
    }

    /// The measurement in a line.
    fn line(&self) -> String {
        let reached: Vec<String> = self.reached.iter().map(usize::to_string).collect();
        let Test { suite: Suite { name: suite, .. }, name, takes, .. } = self;
        format!("{suite} {name}\t{}\t{}\n", takes.as_micros(), reached.join(" "))
    }

    /// Reads the measurement of the test from a line.
    fn known(suite: &'s Suite, name: &str, line: &str) -> Option<Test<'s>> {
        let mut parts = line.split('\t').skip(1);
        let takes = Duration::from_micros(parts.next()?.parse().ok()?);
        let reached = parts.next()?.split(' ').filter_map(|number| number.parse().ok()).collect();
        Some(Test { suite, name: name.to_owned(), takes, reached })
    }

    fn command(&self) -> Command {
        let mut command = self.suite.command();
        command.args(["--exact", &self.name]);
        command
    }

    /// Whether it fails with a mutant, and how.
    fn catches(&self, mutant: usize) -> Result<Option<&'static str>, String> {
        let mut command = self.command();
        command.env(ACTIVE, mutant.to_string());
        failure(command, limit(self.takes))
    }
}

/// Runs a command: whether it fails, and how.
fn failure(mut command: Command, limit: Duration) -> Result<Option<&'static str>, String> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let (start, mut pause) = (Instant::now(), Duration::from_millis(1));
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok((!status.success()).then_some("fails"));
        }
        if start.elapsed() > limit {
            let _ = child.kill();
            child.wait().map_err(|error| error.to_string())?;
            return Ok(Some("is too slow"));
        }
        thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(10));
    }
}

/// The time limit for a test, given its normal time: generous, so that other load on the machine is no finding.
fn limit(takes: Duration) -> Duration {
    Duration::from_secs(10) + 8 * takes
}

/// All tests of all suites, the quickest first. On `resume`, earlier measurements are used again.
fn tests<'s>(suites: &'s [Suite], folder: &Path, resume: bool) -> Result<Vec<Test<'s>>, String> {
    let path = folder.join("tests.txt");
    let (known, mut file) = kept(&path, resume)?;
    let known: HashMap<&str, &str> = known.lines().map(|line| (first_of(line), line)).collect();
    let mut tests = Vec::new();
    for suite in suites {
        let (start, first) = (Instant::now(), tests.len());
        for name in suite.tests()? {
            let line = known.get(format!("{} {name}", suite.name).as_str());
            let test = match line.and_then(|line| Test::known(suite, &name, line)) {
                Some(test) => test,
                None => {
                    let test = Test::measured(suite, name, &folder.join("reached.txt"))?;
                    file.write_all(test.line().as_bytes()).map_err(|error| error.to_string())?;
                    test
                }
            };
            tests.push(test);
        }
        let seconds = start.elapsed().as_secs_f32();
        eprintln!("{}: {} tests, {seconds:.1} s", suite.name, tests.len() - first);
    }
    tests.sort_by_key(|test| test.takes);
    Ok(tests)
}

/// The text of a file of an earlier run, if that is resumed, and the file, opened for appending.
fn kept(path: &Path, resume: bool) -> Result<(String, File), String> {
    let known = if resume { fs::read_to_string(path).unwrap_or_default() } else { String::new() };
    let file = File::options().create(true).write(true).append(resume).truncate(!resume).open(path);
    Ok((known, file.map_err(|error| format!("{}: {error}", path.display()))?))
}

fn first_of(line: &str) -> &str {
    line.split('\t').next().unwrap_or_default()
}

/// The time for which a mutant is tried at first, before all others have been tried.
const TURN: Duration = Duration::from_secs(10);

/// The state of trying a mutant.
struct Trial<'m> {
    mutant: &'m Mutant<'m>,
    /// The number of tests, in their order, that it has passed or that do not reach it.
    passed: usize,
    fate: Option<String>,
}

impl Trial<'_> {
    /// Runs tests until one fails or time is up. `catchers` are those that caught other mutants of the file.
    fn go_on(&mut self, tests: &[Test<'_>], catchers: &mut Vec<usize>, time: Duration) -> Result<(), String> {
        let start = Instant::now();
        let first = if self.passed == 0 { catchers.clone() } else { Vec::new() };
        for at in first.into_iter().rev().chain(self.passed..tests.len()) {
            let test = &tests[at];
            if test.reached.contains(&self.mutant.number)
                && let Some(how) = test.catches(self.mutant.number)?
            {
                self.fate = Some(format!("caught by {} {}, which {how}", test.suite.name, test.name));
                catchers.retain(|known| *known != at);
                catchers.push(at);
                return Ok(());
            }
            if at == self.passed {
                self.passed += 1;
            }
            if start.elapsed() > time {
                return Ok(());
            }
        }
        let reached = tests.iter().any(|test| test.reached.contains(&self.mutant.number));
        self.fate = Some(if reached { "survived" } else { "not reached" }.to_owned());
        Ok(())
    }
}

/// Draws, builds and runs mutants. Each mutant's fate is printed and written to `target/verifier-mutants/fates.txt`
/// when it is known. Returns the survivors.
pub fn run(sources: &[Source], options: &Options) -> Result<Vec<(String, usize)>, String> {
    let folder = root().join("target/verifier-mutants");
    // Not the folder in which this program was built: there, cargo would confuse crates of the same name and profile,
    // even if their sources are elsewhere.
    let target = folder.join("target");
    // Edits that do not compile are found in a separate copy, so that the built copy changes little between runs.
    let check = Workshop { work: folder.join("check"), target: target.clone() };
    let workshop = Workshop { work: folder.join("work"), target };
    let mutants = compiled(&check, sources, options)?;
    workshop.place(sources, &mutants).map_err(|error| format!("the copy: {error}"))?;
    eprintln!("{} mutants", mutants.len());
    let suites = suites(&workshop)?;
    let mut tests = tests(&suites, &folder, options.resume)?;
    tests.retain(|test| test.takes <= options.slowest);
    let (known, mut file) = kept(&folder.join("fates.txt"), options.resume)?;
    let known: HashMap<&str, &str> =
        known.lines().filter_map(|line| Some((line.rsplit('\t').next()?, first_of(line)))).collect();
    let mut write = |fate: &str, mutant: &Mutant<'_>| {
        let line = format!("{fate}\t{}\tline {}\t{}\n", mutant.number, mutant.site.line, mutant.key());
        print!("{line}");
        file.write_all(line.as_bytes()).map_err(|error| error.to_string())
    };
    let mut trials = Vec::new();
    for mutant in &mutants {
        let fate = known.get(mutant.key().as_str()).map(|fate| (*fate).to_owned());
        trials.push(Trial { mutant, passed: 0, fate });
    }
    let mut catchers: HashMap<&str, Vec<usize>> = HashMap::new();
    let recorded: HashSet<String> = records().iter().flat_map(Record::keys).collect();
    for (time, known_to_survive) in [(TURN, false), (Duration::MAX, false), (Duration::MAX, true)] {
        let open = |trial: &&mut Trial<'_>| {
            trial.fate.is_none() && recorded.contains(&trial.mutant.key()) == known_to_survive
        };
        for trial in trials.iter_mut().filter(open) {
            trial.go_on(&tests, catchers.entry(trial.mutant.path).or_default(), time)?;
            match &trial.fate {
                Some(fate) => write(fate, trial.mutant)?,
                None => eprintln!("not caught soon: {} {}", trial.mutant.number, trial.mutant.key()),
            }
        }
    }
    println!("\n{} mutants", mutants.len());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut survivors = Vec::new();
    for Trial { mutant, fate, .. } in &trials {
        let fate = fate.as_deref().unwrap_or_default();
        if !fate.starts_with("caught") {
            survivors.push((mutant.key(), mutant.site.line));
        }
        // `caught by lib machine::exec::int::tests::shifts, which fails`: counted by suite only.
        *counts.entry(fate.split(' ').take(3).collect::<Vec<_>>().join(" ")).or_default() += 1;
    }
    for (fate, count) in counts {
        println!("{count:5} {fate}");
    }
    Ok(survivors)
}
