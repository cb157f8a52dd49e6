"""Making a program that shows a difference as small as it gets, while it still shows the same kind of difference."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from conformance.oracle.program import Literal, Program, literal

#: Runs programs on both engines and says for each whether it still shows what is looked for.
Shows = Callable[[Sequence[Program]], list[bool]]

class OutOfTime(Exception):
    """The engines did not answer within what a session allows for this."""


#: Candidates that are tried at once.
TOGETHER = 24


#: Candidates that are tried for one difference.
TRIES = 5000


@lru_cache(maxsize=16384)
def size(program: Program) -> tuple[int, int, int]:
    """What gets smaller: statements, elements and oddities of arrays, text."""
    odd = 0
    for line in program.lines:
        found = literal(line)
        if found is not None:
            odd += 4 * len(found[1].values) + 2 * len(found[1].shape) + (found[1].dtype != "float32")
            odd += sum(3 - (value == 1) - (value in (0, 1, 2)) - (value == int(value) if abs(value) < 1e300 else 0)
                       for value in found[1].values)
    return len(program.lines) + program.np_shape, odd, len(program.text)


def shrink(
    program: Program, step: int, shows: Shows, seconds: float = 15.0, together: int = TOGETHER, tries: int = TRIES
) -> tuple[Program, bool]:
    """The smallest program found, and whether nothing smaller was left to try.

    step: the statement of the difference;  seconds, tries: after so long, so many programs, or OutOfTime from *shows*,
    the best one so far is taken;  together: how many are tried at once.
    """
    best = [program]
    try:
        whole = _shrunk(best, step, shows, time.monotonic() + seconds, together, tries)
    except OutOfTime:
        whole = False
    return best[-1], whole


def _shrunk(found: list[Program], step: int, shows: Shows, deadline: float, together: int, left: int) -> bool:
    """Append ever smaller programs to *found*; True if nothing smaller is left."""
    cut = found[0].with_lines(found[0].lines[: step + 1])
    if cut.lines == found[0].lines or shows([cut])[0]:
        found.append(cut)
    while True:
        best = found[-1]
        candidates = sorted({c for c in smaller(best) if size(c) < size(best)}, key=size)
        for start in range(0, len(candidates), together):
            if left <= 0 or time.monotonic() > deadline:
                return False
            some = candidates[start:start + min(together, left)]
            left -= len(some)
            better = [candidate for candidate, yes in zip(some, shows(some)) if yes]
            if better:
                found.append(better[0])
                break
        else:
            return True


def smaller(program: Program) -> Iterator[Program]:
    """Programs with one thing taken away or made plainer."""
    lines = program.lines
    if program.np_shape:
        yield Program(lines, False, program.random, program.origin)
    for index in range(len(lines)):
        yield program.with_lines(lines[:index] + lines[index + 1:])
    for changed in _arrays(lines):
        yield program.with_lines(changed)
    for index, line in enumerate(lines):
        for text in _statement(line):
            if text != line:
                yield program.with_lines((*lines[:index], text, *lines[index + 1:]))


# ---- arrays ----------------------------------------------------------------------------------------------------------

def _arrays(lines: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    found = {index: made for index, line in enumerate(lines) if (made := literal(line)) is not None}
    for length in sorted({n for _, array in found.values() for n in array.shape if n > 1}, reverse=True):
        for new in {1, 2, length - 1} - {length}:
            yield _with(lines, {index: (name, resized) for index, (name, array) in found.items()
                                for resized in [_resized(array, length, new)] if resized != array})
    for dtype in ("float32", "int32"):
        yield _with(lines, {index: (name, _retyped(array, dtype)) for index, (name, array) in found.items()
                            if array.dtype != dtype})
    for index, (name, array) in found.items():
        for plainer in _plainer(array):
            yield _with(lines, {index: (name, plainer)})


def _with(lines: tuple[str, ...], changes: dict[int, tuple[str, Literal]]) -> tuple[str, ...]:
    return tuple(f"{changes[i][0]} = {changes[i][1].text}" if i in changes else line for i, line in enumerate(lines))


def _resized(array: Literal, length: int, new: int) -> Literal:
    for axis in reversed(range(len(array.shape))):
        if array.shape[axis] == length:
            array = _cut(array, axis, new)
    return array


def _cut(array: Literal, axis: int, new: int) -> Literal:
    """The first *new* entries along an axis."""
    if not array.values:
        return Literal((*array.shape[:axis], new, *array.shape[axis + 1:]), array.dtype, ())
    inner = 1
    for n in array.shape[axis + 1:]:
        inner *= n
    block = array.shape[axis] * inner
    starts = range(0, len(array.values), block)
    values = [value for start in starts for value in array.values[start:start + new * inner]]
    return Literal((*array.shape[:axis], new, *array.shape[axis + 1:]), array.dtype, tuple(values))


def _retyped(array: Literal, dtype: str) -> Literal:
    if dtype == "int32" and any(value != value or abs(value) > 1e9 or value != int(value) for value in array.values):
        return array
    kind = int if dtype == "int32" else float
    return Literal(array.shape, dtype, tuple(kind(value) for value in array.values))


def _plainer(array: Literal) -> Iterator[Literal]:
    kind = bool if array.dtype == "bool" else int if "int" in array.dtype else float

    def with_values(values: Sequence[float]) -> Literal:
        return Literal(array.shape, array.dtype, tuple(kind(value) for value in values))

    for axis, length in enumerate(array.shape):
        if length > 1:
            yield _cut(array, axis, length - 1)
            yield _cut(array, axis, 1)
        elif len(array.shape) > 1:
            yield Literal((*array.shape[:axis], *array.shape[axis + 1:]), array.dtype, array.values)
    if not array.values:
        return
    yield with_values([1] * len(array.values))
    yield with_values([0] * len(array.values))
    if len(array.values) > 40:  # until its shape is smaller, single elements are not worth a try each
        return
    for index, value in enumerate(array.values):
        rounded = (1, 0, 2, round(value)) if value == value and abs(value) < 1e9 else (1, 0)
        for new in rounded:
            if new != value:
                yield with_values([*array.values[:index], new, *array.values[index + 1:]])


# ---- statements ------------------------------------------------------------------------------------------------------

def _statement(line: str) -> Iterator[str]:
    """The statement with one part of it dropped or made plainer."""
    if literal(line) is not None:
        return
    if line.startswith("with mx.autograd.record(): "):
        yield line.partition(": ")[2]
    if "backward(" in line:
        yield _head_dropped(line)
    tree = ast.parse(line)
    count = sum(1 for _ in ast.walk(tree))
    for index in range(count):
        for which in range(6):
            fresh = ast.parse(line)
            node = next(n for i, n in enumerate(ast.walk(fresh)) if i == index)
            edited = _edited(fresh, node, which)
            if edited is None:
                break
            if edited:
                try:
                    text = " ".join(ast.unparse(ast.fix_missing_locations(fresh)).split("\n    "))
                    ast.parse(text)
                except (SyntaxError, ValueError):
                    continue
                yield text


def _head_dropped(line: str) -> str:
    name, _, _ = line.partition(".backward(")
    if name.isidentifier():
        return f"{name}.backward()"
    found = line.removeprefix("mx.autograd.backward(").partition(",")[0].rstrip(")")
    return f"{found}.backward()" if found.isidentifier() else line


def _edited(tree: ast.Module, node: ast.AST, which: int) -> bool | None:
    """Change the node in place, in the *which*-th way; False if that way does not apply here, None if none is left."""
    if isinstance(node, ast.Call):
        if which < len(node.keywords):
            del node.keywords[which]
            return True
        place = which - len(node.keywords)
        if place < len(node.args) - 1:
            del node.args[place + 1]
            return True
        if isinstance(node.func, ast.Attribute) and place == max(len(node.args) - 1, 0):
            return _replace(tree, node, node.args[0] if node.args else node.func.value)
        return None
    if isinstance(node, ast.BinOp):
        return _replace(tree, node, (node.left, node.right)[which]) if which < 2 else None
    if isinstance(node, ast.Tuple | ast.List):
        if which < len(node.elts):
            del node.elts[which]
            return True
        return None
    if isinstance(node, ast.Constant):
        return _constant(node, which)
    if isinstance(node, ast.Slice):
        parts = ("lower", "upper", "step")
        if which < 3:
            if getattr(node, parts[which]) is None:
                return False
            setattr(node, parts[which], None)
            return True
        return None
    if isinstance(node, ast.IfExp):
        return _replace(tree, node, node.body) if which == 0 else None
    if isinstance(node, ast.UnaryOp):
        return _replace(tree, node, node.operand) if which == 0 else None
    return None


def _constant(node: ast.Constant, which: int) -> bool | None:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    options = [1, 0, 2, int(value) if abs(value) < 1e9 else 1]
    if which >= len(options):
        return None
    if options[which] == value and type(value) is int:
        return False
    node.value = options[which]
    return True


def _replace(tree: ast.Module, old: ast.AST, new: ast.expr) -> bool:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old and isinstance(old, ast.expr):
                setattr(parent, name, new)
                return True
            if isinstance(value, list) and old in value:
                value[value.index(old)] = new
                return True
    return False
