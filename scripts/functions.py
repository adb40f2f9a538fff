#!/usr/bin/env python3
"""Functions of the mathematical library in context: draws kernels of one line, compiles them, and has each proved to be what
it is. Whether the code of a function is recognised depends on what the compiler made of it there: a sign that it moved, a
constant that it folded, a comparison that it merged, a branch that it moved around a loop.

    python3 scripts/functions.py                            # 40 kernels for sm_80, with nvcc's default flags
    python3 scripts/functions.py --kernels 200 --all        # all architectures and flags: hours
    python3 scripts/functions.py --from FILE.cu             # the kernels of a file: (const float *x, float *y)

Needs nvcc (scripts/nvcc.sh), and no GPU. Prints each kernel that is not proved, with its verdict, and a count for each
architecture and each set of flags.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ARCHITECTURES = ["sm_80", "sm_90", "sm_100", "sm_120"]
FLAGS = {
    "default": [],
    "fast": ["-use_fast_math"],
    "nofma": ["-fmad=false"],
    "ftz": ["-ftz=true"],
    "debug": ["-G"],
}
PARAMETERS = """[params]
x = { role = "in", type = "f32", shape = [256] }
y = { role = "inout", type = "f32", shape = [256] }
"""
# How many kernels one run of the compiler gets.
TOGETHER = 20

UNARY = """logf log2f log10f log1pf expf exp2f exp10f expm1f tanhf sinhf coshf erff erfcf atanf asinf acosf asinhf acoshf atanhf
cbrtf sqrtf rsqrtf sinf cosf tanf floorf ceilf truncf rintf fabsf tgammaf lgammaf normcdff""".split()
BINARY = "powf hypotf atan2f fmodf fmaxf fminf copysignf fdimf".split()
CONSTANTS = "0.5f 2.0f 3.0f -1.0f 0.1f 10.0f 1.5f -2.0f 0.25f 6.0f".split()


def operand(rng, depth):
    """An expression of the variable v."""
    kind = rng.random()
    if depth == 0 or kind < 0.35:
        return rng.choice(["v", "v", "-v", "fabsf(v)", "v * v", "v + 1.0f", "1.0f - v", "2.0f * v", rng.choice(CONSTANTS)])
    inner = operand(rng, depth - 1)
    if kind < 0.75:
        return f"{rng.choice(UNARY)}({inner})"
    if kind < 0.85:
        return f"{rng.choice(BINARY)}({inner}, {operand(rng, depth - 1)})"
    return f"({inner} {rng.choice('+-*')} {operand(rng, depth - 1)})"


def call(rng, depth):
    """A call of a function."""
    if rng.random() < 0.2:
        pair = [operand(rng, depth - 1), rng.choice(CONSTANTS + ["v"])]
        rng.shuffle(pair)
        return f"{rng.choice(BINARY)}({', '.join(pair)})"
    return f"{rng.choice(UNARY)}({operand(rng, depth - 1)})"


def body(rng):
    """The statements of a kernel, of which `i` is the thread."""
    kind, first = rng.random(), call(rng, 2)
    if kind < 0.5:
        return f"float v = x[i]; y[i] = {first};"
    if kind < 0.65:
        return f"float v = x[i]; y[i] = {first} {rng.choice('+-*')} {call(rng, 1)};"
    if kind < 0.8:
        test = rng.choice(["v > 1.0f", "v >= 0.0f", "v < -0.5f", f"{call(rng, 1)} > v"])
        return f"float v = x[i]; y[i] = {test} ? {first} : {operand(rng, 1)};"
    if kind < 0.9:
        # What does not change in the loop may be moved out of it.
        return f"float v = x[i]; for (int k = 0; k < 4; k++) y[4 * i + k] = x[4 * i + k] - {first};"
    return f"float s = 0; for (int k = 0; k < 4; k++) {{ float v = x[4 * i + k]; s += {first}; }} y[i] = s;"


def drawn(count, seed):
    rng = random.Random(seed)
    return {f"k{number}": body(rng) for number in range(count)}


def given(file):
    """The kernels of a file, by name: their text as a whole."""
    found = re.findall(r'^extern "C" __global__ void (\w+)\(const float \*x, float \*y\).*$', file.read_text(), re.M)
    if not found:
        sys.exit(f'{file}: no line `extern "C" __global__ void NAME(const float *x, float *y) {{ … }}`')
    return found


def compile_all(args, work, sources):
    """Compiles each source for each architecture and set of flags, two at a time."""
    jobs = [(arch, name, source) for arch in args.arch for name in args.flags for source in sources]
    running = []
    for arch, name, source in jobs:
        folder = work / arch / name
        folder.mkdir(parents=True, exist_ok=True)
        command = [args.nvcc, "-ptx", f"-arch={arch}", *FLAGS[name], source, "-o", folder / f"{source.stem}.ptx"]
        running.append((command, subprocess.Popen(command, stderr=subprocess.PIPE, text=True)))
        if len(running) == args.jobs:
            finish(running)
    finish(running)


def finish(running):
    for command, process in running:
        _, said = process.communicate()
        if process.returncode:
            sys.exit(f"{' '.join(map(str, command))}\n{said}")
    running.clear()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kernels", type=int, default=40, help="how many kernels to draw (40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="file", type=pathlib.Path, help="take the kernels of this file instead")
    parser.add_argument("--arch", action="append", choices=ARCHITECTURES, help="may be given several times (sm_80)")
    parser.add_argument("--flags", action="append", choices=FLAGS, help="may be given several times (default)")
    parser.add_argument("--all", action="store_true", help="all architectures and flags")
    parser.add_argument("--nvcc", help="the compiler (that of scripts/nvcc.sh)")
    parser.add_argument("--bin", help="the program, `cargo-volta` (built with cargo run)")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    args.arch = ARCHITECTURES if args.all else args.arch or ["sm_80"]
    args.flags = list(FLAGS) if args.all else args.flags or ["default"]
    args.nvcc = args.nvcc or subprocess.check_output([HERE / "nvcc.sh"], text=True).strip()
    program = [args.bin] if args.bin else ["cargo", "run", "--quiet", "--locked", "-p", "volta-test", "--"]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        if args.file:
            sources, texts = [args.file.resolve()], {name: args.file.stem for name in given(args.file)}
            shown = {name: name for name in texts}
        else:
            shown = drawn(args.kernels, args.seed)
            names, sources, texts = list(shown), [], {}
            for start in range(0, len(names), TOGETHER):
                source = work / f"part{start}.cu"
                part = names[start : start + TOGETHER]
                head = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
                lines = [
                    f'extern "C" __global__ void {name}(const float *x, float *y) {{ {head} {shown[name]} }}' for name in part
                ]
                source.write_text("\n".join(lines) + "\n")
                sources.append(source)
                texts |= {name: source.stem for name in part}
        compile_all(args, work, sources)
        for arch in args.arch:
            for name in args.flags:
                for kernel, stem in texts.items():
                    case = work / arch / name / kernel
                    case.mkdir()
                    side = f'source = "../{stem}.ptx::{kernel}"\nblock = 64\n'
                    (case / "volta.toml").write_text(PARAMETERS + f"\n[reference]\n{side}\n[opt]\n{side}")
        command = [*program, "check", "--no-cache", "--format", "json", str(work), "--root", str(work)]
        reports = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=HERE.parent).stdout
        report([json.loads(line) for line in reports.splitlines()], shown)


def report(reports, shown):
    proved, others = {}, []
    for case in reports:
        arch, flags, kernel = pathlib.Path(case["path"]).parent.parts[-3:]
        is_proved = case["verdict"] in ("equivalent", "equivalent-where")
        counts = proved.setdefault((arch, flags), [0, 0])
        counts[0] += is_proved
        counts[1] += 1
        if not is_proved:
            others.append((arch, flags, shown[kernel], case))
    for arch, flags, text, case in others:
        print(f"{arch} {flags}: {case['verdict'] or case['outcome']}: {text}")
    for (arch, flags), (count, of) in proved.items():
        print(f"{arch} {flags}: {count} of {of} proved")
    sys.exit(bool(others))


if __name__ == "__main__":
    main()
