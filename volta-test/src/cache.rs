//! A cache of verdicts. The key of an entry is a hash of all inputs of the verifier (texts, parameters, launches,
//! rules, limits) and of the program itself, so that a hit returns what the same program would compute again.
//!
//! An entry is a file. It begins with a hash of the rest: a truncated or altered entry is ignored.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use volta_core::case::{Case, Options, Step};
use volta_core::verdict::{Report, UnknownReason, Verdict};

use crate::beside::hex;
use crate::files;

/// A longer entry is not written.
const MAX_ENTRY_BYTES: u64 = 8 << 20;

/// When the entries exceed this size in all, the least recently used ones are removed.
const MAX_BYTES: u64 = 256 << 20;

/// The folder's size is checked after this many bytes were written.
const LOOK_AGAIN: u64 = 16 << 20;

/// A file is marked as used at most once in this time.
const MARKED: Duration = Duration::from_secs(24 * 60 * 60);

/// The folder of caches: `volta` under the target directory, or under the user's cache folder if there is none.
pub(crate) fn folder(home: Home) -> PathBuf {
    let variable = |name| env::var_os(name).filter(|value: &OsString| !value.is_empty());
    if let Some(target) = variable("CARGO_TARGET_DIR") {
        return PathBuf::from(target).join("volta");
    }
    // Cargo marks its target directory with a tag; tests and `cargo run` programs lie below it.
    let program = env::current_exe().unwrap_or_default();
    let is_target = |dir: &&Path| dir.join("CACHEDIR.TAG").is_file();
    if let Some(target) = program.ancestors().skip(1).find(is_target) {
        return target.join("volta");
    }
    let here = env::current_dir().unwrap_or_default();
    if home == Home::Near
        && let Some(target) = here.ancestors().map(|dir| dir.join("target")).find(|dir| is_target(&&**dir))
    {
        return target.join("volta");
    }
    let home = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let home = home.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".cache")));
    home.unwrap_or_else(env::temp_dir).join("volta")
}

/// Which target directories [`folder`] may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// Also that of the current directory or of one above it.
    Near,
    /// Not that one: a checkout may come from a stranger, and so may its cache.
    Own,
}

/// Verdicts of earlier runs.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    /// A hash of this program.
    program: String,
    /// Bytes written since the folder's size was last checked.
    written: AtomicU64,
    found: AtomicUsize,
    asked: AtomicUsize,
}

impl Cache {
    /// The cache; `None` if `VOLTA_CACHE` is `off`, or if its folder cannot be used.
    ///
    /// # Errors
    /// When the variable has another value.
    pub fn from_environment() -> Result<Option<Cache>, String> {
        match env::var("VOLTA_CACHE").as_deref() {
            Err(_) | Ok("" | "on") => Ok(Cache::of_this_program(folder(Home::Own).join("verdicts")).ok()),
            Ok("off") => Ok(None),
            Ok(other) => Err(format!("VOLTA_CACHE is `{other}`; it takes on and off")),
        }
    }

    /// The cache of this process, opened once.
    ///
    /// # Errors
    /// As [`Cache::from_environment`].
    pub fn of_process() -> Result<Option<&'static Cache>, String> {
        static CACHE: OnceLock<Result<Option<Cache>, String>> = OnceLock::new();
        CACHE.get_or_init(Cache::from_environment).as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    fn of_this_program(folder: PathBuf) -> io::Result<Cache> {
        fs::create_dir_all(&folder)?;
        let mut cache = Cache {
            folder,
            program: String::new(),
            written: AtomicU64::new(LOOK_AGAIN),
            found: AtomicUsize::new(0),
            asked: AtomicUsize::new(0),
        };
        cache.program = cache.hash_of_program()?;
        Ok(cache)
    }

