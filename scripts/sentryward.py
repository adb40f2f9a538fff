#!/usr/bin/env python3
"""Runs another verifier, sentryward, on the kernels of our fixtures, and writes docs/comparison.md.

Each case of `fixtures` with synchronisation is given to both. Of a pair, sentryward gets the optimized kernel, with the
launch, the scalars and the tensor maps of the case. It is asked for synchronisation and races; Volta decides, in its one run,
what else a case claims. Why verdicts disagree is said in tests/comparison.toml, and a disagreement that nobody has explained
is printed at the end, and is an error.
"""

import argparse
import collections
import dataclasses
import datetime
import fnmatch
import json
import pathlib
import re
import resource
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/comparison.md"
REASONS = ROOT / "tests/comparison.toml"
LIMIT = 60  # seconds for a case
# Any of these makes a kernel one with synchronisation.
SYNCHRONISES = re.compile(
    r"\b(bar(rier)?(\.cta)?\.(sync|red|arrive|warp)|barrier\.cluster|mbarrier|cp\.async|wgmma|tcgen05|atom|red|fence|membar)\b"
)
# What each verdict says of synchronisation and races alone.
SAYS_WRONG = {
    "race", "deadlock", "barrier-divergence", "ambiguous-barrier", "proxy-race", "in-flight", "nondeterministic", "allocation",
}
SAYS_FREE = {
    "equivalent", "equivalent-where", "clean", "different", "depends-on-rounding", "same-bits", "same-up-to-order", "same-up-to-fma",
}
CLASSES = {"race_free": "free", "potential_race": "wrong", "not_wellsynced": "wrong", "invalid_lifecycle": "wrong"}


class NotSaid(Exception):
    """The case has something that sentryward's input cannot say."""


@dataclasses.dataclass
class Row:
    case: str
    ours: str
    our_seconds: float
    theirs: str
    their_seconds: float
    detail: str = ""

    def our_class(self):
        if self.ours in SAYS_WRONG:
            return "wrong"
        return "free" if self.ours in SAYS_FREE else "other fault"

    def their_class(self):
        return CLASSES.get(self.theirs, "not decided")

    def disagree(self):
        both = (self.our_class(), self.their_class())
        return "not decided" not in both and both[0] != both[1]


def three(size):
    """A size of a grid or block, as three numbers."""
    sizes = [size] if isinstance(size, int) else list(size)
    return sizes + [1] * (3 - len(sizes))


def entries(ptx):
    """The entries of a module: name, text between `.entry` and the next one."""
    found = list(re.finditer(r"^\s*(?:\.visible\s+|\.weak\s+)?\.entry\s+([\w$%]+)", ptx, re.M))
    ends = [match.start() for match in found[1:]] + [len(ptx)]
    return {match.group(1): ptx[match.start() : end] for match, end in zip(found, ends)}


def demangled(names):
    if not names:
        return {}
    said = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return {full.split("(")[0].removeprefix("void ").strip(): name for full, name in zip(said.stdout.splitlines(), names)}


def find_kernel(source, ptx_files):
    """The PTX file, name and text of a kernel that a case names as `file.cu::kernel`."""
    kernel = source.partition("::")[2]
    for path in ptx_files:
        all_entries = entries(path.read_text())
        names = demangled(list(all_entries)) | {name: name for name in all_entries}
        if not kernel and len(all_entries) == 1:
            kernel = next(iter(all_entries))
        if kernel in names:
            return path, names[kernel], all_entries[names[kernel]]
    raise NotSaid(f"kernel {source} was not found")


def parameters(entry):
    """The parameters of an entry: PTX type, whether it is a pointer, name, bytes where it is an array."""
    head = entry[: entry.index("{")]
    return re.findall(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(\.ptr[^,)]*?\s+)?(\w+)(?:\[(\d+)\])?\s*[,)\n]", head)


def tensor_map(case, name, parameter):
    given = case["tensor_maps"][name]
    tensor = case["params"][given["of"]]
    shape = given.get("shape", tensor["shape"])
    shape = [shape] if isinstance(shape, int) else shape
    size = {"f64": 8, "f32": 4, "i32": 4, "u32": 4, "f16": 2, "bf16": 2}.get(tensor["type"], 1)
    if set(given) - {"of", "box", "swizzle"}:
        raise NotSaid("a tensor map with " + ", ".join(sorted(set(given) - {"of", "box", "swizzle"})))
    strides, step = [], size
    for extent in reversed(shape[1:]):
        step *= extent
        strides.append(step)
    return {
        "parameter": parameter,
        "object": given["of"],
        "element_type": {"i32": "s32", "i8": "s8", "i16": "s16"}.get(tensor["type"], tensor["type"]),
        "rank": len(shape),
        "global_shape": shape[::-1],
        "global_strides_bytes": strides,
        "box_shape": list(given["box"])[::-1],
        "element_strides": [1] * len(shape),
        "swizzle": given.get("swizzle", "none"),
        "interleave": "none",
        "oob_fill": "zero",
    }


