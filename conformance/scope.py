"""Which names of a piece of Python come from the module around it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def outer_names(node: ast.AST) -> list[ast.Name]:
    """The Name nodes below *node* that are looked up outside of it: module globals and builtins.

    >>> tree = ast.parse("def f(a, b=c):\\n    d = [a + e for e in range(b)]\\n    return d")
    >>> [name.id for name in outer_names(tree.body[0])]
    ['c', 'range']
    """
    finder = _Finder()
    finder.visit(node)
    return finder.found


class _Finder(ast.NodeVisitor):
    """Walks with the names that are bound around; class bodies are not visible in the functions inside them."""

    def __init__(self) -> None:
        self.found: list[ast.Name] = []
        self._functions: list[set[str]] = []
        self._class: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        bound = node.id in self._class or any(node.id in names for names in self._functions)
        if isinstance(node.ctx, ast.Load) and not bound:
            self.found.append(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._all(node.decorator_list)
        self._signature(node.args)
        if node.returns is not None:
            self.visit(node.returns)
        self._inside(_arguments(node.args) | _bound(node.body), node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._signature(node.args)
        self._inside(_arguments(node.args), [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._all([*node.decorator_list, *node.bases, *node.keywords])
        before, self._class = self._class, _bound(node.body)
        self._all(node.body)
        self._class = before

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        names = {name.id for part in node.generators for name in ast.walk(part.target) if isinstance(name, ast.Name)}
        self.visit(node.generators[0].iter)
        rest: list[ast.AST] = [test for part in node.generators for test in part.ifs]
        rest += [part.iter for part in node.generators[1:]]
        rest += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._inside(names, rest)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def _signature(self, arguments: ast.arguments) -> None:
        self._all([*arguments.defaults, *(default for default in arguments.kw_defaults if default is not None)])
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        self._all(argument.annotation for argument in every if argument is not None and argument.annotation is not None)

    def _inside(self, names: set[str], body: Iterable[ast.AST]) -> None:
        before, self._class = self._class, set()
        self._functions.append(names)
        self._all(body)
        self._functions.pop()
        self._class = before

    def _all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)


def _arguments(arguments: ast.arguments) -> set[str]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return {argument.arg for argument in every if argument is not None}


def _bound(body: Iterable[ast.AST]) -> set[str]:
    """Names that statements bind in their own scope."""
    found: set[str] = set()
    declared_global: set[str] = set()
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            continue
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.Global):
            declared_global |= set(node.names)
        if not isinstance(node, (*_FUNCTIONS, *_COMPREHENSIONS)):
            waiting += list(ast.iter_child_nodes(node))
    return found - declared_global