    /// A hash of the program's file. It is cached by the file's path, length, times and inode.
    fn hash_of_program(&self) -> io::Result<String> {
        let name = env::current_exe()?;
        // The file that is running, even if its path holds another file by now.
        let running = Path::new("/proc/self/exe");
        let mut file = File::open(running).or_else(|_| File::open(&name))?;
        let about = file.metadata()?;
        let mut stamp = format!("{} {} {:?}", name.display(), about.len(), about.modified()?);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let (device, inode) = (about.dev(), about.ino());
            stamp += &format!(" {device} {inode} {} {}", about.ctime(), about.ctime_nsec());
        }
        let key = format!("program-{}", hex(Sha256::digest(stamp.as_bytes())));
        if let Some(hash) = self.read::<String>(&key) {
            return Ok(hash);
        }
        let mut hash = Sha256::new();
        let mut part = vec![0; 1 << 20];
        loop {
            match file.read(&mut part)? {
                0 => break,
                length => hash.update(&part[..length]),
            }
        }
        let hash = hex(hash.finalize());
        self.write(&key, &hash);
        Ok(hash)
    }

    /// A hash of everything that the verifier's report depends on.
    pub(crate) fn key(&self, case: &Case, timeout: Option<Duration>) -> String {
        // The number of threads is left out: reports do not depend on it.
        let options = Options { threads: 0, ..case.options.clone() };
        hash_of(&[&self.program, &format!("{timeout:?}")], &Case { options, ..case.clone() })
    }

    /// The report of an earlier run under this key.
    pub(crate) fn report(&self, key: &str) -> Option<Report> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let report = self.read(key)?;
        self.found.fetch_add(1, Ordering::Relaxed);
        Some(report)
    }

    /// Stores a report, unless another run may come to another one (a timeout, or a defect).
    pub(crate) fn keep(&self, key: &str, report: &Report) {
        if let Verdict::Unknown(unknown) = &report.verdict
            && matches!(unknown.kind, UnknownReason::Timeout | UnknownReason::Internal)
        {
            return;
        }
        self.write(key, report);
    }

    /// The numbers of hits and of lookups.
    pub fn counts(&self) -> (usize, usize) {
        (self.found.load(Ordering::Relaxed), self.asked.load(Ordering::Relaxed))
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.json"))
    }

    fn read<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let path = self.path(key);
        let text = files::read_text(&path, MAX_ENTRY_BYTES).ok()?;
        let (hash, body) = text.split_once('\n')?;
        if hash != hex(Sha256::digest(body.as_bytes())) {
            return None;
        }
        let entry: Entry<T> = serde_json::from_str(body).ok()?;
        if entry.key != key {
            return None;
        }
        mark_as_used(&path);
        Some(entry.value)
    }

    /// Writes an entry; failures are ignored.
    fn write<T: Serialize>(&self, key: &str, value: &T) {
        let Ok(body) = serde_json::to_string(&Entry { key: key.to_owned(), value }) else { return };
        if body.len() as u64 > MAX_ENTRY_BYTES / 2 {
            return;
        }
        let text = format!("{}\n{body}", hex(Sha256::digest(body.as_bytes())));
        if files::put(&self.path(key), text.as_bytes()).is_err() {
            return;
        }
        let length = text.len() as u64;
        if self.written.fetch_add(length, Ordering::Relaxed) + length > LOOK_AGAIN {
            self.written.store(0, Ordering::Relaxed);
            shrink(&self.folder, MAX_BYTES);
        }
    }
}

/// A digest of what is claimed: the PTX, and all that a case says of parameters, launches and rules. It is the same for
/// all parts of a case, and depends neither on limits nor on the machine.
pub(crate) fn digest(case: &Case) -> String {
    let options = Options { rules: case.options.rules.clone(), ..Options::default() };
    hash_of(&[], &Case { options, ..case.clone() })
}

/// A hash of some texts, and of a case.
fn hash_of(texts: &[&str], case: &Case) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    texts.iter().for_each(|text| part(text.as_bytes()));
    let mut case = case.clone();
    for side in case.reference.iter_mut().chain([&mut case.opt]) {
        for launch in side.steps.iter_mut().filter_map(Step::launch_mut) {
            part(std::mem::take(&mut launch.ptx).as_bytes());
        }
    }
    // `Debug` output contains every field.
    part(format!("{case:?}").as_bytes());
    hex(hash.finalize())
}

#[derive(Serialize, Deserialize)]
struct Entry<T> {
    /// The key, which must match the file's name: a renamed file is ignored.
    key: String,
    value: T,
}

/// Updates the file's time, by which [`shrink`] removes the least recently used files first.
fn mark_as_used(path: &Path) {
    let now = SystemTime::now();
    let is_old = |time: SystemTime| now.duration_since(time).is_ok_and(|age| age > MARKED);
    if path.metadata().and_then(|about| about.modified()).is_ok_and(is_old) {
        let _ = File::options().write(true).open(path).and_then(|file| file.set_modified(now));
    }
}

/// If a folder is larger than `most`, removes its oldest files until it has at most three quarters of that.
fn shrink(folder: &Path, most: u64) {
    let mut found: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Ok(about) = entry.metadata()
            && about.is_file()
            && let Ok(modified) = about.modified()
        {
            found.push((modified, about.len(), entry.path()));
        }
    }
    let mut total: u64 = found.iter().map(|(_, length, _)| length).sum();
    if total <= most {
        return;
    }
    found.sort();
    for (_, length, path) in found {
        if total <= most / 4 * 3 {
            break;
        }
        if fs::remove_file(path).is_ok() {
            total -= length;
        }
    }
}

