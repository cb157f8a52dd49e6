"""What the source of the program tells about a variable: where it was bound, from what, and where it was attached."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from .source import Place, is_engine


@dataclass(frozen=True)
class Assignment:
    """A line that bound a name, and whether it stands in a block of ``autograd.record()``, and of no ``pause()``."""

    target: str
    place: Place
    value: str
    recorded: bool

    @property
    def names(self) -> set[str]:
        """The variables that the value is made from."""
        return {n.id for n in ast.walk(ast.parse(self.value)) if isinstance(n, ast.Name)}


def bound(array: Any, frame: FrameType | None, line: int) -> Iterator[tuple[FrameType, str, int]]:
    """The functions of the program that hold an array, from the innermost out: frame, variable and line."""
    while frame is not None:
        if not is_engine(frame.f_code):
            for name, value in list(frame.f_locals.items()):
                if value is array:
                    yield frame, name, line
        frame = frame.f_back
        line = (frame.f_lineno or 0) + 1 if frame is not None else 0


def assignments(frame: FrameType, name: str, line: int) -> list[Assignment]:
    """The lines that a variable came from, the last one first, then those of the variables in it, and so on."""
    scope = _scope(frame)
    found: list[Assignment] = []
    pending, seen = [(name, line)], set()
    while pending:
        wanted, before = pending.pop(0)
        last = _last(scope, frame.f_code, wanted, before)
        if last is None or last in seen:
            continue
        seen.add(last)
        found.append(last)
        pending += [(n, last.place.line) for n in sorted(last.names)]
        if wanted in last.names:
            pending.append((wanted, last.place.line - 1))
    return found


def dependent(lines: list[Assignment], name: str) -> list[Assignment]:
    """Those of some lines whose value is made from a variable, directly or by way of others, the first one first."""
    made, found = {name}, []
    for step in sorted(lines, key=lambda s: s.place.line):
        if step.names & made:
            made.add(step.target)
            found.append(step)
    return found


def attachments(frame: FrameType, name: str) -> list[Place]:
    """The lines on which a variable of a function is attached."""
    lines, nodes, _ = _scope(frame)
    return [Place(frame.f_code.co_filename, n.lineno, frame.f_code.co_name, lines[n.lineno - 1].strip()) for n in nodes
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == 'attach_grad'
            and ast.unparse(n.func.value) == name]


Scope = tuple[list[str], list[ast.AST], set[int]]
"""Lines of a file, the nodes of one function, and the lines that stand in a block of ``record``."""


def _scope(frame: FrameType) -> Scope:
    code = frame.f_code
    lines = linecache.getlines(code.co_filename, frame.f_globals)
    try:
        tree = ast.parse(''.join(lines))
    except (SyntaxError, ValueError):
        return lines, [], set()
    root: ast.AST = tree
    if code.co_name != '<module>':
        root = next((n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
                     and n.name == code.co_name and _first(n) == code.co_firstlineno), ast.Pass())
    nodes: list[ast.AST] = []
    pending = list(ast.iter_child_nodes(root))
    recorded: set[int] = set()
    paused: set[int] = set()
    while pending:
        node = pending.pop(0)
        nodes.append(node)
        if isinstance(node, ast.With):
            words = ''.join(ast.unparse(item.context_expr) for item in node.items)
            for word, inside in (('record(', recorded), ('pause(', paused)):
                if word in words:
                    inside.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            pending += ast.iter_child_nodes(node)
    return lines, nodes, recorded - paused


def _first(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _last(scope: Scope, code: CodeType, name: str, line: int) -> Assignment | None:
    """The last line at or before another one, itself excluded, that binds a name."""
    lines, nodes, recorded = scope
    best: Any = None
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.lineno < line:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            if name in names and node.value is not None and (best is None or node.lineno >= best.lineno):
                best = node
    if best is None:
        return None
    return Assignment(name, Place(code.co_filename, best.lineno, code.co_name, lines[best.lineno - 1].strip()),
                      ast.unparse(best.value), best.lineno in recorded)
