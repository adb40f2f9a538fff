"""Judges a candidate against a PyTorch module: `volta judge MODULE.py CANDIDATE.cu`.

    import volta.judge

    judgement = volta.judge.judge("softmax.py", "softmax_fast.py")
    print(judgement.verdict)  # at all sizes that were tried

The module's file is in the form of KernelBench: a class `Model`, `get_inputs()` and `get_init_inputs()`. The candidate is
a `.cu` file with kernels and a host function that launches them, or a Python file with a class `ModelNew` that builds
an extension by `load_inline` or `load`.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from . import Answer, InputError, _answered, _nvcc
from ._cuda import NotUnderstood, Source, parse
from ._host import OF_DTYPE, Dim3, Host, Pointer
from ._record import Buffer, Extension, Recorded, Recorder, dumped, execute, extents, extension, pretending, recording
from ._sizes import Handle, Seen, choose, handles, resized
from .torch import reference as _reference

__all__ = ["CannotJudge", "Judgement", "Trial", "judge"]


class CannotJudge(Exception):
    """The module or the candidate is not understood; nothing is claimed."""

    def __init__(self, reason: str, message: str, help: str | None = None):
        super().__init__(message + (f"\nhelp: {help}" if help else ""))
        self.reason, self.message, self.help = reason, message, help


@dataclass(frozen=True)
class Trial:
    """The candidate at some sizes."""

    kind: str
    """`own`: what divides the module's own sizes divides these; `tail`, `small`: sizes that leave a rest."""
    sizes: Mapping[str, int]
    inputs: Mapping[str, Sequence[int]]
    """The shapes of the inputs."""
    verdict: str
    reason: str
    message: str
    answer: Answer | None = field(default=None, repr=False)
    case: Mapping[str, Any] | None = field(default=None, repr=False)
    """The document of the case, as `cargo volta check --stdin` reads it."""
    launches: Sequence[str] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Judgement:
    """What is claimed of a candidate: at each size that was tried."""

    module: str
    candidate: str
    own: Mapping[str, int]
    """The sizes in the module's file."""
    trials: Sequence[Trial]
    notes: Sequence[str]

    @property
    def verdict(self) -> str:
        """`equivalent` if it is at all sizes, else that of the first size at which it is not."""
        bad = self.bad
        return bad.verdict if bad is not None else "equivalent"

    @property
    def bad(self) -> Trial | None:
        """The trial that decides, if it is not `equivalent` everywhere: a fault before what is not known."""
        wrong = [trial for trial in self.trials if trial.verdict not in ("equivalent", "refused")]
        faults = [trial for trial in wrong if not trial.verdict.startswith(("unknown", "input-error"))]
        if not wrong and not any(trial.verdict == "equivalent" for trial in self.trials):
            return self.trials[0]
        return next(iter(faults or wrong), None)

    @property
    def exit(self) -> int:
        if self.verdict in ("input-error", "refused"):
            return 2
        return 0 if self.verdict == "equivalent" else 1


class _File:
    """The module's file, at any sizes."""

    def __init__(self, path: Path, evaluate: bool):
        self.path, self.evaluate = path, evaluate
        try:
            self.tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        except SyntaxError as error:
            raise CannotJudge("module", f"{path.name} is not valid Python: {error}") from None
        except OSError as error:
            raise CannotJudge("file-not-found", f"{path}: {error.strerror}") from None
        self.handles = handles(self.tree)

    def at(self, sizes: Mapping[str, int]) -> Any:
        module = execute(self.path, resized(self.tree, self.handles, sizes))
        for name in ("Model", "get_inputs"):
            if not hasattr(module, name):
                raise CannotJudge("module", f"{self.path.name} has no `{name}`", "see `volta judge --help` for the form")
        return module

    def made(self, module: Any) -> Any:
        given = getattr(module, "get_init_inputs", list)()
        self.given = given
        made = module.Model(**given) if isinstance(given, dict) else module.Model(*given)
        return made.eval() if self.evaluate else made


