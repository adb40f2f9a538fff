"""Proofs that GPU kernels compute the same outputs for every input, floats read as real numbers, without data races.

    import volta

    x = {"role": "in", "type": "f32", "shape": [128]}
    y = {"role": "out", "type": "f32", "shape": [128]}
    volta.assert_equivalent(
        reference=volta.Kernel("scale.ptx", name="scale", block=128),
        opt=volta.Kernel(compiled, grid=1),  # what triton.compile returns
        params={"x": x, "y": y},
    )

Parameters, arguments and options are written with the keys and words of a case, which Volta's `docs/cases.md` lists.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _nvcc, _volta, torch

__all__ = ["Answer", "InputError", "Kernel", "Steps", "assert_clean", "assert_equivalent", "check", "torch"]


class InputError(ValueError):
    """The case, its sources or its PTX are wrong; nothing was verified.

    `problems` says what is wrong, one mapping each: `reason` (a code of docs/reasons.md), `message`, `help`, and where:
    `path`, `line`, `column`. `answer` is all that was answered.
    """

    def __init__(self, answer: Answer):
        super().__init__(answer.message.strip())
        self.answer = answer
        self.problems: list[dict[str, Any]] = answer.data["problems"]

    @classmethod
    def _early(cls, reason: str, message: str) -> InputError:
        """An error that is found before there is a case to verify."""
        problem = {"reason": reason, "message": message, "help": None, "path": None, "line": None, "column": None}
        data = {"outcome": "could-not-run", "verdict": "input-error", "reason": reason, "problems": [problem]}
        return cls(Answer("input-error", reason, message, (), (), data))


@dataclass(frozen=True)
class Answer:
    """What is claimed of kernels, and under which assumptions."""

    verdict: str
    """`equivalent`, `clean`, `different`, `race`, `unknown(budget)`, ...: a verdict of the README."""
    reason: str
    """Why: a code of docs/reasons.md."""
    message: str
    """All of it for people, as `cargo volta check` prints it."""
    assuming: tuple[str, ...]
    """What the claim rests on; part of it."""
    conditions: tuple[str, ...]
    """Of `equivalent-where`: where it holds."""
    data: dict[str, Any] = field(repr=False)
    """All of it for programs: an object of docs/check.schema.json."""

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Kernel:
    """A kernel with its launch.

    `source` is PTX or CUDA as text, the path of a `.ptx` or `.cu` file, also with a kernel of it, `a.cu::sum` (CUDA needs nvcc, and a file that includes others
    of its own needs their texts in `headers`), or what `triton.compile` returns: name, block and shared memory are known then.
    `args` are the names of parameters, numbers, and structs as lists; the parameters in order if nothing is said.
    `more` has further keys of a kernel, such as `{"ctas": [0]}`.
    """

    source: Any
    name: str | None = None
    block: int | Sequence[int] | None = None
    grid: int | Sequence[int] = 1
    shared: int | None = None
    args: Sequence[Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    def _written(self, side: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """The kernel as a case has it, and its sources."""
        keys: dict[str, Any] = {"grid": _plain(self.grid), **self.more}
        more_files: dict[str, str] = {}
        name, block, shared, args = self.name, self.block, self.shared, self.args
        if hasattr(self.source, "asm"):
            file, text = f"{side}.ptx", _triton_ptx(self.source)
            about = self.source.metadata
            name = about.name if name is None else name
            block = 32 * about.num_warps if block is None else block
            shared = about.shared if shared is None else shared
            args = [*(params if args is None else args)]
            args += _scratch(text, name, about, len(args))
        elif isinstance(self.source, str) and "\n" in self.source:
            file, text = f"{side}.ptx", self.source
            if not re.search(r"^\s*\.version\b", text, re.M):
                # CUDA as text: nvcc makes PTX of it.
                try:
                    text, cuda = _nvcc.compile(text, f"{side}.cu"), text
                except _nvcc.NoCompiler as error:
                    raise InputError._early("no-compiler", str(error)) from None
                except _nvcc.DoesNotCompile as error:
                    raise InputError._early("does-not-compile", f"nvcc refuses the source\n{error}") from None
                more_files[f"{side}.cu"] = cuda
        elif isinstance(self.source, (str, os.PathLike)):
            # As in a case, `softmax.cu::softmax_naive` names a kernel of a file.
            path, separator, own = str(self.source).partition("::")
            if separator:
                if name is not None:
                    raise TypeError(f"the kernel of {path} is named twice: {own} and {name}")
                name = own
            path = Path(path)
            file, text = f"{side}/{path.name}", path.read_text(encoding="utf-8")
            # One of pip's packages is no folder that the native part looks into.
            if path.suffix == ".cu" and not os.environ.get("VOLTA_NVCC") and (nvcc := _nvcc.find()) is not None:
                os.environ["VOLTA_NVCC"] = str(nvcc)
        else:
            kind = type(self.source).__name__
            raise TypeError(f"a kernel is PTX, a path or what triton.compile returns, and not a {kind}")
        if block is None:
            raise TypeError(f"the kernel of {file} needs a block: how many threads, such as 128 or [16, 16]")
        keys |= {"source": file if name is None else f"{file}::{name}", "block": _plain(block)}
        if shared is not None:
            keys["shared"] = shared
        if args is not None:
            keys["args"] = [_plain(argument) for argument in args]
        folder = file.rpartition("/")[0]
        headers = {f"{folder}/{name}" if folder else name: text for name, text in self.headers.items()}
        return keys, {file: text, **more_files, **headers}


@dataclass(frozen=True)
class Steps:
    """A side of several steps, one after the other: kernels, and fills and copies as a case has them,
    `{"fill": "y", "with": 0}` and `{"copy": "x", "to": "y"}`."""

    steps: Sequence[Kernel | Mapping[str, Any]]
    repeat: int = 1

    def _written(self, side: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        launches: list[Mapping[str, Any]] = []
        sources: dict[str, str] = {}
        for at, step in enumerate(self.steps):
            if isinstance(step, Kernel):
                step, texts = step._written(f"{side}{at}", params)
                sources |= texts
            launches.append(step)
        return {"launch": launches, "repeat": self.repeat}, sources


def _plain(value: Any) -> Any:
    """Tuples, and numbers of other libraries, as JSON has them."""
    if isinstance(value, (str, bool, Mapping)):
        return value
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return value.item() if hasattr(value, "item") else value


def _triton_ptx(compiled: Any) -> str:
    if "ptx" not in compiled.asm:
        stages = ", ".join(sorted(compiled.asm))
        raise TypeError(f"the kernel was compiled for a GPU that takes no PTX; it has {stages}")
    return compiled.asm["ptx"]


def _scratch(ptx: str, name: str, about: Any, given: int) -> list[int]:
    """The pointers to scratch memory that Triton adds behind the parameters: null, where a kernel wants none."""
    entry = re.search(rf"\.entry\s+{re.escape(name)}\s*\(([^)]*)\)", ptx)
    count = entry.group(1).count(".param") if entry else given
    added = count - given
    if not 0 <= added <= 2:
        raise InputError._early(
            "does-not-fit",
            f"{name} has {count} parameters, of which up to two at the end are Triton's own, and {given} arguments are "
            "given: those that are constexpr, or specialised to 1, are none",
        )
    for size in ("global_scratch_size", "profile_scratch_size"):
        if getattr(about, size, 0):
            raise TypeError(f"{name} needs scratch memory of Triton's ({size}), which is not supported")
    return [0] * added


def check(
    opt: Any = None,
    reference: Kernel | Steps | torch.Reference | None = None,
    *,
    kernel: Any = None,
    launch: Mapping[str, Any] | None = None,
    inputs: Sequence[Any] = (),
    ranges: Mapping[str, Sequence[int]] | None = None,
    params: Mapping[str, Any] | None = None,
    name: str | None = None,
    globals: Mapping[str, Any] | None = None,
    tensor_maps: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Answer:
    """Verifies that `opt` computes what `reference` does, or that `opt` alone has no fault.

    `params` are the parameters by name, in order: `{"role": "in", "type": "f32", "shape": [128]}` or
    `{"type": "i32", "value": 128}`; without them, they are those of a reference that `volta.torch.reference` returns, and
    further ones are added to these.

    With a PyTorch module in place of `opt`, `kernel` is verified to compute what the module does of inputs like `inputs`:

        volta.check(torch.nn.Softmax(dim=1), inputs=(torch.empty(4, 1000),),
                    kernel="softmax.cu", launch={"grid": 4, "block": 256, "args": ["input", "output", 1000]})

    `kernel` is what `Kernel` takes, or a `Kernel` or `Steps` with its launch; `launch` has the arguments of `Kernel`.
    The tensors are those of `volta.torch.reference`: parameters and buffers, inputs, and last `output`. `ranges` bounds
    inputs of integers.

    Raises `InputError` where the input is wrong; every other answer is returned.
    """
    if kernel is not None:
        if opt is None or reference is not None or isinstance(opt, (Kernel, Steps)):
            raise TypeError("with `kernel`, the first argument is the PyTorch module that it is compared with")
        reference = torch.reference(opt, inputs, ranges=ranges)
        opt = kernel if isinstance(kernel, (Kernel, Steps)) else Kernel(kernel, **(launch or {}))
    elif opt is None or not isinstance(opt, (Kernel, Steps)) or launch is not None or len(inputs) or ranges is not None:
        raise TypeError("a `Kernel` is wanted, or a PyTorch module with `kernel`, `launch` and `inputs`")
    case: dict[str, Any] = {"name": name} if name else {}
    params = {**getattr(reference, "params", {}), **(params or {})}
    case["params"] = {key: _described(value) for key, value in params.items()}
    for key, value in {"globals": globals, "tensor_maps": tensor_maps, "options": options}.items():
        if value is not None:
            case[key] = value
    sides = {"kernel": opt} if reference is None else {"reference": reference, "opt": opt}
    case["sources"] = {}
    for side, kernels in sides.items():
        case[side], sources = kernels._written(side, params)
        case["sources"] |= sources
    return _answered(case)


def _answered(case: Mapping[str, Any]) -> Answer:
    """What is claimed of a case, given as a document with its sources."""
    line, message = _volta.answer(json.dumps(case))
    data = json.loads(line)
    answer = Answer(
        verdict=data["verdict"] or data["outcome"],
        reason=data["reason"],
        message=message,
        assuming=tuple(data["assumptions"]),
        conditions=tuple(data["conditions"]),
        data=data,
    )
    if data["outcome"] == "could-not-run" or answer.verdict == "input-error":
        raise InputError(answer)
    return answer


def _described(param: Any) -> Any:
    if not isinstance(param, Mapping):
        return param
    return {key: _plain(value) for key, value in param.items()}


def assert_equivalent(opt: Any, reference: Kernel | Steps | torch.Reference | None = None, **case: Any) -> Answer:
    """For tests: fails with the whole message unless both kernels are proved to compute the same; see `check`."""
    __tracebackhide__ = True
    return _expect("equivalent", check(opt, reference, **case))


def assert_clean(kernel: Kernel, **case: Any) -> Answer:
    """For tests: fails with the whole message unless the kernel has no race, deadlock or wrong access; see `check`."""
    __tracebackhide__ = True
    return _expect("clean", check(kernel, **case))


def _expect(verdict: str, answer: Answer) -> Answer:
    __tracebackhide__ = True
    if answer.verdict != verdict:
        raise AssertionError(answer.message)
    return answer
