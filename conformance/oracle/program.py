"""Programs: a few statements, as text, that any engine of the model can run; and what their text tells about them."""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

#: Names of Python's operators on arrays, as they appear in the names of what a statement calls.
_SYMBOLS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.FloorDiv: "//", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "~", ast.Not: "not", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^",
}

_QUOTED = re.compile(r"'(-?\d+(?:\.\d+)?|True|False|None)'")


@dataclass(frozen=True)
class Program:
    """Statements, each on one line.

    np_shape: run with numpy shape semantics, under which arrays without elements and without dimensions exist;
    random: results are drawn, so only their shapes and dtypes can be compared;  origin: what made it.
    """

    lines: tuple[str, ...]
    np_shape: bool = False
    random: bool = False
    origin: str = ""

    def message(self, number: int) -> dict[str, Any]:
        """What is sent to an engine."""
        return {"id": number, "code": list(self.lines), "np_shape": self.np_shape,
                "seed": 1 if self.random else None}

    def with_lines(self, lines: Iterable[str]) -> Program:
        """The same program with other statements."""
        return replace(self, lines=tuple(lines))

    @cached_property
    def text(self) -> str:
        """The statements as one text."""
        return "\n".join(self.lines)

    @cached_property
    def unquoted(self) -> str:
        """The text with constants for the words of constants, which parameters take as well.

        >>> Program(("y = mx.nd.cumsum(a, axis='-2')",)).unquoted
        'y = mx.nd.cumsum(a, axis=-2)'
        """
        return _QUOTED.sub(r"\1", self.text)


def parsed(line: str) -> ast.stmt:
    """The syntax tree of one statement."""
    (statement,) = ast.parse(line).body
    return statement


def inner(statement: ast.stmt) -> ast.stmt:
    """The statement in a ``with`` line, or the statement itself."""
    return inner(statement.body[0]) if isinstance(statement, ast.With) else statement


