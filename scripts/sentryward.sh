#!/usr/bin/env bash
# Runs another verifier from PyPI beside ours on the fixtures that synchronise, and writes docs/comparison.md.
# What it takes is said by `scripts/sentryward.sh --help`.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/pypi.sh
case " $* " in *" --help "* | *" -h "*) exec python3 scripts/sentryward.py "$@" ;; esac

from_pypi sentryward scripts/sentryward.txt
target=$PWD/${CARGO_TARGET_DIR:-target}
case ${CARGO_TARGET_DIR:-} in /*) target=$CARGO_TARGET_DIR ;; esac
cargo build --release --locked -p volta-test --bin cargo-volta
VOLTA_NVCC=off VOLTA_CACHE=off exec python3 scripts/sentryward.py --volta "$target/release/cargo-volta" \
    --sentryward "$home/bin/sentryward" --scratch "$target/sentryward" "$@"
