#!/usr/bin/env python3
"""Measures a release build and writes docs/performance.md.

Times are medians and depend on how busy the machine is. Counts do not: bytes, thread instructions, and, where
valgrind is installed, the host's instructions for each instruction that a kernel's thread executes.
"""

import argparse
import datetime
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
KERNELS = ["softmax_naive", "softmax_online", "matmul_naive", "matmul_tiled"]
# Cases whose cost has grown unnoticed before: long rows, running sums, gradients, and the exact detector of races.
ROWS = ["softmax", "shuffles", "norm", "prefix", "gradient", "returned"]
NOT_COUNTED = "Not measured: valgrind is not installed."
# A count may exceed the committed one by so much: compilers differ.
ALLOWED = 1.05


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


def committed(page):
    """The counts in a page that `table_of_rows` wrote."""
    rows = (line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| rows::"))
    return {name.removeprefix("rows::"): int(count) for name, *rest in rows for count in rest[-1:] if count.isdigit()}


def check(volta, page):
    """Compares counts with the committed ones; returns whether none has grown."""
    before, is_fine = committed(page), True
    for row, count in counts_of_rows(volta).items():
        known = before.get(row)
        if known is None:
            print(f"rows::{row}: {count}, and no count is committed")
            is_fine = False
            continue
        grown = count > known * ALLOWED
        is_fine &= not grown
        print(f"rows::{row}: {count}, committed {known}, {count / known:.3f} times{': it has grown' if grown else ''}")
    return is_fine


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
        is_fine = check(volta, (ROOT / arguments.output).read_text())
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

What verifying each takes of the host, on one thread; `scripts/bench.py --check` compares these counts with those of the present code, and fails where one has grown by more than a twentieth.

"""
    text += "\n".join(table_of_rows(counts_of_rows(volta))) if shutil.which("valgrind") else NOT_COUNTED
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
    (ROOT / arguments.output).write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
