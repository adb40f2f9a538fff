#!/usr/bin/env bash
# Compiles the functions of CUDA's mathematical library, each alone, into the PTX that templates are made from: in both
# dialects that nvcc writes, that for architectures before sm_100 and that from there on, and with what flags make another
# graph of a function, as `variations.txt` says.
set -euo pipefail
cd "$(dirname "$0")/.."
nvcc=${VOLTA_NVCC:-$(scripts/nvcc.sh)}
cd volta-core/src/library
# `VOLTA_LIBRARY='sm_90|_ftz '`: only what matches that.
only=${VOLTA_LIBRARY:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The folder and the name of a function, then flags.
compile() {
    folder=$1 name=$2
    shift 2
    grep "void of_$name(" functions.cu >"$work/$folder.$name.line"
    { printf '#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n'; cat "$work/$folder.$name.line"; } >"$work/$folder.$name.cu"
    "$nvcc" -ptx "$@" "$work/$folder.$name.cu" -o "$work/$folder.$name.ptx"
    grep -v '^//' "$work/$folder.$name.ptx" >"$folder/$name.ptx"
}
export -f compile
export nvcc work
{
    sed -n 's/.*void of_\([a-z0-9_]*\)(.*/\1/p' functions.cu | while read -r name; do
        echo "sm_80 $name -arch=sm_80"
        echo "sm_100 $name -arch=sm_100"
    done
    grep -v '^#' variations.txt || true
} | grep -E -e "$only" >"$work/all"
cut -d' ' -f1 "$work/all" | sort -u | xargs mkdir -p
xargs -P "$(nproc)" -L 1 bash -euo pipefail -c 'compile "$@"' compile <"$work/all"
