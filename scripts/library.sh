#!/usr/bin/env bash
# Compiles the functions of CUDA's mathematical library, each alone, into the PTX that templates are made from.
# sm_90 gives the same operations, and so does -ftz=true but for `.ftz`, which changes nothing over the reals.
set -euo pipefail
cd "$(dirname "$0")/.."
nvcc=${VOLTA_NVCC:-$(scripts/nvcc.sh)}
cd volta-core/src/library
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep '^extern' functions.cu | while read -r line; do
    name=$(sed 's/.*void of_\([a-z0-9_]*\)(.*/\1/' <<<"$line")
    printf '#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n%s\n' "$line" >"$work/$name.cu"
    "$nvcc" -ptx -arch=sm_80 "$work/$name.cu" -o "$work/$name.ptx"
    grep -v '^//' "$work/$name.ptx" >"$name.ptx"
done
