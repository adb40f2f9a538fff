#!/usr/bin/env python3
"""Runs cases that `cargo volta export --hardware` wrote on an NVIDIA GPU, and compares: hardware with the interpreter,
the reference with the optimized kernel, what nobody writes with what was there. Needs Python 3.8 and a driver.

Exit codes: 0 nothing contradicts a verdict or the interpreter, 1 something does, 2 nothing could be run."""

import argparse
import ctypes
import hashlib
import json
import math
import os
import queue
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

PROVED = ("equivalent", "clean")
NOT_FAULTY = PROVED + ("equivalent-where", "different")

# Counterexamples whose two results are one number in the type of the output.
FAINT = {
    "norm::l2_added": "the sides differ by less than f32 tells apart",
    "rational::tiny_flushed": "numbers underflow",
}

# Where hardware and interpreter may differ by more than rounding, and why.
APART = [
    (r"^gemm_tensor::small_wmma_(masked|unpacked)", "what `wmma_layout` assumes of fragments is not so on this GPU"),
    (r"^atomic::.*bf(16|loat)", "sums of bf16 depend on the order of atomics"),
    (r"^rational::(shared_factors|tiny)", "numbers overflow or underflow"),
]

# Reports of compute-sanitizer on kernels that are clean: by tool, for cases by name or for code that matches.
FALSE_ALARMS = [
    ("racecheck", r"^barriers::double_buffer", None, "it orders accesses by barriers of all threads only"),
    ("racecheck", r"^pipeline::gemm", None, "it does not follow a pipeline of copies and their barriers"),
    ("racecheck", None, r"\bbar(rier)?\.[^;]*,[^;]*;", "it does not follow barriers of a part of a block"),
    ("synccheck", None, r"\bbar(rier)?\.[^;]*,[^;]*;", "it takes barriers of a part of a block for divergence"),
]
TOOLS = ("memcheck", "initcheck", "racecheck", "synccheck")

GUARD, GUARD_BYTE = 256, 0x5A


# The driver's interface

class Failure(Exception):
    """A call of the driver failed."""


class Attribute(ctypes.Structure):
    """CUlaunchAttribute: the words of its value are enough for what is set here."""
    _fields_ = [("id", ctypes.c_uint), ("pad", ctypes.c_uint), ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):
    """CUlaunchConfig"""
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


COOPERATIVE, CLUSTER, PROGRAMMATIC = 2, 4, 6
MAX_SHARED, LARGE_CLUSTERS = 8, 14
MAJOR, MINOR = 75, 76
MAP_TYPES = {"UINT8": 0, "UINT16": 1, "UINT32": 2, "INT32": 3, "UINT64": 4, "INT64": 5, "FLOAT16": 6, "FLOAT32": 7,
             "FLOAT64": 8, "BFLOAT16": 9, "TFLOAT32": 11}
SWIZZLES = {"NONE": 0, "32B": 1, "64B": 2, "128B": 3}


