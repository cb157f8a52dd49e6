"""Array semantics switches (numpy shape, numpy array) and small helpers of MXNet's ``util`` module."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any


class _Semantics(threading.local):
    shape = False
    array = False
    default_dtype = False


semantics = _Semantics()


def is_np_shape() -> bool:
    """Whether zero-dimensional and zero-size arrays are allowed in this thread."""
    return semantics.shape


def is_np_array() -> bool:
    """Whether Gluon works on mx.np arrays in this thread."""
    return semantics.array


def is_np_default_dtype() -> bool:
    """Whether float64 is the default element type of mx.np."""
    return semantics.default_dtype


def set_np_shape(active: bool) -> bool:
    """Switch numpy shape semantics and return the previous state."""
    previous, semantics.shape = semantics.shape, bool(active)
    return previous


def _set_np_array(active: bool) -> bool:
    previous, semantics.array = semantics.array, bool(active)
    return previous


def set_np(shape: bool = True, array: bool = True, dtype: bool = False) -> None:
    """Switch numpy shape and array semantics on or off in this thread."""
    if not shape and array:
        raise ValueError('NumPy Shape semantics is required in using NumPy array semantics.')
    _set_np_array(array)
    set_np_shape(shape)
    semantics.default_dtype = bool(dtype)


def reset_np() -> None:
    """Back to legacy semantics."""
    set_np(shape=False, array=False, dtype=False)


class _Scope:
    """Sets a switch for a block and restores it."""

    def __init__(self, setter: Callable[[bool], bool], active: bool) -> None:
        self._setter, self._active, self._previous = setter, active, []

    def __enter__(self) -> None:
        self._previous.append(self._setter(self._active))

    def __exit__(self, *exc: Any) -> None:
        self._setter(self._previous.pop())


def np_shape(active: bool = True) -> Any:
    """A block with numpy shape semantics on or off (rule ND-NPSHAPE-001)."""
    return _Scope(set_np_shape, active)


def np_array(active: bool = True) -> Any:
    """A block with numpy array semantics on or off."""
    return _Scope(_set_np_array, active)


def _decorated(target: Any, scope: Callable[[], Any]) -> Any:
    if inspect.isclass(target):
        for name, member in vars(target).copy().items():
            if inspect.isfunction(member):
                setattr(target, name, _decorated(member, scope))
        return target
    if not callable(target):
        raise TypeError(f'expected a function or a class, got {target!r}')

    @functools.wraps(target)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with scope():
            return target(*args, **kwargs)

    return wrapped


def use_np_shape(func: Any) -> Any:
    """Run a function, or every method of a class, with numpy shape semantics."""
    return _decorated(func, np_shape)


def use_np_array(func: Any) -> Any:
    """Run a function, or every method of a class, with numpy array semantics."""
    return _decorated(func, np_array)


def use_np(func: Any) -> Any:
    """Run a function, or every method of a class, with numpy shape and array semantics."""
    return use_np_array(use_np_shape(func))


def set_module(module: str) -> Callable[[Any], Any]:
    """A decorator that sets ``__module__``."""
    def decorate(target: Any) -> Any:
        target.__module__ = module
        return target

    return decorate


def get_gpu_count() -> int:
    """The number of usable GPUs."""
    from .context import num_gpus
    return num_gpus()


def get_gpu_memory(gpu_dev_id: int) -> tuple[int, int]:
    """Free and total memory of a GPU in bytes."""
    from .context import gpu_memory_info
    return gpu_memory_info(gpu_dev_id)


def makedirs(path: str) -> None:
    """Make a directory and its parents; an existing one is fine."""
    import os
    os.makedirs(os.path.expanduser(path), exist_ok=True)


def getenv(name: str) -> str | None:
    """An environment variable, or None."""
    import os
    return os.environ.get(name)


def setenv(name: str, value: str | None) -> None:
    """Set an environment variable; None removes it."""
    import os
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def default_array(source_array: Any, ctx: Any = None, dtype: Any = None) -> Any:
    """``mx.nd.array`` or, under numpy array semantics, ``mx.np.array``."""
    from . import ndarray
    return ndarray.array(source_array, ctx=ctx, dtype=dtype)
