# To be sourced: programs that come as Python packages.

# from_pypi NAME LIST: installs the packages that LIST pins into target/NAME, once, and sets `home` to that folder.
# What goes wrong is said on standard error, and ends the script.
from_pypi() {
    local name=$1 wanted=$2
    home=$PWD/${CARGO_TARGET_DIR:-target}/$name
    case ${CARGO_TARGET_DIR:-} in /*) home=$CARGO_TARGET_DIR/$name ;; esac
    if cmp -s "$wanted" "$home/installed.txt"; then
        return
    fi
    if [ "${VOLTA_INSTALL:-}" = off ]; then
        say "VOLTA_INSTALL=off forbids to install $name. Run this once:" \
            "    python3 -m pip install --no-deps --target '$home' -r $wanted && cp $wanted '$home/installed.txt'"
        exit 1
    fi
    rm -rf "$home"
    mkdir -p "$(dirname "$home")"
    say "installing $(grep -c '==' "$wanted") packages from PyPI into $home"
    if ! python_install "$wanted"; then
        rm -rf "$home"
        say "$name could not be installed from PyPI; what pip said is above." \
            "It needs https://pypi.org and https://files.pythonhosted.org, or a mirror in PIP_INDEX_URL."
        exit 1
    fi
    cp "$wanted" "$home/installed.txt"
}

say() { printf "$(basename "$0" .sh): %s\n" "$@" >&2; }

# Makes an environment of its own in $home, or takes the pip that is there.
python_install() {
    local wanted=$1 said
    if said=$(python3 -m venv "$home" 2>&1); then
        "$home/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$wanted" >&2
        return
    fi
    if python3 -m pip --version >/dev/null 2>&1; then
        rm -rf "$home"
        python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$home" -r "$wanted" >&2
        return
    fi
    # Debian keeps venv's own pip in a package apart.
    local sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo -n)
    if command -v apt-get >/dev/null && "${sudo[@]}" true 2>/dev/null; then
        say "installing python3-venv with apt-get"
        local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120)
        { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends python3-venv; } >&2
        rm -rf "$home"
        python3 -m venv "$home" >&2
        "$home/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$wanted" >&2
        return
    fi
    say "$said" "python3 has neither venv nor pip here. Run this once:" \
        "    sudo sh -c 'apt-get update && apt-get install -y python3-venv'"
    return 1
}
