"""The generators behind every random draw, and their seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import engine, forksafe
from .context import Context, as_context

_lock = forksafe.lock()
_generators: dict[str, Any] = {}


def generator(ctx: Context) -> np.random.Generator:
    """The generator of a context, for draws at once: those that are queued come first."""
    engine.drain()
    return current(ctx)


def current(ctx: Context) -> np.random.Generator:
    """The generator of a context: all CPU contexts share one (rule ND-RANDOM-004), each GPU has its own."""
    key = str(ctx) if ctx.is_gpu else 'cpu'
    found = _generators.get(key)
    if found is None:
        with _lock:
            found = _generators.setdefault(key, _fresh(key, 0))
    return found


def _fresh(key: str, state: int) -> np.random.Generator:
    # A GPU draws another stream than the CPU of the same seed, as the releases do; the numbers are no contract.
    entropy = [state % (1 << 64)] if key == 'cpu' else [state % (1 << 64), 2, int(key[4:-1])]
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(entropy)))


def seed(seed_state: int, ctx: Any = 'all') -> None:
    """Make every later random draw reproducible (rules ND-RANDOM-001 and -002).

    >>> import refengine as mx
    >>> mx.random.seed(7); a = mx.nd.random.uniform(shape=(2,)).asnumpy()
    >>> mx.random.seed(7); bool((mx.nd.random.uniform(shape=(2,)).asnumpy() == a).all())
    True
    """
    if not isinstance(seed_state, (int, np.integer)) or isinstance(seed_state, bool):
        raise ValueError('seed_state must be int')
    with _lock:
        if isinstance(ctx, str) and ctx == 'all':
            keys = set(_generators) | {'cpu'}
        else:
            chosen = as_context(ctx)
            keys = {str(chosen) if chosen.is_gpu else 'cpu'}
        for key in keys:
            _generators[key] = _fresh(key, int(seed_state))


def __getattr__(name: str) -> Any:
    # mx.random.uniform and its kin are the functions of mx.nd.random.
    from .ndarray import random as functions
    try:
        return getattr(functions, name)
    except AttributeError:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}') from None
