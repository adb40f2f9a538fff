"""The program `volta`: `python -m volta judge MODULE.py CANDIDATE.cu`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

_EPILOG = """\
MODULE.py has a class `Model`, `get_inputs()` and `get_init_inputs()`. CANDIDATE is a .cu file with kernels and a host
function that launches them, as extensions of PyTorch have it, or a .py file with a class `ModelNew` that calls
`load_inline` or `load`.

Examples:
  volta judge softmax.py softmax.cu
  volta judge softmax.py softmax_new.py --size batch=3,dim=257
  volta judge softmax.py softmax.cu --format json | jq .
  volta judge softmax.py softmax.cu --output cases      cases for `cargo volta check`

Exit codes: 0 equivalent at all sizes that were tried, 1 not, 2 it could not be judged."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("volta", description="Proves that GPU kernels compute what PyTorch modules do.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    judge = commands.add_parser(
        "judge",
        help="judge a kernel against a PyTorch module",
        description="Judges a CUDA kernel against a PyTorch module, at sizes at which its blocks, guards and tails occur.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    judge.add_argument("module", metavar="MODULE.py", type=Path)
    judge.add_argument("candidate", metavar="CANDIDATE", type=Path)
    judge.add_argument(
        "--size", action="append", default=[], metavar="NAME=N,…",
        help="judge at this size: values of integers at the top of MODULE.py; may be given several times",
    )  # fmt: skip
    judge.add_argument("--eval", action="store_true", help="set the modules to eval() first")
    judge.add_argument("--format", choices=["human", "json"], default="human", help="the format of the output")
    judge.add_argument("--output", metavar="FOLDER", type=Path, help="write the cases into this folder")
    judge.add_argument("--timeout", default="60s", metavar="TIME", help="how long each size may take [default: 60s]")
    judge.add_argument(
        "--literals", choices=["exact", "nearest"], default="exact",
        help="nearest: where the sides differ, also read literals, and numbers that the host rounds, as the quotients to "
        "which they are nearest [default: exact]",
    )  # fmt: skip
    judge.add_argument("--verbose", "-v", action="store_true", help="print all details of every size")
    given = parser.parse_args(arguments)
    from . import _report
    from .judge import CannotJudge
    from .judge import judge as judged

    try:
        sizes = [_sizes(text) for text in given.size]
    except ValueError as error:
        parser.error(str(error))
    options = {"timeout": given.timeout}
    if given.literals == "nearest":
        options["literals"] = given.literals
    try:
        judgement = judged(given.module, given.candidate, sizes=sizes, evaluate=given.eval, options=options)
    except CannotJudge as error:
        if given.format == "json":
            print(json.dumps(_report.could_not(given.candidate, error)))
        else:
            print(f"error: {error}", file=sys.stderr)
        return 2
    if given.output is not None:
        _report.write(judgement, given.output)
    if given.format == "json":
        for line in _report.lines(judgement):
            print(json.dumps(line))
    else:
        print(_report.text(judgement, given.verbose), end="")
    return judgement.exit


def _sizes(text: str) -> dict[str, int]:
    found = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        if not sign or not value.strip().isdigit():
            raise ValueError(f"--size takes NAME=N, and not `{part}`")
        found[name.strip()] = int(value)
    return found


if __name__ == "__main__":
    sys.exit(main())