class Driver:
    """The first GPU. A GPU that has met an error is of no more use to this process."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise Failure(f"there is no NVIDIA driver on this machine ({error})") from None
        self.call("cuInit", 0)
        count = ctypes.c_int()
        self.call("cuDeviceGetCount", ctypes.byref(count))
        if count.value == 0:
            raise Failure("there is no NVIDIA GPU in this machine")
        self.device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(self.device), 0)

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        if result != 0:
            text = ctypes.c_char_p()
            known = self.library.cuGetErrorName(result, ctypes.byref(text)) == 0 and text.value
            raise Failure(text.value.decode() if known else f"{name} gives {result}")

    def about(self):
        """Its name and architecture, and the driver's version of CUDA."""
        name, version = ctypes.create_string_buffer(128), ctypes.c_int()
        self.call("cuDeviceGetName", name, 128, self.device)
        self.call("cuDriverGetVersion", ctypes.byref(version))
        numbers = []
        for attribute in (MAJOR, MINOR):
            number = ctypes.c_int()
            self.call("cuDeviceGetAttribute", ctypes.byref(number), attribute, self.device)
            numbers.append(number.value)
        cuda = f"{version.value // 1000}.{version.value % 1000 // 10}"
        return {"name": name.value.decode(), "arch": f"sm_{numbers[0]}{numbers[1]}", "cuda": cuda}

    def start(self):
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        self.call("cuCtxSetCurrent", context)

    def upload(self, at, data):
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(at), data, ctypes.c_size_t(len(data)))
        # A copy from pageable memory may return before its last bytes have arrived.
        self.call("cuCtxSynchronize")

    def download(self, at, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(at), ctypes.c_size_t(size))
        return data.raw

    def encoded(self, held, base):
        """The bytes of a tensor map."""
        rank = len(held["extents"])
        room = ctypes.create_string_buffer(128 + 64)
        at = ctypes.addressof(room) + -ctypes.addressof(room) % 64
        self.call("cuTensorMapEncodeTiled", ctypes.c_void_p(at), MAP_TYPES[held["type"]], rank, ctypes.c_void_p(base),
                  (ctypes.c_uint64 * rank)(*held["extents"]), (ctypes.c_uint64 * rank)(*held["strides"]),
                  (ctypes.c_uint32 * rank)(*held["box"]), (ctypes.c_uint32 * rank)(*[1] * rank), 0,
                  SWIZZLES[held["swizzle"]], 0, 0)
        return ctypes.string_at(at, 128)

    def side(self, case, code, run, data, tight):
        """Runs the steps of a side, in order: the bytes of each area behind them, and the areas next to which something
        was written. `tight`: no memory beside the areas, and none that is not defined is initialised, for
        compute-sanitizer."""
        modules, kernels = {}, {}
        for number in [step["kernel"] for step in run["steps"] if "kernel" in step]:
            kernel, function = case["kernels"][number], ctypes.c_void_p()
            name = kernel["code"]["ptx"]
            if name not in modules:
                modules[name] = ctypes.c_void_p()
                self.call("cuModuleLoadData", ctypes.byref(modules[name]), code(kernel["code"]))
            self.call("cuModuleGetFunction", ctypes.byref(function), modules[name], kernel["entry"].encode())
            kernels[number] = (kernel, function)
        guard = bytes([GUARD_BYTE]) * (0 if tight else GUARD)
        places, owned = [], []
        for area in run["areas"]:
            before, at = data(area["before"]), ctypes.c_uint64()
            for module, name, offset in reversed(area["variables"]):
                self.call("cuModuleGetGlobal_v2", ctypes.byref(at), None, modules[module], name.encode())
                self.upload(at.value + offset, before)
            if area["variables"]:
                places.append(at.value + area["variables"][0][2])
                continue
            self.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(max(1, len(before) + 2 * len(guard))))
            owned.append(at.value)
            places.append(at.value + len(guard))
            if not (tight and area["undefined"]):
                self.upload(at.value, guard + before + guard)
        fields = {field["param"]: (at, field) for at, area in zip(places, run["areas"]) for field in area["fields"]}
        for step in run["steps"]:
            if "kernel" in step:
                self.launch(*kernels[step["kernel"]], step, places, data)
            elif "fill" in step:
                self.put(*fields[step["fill"]], data(step["with"]))
            else:
                self.put(*fields[step["to"]], self.elements(*fields[step["copy"]]))
        self.call("cuCtxSynchronize")
        after, beside = [], []
        for area, at in zip(run["areas"], places):
            size = area["before"][1]
            if area["variables"]:
                after.append(self.download(at, size))
                continue
            held = self.download(at - len(guard), size + 2 * len(guard))
            after.append(held[len(guard):len(guard) + size])
            if held[:len(guard)] != guard or held[len(guard) + size:] != guard:
                beside.append(area["name"])
        for at in owned:
            self.call("cuMemFree_v2", ctypes.c_uint64(at))
        for module in modules.values():
            self.call("cuModuleUnload", module)
        return after, beside

    def elements(self, at, field):
        """The elements of a field in memory, one after the other."""
        self.call("cuCtxSynchronize")
        return packed(self.download(at, end_of(field)), field)

    def put(self, at, field, elements):
        """Writes all elements of a field; one stands for all."""
        self.call("cuCtxSynchronize")
        size, count, stride = field["bytes"], field["count"], field["stride"]
        held = bytearray(self.download(at, end_of(field)))
        elements = elements * (field["elements"] if len(elements) == size else 1)
        for first in range(0, field["elements"], count):
            here = field["offset"] + first // count * stride
            held[here:here + size * count] = elements[first * size:(first + count) * size]
        self.upload(at, bytes(held))

    def launch(self, kernel, function, step, places, data):
        # As long as the place behind its last parameter, and aligned as no parameter needs to be more.
        filled = bytearray(data(step["parameters"]))
        for address in step["addresses"]:
            base = places[address["area"]]
            held = self.encoded(address, base) if "type" in address else struct.pack("<Q", base + address["byte"])
            filled[address["at"]:address["at"] + len(held)] = held
        room = ctypes.create_string_buffer(len(filled) + 64)
        first = ctypes.addressof(room) + -ctypes.addressof(room) % 64
        ctypes.memmove(first, bytes(filled), len(filled))
        # One pointer for each parameter: where it lies for the hardware is the driver's business.
        pointers = (ctypes.c_void_p * max(1, len(kernel["parameters"])))(
            *[first + offset for offset, _ in kernel["parameters"]])
        self.call("cuFuncSetAttribute", function, MAX_SHARED, kernel["shared"])
        attributes = []
        if kernel["cluster"]:
            if math.prod(kernel["cluster"]) > 8:
                self.call("cuFuncSetAttribute", function, LARGE_CLUSTERS, 1)
            attributes.append(Attribute(CLUSTER, 0, (ctypes.c_uint * 16)(*kernel["cluster"])))
        if kernel["cooperative"]:
            attributes.append(Attribute(COOPERATIVE, 0, (ctypes.c_uint * 16)(1)))
        if kernel["programmatic"]:
            attributes.append(Attribute(PROGRAMMATIC, 0, (ctypes.c_uint * 16)(1)))
        listed = (Attribute * max(1, len(attributes)))(*attributes)
        config = Config((ctypes.c_uint * 3)(*kernel["grid"]), (ctypes.c_uint * 3)(*kernel["block"]), kernel["shared"],
                        None, listed, len(attributes))
        self.call("cuLaunchKernelEx", ctypes.byref(config), function, pointers, None)