#[cfg(test)]
mod tests {
    use volta_core::base::assumption::Assumption;
    use volta_core::case::{FormsWanted, KernelLaunch, Launch, Side, Which};
    use volta_core::verdict::{
        CasePart, Coverage, CudaPlace, Difference, Explanation, Fault, FaultKind, FormsDigest, FormulaText,
        How, InputError, InputProblem, Place, Progress, SideStats, Site, Thread, Unknown, UnusedInput,
        ValuePair, Witness,
    };

    use tempfile::TempDir;

    use super::*;

    /// A cache in a folder of its own, which goes with what is returned.
    fn cache() -> (Cache, TempDir) {
        let folder = tempfile::tempdir().expect("the folder can be made");
        (Cache::of_this_program(folder.path().into()).expect("the folder can be made"), folder)
    }

    fn case() -> Case {
        let launch = Launch::default();
        let side = |ptx: &str| KernelLaunch {
            ptx: ptx.into(),
            path: "k.ptx".into(),
            kernel: None,
            arguments: None,
            launch: launch.clone(),
        };
        Case {
            params: Vec::new(),
            reference: Some(side("a").into()),
            opt: side("b").into(),
            options: Options::default(),
        }
    }

    fn only(side: &mut Side) -> &mut KernelLaunch {
        side.only_mut().expect("it is one launch")
    }

    fn reports() -> Vec<Report> {
        let cuda = CudaPlace { file: "k.cu".into(), line: 3, column: 1, inlined_at: None };
        let inlined = CudaPlace { inlined_at: Some(Box::new(cuda.clone())), ..cuda };
        let place = Place { step: 0, line: 1, column: 2, length: 3, text: "st".into(), cuda: Some(inlined) };
        let site = Site {
            action: "writes s[0]".into(),
            thread: Some(Thread { cta: [0, 1, 2], thread: [3, 4, 5] }),
            place: Some(place.clone()),
        };
        let fault = Fault {
            step: 1,
            side: Which::Opt,
            kind: FaultKind::Race,
            rule: "Y1",
            message: "two threads meet\n\u{1b}".into(),
            sites: vec![site],
            timeline: None,
            phases: Vec::new(),
            help: None,
        };
        let witness = Witness {
            inputs: vec![("x[0]".into(), "1/3".into())],
            zeros: 2,
            reference: "inf".into(),
            opt: "0".into(),
            readings: Vec::new(),
            explanation: Some(Explanation {
                what: "divisor".into(),
                reference: "1".into(),
                opt: "0".into(),
                places: [None, Some(Box::new(place.clone()))],
            }),
        };
        let difference =
            |how| Verdict::Different(Difference { tensor: "y".into(), element: 3, index: vec![1, 1], how });
        let wrong = |side| {
            Verdict::InputError(InputError {
                step: 0,
                kind: InputProblem::DoesNotFit,
                side,
                message: "no".into(),
                place: Some(place.clone()),
                part: side.map(|_| CasePart::Argument(2)),
                help: None,
            })
        };
        let pair =
            ValuePair { terms: ["a".into(), "b".into()], places: [None, Some(Box::new(place.clone()))] };
        let undecided = Unknown {
            kind: UnknownReason::Undecided,
            reason: "open".into(),
            progress: Some(Box::new(Progress {
                element: "y[3]".into(),
                equal: 1,
                last: vec![pair.clone()],
                open: pair,
                is_output: false,
            })),
            help: None,
        };
        let verdicts = [
            Verdict::Equivalent,
            Verdict::EquivalentWhere(vec!["x[0] ≠ 0".into()]),
            Verdict::Clean,
            Verdict::Fault(fault.clone()),
            difference(How::Values(witness)),
            difference(How::Unwritten { by: Which::Reference }),
            difference(How::NobodyWrites),
            wrong(None),
            wrong(Some(Which::Reference)),
            Verdict::Unknown(undecided),
        ];
        let report = |verdict| Report {
            also: vec![fault.clone()],
            assumptions: vec![Assumption::given("`n` is 4"), Assumption::model(String::from("reals"))],
            unused: vec![UnusedInput {
                tensor: "x".into(),
                shape: vec![4],
                unused: 2,
                runs: 1,
                first: (1, 2),
            }],
            coverage: Coverage { compared: 1, unwritten: 2, total: 3 },
            reference: Some(SideStats { ctas: (1, 2), seconds: 0.25, ..SideStats::default() }),
            canonical_elements: Some(7),
            rechecked: Some(3),
            formulas: vec![FormulaText {
                text: "y[i] = x[i]      i < 4".into(),
                marked: "y[i] = ⟦x[i]⟧      i < 4".into(),
                mathml: "<math></math>".into(),
            }],
            form_digests: vec![FormsDigest { digest: u128::MAX - 1, open: 1 }],
            ..Report::of(verdict)
        };
        verdicts.map(report).into()
    }

