#!/usr/bin/env bash
# Fuzzes a target, or each in turn, with coverage as the guide: scripts/fuzz.sh [target] [seconds]
# Targets: parser lowering verification manifest attribute. It needs the stable toolchain and a C++ compiler; the
# coverage comes from LLVM passes that rustc has anyway. What fails lies in fuzz/artifacts afterwards, and
# `target/fuzz/…/TARGET FILE` runs it again.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=(parser lowering verification manifest attribute)
[ "${1:-all}" = all ] || targets=("$1")
seconds=${2:-60}

# Counters at each edge, and what comparisons compare. With --target, build scripts and macros do without.
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
coverage+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
coverage+=" -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions -Coverflow-checks"
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="$coverage ${RUSTFLAGS:-}" cargo build --manifest-path fuzz/Cargo.toml --target "$host" \
    --target-dir target/fuzz "${targets[@]/#/--bin=}"

for target in "${targets[@]}"; do
    # What is found goes to a folder of its own; the corpus that is checked in stays as it is.
    found=target/fuzz/corpus/$target
    mkdir -p "$found" "fuzz/artifacts/$target"
    dictionary=fuzz/ptx.dict
    case $target in manifest | attribute) dictionary=fuzz/case.dict ;; esac
    echo "=== $target, $seconds s"
    "target/fuzz/$host/debug/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
        -dict="$dictionary" -artifact_prefix="fuzz/artifacts/$target/" -print_final_stats=1 -verbosity=1 \
        "$found" "fuzz/corpus/$target"
done
