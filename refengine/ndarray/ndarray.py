"""The dense array of the imperative front end."""

from __future__ import annotations

import importlib
import warnings
from typing import Any, NamedTuple

import numpy as np

from .. import device, dispatch, engine, storage
from ..base import IN_GRAPH, MXNetError, as_dtype, shape_text
from ..context import Context, as_context, current_context
from ..op import registry
from ..ops.reshape import squeezed_shape, target_shape
from ..tape import GONE, IDLE, Leaf, state
from ..tape_backward import checked_head, gradients
from ..util import semantics
from . import arithmetic, indexing

_new = object.__new__
invoke = dispatch.invoke
wrap = dispatch.wrap


def _rebuild(cls: type, data: np.ndarray) -> Any:
    return wrap(data, Context('cpu', 0), cls)


class _Handle(NamedTuple):
    """An array that was allocated but not made yet."""

    data: Any
    ctx: Context


def _new_alloc_handle(shape: Any, ctx: Context, delay_alloc: bool, dtype: Any = np.float32) -> _Handle:
    """Memory for an array; with delay_alloc none is taken, so that the device need not be there."""
    if delay_alloc:
        return _Handle(np.broadcast_to(np.zeros((), dtype), shape), ctx)
    return _Handle(device.module(ctx).empty(shape, dtype), ctx)


