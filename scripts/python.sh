#!/usr/bin/env bash
# Builds the wheel of volta-python and runs its tests, with what scripts/python.txt pins, from PyPI in target/python.
# `scripts/python.sh triton`: with Triton too, which compiles kernels without a GPU (a download of some 200 MB).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/pypi.sh

packages=
if [ "${1:-}" = triton ]; then
    from_pypi triton scripts/triton.txt
    packages=$(dirname "$(find "$home" -path '*/triton/__init__.py' -print -quit)")/..
fi
from_pypi python scripts/python.txt
python=$home/bin/python
[ -x "$python" ] || python=python3
target=$(dirname "$home")
rm -rf "$target/wheel"
"$home/bin/maturin" build --quiet --locked --manifest-path volta-python/Cargo.toml --target-dir "$target" \
    --out "$target/wheel"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --no-index --target "$target/wheel/site" \
    "$target"/wheel/volta_verify-*.whl
# Where pip made no environment, its packages lie in the folder itself.
export PYTHONPATH=$target/wheel/site:$home:$packages
export PYTHONDONTWRITEBYTECODE=1
"$python" -m pytest --quiet -p no:cacheprovider volta-python/tests
