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

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
KERNELS = ["softmax_naive", "softmax_online", "matmul_naive", "matmul_tiled"]


def said(*command, **options):
    return subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def tables(volta, runs, *what):
    """The tables of `cargo volta bench`, which measures each case in a process of its own."""
    return said(volta, "bench", *what, "--runs", str(runs), "--format", "markdown").strip()


def host_instructions(measure, kernel, runs):
    out = TARGET / f"callgrind.{kernel}.{runs}.out"
    said(
        "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", measure, kernel, str(runs),
        env={**os.environ, "RAYON_NUM_THREADS": "1"}, stderr=subprocess.DEVNULL,
    )
    totals = [line for line in out.read_text().splitlines() if line.startswith("totals:")]
    return int(totals[-1].split()[1])


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


def first_field(path, key):
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith(key):
            return line.split(":", 1)[1].strip()
    return "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="how often each case is verified (default: 5)")
    parser.add_argument("--output", default="docs/performance.md", help="(default: docs/performance.md)")
    arguments = parser.parse_args()

    said("cargo", "build", "--release", "--locked", "-p", "volta-test", "--bin", "cargo-volta")
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
    volta = TARGET / "release/cargo-volta"
    text += tables(volta, arguments.runs, "fixtures", "--published")
    text += """

## Softmax

`cargo volta bench fixtures/softmax`

"""
    text += tables(volta, arguments.runs, "fixtures/softmax")
    text += """

## Host instructions for each executed thread instruction

One kernel running alone on one thread, without parsing and deciding; counted by callgrind, so independent of load.

"""
    if shutil.which("valgrind"):
        text += "\n".join(counts(TARGET / "release/examples/measure"))
    else:
        text += "Not measured: valgrind is not installed."
    (ROOT / arguments.output).write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
