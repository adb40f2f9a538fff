#!/usr/bin/env bash
# Compiles Volta with the oldest Rust that Cargo.toml allows (`rust-version`), which rustup installs beside the others.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
command="rustup toolchain install $version --profile minimal --no-self-update"
if ! command -v rustup >/dev/null 2>&1; then
    echo "msrv: rustup is not found, which installs Rust $version (https://rustup.rs)" >&2
    exit 1
fi
if ! rustup run "$version" rustc --version >/dev/null 2>&1; then
    if [ "${VOLTA_INSTALL:-}" = off ]; then
        printf 'msrv: %s\n' "VOLTA_INSTALL=off forbids to install Rust $version. Run this once:" "    $command" >&2
        exit 1
    fi
    echo "msrv: installing Rust $version with rustup (VOLTA_INSTALL=off stops here instead)" >&2
    $command
fi
# A folder of its own: the other Rust's build stays as it is.
rustup run "$version" cargo check --locked --workspace --target-dir "${CARGO_TARGET_DIR:-target}/msrv"