# Numbers

def small_float(bits, exponent_bits, fraction_bits, bias):
    sign = -1.0 if bits >> (exponent_bits + fraction_bits) & 1 else 1.0
    exponent = bits >> fraction_bits & (1 << exponent_bits) - 1
    fraction = bits & (1 << fraction_bits) - 1
    if exponent == 0:
        return sign * math.ldexp(fraction, 1 - bias - fraction_bits)
    return sign * math.ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits)


E4M3 = [math.nan if bits & 0x7F == 0x7F else small_float(bits, 4, 3, 7) for bits in range(256)]
UE8M0 = [math.nan if bits == 255 else math.ldexp(1.0, bits - 127) for bits in range(256)]
LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}


def end_of(field):
    """The end of the last element of a field, in bytes."""
    structs = field["elements"] // field["count"]
    return (structs - 1) * field["stride"] + field["offset"] + field["bytes"] * field["count"] if structs else 0


def packed(data, field):
    """The elements of a field, one after the other."""
    size, count, stride = field["bytes"], field["count"], field["stride"]
    if field["offset"] != 0 or stride != size * count:
        structs = field["elements"] // count
        parts = [data[at * stride + field["offset"]:][:size * count] for at in range(structs)]
        data = b"".join(parts)
    return data[:size * field["elements"]]


def numbers(data, field):
    """The elements of a field, as numbers."""
    size, data = field["bytes"], packed(data, field)
    unpack = lambda letter: struct.unpack(f"<{len(data) // size}{letter}", data)
    kind = field["type"]
    if kind in ("f32", "tf32"):
        return unpack("f")
    if kind == "f64":
        return unpack("d")
    if kind == "f16":
        return unpack("e")
    if kind == "bf16":
        wide = struct.pack(f"<{len(data) // 2}I", *[bits << 16 for bits in unpack("H")])
        return struct.unpack(f"<{len(data) // 2}f", wide)
    if kind == "e5m2":
        return struct.unpack(f"<{len(data)}e", b"".join(bytes([0, bits]) for bits in data))
    if kind in ("e4m3", "ue8m0"):
        return [(E4M3 if kind == "e4m3" else UE8M0)[bits] for bits in data]
    return unpack(LETTERS[size].lower() if field["signed"] else LETTERS[size])