class NDArray:
    """An array of one element type on one context (``stype`` default).

    Arithmetic broadcasts, never promotes dtypes, and raises MXNetError for operands that do not fit. Basic indexing
    with contiguous results, ``reshape`` and ``detach`` share memory; everything else copies.

    >>> import refengine as mx
    >>> a = mx.nd.array([[1, 2], [3, 4]])
    >>> (a * 2 + a[0]).asnumpy().tolist()
    [[3.0, 6.0], [7.0, 10.0]]
    """

    __slots__ = ('_ctx', '_data', '_node')
    __array_priority__ = 1000.0
    __array_ufunc__ = None       # numpy operators give way to the reflected ones here

    def __init__(self, handle: Any, writable: bool = True) -> None:
        """Wrap a raw array (or a handle of ``_new_alloc_handle``) without a copy; programs use ``mx.nd.array``."""
        data, ctx = handle if isinstance(handle, _Handle) else (handle, None)
        if not writable:
            data = data.view()
            data.flags.writeable = False
        self._data = data
        self._ctx = ctx if ctx is not None else current_context()
        self._node = None

    # ---- what it is --------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of all axes."""
        return self._data.shape

    @property
    def dtype(self) -> type:
        """The element type as numpy class, such as numpy.float32 (rule ND-ATTR-002)."""
        return self._data.dtype.type

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._data.size

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._data.ndim

    @property
    def context(self) -> Context:
        """Where the array lives."""
        return self._ctx

    ctx = device = context

    @property
    def stype(self) -> str:
        """The storage type: default."""
        return 'default'

    @property
    def stride(self) -> tuple[int, ...]:
        """The distance between neighbours along each axis, in elements (rule BCAST-STRIDE-001)."""
        return tuple(n // self._data.itemsize for n in self._data.strides)

    @property
    def T(self) -> Any:
        """The array with all axes reversed, as a copy; a vector is returned as it is (rule ND-ATTR-007)."""
        return self if self._data.ndim < 2 else self.transpose()

    @property
    def writable(self) -> bool:
        """Whether the content may be overwritten; gradients handed to a Function may not."""
        return bool(getattr(self._data.flags, 'writeable', True))

    @property
    def handle(self) -> int:
        """A number that identifies the array while it lives."""
        return id(self)

    def __len__(self) -> int:
        return self._data.shape[0]

    def __hash__(self) -> int:
        return id(self) // 16

    def __repr__(self) -> str:
        engine.wait(self._data)
        text = str(device.to_host(self._data).view(np.ndarray))
        return f'\n{text}\n<{type(self).__name__} {"x".join(str(n) for n in self.shape)} @{self._ctx}>'

    __str__ = __repr__

    def __bool__(self) -> bool:
        size = self._data.size
        if size == 0:
            return False
        if size == 1:
            engine.wait(self._data)
            return bool(self._data.reshape(())[()])
        raise ValueError('The truth value of an NDArray with multiple elements is ambiguous.')

    __nonzero__ = __bool__

    def __contains__(self, value: Any) -> bool:
        return bool((self == value)._data.any())

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.asnumpy()))

    def __getstate__(self) -> dict[str, Any]:
        return {'handle': self.asnumpy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._data, self._ctx, self._node = state['handle'], Context('cpu', 0), None

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.asnumpy() if dtype is None else self.asnumpy().astype(dtype)

    # ---- raw access --------------------------------------------------------------------------------------------

    def _write(self, value: Any) -> None:
        """Overwrite the content in place with a raw value of the same (or a broadcastable) shape."""
        data = self._data
        if value is data:
            return
        if type(value) is engine.FailedArray and value.failure is not None and not value.failure.delivered:
            self._data = engine.fail(data, value.failure)
            return
        token = device.error_state.set(device.ERRORS_IGNORED)
        try:
            data[...] = value
        except (OverflowError, ValueError):
            if not isinstance(value, np.generic):
                raise
            data[...] = np.asarray(value)   # numpy casts inf and NaN to an integer type for arrays, not for numbers
        finally:
            device.error_state.reset(token)

    def _check_writable(self) -> None:
        if state.recording and dispatch.in_graph(self):
            raise MXNetError(IN_GRAPH)

    # ---- values ------------------------------------------------------------------------------------------------

    def wait_to_read(self) -> None:
        """Wait for the value; raises the error of a failed computation, once (rule CTX-ASYNC-004)."""
        if type(self._data) is not np.ndarray:
            engine.wait(self._data)
            if self._ctx.is_gpu:
                device.synchronize(self._ctx)

    def asnumpy(self) -> np.ndarray:
        """A fresh numpy array with the same values, shape and dtype."""
        data = self._data
        if type(data) is not np.ndarray:
            engine.wait(data)
            data = device.to_host(data).view(np.ndarray)
        return np.array(data, order='C')

    def asscalar(self) -> Any:
        """The value of a one-element array as numpy scalar; ValueError for any other size."""
        if self._data.size != 1:
            raise ValueError('The current array is not a scalar')
        return self.asnumpy().reshape(-1)[0]

    def copy(self) -> Any:
        """An independent array on the same context; recorded."""
        return self.copyto(self._ctx)

    def copyto(self, other: Any) -> Any:
        """Copy to a context (a new array) or into an array (in place, converting; returns it); recorded.

        Raises TypeError for any other target and MXNetError when the shapes differ.
        """
        if isinstance(other, NDArray):
            if other is self:
                warnings.warn('You are attempting to copy an array to itself', RuntimeWarning, stacklevel=2)
                return False
            if other.shape != self.shape:
                raise MXNetError(f'Error in operator _copyto: Incompatible attr in node _copyto at 0-th output: '
                                 f'expected {shape_text(self.shape)}, got {shape_text(other.shape)}')
            other._check_writable()
            data = self._data if other._ctx.is_gpu == self._ctx.is_gpu else device.transfer(self._data, other._ctx)
            other._write(data)
            if state.recording:
                dispatch.record(registry['_copyto'], {}, (self,), (self._data,), (other._data,), (other,), other._ctx)
            return other
        if isinstance(other, Context):
            if engine.queue is not None and not (state.recording or other.is_gpu or self._ctx.is_gpu):
                result = dispatch.invoke(registry['_copy'], (self,), {})        # queued (rule CTX-PERF-001)
                result._ctx = other
                return result
            if other.device_typeid != 2 and type(self._data) is np.ndarray:
                data = storage.copy(self._data)
            else:
                failure = engine.failure_of((self._data,))
                data = device.transfer(self._data, other)
                data = engine.fail(data, failure)
            result = wrap(data, other, type(self))
            if state.recording:
                dispatch.record(registry['_copyto'], {}, (self,), (self._data,), (data,), (result,), other)
            return result
        raise TypeError(f'copyto does not support type {type(other)}')

    def copyfrom(self, source: Any) -> Any:
        """Overwrite the array from a list, numpy array or NDArray of the same shape; returns the array."""
        self._check_writable()
        value = device.to_host(source._data) if isinstance(source, NDArray) else np.asarray(source)
        if value.shape != self.shape:
            raise ValueError(f'Shape inconsistent: expected {self.shape} vs got {value.shape}')
        self._write(value if not self._ctx.is_gpu else device.transfer(value, self._ctx))
        return self

    _sync_copyfrom = copyfrom

    def as_in_context(self, context: Any) -> Any:
        """The array itself when it is there already, else a copy on the context; recorded."""
        return self if self._ctx == context else self.copyto(as_context(context))

    as_in_ctx = to_device = as_in_context

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The array with another element type (rule ND-CAST-001); recorded."""
        if dtype is None:
            dtype = np.float32
        dtype = as_dtype(dtype)
        if not copy and dtype == self._data.dtype:
            return self
        return invoke(registry['cast'], (self,), {'dtype': dtype.name})

    def as_nd_ndarray(self) -> Any:
        """The array as legacy NDArray: itself."""
        return self

    # ---- autograd ----------------------------------------------------------------------------------------------

    def attach_grad(self, grad_req: str = 'write', stype: str | None = None) -> None:
        """Make the array a variable with a gradient buffer of zeros; grad_req is write, add or null."""
        from ..autograd import _check_req
        req = _check_req(grad_req)
        buffer = wrap(device.module_of(self._data).zeros(self._data.shape, self._data.dtype), self._ctx, type(self))
        self._node = Leaf(buffer, req, self._data.dtype)

    def drop_grad(self) -> None:
        """Remove the gradient buffer and the mark."""
        self._node = None

    @property
    def grad(self) -> Any:
        """The gradient buffer as an array, or None; a new object over the same buffer each time."""
        node = self._node
        if node is None or node.sequence >= 0:
            return None
        buffer = node.grad
        result = wrap(buffer._data, buffer._ctx, type(buffer))
        result._node = buffer._node
        return result

    @property
    def _grad(self) -> Any:
        node = self._node
        return None if node is None or node.sequence >= 0 else node.grad

    @property
    def _fresh_grad(self) -> bool:
        """Whether backward has written the gradient since the flag was cleared; the Trainer's stale check reads it."""
        node = self._node
        return bool(node is not None and node.sequence < 0 and node.fresh)

    @_fresh_grad.setter
    def _fresh_grad(self, fresh: bool) -> None:
        node = self._node
        if node is not None and node.sequence < 0:
            node.fresh = bool(fresh)

    @property
    def grad_req(self) -> str | None:
        """write, add or null for a variable, else None."""
        node = self._node
        return None if node is None or node.sequence >= 0 else node.req

    @property
    def is_leaf(self) -> bool:
        """Whether the array is not the output of a recorded operator."""
        node = self._node
        return node is None or node.sequence < 0 or node.kind == GONE

    @property
    def requires_grad(self) -> bool:
        """Whether backward would have a use for the array's gradient."""
        node = self._node
        return node is not None and node.kind != GONE and node.kind != IDLE

    def detach(self) -> Any:
        """An array over the same memory that is in no graph."""
        return wrap(self._data, self._ctx, type(self))

    def backward(self, out_grad: Any = None, retain_graph: bool = False, train_mode: bool = True) -> None:
        """Write the gradients of the sum of the elements (or of their product with ``out_grad``) into the variables."""
        gradients((self,), None if out_grad is None else (checked_head(out_grad),), retain_graph=retain_graph,
                  create_graph=False, train_mode=train_mode)

    # ---- shapes ------------------------------------------------------------------------------------------------

    def reshape(self, *shape: Any, **kwargs: Any) -> Any:
        """The array in another shape over the same memory; codes 0, -1, -2, -3, -4 as in ``nd.reshape``."""
        unknown = kwargs and set(kwargs) - {'shape', 'reverse'}
        if unknown:
            raise TypeError(f'Got unknown keywords in reshape: {", ".join(sorted(unknown))}. Accepted keyword '
                            f"arguments are 'shape' and 'reverse'.")
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        elif not shape:
            given = kwargs.get('shape')
            assert given, f'Shape must be provided, got {given}'
            shape = (given,) if isinstance(given, int) else tuple(given)
        target = target_shape(self._data.shape, shape, bool(kwargs.get('reverse', False)))
        return self._viewed(target, 'reshape', {'shape': target, 'reverse': False})

    def _viewed(self, shape: tuple[int, ...], name: str, params: dict[str, Any]) -> Any:
        """The same memory under another shape, recorded as the named operator."""
        data = self._data
        if not data.flags.c_contiguous:
            data = self._data = np.ascontiguousarray(data)
        try:
            view = data.reshape(shape)
        except ValueError:
            raise MXNetError(f'Cannot reshape array of size {data.size} into shape {tuple(shape)}') from None
        result = wrap(view, self._ctx, type(self))
        if state.recording:
            dispatch.record(registry[name], params, (self,), (data,), (view,), (result,), self._ctx)
        return result

    def expand_dims(self, axis: int, inplace: bool = False) -> Any:
        """The array with a new axis of length 1; a view with ``inplace``."""
        if not inplace:
            return invoke(registry['expand_dims'], (self,), {'axis': axis})
        ndim = self.ndim
        assert -ndim - 1 <= axis <= ndim, f'axis {axis} is out of bounds for array of dimension {ndim}'
        position = axis + ndim + 1 if axis < 0 else axis
        return self.reshape(self.shape[:position] + (1,) + self.shape[position:])

    def squeeze(self, axis: Any = None, inplace: bool = False) -> Any:
        """The array without its axes of length 1; a view with ``inplace``."""
        if not inplace:
            return invoke(registry['squeeze'], (self,), {'axis': axis})
        return self.reshape(squeezed_shape(self.shape, axis))

    def flatten(self, inplace: bool = False) -> Any:
        """The array with all axes but the first merged; a view with ``inplace``."""
        return self.reshape((self.shape[0], -1)) if inplace else invoke(registry['Flatten'], (self,), {})

    def broadcast_to(self, shape: Any) -> Any:
        """A copy with axes of length 1 repeated and leading axes added; ValueError when the shapes do not fit."""
        target = (shape,) if isinstance(shape, int) else tuple(shape)
        current = self.shape
        bad = ValueError(f'operands could not be broadcast together with remapped shapes [original->remapped]: '
                         f'{current} and requested shape {target}')
        if len(target) < len(current):
            raise bad
        padded = (1,) * (len(target) - len(current)) + current
        if any(a not in (1, b) for a, b in zip(padded, target)):
            raise bad
        source = self if padded == current else self.reshape(padded)
        return invoke(registry['broadcast_to'], (source,), {'shape': target})

    def broadcast_like(self, other: Any) -> Any:
        """A copy broadcast to the shape of another array."""
        return self.broadcast_to(other.shape)

    def slice_assign(self, rhs: Any, begin: Any, end: Any, step: Any) -> Any:
        """Write into a slice in place and return the array."""
        self[tuple(slice(*bounds) for bounds in zip(begin, end, step or (None,) * len(begin)))] = rhs
        return self

    def slice_assign_scalar(self, value: float, begin: Any, end: Any, step: Any) -> Any:
        """Write a number into a slice in place and return the array."""
        return self.slice_assign(value, begin, end, step)

    # ---- indexing ----------------------------------------------------------------------------------------------

    __getitem__ = indexing.getitem
    __setitem__ = indexing.setitem

    def at(self, index: int) -> Any:
        """One entry of the first axis, as a view."""
        return self[index]

    _at = at

    # ---- other storage types -----------------------------------------------------------------------------------

    def tostype(self, stype: str) -> Any:
        """The array in another storage type."""
        if stype == 'default':
            return self
        from . import sparse
        return sparse.cast_storage(self, stype)

    def to_dlpack_for_read(self) -> Any:
        """A DLPack capsule over the memory of the array."""
        from . import exchange
        return exchange.to_dlpack_for_read(self)

    def to_dlpack_for_write(self) -> Any:
        """A DLPack capsule over the memory of the array, for writing."""
        from . import exchange
        return exchange.to_dlpack_for_write(self)


arithmetic.install(NDArray)
dispatch.NDArray = NDArray
if engine.queue is not None:
    from .. import lazy
    lazy.install(NDArray)


def waitall() -> None:
    """Wait until everything is done; raises one pending error, if any, and drops the others."""
    engine.waitall()


_ = semantics


_OF_THE_PACKAGE = frozenset((
    'add', 'arange', 'array', 'concatenate', 'divide', 'empty', 'equal', 'eye', 'from_dlpack', 'from_numpy', 'full',
    'get_indexing_dispatch_code', 'get_oshape_of_gather_nd_op', 'greater', 'greater_equal', 'histogram', 'imdecode',
    'indexing_key_expand_implicit_axes', 'lesser', 'lesser_equal', 'linspace', 'logical_and', 'logical_or',
    'logical_xor', 'maximum', 'minimum', 'modulo', 'moveaxis', 'multiply', 'not_equal', 'onehot_encode', 'ones',
    'power', 'split_v2', 'subtract', 'to_dlpack_for_read', 'to_dlpack_for_write', 'true_divide', 'zeros'))


def __getattr__(name: str) -> Any:
    """Functions of the package and numbers of types, which programs also look for here."""
    if name in _OF_THE_PACKAGE:
        return getattr(importlib.import_module(__package__), name)
    if name.startswith(('_DTYPE', '_STORAGE')):
        from . import type_numbers
        if name in vars(type_numbers):
            return getattr(type_numbers, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
