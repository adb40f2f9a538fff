#!/usr/bin/env bash
# Sees to what a build needs and Cargo cannot fetch: m4, for GMP, which the `rug` crate builds from source.
# Says nothing when nothing is missing. Changes nothing but by installing Debian packages with apt-get, and says which and why
# before it does. VOLTA_INSTALL=off: it stops instead, with the command to run.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# Installs packages as root or through sudo; otherwise prints the command that does.
install() {
    local packages=("$@") sudo=()
    local command="    sudo sh -c 'apt-get update && apt-get install -y ${packages[*]}'"
    if [ "${VOLTA_INSTALL:-}" = off ]; then
        fail "the build needs ${packages[*]}, and VOLTA_INSTALL=off forbids to install it. Run this once:" "$command"
    fi
    if ! has apt-get; then
        fail "the build needs ${packages[*]}, and this machine has no apt-get to install it with." \
            "Install it with the machine's own package manager (dnf, pacman, apk, brew ...), then run this again."
    fi
    if [ "$(id -u)" -ne 0 ]; then
        # Without a terminal, sudo must not ask for a password.
        if ! has sudo || { [ ! -t 0 ] && ! sudo -n true 2>/dev/null; }; then
            fail "the build needs ${packages[*]}, which only an administrator can install. Run this once:" "$command"
        fi
        sudo=(sudo)
    fi
    echo "setup: installing ${packages[*]} with apt-get (VOLTA_INSTALL=off stops here instead)"
    local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq
        -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3)
    local log
    log=$(mktemp)
    # The first attempt fails where the package lists are missing or out of date.
    if ! "${apt[@]}" install -y --no-install-recommends "${packages[@]}" >"$log" 2>&1; then
        if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${packages[@]}"; } \
            >"$log" 2>&1; then
            cat "$log" >&2
            rm -f "$log"
            fail "apt-get could not install ${packages[*]}; what it said is above."
        fi
    fi
    rm -f "$log"
}

packages=()
# Says what a package is for, and that it is wanted.
need() {
    echo "setup: $1 is missing, $2"
    shift 2
    packages+=("$@")
}
has m4 || need m4 "with which GMP, the library of exact numbers, is built" m4
has make || need make "with which GMP is built" make
has cc || need "a C compiler" "with which GMP is built, and Rust programs are linked" gcc libc6-dev
if [ "${#packages[@]}" -gt 0 ]; then
    install "${packages[@]}"
    for program in m4 make cc; do
        has "$program" || fail "$program is still not found in PATH, although its package is installed."
    done
fi

if ! has "${CARGO:-cargo}"; then
    fail "cargo is not found. Install Rust (https://rustup.rs); if it is installed, run" \
        "    . \"\$HOME/.cargo/env\""
fi
if ! version=$("${CARGO:-cargo}" --version 2>&1); then
    fail "cargo does not run:" "$version"
fi
needed=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
found=$(printf '%s\n' "$version" | cut -d ' ' -f 2)
if [ "$(printf '%s\n' "$needed" "$found" | sort -V | head -n 1)" != "$needed" ]; then
    fail "Rust $needed or newer is needed, and this is $found. With rustup: rustup update stable"
fi