def deviation(one, other):
    """The largest distance of two lists of numbers, relative to the largest number in them; infinite where a NaN or an
    infinity, or an integer, is not what it is on the other side."""
    largest, apart = 0.0, 0.0
    for a, b in zip(one, other):
        if a == b:
            if abs(a) != math.inf:
                largest = max(largest, abs(a))
        elif a != a and b != b:
            continue
        elif isinstance(a, int) and isinstance(b, int) or not (math.isfinite(a) and math.isfinite(b)):
            return math.inf
        else:
            largest = max(largest, abs(a), abs(b))
            apart = max(apart, abs(a - b))
    return apart / largest if apart else 0.0


# The process that talks to the driver

class Bundle:
    """A folder of cases."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            self.manifest = json.load(file)
        if self.manifest["format"] != 2:
            raise Failure(f"{folder} has another format: export it again")
        self.cases = self.manifest["cases"]
        self.open_name, self.bytes = None, b""

    def data(self, case):
        if self.open_name != case["data"]:
            with open(os.path.join(self.folder, case["data"]), "rb") as file:
                self.open_name, self.bytes = case["data"], file.read()
        return lambda place: self.bytes[place[0]:place[0] + place[1]]

    def code(self, image):
        """A cubin if there is one, else the PTX as a text that ends in 0."""
        with open(os.path.join(self.folder, image["cubin"] or image["ptx"]), "rb") as file:
            return file.read() + b"\0"


def side_result(run, after, beside, data):
    """One side beside what the interpreter says of it."""
    touched, apart, known = list(beside), 0.0, run["interpreter"] is None
    for area, bytes_after in zip(run["areas"], after):
        before = data(area["before"])
        is_scratch = any(field["written"] and not field["output"] for field in area["fields"])
        if area["interpreter"] is None:
            if not any(field["written"] for field in area["fields"]) and bytes_after != before:
                touched.append(area["name"])
            continue
        expected, written = data(area["interpreter"]["after"]), data(area["interpreter"]["written"])
        if bytes_after == expected:
            continue
        if not is_scratch and any(a != b and not w for a, b, w in zip(bytes_after, before, written)):
            touched.append(area["name"])
        for field in area["fields"]:
            if field["output"]:
                apart = max(apart, deviation(numbers(bytes_after, field), numbers(expected, field)))
    return {"touched": touched, "apart": apart if known else None,
            "digest": hashlib.sha256(b"".join(after)).hexdigest()}


def outputs(run, after, data):
    """By parameter: the elements of each output before and behind a side."""
    found = {}
    for area, bytes_after in zip(run["areas"], after):
        for field in area["fields"]:
            if field["output"]:
                found[field["param"]] = (numbers(data(area["before"]), field), numbers(bytes_after, field))
    return found


def same(a, b):
    return a == b or a != a and b != b


def between(one, other):
    """How far apart the outputs of both sides are, without elements that neither wrote."""
    apart = 0.0
    for param in one.keys() & other.keys():
        (before_a, after_a), (before_b, after_b) = one[param], other[param]
        left, right = [], []
        for old_a, a, old_b, b in zip(before_a, after_a, before_b, after_b):
            if not (same(old_a, a) and same(old_b, b)):
                left.append(a)
                right.append(b)
        apart = max(apart, deviation(left, right))
    return apart


def witness_shows(witness, sides):
    (before_a, a), (before_b, b) = [[held[witness["element"]] for held in side[witness["param"]]] for side in sides]
    wrote = (not same(before_a, a), not same(before_b, b))
    expected = {"reference-writes": (True, False), "optimized-writes": (False, True), "nobody-writes": (False, False)}
    return wrote == expected[witness["how"]] if witness["how"] in expected else not same(a, b)


def work(bundle):
    """Answers jobs on standard input until it ends."""
    try:
        driver = Driver()
        driver.start()
        print(json.dumps({"ready": driver.about()}), flush=True)
        for line in sys.stdin:
            job = json.loads(line)
            case = bundle.cases[job["case"]]
            run, data = case["runs"][job["run"]], bundle.data(case)
            sides, results = [], []
            for side in run["sides"]:
                after, beside = driver.side(case, bundle.code, side, data, job["tight"])
                results.append(side_result(side, after, beside, data))
                sides.append(outputs(side, after, data))
            answer = {"sides": results, "between": between(*sides) if len(sides) == 2 else None, "witness": None}
            if run["what"] == "witness":
                answer["witness"] = witness_shows(case["witness"], sides)
            print(json.dumps(answer), flush=True)
    except Failure as failure:
        print(json.dumps({"error": str(failure)}), flush=True)
        # The context is lost, and its end may wait for the kernel.
        os._exit(3)


class Worker:
    """A process that talks to the driver; it is killed when it takes too long, and started again after an error."""

    def __init__(self, folder, seconds, prefix=()):
        self.command = [*prefix, sys.executable, os.path.abspath(__file__), "--worker", folder]
        self.seconds, self.process, self.starts = seconds, None, 0
        self.remarks = []

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        start_new_session=True)
        self.lines = queue.Queue()
        self.starts += 1
        process, lines = self.process, self.lines

        def read():
            for line in process.stdout:
                lines.put(line)
            lines.put(None)
        threading.Thread(target=read, daemon=True).start()
        ready = self.answer(120)
        if "ready" not in ready:
            self.stop()
            raise Failure(ready.get("error", "the driver does not start"))

    def answer(self, seconds):
        """What the process says next; lines of a tool that watches it are kept."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                self.stop()
                return {"error": "hang"}
            if line is None:
                code = self.process.wait()
                self.process = None
                return {"error": f"the process ended with {code}"}
            if line.startswith("{"):
                return json.loads(line)
            self.remarks.append(line.rstrip())

    def ask(self, job):
        """Runs a job. An error ends the process: the next job gets a new one."""
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        said = self.answer(self.seconds)
        if "error" in said:
            self.stop()
        if said.get("error") == "CUDA_ERROR_UNSUPPORTED_PTX_VERSION":
            raise Failure("the driver is older than the PTX of a case: a ptxas has to compile it when it is exported "
                          "(--ptxas, or VOLTA_NVCC, as scripts/nvcc.sh prints it)")
        return said

    def stop(self):
        if self.process is not None:
            # With what it started: a tool that watches the worker is not the worker.
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
            self.process = None


