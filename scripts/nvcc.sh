#!/usr/bin/env bash
# Installs the CUDA compiler that scripts/nvcc.txt pins from PyPI into target/nvcc, once, and prints its path.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/pypi.sh

from_pypi nvcc scripts/nvcc.txt
nvcc=$(find "$home" -path '*/nvidia/cu13/bin/nvcc' -print -quit 2>/dev/null)
if [ -z "$nvcc" ]; then
    say "the packages of scripts/nvcc.txt hold no nvidia/cu13/bin/nvcc; remove $home and see whether their layout changed"
    exit 1
fi
printf '%s\n' "$nvcc"
