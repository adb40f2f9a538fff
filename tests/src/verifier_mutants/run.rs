//! Builds all mutants at once in a folder of their own, and runs the suites for each.
//!
//! A suite is first run without a mutant, in parts: what part comes by which mutants, and how long it takes. A mutant is
//! then tried on the parts that come by it, the quickest first, until one fails. A part that takes many times as long as
//! it should counts as failed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::draw::{Mutant, apart, order, share, switched};
use super::sites::Site;
use super::source::{Source, root};
use super::{ACTIVE, REACHED, SWITCH};

/// What the program is asked for.
pub struct Options {
    /// The seed of the draw.
    pub seed: u64,
    /// One mutant for so many lines of code.
    pub lines: usize,
    /// Only mutants whose key contains one of these; all of them, if there is none.
    pub only: Vec<String>,
    /// Parts of suites that take longer are left out.
    pub slowest: Duration,
    /// Whether mutants whose fate is written already are passed over.
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

/// One part of a suite.
struct Part {
    name: String,
    binary: PathBuf,
    folder: PathBuf,
    filter: Vec<String>,
    takes: Duration,
    reached: BTreeSet<usize>,
}

/// Copies what the build needs, and removes what is no longer there; files that are the same keep their times.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(to)?.flatten() {
        let (path, from) = (entry.path(), from.join(entry.file_name()));
        if path.is_dir() && !from.is_dir() {
            fs::remove_dir_all(&path)?;
        } else if path.is_file() && !from.is_file() {
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
            copy(&path, &target)?;
        } else {
            write(&target, &fs::read(&path)?)?;
        }
    }
    Ok(())
}

fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) { Ok(()) } else { fs::write(path, content) }
}

/// All that is drawn, with margin for what does not compile.
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

/// Which bytes of a changed file are which mutant's.
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

    /// What cargo says, one object a line.
    fn messages(&self, arguments: &[&str]) -> Result<(bool, Vec<serde_json::Value>), String> {
        let mut command = self.cargo(arguments);
        let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cargo: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok((output.status.success(), messages))
    }

    /// Writes all mutants into the copy and returns whose bytes are whose, by path.
    fn place(&self, sources: &[Source], mutants: &[Mutant<'_>]) -> std::io::Result<Owned> {
        let base = self.work.join("volta-core/src");
        let mut owned = HashMap::new();
        for source in sources {
            let mine: Vec<&Mutant<'_>> = mutants.iter().filter(|mutant| mutant.path == source.path).collect();
            let (text, bytes) = switched(&source.text, &mine);
            write(&base.join(&source.path), text.as_bytes())?;
            owned.insert(format!("volta-core/src/{}", source.path), bytes);
        }
        write(&base.join("mutant.rs"), SWITCH.as_bytes())?;
        let library = fs::read_to_string(root().join("volta-core/src/lib.rs"))?;
        write(&base.join("lib.rs"), format!("{library}\nmod mutant;\n").as_bytes())?;
        Ok(owned)
    }
}

/// The mutants that an error of the compiler is about: those at its places, else those between its places.
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

/// The mutants that compile, in the copy, which is checked until they do.
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
        let owned = workshop.place(sources, &mutants).map_err(|error| error.to_string())?;
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
    workshop.place(sources, &mutants).map_err(|error| error.to_string())?;
    Ok(mutants)
}

/// The parts of all suites, built.
fn parts(workshop: &Workshop) -> Result<Vec<Part>, String> {
    let mut arguments = vec!["test", "--no-run", "-p", "volta-core", "-p", "volta-suite", "--lib"];
    for (_, name) in SUITES.iter().filter(|(_, name)| *name != "lib") {
        arguments.extend(["--test", name]);
    }
    let (good, messages) = workshop.messages(&arguments)?;
    if !good {
        let errors = messages.iter().filter_map(|message| message["message"]["rendered"].as_str());
        return Err(errors.collect());
    }
    let mut parts = Vec::new();
    for (package, name) in SUITES {
        let binary = messages.iter().find_map(|message| {
            let binary = message["executable"].as_str()?;
            let here = message["manifest_path"].as_str()?;
            let target = message["target"]["name"].as_str()?;
            let folder = if package == "volta-core" { "volta-core" } else { "tests" };
            let mine = here == workshop.work.join(folder).join("Cargo.toml").to_string_lossy()
                && message["profile"]["test"] == true
                && if name == "lib" { target == "volta_core" } else { target == name };
            mine.then(|| (PathBuf::from(binary), workshop.work.join(folder)))
        });
        let (binary, folder) = binary.ok_or_else(|| format!("there is no test program `{name}`"))?;
        for filter in filters(&binary, &folder, name)? {
            let name =
                [name].into_iter().chain(filter.first().map(String::as_str)).collect::<Vec<_>>().join(" ");
            let part = Part {
                name,
                binary: binary.clone(),
                folder: folder.clone(),
                filter,
                takes: Duration::ZERO,
                reached: BTreeSet::new(),
            };
            parts.push(part);
        }
    }
    Ok(parts)
}

