"""Records what a candidate does to tensors: launches of its kernels, fills, copies, and operators of PyTorch.

Tensors have no data here; what a kernel or an operator computes is not known, and code that asks for it is an error.
"""

from __future__ import annotations

import contextlib
import json
import math
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

from ._cuda import NotUnderstood, Source, parse
from ._host import Dim3, Host, Launched, Opaque, Pointer, Refused
from .torch import _TYPES, _number, _PLACES

_FILLS = {"zeros": 0, "zeros_like": 0, "new_zeros": 0, "ones": 1, "ones_like": 1, "new_ones": 1}
_EMPTY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted"}


@dataclass
class Buffer:
    """Memory of a tensor."""

    name: str
    dtype: Any
    shape: tuple[int, ...]
    given: bool
    """Whether it is an input, a parameter or a buffer of the module."""
    storage: Any = field(repr=False, default=None)
    is_ours: bool = False
    """Whether a kernel of the candidate wrote it, or it was computed from such memory."""

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


@dataclass
class Recorded:
    """What a candidate did at some sizes."""

    steps: list[dict[str, Any]]
    """The steps of a side; tensors are named, and kernels are `Launched`, with buffers in place of pointers."""
    buffers: list[Buffer]
    outputs: list[Buffer]
    launches: list[Launched]
    operators: list[str]
    """What PyTorch computed, in order."""
    notes: list[str]
    sources: list[Source]
    failures: list[str]
    """What was caught: definitions that do not build, checks that fail."""


