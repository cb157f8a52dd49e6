"""What the contract tests look at: the project's own files, and what each of them imports, with line numbers."""

from __future__ import annotations

import ast
import fnmatch
import importlib.util
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("refengine", "conformance", "perfsuite", "reports")


@dataclass(frozen=True)
class Import:
    """One imported module, and where; ``names``: what is taken from it; ``lazy``: not at import time of the file."""

    path: str
    line: int
    module: str
    names: tuple[str, ...]
    lazy: bool

    @property
    def top(self) -> str:
        return self.module.partition(".")[0]

    @property
    def modules(self) -> list[str]:
        """Every module that this may be: ``from a.b import c`` may mean ``a.b`` or ``a.b.c``."""
        whole = [f"{self.module}.{name}" for name in self.names]
        return [name for name in whole if is_module(name)] or [self.module]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@cache
def python_files(*folders: str) -> tuple[str, ...]:
    """The Python files below some folders of the project, relative to its root."""
    found = []
    for folder in folders:
        start = ROOT / folder
        found += [start] if start.is_file() else sorted(start.rglob("*.py"))
    return tuple(path.relative_to(ROOT).as_posix() for path in found)


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def tree_of(path: str) -> ast.Module:
    return ast.parse(text_of(path), path)


def is_module(name: str) -> bool:
    """True if a dotted name is a module of one of the project's packages, by its file."""
    base = ROOT.joinpath(*name.split("."))
    return base.with_suffix(".py").is_file() or base.is_dir()


@cache
def imports_of(path: str) -> tuple[Import, ...]:
    """What a file imports, also by ``importlib.import_module`` with a literal name; not what only type checkers see."""
    found: list[Import] = []
    package = path.removesuffix(".py").replace("/", ".")
    package = package.removesuffix(".__init__") if path.endswith("__init__.py") else package.rpartition(".")[0]

    def visit(node: ast.AST, lazy: bool) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.orelse:
                visit(child, lazy)
            return
        if isinstance(node, ast.Import):
            found.extend(Import(path, node.lineno, name.name, (), lazy) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            module = importlib.util.resolve_name(module, package) if node.level else module
            found.append(Import(path, node.lineno, module, tuple(name.name for name in node.names), lazy))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("importlib.import_module", "__import__"):
            literal = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
            if isinstance(literal, str):
                found.append(Import(path, node.lineno, literal, (), lazy))
        inner = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, inner)

    visit(tree_of(path), False)
    return tuple(found)


@cache
def worker_side_files() -> tuple[str, ...]:
    """The files that run in an engine's interpreter: those that ruff may not modernise, by pyproject.toml."""
    project = tomllib.loads(text_of("pyproject.toml"))
    patterns = []
    for pattern, rules in project["tool"]["ruff"]["lint"]["per-file-ignores"].items():
        if "UP" in rules:
            patterns += _expanded(pattern)
    files = python_files("conformance", "perfsuite")
    return tuple(path for path in files if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns))


def _expanded(pattern: str) -> list[str]:
    """``a/{b,c}.py`` -> both; ``**`` is the same as ``*`` for fnmatch."""
    if "{" not in pattern:
        return [pattern]
    head, _, rest = pattern.partition("{")
    choices, _, tail = rest.partition("}")
    return [f"{head}{choice}{tail}" for choice in choices.split(",")]
