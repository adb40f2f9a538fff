#!/usr/bin/env bash
# Checks the proofs about the model of concurrency and about the laws of algebra (proofs/, docs/proofs.md): that they hold
# and have no gaps, that the former rest on no axioms, and the latter on none but those of the library's real numbers.
# With `wrong`, that a wrong rule of proofs/wrong breaks its example and its proof, and a wrong law its lemma; with
# VOLTA_SLOW=1, that each does.
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
laws=$(grep '^laws/' <<<"$files")
for file in proofs/*.v proofs/laws/*.v; do
    grep -qxF "${file#proofs/}" <<<"$files" || { say "$file is not in proofs/_CoqProject"; exit 1; }
done
# The axioms of the library's real numbers.
axioms='ClassicalDedekindReals.sig_forall_dec
ClassicalDedekindReals.sig_not_dec
Classical_Prop.classic
FunctionalExtensionality.functional_extensionality_dep'

# compile FOLDER FILE: what the prover says is on standard output.
compile() { (cd "$1" && coqc -q -Q . Volta "$2" 2>&1); }

# copy FOLDER: the sources of the proofs.
copy() { mkdir -p "$1/laws" && cp proofs/*.v "$1" && cp proofs/laws/*.v "$1/laws"; }

if [ "${1:-}" != wrong ]; then
    if grep -nE '\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjecture|bypass_check|Unset +(Guard|Positivity|Universe))\b' proofs/*.v proofs/laws/*.v; then
        say "proofs must have neither gaps nor axioms"
        exit 1
    fi
    copy "$target"
    for file in $files; do
        said=$target/said.$(tr / . <<<"$file")
        if ! compile "$target" "$file" >"$said"; then
            cat "$said"
            exit 1
        fi
    done
    # The last file of each part asks for the axioms of its main theorems.
    wanted=$(grep -c '^Print Assumptions' proofs/Main.v)
    said=$target/said.Main.v
    if [ "$(grep -vc '^Closed under the global context$' "$said")" -ne 0 ] || [ "$(wc -l <"$said")" -ne "$wanted" ]; then
        cat "$said"
        say "a main theorem rests on axioms"
        exit 1
    fi
    said=$target/said.laws.Main.v
    if ! head -n 1 "$said" | grep -qx 'Axioms:' ||
        [ -n "$(grep -oE '^[^ ]+' "$said" | grep -vxF -e Axioms: -e "$axioms")" ]; then
        cat "$said"
        say "the laws rest on other axioms than those of the library's real numbers"
        exit 1
    fi
    # And the checker of compiled proofs, which shares less with the prover, finds no others either.
    if ! (cd "$target" && coqchk -silent -o -Q . Volta Volta.Main Volta.laws.Main) >"$target/said" 2>&1 ||
        ! grep -q '^\* Axioms:$' "$target/said" ||
        [ -n "$(sed -n 's/^    Coq\.[A-Za-z]*\.//p' "$target/said" | grep -vxF "$axioms")" ] ||
        [ "$(grep -c ': <none>$' "$target/said")" -ne 3 ]; then
        cat "$target/said"
        exit 1
    fi
    lemmas=$(cat proofs/laws/*.v | grep -cE '^(Lemma|Theorem|Example) ')
    echo "$wanted theorems hold, without axioms ($(cat proofs/*.v | wc -l) lines);" \
        "and every law ($lemmas lemmas, $(cat proofs/laws/*.v | wc -l) lines; $SECONDS s)"
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

# Of the rules and of the laws one each, and with VOLTA_SLOW=1 all.
some() { if [ "${VOLTA_SLOW:-}" = 1 ]; then ls "$@"; else ls "$@" | head -n 1; fi; }

for patch in $(some proofs/wrong/*.patch); do
    rule=$(basename "$patch" .patch)
    folder=$target/$rule
    copy "$folder/proofs"
    patch --quiet --directory "$folder" -p1 <"$patch"
    # The model itself is well formed.
    for file in Maps.v Diamond.v Model.v; do compile "$folder/proofs" "$file"; done
    example=$(sed -n 's/^Example: //p' "$patch") theorem=$(sed -n 's/^Theorem: //p' "$patch")
    breaks "$folder/proofs" "$example" Statements.v
    # shellcheck disable=SC2086
    breaks "$folder/proofs" "$theorem" $(grep -vE '^(Maps|Diamond|Model|Statements|Paper.*|laws/.*)\.v$' <<<"$files")
    echo "$rule: breaks the example $example and the proof of $theorem"
done

# In `Table.v`, as a change of the table of laws would have it.
for patch in $(some proofs/wrong/laws/*.patch); do
    law=$(basename "$patch" .patch)
    folder=$target/$law
    copy "$folder/proofs"
    patch --quiet --directory "$folder" -p1 <"$patch"
    compile "$folder/proofs" laws/Functions.v
    lemma=$(sed -n 's/^Lemma: //p' "$patch")
    # shellcheck disable=SC2086
    breaks "$folder/proofs" "$lemma" $(grep -v '/Functions\.v$' <<<"$laws")
    echo "$law: breaks the lemma $lemma"
done
