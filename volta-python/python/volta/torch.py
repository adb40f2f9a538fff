"""References from PyTorch: what a module computes, as a graph of operators.

    import torch, volta

    reference = volta.torch.reference(torch.nn.Softmax(dim=1), (torch.empty(4, 64),))
    volta.assert_equivalent(volta.Kernel("softmax.cu", block=64, grid=4), reference)

PyTorch is imported only where this is used.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Reference", "reference"]

# Arguments that say where and how a tensor lies, and not what it holds.
_PLACES = {"memory_format", "layout", "device", "pin_memory", "non_blocking", "generator"}

_TYPES = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "bool": "bool", "uint8": "u8",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
}  # fmt: skip


@dataclass(frozen=True)
class Reference:
    """What a module computes: a reference of `volta.check`."""

    params: Mapping[str, Any]
    """The tensors of the case: inputs by the names of `forward`, parameters and buffers by theirs with `_` for `.`, in
    the order in which PyTorch has them, and last the outputs: `output`, or `output0`, `output1`, ...."""
    graph: Mapping[str, Any] = field(repr=False)
    """The graph, as docs/graphs.md describes it."""

    def _written(self, side: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        file = f"{side}.json"
        return {"graph": file}, {file: json.dumps(self.graph, indent=1)}


def reference(
    module: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    ranges: Mapping[str, Sequence[int]] | None = None,
) -> Reference:
    """What `module` computes of inputs with the shapes and types of `args`, whatever their values are.

    The module is exported as it is, with `training` as it is set: call `eval()` first where that is meant. Buffers that
    it updates are not compared. `ranges` bounds inputs of integers, such as indices: `{"indices": [0, 99]}`.
    """
    import torch

    exported = torch.export.export(module, tuple(args), dict(kwargs or {}))
    decompositions = torch.export.default_decompositions()
    # Kept whole: their decompositions multiply by rounded roots, and compare with NaN.
    for whole in ("scaled_dot_product_attention", "kl_div"):
        decompositions.pop(getattr(torch.ops.aten, whole).default, None)
    exported = exported.run_decompositions(decompositions)
    return _Graph(torch, exported, ranges or {}).reference()


class _Graph:
    """A graph of an exported program, as it is written."""

    def __init__(self, torch: Any, exported: Any, ranges: Mapping[str, Sequence[int]]):
        self.torch = torch
        self.exported = exported
        self.ranges = ranges
        self.params: dict[str, Any] = {}
        self.inputs: dict[str, Any] = {}

    def reference(self) -> Reference:
        signature = self.exported.graph_signature
        nodes = list(self.exported.graph.nodes)
        results = nodes[-1].args[0]
        kinds = self.torch.export.graph_signature.OutputKind
        outputs = [
            node for node, spec in zip(results, signature.output_specs) if spec.kind == kinds.USER_OUTPUT
        ]
        needed = set()
        for node in reversed(nodes):
            if node in outputs or any(user in needed for user in node.users):
                needed.add(node)
        specs = {spec.arg.name: spec for spec in signature.input_specs}
        for node in nodes:
            if node.op == "placeholder" and node in needed:
                self._input(node, specs[node.name])
        written = [self._node(node) for node in nodes if node.op == "call_function" and node in needed]
        named = {}
        for at, node in enumerate(outputs):
            name = "output" if len(outputs) == 1 else f"output{at}"
            if name in self.params:
                raise ValueError(f"`{name}` is the name of an input: an output needs it")
            self.params[name] = {"role": "out", **self._described(node.meta["val"])}
            named[name] = self._name(node)
        graph = {"inputs": self.inputs, "nodes": [node for node in written if node], "outputs": named}
        return Reference(self.params, graph)

    def _described(self, tensor: Any) -> dict[str, Any]:
        element = _TYPES.get(str(tensor.dtype).removeprefix("torch."))
        if element is None:
            raise ValueError(f"tensors of {tensor.dtype} are not supported")
        return {"type": element, "shape": [int(extent) for extent in tensor.shape]}

    def _input(self, node: Any, spec: Any) -> None:
        kinds = self.torch.export.graph_signature.InputKind
        name = node.name if spec.kind == kinds.USER_INPUT else (spec.target or node.name)
        name = name.replace(".", "_")
        described = self._described(node.meta["val"])
        self.inputs[node.name] = {**described, "tensor": name}
        param = {"role": "in", **described}
        if spec.kind == kinds.CONSTANT_TENSOR:
            values = self.exported.constants[spec.target].flatten().tolist()
            param["contents"] = [_number(int(value) if isinstance(value, bool) else value) for value in values]
        elif name in self.ranges:
            param["range"] = list(self.ranges[name])
        self.params[name] = param

    def _name(self, node: Any) -> str:
        return node.name

    def _node(self, node: Any) -> dict[str, Any] | None:
        target = node.target
        if getattr(target, "__name__", "") == "getitem" and not hasattr(target, "_schema"):
            source, at = node.args
            return {"name": node.name, "op": "alias", "self": f"{source.name}.{at}"}
        schema = getattr(target, "_schema", None)
        if schema is None:
            raise ValueError(f"`{target}` is no operator of ATen")
        arguments = {argument.name: value for argument, value in zip(schema.arguments, node.args)}
        arguments |= node.kwargs
        written = {"name": node.name, "op": schema.name.replace("::", ".")}
        if schema.overload_name:
            written["op"] += "." + schema.overload_name
        for name, value in arguments.items():
            if value is not None and name not in _PLACES:
                written[name] = self._argument(value)
        return written

    def _argument(self, value: Any) -> Any:
        if isinstance(value, self.torch.fx.Node):
            return self._name(value)
        if isinstance(value, (list, tuple)):
            return [self._argument(item) for item in value]
        if isinstance(value, self.torch.dtype):
            return self._described_type(value)
        if isinstance(value, (bool, str)) or isinstance(value, float) and value.is_integer():
            # A float stays one where it is whole: beside integers, the result is a float.
            return value
        return _number(value)

    def _described_type(self, value: Any) -> str:
        name = str(value).removeprefix("torch.")
        if name not in _TYPES:
            raise ValueError(f"tensors of {value} are not supported")
        return _TYPES[name]


def _number(value: Any) -> Any:
    """A number as JSON and a case have it."""
    if isinstance(value, float) and math.isnan(value):
        raise ValueError("the module computes with NaN, which is no real number")
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
