#!/usr/bin/env bash
# Checks the proofs about the model of concurrency (proofs/, docs/proofs.md): that they hold, have no gaps, and rest on no
# axioms. With `wrong`, that each wrong rule of proofs/wrong breaks its example and its proof.
# Installs the prover, Debian's package `coq`, where it is missing and apt-get may be used (and `patch`, for wrong rules);
# where it cannot be installed, the check is skipped, and in CI fails.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'proofs: %s\n' "$@" >&2; }

packages=()
command -v coqc >/dev/null || packages+=(coq)
[ "${1:-}" != wrong ] || command -v patch >/dev/null || packages+=(patch)

install_packages() {
    [ "${VOLTA_INSTALL:-}" != off ] && command -v apt-get >/dev/null || return 1
    local sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo -n)
    "${sudo[@]}" true 2>/dev/null || return 1
    say "installing ${packages[*]} with apt-get"
    local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120)
    { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${packages[@]}"; } >&2
}

if [ "${#packages[@]}" -ne 0 ] && ! install_packages; then
    say "skipped: ${packages[*]} is missing, and cannot be installed here. Run this once:" \
        "    sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends ${packages[*]}'"
    [ "${CI:-}" = true ] && exit 1
    exit 0
fi

target=${CARGO_TARGET_DIR:-target}/proofs
rm -rf "$target"
mkdir -p "$target"
files=$(grep '\.v$' proofs/_CoqProject)
for file in proofs/*.v; do
    grep -qxF "$(basename "$file")" <<<"$files" || { say "$file is not in proofs/_CoqProject"; exit 1; }
done

# compile FOLDER FILE: what the prover says is on standard output.
compile() { (cd "$1" && coqc -q -Q . Volta "$2" 2>&1); }

if [ "${1:-}" != wrong ]; then
    if grep -nE '\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjecture|bypass_check|Unset +(Guard|Positivity|Universe))\b' proofs/*.v; then
        say "proofs must have neither gaps nor axioms"
        exit 1
    fi
    cp proofs/*.v "$target"
    for file in $files; do
        if ! compile "$target" "$file" >"$target/said"; then
            cat "$target/said"
            exit 1
        fi
    done
    # The last file asks for the axioms of each main theorem.
    wanted=$(grep -c '^Print Assumptions' proofs/Main.v)
    if [ "$(grep -vc '^Closed under the global context$' "$target/said")" -ne 0 ] ||
        [ "$(wc -l <"$target/said")" -ne "$wanted" ]; then
        cat "$target/said"
        say "a main theorem rests on axioms"
        exit 1
    fi
    # And the checker of compiled proofs, which shares less with the prover, finds none either.
    if ! (cd "$target" && coqchk -silent -o -Q . Volta Volta.Main) >"$target/said" 2>&1 ||
        ! grep -q '^\* Axioms: <none>$' "$target/said"; then
        cat "$target/said"
        exit 1
    fi
    echo "$wanted theorems hold, without axioms ($(cat proofs/*.v | wc -l) lines, $SECONDS s)"
    exit 0
fi

# The name of the lemma or example at a line of a file.
name_at() { head -n "$2" "$1" | grep -oE '^ *(Lemma|Theorem|Corollary|Example) [a-zA-Z_0-9]+' | tail -n 1 | awk '{ print $2 }'; }

# breaks FOLDER NAME FILE...: the first of these files that does not compile breaks at that lemma.
breaks() {
    local folder=$1 name=$2 file line found
    shift 2
    for file in "$@"; do
        compile "$folder" "$file" >"$folder/said" && continue
        line=$(grep -oE 'line [0-9]+' "$folder/said" | head -n 1 | awk '{ print $2 }')
        found=$(name_at "$folder/$file" "${line:-0}")
        [ "$found" = "$name" ] && return
        cat "$folder/said"
        say "$found breaks in $file, and not $name"
        return 1
    done
    say "$name still holds"
    return 1
}

for patch in proofs/wrong/*.patch; do
    rule=$(basename "$patch" .patch)
    folder=$target/$rule
    mkdir -p "$folder/proofs"
    cp proofs/*.v "$folder/proofs"
    patch --quiet --directory "$folder" -p1 <"$patch"
    # The model itself is well formed.
    for file in Maps.v Diamond.v Model.v; do compile "$folder/proofs" "$file"; done
    example=$(sed -n 's/^Example: //p' "$patch") theorem=$(sed -n 's/^Theorem: //p' "$patch")
    breaks "$folder/proofs" "$example" Statements.v
    # shellcheck disable=SC2086
    breaks "$folder/proofs" "$theorem" $(grep -vE '^(Maps|Diamond|Model|Statements|Paper.*)\.v$' <<<"$files")
    echo "$rule: breaks the example $example and the proof of $theorem"
done
