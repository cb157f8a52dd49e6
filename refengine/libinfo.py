"""Where the library is and what it was built with; the module itself can be called (rule GRAPH-OPATTR-005).

>>> import refengine as mx
>>> 'cudnn' in mx.libinfo()
False
"""

from __future__ import annotations

import os
import sys
import types

from . import __version__ as __version__


def find_lib_path(prefix: str = 'refengine') -> list[str]:
    """The files of the library: here the package itself."""
    return [os.path.dirname(os.path.abspath(__file__))]


def find_include_path() -> str:
    """The directory of header files; there are none, so this is the package."""
    return find_lib_path()[0]


def features() -> set[str]:
    """The lower-case names of the features that are compiled in."""
    from .runtime import Features
    return {name.lower() for name, feature in Features().items() if feature.enabled}


class _Callable(types.ModuleType):
    def __call__(self) -> set[str]:
        return features()


sys.modules[__name__].__class__ = _Callable