class _Judge:
    def __init__(self, module: Path, candidate: Path, evaluate: bool, options: Mapping[str, Any]):
        import torch

        self.torch = torch
        self.file = _File(module, evaluate)
        self.candidate = candidate
        self.evaluate = evaluate
        self.options = dict(options)
        self.notes: list[str] = []
        try:
            self.text = candidate.read_text(encoding="utf-8")
        except OSError as error:
            raise CannotJudge("file-not-found", f"{candidate}: {error.strerror}") from None
        self.graph_file = f"{module.stem}.json"
        self.launches_file = candidate.with_suffix(".toml")

    # The candidate, on tensors without data.

    def build(self, source: Source) -> str | None:
        """What nvcc says about a source, if it is wrong. Templates are compiled when they are launched."""
        try:
            _nvcc.compile(source.device_text(), source.file)
        except _nvcc.DoesNotCompile as wrong:
            return str(wrong)
        except _nvcc.NoCompiler as wrong:
            raise CannotJudge("no-compiler", str(wrong)) from None
        return None

    def record(self, sizes: Mapping[str, int]) -> tuple[Recorded, dict[str, Sequence[int]]]:
        """What the candidate does at some sizes, and the shapes of the inputs."""
        torch = self.torch
        recorder = Recorder(torch)
        folder = self.candidate.parent
        with pretending(torch, recorder, self.build, folder, self.candidate.name):
            module = self.file.at(sizes)
            model = self.file.made(module)
            inputs = list(module.get_inputs())
            names = _names(model, inputs)
            shapes = {name: [*value.shape] for name, value in zip(names, inputs) if isinstance(value, torch.Tensor)}
            try:
                if self.candidate.suffix == ".py":
                    outputs = self.python(recorder, sizes, model, inputs, names)
                else:
                    outputs = self.cuda(recorder, module, model, inputs, names)
            except NotUnderstood as wrong:
                raise recorder.pending or wrong from None
            if recorder.pending is not None:
                raise recorder.pending
            outputs = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs or ())
            if not outputs or not all(isinstance(output, torch.Tensor) for output in outputs):
                raise CannotJudge("candidate", "the candidate returns something else than tensors")
            named = ["output"] if len(outputs) == 1 else [f"output{at}" for at in range(len(outputs))]
            recorded = recorder.finished(outputs, named)
        return recorded, shapes

    def give(self, recorder: Recorder, model: Any, inputs: Sequence[Any], names: Sequence[str]) -> None:
        for name, value in zip(names, inputs):
            if isinstance(value, self.torch.Tensor):
                recorder.give(name, value)
        for name, value in _state(model):
            recorder.give(name.replace(".", "_"), value)

    def python(self, recorder: Recorder, sizes: Mapping[str, int], model: Any, inputs: Sequence[Any], names: Any) -> Any:
        """Runs the `ModelNew` of a Python file."""
        try:
            tree = ast.parse(self.text, str(self.candidate))
        except SyntaxError as error:
            raise CannotJudge("candidate", f"{self.candidate.name} is not valid Python: {error}") from None
        same = [handle for handle in handles(tree) if sizes.get(handle.name) is not None]
        own = {handle.name: handle.value for handle in self.file.handles}
        same = [handle for handle in same if own.get(handle.name) == handle.value]
        new = execute(self.candidate, resized(tree, same, sizes))
        if not hasattr(new, "ModelNew"):
            raise CannotJudge("candidate", f"{self.candidate.name} has no class `ModelNew`")
        given = self.file.given
        made = new.ModelNew(**given) if isinstance(given, dict) else new.ModelNew(*given)
        if self.evaluate:
            made.eval()
        for name, value in zip(names, inputs):
            if isinstance(value, self.torch.Tensor):
                recorder.give(name, value)
        wanted = dict(_state(model))
        rest = [name for name in wanted if name not in dict(_state(made))]
        for name, value in _state(made):
            if name in wanted and wanted[name].shape == value.shape:
                recorder.give(name.replace(".", "_"), value)
                continue
            other = next((own for own in rest if wanted[own].shape == value.shape), None)
            if other is None:
                recorder.give("own_" + name.replace(".", "_"), value)
                continue
            rest.remove(other)
            recorder.note(f"`{name}` of the candidate is taken for `{other}` of the module, which has its shape")
            recorder.give(other.replace(".", "_"), value)
        with recording(self.torch, recorder):
            return made(*inputs)

    def cuda(self, recorder: Recorder, module: Any, model: Any, inputs: Sequence[Any], names: Sequence[str]) -> Any:
        """Runs the host function of a `.cu` file."""
        self.give(recorder, model, inputs, names)
        source = parse(self.text, self.candidate.name)
        recorder.sources.append(source)
        problem = self.build(source)
        if problem:
            raise CannotJudge("does-not-compile", f"{self.candidate.name} does not compile\n{problem}")
        scalars = self.scalars(module, model)
        tensors = {name: value for name, value in zip(names, inputs)}
        parameters = {name.replace(".", "_"): value for name, value in _state(model)}
        if self.launches_file.is_file():
            from ._by_hand import by_hand

            return by_hand(self, recorder, source, tensors | parameters, scalars)
        function, arguments = _entry(source)
        call = Extension(recorder, source, {function: function})
        given = self.arguments(source, function, arguments, tensors, parameters, scalars)
        with recording(self.torch, recorder):
            return getattr(call, function)(**given)

    def scalars(self, module: Any, model: Any) -> dict[str, Any]:
        """Numbers by the names that a host function may have for them."""
        found: dict[str, Any] = {handle.name: getattr(module, handle.name, None) for handle in self.file.handles}
        found |= {name: value for name, value in vars(module).items() if isinstance(value, (bool, int, float))}
        for part in reversed(list(model.modules())):
            found |= {name: value for name, value in vars(part).items() if isinstance(value, (bool, int, float, tuple))}
        given = self.file.given
        with contextlib.suppress(TypeError, ValueError):
            bound = inspect.signature(type(model).__init__).bind(model, *([] if isinstance(given, dict) else given),
                                                                 **(given if isinstance(given, dict) else {}))  # fmt: skip
            bound.apply_defaults()
            found |= {name: value for name, value in bound.arguments.items() if isinstance(value, (bool, int, float, tuple))}
        return {name: value for name, value in found.items() if value is not None}

    def arguments(self, source: Source, function: str, names: Sequence[str], tensors: Mapping[str, Any],
                  parameters: Mapping[str, Any], scalars: Mapping[str, Any]) -> dict[str, Any]:  # fmt: skip
        """What a host function is called with."""
        takes = source.hosts[function].parameters
        line = source.hosts[function].line
        spelled = [names[at] if at < len(names) else parameter.name for at, parameter in enumerate(takes)]
        by_name = {**parameters, **tensors}
        for name in parameters:
            last = name.rsplit("_", 1)[-1]
            if sum(other.rsplit("_", 1)[-1] == last for other in parameters) == 1:
                by_name.setdefault(last, parameters[name])
        is_tensor = ["Tensor" in parameter.type for parameter in takes]
        given: dict[str, Any] = {}
        used: list[Any] = []
        for at, parameter in enumerate(takes):
            if is_tensor[at]:
                for name in (spelled[at], parameter.name):
                    value = by_name.get(name)
                    if isinstance(value, self.torch.Tensor) and parameter.name not in given:
                        given[parameter.name] = value
                        used.append(value)
        rest = [value for value in [*tensors.values(), *parameters.values()] if isinstance(value, self.torch.Tensor)]
        rest = [value for value in rest if not any(value is other for other in used)]
        for at, parameter in enumerate(takes):
            name = parameter.name
            if name in given:
                continue
            if is_tensor[at]:
                if rest:
                    given[name] = rest.pop(0)
                elif "optional" in parameter.type:
                    given[name] = None
                elif not parameter.default:
                    raise NotUnderstood(
                        f"`{function}` takes a tensor `{name}`, and the module has no more: inputs "
                        f"{', '.join(tensors)}; parameters {', '.join(parameters) or 'none'}", line, None, source.file)
                continue
            known = next((scalars[word] for word in (spelled[at], name) if word in scalars), None)
            if known is None and isinstance(tensors.get(name), (bool, int, float)):
                known = tensors[name]
            if known is None and parameter.default:
                continue
            if known is None:
                raise NotUnderstood(
                    f"`{function}` takes `{name}`, and no number of the module has this name", line,
                    "give the parameter the name of an attribute, of an argument of `Model`, or of a number in "
                    f"{self.file.path.name}", source.file)
            if isinstance(known, tuple) and "vector" not in parameter.type and len(set(known)) == 1:
                known = known[0]
            given[name] = known
        return given

    # Sizes.

    def cost(self, sizes: Mapping[str, int]) -> int:
        """What the module computes: elements read and written, and products."""
        torch = self.torch
        from torch.utils._python_dispatch import TorchDispatchMode
        from torch.utils.flop_counter import FlopCounterMode

        total = 0

        class Count(TorchDispatchMode):
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                nonlocal total
                result = func(*args, **(kwargs or {}))
                for item in [*args, *(result if isinstance(result, (list, tuple)) else [result])]:
                    if isinstance(item, torch.Tensor):
                        total += item.numel()
                return result

        with pretending(torch, Recorder(torch), lambda source: None, self.candidate.parent, ""):
            module = self.file.at(sizes)
            model = self.file.made(module)
            inputs = module.get_inputs()
            flops = FlopCounterMode(display=False)
            with flops, Count():
                model(*inputs)
        return total + flops.get_total_flops() // 2

    def trial(self, sizes: dict[str, int]) -> Seen | None:
        try:
            cost = self.cost(sizes)
            recorded, _ = self.record(sizes)
        except (NotUnderstood, CannotJudge):
            raise
        except Exception as error:  # noqa: BLE001
            self.problem = self.problem or error
            return None
        grids = tuple((one.kernel.name, (one.grid.x, one.grid.y, one.grid.z)) for one in recorded.launches)
        threads = sum(math.prod((one.grid.x, one.grid.y, one.grid.z, one.block.x, one.block.y, one.block.z)) for one in recorded.launches)
        return Seen(grids, cost + threads)

    problem: Exception | None = None

    def sizes(self) -> list[tuple[str, dict[str, int]]]:
        """The sizes at which the candidate is judged."""
        base = {handle.name: handle.value for handle in self.file.handles}
        try:
            recorded, _ = self.record(base)
        except (NotUnderstood, CannotJudge):
            raise
        except Exception as error:  # noqa: BLE001
            raise CannotJudge("module", f"at the module's own sizes: {type(error).__name__}: {error}") from None
        self.notes += [f"at the module's own sizes, {note}" for note in recorded.notes]
        tiles: list[int] = []
        for one in recorded.launches:
            for extent in (one.block.x, one.block.y, one.block.z):
                tiles.append(extent)
            for grid, most, axis in ((one.grid.x, 2**31 - 1, "x"), (one.grid.y, 65535, "y"), (one.grid.z, 65535, "z")):
                if grid > most:
                    self.notes.append(f"at the module's own sizes, the grid of `{one.kernel.name}` is {grid} in {axis}, and no GPU takes more than {most}")
            tiles += [value for value in one.template or () if type(value) is int]
        blocks = set(tiles)
        constants = [value for source in recorded.sources for value in _constants(source)]
        tiles += constants
        pinned = [handle.name for handle in self.file.handles if handle.value > 8 and handle.value in constants and handle.value not in blocks]
        for name in pinned:
            self.notes.append(f"{name} = {base[name]} is not shrunk: the candidate's source has this constant")
        if not recorded.launches:
            return [("own", base)]
        return choose(self.file.handles, pinned, tiles, self.trial)

    # Cases.

    def reference(self, sizes: Mapping[str, int]) -> Any:
        """What the module computes, as a graph."""
        torch = self.torch
        module = self.file.at(sizes)
        traits: dict[int, tuple[Any, dict[str, Any]]] = {}
        with _traits(torch, traits):
            inputs = list(module.get_inputs())
        model = self.file.made(module)
        names = _names(model, inputs)
        try:
            made = _reference(model, inputs)
        except Exception as error:  # noqa: BLE001
            text = str(error).strip().splitlines() or [type(error).__name__]
            raise CannotJudge("module", f"{self.file.path.name} cannot be exported: {text[0]}") from None
        params = {name: dict(param) for name, param in made.params.items()}
        for name, value in zip(names, inputs):
            if id(value) in traits and name in params:
                params[name] |= traits[id(value)][1]
        own = _own_buffers(model)
        for name, value in _state(model):
            key = name.replace(".", "_")
            if key in params and key.endswith("running_var"):
                params[key]["assume"] = "nonnegative"
            elif key in params and name in own and value.numel() <= 1 << 16 and "contents" not in params[key]:
                params[key]["contents"] = [_contents(item) for item in value.flatten().tolist()]
        return params, made.graph

    def case(self, sizes: Mapping[str, int], name: str) -> tuple[dict[str, Any], Recorded, dict[str, Sequence[int]]]:
        """The case at some sizes."""
        params, graph = self.reference(sizes)
        recorded, shapes = self.record(sizes)
        sources: dict[str, str] = {self.graph_file: dumped(graph)}
        wanted = {key: value for key, value in params.items() if value["role"] == "out"}
        for buffer in recorded.outputs:
            theirs = wanted.get(buffer.name)
            own = {"type": _type(buffer.dtype), "shape": list(buffer.shape)}
            if theirs is None or len(wanted) != len(recorded.outputs):
                raise _Differs(f"the module returns {len(wanted)} tensors, and the candidate {len(recorded.outputs)}")
            if own["shape"] != list(theirs["shape"]) or own["type"] != theirs["type"]:
                raise _Differs(
                    f"the module returns {theirs['type']} of shape {list(theirs['shape'])}, and the candidate {own['type']} of "
                    f"shape {own['shape']}"
                )
        used = _used(recorded)
        for buffer in recorded.buffers:
            if buffer.name in params or id(buffer) not in used:
                continue
            role = "in" if buffer.given else "scratch"
            params[buffer.name] = {"role": role, "type": _type(buffer.dtype), "shape": list(buffer.shape)}
        steps = self.steps(recorded, sources)
        case = {"name": name, "params": params, "reference": {"graph": self.graph_file}, "opt": {"launch": steps}}
        if self.options:
            case["options"] = self.options
        case["sources"] = sources
        return case, recorded, shapes

    def steps(self, recorded: Recorded, sources: dict[str, str]) -> list[dict[str, Any]]:
        files: dict[int, tuple[str, str]] = {}
        for at, source in enumerate(recorded.sources):
            uses = [
                (step["launch"].kernel, step["launch"].template, _arguments(step)) for step in recorded.steps
                if step.get("source") is source
            ]  # fmt: skip
            if not uses:
                continue
            stem = Path(source.file).stem if len(recorded.sources) == 1 else f"{Path(source.file).stem}{at}"
            text = _nvcc.instantiated(source, uses)
            try:
                ptx = _nvcc.compile(text, f"{stem}.cu")
            except _nvcc.DoesNotCompile as wrong:
                raise CannotJudge("does-not-compile", f"{source.file} does not compile with its templates\n{wrong}") from None
            files[id(source)] = (f"{stem}.ptx", ptx)
            sources[f"{stem}.ptx"] = ptx
            sources[f"{stem}.cu"] = source.text
        steps: list[dict[str, Any]] = []
        for step in recorded.steps:
            if "graph" in step:
                file = f"step{len(steps)}.json"
                sources[file] = dumped(step["graph"])
                steps.append({"graph": file})
            elif "fill" in step:
                steps.append({"fill": step["fill"].name, "with": step["with"]})
            elif "copy" in step:
                steps.append({"copy": step["copy"].name, "to": step["to"].name})
            else:
                launched = step["launch"]
                file, ptx = files[id(step["source"])]
                try:
                    name = _nvcc.entry(ptx, launched.kernel, launched.template)
                except LookupError as wrong:
                    raise NotUnderstood(str(wrong), launched.line, None, step["source"].file) from None
                if sum(launched.kernel.name in other for other in _nvcc.entries(ptx)) == 1:
                    name = launched.kernel.name
                key: dict[str, Any] = {"source": f"{file}::{name}", "grid": extents(launched.grid), "block": extents(launched.block)}
                if launched.shared:
                    key["shared"] = launched.shared
                key["args"] = [_argument(value, parameter) for value, parameter in zip(step["args"], launched.kernel.parameters)]
                steps.append(key)
        return steps

    def judged(self, kind: str, sizes: dict[str, int]) -> Trial:
        """The candidate at some sizes."""
        own = {handle.name: handle.value for handle in self.file.handles}
        changed = {name: value for name, value in sizes.items() if value != own[name]} or sizes
        shown = ",".join(f"{name}={value}" for name, value in changed.items())
        name = f"judge::{self.candidate.stem}::{shown}" if shown else f"judge::{self.candidate.stem}"
        shapes: dict[str, Sequence[int]] = {}
        try:
            case, recorded, shapes = self.case(sizes, name)
        except _Differs as differs:
            return Trial(kind, sizes, shapes, "different", "shapes-differ", f"different: {differs}\n")
        lost = self.lost(recorded)
        if lost is not None:
            return Trial(kind, sizes, shapes, "not-launched", "not-launched", lost, None, None, (), recorded.notes)
        launches = [_shown(launched) for launched in recorded.launches]
        if recorded.operators:
            launches.append(f"by PyTorch: {', '.join(dict.fromkeys(recorded.operators))}")
        try:
            answer = _answered(case)
        except InputError as error:
            answer = error.answer
        notes = [*recorded.notes, *(_rounded(recorded) if answer.verdict == "different" else ())]
        return Trial(kind, sizes, shapes, answer.verdict, answer.reason, _told(answer), answer, case, launches, notes)

    def lost(self, recorded: Recorded) -> str | None:
        """Why what the candidate returns does not come from its kernels, if it does not."""
        if all(buffer.is_ours for buffer in recorded.outputs):
            return None
        kernels = [name for source in recorded.sources for name in source.kernels]
        has = f"its kernels are {', '.join(f'`{name}`' for name in kernels)}" if kernels else "it has no kernels"
        lines = [f"not-launched: what {self.candidate.name} returns does not come from its own kernels"]
        if recorded.launches:
            lines.append(f"  launched: {', '.join(one.kernel.name for one in recorded.launches)}, whose results are not used")
        else:
            lines.append(f"  nothing is launched; {has}")
        if recorded.operators:
            lines.append(f"  PyTorch computes instead: {', '.join(dict.fromkeys(recorded.operators))}")
        for failure in recorded.failures:
            lines.append("  " + failure.replace("\n", "\n    "))
        return "\n".join(lines) + "\n"


