#!/usr/bin/env bash
# Makes the packages that would be published, and builds what is in them: one from the other, and from nothing else here.
# `cargo package` verifies them too, but keeps the sources of an earlier run of the same version.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
rm -f "$target"/package/*.crate
cargo package --quiet --workspace --exclude volta-suite --exclude volta-python --no-verify --allow-dirty --locked

# A workspace of the packages alone, with this one's profiles, so that what they depend on is compiled already.
rm -rf "$target/packages"
mkdir -p "$target/packages"
home=$(cd "$target/packages" && pwd)
crates=()
patches=
for archive in "$target"/package/*.crate; do
    name=$(basename "$archive" .crate)
    # With the time of now: Cargo goes by it, and all packages give the same.
    tar -xmf "$archive" -C "$home"
    crates+=("\"$name\"")
    patches+="${name%-*} = { path = \"$name\" }"$'\n'
    printf '%6d KiB  %s\n' "$(($(stat -c %s "$archive") / 1024))" "$(basename "$archive")"
done
members=$(IFS=,; printf '%s' "${crates[*]}")
{ sed -e "s/^members = .*/members = [$members]/" -e '/^exclude = \|^default-members = /d' Cargo.toml; printf '\n[patch.crates-io]\n%s' "$patches"; } \
    >"$home/Cargo.toml"
cp Cargo.lock "$home"
cargo check --quiet --offline --all-features --manifest-path "$home/Cargo.toml" --target-dir "$target"