# What is looked for

def ordinary(worker, number, case):
    """Runs a case that has no fault, and says what contradicts its verdict or the interpreter."""
    found = {"runs": 0, "same": 0, "rounded": 0, "unknown": 0, "largest": 0.0, "pairs": 0.0, "known": [], "wrong": []}
    excuse = next((why for name, why in APART if re.search(name, case["name"])), None)
    for at, run in enumerate(case["runs"]):
        said = worker.ask({"case": number, "run": at, "tight": False})
        if "error" in said:
            found["wrong"].append(f"{run['what']}: {said['error']}")
            continue
        wrong = found["wrong"] if excuse is None else found["known"]
        for side in said["sides"]:
            found["runs"] += 1
            found["wrong"] += [f"{run['what']}: memory that nobody writes changes in or beside {name}"
                               for name in side["touched"]]
            if side["apart"] is None:
                found["unknown"] += 1
            elif side["apart"] == 0.0:
                found["same"] += 1
            elif side["apart"] <= case["rounding"]:
                found["rounded"] += 1
                found["largest"] = max(found["largest"], side["apart"])
            else:
                wrong.append(f"{run['what']}: {side['apart']:.2g} from the interpreter")
        if case["verdict"] == "equivalent" and said["between"] is not None:
            found["pairs"] = max(found["pairs"], min(said["between"], case["rounding"]))
            if said["between"] > case["rounding"]:
                wrong.append(f"{run['what']}: the kernels are {said['between']:.2g} apart")
        if said["witness"] is False:
            faint = case["name"] in FAINT
            (found["known"] if faint else found["wrong"]).append("the counterexample does not show")
    if found["known"]:
        found["why"] = excuse or FAINT[case["name"]]
    return found


