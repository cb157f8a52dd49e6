"""Accelerated operator bodies, each standing before the generic one that it must equal.

A module here registers its kernels with ``op.kernel_of``; ``load`` imports those whose libraries are installed. Kernels
are loaded when the first large operator asks for them, never at import of the package.
"""

from __future__ import annotations

import importlib
import pkgutil

from .. import dispatch, env

loaded = False
"""Whether the kernels were asked for; large operators ask once."""


def load() -> list[str]:
    """Import every kernel module whose libraries are installed, once; returns the names of those that are in use."""
    global loaded
    if loaded:
        return []
    loaded = True
    names: list[str] = []
    if env.get('REFENGINE_KERNELS') == 'off':
        return names
    for found in pkgutil.iter_modules(__path__):
        try:
            importlib.import_module(f'{__name__}.{found.name}')
        except ImportError:
            continue        # an optional library is missing; the generic body does the work
        names.append(found.name)
    if names:
        dispatch.raw.cache_clear()      # its functions were bound to the generic bodies
    return names
