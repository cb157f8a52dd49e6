"""Cutting out of the suite what one case needs: its function and the definitions below it, with their comments.

Definitions of several modules end up in one script, so those of other modules than the case's own are renamed:
``kit.array`` becomes ``kit_array``. What cannot be cut out safely is an :class:`Entangled`.
"""

from __future__ import annotations

import ast
import builtins
import copy
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from conformance.scope import outer_names

PACKAGE = "conformance"

#: Modules whose names are not prefixed: the checker is written out under its own names.
PLAIN = ("conformance.check", "conformance.tolerance")

Definition = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


class Entangled(Exception):
    """A definition that cannot be cut out on its own; the message says why."""


@dataclass(frozen=True)
class Source:
    """A module of the suite, taken apart but not run.

    definitions: name -> the statement that makes it;  imports: name -> (statement, module, name in it or "");  loose:
    whether statements stand at its top that are neither.
    """

    name: str
    text: str
    definitions: dict[str, Definition]
    imports: dict[str, tuple[str, str, str]]
    loose: bool

    @property
    def stem(self) -> str:
        """The last part of its name, as a prefix."""
        return self.name.rpartition(".")[2].strip("_")


@cache
def read_source(name: str) -> Source:
    """Read a module's file."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise Entangled(f"module {name} has no file")
    text = Path(spec.origin).read_text(encoding="utf-8")
    definitions: dict[str, Definition] = {}
    imports: dict[str, tuple[str, str, str]] = {}
    loose = False
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            definitions[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
            definitions.update(dict.fromkeys(names, node))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                stated = f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
                imports[alias.asname or alias.name.partition(".")[0]] = (stated, alias.name, "")
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                stated = f"from {node.module} import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
                imports[alias.asname or alias.name] = (stated, node.module, alias.name)
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            loose = True
    return Source(name, text, definitions, imports, loose)


@dataclass
class Extract:
    """Collects definitions: :meth:`add` what is wanted, then read :meth:`blocks` and ``imports``.

    home: the module whose names stay as they are;  keep: class name -> methods that are kept of it;  imports:
    statements that the script needs;  attributes: every ``.name`` in what was taken;
    asked_of_checker: every ``check.name`` in it.
    """

    home: str
    keep: dict[str, set[str]] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    asked_of_checker: set[str] = field(default_factory=set)
    _begun: set[tuple[str, int]] = field(default_factory=set)
    _done: list[tuple[str, str]] = field(default_factory=list)
    _names: dict[str, tuple[str, str]] = field(default_factory=dict)  # name in the script -> (module, name there)

    def add(self, module: str, name: str) -> str:
        """Take a definition and all that it needs; returns its name in the script."""
        source = read_source(module)
        node = source.definitions.get(name)
        if node is None:
            raise Entangled(f"{module} has no plain definition of {name}")
        if source.loose:
            raise Entangled(f"{module} has statements at its top that may change its definitions")
        known = self._rename(source, name)
        place = (module, node.lineno)
        if place not in self._begun:
            self._begun.add(place)  # before it is cut: a function may call itself
            self._done.append((module, self._cut(source, node)))
        return known

    def expression(self, module: str, node: ast.AST) -> str:
        """The text of an expression of that module, with what it needs taken."""
        source = read_source(module)
        return _replaced(source.text, node, self._edits(source, node))

    def blocks(self, wanted: Callable[[str], bool]) -> list[str]:
        """The definitions from the modules that are wanted, each after those that it needs."""
        return [text for module, text in self._done if wanted(module)]

    def _rename(self, source: Source, name: str) -> str:
        plain = source.name == self.home or source.name in PLAIN
        new = name if plain else f"{source.stem}_{name.lstrip('_')}"
        while self._names.setdefault(new, (source.name, name)) != (source.name, name):
            new += "_"
        return new

    def _cut(self, source: Source, node: Definition) -> str:
        """The text of a definition with the comment above it and without registering decorators."""
        node = self._pruned(node)
        edits = self._edits(source, node)
        name_edit = self._own_name(source, node)
        return _replaced(source.text, node, edits + name_edit, whole=True)

    def _pruned(self, node: Definition) -> Definition:
        """Without ``@case``, and of a class to be thinned out only the methods to keep."""
        node = copy.copy(node)  # the parts stay shared: only its lists are replaced
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [item for item in node.decorator_list if not is_registration(item)]
        elif isinstance(node, ast.ClassDef) and node.name in self.keep:
            wanted = self.keep[node.name]
            node.body = [item for item in node.body if not isinstance(item, ast.FunctionDef) or item.name in wanted]
        return node

    def _own_name(self, source: Source, node: Definition) -> list[tuple[int, int, int, str]]:
        found = []
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            new = self._rename(source, node.name)
            line = source.text.split("\n")[node.lineno - 1]
            column = line.index(node.name, node.col_offset + (4 if isinstance(node, ast.FunctionDef) else 6))
            found.append((node.lineno, column, column + len(node.name), new))
        else:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        new = self._rename(source, part.id)
                        found.append((part.lineno, part.col_offset, part.col_offset + len(part.id), new))
        return found

    def _edits(self, source: Source, node: ast.AST) -> list[tuple[int, int, int, str]]:
        """Replacements (line, from, to, text) for the names that come from outside of *node*; takes what they name."""
        attributes = [part for part in ast.walk(node) if isinstance(part, ast.Attribute)]
        self.attributes |= {part.attr for part in attributes}
        self.asked_of_checker |= {
            part.attr for part in attributes if isinstance(part.value, ast.Name) and part.value.id == "check"
        }
        aliased = {
            id(part.value): part for part in ast.walk(node)
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name)
        }
        edits = []
        for name in outer_names(node):
            if name.id in source.definitions:
                new = self.add(source.name, name.id)
                edits.append((name.lineno, name.col_offset, name.col_offset + len(name.id), new))
            elif name.id in source.imports:
                edits += self._imported(source, name, aliased.get(id(name)))
            elif not hasattr(builtins, name.id) and name.id not in ("__file__", "__name__"):
                raise Entangled(f"{source.name}: {name.id} comes from nowhere")
        return edits

    def _imported(
        self, source: Source, name: ast.Name, attribute: ast.Attribute | None
    ) -> list[tuple[int, int, int, str]]:
        stated, module, member = source.imports[name.id]
        if module.partition(".")[0] != PACKAGE:
            self._claim(name.id, stated)
            self.imports.add(stated)
            return []
        inner = f"{module}.{member}"
        if member and _is_module(inner):
            if attribute is None or attribute.end_lineno != name.lineno:
                raise Entangled(f"{source.name}: module {name.id} is used as a value")
            new = self.add(inner, attribute.attr)
            assert attribute.end_col_offset is not None
            return [(name.lineno, name.col_offset, attribute.end_col_offset, new)]
        if not member:
            raise Entangled(f"{source.name}: {stated}")
        return [(name.lineno, name.col_offset, name.col_offset + len(name.id), self.add(module, member))]

    def _claim(self, name: str, stated: str) -> None:
        if self._names.setdefault(name, ("", stated)) != ("", stated):
            raise Entangled(f"{name} means two things: {stated} and {self._names[name]}")


def is_registration(node: ast.AST) -> bool:
    """True for ``@case(...)``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "case"


