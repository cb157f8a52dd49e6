"""Answering as ``mxnet``: after :func:`install`, ``import mxnet`` gives the reference engine.

>>> install()
>>> import mxnet.gluon
>>> import refengine
>>> mxnet.gluon is refengine.gluon
True

Every ``mxnet.x.y`` *is* ``refengine.x.y``, the same module object, so classes and state are shared whichever name a
program uses. What MXNet has and the engine has not is a ``ModuleNotFoundError`` that says so. One thing goes by the
name, because programs would get wrong numbers otherwise: ``autograd.grad(y, x)`` gives a list, as in MXNet.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from .. import autograd

NAME = "mxnet"
ENGINE = __name__.partition(".")[0]


class _Alias(Loader):
    """Loads nothing: it hands out a module that is there already."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has just replaced it by that of the alias


class _Finder(MetaPathFinder):
    """Answers for ``mxnet`` and everything below it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != NAME and not fullname.startswith(NAME + "."):
            return None
        own = ENGINE + fullname[len(NAME):]
        module = _module(own)
        if module is None:
            raise ModuleNotFoundError(f"No module named {fullname!r}: {NAME} is answered by {ENGINE}, "
                                      f"which has no {own!r}", name=fullname)
        return ModuleSpec(fullname, _Alias(module), is_package=hasattr(module, "__path__"))


def _module(name: str) -> ModuleType | None:
    """The module of that name, or the module that its parent holds under that name (``nd`` is ``ndarray``)."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # it is there, but something that it needs is not
    parent, _, last = name.rpartition(".")
    holder = _module(parent) if parent else None
    found = getattr(holder, last, None)
    return found if isinstance(found, ModuleType) else None


def install() -> None:
    """From now on, answer ``import mxnet`` in this process; raises RuntimeError if MXNet itself is loaded already."""
    loaded = sys.modules.get(NAME)
    if loaded is not None and loaded is not sys.modules.get(ENGINE):
        raise RuntimeError(f"expected no {NAME} in this process yet, but it is loaded from {loaded.__file__}")
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    autograd.bare_gradients = False


def remove() -> None:
    """Stop answering; names that were imported already stay where they are."""
    autograd.bare_gradients = True
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    for name in [name for name in sys.modules if name == NAME or name.startswith(NAME + ".")]:
        del sys.modules[name]
