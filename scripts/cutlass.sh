#!/usr/bin/env bash
# Checks kernels of CUTLASS's templates (tests/cutlass): gets the headers that scripts/cutlass.txt pins from PyPI into
# target/cutlass, compiles and verifies. Nothing of what it downloads is part of the repository. Kernels whose CTAs take tile
# after tile (tests/cutlass/persistent) take minutes to compile; they, and what clusters of two CTAs do without a cluster, are
# checked with VOLTA_SLOW=1.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/pypi.sh
from_pypi cutlass scripts/cutlass.txt
include=$(find "$home" -type d -path '*/cutlass_library/source/include' | head -n 1)
[ -n "$include" ] || { say "the package has no headers in cutlass_library/source/include"; exit 1; }
VOLTA_NVCC=$(scripts/nvcc.sh)
export VOLTA_NVCC VOLTA_TRUST_FLAGS=1
cases=$home/cases
rm -rf "$cases"
cp -r tests/cutlass "$cases"
[ "${VOLTA_SLOW:-}" = 1 ] || rm -r "$cases/persistent" "$cases/cluster_1"
find "$cases" -name volta.toml -exec sed -i.bak "s|@CUTLASS@|$include|" {} +
# VOLTA: a program that is there already.
if [ -n "${VOLTA:-}" ]; then
    "$VOLTA" check --root "$cases" "$cases" "$@"
else
    cargo run --locked -p volta-test -- check --root "$cases" "$cases" "$@"
fi