def _told(answer: Answer) -> str:
    """The message, without what it says about an expectation."""
    first, _, rest = answer.message.partition("\n\n")
    return rest if first.startswith("failed: expected") and "\n" not in first else answer.message


class _Differs(Exception):
    """The outputs have other shapes or types."""


def _contents(item: Any) -> Any:
    if isinstance(item, bool):
        return int(item)
    if isinstance(item, float) and math.isinf(item):
        return "inf" if item > 0 else "-inf"
    return int(item) if isinstance(item, float) and item.is_integer() else item


def _own_buffers(model: Any) -> set[str]:
    """Buffers that classes outside of PyTorch register: tables and masks, which are data."""
    found = set()
    for prefix, part in model.named_modules():
        if not type(part).__module__.startswith("torch."):
            found |= {f"{prefix}.{name}" if prefix else name for name, _ in part.named_buffers(recurse=False)}
    return found


def _names(model: Any, inputs: Sequence[Any]) -> list[str]:
    """The names that `forward` has for its inputs."""
    names: list[str] = []
    for name, parameter in inspect.signature(model.forward).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{name}_{at}" for at in range(len(inputs) - len(names))]
        else:
            names.append(name)
    return names[: len(inputs)]


def _state(model: Any) -> list[tuple[str, Any]]:
    return [*model.named_parameters(), *((name, value) for name, value in model.named_buffers() if value is not None)]


