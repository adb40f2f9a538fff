"""Host code of a CUDA extension, run on tensors without data: which kernels it launches, on what.

A small part of C++ is understood: declarations, conditions, loops, integers and reals, `dim3`, calls of functions in the
same file, and what extensions of PyTorch call. Everything else is an error with its line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ._calls import (
    INTEGERS, MOST_STEPS, OF_DTYPE, REALS, SIZES, Calls, Dim3, Launched, Opaque, Options, Pointer, Refused, binary_of,
    DTYPES, number, truth,
)  # fmt: skip
from ._cuda import Function, NotUnderstood, Source, Token, angle_closing, closing, spelled, split


class _Return(Exception):
    def __init__(self, value: Any):
        self.value = value


class _Leave(Exception):
    pass


class _Again(Exception):
    pass


_MOST_CALLS = 60

Env = dict[str, Any]
Code = Callable[[Env], Any]


class Host:
    """Runs host functions of a source. `torch` is PyTorch; `launch`, `fill` and `copy` are told what happens."""

    def __init__(self, source: Source, torch: Any, events: Any):
        self.source, self.torch, self.events = source, torch, events
        self.steps = 0
        self.depth = 0
        self.globals: Env = {}
        self.parsed: dict[int, Code] = {}
        for declared in source.constants:
            try:
                parser = _Parser(self, self.expanded(declared))
                parser.statement()(self.globals)
            except NotUnderstood:
                pass  # It may be of the device alone; using it is an error.

    def wrong(self, message: str, line: int | None, help: str | None = None) -> NotUnderstood:
        return NotUnderstood(message, line, help, self.source.file)

    def spend(self, line: int) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise self.wrong("the host code runs for too long", line)

    def expanded(self, found: Sequence[Token], but: frozenset[str] = frozenset(), deep: int = 0) -> list[Token]:
        """Tokens with the macros of the file replaced."""
        done: list[Token] = []
        at = 0
        while at < len(found):
            token = found[at]
            macro = self.source.macros.get(token.text) if token.kind == "name" and token.text not in but else None
            at += 1
            if macro is None or deep > 20:
                done.append(token)
                continue
            names, body = macro
            given: dict[str, tuple[Token, ...]] = {}
            if names is not None:
                if at >= len(found) or found[at].text != "(":
                    done.append(token)
                    continue
                end = closing(found, at)
                parts = split(found[at + 1 : end])
                at = end + 1
                if names and names[-1] == "..." and len(parts) >= len(names):
                    rest = [part for tail in parts[len(names) - 1 :] for part in (*tail, Token("sign", ",", token.line, 0))]
                    given["__VA_ARGS__"] = tuple(rest[:-1])
                given |= dict(zip(names, parts))
            made: list[Token] = []
            place = 0
            while place < len(body):
                word = body[place]
                if word.text == "#" and place + 1 < len(body) and body[place + 1].text in given:
                    made.append(Token("text", '"' + spelled(given[body[place + 1].text]) + '"', token.line, 0))
                    place += 2
                    continue
                made += given.get(word.text, (word,)) if word.kind == "name" else (word,)
                place += 1
            made = [replace(word, line=token.line) for word in made]
            done += self.expanded(made, but | {token.text}, deep + 1)
        return done

    def call(self, name: str, args: Sequence[Any], named: dict[str, Any] | None = None, line: int | None = None) -> Any:
        """Calls a host function of the source."""
        function = self.source.hosts.get(name)
        if function is None or function.body is None:
            raise self.wrong(f"`{name}` has no definition in this file", function.line if function else line)
        if self.depth > _MOST_CALLS:
            raise self.wrong(f"calls of `{name}` are nested too deep", function.line)
        given = dict(zip((parameter.name for parameter in function.parameters), args)) | (named or {})
        env: Env = dict(self.globals)
        if len(args) > len(function.parameters):
            takes = ", ".join(parameter.name for parameter in function.parameters)
            raise TypeError(f"{name}() takes {len(function.parameters)} arguments ({takes}), and {len(args)} are given")
        for parameter in function.parameters:
            if parameter.name in given:
                value = given[parameter.name]
            elif parameter.default:
                value = _Parser(self, self.expanded(parameter.default)).whole()(env)
            else:
                raise TypeError(f"{name}(): the argument `{parameter.name}` is missing")
            env[parameter.name] = self.converted(parameter.type, value, function.line)
        key = id(function)
        if key not in self.parsed:
            self.parsed[key] = _Parser(self, self.expanded(function.body)).block()
        self.depth += 1
        try:
            self.parsed[key](env)
        except _Return as returned:
            return returned.value
        finally:
            self.depth -= 1
        return None

    def converted(self, type: str, value: Any, line: int) -> Any:
        """A value as a variable of a type holds it."""
        type = type.replace("&", "").replace("std::", "").replace("const ", "").strip()
        if isinstance(value, bool) and type in INTEGERS:
            return int(value)
        if type == "bool" and isinstance(value, (int, Fraction)):
            return bool(value)
        if type in INTEGERS and isinstance(value, (int, Fraction, float)):
            whole = int(value)
            bits = INTEGERS[type]
            if abs(whole) >= 1 << (bits if type.startswith(("u", "size_t")) else bits - 1):
                self.events.note(f"line {line}: {whole} is more than {type} can hold")
            return whole
        if type in REALS and isinstance(value, (int, float)) and not (isinstance(value, float) and math.isinf(value)):
            return Fraction(value)
        if type == "dim3" and isinstance(value, int):
            return Dim3(value)
        return value


class _Parser(Calls):
    """From tokens to code that runs them."""

    def __init__(self, host: Host, found: Sequence[Token]):
        self.host, self.found, self.at = host, found, 0

    # Tokens.

    def peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.found[place].text if place < len(self.found) else ""

    def kind(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.found[place].kind if place < len(self.found) else ""

    @property
    def line(self) -> int | None:
        if not self.found:
            return None
        return self.found[min(self.at, len(self.found) - 1)].line

    def take(self) -> Token:
        if self.at >= len(self.found):
            raise self.wrong("the code ends too early")
        self.at += 1
        return self.found[self.at - 1]

    def takes(self, text: str) -> bool:
        if self.peek() == text and self.kind() != "text":
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.takes(text):
            raise self.wrong(f"expected `{text}` before `{self.peek()}`")

    def wrong(self, message: str, line: int | None = None) -> NotUnderstood:
        return self.host.wrong(message, self.line if line is None else line)

    def inside(self) -> _Parser:
        """What the bracket holds that comes next, which is passed."""
        end = closing(self.found, self.at)
        inner = _Parser(self.host, self.found[self.at + 1 : end])
        self.at = end + 1
        return inner

    # Statements.

    def block(self) -> Code:
        """All statements to the end."""
        codes = []
        while self.at < len(self.found):
            codes.append(self.statement())

        def run(env: Env) -> None:
            for code in codes:
                code(env)

        return run

    def statement(self) -> Code:
        line = self.line or 0
        host = self.host
        word = self.peek()
        if self.takes(";"):
            return lambda env: None
        if word == "{":
            return self.inside().block()
        if word == "if":
            self.at += 1
            self.takes("constexpr")
            test = self.inside().whole()
            then = self.statement()
            other = self.statement() if self.takes("else") else None

            def branch(env: Env) -> None:
                if truth(test(env)):
                    then(env)
                elif other is not None:
                    other(env)

            return branch
        if word in ("for", "while"):
            return self.loop()
        if word == "do":
            self.at += 1
            body = self.statement()
            self.expect("while")
            test = self.inside().whole()
            self.takes(";")
            return self.looping(lambda env: None, test, lambda env: None, body, line, first=True)
        if word == "return":
            self.at += 1
            value = None if self.peek() == ";" else self.expression()
            self.takes(";")

            def leave(env: Env) -> None:
                raise _Return(None if value is None else value(env))

            return leave
        if word in ("break", "continue"):
            self.at += 1
            self.takes(";")
            kind = _Leave if word == "break" else _Again

            def jump(env: Env) -> None:
                raise kind()

            return jump
        if word == "switch":
            return self.switch()
        if word in ("using", "typedef"):
            while self.peek() not in (";", ""):
                self.at += 1
            self.takes(";")
            return lambda env: None
        if word == "try":
            raise self.wrong("`try` in host code is not understood")
        declared = self.declaration()
        if declared is None:
            value = self.expression()
            if not self.takes(";") and self.at < len(self.found):
                raise self.wrong(f"`{self.peek()}` is not understood here")
            declared = value

        def run(env: Env) -> None:
            host.spend(line)
            declared(env)

        return run

    def loop(self) -> Code:
        line = self.line or 0
        is_for = self.take().text == "for"
        inner = self.inside()
        if not is_for:
            test = inner.whole()
            return self.looping(lambda env: None, test, lambda env: None, self.statement(), line)
        parts = split(inner.found, ";")
        if len(parts) < 2:
            return self.over_range(inner, line)
        parts = [*parts, ()][:3]
        ends = Token("sign", ";", line, 0)
        begin = _Parser(self.host, [*parts[0], ends]).statement()
        test = _Parser(self.host, parts[1]).whole() if parts[1] else lambda env: True
        after = _Parser(self.host, [*parts[2], ends]).statement()
        return self.looping(begin, test, after, self.statement(), line)

    def over_range(self, inner: _Parser, line: int) -> Code:
        parts = split(inner.found, ":")
        if len(parts) != 2 or not parts[0]:
            raise self.wrong("this loop is not understood", line)
        name, items, body = parts[0][-1].text, _Parser(self.host, parts[1]).whole(), self.statement()

        def run(env: Env) -> None:
            for item in list(items(env)):
                self.host.spend(line)
                env[name] = item
                try:
                    body(env)
                except _Again:
                    continue
                except _Leave:
                    break

        return run

    def looping(self, begin: Code, test: Code, after: Code, body: Code, line: int, first: bool = False) -> Code:
        def run(env: Env) -> None:
            begin(env)
            go = first
            while go or truth(test(env)):
                go = False
                self.host.spend(line)
                try:
                    body(env)
                except _Again:
                    pass
                except _Leave:
                    break
                after(env)

        return run

    def switch(self) -> Code:
        self.at += 1
        value = self.inside().whole()
        if self.peek() != "{":
            raise self.wrong("this `switch` is not understood")
        inner = self.inside()
        labels: list[tuple[Code | None, int]] = []
        codes: list[Code] = []
        while inner.at < len(inner.found):
            if inner.takes("case"):
                labels.append((inner.expression(), len(codes)))
                inner.expect(":")
            elif inner.takes("default"):
                labels.append((None, len(codes)))
                inner.expect(":")
            else:
                codes.append(inner.statement())

        def run(env: Env) -> None:
            chosen = value(env)
            start = next((at for label, at in labels if label is not None and label(env) == chosen), None)
            if start is None:
                start = next((at for label, at in labels if label is None), len(codes))
            try:
                for code in codes[start:]:
                    code(env)
            except _Leave:
                pass

        return run

    def type_name(self) -> str | None:
        """A type, if one comes next that a name follows."""
        start, words = self.at, []
        qualifiers = ("const", "static", "constexpr", "volatile", "inline", "auto", "typename")
        basic = ("unsigned", "signed", "long", "short", "int", "char", "float", "double", "bool")
        while self.peek() in qualifiers and self.kind() == "name":
            words.append(self.take().text)
        if self.peek() in basic:
            while self.peek() in basic:
                words.append(self.take().text)
        elif "auto" not in words:
            if self.kind() != "name" or self.peek() in ("return", "new", "delete", "sizeof", "throw"):
                self.at = start
                return None
            while True:
                words.append(self.take().text)
                if self.peek() == "<":
                    end = angle_closing(self.found, self.at)
                    if end is None:
                        self.at = start
                        return None
                    words += [token.text for token in self.found[self.at : end + 1]]
                    self.at = end + 1
                if self.peek() == "::" and self.kind(1) == "name":
                    words.append(self.take().text)
                    continue
                break
        while self.peek() in ("*", "&", "const", "__restrict__", "&&"):
            words.append(self.take().text)
        is_name = self.kind() == "name" and self.peek(1) in ("=", "(", "{", ";", ",", "[", ":", "")
        if not is_name and not (words and "auto" in words and self.peek() == "["):
            self.at = start
            return None
        from ._cuda import _joined

        return _joined([word for word in words if word not in ("const", "static", "constexpr", "inline", "volatile")])

    def declaration(self) -> Code | None:
        start = self.at
        type = self.type_name()
        if type is None:
            return None
        if self.peek() == "[":
            return self.binding()
        made: list[Code] = []
        while True:
            while self.takes("*"):
                pass
            line = self.line or 0
            name = self.take().text
            is_array = False
            while self.peek() == "[":
                self.inside()
                is_array = True
            if self.takes("="):
                value = self.braced() if self.peek() == "{" else self.expression()
                made.append(self.stored(type, name, value, line, is_array))
            elif self.peek() in ("(", "{"):
                if self.peek() == "(" and self.peek(1) == ")" or type == "auto":
                    self.at = start
                    return None
                values = [_Parser(self.host, part).argument() for part in split(self.inside().found)]
                made.append(self.constructed(type, name, values, line))
            else:
                made.append(self.constructed(type, name, [], line))
            if not self.takes(","):
                break
        if not self.takes(";") and self.at < len(self.found):
            raise self.wrong(f"`{self.peek()}` is not understood here")

        def run(env: Env) -> None:
            for code in made:
                code(env)

        return run

    def binding(self) -> Code:
        names = [part[0].text for part in split(self.inside().found) if part]
        self.expect("=")
        value = self.expression()
        self.takes(";")

        def run(env: Env) -> None:
            env.update(zip(names, value(env)))

        return run

    def stored(self, type: str, name: str, value: Code, line: int, is_array: bool) -> Code:
        host = self.host

        def run(env: Env) -> None:
            found = value(env)
            own = type.rstrip("*&")
            if isinstance(found, list) and not is_array and type == "dim3":
                found = Dim3(*found)
            env[name] = found if is_array else host.converted(own if not type.endswith("*") else type, found, line)

        return run

    def constructed(self, type: str, name: str, values: list[Code], line: int) -> Code:
        def run(env: Env) -> None:
            env[name] = self.made(type, [value(env) for value in values], line)

        return run


    # Expressions.

    def whole(self) -> Code:
        """The expression that is all of it."""
        code = self.expression()
        if self.at < len(self.found):
            raise self.wrong(f"`{self.peek()}` is not understood here")
        return code

    def argument(self) -> Code:
        return self.braced() if self.peek() == "{" else self.whole()

    def braced(self) -> Code:
        items = [_Parser(self.host, part).argument() for part in split(self.inside().found)]
        return lambda env: [item(env) for item in items]

    def expression(self) -> Code:
        start = self.at
        target = self.ternary()
        sign = self.peek()
        if sign in ("=", "+=", "-=", "*=", "/=", "%=") and self.kind() == "sign":
            self.at += 1
            value = self.braced() if self.peek() == "{" else self.expression()
            name, line = self.found[start].text, self.found[start].line
            rest = self.found[start + 1 : self.at]
            if rest and rest[0].text == "[":
                index = _Parser(self.host, rest[1 : closing(rest, 0)]).whole()

                def put(env: Env) -> Any:
                    env[name][index(env)] = binary_of(self, sign[:-1], env[name][index(env)], value(env), line) if sign != "=" else value(env)

                return put
            if rest and rest[0].text == "." and rest[1].text in "xyz":
                field = rest[1].text

                def part(env: Env) -> Any:
                    env[name] = replace(env[name], **{field: value(env)})

                return part
            if not rest or rest[0].text != sign or self.found[start].kind != "name":
                raise self.wrong("this assignment is not understood", line)

            def assign(env: Env) -> Any:
                found = value(env)
                if sign != "=":
                    found = binary_of(self, sign[:-1], env.get(name), found, line)
                if isinstance(env.get(name), int) and isinstance(found, Fraction):
                    found = int(found)
                env[name] = found
                return found

            return assign
        return target

    def ternary(self) -> Code:
        test = self.binary(0)
        if not self.takes("?"):
            return test
        one = self.expression()
        self.expect(":")
        other = self.expression()
        return lambda env: one(env) if truth(test(env)) else other(env)

    _LEVELS = ({"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"})

    def sign(self) -> str:
        if self.kind() != "sign":
            return ""
        if self.peek() == ">" and self.peek(1) == ">" and self.found[self.at + 1].at == self.found[self.at].at + 1:
            return ">>"
        return self.peek()

    def binary(self, level: int) -> Code:
        if level == len(self._LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.sign() in self._LEVELS[level]:
            sign, line = self.sign(), self.line or 0
            self.at += 2 if sign == ">>" else 1
            left = self.joined(sign, left, self.binary(level + 1), line)
        return left

    def joined(self, sign: str, left: Code, right: Code, line: int) -> Code:
        if sign == "&&":
            return lambda env: truth(left(env)) and truth(right(env))
        if sign == "||":
            return lambda env: truth(left(env)) or truth(right(env))
        return lambda env: binary_of(self, sign, left(env), right(env), line)

    def unary(self) -> Code:
        line = self.line or 0
        if self.takes("-"):
            value = self.unary()
            return lambda env: -value(env)
        if self.takes("+"):
            return self.unary()
        if self.takes("!"):
            value = self.unary()
            return lambda env: not truth(value(env))
        if self.takes("&"):
            return self.unary()
        if self.peek() == "*" and self.kind() == "sign":
            raise self.wrong("what a pointer points to is not known on the host")
        if self.takes("~"):
            value = self.unary()
            return lambda env: ~value(env)
        if self.peek() in ("++", "--"):
            step = 1 if self.take().text == "++" else -1
            return self.stepped(self.take().text, step, False)
        if self.peek() == "(":
            cast = self.cast()
            if cast is not None:
                value = self.unary()
                return lambda env: self.cast_to(cast, value(env), line, env)
        return self.postfix()

    def stepped(self, name: str, step: int, after: bool) -> Code:
        def run(env: Env) -> Any:
            before = env[name]
            env[name] = before + step
            return before if after else env[name]

        return run

    def cast(self) -> str | None:
        """The type of a cast in parentheses, if one comes next."""
        end = closing(self.found, self.at)
        inner = [token.text for token in self.found[self.at + 1 : end] if token.text not in ("const", "unsigned", "__restrict__")]
        if not inner or any(not (word[0].isalpha() or word in "*&_" or word == "::" or word[0] == "_") for word in inner):
            return None
        type = spelled(self.found[self.at + 1 : end]).replace("const ", "")
        is_type = type in INTEGERS or type in REALS or type in SIZES or inner[-1] == "*" or type in ("scalar_t",)
        if not is_type:
            return None
        self.at = end + 1
        return type

    def postfix(self) -> Code:
        value = self.primary()
        while True:
            line = self.line or 0
            if self.takes(".") or self.takes("->"):
                self.takes("template")
                value = self.member(value, self.take().text, line)
            elif self.peek() == "[" and self.kind() == "sign":
                index = self.inside().whole()
                value = self.indexed(value, index, line)
            elif self.peek() == "(" and self.kind() == "sign":
                raise self.wrong("a call of a value is not understood")
            else:
                return value

    def indexed(self, value: Code, index: Code, line: int) -> Code:
        def run(env: Env) -> Any:
            found, at = value(env), index(env)
            if isinstance(found, Pointer):
                return replace(found, bytes=found.bytes + at * self.size_of(found.type, line))
            if isinstance(found, (list, tuple)):
                return found[at]
            if hasattr(found, "shape"):
                return found[at]
            raise self.wrong("what is indexed here is not understood", line)

        return run

    def calls(self) -> list[Code]:
        return [_Parser(self.host, part).argument() for part in split(self.inside().found)]

    def member(self, value: Code, name: str, line: int) -> Code:
        template = self.template_words()
        args = self.calls() if self.peek() == "(" else None

        def run(env: Env) -> Any:
            given = None if args is None else [arg(env) for arg in args]
            return self.method(value(env), name, template, given, line, env)

        return run

    def template_words(self) -> tuple[Token, ...] | None:
        """Template arguments, if they come next, and a call follows."""
        if self.peek() != "<":
            return None
        end = angle_closing(self.found, self.at)
        if end is None or end + 1 >= len(self.found) or self.found[end + 1].text not in ("(", "<<<", "{"):
            return None
        words = tuple(self.found[self.at + 1 : end])
        self.at = end + 1
        return words

    def primary(self) -> Code:
        line = self.line or 0
        kind, text = self.kind(), self.peek()
        if kind == "number":
            self.at += 1
            value = number(text)
            return lambda env: value
        if kind == "text":
            parts = []
            while self.kind() == "text":
                parts.append(self.take().text[1:-1])
            joined = "".join(parts)
            return lambda env: joined
        if text == "(":
            inner = self.inside()
            return inner.whole()
        if text == "{":
            return self.braced()
        if text == "[":
            raise self.wrong("lambdas in host code are not understood, except in AT_DISPATCH_…")
        if kind != "name":
            raise self.wrong(f"`{text}` is not understood here" if text else "the code ends too early")
        return self.named(line)

    def named(self, line: int) -> Code:
        start = self.at
        self.takes("::")
        words = [self.take().text]
        template = self.template_words()
        while self.peek() == "::" and self.kind(1) == "name":
            self.at += 1
            words.append(self.take().text)
            template = self.template_words() or template
        name, last = "::".join(words), words[-1]
        if self.peek() == "<<<":
            return self.launch(last, template, line)
        if last.startswith("AT_DISPATCH"):
            return self.dispatch(last, line)
        if last in ("static_cast", "reinterpret_cast", "const_cast") and template is not None:
            type = spelled(template)
            value = self.inside().whole()
            return lambda env: self.cast_to(type, value(env), line, env)
        if last == "sizeof" and self.peek() == "(":
            type = spelled(self.inside().found)
            return lambda env: self.size_of(self.type_of(type, env), line)
        if self.peek() in ("++", "--") and len(words) == 1:
            step = 1 if self.take().text == "++" else -1
            return self.stepped(last, step, True)
        if self.peek() == "(" and self.kind() == "sign":
            return self.called(name, last, template, line)
        if self.peek() == "{" and last in ("dim3", "vector", "IntArrayRef"):
            values = self.calls()
            return lambda env: self.made(last, [value(env) for value in values], line)
        if last in ("true", "false"):
            return lambda env: last == "true"
        if last in ("nullptr", "NULL"):
            return lambda env: 0
        del start

        def variable(env: Env) -> Any:
            if len(words) == 1 or last in env:
                if last in env:
                    return env[last]
            if last in DTYPES:
                return self.dtype(last, line)
            if last in ("nullopt", "kCUDA", "kStrided") or words[0] in ("at", "c10", "torch", "cudaSuccess"):
                return None if last == "nullopt" else Opaque(name)
            if last == "INFINITY":
                return math.inf
            if last.startswith("cuda"):
                return Opaque(name)
            if last in self.host.source.kernels:
                return Opaque(name)
            raise self.wrong(f"`{name}` is not known", line)

        return variable

    def launch(self, name: str, template: tuple[Token, ...] | None, line: int) -> Code:
        self.at += 1
        end = self.at
        while end < len(self.found) and self.found[end].text != ">>>":
            end = closing(self.found, end) + 1 if self.found[end].text in "([{" else end + 1
        config = [_Parser(self.host, part).argument() for part in split(self.found[self.at : end])]
        self.at = end + 1
        if self.peek() != "(" or not 2 <= len(config) <= 4:
            raise self.wrong(f"the launch of `{name}` is not understood", line)
        args = self.calls()
        parts = split(template) if template is not None else None
        kernel = self.host.source.kernels.get(name)
        if kernel is None:
            raise self.wrong(f"`{name}`, which is launched here, is no kernel of this file", line)

        def run(env: Env) -> None:
            sizes = [value(env) for value in config]
            if len(sizes) == 4 and sizes[3] != 0 and "CurrentCUDAStream" not in getattr(sizes[3], "what", ""):
                raise self.wrong(f"the stream of `{name}` is not the current one: other streams are not understood", line)
            grid, block = (self.extent(value, line) for value in sizes[:2])
            shared = sizes[2] if len(sizes) > 2 else 0
            if not isinstance(shared, int):
                raise self.wrong(f"the shared memory of `{name}` is not understood", line)
            made = None if parts is None else tuple(self.template_value(part, env) for part in parts)
            values = tuple(arg(env) for arg in args)
            self.host.events.launch(Launched(kernel, made, grid, block, shared, values, line))

        return run

    def template_value(self, part: Sequence[Token], env: Env) -> Any:
        text = spelled(part)
        known = env.get("type " + text)
        if known is not None:
            return known
        try:
            value = _Parser(self.host, part).whole()(env)
        except NotUnderstood:
            return text
        return value if isinstance(value, (int, bool)) else text

    def extent(self, value: Any, line: int) -> Dim3:
        if isinstance(value, Dim3):
            return value
        if isinstance(value, (int, Fraction)):
            return Dim3(int(value))
        if isinstance(value, list):
            return Dim3(*value)
        raise self.wrong("this extent of a launch is not understood", line)

    def dispatch(self, macro: str, line: int) -> Code:
        parts = split(self.inside().found)
        inner = list(parts[-1]) if parts else []
        while inner and inner[0].text == "(" and closing(inner, 0) == len(inner) - 1:
            inner = inner[1:-1]
        body = next((at for at, token in enumerate(inner) if token.text == "{"), None)
        if len(parts) < 3 or body is None or inner[0].text != "[":
            raise self.wrong(f"this {macro} is not understood", line)
        # Additional types come first: AT_DISPATCH_FLOATING_TYPES_AND(at::kHalf, type, name, lambda).
        of = _Parser(self.host, parts[-3]).whole()
        code = _Parser(self.host, inner[body + 1 : closing(inner, body)]).block()

        def run(env: Env) -> Any:
            dtype = str(of(env)).removeprefix("torch.")
            if dtype not in OF_DTYPE:
                raise self.wrong(f"the type of this {macro} is not understood", line)
            is_plain = dtype in ("float32", "float64") or "ALL" in macro
            if not is_plain and "HALF" not in macro and "AND" not in macro:
                raise Refused(f"{macro} is not for {dtype}")
            env["type scalar_t"] = OF_DTYPE[dtype]
            try:
                code(env)
            except _Return as returned:
                return returned.value

        return run

    def called(self, name: str, last: str, template: Any, line: int) -> Code:
        host = self.host
        if last in ("TORCH_CHECK", "TORCH_INTERNAL_ASSERT", "AT_ASSERTM", "AT_ASSERT", "assert"):
            parts = split(self.inside().found)
            test = _Parser(host, parts[0]).whole()
            said = " ".join(token.text.strip('"') for part in parts[1:] for token in part if token.kind == "text")
            text = spelled(parts[0])

            def check(env: Env) -> None:
                if not truth(test(env)):
                    host.events.refused(f"{said or text} (line {line} of {host.source.file})")
                    raise Refused(said or text)

            return check
        if last == "lambda" or last in ("CUDA_CHECK", "C10_CUDA_CHECK", "C10_CUDA_KERNEL_LAUNCH_CHECK", "AT_CUDA_CHECK", "gpuErrchk"):
            inner = self.inside()
            return inner.whole() if inner.found else lambda env: None
        if last in ("printf", "fprintf", "cudaDeviceSynchronize", "cudaGetLastError", "cudaPeekAtLastError", "device_of",
                    "cudaFuncSetAttribute", "cudaStreamSynchronize", "cudaSetDevice", "cudaGetErrorString", "cudaFree"):  # fmt: skip
            self.inside()
            return lambda env: 0 if last.startswith("cuda") else Opaque(last)
        args = self.calls()

        def run(env: Env) -> Any:
            return self.function(name, last, [arg(env) for arg in args], line, env)

        return run


