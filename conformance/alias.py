"""Answering as ``mxnet``: an engine's modules under MXNet's names, for scripts that say ``import mxnet``.

``mxnet.gluon.nn`` then *is* the engine's ``gluon.nn``: the same object, not a copy; classes and state are shared.

Runs in the engine's interpreter: Python 3.8, standard library only.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import runpy
import sys
import types
from typing import Any, List, Optional, Sequence

NAME = "mxnet"


class Finder(importlib.abc.MetaPathFinder):
    """Finds ``mxnet`` and all below it as the module *target* and all below that."""

    def __init__(self, target: str, name: str = NAME) -> None:
        self.target, self.name = target, name

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]] = None, target: Optional[types.ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if fullname != self.name and not fullname.startswith(self.name + "."):
            return None
        module = _find(self.target + fullname[len(self.name):])
        if module is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, Loader(module), is_package=hasattr(module, "__path__"))


class Loader(importlib.abc.Loader):
    """Gives out a module that is already there."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module = module
        self.spec = getattr(module, "__spec__", None)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return self.module

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has just set it to that of the alias


def _find(name: str) -> Optional[types.ModuleType]:
    """The engine's module of that name: imported, or an attribute of its parent that is a module (``nd``)."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name + ".").startswith(error.name + "."):
            raise  # the module is there, and something that it imports is not
    parent, _, last = name.rpartition(".")
    holder = _find(parent) if parent else None
    found = getattr(holder, last, None)
    return found if isinstance(found, types.ModuleType) else None


def install(target: str, name: str = NAME) -> None:
    """Answer imports of *name* by *target* from now on; does nothing if they are the same."""
    if target == name or any(isinstance(finder, Finder) and finder.name == name for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, Finder(target, name))


def run_script(target: str, setup: str, arguments: List[str]) -> None:
    """Run a script as ``python script.py ...`` does, with ``mxnet`` answered by *target*."""
    install(target)
    script = arguments[0]
    if setup:
        names: Any = {"mx": importlib.import_module(target)}
        exec(compile(setup, "<setup of the engine>", "exec"), names)
    sys.argv[:] = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    runpy.run_path(script, run_name="__main__")