def _type(dtype: Any) -> str:
    from .torch import _TYPES

    return _TYPES.get(str(dtype).removeprefix("torch."), str(dtype))


def _constants(source: Source) -> list[int]:
    """Integers that a source gives names to."""
    found = []
    for names, body in source.macros.values():
        if names is None and len(body) == 1 and body[0].text.isdigit():
            found.append(int(body[0].text))
    for declared in source.constants:
        if declared[-1].text.isdigit():
            found.append(int(declared[-1].text))
    return found


def _entry(source: Source) -> tuple[str, tuple[str, ...]]:
    """The host function that is the candidate, with the names of its arguments if they are bound."""
    bound = [(function, names) for function, names in source.bound.values() if function in source.hosts]
    if len(bound) == 1:
        return bound[0]
    hosts = {name: function for name, function in source.hosts.items() if function.body is not None}
    named = [name for name in ("forward", "run", "launch") if name in (hosts if not bound else dict(bound))]
    if named:
        return named[0], dict(bound).get(named[0], ())
    called = {token.text for function in hosts.values() for token in function.body or ()}
    free = [name for name, function in hosts.items() if name not in called and any("Tensor" in one.type for one in function.parameters)]
    if len(free) == 1:
        return free[0], ()
    if not free:
        raise NotUnderstood(
            "there is no host function that takes tensors (`torch::Tensor`) and launches the kernels", None,
            f"write one, as an extension of PyTorch has it, or give the launches in {Path(source.file).stem}.toml", source.file)
    raise NotUnderstood(f"several host functions may be the candidate: {', '.join(free)}", source.hosts[free[1]].line,
                        "call it `forward`, or bind one in PYBIND11_MODULE", source.file)  # fmt: skip