@cache
def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _replaced(text: str, node: ast.AST, edits: list[tuple[int, int, int, str]], whole: bool = False) -> str:
    """The source of *node* with replacements made; *whole*: with full lines and the comment right above."""
    lines = text.split("\n")
    kept = _kept_lines(node, lines) if whole else None
    first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
    if kept is None:
        kept = set(range(first, last + 1))
    by_line: dict[int, list[tuple[int, int, str]]] = {}
    for line, start, end, new in edits:
        by_line.setdefault(line, []).append((start, end, new))
    if not whole:
        by_line.setdefault(last, [])
    shown = []
    for number in sorted(kept):
        data = lines[number - 1].encode("utf-8")
        if not whole and number == last:
            data = data[: getattr(node, "end_col_offset", len(data))]
        for start, end, new in sorted(set(by_line.get(number, ())), reverse=True):
            data = data[:start] + new.encode("utf-8") + data[end:]
        if not whole and number == first:
            data = data[getattr(node, "col_offset", 0):]
        shown.append(data.decode("utf-8"))
    return "\n".join(shown).rstrip()


def _kept_lines(node: ast.AST, lines: list[str]) -> set[int]:
    """Line numbers of a definition: decorators that stayed, comments above, and for a class the members that stayed."""
    decorators = getattr(node, "decorator_list", [])
    first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
    kept: set[int] = set()
    for decorator in decorators:
        kept |= set(range(decorator.lineno, decorator.end_lineno + 1))
    above = min([first, *(decorator.lineno for decorator in decorators)]) - 1
    while above >= 1 and lines[above - 1].startswith("#"):
        kept.add(above)
        above -= 1
    if not isinstance(node, ast.ClassDef):
        return kept | set(range(first, last + 1))
    end = first
    for member in node.body:
        own = {*range(member.lineno, (member.end_lineno or member.lineno) + 1)}
        for decorator in getattr(member, "decorator_list", []):
            own |= set(range(decorator.lineno, decorator.end_lineno + 1))
        if min(own) - 1 > end:
            own.add(min(own) - 1)  # the blank line (or the comment) above a member
        kept |= own
        end = max(own)
    body_start = node.body[0].lineno
    return kept | set(range(first, body_start))