def faulty(worker, number, case, times):
    """Runs a case with a fault until it shows, and says how."""
    digests = {}
    for turn in range(times):
        at = turn % len(case["runs"])
        said = worker.ask({"case": number, "run": at, "tight": False})
        if "error" in said:
            return said["error"] if said["error"] == "hang" else f"error: {said['error']}", turn + 1
        if any(side["touched"] for side in said["sides"]):
            return "other memory changes", turn + 1
        if any(side["apart"] is not None and side["apart"] > case["rounding"] for side in said["sides"]):
            return "results are not the interpreter's", turn + 1
        if said["between"] is not None and said["between"] > case["rounding"]:
            return "results are not the reference's", turn + 1
        digest = [side["digest"] for side in said["sides"]]
        if digests.setdefault(at, digest) != digest:
            return "results change from run to run", turn + 1
    return None, times


def sanitized(bundle, folder, chosen, seconds):
    """What compute-sanitizer reports on kernels without a fault: (tool, cases, false alarms, other reports)."""
    rows = []
    for tool in TOOLS:
        worker = Worker(folder, seconds, ["compute-sanitizer", "--tool", tool, "--print-limit", "1"])
        known, others, cases = {}, {}, 0
        for number, case in chosen:
            if case["verdict"] not in PROVED:
                continue
            cases += 1
            worker.remarks = []
            said = worker.ask({"case": number, "run": 0, "tight": True})
            reports = [line for line in worker.remarks if re.match(r"=+ \S", line)
                       and not re.search(r"COMPUTE-SANITIZER|SUMMARY", line)]
            reports += [said["error"]] if "error" in said else []
            if reports:
                texts = [bundle.code({"cubin": None, "ptx": kernel["code"]["ptx"]}).decode()
                         for kernel in case["kernels"]]
                alarm = next((why for of, name, code, why in FALSE_ALARMS if of == tool
                              and (name is None or re.search(name, case["name"]))
                              and (code is None or any(re.search(code, text) for text in texts))), None)
                (others if alarm is None else known)[case["name"]] = alarm or reports[0].strip("= ")
        worker.stop()
        rows.append((tool, cases, known, others))
    return rows


# The page

def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def page_of(about, ordinary_found, faulty_found, skipped, sanitizer, times, seconds):
    """The part of the page that a run writes."""
    lines = [f"{time.strftime('%Y-%m-%d')}, {about['name']} ({about['arch']}), driver for CUDA {about['cuda']}, "
             f"{seconds:.0f} s: {len(ordinary_found) + len(faulty_found)} cases ran, {len(skipped)} did not "
             "(code for another architecture).", ""]
    rows = []
    for verdict in sorted({case["verdict"] for case, _ in ordinary_found}):
        found = [held for case, held in ordinary_found if case["verdict"] == verdict]
        total = lambda key: sum(held[key] for held in found)
        count = lambda key: sum(bool(held[key]) for held in found)
        rows.append((f"*{verdict}*", len(found), total("runs"), total("same"), total("rounded"), total("unknown"),
                     f"{max(held['largest'] for held in found):.1g}", count("known"), count("wrong")))
    lines += table(("verdict", "cases", "runs", "bits of the interpreter", "within rounding", "not interpreted",
                    "largest distance", "known exceptions", "contradictions"), rows)
    for title, key in (("Known exceptions", "known"), ("Contradictions", "wrong")):
        listed = [(case, held) for case, held in ordinary_found if held[key]]
        if listed:
            lines += ["", f"{title}:", ""]
            lines += [f"- `{case['name']}`: {held[key][0]}" + (f" ({held['why']})" if key == "known" else "")
                      for case, held in listed]
    if faulty_found:
        rows = []
        for verdict in sorted({case["verdict"] for case, _, _ in faulty_found}):
            found = [symptom for case, symptom, _ in faulty_found if case["verdict"] == verdict]
            shown = [symptom for symptom in found if symptom]
            symptoms = "; ".join(f"{text} ({shown.count(text)})" for text in sorted(set(shown)))
            rows.append((f"*{verdict}*", len(found), len(shown), symptoms))
        lines += ["", f"Faulty kernels, up to {times} runs each:", ""]
        lines += table(("verdict", "kernels", "visibly fail", "how"), rows)
    if sanitizer:
        rows = [(tool, cases, len(known), "; ".join(f"`{name}`: {why}" for name, why in others.items()))
                for tool, cases, known, others in sanitizer]
        lines += ["", "compute-sanitizer, on kernels that are *clean* or *equivalent*:", ""]
        lines += table(("tool", "cases", "known false alarms", "other reports"), rows)
    return "\n".join(lines) + "\n"