def _used(recorded: Recorded) -> set[int]:
    """The buffers that steps mention."""
    used: set[int] = set()
    names = set()
    for step in recorded.steps:
        for value in [step.get("fill"), step.get("copy"), step.get("to"), *(item[0] for item in step.get("args", ()) if isinstance(item, tuple))]:
            if isinstance(value, Buffer):
                used.add(id(value))
        graph = step.get("graph")
        if graph is not None:
            names |= {described["tensor"] for described in graph["inputs"].values()} | set(graph["outputs"])
    return used | {id(buffer) for buffer in recorded.buffers if buffer.name in names}


_NUMBERS = {"float", "double", "int", "long", "bool"}


def _arguments(step: Mapping[str, Any]) -> list[str]:
    """Arguments of a launch that only instantiates a template."""
    found = []
    for value, own in zip(step["launch"].args, step["launch"].kernel.parameters):
        if isinstance(value, Pointer):
            found.append(f"({value.type} *)0")
        elif own.is_pointer:
            found.append("nullptr")
        elif isinstance(value, (bool, int)):
            found.append(f"({own.type})0" if own.type in _NUMBERS else "0")
        else:
            found.append("0.0f" if own.type != "double" else "0.0")
    return found


def _argument(value: Any, parameter: Any) -> Any:
    if isinstance(value, tuple):
        buffer, element = value
        return buffer.name if element == 0 else f"{buffer.name} + {element}"
    is_real = parameter.type in ("float", "double", "half", "__half", "scalar_t", "T")
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Fraction) and not is_real and value != int(value):
        return int(value)
    if isinstance(value, float):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, Fraction) and value.denominator != 1:
        return _decimal(value)
    return int(value)


