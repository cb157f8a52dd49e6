"""The smallest complete store: it adds up, and cannot hold an optimizer."""

from __future__ import annotations

from typing import Any

from .base import KVStoreBase


@KVStoreBase.register
class TestStore(KVStoreBase):
    """A store for trying out the interface: broadcast and pushpull only (rule KV-TYPE-010)."""

    __test__ = False  # no test class for pytest

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        for array in out if isinstance(out, (list, tuple)) else [out]:
            array._write(value.as_in_context(array.context)._data)

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        values = value if isinstance(value, (list, tuple)) else [value]
        context = values[0].context
        total = values[0].copyto(context)
        for other in values[1:]:
            total += other.as_in_context(context)
        targets = values if out is None else out if isinstance(out, (list, tuple)) else [out]
        for array in targets:
            array._write(total.as_in_context(array.context)._data)

    @staticmethod
    def is_capable(capability: str) -> bool:
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return False
        raise ValueError(f'Unknown capability: {capability}')

    @property
    def type(self) -> str:
        return 'teststore'

    @property
    def rank(self) -> int:
        return 0

    @property
    def num_workers(self) -> int:
        return 1