def write_page(path, text):
    with open(path, encoding="utf-8") as file:
        old = file.read()
    parts = re.split(r"(<!-- results: (?:begin|end) -->\n)", old)
    if len(parts) != 5:
        raise Failure(f"{path} has no place for results")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join([parts[0], parts[1], text, parts[3], parts[4]]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", help="what `cargo volta export --hardware` wrote")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only cases whose names match")
    parser.add_argument("--times", type=int, default=60, help="how often a faulty kernel runs (60)")
    parser.add_argument("--timeout", type=float, default=10, help="seconds after which a run hangs (10)")
    parser.add_argument("--sanitize", action="store_true", help="also compute-sanitizer, if it is on PATH")
    parser.add_argument("--page", metavar="FILE", help="write the results into this document")
    parser.add_argument("--verbose", action="store_true", help="a line for every case")
    parser.add_argument("--device", action="store_true", help="print the architecture of the GPU, and end")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.device:
        print(Driver().about()["arch"])
        return 0
    if arguments.folder is None:
        parser.error("which folder?")
    bundle = Bundle(arguments.folder)
    if arguments.worker:
        work(bundle)
        return 0
    begin = time.monotonic()
    about = Driver().about()
    if about["arch"] != bundle.manifest["arch"]:
        raise Failure(f"the cases were written for {bundle.manifest['arch']}, and this GPU is {about['arch']}: "
                      "export them with --arch")
    chosen = [(number, case) for number, case in enumerate(bundle.cases) if re.search(arguments.filter, case["name"])]
    fits = lambda case: all(kernel["code"]["fits"] for kernel in case["kernels"])
    skipped = [case for _, case in chosen if not fits(case)]
    chosen = [(number, case) for number, case in chosen if fits(case)]
    if not chosen:
        raise Failure("no case is for this GPU")
    worker = Worker(arguments.folder, arguments.timeout)
    ordinary_found, faulty_found = [], []
    for number, case in chosen:
        if case["verdict"] in NOT_FAULTY:
            found = ordinary(worker, number, case)
            ordinary_found.append((case, found))
            remark = found["wrong"] or found["known"]
            if found["wrong"] or arguments.verbose:
                status = "WRONG" if found["wrong"] else "known" if found["known"] else "ok"
                print(f"{status:6} {case['name']} ({case['verdict']}): {found['runs']} runs, {found['same']} with "
                      f"the interpreter's bits, {found['rounded']} within rounding", *remark, sep="\n       ")
        else:
            symptom, runs = faulty(worker, number, case, arguments.times)
            faulty_found.append((case, symptom, runs))
            if arguments.verbose:
                print(f"{'shows' if symptom else 'hidden':6} {case['name']} ({case['verdict']}): "
                      f"{symptom or 'nothing'}, {runs} runs")
    worker.stop()
    sanitizer = []
    if arguments.sanitize and shutil.which("compute-sanitizer"):
        sanitizer = sanitized(bundle, arguments.folder, chosen, max(60, arguments.timeout))
    elif arguments.sanitize:
        print("compute-sanitizer is not on PATH: it does not run", file=sys.stderr)
    wrong = [case["name"] for case, found in ordinary_found if found["wrong"]]
    reported = [name for _, _, _, others in sanitizer for name in others]
    shown = sum(1 for _, symptom, _ in faulty_found if symptom)
    print(f"{about['name']} ({about['arch']}): {len(ordinary_found)} cases without a fault, {len(wrong)} contradicted; "
          f"of {len(faulty_found)} faulty ones {shown} visibly fail; {len(reported)} reports of compute-sanitizer")
    if arguments.page:
        write_page(arguments.page, page_of(about, ordinary_found, faulty_found, skipped, sanitizer, arguments.times,
                                           time.monotonic() - begin))
    return 1 if wrong or reported else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, OSError) as failure:
        print(failure, file=sys.stderr)
        sys.exit(2)
