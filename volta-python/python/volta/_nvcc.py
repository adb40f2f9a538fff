"""The CUDA compiler: where it is, and what it makes of a source."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ._cuda import Function, Source

ARCHITECTURE = "sm_80"
_TIMEOUT = 300


class NoCompiler(RuntimeError):
    """There is no nvcc here."""

    def __init__(self) -> None:
        super().__init__(
            "there is no nvcc here, and the kernel is CUDA: VOLTA_NVCC names a compiler, `pip install nvidia-cuda-nvcc` "
            "installs one, or give the kernel as PTX"
        )


class DoesNotCompile(RuntimeError):
    """What nvcc says about a source."""


def find() -> Path | None:
    """The first of: `VOLTA_NVCC` (`off` for none), `NVCC`, `CUDA_HOME`, `CUDA_PATH`, `PATH`, the packages of pip, the
    usual folder."""
    for name in ("VOLTA_NVCC", "NVCC"):
        value = os.environ.get(name)
        if value == "off":
            return None
        if value:
            found = shutil.which(value)
            if found is None:
                raise FileNotFoundError(f"{name} is {value}, which is no program")
            return Path(found)
    homes = [Path(os.environ[name]) / "bin" for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    on_path = shutil.which("nvcc")
    places = [folder / "nvcc" for folder in homes]
    if on_path is not None:
        places.append(Path(on_path))
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        places += sorted(Path(folder).glob("cu[0-9]*/bin/nvcc"), reverse=True)
        places += sorted(Path(folder).glob("cuda_nvcc/bin/nvcc"))
    places.append(Path("/usr/local/cuda/bin/nvcc"))
    return next((place for place in places if place.is_file()), None)


_COMPILED: dict[tuple[str, str], str] = {}


def compile(text: str, name: str) -> str:
    """The PTX of a source, in which `name` is the name of its file.

    Raises `NoCompiler` or `DoesNotCompile`.
    """
    key = (text, name)
    if key in _COMPILED:
        return _COMPILED[key]
    nvcc = find()
    if nvcc is None:
        raise NoCompiler()
    with tempfile.TemporaryDirectory(prefix="volta-") as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        command = [str(nvcc), "-ptx", "-lineinfo", f"-arch={ARCHITECTURE}", "-w", "-o", "out.ptx", name]
        environment = {key: value for key, value in os.environ.items() if not re.match(r"NVCC_.*_FLAGS$", key)}
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT, env=environment
            )
        except subprocess.TimeoutExpired:
            raise DoesNotCompile(f"nvcc took longer than {_TIMEOUT} s") from None
        out = Path(folder) / "out.ptx"
        if done.returncode != 0 or not out.is_file():
            raise DoesNotCompile((done.stderr + done.stdout).strip() or f"nvcc ended with {done.returncode}")
        ptx = out.read_text(encoding="utf-8")
        # Files by their names, so that the text is the same everywhere.
        ptx = re.sub(r'(\.file\s+\d+\s+")[^"]*/([^"/]+")', r"\1\2", ptx)
    _COMPILED[key] = ptx
    return ptx


def entries(ptx: str) -> list[str]:
    """The names of the kernels."""
    return re.findall(r"\.entry\s+([\w$]+)", ptx)


_CODES = {
    "float": "f", "double": "d", "int": "i", "unsigned": "j", "unsigned int": "j", "long": "l", "long long": "x",
    "bool": "b", "__half": "6__half", "__nv_bfloat16": "13__nv_bfloat16", "int64_t": "l", "unsigned char": "h",
    "signed char": "a", "short": "s", "half": "6__half",
}  # fmt: skip


def entry(ptx: str, kernel: Function, template: Sequence[object] | None) -> str:
    """The name in PTX of a kernel with these template arguments."""
    names = entries(ptx)
    if kernel.name in names:
        return kernel.name
    mangled = f"{len(kernel.name)}{kernel.name}"
    found = [name for name in names if re.match(rf"_Z(N(L?\d+\w+?|12_GLOBAL__N_1)+)?L?{mangled}(?![\w$])|.*{mangled}(E|I|P|[a-z]|v|S)", name)]
    if len(found) > 1 and template:
        codes = ""
        for value in template:
            if isinstance(value, bool):
                codes += f"Lb{int(value)}E"
            elif isinstance(value, int):
                codes += f"L[a-z]{'n' if value < 0 else ''}{abs(value)}E"
            else:
                codes += re.escape(_CODES.get(str(value), f"{len(str(value))}{value}"))
        found = [name for name in found if re.search(rf"{mangled}I{codes}", name)]
    if len(found) != 1:
        what = ", ".join(names) or "none"
        raise LookupError(f"the PTX has no kernel `{kernel.name}`, or several; its kernels are {what}")
    return found[0]


def instantiated(source: Source, uses: Sequence[tuple[Function, tuple[object, ...] | None, Sequence[str]]]) -> str:
    """The device part of a source, with the templates that are launched."""
    lines = []
    for kernel, template, arguments in uses:
        if not kernel.template:
            continue
        given = "" if template is None else "<" + ", ".join(_spelled(value) for value in template) + ">"
        lines.append(f"    {kernel.name}{given}<<<1, 1>>>({', '.join(arguments)});")
    lines = sorted(set(lines))
    text = source.device_text()
    if not lines:
        return text
    return text.rstrip("\n") + "\nvoid volta_instances() {\n" + "\n".join(lines) + "\n}\n"


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
