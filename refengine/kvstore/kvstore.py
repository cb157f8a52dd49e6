"""The stores of one process: 'local' adds up on the CPU, 'device' on the devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import compression, device, engine, env
from ..base import MXNetError
from ..context import cpu
from ..dispatch import wrap
from ..ndarray import NDArray
from ..optimizer import flat, get_updater, state_file
from . import keys, reduce
from .base import KVStoreBase

VAN_TYPE = env.declare('DMLC_PS_VAN_TYPE', str, '', 'p3: stores made now cannot run an optimizer.')

Updater = Callable[[Any, Any, Any], None]


class KVStore(KVStoreBase):
    """Values by key, which all devices of this process share.

    A push adds up what the devices give, then replaces the stored value or, with an optimizer, updates it; a pull
    copies the stored value to every device.

    >>> import refengine as mx
    >>> kv = mx.kvstore.create('device')
    >>> kv.init('w', mx.nd.zeros((2,)))
    >>> kv.push('w', [mx.nd.ones((2,), ctx=mx.cpu(i)) for i in range(3)])
    >>> out = mx.nd.zeros((2,))
    >>> kv.pull('w', out=out)
    >>> out.asnumpy().tolist()
    [3.0, 3.0]
    """

    def __init__(self, name: str = 'local') -> None:
        self._type = name
        self._values: dict[Any, NDArray] = {}
        self._kind = keys.KeyKind()
        self._updater: Any = None
        self._updater_func: Updater | None = None
        self._codec: compression.Codec | None = None
        self._residuals: dict[Any, list[Any]] = {}
        self._is_p3 = VAN_TYPE.read().startswith('p3')

    # ---- what it is ------------------------------------------------------------------------------------------

    @property
    def type(self) -> str:
        """The name that the store was made by, in lower case."""
        return self._type

    @property
    def rank(self) -> int:
        """The number of this worker: 0."""
        return 0

    @property
    def num_workers(self) -> int:
        """How many workers share the store: 1."""
        return 1

    def is_capable(self, capability: str) -> bool:  # type: ignore[override]
        """Whether the optimizer may run on the store; ValueError for an unknown capability (KVDECIDE-CAP-002)."""
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return not self._is_p3
        raise ValueError(f'Unknown capability: {capability}')

    def __reduce__(self) -> Any:
        raise ValueError(f'a kvstore cannot be pickled: {self._type!r} holds state of this process')

    # ---- values ----------------------------------------------------------------------------------------------

    def init(self, key: Any, value: Any) -> None:
        """Store a copy of a value under a new key; MXNetError for a key that is there (rule KV-KEY-001)."""
        names, values = keys.pairs(key, value)
        self._kind.settle(names)
        for name, arrays in zip(names, values):
            self._init_one(name, arrays[0])

    def _init_one(self, name: Any, array: Any) -> None:
        if name in self._values:
            raise MXNetError(f'duplicate init of key {name}. Please double check if you called kv.init or '
                             f'kv.broadcast with this key multiple times')
        context = array.context if 'device' in self._type else cpu(0)
        self._values[name] = array.copyto(context).detach()

    def _stored(self, name: Any) -> NDArray:
        try:
            return self._values[name]
        except KeyError:
            missing = f"key {name} doesn't exist. Did you init?" if isinstance(name, str) else \
                f'key {name} has not been inited'
            raise MXNetError(missing) from None

    def push(self, key: Any, value: Any, priority: int = 0) -> None:
        """Add up values and replace, or update, what is stored; the values stay as they are.

        MXNetError for a key that was not initialised and for values of different shapes.
        """
        for name, arrays in self._checked(key, value).items():
            self._push_one(name, arrays)

    def _checked(self, key: Any, value: Any) -> dict[Any, list[Any]]:
        """Values by key, after everything that can be wrong with them was looked at."""
        names, values = keys.pairs(key, value)
        self._kind.settle(names)
        found = {name: arrays for name, arrays in keys.merged(names, values).items() if arrays}
        for name, arrays in found.items():
            self._stored(name)
            reduce.check_alike(arrays)
            if self._codec is not None:
                self._codec.check(arrays)
        return found

    def _push_one(self, name: Any, arrays: Sequence[Any], copies: Sequence[Any] = ()) -> None:
        """Push for one key; ``copies`` are raw arrays that get the sum as well, where there is no updater."""
        stored = self._values[name]
        failure = engine.failure_of([a._data for a in arrays])
        if failure is not None:
            stored._data = engine.fail(stored._data, failure)
            return
        parts = [a._data for a in arrays] if self._codec is None else self._compressed(name, arrays)
        token = device.error_state.set(device.ERRORS_IGNORED)
        try:
            if self._updater_func is None:
                same = stored._data.shape == parts[0].shape and stored._data.dtype == parts[0].dtype
                stored._data = reduce.add_up(parts, stored.context, stored._data if same else None, copies)
                return
            as_it_is = len(parts) == 1 and not stored.context.is_gpu and flat.is_library(
                getattr(self._updater, 'optimizer', None))  # any other updater might write into what it is given
            total = parts[0] if as_it_is else reduce.add_up(parts, stored.context)
        finally:
            device.error_state.reset(token)
        self._updater_func(name.encode() if isinstance(name, str) else name, wrap(total, stored.context), stored)

    def _compressed(self, name: Any, arrays: Sequence[Any]) -> list[Any]:
        """What arrives of the values after compression; each device keeps a residual (rule COMP-RES-001)."""
        assert self._codec is not None
        residuals = self._residuals.setdefault(name, [])
        while len(residuals) < len(arrays):
            residuals.append(device.module_of(arrays[len(residuals)]._data).zeros_like(arrays[len(residuals)]._data))
        return [self._codec.quantise(array._data, residual) for array, residual in zip(arrays, residuals)]

    def pull(self, key: Any, out: Any = None, priority: int = 0, ignore_sparse: bool = True) -> None:
        """Copy stored values into arrays, converting their dtype; shapes must be equal (rules KV-PUSH-009, 010)."""
        assert out is not None, 'pull needs out: the arrays to write into'
        names, targets = keys.pairs(key, out)
        self._kind.settle(names)
        for name, arrays in zip(names, targets):
            stored = self._stored(name)
            for array in arrays:
                if array.shape != stored.shape:
                    raise reduce.shape_mismatch(stored, array)
            for array in arrays:
                _overwrite(array, stored)

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Push, then pull into ``out`` or back into the values (rule KV-PUSH-017)."""
        plain = self._updater_func is None and self._codec is None
        if out is not None or isinstance(key, (list, tuple)) or not plain:
            self.push(key, value, priority)
            self.pull(key, value if out is None else out, priority)
            return
        for name, arrays in self._checked(key, value).items():
            if any(type(a._data) is engine.FailedArray for a in arrays):
                self._push_one(name, arrays)
                self.pull(name, arrays)
            else:
                self._push_one(name, arrays, [a._data for a in arrays])

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Store values under new keys and copy them into ``out`` (rule KV-PUSH-018)."""
        self.init(key, value)
        self.pull(key, out if isinstance(out, (list, tuple, NDArray)) else list(out), priority)

    def row_sparse_pull(self, key: Any, out: Any = None, priority: int = 0, row_ids: Any = None) -> None:
        """Copy rows of a row-sparse value; MXNetError, as there are no row-sparse arrays yet (rule KV-RSP-005)."""
        assert out is not None, 'row_sparse_pull needs out: the arrays to write into'
        assert row_ids is not None, 'row_sparse_pull needs row_ids: the rows to fetch'
        for ids in row_ids if isinstance(row_ids, (list, tuple)) else [row_ids]:
            assert isinstance(ids, NDArray), f'row_ids must be NDArrays, got {type(ids)}'
        names, _ = keys.pairs(key, out)
        self._kind.settle(names)
        for name in names:
            self._stored(name)
        raise MXNetError('Expected row_sparse storage type for row_sparse_pull values, but detected storage type 0 '
                         '(default): sparse storage is not implemented yet')

    # ---- optimizer and compression ---------------------------------------------------------------------------

    def set_optimizer(self, optimizer: Any) -> None:
        """Update stored values with an optimizer from now on: every push is a step (rule KV-UPD-004)."""
        self._set_updater(get_updater(optimizer))

    def _set_updater(self, updater: Any) -> None:
        """Call ``updater(key, sum of the values, stored)`` at every push; str keys arrive as bytes (KV-UPD-002)."""
        self._updater = updater
        self._updater_func = updater

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """Write the optimizer states, with ``dump_optimizer`` the optimizer too (rules KV-UPD-006, 007)."""
        assert self._updater is not None, 'Cannot save states for distributed training'
        state_file.write_atomically(fname, self._updater.get_states(dump_optimizer))

    def load_optimizer_states(self, fname: str) -> None:
        """Read optimizer states that this engine or a release of MXNet wrote."""
        assert self._updater is not None, 'Cannot load states for distributed training'
        with open(fname, 'rb') as file:
            self._updater.set_states(file.read())

    def set_gradient_compression(self, compression_params: Any) -> None:
        """Compress what is pushed from now on, e.g. ``{'type': '2bit', 'threshold': 0.5}``.

        Only stores whose type says 'device' or 'dist' compress; residuals live on (COMP-TYPE-001, COMP-RES-004).
        """
        if 'device' not in self._type and 'dist' not in self._type:
            raise Exception('Gradient compression is not supported for this type of kvstore')
        self._codec = compression.create(compression_params)

    # ---- what only means something among several processes ---------------------------------------------------

    def _barrier(self) -> None:
        """Wait for the other workers, of which there are none."""

    def _send_command_to_servers(self, head: int, body: str) -> None:
        """Tell the servers something; there are none."""


def _overwrite(array: Any, stored: Any) -> None:
    """Copy a stored value into an array, whatever graph it is part of."""
    source = stored._data
    failure = engine.failure_of([source])
    if failure is not None:
        array._data = engine.fail(array._data, failure)
        return
    token = device.error_state.set(device.ERRORS_IGNORED)
    try:
        reduce.write(array._data, source)
    finally:
        device.error_state.reset(token)


