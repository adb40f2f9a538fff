#!/usr/bin/env python3
"""Makes the cases of tests/published ready: published.py CHECKOUT FOLDER.

The kernels call a function `__symexpf` that no source defines: the evaluation reads it as the exponential function. It is
replaced by what a compiler makes of `__expf`: a product with log2(e), and `ex2.approx`.
"""

import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = "crates/volta_bench/kernels"
NAME = "__symexpf"
# A sequence of a call: what it stores as the argument, and where it loads the result.
SEQUENCE = re.compile(r"\{ // callseq.*?\} // callseq[^\n]*", re.DOTALL)
ARGUMENT = re.compile(r"st\.param\.[fb]32\s+\[\w+(?:\+0)?\],\s*(%\w+);")
RESULT = re.compile(r"ld\.param\.[fb]32\s+(%\w+),\s*\[\w+(?:\+0)?\];")
DECLARATION = re.compile(r"\.extern \.func[^;]*" + NAME + r"[^;]*;", re.DOTALL)
LOG2_E = "0f3FB8AA3B"


def exponential(sequence):
    text = sequence.group()
    if NAME not in text:
        return text
    (argument,), (result,) = ARGUMENT.findall(text), RESULT.findall(text)
    return (
        "{ .reg .f32 %scaled;\n"
        f"\tmul.f32 \t%scaled, {argument}, {LOG2_E};\n"
        f"\tex2.approx.f32 \t{result}, %scaled; }}"
    )


def main():
    checkout, folder = map(pathlib.Path, sys.argv[1:])
    kernels = checkout / KERNELS
    if not kernels.is_dir():
        sys.exit(f"published.py: {kernels} is not there")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "tests/published", folder)
    for source in kernels.rglob("*.ptx"):
        text = source.read_text()
        if NAME in text:
            text = DECLARATION.sub("", SEQUENCE.sub(exponential, text))
        if NAME in text:
            sys.exit(f"published.py: a use of {NAME} in {source} has another form")
        copy = folder / "ptx" / source.relative_to(kernels)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)


if __name__ == "__main__":
    main()
