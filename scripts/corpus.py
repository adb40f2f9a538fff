#!/usr/bin/env python3
"""Measures Volta on kernels that others wrote, and writes docs/corpus.md.

CUDA sources come from packages of crates.io and PyPI, by the registries' own clients, in pinned versions. Each is compiled
as its own build does it, for one architecture. Of each kernel it is noted whether all of it is understood, and which verdict
it has by itself, launched by guesses. Kernels of ggml are verified against plain ones of ours: the cases in tests/corpus/ggml.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import datetime
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/corpus.md"
CASES = ROOT / "tests/corpus/ggml"
LONGEST_COMPILE = 900


@dataclasses.dataclass
class Package:
    name: str
    version: str
    registry: str  # "crate", "sdist" or "wheel"
    what: str
    sources: list = dataclasses.field(default_factory=list)  # patterns; a `!` excludes
    includes: list = dataclasses.field(default_factory=list)  # below the package; `name:folder` below another one
    flags: list = dataclasses.field(default_factory=list)
    arch: str = "sm_80"


GGML = "vendor/llama.cpp/ggml"
CUBLAS = Package("nvidia-cublas", "13.10.0.20", "wheel", "headers that host code includes")
PACKAGES = [
    Package(
        "candle-kernels", "0.11.1", "crate", "kernels of a framework in Rust: elementwise, reductions, convolutions, quantised",
        sources=["src/**.cu"], flags=["--expt-relaxed-constexpr", "-std=c++17", "-O3"],
    ),
    Package(
        "llama-cpp-python", "0.3.36", "sdist", "ggml's CUDA backend",
        sources=[f"{GGML}/src/ggml-cuda/*.cu", f"!{GGML}/src/ggml-cuda/template-instances/*"],
        includes=[f"{GGML}/include", f"{GGML}/src", "nvidia-cublas:nvidia/cu13/include"],
        flags=["-use_fast_math", "-extended-lambda", "-std=c++17", "-O3"],
    ),
    Package(
        "mistralrs-quant", "0.8.1", "crate", "quantised matrices in Rust: GPTQ, AWQ, HQQ, AFQ, MXFP4, fp8, bitsandbytes",
        sources=["kernels/**.cu", "!**dummy*"], flags=["-std=c++17", "-O3", "-U__CUDA_NO_HALF_OPERATORS__"],
    ),
    Package(
        "mistralrs-paged-attn", "0.8.1", "crate", "attention over pages, adapted from vLLM",
        sources=["src/cuda/*.cu", "!*flashinfer*"], flags=["-std=c++17", "-O3"],
    ),
    Package(
        "nvidia-cutlass", "4.2.0.0", "wheel", "CUTLASS: the tutorials of CuTe, and its plain examples",
        sources=["cutlass_library/source/examples/cute/tutorial/*sgemm_[12s]*.cu",
                 "cutlass_library/source/examples/cute/tutorial/tiled_copy*.cu",
                 "cutlass_library/source/examples/00_basic_gemm/*.cu",
                 "cutlass_library/source/examples/12_gemm_bias_relu/*.cu"],
        includes=["cutlass_library/source/include", "cutlass_library/source/tools/util/include",
                  "cutlass_library/source/examples/common", "nvidia-cublas:nvidia/cu13/include"],
        flags=["-std=c++17", "-O3", "--expt-relaxed-constexpr"],
    ),
    Package(
        "flashinfer-python", "0.7.2.post1", "wheel", "norms, activations, rotary embeddings and pages for inference",
        sources=[f"flashinfer/data/csrc/{name}.cu"
                 for name in ("norm", "rope", "page", "cascade", "quantization", "concat_mla")],
        includes=["flashinfer/data/include", "flashinfer/data/csrc", "flashinfer/data/cutlass/include",
                  "apache-tvm-ffi:tvm_ffi/include", "nvidia-cublas:nvidia/cu13/include"],
        flags=["-std=c++17", "-O3", "--expt-relaxed-constexpr", "-use_fast_math"],
    ),
    CUBLAS,
    Package("apache-tvm-ffi", "0.1.15.post2", "wheel", "headers that host code includes"),
]


def fail(*lines):
    sys.exit("\n".join(f"corpus: {line}" for line in lines))


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, **options)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))} failed:", *done.stderr.strip().splitlines()[-12:])
    return done.stdout


def fetch(package, home):
    """The folder of a package's files, fetched once."""
    folder = home / "packages" / f"{package.name}-{package.version}"
    if folder.is_dir():
        return folder
    print(f"corpus: fetching {package.name} {package.version}", file=sys.stderr)
    work = home / "download"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    folder.parent.mkdir(exist_ok=True)
    if package.registry == "crate":
        (work / "src").mkdir()
        (work / "src/lib.rs").touch()
        (work / "Cargo.toml").write_text(
            '[package]\nname = "corpus"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n'
            f'[dependencies]\n{package.name} = "={package.version}"\n'
        )
        run("cargo", "vendor", "--quiet", "--versioned-dirs", "vendor", cwd=work)
        (work / "vendor" / folder.name).rename(folder)
    else:
        pip = home / "pip"
        if not pip.is_dir():
            run(sys.executable, "-m", "venv", pip)
        kind = ["--no-binary", package.name] if package.registry == "sdist" else []
        run(pip / "bin/python", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", *kind,
            "--dest", work, f"{package.name}=={package.version}")
        [archive] = list(work.iterdir())
        opened = work / "opened"
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                # Of libraries only headers are wanted.
                wheel.extractall(opened, [name for name in wheel.namelist() if not name.endswith((".so", ".a"))
                                          and ".so." not in name])
        else:
            with tarfile.open(archive) as sdist:
                sdist.extractall(opened, filter="data")
            [opened] = list(opened.iterdir())
        opened.rename(folder)
    shutil.rmtree(work)
    return folder


