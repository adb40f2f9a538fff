//! Cases for a machine with a GPU: what `cargo volta export --hardware` writes, its runner, `cargo volta replay --run`
//! and `--emit cuda`, on a stand-in of the driver (`hardware/driver.c`) that checks how it is called, and answers with
//! the interpreter's results or with what a test wants to see noticed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;
use volta_suite::{Said, Scratch};

/// Cases by what is special about their launches: nothing, several verdicts; structs, a variable of the module; tensor
/// maps; clusters; a cooperative grid; faults; barriers that compute-sanitizer does not follow; several launches, a fill, a
/// copy, launches that overlap, a graph as a reference and between launches. To the stand-in, a launch is what it finds in
/// memory: what only earlier launches read must not tell two of them apart.
const CASES: [&str; 18] = [
    "softmax/online_4",
    "softmax/no_rescale_4",
    "elementwise/half",
    "structs/wrong_stride",
    "globals/not_zero",
    "globals/result_missing",
    "pipeline/wgmma_descriptor_off",
    "pipeline/gemm",
    "cluster/sum_own_part",
    "cooperative/normalise",
    "race/grad_input",
    "barriers/double_buffer",
    "launches/softmax",
    "launches/split_k_atomic",
    "launches/aliased",
    "dependent/chain",
    "graph/step_before",
    "launches/scan_inclusive",
];

/// What a launch on the stand-in does.
#[derive(Clone, Copy)]
enum Does {
    AsExpected,
    Fails,
    Hangs,
    WritesWrongValues,
    WritesBeside,
}

/// The exported cases; each test has a copy.
static EXPORTED: LazyLock<PathBuf> = LazyLock::new(|| {
    let (bundle, said) = exported("exported", &CASES.map(fixture));
    assert_eq!(said, format!("written    {} cases into bundle\n", CASES.len()));
    bundle
});

/// Exports cases; gives their folder, and what is said of it.
fn exported(name: &str, cases: &[String]) -> (PathBuf, String) {
    let scratch = Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("hardware-{name}"));
    let mut export = scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
    let said = Said::by(export.args(["export", "--hardware", "bundle"]).args(cases));
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    (scratch.path().join("bundle"), said.out)
}

/// A folder with the stand-in, and exported cases.
struct Hardware {
    scratch: Scratch,
    bundle: PathBuf,
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success())
}

/// A text before its length.
fn long(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u64).to_le_bytes()[..], bytes].concat()
}