class Recorder:
    """Records the steps of a candidate's `forward`."""

    def __init__(self, torch: Any):
        self.torch = torch
        self.buffers: dict[int, Buffer] = {}
        self.steps: list[dict[str, Any]] = []
        self.nodes: list[dict[str, Any]] = []
        self.inputs: dict[str, Any] = {}
        self.values: dict[str, tuple[str, tuple[int, ...]]] = {}
        self.launches: list[tuple[Source, Launched]] = []
        self.operators: list[str] = []
        self.notes: list[str] = []
        self.failures: list[str] = []
        self.sources: list[Source] = []
        self.pending: NotUnderstood | None = None
        self.count = 0
        self.active = False

    # What host code tells.

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def refused(self, text: str) -> None:
        self.failures.append(f"a check fails: {text}")

    def launch_of(self, source: Source, launched: Launched) -> None:
        self.flush()
        args: list[Any] = []
        if len(launched.args) != len(launched.kernel.parameters):
            raise NotUnderstood(
                f"`{launched.kernel.name}` takes {len(launched.kernel.parameters)} arguments, and is launched with "
                f"{len(launched.args)}",
                launched.line, None, source.file,
            )  # fmt: skip
        for value, parameter in zip(launched.args, launched.kernel.parameters):
            if isinstance(value, Pointer):
                buffer, element = self.place(value, launched.line, source)
                args.append((buffer, element))
            elif isinstance(value, (bool, int, Fraction, float)):
                args.append(value)
            elif value is None and parameter.is_pointer:
                args.append(0)
            else:
                what = type(value).__name__ if not isinstance(value, Opaque) else value.what
                raise NotUnderstood(
                    f"the argument `{parameter.name}` of `{launched.kernel.name}` is {what}, which is not understood",
                    launched.line, None, source.file,
                )  # fmt: skip
        if 0 in (launched.grid.x, launched.grid.y, launched.grid.z):
            raise Refused(f"the grid of `{launched.kernel.name}` is empty")
        for value, parameter in zip(args, launched.kernel.parameters):
            if isinstance(value, tuple) and not parameter.is_const:
                value[0].is_ours = True
        self.launches.append((source, launched))
        self.steps.append({"launch": launched, "source": source, "args": args})

    def place(self, pointer: Pointer, line: int, source: Source) -> tuple[Buffer, int]:
        tensor = pointer.tensor
        buffer = self.buffer(tensor)
        size = tensor.element_size()
        at = tensor.storage_offset() * size + pointer.bytes
        if at % size:
            raise NotUnderstood("a pointer between two elements is not understood", line, None, source.file)
        return buffer, at // size

    def fill(self, pointer: Pointer, count: int, line: int) -> None:
        buffer = self.buffer(pointer.tensor)
        if pointer.bytes or pointer.tensor.storage_offset() or count != buffer.elements * pointer.tensor.element_size():
            raise NotUnderstood("this cudaMemset is not understood: only a whole tensor is set", line)
        self.filled(buffer, 0)

    def copy(self, source: Pointer, target: Pointer, count: int, line: int) -> None:
        one, other = self.buffer(source.tensor), self.buffer(target.tensor)
        size = source.tensor.element_size()
        if source.bytes or target.bytes or count != one.elements * size or one.elements != other.elements:
            raise NotUnderstood("this cudaMemcpy is not understood: only whole tensors are copied", line)
        self.flush()
        other.is_ours = one.is_ours
        self.steps.append({"copy": one, "to": other})

    # Tensors.

    def give(self, name: str, tensor: Any) -> None:
        """Makes a tensor known by its name in the case."""
        key = tensor.untyped_storage()._cdata
        if key not in self.buffers:
            self.buffers[key] = Buffer(name, tensor.dtype, self.memory_shape(tensor, name), True, tensor)

    def memory_shape(self, tensor: Any, name: str) -> tuple[int, ...]:
        """The extents of a dense tensor in the order of memory."""
        if tensor.storage_offset() == 0:
            order = self.order(tensor)
            if order is not None:
                return tuple(int(tensor.shape[at]) for at in order)
        raise NotUnderstood(f"`{name}` does not lie in memory as one piece: strides {tuple(tensor.stride())}")

    def order(self, tensor: Any) -> list[int] | None:
        """The dimensions by their strides, if the tensor is dense."""
        if tensor.is_contiguous():
            return list(range(tensor.dim()))
        order = sorted(range(tensor.dim()), key=lambda at: (-tensor.stride(at), at))
        wanted = 1
        for at in reversed(order):
            if tensor.shape[at] != 1 and tensor.stride(at) != wanted:
                return None
            wanted *= tensor.shape[at]
        return order

    def buffer(self, tensor: Any) -> Buffer:
        found = self.buffers.get(tensor.untyped_storage()._cdata)
        if found is None:
            shape = tuple(int(extent) for extent in tensor.shape)
            raise NotUnderstood(
                f"a tensor of shape {list(shape)} is no input, parameter or buffer of the module, nor made in `forward`",
                help="register it: `self.register_buffer(\"name\", tensor)`",
            )
        return found

    def make(self, tensor: Any) -> Buffer:
        """A new tensor of the candidate."""
        self.count += 1
        name = f"scratch{self.count}"
        shape = self.memory_shape(tensor, name)
        made = Buffer(name, tensor.dtype, shape, False, tensor)
        self.buffers[tensor.untyped_storage()._cdata] = made
        return made

    # Operators.

    def filled(self, buffer: Buffer, number: Any) -> None:
        self.flush()
        self.steps.append({"fill": buffer, "with": _number(number)})

    def named(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def node(self, op: str, /, **arguments: Any) -> str:
        name = self.named()
        self.nodes.append({"name": name, "op": op, **arguments})
        return name

    def read(self, tensor: Any) -> str:
        """The value of a tensor, in a graph."""
        buffer = self.buffer(tensor)
        shape = [int(extent) for extent in tensor.shape]
        elements = buffer.elements
        known = self.values.get(buffer.name)
        if known is None:
            name = self.named()
            self.inputs[name] = {"type": self.type(tensor.dtype), "shape": list(buffer.shape), "tensor": buffer.name}
            self.values[buffer.name] = known = (name, buffer.shape)
        value, own = known
        is_whole = tensor.storage_offset() == 0 and math.prod(shape) == elements and tensor.is_contiguous()
        if is_whole and list(own) == shape:
            return value
        value = self.node("view", self=value, size=[elements])
        if is_whole:
            return self.node("view", self=value, size=shape)
        # A permuted part, perhaps expanded.
        dims = [at for at in range(tensor.dim()) if tensor.stride(at) != 0 or tensor.shape[at] == 1]
        order = sorted(dims, key=lambda at: (-tensor.stride(at), at))
        wanted = 1
        for at in reversed(order):
            if tensor.shape[at] != 1 and tensor.stride(at) != wanted:
                return self.strided(tensor, value, shape)
            wanted *= int(tensor.shape[at])
        start = int(tensor.storage_offset())
        if (start, wanted) != (0, elements):
            value = self.node("slice", self=value, dim=0, start=start, end=start + wanted)
        value = self.node("view", self=value, size=[shape[at] for at in order])
        if order != sorted(order):
            ranked = sorted(order)
            value = self.node("permute", self=value, dims=[order.index(at) for at in ranked])
        if len(order) < len(shape):
            value = self.node("view", self=value, size=[shape[at] if at in order else 1 for at in range(len(shape))])
            value = self.node("expand", self=value, size=shape)
        return value

    def strided(self, tensor: Any, value: str, shape: list[int]) -> str:
        """A part of a tensor, at any strides: elements by their places."""
        places: list[int] = [int(tensor.storage_offset())]
        if math.prod(shape) > 1 << 14:
            raise NotUnderstood(f"an operator reads a part of a tensor with strides {tuple(tensor.stride())}")
        for extent, stride in zip(shape, tensor.stride()):
            places = [place + at * int(stride) for place in places for at in range(extent)]
        parts = [self.node("narrow", self=value, dim=0, start=place, length=1) for place in places]
        return self.node("view", self=self.node("cat", tensors=parts, dim=0), size=shape)

    def type(self, dtype: Any) -> str:
        name = str(dtype).removeprefix("torch.")
        if name not in _TYPES:
            raise NotUnderstood(f"tensors of {dtype} are not supported")
        return _TYPES[name]

    def write(self, tensor: Any, value: str, buffer: Buffer) -> None:
        """Makes a value the contents of a whole tensor."""
        order = self.order(tensor)
        whole = math.prod(tensor.shape) == buffer.elements and tensor.storage_offset() == 0
        if order is None or not whole:
            raise NotUnderstood("an operator writes a part of a tensor, which is not understood")
        if order != sorted(order):
            value = self.node("permute", self=value, dims=order)
        self.values[buffer.name] = (value, tuple(int(tensor.shape[at]) for at in order))
        self.written.add(buffer.name)

    @property
    def written(self) -> set[str]:
        return self.__dict__.setdefault("_written", set())

    def flush(self) -> None:
        """Makes a step of the operators so far."""
        outputs = {name: self.values[name][0] for name in sorted(self.written)}
        if outputs:
            graph = {"inputs": self.inputs, "nodes": self.nodes, "outputs": outputs}
            self.steps.append({"graph": graph})
        self.nodes, self.inputs, self.values = [], {}, {}
        self.written.clear()

    def operator(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        """Notes an operator that PyTorch has executed."""
        torch = self.torch
        schema = func._schema
        name = schema.name.removeprefix("aten::")
        results = [item for item in (result if isinstance(result, (list, tuple)) else [result])]
        if not any(isinstance(item, torch.Tensor) for item in results):
            return
        if name in _EMPTY:
            self.make(result)
            return
        if name in ("detach", "alias", "lift_fresh"):
            return
        is_inplace = bool(schema.arguments) and schema.arguments[0].alias_info is not None and schema.arguments[0].alias_info.is_write
        if any(arg.alias_info is not None and arg.alias_info.is_write for arg in schema.arguments[1:]):
            raise NotUnderstood(f"the operator `{name}` writes one of its arguments, which is not understood")
        is_view = not is_inplace and any(ret.alias_info is not None for ret in schema.returns)
        if is_view:
            return
        arguments = dict(zip((arg.name for arg in schema.arguments), args)) | dict(kwargs)
        if name in _FILLS:
            self.filled(self.make(result), _FILLS[name])
            return
        if name in ("full", "full_like", "new_full"):
            self.filled(self.make(result), arguments["fill_value"])
            return
        if is_inplace and name in ("zero_", "fill_") and not isinstance(arguments.get("value"), torch.Tensor):
            buffer = self.buffer(result)
            if math.prod(result.shape) == buffer.elements:
                self.filled(buffer, arguments.get("value", 0))
                return
        tensors = [item for item in _leaves(list(args) + list(kwargs.values())) if isinstance(item, torch.Tensor)]
        is_ours = any(self.buffer(item).is_ours for item in tensors)
        node = {key: self.argument(value) for key, value in arguments.items() if value is not None and key not in _PLACES}
        op = "aten." + name + ("." + schema.overload_name if schema.overload_name else "")
        if is_inplace:
            if name == "copy_":
                target = arguments["self"]
                value = self.node("_to_copy", self=node["src"], dtype=self.type(target.dtype))
                value = self.node("expand", self=value, size=[int(extent) for extent in target.shape])
            else:
                self.operators.append(name)
                value = self.node("aten." + name.removesuffix("_"), **node)
            buffer = self.buffer(result)
            self.write(result, value, buffer)
            buffer.is_ours = is_ours
            return
        if name not in ("clone", "_to_copy", "contiguous"):
            self.operators.append(name)
        value = self.node(op, **node)
        for at, item in enumerate(results):
            if isinstance(item, torch.Tensor) and item.numel():
                made = self.make(item)
                made.is_ours = is_ours
                own = value if len(results) == 1 else self.node("alias", self=f"{value}.{at}")
                self.write(item, own, made)

    def argument(self, value: Any) -> Any:
        torch = self.torch
        if isinstance(value, torch.Tensor):
            return self.read(value)
        if isinstance(value, (list, tuple)):
            return [self.argument(item) for item in value]
        if isinstance(value, torch.dtype):
            return self.type(value)
        if isinstance(value, (bool, str)):
            return value
        return _number(value)

    # The result.

    def finished(self, outputs: Sequence[Any], names: Sequence[str]) -> Recorded:
        """The steps, where each output is a tensor of its own."""
        made: list[Buffer] = []
        taken: set[str] = set()
        self.flush()
        for tensor, name in zip(outputs, names):
            buffer = self.buffer(tensor)
            is_whole = tensor.is_contiguous() and tensor.storage_offset() == 0 and tensor.numel() == buffer.elements
            if is_whole and not buffer.given and buffer.name not in taken:
                taken.add(buffer.name)
                made.append(buffer)
                continue
            value = self.read(tensor)
            self.count += 1
            output = Buffer(f"scratch{self.count}", tensor.dtype, tuple(int(extent) for extent in tensor.shape), False)
            output.is_ours = buffer.is_ours
            self.values[output.name] = (value, output.shape)
            self.written.add(output.name)
            self.buffers[-self.count] = output
            made.append(output)
        self.flush()
        renamed = {buffer.name: name for buffer, name in zip(made, names)}
        for step in self.steps:
            graph = step.get("graph")
            if graph is not None:
                graph["outputs"] = {renamed.get(name, name): value for name, value in graph["outputs"].items()}
                for described in graph["inputs"].values():
                    described["tensor"] = renamed.get(described["tensor"], described["tensor"])
        for buffer, name in zip(made, names):
            buffer.name = name
        return Recorded(
            self.steps, list(self.buffers.values()), made, [launched for _, launched in self.launches], self.operators,
            self.notes, self.sources, self.failures,
        )  # fmt: skip


def _leaves(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _leaves(value)
        else:
            yield value


class _Events:
    """What a host is told to tell, with the source that it is of."""

    def __init__(self, recorder: Recorder, source: Source):
        self.recorder, self.source = recorder, source

    def launch(self, launched: Launched) -> None:
        self.recorder.launch_of(self.source, launched)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.recorder, name)


class Extension:
    """What `load_inline` returns: its functions run the host code."""

    def __init__(self, recorder: Recorder, source: Source, names: Mapping[str, str]):
        self._recorder, self._source, self._names = recorder, source, dict(names)
        self._host = Host(source, recorder.torch, _Events(recorder, source))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._names:
            raise AttributeError(f"the extension has no function `{name}`")

        def call(*args: Any, **named: Any) -> Any:
            recorder = self._recorder
            try:
                return self._host.call(self._names[name], [_from_python(arg) for arg in args],
                                       {key: _from_python(arg) for key, arg in named.items()})  # fmt: skip
            except NotUnderstood as wrong:
                # The code around may catch everything; it is told at the end nevertheless.
                recorder.pending = recorder.pending or wrong
                raise

        return call


def _from_python(value: Any) -> Any:
    if isinstance(value, float) and not isinstance(value, bool):
        return value if math.isinf(value) else Fraction(repr(value))
    if isinstance(value, tuple):
        return list(value)
    return value


def extension(recorder: Recorder, text: str, file: str, functions: Sequence[str] | None, build: Any) -> Extension:
    """Builds an extension, as far as that is possible here."""
    source = parse(text, file)
    recorder.sources.append(source)
    names = {name: name for name in functions or () if name in source.hosts}
    names |= {name: function for name, (function, _) in source.bound.items()}
    missing = [name for name in functions or () if name not in source.hosts]
    missing += [name for name, function in names.items() if source.hosts.get(function) is None or source.hosts[function].body is None]
    if missing:
        message = f"{file} does not build: `{missing[0]}` is bound, and has no definition"
        recorder.failures.append(message)
        raise RuntimeError(message)
    problem = build(source)
    if problem:
        recorder.failures.append(f"{file} does not build:\n{problem}")
        raise RuntimeError(f"Error building extension: {problem}")
    return Extension(recorder, source, names)


@contextlib.contextmanager
def pretending(torch: Any, recorder: Recorder, build: Any, folder: Path, file: str) -> Iterator[Any]:
    """A world with a GPU, in which extensions are read instead of built, and tensors have no data."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.overrides import TorchFunctionMode
    from torch.utils import cpp_extension

    class OnOneDevice(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = dict(kwargs or {})
            name = getattr(func, "__name__", "")
            if "device" in kwargs:
                kwargs["device"] = "cpu"
            if name == "cuda" and args:
                return args[0]
            if func is torch.Tensor.is_cuda.__get__:
                return True
            if name in ("to", "_to") and len(args) > 1 and _is_device(torch, args[1]):
                args = (args[0], *args[2:])
                if len(args) == 1 and not set(kwargs) - {"device", "non_blocking", "copy"}:
                    return args[0]
            elif name == "to" and set(kwargs) <= {"device", "non_blocking"} and len(args) == 1:
                return args[0]
            return func(*args, **kwargs)

    def plain_flags(name: Any, more: Mapping[str, Any]) -> None:
        for flag in more.get("extra_cuda_cflags") or ():
            if str(flag).startswith(("-D", "-U", "-I", "-include")):
                raise NotUnderstood(f"the flag {flag} of the extension `{name}` is not understood", file=file)

    def load_inline(name: Any = None, cpp_sources: Any = (), cuda_sources: Any = (), functions: Any = None, **more: Any) -> Any:
        plain_flags(name, more)
        cuda = [cuda_sources] if isinstance(cuda_sources, str) else list(cuda_sources or ())
        cpp = [cpp_sources] if isinstance(cpp_sources, str) else list(cpp_sources or ())
        wanted = [functions] if isinstance(functions, str) else list(functions or ())
        if not cuda:
            raise NotUnderstood(f"the extension `{name}` has no CUDA source", file=file)
        text = "\n".join(cuda)
        host = "\n".join(part for part in cpp if "{" in part)
        return extension(recorder, text + ("\n" + host if host else ""), f"{name}.cu", wanted, build)

    def load(name: Any = None, sources: Any = (), **more: Any) -> Any:
        plain_flags(name, more)
        sources = [sources] if isinstance(sources, str) else list(sources)
        texts = []
        for path in sources:
            path = Path(path) if Path(path).is_absolute() else folder / path
            if not path.is_file():
                message = f"{path} does not exist, and the extension `{name}` is made of it"
                recorder.failures.append(message)
                raise FileNotFoundError(message)
            texts.append(path.read_text(encoding="utf-8"))
        return extension(recorder, "\n".join(texts), f"{name}.cu", None, build)

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(cpp_extension, "load_inline", load_inline))
        stack.enter_context(mock.patch.object(cpp_extension, "load", load))
        stack.enter_context(mock.patch.object(torch.cuda, "is_available", lambda: True))
        stack.enter_context(mock.patch.object(torch.cuda, "synchronize", lambda *_: None))
        stack.enter_context(mock.patch.object(torch.nn.Module, "cuda", lambda self, *_: self))
        fake = stack.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
        stack.enter_context(OnOneDevice())
        stack.enter_context(torch.no_grad())
        yield fake


@contextlib.contextmanager
def recording(torch: Any, recorder: Recorder) -> Iterator[None]:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            result = func(*args, **kwargs)
            try:
                recorder.operator(func, args, kwargs, result)
            except NotUnderstood as wrong:
                recorder.pending = recorder.pending or wrong
                raise
            return result

    with Record():
        yield


def _is_device(torch: Any, value: Any) -> bool:
    return isinstance(value, torch.device) or isinstance(value, str)


def execute(path: Path, tree: Any) -> types.ModuleType:
    """Runs a file of Python, given as a syntax tree."""
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(tree, str(path), "exec"), module.__dict__)  # noqa: S102
    return module


def dumped(graph: Mapping[str, Any]) -> str:
    return json.dumps(graph, indent=1)


def extents(dim: Dim3) -> int | list[int]:
    """A grid or block as a case has it."""
    if dim.z != 1:
        return [dim.x, dim.y, dim.z]
    return [dim.x, dim.y] if dim.y != 1 else dim.x
