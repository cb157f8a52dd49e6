"""Which store a Trainer uses, and whether the optimizer runs on it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from .. import env
from .. import kvstore as stores

UPDATE_ON_KVSTORE = env.declare('MXNET_UPDATE_ON_KVSTORE', int, 1,
                                'Whether a Trainer that was not told runs its optimizer on the store.')

LARGEST_ON_LOCAL = 16 * 1024 * 1024
"""Elements of a single parameter beyond which the store 'local' leaves updates to the devices (KVDECIDE-BIG-001)."""


@dataclass(frozen=True)
class Request:
    """What a Trainer was asked for, and what its parameters are."""

    kvstore: Any
    update_on_kvstore: Any
    devices: int
    sparse_weight: bool
    sparse_grad: bool


@dataclass(frozen=True)
class Decision:
    """The store, or None, whether it is distributed, and whether (None: without a store) the optimizer runs on it."""

    kvstore: Any
    distributed: bool
    update_on_kvstore: Any


def decide(request: Request, sizes: Sequence[int]) -> Decision:
    """The decision for a request; ``sizes`` are the numbers of elements of all parameters.

    Raises TypeError for a store of the wrong kind, ValueError and AssertionError for contradictions (rules KVDECIDE-*,
    TRAINER-SPARSE-001 to 016). Makes the store as its last step but one: nothing else is changed.
    """
    if request.sparse_weight:
        return _for_sparse_weights(request)
    kvstore, on_kvstore = _store(request.kvstore, request.devices, sizes)
    distributed = kvstore is not None and 'dist' in kvstore.type
    if request.sparse_grad:
        return _for_sparse_gradients(request, kvstore, distributed)
    return _for_dense(request, kvstore, distributed, on_kvstore)


def _default() -> bool:
    # read as text: an empty value is an error too (rule KVDECIDE-ENV-003)
    return bool(int(os.environ.get(UPDATE_ON_KVSTORE.name, '1')))


def _store(given: Any, devices: int, sizes: Sequence[int]) -> tuple[Any, bool]:
    """The store for a name, a store or None, and where the optimizer runs by default."""
    on_kvstore = _default()
    if given is None:
        return None, False
    if isinstance(given, stores.KVStoreBase):
        return given, on_kvstore
    if not isinstance(given, str):
        raise TypeError(f'kvstore must be KVStore, str or None, got {type(given)}')
    if devices == 1 and 'dist' not in given:
        return None, False
    kvstore = stores.create(given)
    if given == 'local' and max(sizes, default=0) > LARGEST_ON_LOCAL:
        on_kvstore = False
    return kvstore, on_kvstore


def _for_dense(request: Request, kvstore: Any, distributed: bool, on_kvstore: Any) -> Decision:
    wanted = request.update_on_kvstore
    if distributed and 'async' in kvstore.type:
        on_kvstore = True
        if wanted is not None and not wanted:
            raise ValueError('Please set update_on_kvstore=True when training in async mode.')
    if wanted is not None:
        on_kvstore = wanted
    if kvstore is None:
        if on_kvstore:
            raise ValueError(f'Cannot set update_on_kvstore=True without a kvstore: kvstore={request.kvstore!r} on '
                             f'{request.devices} device(s) makes none. Pass a KVStore object or leave it None.')
        return Decision(None, False, None)
    if on_kvstore and not kvstore.is_capable(stores.KVStoreBase.OPTIMIZER):
        if wanted:
            raise ValueError(f'Please set update_on_kvstore=False when training with {type(kvstore)}')
        on_kvstore = False
    return Decision(kvstore, distributed, on_kvstore)


def _for_sparse_gradients(request: Request, kvstore: Any, distributed: bool) -> Decision:
    wanted = request.update_on_kvstore
    if kvstore is None:
        return Decision(None, False, None)
    if not isinstance(kvstore, stores.KVStore):
        raise ValueError(f'Cannot use {type(kvstore)} for multi-device training with sparse gradients')
    if wanted is None:
        return Decision(kvstore, distributed, distributed)
    if not wanted and distributed:
        raise ValueError('Cannot set update_on_kvstore=False on dist kvstore when sparse gradients are present.')
    return Decision(kvstore, distributed, wanted)


def _for_sparse_weights(request: Request) -> Decision:
    kvstore = request.kvstore
    if isinstance(kvstore, str):
        kvstore = stores.create(kvstore)
    elif not isinstance(kvstore, stores.KVStore):
        raise TypeError(f"Cannot create '{kvstore}' KVStore with row_sparse parameters. "
                        f'The type must be KVStore or str.')
    assert kvstore.is_capable(stores.KVStoreBase.OPTIMIZER), \
        f'KVStore with sparse weight requires optimizer support. However, {type(kvstore)} does not support it.'
    if request.update_on_kvstore is not None and not request.update_on_kvstore:
        raise ValueError('Cannot set update_on_kvstore=False when sparse weights are present.')
    return Decision(kvstore, 'dist' in kvstore.type, True)


def elements(shape: Sequence[int]) -> int:
    """The number of elements of a shape."""
    return prod(shape)
