"""Accelerated operator bodies, each standing before the generic one that it must equal.

A module here registers its kernels with ``op.kernel_of``; ``load`` imports those whose libraries are installed. Kernels
are loaded when the first large operator asks for them, never at import of the package.
"""

from __future__ import annotations

import importlib
import pkgutil

from .. import env

_loaded = False


def load() -> list[str]:
    """Import every kernel module whose libraries are installed, once; returns the names of those that are in use."""
    global _loaded
    if _loaded or env.get('REFENGINE_KERNELS') == 'off':
        return []
    _loaded = True
    names = []
    for found in pkgutil.iter_modules(__path__):
        try:
            importlib.import_module(f'{__name__}.{found.name}')
        except ImportError:
            continue        # an optional library is missing; the generic body does the work
        names.append(found.name)
    return names
