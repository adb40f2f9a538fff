"""The text of a CUDA file: tokens, functions, and the part of it that is for the device."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


class NotUnderstood(BaseException):
    """Host code that is not understood. No `except Exception` of the code that is being read catches it."""

    def __init__(self, message: str, line: int | None = None, help: str | None = None, file: str | None = None):
        super().__init__(message)
        self.message, self.line, self.help, self.file = message, line, help, file


@dataclass(frozen=True)
class Token:
    kind: str
    """`name`, `number`, `text` or `sign`."""
    text: str
    line: int
    at: int
    """Where it begins in the text."""


_TOKEN = re.compile(
    r"""(?P<blank>(?:\s|\\\n)+)
    |(?P<comment>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/)
    |(?P<raw>R"(?P<fence>[^\s()\\"]*)\(.*?\)(?P=fence)")
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<number>(?:0[xX][0-9a-fA-F']+|(?:\d[\d']*\.?[\d']*|\.\d[\d']*)(?:[eE][+-]?\d+)?)[uUlLfFzZ]*)
    |(?P<name>[A-Za-z_$][\w$]*)
    |(?P<sign><<<|>>>|::|->|\+\+|--|<<=|<<|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|\.\.\.|.)
    """,
    re.S | re.X,
)


def tokens(text: str) -> list[Token]:
    """The tokens of a text, without comments. `>>` is two signs, as at the end of templates."""
    found, at, line = [], 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None
        kind = match.lastgroup if match.lastgroup != "fence" else "raw"
        if kind not in ("blank", "comment"):
            found.append(Token("text" if kind == "raw" else kind, match.group(), line, at))
        line += match.group().count("\n")
        at = match.end()
    return found


@dataclass(frozen=True)
class Parameter:
    type: str
    """Its type, without `const`, `__restrict__` and its name; `float*` for a pointer."""
    name: str
    default: tuple[Token, ...] = ()
    is_const: bool = False

    @property
    def is_pointer(self) -> bool:
        return self.type.endswith("*")


@dataclass(frozen=True)
class Function:
    name: str
    line: int
    parameters: tuple[Parameter, ...]
    template: tuple[str, ...]
    """The names of template parameters."""
    result: str
    body: tuple[Token, ...] | None
    """Of a host function that is defined: its tokens, without the braces."""
    template_defaults: tuple[tuple[Token, ...], ...] = ()


@dataclass
class Source:
    """A CUDA file, taken apart."""

    file: str
    text: str
    kernels: dict[str, Function] = field(default_factory=dict)
    hosts: dict[str, Function] = field(default_factory=dict)
    macros: dict[str, tuple[tuple[str, ...] | None, tuple[Token, ...]]] = field(default_factory=dict)
    constants: list[tuple[Token, ...]] = field(default_factory=list)
    """Declarations of constants, as tokens without the semicolon."""
    bound: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """What `PYBIND11_MODULE` binds: the function of each name, and the names of its arguments if they are given."""
    host_spans: list[tuple[int, int]] = field(default_factory=list)

    def device_text(self) -> str:
        """The text without what only the host needs; lines keep their numbers."""
        text = list(self.text)
        for begin, end in self.host_spans:
            for at in range(begin, end):
                if text[at] != "\n":
                    text[at] = " "
        return "".join(text)


# What includes of host code say; the kernels need none of it.
_HOST_INCLUDE = re.compile(r"(torch|ATen|c10|pybind11|Python|cuda_profiler)\b|(iostream|chrono|stdexcept|cassert)$")
_HOST_TYPES = {"torch", "at", "c10", "py", "pybind11", "std", "Tensor", "TensorOptions", "cudaStream_t"}
_SHAPED = {"__launch_bounds__", "__cluster_dims__", "__maxnreg__"}


def parse(text: str, file: str) -> Source:
    """Takes a file apart. What is not understood is left to the compiler."""
    source = Source(file, text)
    directives = list(_directives(text))
    blanked = list(text)
    for begin, end, words, line in directives:
        for at in range(begin, end):
            if blanked[at] != "\n":
                blanked[at] = " "
        include = re.match(r"include\s*[<\"]([^>\"]+)", words)
        if include and _HOST_INCLUDE.match(include.group(1)):
            source.host_spans.append((begin, end))
        define = re.match(r"define\s+([A-Za-z_]\w*)(\(([^)]*)\))?", words)
        if define:
            names = None
            if define.group(2) is not None:
                names = tuple(name.strip() for name in define.group(3).split(",") if name.strip())
            body = words[define.end() :].replace("\\\n", " \n")
            found = tuple(Token(t.kind, t.text, line, t.at) for t in tokens(body))
            source.macros[define.group(1)] = (names, found)
            if any(token.text in ("TORCH_CHECK", "AT_ASSERTM", "AT_ERROR") for token in found):
                source.host_spans.append((begin, end))
    _items(source, tokens("".join(blanked)))
    return source


def _directives(text: str) -> Iterator[tuple[int, int, str, int]]:
    clean = re.sub(r"/\*.*?\*/", lambda match: re.sub(r"[^\n]", " ", match.group()), text, flags=re.S)
    for match in re.finditer(r"^[ \t]*#[ \t]*((?:[^\n\\]|\\\n|\\.)*)", clean, re.M):
        words = re.sub(r"//[^\n]*", "", match.group(1))
        yield match.start(), match.end(), words, text.count("\n", 0, match.start()) + 1


def closing(found: Sequence[Token], at: int) -> int:
    """The place of the bracket that closes the one at `at`, or the end."""
    pairs, depth = {"(": ")", "[": "]", "{": "}"}, []
    for place in range(at, len(found)):
        text = found[place].text
        if found[place].kind == "text":
            continue
        if text in pairs:
            depth.append(pairs[text])
        elif depth and text == depth[-1]:
            depth.pop()
            if not depth:
                return place
    return len(found)


def angle_closing(found: Sequence[Token], at: int) -> int | None:
    """The place of the `>` that closes the `<` at `at`, if it is one of a template."""
    depth = 0
    place = at
    while place < len(found):
        text = found[place].text
        if text == "<":
            depth += 1
        elif text == ">":
            depth -= 1
            if depth == 0:
                return place
        elif text == ">>>" and depth:
            depth -= 3
            if depth <= 0:
                return place
        elif text in ("(", "[", "{"):
            place = closing(found, place)
        elif text in (";", "}", ")", "<<<", "&&", "||"):
            return None
        place += 1
    return None


def split(found: Sequence[Token], sign: str = ",") -> list[tuple[Token, ...]]:
    """The parts of a list, at the commas that are in no brackets."""
    parts, part, at = [], [], 0
    while at < len(found):
        token = found[at]
        end = at
        if token.kind != "text" and token.text in "([{":
            end = min(closing(found, at), len(found) - 1)
        elif token.text == "<" and part and part[-1].kind == "name":
            end = angle_closing(found, at) or at
        if token.kind != "text" and token.text == sign:
            parts.append(tuple(part))
            part = []
        else:
            part += found[at : end + 1]
        at = end + 1
    if part or parts:
        parts.append(tuple(part))
    return parts


def _items(source: Source, found: list[Token]) -> None:
    """Reads the definitions of a file, or of a namespace in it."""
    at = 0
    while at < len(found):
        start = first = at
        text = found[at].text
        if text in (";", "}"):
            at += 1
            continue
        is_linkage = text == "extern" and at + 1 < len(found) and found[at + 1].kind == "text"
        if text == "namespace" or is_linkage:
            brace = at + (2 if is_linkage else 1)
            while not is_linkage and brace < len(found) and found[brace].text not in ("{", ";", "="):
                brace += 1
            if brace < len(found) and found[brace].text == "{":
                end = closing(found, brace)
                _items(source, found[brace + 1 : end])
                at = end + 1
                continue
            if is_linkage:
                at += 2
                first = at
        # To the end of the declaration: a semicolon, or a body.
        body = None
        while at < len(found) and found[at].text != ";":
            if found[at].text in ("(", "["):
                at = closing(found, at)
            elif found[at].text == "{":
                end = closing(found, at)
                following = found[end + 1].text if end + 1 < len(found) else ""
                if following in (";", ",") or (at and found[at - 1].text == "="):
                    at = end
                else:
                    body = (at, end)
                    at = end
                    break
            at += 1
        end = min(at, len(found) - 1)
        if first < len(found):
            head = found[first : (body[0] if body else at)]
            span = (found[start].at, found[end].at + len(found[end].text))
            _item(source, head, found[body[0] + 1 : body[1]] if body else None, span)
        at = end + 1


def _item(source: Source, head: Sequence[Token], body: Sequence[Token] | None, span: tuple[int, int]) -> None:
    if not head:
        return
    words = [token.text for token in head]
    if words[0] in ("PYBIND11_MODULE", "TORCH_LIBRARY"):
        source.host_spans.append(span)
        _bindings(source, body or ())
        return
    template: tuple[str, ...] = ()
    template_defaults: tuple[tuple[Token, ...], ...] = ()
    if words[0] == "template" and len(words) > 1 and words[1] == "<":
        end = angle_closing(head, 1)
        if end is None:
            return
        parts = [split(part, "=") for part in split(head[2:end])]
        template = tuple(part[0][-1].text for part in parts if part and part[0])
        template_defaults = tuple(part[1] if len(part) > 1 else () for part in parts)
        head = head[end + 1 :]
        words = [token.text for token in head]
    place = 0
    while place < len(head) and head[place].text != "(":
        if head[place].text == "<":
            place = angle_closing(head, place) or place
        place += 1
        if place < len(head) and head[place].text == "(" and head[place - 1].text in _SHAPED:
            place = closing(head, place) + 1
    is_function = 0 < place < len(head) and head[place - 1].kind == "name" and "=" not in words[:place]
    device = {"__global__", "__device__"} & set(words)
    if is_function and words[0] not in ("struct", "class", "union", "enum", "using", "typedef"):
        end = closing(head, place)
        parameters = tuple(_parameter(part) for part in split(head[place + 1 : end]) if _is_parameter(part))
        result = spelled([token for token in head[: place - 1] if token.text not in ("static", "inline")])
        name = head[place - 1].text
        function = Function(
            name, head[place - 1].line, parameters, template, result,
            tuple(body) if body is not None else None, template_defaults,
        )  # fmt: skip
        if "__global__" in words:
            source.kernels.setdefault(name, function)
            if body is not None:
                source.kernels[name] = function
        elif not device or "__host__" in words:
            if body is not None or name not in source.hosts:
                source.hosts[name] = function
            is_of_host = _HOST_TYPES & {token.text for token in [*head, *(body or ())]}
            launches = body is not None and any(token.text in ("<<<", "cudaLaunchKernel") for token in body)
            # A `constexpr` helper may be called by kernels; one with types of the host cannot.
            if "__host__" not in words and "constexpr" not in words and (is_of_host or launches or not device):
                source.host_spans.append(span)
        return
    if body is None and "=" in words and {"const", "constexpr"} & set(words) and not device:
        source.constants.append(tuple(head))
        if _HOST_TYPES & set(words):
            source.host_spans.append(span)
    elif words[0] in ("using", "typedef") and {"torch", "at", "c10", "py"} & set(words):
        source.host_spans.append(span)
    elif words[0] == "enum" and body is not None:
        value = 0
        for part in split(body):
            if len(part) > 1 and part[1].text == "=":
                source.constants.append((*(Token("name", "int", part[0].line, 0),), *part))
            value += 1


def _bindings(source: Source, body: Sequence[Token]) -> None:
    for at, token in enumerate(body):
        if token.text == "def" and at + 1 < len(body) and body[at + 1].text == "(":
            parts = split(body[at + 2 : closing(body, at + 1)])
            if len(parts) >= 2 and parts[0] and parts[0][0].kind == "text" and parts[1]:
                names = tuple(
                    part[place + 1].text.strip('"')
                    for part in parts[2:]
                    for place in range(len(part) - 1)
                    if part[place].text == "(" and part[place - 1].text == "arg"
                )
                source.bound[parts[0][0].text.strip('"')] = (parts[1][-1].text, names)


def _is_parameter(part: Sequence[Token]) -> bool:
    return bool(part) and [token.text for token in part] != ["void"]


_QUALIFIERS = {"const", "__restrict__", "__restrict", "restrict", "volatile", "__grid_constant__", "typename", "&"}


def _parameter(part: Sequence[Token]) -> Parameter:
    halves = split(part, "=")
    words = [token.text for token in halves[0] if token.text not in _QUALIFIERS]
    name = ""
    if "[" in words:
        words = [*words[: words.index("[")]]
        name = words.pop() if len(words) > 1 else ""
        words.append("*")
    elif len(words) > 1 and re.match(r"[A-Za-z_]", words[-1]) and words[-1] not in ("int", "long", "char", "short"):
        name = words.pop()
    default = halves[1] if len(halves) > 1 else ()
    is_const = any(token.text == "const" for token in halves[0])
    return Parameter(_joined(words), name, tuple(default), is_const)


def _joined(words: Sequence[str]) -> str:
    text = ""
    for word in words:
        glue = text and re.match(r"\w", word) and re.search(r"\w$", text)
        text += (" " if glue else "") + word
    return text


def spelled(found: Sequence[Token]) -> str:
    """Tokens as one would write them in a line."""
    return _joined([token.text for token in found])
