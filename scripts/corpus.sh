#!/usr/bin/env bash
# Measures on kernels that others wrote: gets them from package registries into target/corpus, compiles them, looks at each
# and launches it by guesses, checks those of ggml against kernels of ours, and writes docs/corpus.md.
# What it takes is said by `scripts/corpus.sh --help`. Nothing of what it downloads is part of the repository.
set -euo pipefail
cd "$(dirname "$0")/.."
case " $* " in *" --help "* | *" -h "*) exec python3 scripts/corpus.py "$@" ;; esac

target=$PWD/${CARGO_TARGET_DIR:-target}
case ${CARGO_TARGET_DIR:-} in /*) target=$CARGO_TARGET_DIR ;; esac
nvcc=$(scripts/nvcc.sh)
cargo build --release --locked -p volta-suite --bin corpus --bin volta-under-test
exec python3 scripts/corpus.py --target "$target" --nvcc "$nvcc" "$@"