def _decimal(value: Fraction) -> Any:
    """A number as JSON has it, or a quotient."""
    number = float(value)
    return number if Fraction(repr(number)) == value else f"{value.numerator}/{value.denominator}"


def _rounded(recorded: Recorded) -> list[str]:
    """Numbers that the host computes and a kernel takes rounded."""
    found = []
    for step in recorded.steps:
        launched = step.get("launch")
        if launched is None:
            continue
        for value, parameter in zip(step["args"], launched.kernel.parameters):
            if isinstance(value, Fraction) and value.denominator & (value.denominator - 1):
                text = f"`{parameter.name}` of `{launched.kernel.name}` is {value}, which the kernel takes rounded"
                if text not in found and len(str(value)) < 40:
                    found.append(text)
    return found


def _shown(launched: Any) -> str:
    grid, block = extents(launched.grid), extents(launched.block)
    return f"{launched.kernel.name}<<<{grid}, {block}>>>"


@contextlib.contextmanager
def _traits(torch: Any, traits: dict[int, tuple[Any, dict[str, Any]]]) -> Any:
    """Notes what is known of inputs that are made in it: ranges of integers, triangles."""
    from torch.overrides import TorchFunctionMode

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = dict(kwargs or {})
            if "device" in kwargs:
                kwargs["device"] = "cpu"
            name = getattr(func, "__name__", "")
            if name == "cuda":
                return args[0]
            result = func(*args, **kwargs)
            known: dict[str, Any] | None = None
            if name == "randint":
                low, high = (args[0], args[1]) if len(args) > 1 and isinstance(args[1], int) else (kwargs.get("low", 0), args[0] if args else kwargs["high"])
                known = {"range": [low, high - 1]}
            elif name == "randperm":
                known = {"range": [0, result.numel() - 1], "elements": "permutation"}
            elif name in ("triu", "tril") and not kwargs.get("diagonal") and len(args) == 1 and args[0].dim() >= 2:
                known = {"contents": {"fill": 0, "symbolic": "upper" if name == "triu" else "lower"}}
            elif name in ("to", "long", "int", "contiguous", "clone", "detach", "requires_grad_") and args and id(args[0]) in traits:
                known = traits[id(args[0])][1]
                if not isinstance(result, torch.Tensor) or result.dtype.is_floating_point and "range" in known:
                    known = None
            if known is not None:
                traits[id(result)] = (result, known)
            return result

    with Watch():
        yield