/// What a suite is divided by: the first part of its tests' names. Statements and files are run in one.
fn filters(binary: &Path, folder: &Path, suite: &str) -> Result<Vec<Vec<String>>, String> {
    if ["identities", "filetests"].contains(&suite) {
        return Ok(vec![Vec::new()]);
    }
    let mut command = Command::new(binary);
    command.arg("--list").current_dir(folder).env("CARGO_MANIFEST_DIR", folder).env("VOLTA_NVCC", "off");
    let output = command.output().map_err(|error| format!("{}: {error}", binary.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
    let first = |name: &str| name.split_once("::").map_or(name.to_owned(), |(first, _)| format!("{first}::"));
    let groups: BTreeSet<String> = names.map(first).collect();
    if groups.is_empty() {
        return Err(format!("`{suite}` lists no tests"));
    }
    Ok(groups.into_iter().map(|group| vec![group]).collect())
}

/// Runs a part: whether it fails, and how.
fn failure(
    part: &Part,
    mutant: usize,
    limit: Duration,
    reached: Option<&Path>,
) -> Result<Option<&'static str>, String> {
    let mut command = Command::new(&part.binary);
    command.args(&part.filter).current_dir(&part.folder).env("CARGO_MANIFEST_DIR", &part.folder);
    command.env("VOLTA_NVCC", "off").env("INSTA_UPDATE", "no").env(ACTIVE, mutant.to_string());
    command.env_remove(REACHED).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    if let Some(path) = reached {
        command.env(REACHED, path);
    }
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", part.binary.display()))?;
    let out = child.stdout.take().expect("it is piped");
    let (send, told) = mpsc::channel();
    // Ends with the output, which ends with the process.
    let reader = std::thread::spawn(move || {
        let mut lines = BufReader::new(out).split(b'\n');
        while let Some(Ok(line)) = lines.next() {
            let line = String::from_utf8_lossy(&line).into_owned();
            if line.starts_with("test ") && line.trim_end().ends_with("FAILED") && send.send(()).is_err() {
                return;
            }
        }
    });
    let end = Instant::now() + limit;
    let how = match told.recv_timeout(end.saturating_duration_since(Instant::now())) {
        Ok(()) => Some("a test fails"),
        Err(mpsc::RecvTimeoutError::Timeout) => Some("too slow"),
        Err(mpsc::RecvTimeoutError::Disconnected) => None,
    };
    if how.is_some() {
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let _ = reader.join();
    Ok(how.or_else(|| (!status.success()).then_some("the run fails")))
}

/// What is allowed for a part that takes so long: other work on the machine must not look like a finding.
fn limit(takes: Duration) -> Duration {
    Duration::from_secs(20) + 8 * takes
}

/// What becomes of a mutant, in words.
fn fate(mutant: &Mutant<'_>, parts: &[Part]) -> Result<String, String> {
    let mut tried = 0;
    for part in parts.iter().filter(|part| part.reached.contains(&mutant.number)) {
        if let Some(how) = failure(part, mutant.number, limit(part.takes), None)? {
            return Ok(format!("caught by {}, {how}", part.name));
        }
        tried += 1;
    }
    Ok(if tried == 0 { "not reached".to_owned() } else { "survived".to_owned() })
}

/// Draws, builds and runs. Each mutant's fate is printed and written to `target/verifier-mutants/fates.txt` as it is
/// known. Returns the survivors.
pub fn run(sources: &[Source], options: &Options) -> Result<Vec<(String, usize)>, String> {
    let folder = root().join("target/verifier-mutants");
    // Not the folder that this program was built in: cargo takes crates of the same name and profile there for the
    // same, wherever their sources are.
    let workshop = Workshop { work: folder.join("work"), target: folder.join("target") };
    copy(&root(), &workshop.work).map_err(|error| format!("the copy: {error}"))?;
    let mutants = compiled(&workshop, sources, options)?;
    eprintln!("{} mutants", mutants.len());
    let mut parts = parts(&workshop)?;
    for part in &mut parts {
        let path = folder.join("reached.txt");
        let _ = fs::remove_file(&path);
        let start = Instant::now();
        if let Some(how) = failure(part, 0, Duration::from_secs(1200), Some(&path))? {
            return Err(format!("{} without a mutant: {how}", part.name));
        }
        part.takes = start.elapsed();
        let text = fs::read_to_string(&path).unwrap_or_default();
        part.reached = text.lines().filter_map(|line| line.parse().ok()).collect();
        eprintln!("{}: {:.1} s, comes by {}", part.name, part.takes.as_secs_f32(), part.reached.len());
    }
    parts.retain(|part| part.takes <= options.slowest);
    parts.sort_by_key(|part| part.takes);
    let path = folder.join("fates.txt");
    let known = if options.resume { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
    let known: HashMap<&str, &str> =
        known.lines().filter_map(|line| Some((line.rsplit('\t').next()?, line))).collect();
    let mut file = File::create(&path).map_err(|error| error.to_string())?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut survivors = Vec::new();
    for mutant in &mutants {
        let (start, key) = (Instant::now(), mutant.key());
        let told = match known.get(key.as_str()) {
            Some(line) => line.split('\t').nth(1).unwrap_or_default().to_owned(),
            None => fate(mutant, &parts)?,
        };
        let seconds = start.elapsed().as_secs_f32();
        let line = format!("{}\t{told}\t{seconds:.1} s\tline {}\t{key}\n", mutant.number, mutant.site.line);
        print!("{line}");
        file.write_all(line.as_bytes()).map_err(|error| error.to_string())?;
        if !told.starts_with("caught") {
            survivors.push((key, mutant.site.line));
        }
        // `caught by lib machine::, a test fails`: the suite is enough.
        *counts.entry(told.split(' ').take(3).collect::<Vec<_>>().join(" ")).or_default() += 1;
    }
    println!("\n{} mutants", mutants.len());
    for (fate, count) in counts {
        println!("{count:5} {fate}");
    }
    Ok(survivors)
}
