"""Keys and values as callers give them: one or many, single arrays or a list per device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import MXNetError
from ..ndarray import NDArray

LARGEST = 2 ** 31 - 1


def pairs(keys: Any, values: Any) -> tuple[list[Any], list[list[Any]]]:
    """Keys, and for each the list of its arrays.

    AssertionError for keys that are neither int nor str, for lists that mix both or have another length than their
    values, and for values that are no NDArrays; OverflowError for an int key beyond 32 bits (rules KV-KEY-003 to 009).
    """
    if not isinstance(keys, (list, tuple)):
        return [_one_key(keys)], [_arrays(values)]
    assert len(keys) == len(values), f'{len(keys)} keys were given with {len(values)} values'
    names = [_one_key(key) for key in keys]
    assert len({isinstance(name, str) for name in names}) < 2, 'inconsistent types of keys detected.'
    return names, [_arrays(value) for value in values]


def _one_key(key: Any) -> Any:
    assert isinstance(key, (int, str)), f'unexpected type for keys: {type(key)}'
    if isinstance(key, str):
        return key
    if not -LARGEST - 1 <= key <= LARGEST:
        raise OverflowError(f'signed integer is {"greater than maximum" if key > 0 else "less than minimum"}')
    return int(key)


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, NDArray):
        return [value]
    arrays = list(value) if isinstance(value, (list, tuple)) else list(iter(value))
    for array in arrays:
        assert isinstance(array, NDArray), f'values must be NDArrays, got {type(array)}'
    return arrays


def merged(keys: Sequence[Any], values: Sequence[list[Any]]) -> dict[Any, list[Any]]:
    """All arrays of a key together, also of one that is listed twice (rule KV-KEY-011)."""
    found: dict[Any, list[Any]] = {}
    for key, arrays in zip(keys, values):
        found.setdefault(key, []).extend(arrays)
    return found


class KeyKind:
    """The kind of keys that a store uses, settled by the first one (rule KV-KEY-002)."""

    def __init__(self) -> None:
        self.kind: type | None = None

    def settle(self, keys: Sequence[Any]) -> None:
        """MXNetError when a key is not of the kind of the first."""
        if not keys:
            return
        kind = str if isinstance(keys[0], str) else int
        if self.kind is None:
            self.kind = kind
        elif kind is not self.kind:
            raise MXNetError(f'Mixed key types are not allowed: this store has {self.kind.__name__} keys, '
                             f'got {keys[0]!r}')
