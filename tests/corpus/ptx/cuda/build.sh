#!/bin/sh
# Makes the compiled part of the corpus again: ./build.sh, with nvcc on the path or in $NVCC.
set -eu
cd "$(dirname "$0")"
corpus=$(cd .. && pwd)
nvcc=${NVCC:-nvcc}
# Debug information records the folder, so it is the same one everywhere.
mkdir -p /tmp/volta-corpus
cp ./*.cu /tmp/volta-corpus
cd /tmp/volta-corpus
# -lineinfo would record where this machine keeps its headers; only their names are kept.
make_one() {
    out=$corpus/$1.ptx
    shift
    "$nvcc" -ptx -std=c++17 "$@" -o "$out"
    sed -i -E 's#^([[:space:]]*\.file[[:space:]]+[0-9]+) "([^"]*/)?([^"/]*)"#\1 "\3"#' "$out"
}
make_one math_sm80 -arch=sm_80 math.cu
make_one math_sm80_fast_lineinfo -arch=sm_80 -use_fast_math -lineinfo math.cu
make_one math_sm90 -arch=sm_90 math.cu
make_one math_sm100 -arch=sm_100 math.cu
make_one half_sm80 -arch=sm_80 half.cu
make_one half_sm90 -arch=sm_90 -lineinfo half.cu
make_one half_sm100 -arch=sm_100 half.cu
make_one control_sm80 -arch=sm_80 control.cu
make_one control_sm80_debug -arch=sm_80 -G control.cu
make_one control_sm90_lineinfo -arch=sm_90 -lineinfo control.cu
make_one control_sm100_lineinfo -arch=sm_100 -lineinfo control.cu
make_one control_sm100_separate -arch=sm_100 -rdc=true control.cu
make_one tensor_sm80_lineinfo -arch=sm_80 -lineinfo tensor.cu
make_one tensor_sm90 -arch=sm_90 tensor.cu
make_one tensor_sm100 -arch=sm_100 tensor.cu
make_one hopper_sm90a -arch=sm_90a hopper.cu
make_one hopper_sm90a_debug -arch=sm_90a -G hopper.cu