def their_input(case, side, entry_name, entry):
    """The document that sentryward wants, for one side of a case."""
    params, maps = case.get("params", {}), case.get("tensor_maps", {})
    arguments, descriptors = [], []
    given = side.get("args", list(params))
    declared = parameters(entry)
    if len(given) != len(declared):
        raise NotSaid("structs, or parameters that the case leaves out")
    for argument, (kind, pointer, name, size) in zip(given, declared):
        if isinstance(argument, str) and argument in maps:
            descriptors.append(tensor_map(case, argument, name))
            continue
        if size:
            raise NotSaid("a struct by value")
        of = params.get(argument, {}) if isinstance(argument, str) else {"value": argument}
        if isinstance(argument, dict):
            of = argument
        if pointer or "role" in of or "shape" in of:
            continue
        if "value" in of and isinstance(of["value"], (int, float)):
            plain = {"b32": "u32", "b64": "u64", "b16": "u16", "b8": "u8"}.get(kind, kind)
            arguments.append({"parameter": name, "type": plain, "value": of["value"]})
    cluster = re.search(r"\.reqnctapercluster\s+([\d, ]+)", entry)
    clusters = [int(part) for part in cluster.group(1).split(",")] if cluster else [1]
    return {
        "schema": "spverify.kernel-input/v1",
        "entry": entry_name,
        "launch": {
            "grid_dim": three(side.get("grid", 1)),
            "block_dim": three(side["block"]),
            "cluster_dim": three(side.get("cluster", clusters)),
            "dynamic_shared_bytes": side.get("shared", 0),
        },
        "arguments": arguments,
        "tma_descriptors": descriptors,
    }