fn word(value: u64) -> [u8; 8] {
    value.to_le_bytes()
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// The bytes of a tensor map as the stand-in encodes them, with 0 for the address.
fn map_of(address: &Value) -> Vec<u8> {
    let types = [
        "UINT8", "UINT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT16", "FLOAT32", "FLOAT64", "BFLOAT16",
    ];
    let at =
        |names: &[&str], name: &Value| names.iter().position(|known| known == name).expect("a known name");
    let mut words = [0u32; 32];
    let rank = list(&address["extents"]).len();
    words[0] = 0x4D41_504D;
    words[1] = at(&types, &address["type"]) as u32;
    words[2] = rank as u32;
    words[3] = at(&["NONE", "32B", "64B", "128B"], &address["swizzle"]) as u32;
    for (key, first) in [("extents", 6), ("strides", 11), ("box", 16)] {
        for (place, value) in list(&address[key]).iter().enumerate() {
            words[first + place] = number(value) as u32;
        }
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Memory of the areas of a side, as bytes.
type Areas = Vec<Vec<u8>>;

/// What the stand-in answers to a launch of a side: `before` is the memory that it finds, `after` what it leaves.
fn answer(
    (kernel, side, step): (&Value, &Value, &Value),
    data: &[u8],
    does: Does,
    [before, after]: [&Areas; 2],
) -> Vec<u8> {
    let blob = |place: &Value| &data[number(&place[0]) as usize..][..number(&place[1]) as usize];
    let mut out = long(text(&kernel["entry"]).as_bytes());
    out.extend(word(does as u64));
    let extents = |key: &str| match kernel[key].is_null() {
        true => vec![0; 3],
        false => list(&kernel[key]).iter().map(|extent| number(extent) as u32).collect(),
    };
    let mut shape = [extents("grid"), extents("block")].concat();
    shape.push(number(&kernel["shared"]) as u32);
    shape.extend(extents("cluster"));
    shape.extend(["cooperative", "programmatic"].map(|key| u32::from(kernel[key] == true)));
    out.extend(long(&shape.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()));
    let parameters = list(&kernel["parameters"]);
    out.extend(word(parameters.len() as u64));
    for parameter in parameters {
        let (offset, size) = (number(&parameter[0]), number(&parameter[1]));
        out.extend(long(&blob(&step["parameters"])[offset as usize..][..size as usize]));
        let inside = |address: &&Value| (offset..offset + size).contains(&number(&address["at"]));
        let addresses: Vec<&Value> = list(&step["addresses"]).iter().filter(inside).collect();
        out.extend(word(addresses.len() as u64));
        for address in addresses {
            out.extend(word(number(&address["at"]) - offset));
            out.extend(word(number(&address["area"])));
            out.extend(long(&if address["type"].is_null() { Vec::new() } else { map_of(address) }));
        }
    }
    let areas = list(&side["areas"]);
    out.extend(word(areas.len() as u64));
    for (area, (before, after)) in areas.iter().zip(before.iter().zip(after)) {
        let variable = &area["variables"][0];
        let (name, offset) =
            if variable.is_null() { ("", 0) } else { (text(&variable[1]), number(&variable[2])) };
        out.extend(long(name.as_bytes()));
        out.extend(word(offset));
        out.extend(long(before));
        out.extend(long(after));
    }
    out
}

/// The area and the bytes of each element of a parameter of the case.
fn elements(side: &Value, param: &Value) -> (usize, Vec<std::ops::Range<usize>>) {
    let fields = |area: &Value| list(&area["fields"]).iter().find(|field| field["param"] == *param).cloned();
    let found = list(&side["areas"]).iter().map(fields).enumerate();
    let (area, field) = found.filter_map(|(at, field)| Some((at, field?))).next().expect("an area");
    let [offset, count, stride, size, all] =
        ["offset", "count", "stride", "bytes", "elements"].map(|key| number(&field[key]) as usize);
    let place = |at: usize| at / count * stride + offset + at % count * size;
    (area, (0..all).map(|at| place(at)..place(at) + size).collect())
}

/// What the stand-in answers to the launches of a side: the first launch that knows an area leaves in it what the side
/// does, and besides, fills and copies change it.
fn answers(kernels: &[Value], side: &Value, data: &[u8], does: Does) -> Vec<Vec<u8>> {
    let blob = |place: &Value| data[number(&place[0]) as usize..][..number(&place[1]) as usize].to_vec();
    let areas = list(&side["areas"]);
    let mut memory: Areas = areas.iter().map(|area| blob(&area["before"])).collect();
    let left = |area: &Value| match area["interpreter"].is_null() {
        true => blob(&area["before"]),
        false => blob(&area["interpreter"]["after"]),
    };
    let end: Areas = areas.iter().map(left).collect();
    let steps = list(&side["steps"]);
    let knows = |step: &Value, area: usize| {
        let points = |address: &Value| number(&address["area"]) == area as u64;
        !list(&areas[area]["variables"]).is_empty() || list(&step["addresses"]).iter().any(points)
    };
    let first = |area: usize| steps.iter().position(|step| !step["kernel"].is_null() && knows(step, area));
    let mut all = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        if let Some(kernel) = step["kernel"].as_u64() {
            let mut after = memory.clone();
            for area in (0..areas.len()).filter(|area| first(*area) == Some(at)) {
                after[area].clone_from(&end[area]);
            }
            all.push(answer((&kernels[kernel as usize], side, step), data, does, [&memory, &after]));
            memory = after;
            continue;
        }
        let (to, places) = elements(side, if step["to"].is_null() { &step["fill"] } else { &step["to"] });
        let held: Vec<u8> = if step["to"].is_null() {
            blob(&step["with"])
        } else {
            let (from, places) = elements(side, &step["copy"]);
            places.into_iter().flat_map(|place| memory[from][place].to_vec()).collect()
        };
        for (at, place) in places.into_iter().enumerate() {
            let size = place.len();
            let first = if held.len() == size { 0 } else { at * size };
            memory[to][place].copy_from_slice(&held[first..first + size]);
        }
    }
    all
}

impl Hardware {
    /// Compiles the stand-in, and copies the exported cases; `None` where the test cannot run.
    fn new(name: &str) -> Option<Hardware> {
        Hardware::with(name, || EXPORTED.clone())
    }

    fn with(name: &str, cases: impl FnOnce() -> PathBuf) -> Option<Hardware> {
        let scratch = Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("hardware-{name}"));
        if !has("cc") || !has("python3") {
            eprintln!("skipped: there is no cc or no python3 on PATH");
            return None;
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hardware/driver.c");
        let mut cc = Command::new("cc");
        cc.args(["-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", "libcuda.so.1"]).arg(source);
        let built = Said::by(scratch.within(cc).current_dir(scratch.path()));
        assert_eq!(built.code, 0, "{}", built.all());
        fs::copy(scratch.path().join("libcuda.so.1"), scratch.path().join("libcuda.so"))
            .expect("it is copied");
        let bundle = scratch.path().join("bundle");
        fs::create_dir(&bundle).expect("a folder");
        for file in fs::read_dir(cases()).expect("a folder of cases") {
            let file = file.expect("a file").path();
            fs::copy(&file, bundle.join(file.file_name().expect("a name"))).expect("it is copied");
        }
        let hardware = Hardware { scratch, bundle };
        hardware.answer(&BTreeMap::new());
        Some(hardware)
    }

    fn manifest(&self) -> Value {
        let text = fs::read(self.bundle.join("manifest.json")).expect("a manifest");
        serde_json::from_slice(&text).expect("JSON")
    }

    /// Writes what the stand-in answers: for optimized kernels, what a test wants of their cases.
    fn answer(&self, wanted: &BTreeMap<&str, Does>) {
        let mut answers = Vec::new();
        for case in list(&self.manifest()["cases"]) {
            let data = fs::read(self.bundle.join(text(&case["data"]))).expect("data");
            let kernels = list(&case["kernels"]);
            for run in list(&case["runs"]) {
                let sides = list(&run["sides"]);
                for (at, side) in sides.iter().enumerate() {
                    let does = wanted.get(text(&case["name"])).filter(|_| at + 1 == sides.len());
                    let does = does.copied().unwrap_or(Does::AsExpected);
                    answers.extend(self::answers(kernels, side, &data, does));
                }
            }
        }
        // Wanted behaviour goes first: cases may share kernels and inputs.
        answers.sort_by_key(|answer| {
            let name = u64::from_le_bytes(answer[..8].try_into().expect("a word")) as usize;
            std::cmp::Reverse(answer[8 + name])
        });
        let count = word(answers.len() as u64).to_vec();
        let all = answers.iter().fold(count, |mut all, answer| {
            all.extend(long(answer));
            all
        });
        fs::write(self.scratch.path().join("answers"), all).expect("answers are written");
    }

    /// A command that finds the stand-in.
    fn with_driver(&self, mut command: Command) -> Command {
        command
            .env("LD_LIBRARY_PATH", self.scratch.path())
            .env("DRIVER_ANSWERS", self.scratch.path().join("answers"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Said {
        let mut command = self.scratch.command("python3");
        command.args(["bundle/run.py", "bundle"]).args(arguments);
        Said::by(&mut self.with_driver(command))
    }
}

fn fixture(case: &str) -> String {
    format!("{}/../fixtures/{case}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn hardware_that_does_what_the_interpreter_does_contradicts_nothing() {
    let Some(hardware) = Hardware::new("agrees") else { return };
    hardware
        .scratch
        .write("page.md", "# Page\n\n<!-- results: begin -->\nold\n<!-- results: end -->\n\nend\n");
    let said = hardware.run(&["--verbose", "--page", "page.md"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    assert!(
        said.out.contains("cases without a fault, 0 contradicted; of 1 faulty ones 0 visibly fail"),
        "{}",
        said.out
    );
    assert!(said.out.contains("ok     softmax::online_4 (equivalent): 4 runs, 4 with"), "{}", said.out);
    assert!(said.out.contains("hidden race::grad_input (race): nothing, 60 runs"), "{}", said.out);
    let page = hardware.scratch.read("page.md");
    assert!(page.starts_with("# Page\n") && page.ends_with("\nend\n") && !page.contains("old"), "{page}");
    assert!(
        page.contains("stand-in (sm_90), driver for CUDA 13.0") && page.contains("| *race* | 1 | 0 |"),
        "{page}"
    );
}

/// All fixtures that hardware of sm_90 can run: their parameters are laid out as the stand-in finds them, and what the
/// interpreter leaves is what the runner compares with.
#[test]
fn all_fixtures_contradict_nothing() {
    if !volta_suite::in_full() {
        eprintln!("skipped: VOLTA_SLOW=1 runs it");
        return;
    }
    let Some(hardware) = Hardware::with("all", || exported("all-exported", &[fixture("")]).0) else { return };
    let said = hardware.run(&["--times", "2"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    assert!(said.out.contains(", 0 contradicted"), "{}", said.out);
}

#[test]
fn what_hardware_does_otherwise_is_noticed() {
    let Some(hardware) = Hardware::new("differs") else { return };
    hardware.answer(&BTreeMap::from([
        ("softmax::online_4", Does::WritesWrongValues),
        ("elementwise::half", Does::WritesBeside),
        ("cluster::sum_own_part", Does::Fails),
        ("cooperative::normalise", Does::Hangs),
        ("race::grad_input", Does::Hangs),
        ("barriers::double_buffer", Does::Fails),
    ]));
    let said = hardware.run(&["--verbose", "--timeout", "2"]);
    assert_eq!(said.code, 1, "{}", said.all());
    let line =
        |case: &str| said.out.split(case).nth(1).unwrap_or_default().split("\n").take(4).collect::<String>();
    for (case, told) in [
        ("WRONG  softmax::online_4", "from the interpreter"),
        ("WRONG  softmax::online_4", "the kernels are"),
        ("WRONG  elementwise::half", "memory that nobody writes changes in or beside"),
        ("WRONG  cluster::sum_own_part", "CUDA_ERROR_ILLEGAL_ADDRESS"),
        ("WRONG  cooperative::normalise", "hang"),
        ("shows  race::grad_input", "hang, 1 runs"),
        ("WRONG  barriers::double_buffer", "CUDA_ERROR_ILLEGAL_ADDRESS"),
        // These run in processes that come after.
        ("ok     softmax::no_rescale_4", ""),
        ("ok     structs::wrong_stride", ""),
    ] {
        assert!(said.out.contains(case) && line(case).contains(told), "{case}: {told}\n{}", said.out);
    }
}

#[test]
fn a_counterexample_that_does_not_show_is_a_contradiction() {
    let Some(hardware) = Hardware::new("witness") else { return };
    let mut manifest = hardware.manifest();
    let cases = manifest["cases"].as_array_mut().expect("cases");
    let case = cases.iter_mut().find(|case| case["name"] == "softmax::no_rescale_4").expect("the case");
    // An element of which both kernels say the same: none of them writes what lies behind the output.
    case["witness"]["how"] = "optimized-writes".into();
    fs::write(hardware.bundle.join("manifest.json"), manifest.to_string()).expect("it is written");
    let said = hardware.run(&["--filter", "no_rescale_4"]);
    assert_eq!(said.code, 1, "{}", said.all());
    assert!(said.out.contains("the counterexample does not show"), "{}", said.out);
}

#[test]
fn a_run_says_why_there_is_none() {
    let Some(hardware) = Hardware::new("none") else { return };
    let command = |arguments: &[&str]| {
        let mut command = hardware.scratch.command("python3");
        command.arg("bundle/run.py").args(arguments);
        hardware.with_driver(command)
    };
    let said = Said::by(command(&["bundle"]).env("DRIVER_NO_GPU", "1"));
    assert_eq!((said.code, said.err.as_str()), (2, "there is no NVIDIA GPU in this machine\n"));
    let said = Said::by(&mut command(&["bundle", "--filter", "^none"]));
    assert_eq!((said.code, said.err.as_str()), (2, "no case is for this GPU\n"));
    let said = Said::by(command(&["bundle"]).env("DRIVER_IS_OLD", "1"));
    assert!(
        said.code == 2 && said.err.contains("the driver is older than the PTX of a case"),
        "{}",
        said.all()
    );
    let replay = hardware.scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
    let mut replay = hardware.with_driver(replay);
    let said =
        Said::by(replay.args(["replay", "--run", &fixture("softmax/online_4")]).env("DRIVER_NO_GPU", "1"));
    assert_eq!(said.code, 2);
    assert!(said.err.contains("was not run: there is no NVIDIA GPU in this machine"), "{}", said.err);
}

#[test]
fn one_case_is_replayed() {
    let Some(hardware) = Hardware::new("replayed") else { return };
    for case in ["softmax/no_rescale_4", "pipeline/wgmma_descriptor_off"] {
        let mut replay =
            hardware.with_driver(hardware.scratch.command(env!("CARGO_BIN_EXE_volta-under-test")));
        let said = Said::by(replay.args(["replay", "--run", &fixture(case)]));
        assert_eq!(said.code, 0, "{}", said.all());
        let told = format!("ok     {} (different): 6 runs, 6 with", case.replace('/', "::"));
        assert!(said.out.contains(&told), "{}", said.out);
    }
}

#[test]
fn reports_of_compute_sanitizer_are_told_from_its_known_false_alarms() {
    let Some(hardware) = Hardware::new("sanitizer") else { return };
    // It reports something of each launch, if it looks for races.
    let tool = "#!/bin/sh\ntool=$2; shift 4\n\"$@\" | while read -r line; do\n  case $tool-$line in\n    \
                racecheck-*sides*) echo '========= Error: Race reported' ;;\n  esac\n  echo \"$line\"\ndone\n";
    hardware.scratch.write("bin/compute-sanitizer", tool);
    let path = hardware.scratch.path().join("bin/compute-sanitizer");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it can be started");
    hardware.scratch.write("page.md", "<!-- results: begin -->\n<!-- results: end -->\n");
    let mut command = hardware.scratch.command("python3");
    let search = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}/bin:{search}", hardware.scratch.path().display()));
    command.args(["bundle/run.py", "bundle", "--sanitize", "--page", "page.md"]);
    let said = Said::by(&mut hardware.with_driver(command));
    assert_eq!(said.code, 1, "{}", said.all());
    let page = hardware.scratch.read("page.md");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| racecheck |")).collect();
    let [row] = rows.as_slice() else { panic!("{page}") };
    assert!(row.contains("`softmax::online_4`: Error: Race reported"), "{page}");
    assert!(!row.contains("double_buffer") && !row.contains("pipeline::gemm"), "{page}");
    assert!(page.contains("| memcheck | ") && !page.contains("| memcheck | 0"), "{page}");
}

/// The programs that `--emit cuda` prints, compiled and linked with the stand-in.
#[test]
fn emitted_programs_launch_as_the_driver_needs_it() {
    let Some(nvcc) = std::env::var("VOLTA_NVCC").ok().filter(|nvcc| nvcc != "off") else {
        eprintln!("not compiled: VOLTA_NVCC names no compiler");
        return;
    };
    let Some(hardware) = Hardware::new("emitted") else { return };
    for case in
        ["softmax/no_rescale_4", "structs/wrong_stride", "globals/not_zero", "pipeline/wgmma_descriptor_off"]
    {
        let mut replay = hardware.scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
        let said = Said::by(replay.args(["replay", "--emit", "cuda", &fixture(case)]));
        assert_eq!(said.code, 0, "{}", said.err);
        hardware.scratch.write("shown.cu", &said.out);
        let built = Said::by(hardware.scratch.within(Command::new(&nvcc)).args([
            "shown.cu", // There is no code for a GPU in it, and CUDA's runtime may not be here.
            "-x", "c++", "-cudart", "none", "-L.", "-lcuda", "-o", "shown",
        ]));
        assert_eq!(built.code, 0, "{case}: {}", built.all());
        let ptxas = Path::new(&nvcc).with_file_name("ptxas");
        for old in [false, true] {
            let mut shown = hardware.with_driver(hardware.scratch.command("./shown"));
            shown.env("PTXAS", &ptxas);
            if old {
                shown.env("DRIVER_IS_OLD", "1");
            }
            let ran = Said::by(&mut shown);
            assert!(ran.code == 0 && ran.out.contains("in the optimized kernel"), "{case}: {}", ran.all());
        }
    }
}
