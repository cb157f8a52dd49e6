"""Sharing memory with other libraries through DLPack."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .. import dispatch, engine
from ..context import Context

_api = ctypes.pythonapi
_api.PyCapsule_IsValid.restype = ctypes.c_int
_api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _Holder:
    """What numpy asks for: an object with ``__dlpack__`` around a capsule that exists already."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def to_dlpack_for_read(data: Any) -> Any:
    """A capsule over the memory of an array; waits for its value."""
    engine.wait(data._data)
    return data._data.__dlpack__(max_version=(1, 0))


def to_dlpack_for_write(data: Any) -> Any:
    """A capsule over the memory of an array, for writing."""
    engine.wait(data._data)
    return data._data.__dlpack__(max_version=(1, 0))


def from_dlpack(dlpack: Any) -> Any:
    """The array behind a capsule, on cpu(0), over the same memory; a capsule can be consumed once (ND-DLPACK-001)."""
    fresh = any(_api.PyCapsule_IsValid(dlpack, name) == 1 for name in (b'dltensor', b'dltensor_versioned'))
    assert fresh, 'a DLPack capsule can be consumed only once'
    return dispatch.wrap(np.from_dlpack(_Holder(dlpack)), Context('cpu', 0))
