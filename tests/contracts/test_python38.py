"""Files that run in an engine's interpreter keep to Python 3.8: its syntax, and what its library has."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import pytest

from tests.contracts.sources import text_of, tree_of, worker_side_files

#: What came after 3.8, by the way it is written.
NEWER_ATTRIBUTES = {
    "removeprefix": "str.removeprefix came with 3.9",
    "removesuffix": "str.removesuffix came with 3.9",
    "is_relative_to": "Path.is_relative_to came with 3.9",
    "with_stem": "Path.with_stem came with 3.9",
    "bit_count": "int.bit_count came with 3.10",
    "add_note": "BaseException.add_note came with 3.11",
    "functools.cache": "functools.cache came with 3.9",
    "math.lcm": "math.lcm came with 3.9",
    "itertools.pairwise": "itertools.pairwise came with 3.10",
    "itertools.batched": "itertools.batched came with 3.12",
    "contextlib.chdir": "contextlib.chdir came with 3.11",
    "inspect.get_annotations": "inspect.get_annotations came with 3.10",
    "sys.stdlib_module_names": "sys.stdlib_module_names came with 3.10",
    "enum.StrEnum": "enum.StrEnum came with 3.11",
}
NEWER_MODULES = {"zoneinfo", "graphlib", "tomllib"}
NEWER_KEYWORDS = {"strict": ("zip",), "slots": ("dataclass", "dataclasses.dataclass"), "kw_only": ("dataclass",)}
GENERIC = {"list", "dict", "tuple", "set", "frozenset", "type"}


def complaints_about(path: str, tree: ast.Module) -> Iterable[str]:
    """What a 3.8 interpreter would not accept at run time, though it can read it."""
    deferred = any(
        isinstance(node, ast.ImportFrom) and node.module == "__future__" and node.names[0].name == "annotations"
        for node in tree.body
    )
    annotations: set[ast.AST] = set()
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            inner = getattr(node, name, None)
            if inner is not None:
                annotations.update(ast.walk(inner))
    for node in ast.walk(tree):
        where = f"{path}:{getattr(node, 'lineno', 0)}"
        unevaluated = deferred and node in annotations
        if isinstance(node, ast.Attribute):
            why = NEWER_ATTRIBUTES.get(node.attr) or NEWER_ATTRIBUTES.get(ast.unparse(node))
            if why:
                yield f"{where}: {why}"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for module in [node.module or ""] if isinstance(node, ast.ImportFrom) else [n.name for n in node.names]:
                if module in NEWER_MODULES:
                    yield f"{where}: the module {module} came after 3.8"
        elif isinstance(node, ast.Call):
            for keyword in node.keywords:
                if ast.unparse(node.func) in NEWER_KEYWORDS.get(keyword.arg or "", ()):
                    yield f"{where}: {ast.unparse(node.func)}({keyword.arg}=...) came after 3.8"
        elif isinstance(node, ast.Subscript) and not unevaluated:
            if isinstance(node.value, ast.Name) and node.value.id in GENERIC and isinstance(node.ctx, ast.Load):
                yield f"{where}: {ast.unparse(node)} cannot be evaluated by 3.8; use typing"
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and node in annotations and not deferred:
            yield f"{where}: {ast.unparse(node)} cannot be evaluated by 3.8; use typing"


@pytest.mark.parametrize("path", worker_side_files())
def test_worker_side_file(path: str) -> None:
    text = text_of(path)
    try:
        ast.parse(text, path, feature_version=(3, 8))
    except SyntaxError as error:
        pytest.fail(f"{path}:{error.lineno}: {error.msg}: {(error.text or '').strip()}")
    found = list(complaints_about(path, tree_of(path)))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "code",
    [
        "x = 'ab'.removeprefix('a')",
        "import tomllib",
        "def f(x: list[int]): pass",
        "def f(x: int | None): pass",
        "names = list[str]",
        "zip([1], [2], strict=True)",
        "from functools import lru_cache\nimport functools\nfunctools.cache(len)",
    ],
)
def test_the_check_notices(code: str) -> None:
    assert list(complaints_about("file.py", ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "from __future__ import annotations\ndef f(x: list[int] | None) -> dict[str, int]: pass",
        "x = {}\nx['a'] = [1][0]",
        "flags = 1 | 2",
    ],
)
def test_the_check_lets_pass(code: str) -> None:
    assert not list(complaints_about("file.py", ast.parse(code)))


def test_newer_syntax_is_refused_by_the_parser() -> None:
    with pytest.raises(SyntaxError):
        ast.parse("match x:\n  case 1: pass", feature_version=(3, 8))
    with pytest.raises(SyntaxError):
        ast.parse("with (open('a') as a, open('b') as b): pass", feature_version=(3, 8))