def sources(package, folder):
    wanted = [pattern for pattern in package.sources if not pattern.startswith("!")]
    unwanted = [pattern[1:] for pattern in package.sources if pattern.startswith("!")]
    for path in sorted(folder.rglob("*.cu")):
        name = path.relative_to(folder).as_posix()
        if any(fnmatch.fnmatch(name, pattern) for pattern in wanted) and not any(
            fnmatch.fnmatch(name, pattern) for pattern in unwanted
        ):
            yield path


def compile_source(nvcc, package, folder, home, source):
    """The PTX of a source, or nothing and the compiler's first error."""
    name = source.relative_to(folder).with_suffix(".ptx").as_posix().replace("/", "-")
    ptx = home / "ptx" / folder.name / name
    refused = ptx.with_suffix(".refused")
    if not ptx.exists() and not refused.exists():
        ptx.parent.mkdir(parents=True, exist_ok=True)
        includes = []
        for include in package.includes:
            other, _, path = include.rpartition(":")
            base = next((fetch(known, home) for known in PACKAGES if known.name == other), folder)
            includes += ["-I", base / path]
        command = [nvcc, "-ptx", "-w", f"-arch={package.arch}", *package.flags, *includes, source, "-o", ptx]
        try:
            done = subprocess.run(command, text=True, capture_output=True, timeout=LONGEST_COMPILE)
            said = "" if done.returncode == 0 else done.stderr + done.stdout or "it says nothing"
        except subprocess.TimeoutExpired:
            said = f"error: longer than {LONGEST_COMPILE} s"
        if said:
            ptx.unlink(missing_ok=True)
            errors = [line for line in said.splitlines() if "error" in line] or said.splitlines()
            refused.write_text(errors[0].replace(str(folder) + "/", ""))
    return source, ptx if ptx.exists() else None, "" if ptx.exists() else refused.read_text()