def processor_seconds(command, **options):
    """What a command printed, and the processor time that it and its children took, which other work does not change."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run_theirs(command, document, ptx, scratch, seconds):
    path = scratch / "input.json"
    path.write_text(json.dumps(document))
    limits = ["--timeout", str(seconds), "--memory-limit-mib", "4096"]
    try:
        said, taken = processor_seconds([*command, str(ptx), "--input", str(path), *limits], timeout=seconds + 60)
        result = json.loads(said)
    except (subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        return "tool_failure", 0.0, type(error).__name__
    first = next(iter(result.get("diagnostics", [])), {})
    return result["result"], taken, first.get("message", first.get("code", ""))


def our_row(volta, folder, name):
    command = [volta, "volta", "check", str(folder), "--root", str(ROOT / "fixtures"), "--format", "json", "--exact", name]
    said, taken = processor_seconds(command, cwd=ROOT)
    return json.loads(said.splitlines()[0]), taken


def all_cases(volta, filters):
    """The names and folders of the cases."""
    command = [volta, "volta", "check", "fixtures", "--list", *filters]
    said, _ = processor_seconds(command, cwd=ROOT)
    return [(name, ROOT / "fixtures" / name.replace("::", "/")) for name in said.split()]


def compare(options):
    """Gives the rows of the cases, one after the other."""
    filters = [word for pattern in options.filter for word in ("--filter", pattern)]
    for name, folder in all_cases(options.volta, filters):
        if not (folder / "volta.toml").is_file():
            print(f"{name}: a member of a family", file=sys.stderr)
            continue
        case = tomllib.loads((folder / "volta.toml").read_text())
        side = case.get("opt") or case.get("kernel")
        try:
            if not isinstance(side, dict) or not isinstance(side.get("source"), str):
                raise NotSaid("no kernel, or several")
            source = folder / side["source"].partition("::")[0]
            ptx, entry_name, entry = find_kernel(side["source"], sorted(source.parent.glob(source.stem + "*.ptx")))
        except NotSaid as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        if not SYNCHRONISES.search(entry):
            continue
        ours, taken = our_row(options.volta, folder, name)
        row = Row(name, ours.get("verdict") or ours["outcome"], taken, "not given", 0.0)
        try:
            document = their_input(case, side, entry_name, entry)
            row.theirs, row.their_seconds, row.detail = run_theirs(
                options.sentryward, document, ptx, options.scratch, options.seconds
            )
        except NotSaid as error:
            row.detail = str(error)
        print(f"{row.case}: {row.ours} {row.our_seconds:.2f} s, {row.theirs} {row.their_seconds:.2f} s {row.detail}"[:160],
              file=sys.stderr, flush=True)
        yield row


def median(numbers):
    ordered = sorted(numbers)
    return ordered[len(ordered) // 2] if ordered else 0.0


def explain(row, reasons):
    for reason in reasons:
        if row.our_class() == reason["ours"] and row.their_class() == reason["theirs"] and any(
            fnmatch.fnmatchcase(row.case, pattern) for pattern in reason["cases"]
        ):
            return reason["why"]
    return None


def commit():
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def page(rows, reasons, versions, seconds):
    counts = collections.Counter((row.our_class(), row.their_class()) for row in rows)
    ours_in_order, theirs_in_order = ["free", "wrong", "other fault"], ["free", "wrong", "not decided"]
    lines = [
        "# Beside another verifier",
        "",
        "[sentryward](https://pypi.org/project/sentryward/) verifies synchronisation and memory of PTX kernels, above all of"
        " those for sm_100. `scripts/sentryward.sh` runs it and Volta on every case of `fixtures` whose kernel synchronises,"
        " and writes this page. Of a pair it gets the optimized kernel; the launch, scalars and tensor maps are those of the"
        " case. It is asked for synchronisation and races alone, while the seconds of Volta are those of the whole case: both"
        " kernels, and their equivalence.",
        "",
        f"{versions}, {datetime.date.today().isoformat()}, commit {commit()}; at most {seconds} s and 4 GiB a case. Seconds are processor time of the"
        " whole program, its start included.",
        "",
        "## Verdicts",
        "",
        "*free*: no race and no fault of synchronisation. *wrong*: one of these. *other fault*: out of bounds, uninitialised,"
        " unsupported and the like, of which the other says nothing.",
        "",
        "| Volta \\ sentryward | " + " | ".join(theirs_in_order) + " |",
        "|---|" + "--:|" * len(theirs_in_order),
    ]
    lines += [
        f"| {ours} | " + " | ".join(str(counts[ours, theirs]) for theirs in theirs_in_order) + " |" for ours in ours_in_order
    ]
    both = [row for row in rows if row.their_class() != "not decided"]
    lines += [
        "",
        f"Where both decide ({len(both)} cases), the median is {median(row.our_seconds for row in both):.2f} s for Volta and"
        f" {median(row.their_seconds for row in both):.2f} s for the other; the longest {max((row.our_seconds for row in both), default=0):.1f} s"
        f" and {max((row.their_seconds for row in both), default=0):.1f} s.",
        "",
        "## What is not decided, and why",
        "",
        "| result | cases | why | one of them |",
        "|---|--:|---|---|",
    ]
    whys = collections.defaultdict(list)
    for row in rows:
        if row.their_class() == "not decided":
            whys[row.theirs, re.sub(r"\d+", "#", row.detail)[:90]].append(row.case)
    for (result, why), cases in sorted(whys.items(), key=lambda item: (-len(item[1]), item[0])):
        lines.append(f"| {result} | {len(cases)} | {why.replace('|', '/')} | `{cases[0]}` |")
    lines += ["", "## Disagreements", "", "| case | Volta | s | sentryward | s | why |", "|---|---|--:|---|--:|---|"]
    for row in rows:
        if row.disagree():
            lines.append(
                f"| `{row.case}` | {row.ours} | {row.our_seconds:.2f} | {row.theirs} | {row.their_seconds:.2f} |"
                f" {explain(row, reasons) or '**not explained**'} |"
            )
    lines += ["", "## Every case", "", "| case | Volta | s | sentryward | s |", "|---|---|--:|---|--:|"]
    lines += [
        f"| `{row.case}` | {row.ours} | {row.our_seconds:.2f} | {row.theirs} | {row.their_seconds:.2f} |" for row in rows
    ]
    return "\n".join(lines) + "\n"



def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--volta", required=True, help="the built cargo-volta")
    parser.add_argument("--sentryward", required=True, nargs="+", help="the command that runs sentryward")
    parser.add_argument("--scratch", required=True, type=pathlib.Path, help="a folder for inputs and results")
    parser.add_argument("--filter", action="append", default=[], help="only cases whose names match; of the others, the last results stand")
    parser.add_argument("--seconds", type=int, default=LIMIT, help="for each run of sentryward")
    parser.add_argument("--rewrite", action="store_true", help="write the page from the last results, without a run")
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    kept = options.scratch / "rows.json"
    known = {row["case"]: Row(**row) for row in json.loads(kept.read_text())} if kept.is_file() else {}
    if not options.rewrite:
        known = known if options.filter else {}
        # What is found is kept at once: a run that ends early goes on with `--filter`.
        for row in compare(options):
            known[row.case] = row
            kept.write_text(json.dumps([dataclasses.asdict(row) for row in known.values()]))
    rows = sorted(known.values(), key=lambda row: row.case)
    reasons = tomllib.loads(REASONS.read_text()).get("reason", []) if REASONS.is_file() else []
    version = (ROOT / "scripts/sentryward.txt").read_text().strip().splitlines()[-1].replace("==", " ")
    PAGE.write_text(page(rows, reasons, version, options.seconds))
    open_ones = [row for row in rows if row.disagree() and explain(row, reasons) is None]
    for row in open_ones:
        print(f"not explained: {row.case}: {row.ours}, {row.theirs} ({row.detail})")
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main())
