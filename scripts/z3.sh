#!/usr/bin/env bash
# Installs the SMT solver that scripts/z3.txt pins from PyPI into target/z3, once, and prints its path.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/pypi.sh

from_pypi z3 scripts/z3.txt
z3=$home/bin/z3
if ! "$z3" --version >&2; then
    say "$z3 does not run; remove $home and see whether the layout of the package changed"
    exit 1
fi
printf '%s\n' "$z3"
