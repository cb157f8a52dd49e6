"""What every store can do, the registry of stores, and making one by name."""

from __future__ import annotations

import os
import warnings
from typing import Any, ClassVar

from ..base import MXNetError


class KVStoreBase:
    """Base of all stores: the interface through which a Trainer exchanges gradients and weights.

    A store of one's own for dense training defines ``broadcast``, ``pushpull``, ``is_capable`` and ``type``; one that
    runs the optimizer itself also ``set_optimizer`` and the two methods for optimizer states
    (rules KVDECIDE-CAP-004 to CAP-007).

    >>> import refengine as mx
    >>> @mx.kvstore.KVStoreBase.register
    ... class Quiet(mx.kvstore.KVStoreBase):
    ...     pass
    >>> type(mx.kvstore.create('quiet')).__name__
    'Quiet'
    """

    OPTIMIZER = 'optimizer'
    """The capability of running the optimizer on the store."""

    kv_registry: ClassVar[dict[str, type[KVStoreBase]]] = {}

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Store a value under a new key and copy it into every array of ``out``."""
        raise NotImplementedError

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Add up the values and write the result into ``out``, or back into ``value``."""
        raise NotImplementedError

    def set_optimizer(self, optimizer: Any) -> None:
        """Run an optimizer on the store."""
        raise NotImplementedError

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Whether the store has a capability."""
        raise NotImplementedError

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """Write the optimizer states to a file."""
        raise NotImplementedError

    def load_optimizer_states(self, fname: str) -> None:
        """Read optimizer states from a file."""
        raise NotImplementedError

    @property
    def type(self) -> str:
        """The name of the kind of store."""
        raise NotImplementedError

    @property
    def rank(self) -> int:
        """The number of this worker."""
        raise NotImplementedError

    @property
    def num_workers(self) -> int:
        """How many workers share the store."""
        raise NotImplementedError

    @staticmethod
    def register(klass: type[KVStoreBase]) -> type[KVStoreBase]:
        """Register a class under its lower-case name; replacing another one warns (rule KVDECIDE-CAP-005)."""
        assert isinstance(klass, type), f'register expects a class, got {klass!r}'
        name = klass.__name__.lower()
        present = KVStoreBase.kv_registry.get(name)
        if present is not None:
            warnings.warn(f'New kvstore {klass.__module__}.{klass.__name__} is overriding existing kvstore '
                          f'{present.__module__}.{present.__name__}', stacklevel=2)
        KVStoreBase.kv_registry[name] = klass
        return klass


def create(name: str = 'local') -> KVStoreBase:
    """A store by name, in any case.

    'local' adds up on the CPU, names with 'device' on the devices; a registered class is found by its name.
    Names with 'dist' need the distributed part of the engine and a running cluster, 'nccl' needs NCCL: MXNetError says
    what is missing. Any other name gives a local store of that type (rules KV-TYPE-001 to 007). TypeError for anything
    but text.

    >>> create('LOCAL').type
    'local'
    """
    if not isinstance(name, str):
        raise TypeError('name must be a string')
    name = name.lower()
    if name in KVStoreBase.kv_registry:
        return KVStoreBase.kv_registry[name]()
    if 'dist' in name:
        return _distributed(name)
    if 'nccl' in name:
        raise MXNetError('compile with USE_NCCL=1 to use nccl: this engine has no NCCL store, use "device" instead')
    from .kvstore import KVStore
    return KVStore(name)


def _distributed(name: str) -> KVStoreBase:
    try:
        from ..distributed import create_store
    except ImportError:
        missing = [v for v in ('DMLC_NUM_WORKER', 'DMLC_ROLE', 'DMLC_NUM_SERVER') if v not in os.environ]
        unset = f' ({", ".join(missing)} not set)' if missing else ''
        raise MXNetError(f'cannot create kvstore {name}{unset}: this engine lacks the capability "dist", distributed '
                         f'stores are not implemented yet') from None
    return create_store(name)
