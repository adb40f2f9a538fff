#!/usr/bin/env bash
# Checks the kernels that the paper was evaluated on, as they were published, against what the paper says of them:
#     scripts/published.sh CHECKOUT [option of `cargo volta check`...]
# CHECKOUT is the repository github.com/willtunnels/volta. The cases are in tests/published; nothing of the checkout becomes
# part of this repository. With MEASURE=file, also writes the times as a table.
set -euo pipefail
checkout=$(cd "${1:?usage: scripts/published.sh CHECKOUT}" && pwd)
shift
cd "$(dirname "$0")/.."
cases=${CARGO_TARGET_DIR:-target}/published
python3 scripts/published.py "$checkout" "$cases"
if [ -n "${MEASURE:-}" ]; then
    VOLTA_NVCC=off cargo run --release --locked -p volta-test -- bench --runs "${RUNS:-3}" --format markdown "$cases" >"$MEASURE"
fi
VOLTA_NVCC=off cargo run --locked -p volta-test -- check --root "$cases" "$cases" "$@"
