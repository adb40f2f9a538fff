#!/usr/bin/env python3
"""Measures a release build and writes docs/performance.md.

Times are medians and depend on how busy the machine is. Counts do not: bytes, thread instructions, and, where
valgrind is installed, the host's instructions for each instruction that a kernel's thread executes.
"""

import argparse
import datetime
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
KERNELS = ["softmax_naive", "softmax_online", "matmul_naive", "matmul_tiled"]
# Cases whose cost has grown unnoticed before: long rows, running sums, gradients, and the exact detector of races.
ROWS = ["softmax", "shuffles", "norm", "prefix", "gradient", "returned"]
NOT_COUNTED = "Not measured: valgrind is not installed."
# Rows at rising sizes, and where their sources are.
SCALE = "tests/rows/scale.toml"
SOURCES = ["tests/rows/scale", "fixtures/rows/rows"]
# A count may exceed the committed one by so much: compilers differ.
ALLOWED = 1.1
# The exponent between two sizes may exceed its goal by so much.
EXCESS = 0.2


def said(*command, **options):
    return subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def tables(volta, runs, *what):
    """The tables of `cargo volta bench`, which measures each case in a process of its own."""
    return said(volta, "bench", *what, "--runs", str(runs), "--format", "markdown").strip()


def counted(name, *command):
    """Instructions that a command executes on the host, on one thread."""
    out = TARGET / f"callgrind.{name}.out"
    said(
        "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command,
        env={**os.environ, "RAYON_NUM_THREADS": "1", "VOLTA_NVCC": "off"}, stderr=subprocess.DEVNULL,
    )
    totals = [line for line in out.read_text().splitlines() if line.startswith("totals:")]
    return int(totals[-1].split()[1])


def host_instructions(measure, kernel, runs):
    return counted(f"{kernel}.{runs}", measure, kernel, str(runs))


def counts(measure):
    yield "| kernel | thread instructions | host instructions | host per thread instruction | term bytes per thread instruction |"
    yield "|---|--:|--:|--:|--:|"
    for kernel in KERNELS:
        instructions, term_bytes = map(int, said(measure, kernel, "1").split())
        host = host_instructions(measure, kernel, 1) - host_instructions(measure, kernel, 0)
        yield (
            f"| {kernel} | {instructions} | {host} | {host / instructions:.1f} "
            f"| {term_bytes / instructions:.2f} |"
        )


def counts_of_rows(volta):
    """Host instructions of whole verifications, by case."""
    check = ("--no-cache", "--threads", "1")
    return {row: counted(row, volta, "check", f"fixtures/rows/{row}", *check) for row in ROWS}


def table_of_rows(found):
    yield "| case | host instructions |"
    yield "|---|--:|"
    for row, count in found.items():
        yield f"| rows::{row} | {count} |"


def case_of(row, size, folder):
    """Writes the case of a row at a size."""
    folder.mkdir(parents=True, exist_ok=True)

    def filled(text):
        return re.sub(r"\{(\w+)\}", lambda name: str(size[name[1]]), text)

    def side(head):
        return f"[{head}]\n" + filled(row[head]).replace("; ", "\n").replace('source = "', 'source = "../../') + "\n"

    text = f"[params]\n{filled(row['params'])}\n{side('reference')}\n{side('opt')}\n[options]\nsnapshot = false\n"
    (folder / "volta.toml").write_text(text)


def counts_of_scale(volta):
    """For each row of SCALE, the goal of its growth, and the host instructions of its cases by size."""
    root, found = TARGET / "scale", {}
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for source in SOURCES:
        for file in sorted((ROOT / source).parent.glob(pathlib.Path(source).name + ".*")):
            if file.suffix in (".cu", ".ptx"):
                shutil.copy(file, root)
    for row in tomllib.loads((ROOT / SCALE).read_text())["row"]:
        name = re.sub(r"\W+", "_", row["name"])
        counts = {}
        for size in row["sizes"]:
            number = next(iter(size.values()))
            folder = root / name / str(number)
            case_of(row, size, folder)
            check = ("--root", root, "--no-cache", "--threads", "1")
            counts[number] = counted(f"{name}.{number}", volta, "check", folder, *check)
        found[name] = (row["growth"], counts)
    return found


def exponents(counts):
    """The exponent of growth from each size to the next, by the larger one."""
    sizes = sorted(counts)
    return {
        larger: math.log(counts[larger] / counts[smaller]) / math.log(larger / smaller)
        for smaller, larger in zip(sizes, sizes[1:])
    }


def table_of_scale(found):
    yield "| row | size | exponent | goal | host instructions |"
    yield "|---|--:|--:|--:|--:|"
    for name, (goal, counts) in found.items():
        growth = exponents(counts)
        for size, count in counts.items():
            own = (f"{growth[size]:.2f}", f"{goal:.1f}") if size in growth else ("-", "-")
            yield f"| scale::{name}::{size} | {size} | {own[0]} | {own[1]} | {count} |"


def committed(page, group):
    """The counts in a page of a group of rows; the count is the last column."""
    rows = (line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith(f"| {group}::"))
    return {name.removeprefix(f"{group}::"): int(rest[-1]) for name, *rest in rows if rest and rest[-1].isdigit()}