def dotted(node: ast.expr) -> str | None:
    """``mx.nd.sum`` of such an expression, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _called(node: ast.AST) -> Iterator[str]:
    """The names of all operations in an expression, outermost first."""
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        if name is not None and name.startswith("mx."):
            yield name[3:]
        elif name in ("abs", "len", "bool", "int", "float", "round"):
            yield f"NDArray.__{name}__"
        elif isinstance(node.func, ast.Attribute) and not (name or "").startswith("np."):
            yield f"NDArray.{node.func.attr}"
    elif isinstance(node, ast.BinOp | ast.UnaryOp) and not isinstance(getattr(node, "operand", None), ast.Constant):
        yield f"NDArray {_SYMBOLS.get(type(node.op), '?')}"
    elif isinstance(node, ast.Compare):
        yield f"NDArray {_SYMBOLS.get(type(node.ops[0]), 'in')}"
    elif isinstance(node, ast.Subscript):
        yield "NDArray[]"
    elif isinstance(node, ast.Attribute) and not (dotted(node) or "").startswith(("mx.", "np.")):
        yield f"NDArray.{node.attr}"
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.Call) and child is node.func:
            child = node.func.value if isinstance(node.func, ast.Attribute) else child
        yield from _called(child)


@lru_cache(maxsize=16384)
def operations(line: str) -> list[str]:
    """What a statement calls, outermost first.

    >>> operations("y = mx.nd.sum(a, axis=1)")
    ['nd.sum']
    >>> operations("with mx.autograd.record(): y = a[1:] * 2")
    ['NDArray *', 'NDArray[]']
    >>> operations("a[0] = 1"), operations("a += b"), operations("y.backward()")
    (['NDArray[]='], ['NDArray +='], ['NDArray.backward'])
    >>> operations("y = abs(a)")
    ['NDArray.__abs__']
    """
    statement = inner(parsed(line))
    if isinstance(statement, ast.Assign):
        first = ["NDArray[]="] if isinstance(statement.targets[0], ast.Subscript) else []
        return first + list(_called(statement.value))
    if isinstance(statement, ast.AugAssign):
        return [f"NDArray {_SYMBOLS.get(type(statement.op), '?')}="]
    return [name for part in ast.iter_child_nodes(statement) for name in _called(part)]


_MAKERS = ("nd.array", "nd.zeros")
#: What passes its array on as it is: a difference is about what made that.
_PASSING = ("nd.BlockGrad", "nd.stop_gradient")


def subject(program: Program, index: int) -> list[str]:
    """The operations that a difference at a statement is about: its own, or all recorded ones if it is a backward."""
    own = operations(program.lines[index])
    if own and (own[0] in ("NDArray.backward", "autograd.backward", "autograd.grad")):
        recorded = [name for line in program.lines[:index] if "record()" in line for name in operations(line)]
        return recorded or own[:1]
    real = [name for name in own if name not in _MAKERS]
    if len(real) > 1 and real[0] in _PASSING:
        return real[1:2]
    return real[:1] or own[:1] or ["?"]


def matches(names: Sequence[str], patterns: Sequence[str]) -> bool:
    """True if one of the names matches one of the globs.

    >>> matches(["nd.sum"], ["nd.s*"]), matches(["NDArray[]"], ["NDArray[]"])
    (True, True)
    """
    return any(name == pattern or fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))
               for name in names for pattern in patterns)


def names_in(line: str) -> set[str]:
    """The variables that a statement reads or writes."""
    return {node.id for node in ast.walk(ast.parse(line)) if isinstance(node, ast.Name)} - {"mx", "np", "nan", "inf"}


def assigned(line: str) -> str | None:
    """The variable that a statement sets, if it sets one."""
    statement = inner(parsed(line))
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return None


# ---- arrays as text --------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Literal:
    """An array as a program states it: shape, dtype, and its elements in row-major order."""

    shape: tuple[int, ...]
    dtype: str
    values: tuple[Any, ...]

    @property
    def text(self) -> str:
        """The expression that makes it."""
        if not self.values:
            return f"mx.nd.zeros({self.shape!r}, dtype={self.dtype!r})"
        if not self.shape:
            return f"mx.nd.array(np.array({self.values[0]!r}), dtype={self.dtype!r})"
        return f"mx.nd.array({_nested(self.values, self.shape)}, dtype={self.dtype!r})"


def _nested(values: Sequence[Any], shape: Sequence[int]) -> str:
    if len(shape) == 1:
        return "[" + ", ".join(map(_number, values)) + "]"
    step = len(values) // shape[0]
    return "[" + ", ".join(_nested(values[i:i + step], shape[1:]) for i in range(0, len(values), step)) + "]"


def _number(value: Any) -> str:
    return repr(value)


_LITERAL = re.compile(r"(\w+) = (mx\.nd\.(?:array|zeros)\(.*\))$")


@lru_cache(maxsize=16384)
def literal(line: str) -> tuple[str, Literal] | None:
    """The variable and the array that a statement states, if that is all it does.

    >>> literal("a = mx.nd.array([[1, 2]], dtype='int32')")
    ('a', Literal(shape=(1, 2), dtype='int32', values=(1, 2)))
    >>> literal("a = mx.nd.zeros((0, 2), dtype='float32')")[1].shape
    (0, 2)
    """
    found = _LITERAL.match(line)
    if not found:
        return None
    call = ast.parse(found.group(2), mode="eval").body
    assert isinstance(call, ast.Call)
    if len(call.args) != 1 or [keyword.arg for keyword in call.keywords] != ["dtype"]:
        return None
    dtype = call.keywords[0].value
    source = call.args[0]
    if not isinstance(dtype, ast.Constant) or not isinstance(dtype.value, str):
        return None
    try:
        if dotted(call.func) == "mx.nd.zeros":
            shape = ast.literal_eval(source)
            if not isinstance(shape, tuple) or 0 not in shape:
                return None
            return found.group(1), Literal(shape, dtype.value, ())
        if isinstance(source, ast.Call):  # np.array(5): an array without dimensions
            return found.group(1), Literal((), dtype.value, (_evaluated(source.args[0]),))
        flat: list[Any] = []
        shape = _flatten(source, flat)
    except (ValueError, TypeError, IndexError):
        return None
    return found.group(1), Literal(shape, dtype.value, tuple(flat))


def _evaluated(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluated(node.operand)
    if isinstance(node, ast.Name) and node.id in ("nan", "inf"):
        return float(node.id)
    raise ValueError("not a number")


def _flatten(node: ast.expr, flat: list[Any]) -> tuple[int, ...]:
    if not isinstance(node, ast.List):
        flat.append(_evaluated(node))
        return ()
    if not node.elts:
        raise ValueError("an empty list")
    shapes = {_flatten(item, flat) for item in node.elts}
    if len(shapes) != 1:
        raise ValueError("a ragged list")
    return (len(node.elts), *shapes.pop())
