"""Sizes at which a candidate is judged: small ones, at which its blocks, guards and tails still occur."""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# A handle that is no larger stays as it is: kernel sizes, strides, numbers of groups.
_SMALL = 8
# How much a size may cost, in elements that are read or written and in products.
COST = 60_000


@dataclass(frozen=True)
class Handle:
    """An integer of the module's file that decides a size."""

    name: str
    value: int
    place: tuple[int, int]
    """Line and column of its value."""


def handles(tree: ast.Module) -> list[Handle]:
    """The integers that a file assigns to names at its top, also in tuples; else those in its `get_inputs`."""
    found: list[Handle] = []
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, value = statement.target, statement.value
        else:
            continue
        if isinstance(target, ast.Name):
            if isinstance(value, (ast.Tuple, ast.List)):
                for at, item in enumerate(value.elts):
                    found += _handle(f"{target.id}[{at}]", item)
            else:
                found += _handle(target.id, value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for name, item in zip(target.elts, value.elts):
                if isinstance(name, ast.Name):
                    found += _handle(name.id, item)
    if not any(handle.value > _SMALL for handle in found):
        for statement in tree.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == "get_inputs":
                for node in ast.walk(statement):
                    if isinstance(node, ast.Constant) and type(node.value) is int and node.value > _SMALL:
                        name = f"get_inputs, line {node.lineno}, column {node.col_offset + 1}"
                        found.append(Handle(name, node.value, (node.lineno, node.col_offset)))
    return found


def _handle(name: str, value: ast.expr) -> list[Handle]:
    number = _constant(value)
    return [] if number is None or number < 0 else [Handle(name, number, (value.lineno, value.col_offset))]


def _constant(value: ast.expr) -> int | None:
    if isinstance(value, ast.Constant):
        return value.value if type(value.value) is int else None
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Mult, ast.Add, ast.Sub, ast.Pow, ast.FloorDiv, ast.LShift)):
        left, right = _constant(value.left), _constant(value.right)
        if left is None or right is None or isinstance(value.op, (ast.Pow, ast.LShift)) and right > 64 or right == 0:
            return None
        operations: dict[type, Callable[[int, int], int]] = {
            ast.Mult: int.__mul__, ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Pow: int.__pow__,
            ast.FloorDiv: int.__floordiv__, ast.LShift: int.__lshift__,
        }  # fmt: skip
        return operations[type(value.op)](left, right)
    return None


def resized(tree: ast.Module, handles: Sequence[Handle], sizes: Mapping[str, int]) -> ast.Module:
    """The file with other values."""
    wanted = {handle.place: sizes[handle.name] for handle in handles if handle.name in sizes}

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            place = (getattr(node, "lineno", None), getattr(node, "col_offset", None))
            if place in wanted and isinstance(node, ast.expr) and _constant(node) is not None:
                return ast.copy_location(ast.Constant(wanted[place]), node)
            return super().visit(node)

    return ast.fix_missing_locations(Replace().visit(copy.deepcopy(tree)))


@dataclass(frozen=True)
class Seen:
    """What a trial at some sizes shows."""

    grids: tuple[tuple[str, tuple[int, int, int]], ...]
    cost: int


def choose(
    handles: Sequence[Handle],
    pinned: Sequence[str],
    tiles: Sequence[int],
    trial: Callable[[dict[str, int]], Seen | None],
    cost: int = COST,
) -> list[tuple[str, dict[str, int]]]:
    """Sizes with what they are for: `own`, at which what divides the module's own sizes still divides them, `tail` and
    `small`. `trial` runs the candidate, and is `None` where the module or the candidate refuses the sizes."""
    free = [handle for handle in handles if handle.value > _SMALL and handle.name not in pinned]
    base = {handle.name: handle.value for handle in handles}
    at_home = trial(base)
    tiles = sorted({tile for tile in tiles if 2 <= tile <= 1024})
    chosen: list[tuple[str, dict[str, int]]] = []
    ladders = {"own": _own, "tail": _tail, "small": _small}
    for kind, ladder in ladders.items():
        rungs = {handle.name: ladder(handle, tiles, at) for at, handle in enumerate(free)}
        # Sizes that are the same number in the file may have to be the same.
        groups = [[handle.name] for handle in free]
        if kind == "own":
            groups = [[handle.name for handle in free if handle.value == value] for value in dict.fromkeys(handle.value for handle in free)]
        found = _descend(groups, rungs, base, trial, at_home, cost, keep=kind != "small")
        if found is not None and found not in [sizes for _, sizes in chosen]:
            chosen.append((kind, found))
    return chosen or [("own", base)]


def _own(handle: Handle, tiles: Sequence[int], at: int) -> list[int]:
    """Sizes that leave the same rest as the value, divided by the tiles; by fewer of them towards the end."""
    value = handle.value
    found = {value} if value <= 64 else set()
    left = [2, 4, *tiles]
    while left:
        unit = math.lcm(*left)
        if unit <= 1024:
            found |= {unit * count + value % unit for count in (0, 1, 2, 3)}
        left.pop()
    return sorted({size for size in found if 1 < size <= value} or {value}, reverse=True)


def _tail(handle: Handle, tiles: Sequence[int], at: int) -> list[int]:
    by = 1 + 2 * (at % 3)
    found = {tile + by for tile in tiles} | {2 * tile + by for tile in tiles if tile <= 64}
    found |= {2 + by, 4 + by, 8 + by, 16 + by, 32 + by}
    return sorted({size for size in found if size <= handle.value} or {handle.value}, reverse=True)


def _small(handle: Handle, tiles: Sequence[int], at: int) -> list[int]:
    found = {tile - 1 - (at % 2) for tile in tiles if tile > 4} | {2 + at % 2, 1}
    return sorted({size for size in found if 0 < size <= handle.value} or {handle.value}, reverse=True)


def _wide(seen: Seen | None) -> set[tuple[str, int]]:
    """The dimensions of grids that have several blocks."""
    if seen is None:
        return set()
    return {(kernel, at) for kernel, grid in seen.grids for at in range(3) if grid[at] > 1}


def _descend(
    groups: Sequence[Sequence[str]],
    rungs: Mapping[str, list[int]],
    base: Mapping[str, int],
    trial: Callable[[dict[str, int]], Seen | None],
    at_home: Seen | None,
    limit: int,
    keep: bool,
) -> dict[str, int] | None:
    """Lowers sizes until they are cheap, as long as all grids keep several blocks, and then without that."""
    places = {name: 0 for group in groups for name in group}
    wide = _wide(at_home) if keep else set()

    def sizes() -> dict[str, int]:
        return {**base, **{name: rungs[name][place] for name, place in places.items()}}

    best: dict[str, int] | None = None
    for strict in (True, False):
        for _ in range(200):
            seen = trial(sizes())
            if seen is not None:
                best = sizes()
                if seen.cost <= limit:
                    return best
            moved = False
            for group in groups:
                if places[group[0]] + 1 >= len(rungs[group[0]]):
                    continue
                for name in group:
                    places[name] += 1
                after = trial(sizes())
                is_good = after is not None and (not strict or wide <= _wide(after))
                is_less = after is not None and (seen is None or after.cost < seen.cost)
                if is_good and is_less or seen is None and not strict:
                    moved = True
                    break
                for name in group:
                    places[name] -= 1
            if not moved:
                break
    return best