def has_not_grown(group, counts, page):
    """Compares counts with the committed ones; returns whether none has grown."""
    before, is_fine = committed(page, group), True
    for row, count in counts.items():
        known = before.get(row)
        if known is None:
            print(f"{group}::{row}: {count}, and no count is committed")
            is_fine = False
            continue
        grown = count > known * ALLOWED
        is_fine &= not grown
        print(f"{group}::{row}: {count}, committed {known}, {count / known:.3f} times{': it has grown' if grown else ''}")
    return is_fine


def grows_as_wanted(found):
    """Compares exponents with their goals; returns whether none exceeds its goal by more than EXCESS."""
    is_fine = True
    for name, (goal, counts) in found.items():
        for size, exponent in exponents(counts).items():
            if exponent > goal + EXCESS:
                print(f"scale::{name}: it grows with exponent {exponent:.2f} up to {size}, and the goal is {goal:.1f}")
                is_fine = False
    return is_fine


def check(rows, scale, page):
    """Compares counts with the committed ones, and growth with its goals; returns whether all is as wanted."""
    counts = {f"{name}::{size}": count for name, (_, sizes) in scale.items() for size, count in sizes.items()}
    fine = [has_not_grown("rows", rows, page), has_not_grown("scale", counts, page), grows_as_wanted(scale)]
    return all(fine)


def first_field(path, key):
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith(key):
            return line.split(":", 1)[1].strip()
    return "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="how often each case is verified (default: 5)")
    parser.add_argument(
        "--check", action="store_true",
        help="write nothing; compare the instructions that verifying takes with those in the committed page",
    )
    parser.add_argument(
        "--kernels", metavar="CHECKOUT",
        help="also measure the kernels that the paper was evaluated on, from a checkout (scripts/published.sh)",
    )
    parser.add_argument("--output", default="docs/performance.md", help="(default: docs/performance.md)")
    arguments = parser.parse_args()

    said("cargo", "build", "--release", "--locked", "-p", "volta-test", "--bin", "cargo-volta")
    volta = TARGET / "release/cargo-volta"
    if arguments.check:
        if not shutil.which("valgrind"):
            sys.exit("bench.py: valgrind, which counts instructions, is not installed")
        is_fine = check(counts_of_rows(volta), counts_of_scale(volta), (ROOT / arguments.output).read_text())
        sys.exit(0 if is_fine else "bench.py: see above; `make bench` writes the page anew")
    said("cargo", "build", "--release", "--locked", "-p", "volta-core", "--example", "measure")
    load = os.getloadavg()[0]
    commit = said("git", "rev-parse", "--short", "HEAD").strip()
    if said("git", "status", "--porcelain", "--untracked-files=no"):
        commit += ", with changes"
    memory = int(first_field("/proc/meminfo", "MemTotal").split()[0]) / 1e6

    text = f"""# Performance

Written by `make bench`; do not edit.

- machine: {first_field("/proc/cpuinfo", "model name")}, {os.cpu_count()} cores, {memory:.0f} GB
- date: {datetime.date.today()}; load before the first run: {load:.1f}
- commit: {commit}; {" ".join(said("rustc", "--version").split()[:2])}

## The kernels of the paper

`cargo volta bench fixtures --published`, medians of {arguments.runs} runs; its `--help` says what the columns mean. Published figures, where there are some, stand beside ours.

"""
    text += tables(volta, arguments.runs, "fixtures", "--published")
    text += """

## Softmax

`cargo volta bench fixtures/softmax`

"""
    text += tables(volta, arguments.runs, "fixtures/softmax")
    text += """

## Long rows

`cargo volta bench --root . fixtures/rows tests/rows`, those at full size being in `tests`.

"""
    text += tables(volta, arguments.runs, "--root", ".", "fixtures/rows", "tests/rows")
    text += """

What verifying each takes of the host, on one thread; `scripts/bench.py --check` compares these counts with those of the present code, and fails where one has grown by more than a tenth.

"""
    rows, scale = (counts_of_rows(volta), counts_of_scale(volta)) if shutil.which("valgrind") else ({}, {})
    text += "\n".join(table_of_rows(rows)) if rows else NOT_COUNTED
    text += f"""

## Growth

Rows of `{SCALE}` at rising sizes, on one thread: what verifying each takes of the host, and the exponent from the size before. Where one exceeds its goal by more than {EXCESS}, or a count the committed one by more than a tenth, `make bench` fails.

"""
    text += "\n".join(table_of_scale(scale)) if scale else NOT_COUNTED
    if arguments.kernels:
        text += """

## The paper's own PTX

The kernels that the paper was evaluated on, as published: `scripts/published.sh CHECKOUT` checks that each is judged as the paper judges it. The published figures stand above, beside kernels of ours for the same names.

"""
        said("python3", "scripts/published.py", arguments.kernels, TARGET / "published")
        text += tables(volta, arguments.runs, TARGET / "published")
    text += """

## Host instructions for each executed thread instruction

One kernel running alone on one thread, without parsing and deciding; counted by callgrind, so independent of load.

"""
    if shutil.which("valgrind"):
        text += "\n".join(counts(TARGET / "release/examples/measure"))
    else:
        text += NOT_COUNTED
    page = ROOT / arguments.output
    before = page.read_text() if page.exists() else ""
    page.write_text(text + "\n")
    print(text)
    # A row that is new is compared with itself.
    if scale and not check(rows, scale, f"{text}\n{before}"):
        sys.exit("bench.py: see above; the page is written all the same")


if __name__ == "__main__":
    main()