def compiled(arguments, package, folder, home):
    """The PTX of a package, and what did not compile."""
    found = list(sources(package, folder))
    if arguments.sample:
        found = found[:: max(1, len(found) // arguments.sample)][: arguments.sample]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        done = list(pool.map(lambda source: compile_source(arguments.nvcc, package, folder, home, source), found))
    return [ptx for _, ptx, _ in done if ptx], [(source, why) for source, _, why in done if why]


def measured(arguments, package, ptx, home):
    """What the program of ours finds of each kernel; its lines are kept beside the PTX."""
    lines = home / f"{package.name}.jsonl"
    command = [arguments.target / "release/corpus", "--timeout", str(arguments.timeout), *ptx]
    with open(lines, "w") as out:
        done = subprocess.run([str(word) for word in command], stdout=out)
    if done.returncode != 0:
        fail(f"release/corpus ended with {done.returncode} on {package.name}; what it told before is in {lines}")
    return [json.loads(line) for line in lines.read_text().splitlines()]


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "none"


def section(package, folder, found, refused, kernels):
    """A package, as the page tells it."""
    count = len(kernels)
    lowered = sum(not kernel["unsupported"] for kernel in kernels)
    stops = ("unsupported", "input-error", "type-mismatch")
    told = sum(kernel["verdict"] not in stops for kernel in kernels)
    yield f"\n### {package.name} {package.version}\n"
    flags = " ".join([f"-arch={package.arch}", *package.flags])
    yield (
        f"{package.what[0].upper()}{package.what[1:]}. {len(found)} of {len(found) + len(refused)} sources compile "
        f"(`{flags}`), with {count} kernels: {share(lowered, count)} have no unsupported instruction, and "
        f"{share(told, count)} get a verdict other than *unsupported*, *input-error* or *type-mismatch*.\n"
    )
    for source, why in refused:
        yield f"- {source.relative_to(folder).as_posix()} does not compile: {cell(why)}"
    if refused:
        yield ""
    verdicts = collections.Counter(kernel["verdict"] for kernel in kernels)
    reasons = collections.defaultdict(list)
    for kernel in kernels:
        reasons[kernel["verdict"], kernel["reason"]].append(kernel["kernel"])
    yield "| verdict | kernels | why | kernels | one of them |"
    yield "|---|--:|---|--:|---|"
    for verdict, total in sorted(verdicts.items(), key=lambda item: (-item[1], item[0])):
        own = [(why, names) for (known, why), names in reasons.items() if known == verdict]
        own.sort(key=lambda item: (-len(item[1]), item[0]))
        for at, (why, names) in enumerate(own[:12]):
            head = f"{verdict} | {total}" if at == 0 else " | "
            yield f"| {head} | {cell(why)} | {len(names)} | {cell(min(names, key=lambda name: (len(name), name)))} |"
        if len(own) > 12:
            rest = sum(len(names) for _, names in own[12:])
            yield f"|  |  | {len(own) - 12} other reasons | {rest} |  |"


def cell(text):
    text = re.sub(r"\s+", " ", text).replace("|", "\\|").replace("<", "&lt;").replace("`", "").replace("*", "\\*")
    return text if len(text) < 160 else text[:157] + "…"


def verified(arguments, home):
    """What `cargo volta check` says of the cases in tests/corpus/ggml, beside which the compiled kernels are laid."""
    package = next(package for package in PACKAGES if package.name == "llama-cpp-python")
    folder = home / "ggml"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(CASES, folder)
    (folder / "ptx").mkdir()
    below = home / "ptx" / f"{package.name}-{package.version}"
    for ptx in below.glob("*.ptx"):
        shutil.copy(ptx, folder / "ptx" / ptx.name.removeprefix(f"{GGML}/src/ggml-cuda/".replace("/", "-")))
    command = [arguments.target / "release/volta-under-test", "check", folder, "--root", folder, "--format", "json",
               "--timeout", "120s", "--no-cache"]
    done = subprocess.run(
        [str(word) for word in command], text=True, capture_output=True,
        env={**os.environ, "VOLTA_NVCC": str(arguments.nvcc)},
    )
    # A case whose kernel was not compiled could not run, and the table says so.
    if done.returncode not in (0, 1, 2) or not done.stdout:
        fail("the cases could not be checked:", *done.stderr.splitlines()[-12:])
    return sorted((json.loads(line) for line in done.stdout.splitlines()), key=lambda case: case["name"])


def cases(found):
    """The cases, as the page tells them."""
    package = next(package for package in PACKAGES if package.name == "llama-cpp-python")
    proved = sum(case.get("verdict") == "equivalent" for case in found)
    yield (
        f"Kernels of {package.name} {package.version}, compiled as above, against those of ours in "
        f"[tests/corpus/ggml](../tests/corpus/ggml): {proved} of {len(found)} are proved equivalent.\n"
    )
    yield "| case | kernel | verdict | seconds | what it assumes, or why |"
    yield "|---|---|---|--:|---|"
    for case in found:
        text = (CASES / case["name"].replace("::", "/") / "volta.toml").read_text()
        [kernel] = re.findall(r'"\.\./\.\./ptx/[^:]*::(.*)"', text)
        why = "; ".join(case["assumptions"]) or case.get("error") or (case.get("fault") or {}).get("message") or ""
        verdict, seconds = case.get("verdict") or case["outcome"], case.get("seconds") or 0
        yield f"| {case['name']} | {cell(kernel)} | {verdict} | {seconds:.1f} | {cell(why)} |"


def page(sections, table):
    text = PAGE.read_text()
    parts = {"packages": "\n".join(sections), "ggml": "\n".join(table), "date": f"{datetime.date.today()}"}
    for name, part in parts.items():
        text, count = re.subn(
            f"(<!-- {name}: begin -->).*?(<!-- {name}: end -->)", lambda found: f"{found[1]}\n{part}\n{found[2]}",
            text, flags=re.DOTALL,
        )
        if count != 1:
            fail(f"{PAGE.relative_to(ROOT)} has no one place for {name}")
    PAGE.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="only these, and no page is written")
    parser.add_argument("--sample", type=int, metavar="N", help="N sources of each package, and no page is written")
    parser.add_argument("--cases", action="store_true", help="the cases of ggml even if packages are named")
    parser.add_argument("--timeout", type=float, default=10, metavar="SECONDS", help="for each kernel (default: 10)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at once (default: one a core)")
    parser.add_argument("--target", type=pathlib.Path, default=ROOT / "target", help=argparse.SUPPRESS)
    parser.add_argument("--nvcc", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    known = [package.name for package in PACKAGES if package.sources]
    for name in arguments.packages:
        if name not in known:
            fail(f"there is no package {name}; there are {', '.join(known)}")

    home = arguments.target / "corpus"
    home.mkdir(parents=True, exist_ok=True)
    lines = []
    for package in PACKAGES:
        if not package.sources or arguments.packages and package.name not in arguments.packages:
            continue
        folder = fetch(package, home)
        found, refused = compiled(arguments, package, folder, home)
        kernels = measured(arguments, package, found, home)
        lines += section(package, folder, found, refused, kernels)
    table = list(cases(verified(arguments, home))) if not arguments.packages or arguments.cases else []
    print("\n".join([*lines, "", *table]))
    if not arguments.packages and not arguments.sample:
        page(lines, table)


if __name__ == "__main__":
    main()
