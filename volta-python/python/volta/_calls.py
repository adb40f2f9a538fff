"""What host code works with: its values, and the functions and methods of PyTorch and CUDA that it calls."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ._cuda import Function, spelled

MOST_STEPS = 200_000
INTEGERS = {
    "int": 32, "unsigned": 32, "unsigned int": 32, "long": 64, "long long": 64, "unsigned long long": 64,
    "unsigned long": 64, "int64_t": 64, "int32_t": 32, "uint32_t": 32, "uint64_t": 64, "size_t": 64, "short": 16,
    "char": 8, "int16_t": 16, "uint8_t": 8, "int8_t": 8, "ptrdiff_t": 64, "index_t": 64, "long int": 64,
}  # fmt: skip
REALS = {"float", "double", "long double"}
SIZES = {
    "float": 4, "double": 8, "half": 2, "__half": 2, "__nv_bfloat16": 2, "float4": 16, "float2": 8, "int4": 16,
    "int2": 8, "half2": 4, "__half2": 4, "bool": 1, "char": 1, "unsigned char": 1, "float3": 12, "Half": 2, "BFloat16": 2,
}  # fmt: skip
OF_DTYPE = {
    "float32": "float", "float64": "double", "float16": "__half", "bfloat16": "__nv_bfloat16", "int32": "int",
    "int64": "long", "int16": "short", "int8": "signed char", "uint8": "unsigned char", "bool": "bool",
}  # fmt: skip
DTYPES = {
    "kFloat32": "float32", "kFloat": "float32", "kFloat64": "float64", "kDouble": "float64", "kHalf": "float16",
    "kFloat16": "float16", "kBFloat16": "bfloat16", "kInt": "int32", "kInt32": "int32", "kLong": "int64",
    "kInt64": "int64", "kBool": "bool", "kByte": "uint8", "kUInt8": "uint8", "kInt8": "int8", "kChar": "int8",
}  # fmt: skip
FACTORIES = {"empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like", "tensor", "arange"}


class Refused(RuntimeError):
    """What a failed `TORCH_CHECK` throws: Python code may catch it."""


@dataclass(frozen=True)
class Pointer:
    """Into a tensor, so many bytes behind its first element."""

    tensor: Any
    bytes: int
    type: str


@dataclass(frozen=True)
class Dim3:
    x: int = 1
    y: int = 1
    z: int = 1


@dataclass(frozen=True)
class Options:
    dtype: Any = None


@dataclass(frozen=True)
class Opaque:
    """A value that does not matter, such as a stream."""

    what: str


@dataclass(frozen=True)
class Launched:
    kernel: Function
    template: tuple[Any, ...] | None
    grid: Dim3
    block: Dim3
    shared: int
    args: tuple[Any, ...]
    line: int


Env = dict[str, Any]


class Calls:
    """Functions and methods, called with values; `host` runs the code that calls them."""

    host: Any

    def made(self, type: str, values: list[Any], line: int) -> Any:
        """A value of a type, from what its constructor is given."""
        last = type.split("<")[0].split("::")[-1].rstrip("*& ")
        if last == "dim3":
            return Dim3(*(int(value) for value in values))
        if last in ("vector", "array", "IntArrayRef"):
            if len(values) == 1 and isinstance(values[0], list):
                return values[0]
            if len(values) == 2 and isinstance(values[0], int) and last == "vector":
                return [values[1]] * min(values[0], MOST_STEPS)
            return list(values)
        if type in INTEGERS or type in REALS or type == "bool":
            return self.host.converted(type, values[0] if values else 0, line)
        if last in ("TensorOptions",):
            return Options()
        if last == "Tensor":
            return values[0] if values else None
        if last in ("cudaError_t", "OptionalCUDAGuard", "CUDAGuard", "cudaDeviceProp", "string", "cudaStream_t"):
            return values[0] if values and isinstance(values[0], Opaque) else Opaque(last)
        raise self.host.wrong(f"values of `{type}` are not understood", line)

    def cast_to(self, type: str, value: Any, line: int, env: Env) -> Any:
        type = type.replace("const ", "").strip()
        if isinstance(value, Pointer) and type.endswith("*"):
            own = self.type_of(type.rstrip("* "), env)
            return value if own == "void" else replace(value, type=own)
        if type == "scalar_t" and isinstance(value, (int, Fraction)):
            return Fraction(value)
        return self.host.converted(type, value, line)

    def type_of(self, type: str, env: Env) -> str:
        known = env.get("type " + type, type)
        return known.split("::")[-1]

    def size_of(self, type: str, line: int) -> int:
        size = SIZES.get(type) or INTEGERS.get(type, 0) // 8
        if not size:
            raise self.wrong(f"the size of `{type}` is not known", line)
        return size

    def method(self, value: Any, name: str, template: Any, args: list[Any] | None, line: int, env: Env) -> Any:
        torch = self.host.torch
        if isinstance(value, Dim3) and args is None and name in ("x", "y", "z"):
            return getattr(value, name)
        if isinstance(value, Options):
            if name in ("dtype",):
                return Options(self.dtype(args[0], line))
            return value
        if isinstance(value, Opaque):
            return Opaque(f"{value.what}.{name}")
        if value is None:
            if name in ("defined", "has_value"):
                return False
            raise self.wrong(f"`.{name}` of a tensor that is not given", line)
        if isinstance(value, (list, tuple)):
            if name in ("size", "length"):
                return len(value)
            if name in ("data", "vec", "begin"):
                return value
            if name == "back":
                return value[-1]
            if name in ("push_back", "emplace_back"):
                value.append(args[0])
                return None
            if name == "slice":
                return value[args[0] :]
        if torch is not None and isinstance(value, torch.Tensor):
            return self.of_tensor(value, name, template, args or [], line, env)
        if name in ("value", "has_value"):
            return True if name == "has_value" else value
        raise self.wrong(f"`.{name}` is not understood", line)

    def dtype(self, value: Any, line: int) -> Any:
        if isinstance(value, str) and value.startswith("k") and value in DTYPES:
            return getattr(self.host.torch, DTYPES[value])
        return value

    def of_tensor(self, value: Any, name: str, template: Any, args: list[Any], line: int, env: Env) -> Any:
        torch = self.host.torch
        if name in ("data_ptr", "mutable_data_ptr", "const_data_ptr"):
            own = OF_DTYPE.get(str(value.dtype).removeprefix("torch."), "")
            wanted = self.type_of(spelled(template).replace("const ", ""), env) if template else None
            wanted = {"int64_t": "long", "int32_t": "int", "half": "__half", "Half": "__half", "long long": "long",
                      "BFloat16": "__nv_bfloat16", "uint8_t": "unsigned char"}.get(wanted, wanted)  # fmt: skip
            if wanted is not None and wanted != own:
                raise Refused(f"expected scalar type {wanted} but found {own} (line {line} of {self.host.source.file})")
            return Pointer(value, 0, own)
        simple: dict[str, Callable[[], Any]] = {
            "size": lambda: int(value.shape[args[0]]), "sizes": lambda: [int(size) for size in value.shape],
            "dim": lambda: value.dim(), "ndimension": lambda: value.dim(), "numel": lambda: int(value.numel()),
            "stride": lambda: int(value.stride(args[0])), "strides": lambda: [int(step) for step in value.stride()],
            "options": lambda: Options(value.dtype), "scalar_type": lambda: value.dtype, "dtype": lambda: value.dtype,
            "type": lambda: value.dtype, "device": lambda: Opaque("device"), "get_device": lambda: Opaque("device"),
            "is_cuda": lambda: True, "defined": lambda: True, "has_value": lambda: True, "value": lambda: value,
            "element_size": lambda: value.element_size(), "itemsize": lambda: value.element_size(),
            "nbytes": lambda: int(value.numel()) * value.element_size(), "is_contiguous": lambda: value.is_contiguous(),
            "cuda": lambda: value, "is_floating_point": lambda: value.dtype.is_floating_point,
        }  # fmt: skip
        if name in simple:
            return simple[name]()
        method = getattr(value, name, None)
        if method is None or name in ("item", "accessor", "packed_accessor32", "packed_accessor64", "packed_accessor"):
            raise self.wrong(f"`.{name}` of a tensor is not understood", line)
        given = [of_torch(self.dtype(arg, line)) for arg in args if not isinstance(arg, Opaque)]
        given = [arg.dtype if isinstance(arg, Options) else arg for arg in given]
        return method(*given)

    def function(self, name: str, last: str, args: list[Any], line: int, env: Env) -> Any:
        host = self.host
        if last in host.source.hosts and host.source.hosts[last].body is not None and not name.startswith(("std::", "torch::")):
            return host.call(last, args, line=line)
        if last in ("min", "max", "fmin", "fmax", "fminf", "fmaxf") and args:
            items = args[0] if len(args) == 1 else args
            return (min if "min" in last else max)(items)
        if last in ("ceil_div", "cdiv", "CeilDiv", "divup", "div_up") and len(args) == 2:
            return -(-args[0] // args[1])
        mathematics = {"ceil": math.ceil, "floor": math.floor, "round": round, "trunc": int}
        base = last[:-1] if last.endswith("f") and last[:-1] in mathematics else last
        if base in mathematics and len(args) == 1:
            return Fraction(mathematics[base](args[0]))
        if last in ("sqrt", "sqrtf", "rsqrt", "rsqrtf"):
            root = square_root(args[0])
            return 1 / root if last.startswith("r") else root
        if last in ("abs", "fabs", "fabsf"):
            return abs(args[0])
        if last in ("exp", "log", "log2", "pow", "powf", "expf", "logf", "log2f", "exp2f"):
            base = last[:-1] if last.endswith("f") else last
            if base == "pow" and isinstance(args[1], (int, Fraction)) and args[1] == int(args[1]):
                return Fraction(args[0]) ** int(args[1])
            return Fraction(getattr(math, base)(*(float(arg) for arg in args)))
        if last in ("dim3", "vector", "IntArrayRef", "array") or last in INTEGERS or last in REALS:
            return self.made(last, args, line)
        if last in ("make_tuple", "tie", "make_pair"):
            return list(args)
        if last == "dtype":
            return Options(self.dtype(args[0], line))
        if last == "TensorOptions":
            return Options()
        if last in ("cudaMemset", "cudaMemsetAsync"):
            return self.memset(args, line)
        if last in ("cudaMemcpy", "cudaMemcpyAsync"):
            if isinstance(args[0], Pointer) and isinstance(args[1], Pointer) and isinstance(args[2], int):
                host.events.copy(args[1], args[0], args[2], line)
                return 0
        if last == "runtime_error" or last == "invalid_argument":
            raise Refused(str(args[0]) if args else last)
        is_torch = name.startswith(("torch::", "at::")) and name.count("::") == 1
        if is_torch and last == "size" and len(args) == 2:
            return int(args[0].shape[args[1]])
        if is_torch and hasattr(host.torch, last):
            options = next((arg for arg in args if isinstance(arg, Options)), None)
            plain = [of_torch(self.dtype(arg, line)) for arg in args if not isinstance(arg, (Options, Opaque))]
            named = {"dtype": options.dtype} if options is not None and options.dtype is not None else {}
            if last in FACTORIES and not last.endswith("_like"):
                plain = [arg for arg in plain if not isinstance(arg, host.torch.dtype)]
            return getattr(host.torch, last)(*plain, **named)
        if last in ("getCurrentCUDAStream", "OptionalCUDAGuard", "CUDAGuard", "getCurrentDeviceProperties"):
            return Opaque(last)
        raise self.wrong(f"the function `{name}` is not understood", line)

    def memset(self, args: list[Any], line: int) -> int:
        pointer, byte, count = args[0], args[1], args[2]
        if not isinstance(pointer, Pointer) or byte != 0 or not isinstance(count, int):
            raise self.wrong("this cudaMemset is not understood: only a whole tensor is set, and to 0", line)
        self.host.events.fill(pointer, count, line)
        return 0


def of_torch(value: Any) -> Any:
    """A number as PyTorch takes it."""
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, list):
        return [of_torch(item) for item in value]
    return value


def truth(value: Any) -> bool:
    return bool(value)


def square_root(value: Any) -> Any:
    value = Fraction(value)
    if value >= 0:
        top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if top * top == value.numerator and bottom * bottom == value.denominator:
            return Fraction(top, bottom)
    return Fraction(math.sqrt(value))


def number(text: str) -> int | Fraction:
    plain = text.replace("'", "")
    if plain.lower().startswith("0x"):
        return int(plain.rstrip("uUlLzZ"), 16)
    is_real = any(sign in plain for sign in ".eE") or plain[-1] in "fF"
    plain = plain.rstrip("uUlLfFzZ")
    if is_real:
        return Fraction(plain.rstrip(".") if plain.endswith(".") else plain)
    return int(plain, 8) if len(plain) > 1 and plain[0] == "0" and plain.isdigit() else int(plain)


def binary_of(parser: Calls, sign: str, left: Any, right: Any, line: int) -> Any:
    if isinstance(left, Pointer) and sign in ("+", "-") and isinstance(right, int):
        size = parser.size_of(left.type, line)
        return replace(left, bytes=left.bytes + (right if sign == "+" else -right) * size)
    if sign in ("==", "!="):
        if isinstance(left, Opaque) or isinstance(right, Opaque):
            same = True  # A device, or the success of a call.
        else:
            same = left == right
        return same if sign == "==" else not same
    torch = parser.host.torch
    numbers = (int, Fraction, float)
    is_tensor = torch is not None and (isinstance(left, torch.Tensor) or isinstance(right, torch.Tensor))
    if not is_tensor and not (isinstance(left, numbers) and isinstance(right, numbers)):
        raise parser.wrong(f"`{sign}` of what stands here is not understood", line)
    if is_tensor:
        left, right = of_torch(left), of_torch(right)
    if sign in ("/", "%") and not is_tensor:
        if right == 0:
            raise Refused(f"division by zero (line {line} of {parser.host.source.file})")
        if isinstance(left, int) and isinstance(right, int):
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return quotient if sign == "/" else left - right * quotient
        return Fraction(left) / Fraction(right)
    operations: dict[str, Callable[[Any, Any], Any]] = {
        "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
        "<": lambda a, b: a < b, ">": lambda a, b: a > b, "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
        "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "<<": lambda a, b: a << b,
        ">>": lambda a, b: a >> b,
    }  # fmt: skip
    return operations[sign](left, right)
