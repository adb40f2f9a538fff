#!/usr/bin/env bash
# The hardware suite: runs all fixtures on an NVIDIA GPU, compares, and writes docs/hardware.md.
#
# scripts/gpu.sh                       here, where Volta is built and there is a GPU
# scripts/gpu.sh export FOLDER [ARCH]  here without a GPU: then copy FOLDER to a machine that has one (ARCH, by default
#                                      sm_90), Python and a driver, and run there: python3 run.py . --sanitize
set -euo pipefail
cd "$(dirname "$0")/.."
runner=volta-test/src/reproduction/hardware.py
case ${1:-} in
export)
    folder=${2:?a folder} arch=${3:-sm_90}
    ;;
'')
    arch=$(python3 "$runner" --device)
    folder=$PWD/${CARGO_TARGET_DIR:-target}/gpu
    case ${CARGO_TARGET_DIR:-} in /*) folder=$CARGO_TARGET_DIR/gpu ;; esac
    ;;
*)
    sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
ptxas=$(dirname "$(scripts/nvcc.sh)")/ptxas
VOLTA_NVCC=off cargo run --release --locked -p volta-test -- \
    export --hardware "$folder" --arch "$arch" --ptxas "$ptxas" fixtures
[ "${1:-}" = export ] || exec python3 "$folder/run.py" "$folder" --sanitize --page docs/hardware.md