def judge(
    module: str | Path,
    candidate: str | Path,
    *,
    sizes: Sequence[Mapping[str, int]] = (),
    evaluate: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Judgement:
    """Judges a candidate at sizes of its own choosing, or at those given: values of integers in the module's file.

    Raises `CannotJudge` where the module or the candidate is not understood.
    """
    try:
        judge = _Judge(Path(module), Path(candidate), evaluate, {"timeout": "60s", **(options or {})})
    except ImportError:
        raise CannotJudge("no-torch", "PyTorch is not installed: `pip install torch`") from None
    own = {handle.name: handle.value for handle in judge.file.handles}
    for given in sizes:
        for name in given:
            if name not in own:
                raise CannotJudge("unknown-size", f"`{name}` is no integer of {judge.file.path.name}", f"it has {', '.join(own) or 'none'}")
    trials: list[Trial] = []
    try:
        chosen = [("given", {**own, **given}) for given in sizes] or judge.sizes()
        for kind, point in chosen:
            try:
                trials.append(judge.judged(kind, point))
            except (NotUnderstood, CannotJudge):
                raise
            except Exception as error:  # noqa: BLE001
                trials.append(Trial(kind, point, {}, "refused", "refused", f"{type(error).__name__}: {error}\n"))
            if trials[-1].verdict == "not-launched":
                break
    except NotUnderstood as wrong:
        place = f"{wrong.file or judge.candidate.name}" + (f":{wrong.line}" if wrong.line else "")
        toml = judge.launches_file.name
        help = wrong.help or (
            f"write the launches by hand in {toml} beside it (docs/judge.md)" if judge.candidate.suffix == ".cu" else
            "simplify the host code, or judge the kernels as a .cu file with their launches in a .toml beside it (docs/judge.md)")
        raise CannotJudge("not-understood", f"{place}: {wrong.message}", help) from None
    notes = list(dict.fromkeys(judge.notes))
    return Judgement(judge.file.path.name, judge.candidate.name, own, trials, notes)