    #[test]
    fn what_was_said_is_said_again() {
        let (cache, _folder) = cache();
        for (at, report) in reports().into_iter().enumerate() {
            let key = at.to_string();
            assert_eq!(cache.report(&key), None);
            cache.keep(&key, &report);
            assert_eq!(cache.report(&key), Some(report));
        }
        assert_eq!(cache.counts(), (10, 20));
    }

    #[test]
    fn what_chance_decides_is_not_kept() {
        let (cache, _folder) = cache();
        for kind in [UnknownReason::Timeout, UnknownReason::Internal] {
            let unknown = Unknown { kind, ..Unknown::internal("") };
            cache.keep("key", &Report::of(Verdict::Unknown(unknown)));
            assert_eq!(cache.report("key"), None, "{kind:?}");
        }
    }

    #[test]
    fn whatever_is_given_is_in_the_key() {
        let (mut cache, _folder) = cache();
        let key = cache.key(&case(), None);
        assert_eq!(key, cache.key(&case(), None));
        type Edit = fn(&mut Case);
        let edits: [Edit; 9] = [
            |case| only(&mut case.opt).ptx.push(' '),
            |case| std::mem::swap(&mut case.opt, case.reference.as_mut().expect("it is a pair")),
            |case| case.reference = None,
            |case| only(&mut case.opt).path.push('x'),
            |case| only(&mut case.opt).kernel = Some("k".into()),
            |case| only(&mut case.opt).launch.grid = [2, 1, 1],
            |case| case.options.rules.strict_stores = true,
            |case| case.options.recheck = 1,
            |case| case.options.forms = FormsWanted::Always,
        ];
        let mut keys = vec![key, cache.key(&case(), Some(Duration::from_secs(1)))];
        for edit in edits {
            let mut case = case();
            edit(&mut case);
            keys.push(cache.key(&case, None));
        }
        cache.program = "another".into();
        keys.push(cache.key(&case(), None));
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 12);
        // Moving a byte across the boundary of two texts changes the key.
        let (mut one, mut other) = (case(), case());
        (only(&mut one.opt).ptx, only(&mut other.opt).ptx) = ("bc".into(), "c".into());
        only(other.reference.as_mut().expect("it is a pair")).ptx = "ab".into();
        assert_ne!(cache.key(&one, None), cache.key(&other, None));
        let mut case = case();
        let key = cache.key(&case, None);
        case.options.threads = 7;
        assert_eq!(cache.key(&case, None), key, "nothing depends on threads");
    }

    #[test]
    fn entries_that_were_altered_are_passed_over() {
        let (cache, _folder) = cache();
        let report = Report::of(Verdict::Different(Difference {
            tensor: "y".into(),
            element: 0,
            index: vec![0],
            how: How::NobodyWrites,
        }));
        cache.keep("key", &report);
        let whole = fs::read_to_string(cache.path("key")).expect("it is there");
        for text in [
            String::new(),
            whole[..whole.len() / 2].into(),
            whole[..whole.len() - 1].into(),
            whole.replace("NobodyWrites", "nobodyWrites"),
            whole.replace("\"y\"", "\"z\""),
            format!("{whole} "),
            format!("{}\nnull", hex(Sha256::digest(b"null"))),
        ] {
            fs::write(cache.path("key"), &text).expect("it can be written");
            assert_eq!(cache.report("key"), None, "{text}");
        }
        fs::write(cache.path("other"), &whole).expect("it can be written");
        assert_eq!(cache.report("other"), None, "it is the entry of another key");
        fs::write(cache.path("key"), &whole).expect("it can be written");
        assert_eq!(cache.report("key"), Some(report));
    }

    #[test]
    fn the_oldest_go_first() {
        let own = tempfile::tempdir().expect("the folder can be made");
        let folder = own.path().to_owned();
        let now = SystemTime::now();
        for at in 0..8 {
            let path = folder.join(format!("{at}.json"));
            fs::write(&path, [0; 100]).expect("it can be written");
            let file = File::options().write(true).open(&path).expect("it is there");
            file.set_modified(now - Duration::from_secs(100 * (8 - at))).expect("times can be set");
        }
        let left = || {
            let mut names: Vec<_> = fs::read_dir(&folder)
                .expect("it is there")
                .map(|entry| entry.expect("it is there").file_name().to_string_lossy().into_owned())
                .collect();
            names.sort();
            names
        };
        shrink(&folder, 800);
        assert_eq!(left().len(), 8, "there is room");
        shrink(&folder, 799);
        assert_eq!(left(), ["3.json", "4.json", "5.json", "6.json", "7.json"]);
    }
}
