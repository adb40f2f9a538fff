"""Launches that are written by hand, in a file beside a `.cu`: where its host code is missing or not understood.

    [scratch]
    parts = { shape = ["(x.numel() + 255) / 256"] }       # type = "f32" unless it is said

    [outputs]
    output = { shape = ["x.size(0)"] }

    [[launch]]
    kernel = "sums"                                       # "sums<256>" of a template
    grid = "(x.numel() + 255) / 256"
    block = 256
    args = ["x", "parts", "x.numel()"]

    [[launch]]
    fill = "output"
    with = 0

Texts are expressions of C++ in the names of tensors and of numbers of the module.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._cuda import NotUnderstood, Source, split, tokens
from ._host import Dim3, Host, Launched, Pointer, OF_DTYPE, _Parser
from ._record import Recorder, _Events, _from_python

_KEYS = {"scratch", "outputs", "launch"}
_TYPES = {
    "f32": "float32", "f16": "float16", "bf16": "bfloat16", "f64": "float64", "i32": "int32", "i64": "int64",
    "i8": "int8", "u8": "uint8", "bool": "bool",
}  # fmt: skip


def by_hand(judge: Any, recorder: Recorder, source: Source, tensors: Mapping[str, Any], scalars: Mapping[str, Any]) -> list[Any]:
    """Does what the file says; returns the outputs."""
    file = judge.launches_file.name
    try:
        import tomllib
    except ImportError:
        raise NotUnderstood(f"reading {file} needs Python 3.11") from None
    try:
        given = tomllib.loads(judge.launches_file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise NotUnderstood(f"not TOML: {error}", file=file) from None
    events = _Events(recorder, source)
    host = Host(source, judge.torch, events)
    env = {**host.globals, **{name: _from_python(value) for name, value in scalars.items()}, **tensors}

    def wrong(message: str) -> NotUnderstood:
        return NotUnderstood(message, None, "docs/judge.md describes this file", file)

    for key in given:
        if key not in _KEYS:
            raise wrong(f"unknown key `{key}`; there are {', '.join(sorted(_KEYS))}")

    def value(expression: Any) -> Any:
        if not isinstance(expression, str):
            return _from_python(expression)
        parser = _Parser(host, host.expanded(tokens(expression)))
        try:
            found = parser.whole()(env)
        except NotUnderstood as error:
            raise wrong(f"`{expression}`: {error.message}") from None
        if isinstance(found, judge.torch.Tensor):
            dtype = str(found.dtype).removeprefix("torch.")
            return Pointer(found, 0, OF_DTYPE[dtype])
        return found

    def extent(table: Mapping[str, Any], key: str, default: Any) -> Dim3:
        found = table.get(key, default)
        if found is None:
            raise wrong(f"a launch needs `{key}`")
        return Dim3(*(int(value(item)) for item in (found if isinstance(found, list) else [found])))

    outputs = []
    with recording_of(judge, recorder):
        for section in ("scratch", "outputs"):
            for name, about in given.get(section, {}).items():
                dtype = _TYPES.get(about.get("type", "f32"))
                if dtype is None or "shape" not in about:
                    raise wrong(f"`{name}` needs a `shape`, and one of the types {', '.join(_TYPES)}")
                shape = about["shape"] if isinstance(about["shape"], list) else [about["shape"]]
                env[name] = judge.torch.empty([int(value(item)) for item in shape], dtype=getattr(judge.torch, dtype))
                if section == "outputs":
                    outputs.append(env[name])
        for table in given.get("launch", []):
            if "fill" in table:
                if table["fill"] not in env:
                    raise wrong(f"there is no tensor `{table['fill']}`")
                recorder.filled(recorder.buffer(env[table["fill"]]), table.get("with", 0))
                continue
            name, _, template = str(table.get("kernel", "")).partition("<")
            kernel = source.kernels.get(name)
            if kernel is None:
                raise wrong(f"there is no kernel `{name}`; there are {', '.join(source.kernels) or 'none'}")
            parts = split(tokens(template.rstrip("> "))) if template else None
            made = None if parts is None else tuple(_Parser(host, part).template_value(part, env) for part in parts)
            args = tuple(value(item) for item in table.get("args", []))
            shared = int(value(table.get("shared", 0)))
            events.launch(Launched(kernel, made, extent(table, "grid", 1), extent(table, "block", None), shared, args, kernel.line))
    return outputs


def recording_of(judge: Any, recorder: Recorder) -> Any:
    from ._record import recording

    return recording(judge.torch, recorder)
