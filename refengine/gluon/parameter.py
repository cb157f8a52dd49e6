"""Parameters of blocks: arrays with one copy per context, deferred initialisation and gradients."""

from __future__ import annotations

import itertools
import threading
import uuid
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .. import autograd, initializer
from .. import ndarray as nd
from ..base import MXNetError
from ..context import Context, cpu, current_context
from .utils import shape_is_known

STORAGE_TYPES = ('default', 'row_sparse', 'csr')
_UNINITIALIZED = ('Note that you should initialize parameters and create Trainer with Block.collect_params() '
                  'instead of Block.params because the later does not include Parameters of nested child Blocks')
_DEFERRED = ('has not been initialized yet because initialization was deferred. Actual initialization happens during '
             'the first forward pass. Please pass one batch of data through the network before accessing Parameters. '
             'You can also avoid deferred initialization by specifying in_units, num_features, etc., for network '
             'layers.')


class _ShapePass(threading.local):
    active = False


shape_pass = _ShapePass()
"""Whether this thread follows a forward pass only for its shapes; parameters without arrays then read as zeros."""


class DeferredInitializationError(MXNetError):
    """A parameter was used while its shape was still unknown (rule GLUON-DEFER-001)."""


class Parameter:
    """A weight of a block: one array per context, and one gradient beside each.

    ``shape`` may hold unknown dimensions (0 or -1); with ``allow_deferred_init=True`` the arrays are then made when the
    first forward pass has settled the shape. ``grad_req`` is 'write', 'add' or 'null'; ``lr_mult`` and ``wd_mult``
    scale learning rate and weight decay of a Trainer.

    >>> import refengine as mx
    >>> w = mx.gluon.Parameter('weight', shape=(2,))
    >>> w.initialize(mx.init.One())
    >>> w.data().asnumpy().tolist()
    [1.0, 1.0]
    """

    _overflowed = False
    """Whether a loss scaler found inf or NaN in the gradient; the next step of the Trainer is skipped then."""

    def __init__(self, name: str = 'weight', grad_req: str = 'write', shape: Any = None, dtype: Any = np.float32,
                 lr_mult: float = 1.0, wd_mult: float = 1.0, init: Any = None, allow_deferred_init: bool = False,
                 differentiable: bool = True, stype: str = 'default', grad_stype: str = 'default') -> None:
        self._uuid = str(uuid.uuid4())
        self._var: Any = None
        self._data: list[Any] | None = None
        self._grad: list[Any] | None = None
        self._ctx_list: list[Context] | None = None
        self._deferred_init: tuple[Any, ...] = ()
        self._trainer: Any = None
        self._differentiable = differentiable
        self._allow_deferred_init = allow_deferred_init
        self._grad_req: str | None = None
        self._shape = (shape,) if isinstance(shape, int) else shape
        self.name = name
        self._dtype = dtype
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.grad_req = grad_req
        self.init = init
        for what, value in (('stype', stype), ('grad_stype', grad_stype)):
            assert value in STORAGE_TYPES, \
                f"{what} for Parameter '{name}' must be one of 'default', 'row_sparse', or 'csr', but got '{value}'"
        self._stype = stype
        self._grad_stype = grad_stype

    def __repr__(self) -> str:
        return f'Parameter {self.name} (shape={self.shape}, dtype={self.dtype})'

    # ---- attributes ------------------------------------------------------------------------------------------

    @property
    def stype(self) -> str:
        """Storage type of the weight."""
        return self._stype

    @property
    def grad_stype(self) -> str:
        """Storage type of the gradient."""
        return self._grad_stype

    @property
    def grad_req(self) -> str:
        """What backward does with the gradient: 'write', 'add' or 'null'."""
        return self._grad_req  # type: ignore[return-value]

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        assert req in ('write', 'add', 'null'), \
            f"grad_req must be one of 'write', 'add', or 'null', but got '{req}'"
        if not self._differentiable:
            req = 'null'
        if self._grad_req == req:
            return
        self._grad_req = req
        if req == 'null' and self._grad is not None:
            self._grad = None
            self._data = [array.detach() for array in self._data]  # type: ignore[union-attr]
        elif self._data is not None:
            self._init_grad()

    @property
    def dtype(self) -> Any:
        """Element type; setting it casts the arrays."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self.cast(dtype)

    @property
    def shape(self) -> Any:
        """The shape; unknown dimensions are 0. Setting it fills in unknown dimensions only."""
        return None if self._shape is None else tuple(self._shape)

    @shape.setter
    def shape(self, shape: Sequence[int]) -> None:
        if self._shape is None:
            self._shape = tuple(shape)
            return
        assert _fits(self._shape, shape), \
            f'Expected shape {tuple(shape)} is incompatible with given shape {tuple(self._shape)}.'
        self._shape = tuple(shape)

    @property
    def _ctx_map(self) -> list[list[int | None]]:
        """Which copy is on which context, by kind and number; parameters that wrap one of another take it over."""
        found: list[list[int | None]] = [[], []]
        for position, ctx in enumerate(self._ctx_list or ()):
            places = found[ctx.device_typeid & 1]
            places += [None] * (ctx.device_id + 1 - len(places))
            places[ctx.device_id] = position
        return found

    @_ctx_map.setter
    def _ctx_map(self, places: Any) -> None:
        """Nothing to do: it follows from ``_ctx_list``."""

    def _set_trainer(self, trainer: Any) -> None:
        if self._stype != 'default' and self._trainer and trainer and self._trainer is not trainer:
            raise RuntimeError(f"Failed to set the trainer for Parameter '{self.name}' because it was already set. "
                               f'More than one trainers for a {self._stype} Parameter is not supported.')
        self._trainer = trainer

    # ---- initialisation --------------------------------------------------------------------------------------

    def initialize(self, init: Any = None, ctx: Any = None, default_init: Any = None, force_reinit: bool = False,
                   *, device: Any = None) -> None:
        """Make and fill the arrays; ``init`` comes before ``self.init``, which comes before ``default_init``.

        ValueError if the shape is unknown and deferring is not allowed. A second call only warns unless
        ``force_reinit`` (rules GLUON-DEFER-005, GLUON-DEFER-007).
        """
        if self._data is not None and not force_reinit:
            warnings.warn(f"Parameter '{self.name}' is already initialized, ignoring. "
                          f'Set force_reinit=True to re-initialize.', stacklevel=2)
            return
        self._data = self._grad = None
        contexts = _contexts(device if ctx is None else ctx)
        if default_init is None:
            default_init = initializer.Uniform()
        if init is None:
            init = default_init if self.init is None else self.init
        if not shape_is_known(self._shape):
            if not self._allow_deferred_init:
                raise ValueError(f"Cannot initialize Parameter '{self.name}' because it has invalid shape: "
                                 f'{self._shape}.')
            self._deferred_init = (init, contexts, default_init, None)
            return
        self._deferred_init = (init, contexts, default_init, None)
        self._finish_deferred_init()

    def _finish_deferred_init(self) -> None:
        if not self._deferred_init:
            return
        init, contexts, default_init, data = self._deferred_init
        assert shape_is_known(self._shape), \
            (f"Cannot initialize Parameter '{self.name}' because it has invalid shape: {self._shape}. "
             f'Please specify in_units, in_channels, etc for `Block`s.')
        with autograd.pause():
            if data is None:
                self._refuse_sparse()
                data = nd.zeros(self._shape, dtype=self._dtype, ctx=cpu())
                description = initializer.InitDesc(self.name, {'__init__': init})
                initializer.create(default_init)(description, data)
            self._deferred_init = ()
            self._init_impl(data, contexts)

    def _refuse_sparse(self) -> None:
        for what, value in (('stype', self._stype), ('grad_stype', self._grad_stype)):
            if value != 'default':
                raise MXNetError(f"Parameter '{self.name}' has {what} '{value}': sparse storage is not implemented yet")

    def _init_impl(self, data: Any, contexts: Iterable[Context]) -> None:
        self._ctx_list = list(contexts)
        self._data = [data.copyto(ctx) for ctx in self._ctx_list]
        self._init_grad()

    def _init_grad(self) -> None:
        if self.grad_req == 'null':
            self._grad = None
            return
        assert self._data is not None
        self._grad = [nd.zeros(array.shape, dtype=array.dtype, ctx=array.context) for array in self._data]
        autograd.mark_variables(self._data, self._grad, self.grad_req)

    def _load_init(self, data: Any, ctx: Any, cast_dtype: bool = False, dtype_source: str = 'current') -> None:
        """Take the values of a loaded array after checking it; unknown dimensions are settled, arrays made."""
        if cast_dtype:
            assert dtype_source in ('current', 'saved'), \
                f"dtype_source must be 'current' or 'saved', but got '{dtype_source}'"
        if self._shape is not None:
            assert _fits(self._shape, data.shape), \
                (f"Failed loading Parameter '{self.name}' from saved params: shape incompatible expected "
                 f'{self.shape} vs saved {data.shape}')
            self.shape = data.shape
        if self._dtype is not None:
            if cast_dtype and np.dtype(self._dtype) != data.dtype:
                if dtype_source == 'current':
                    data = data.astype(self._dtype, copy=False)
                else:
                    self._dtype = data.dtype
            else:
                assert np.dtype(self._dtype) == data.dtype, \
                    (f"Failed loading Parameter '{self.name}' from saved params: dtype incompatible expected "
                     f'{self._dtype} vs saved {data.dtype}. Set cast_dtype=True to cast the dtype of saved params.')
        contexts = None if ctx is None else _contexts(ctx)
        if self._data is None:
            if self._deferred_init:
                waiting = self._deferred_init[1]
                assert contexts is None or set(contexts) == set(waiting), self._placed(contexts, waiting)
                contexts = waiting
            elif contexts is None:
                contexts = [cpu()]
            with autograd.pause():
                self._init_impl(data, contexts)
        else:
            present = self.list_ctx()
            assert contexts is None or set(contexts) == set(present), self._placed(contexts, present)
            if self._data[0].dtype != data.dtype:
                self._cast_arrays(data.dtype)
            self.set_data(data)
        self._deferred_init = ()

    def _placed(self, wanted: Sequence[Context], present: Sequence[Context]) -> str:
        return (f"Failed to load Parameter '{self.name}' on {list(wanted)} because it was previous initialized on "
                f'{list(present)}.')

    # ---- data and gradients ----------------------------------------------------------------------------------

    def _missing(self) -> Exception:
        if self._deferred_init:
            return DeferredInitializationError(f"Parameter '{self.name}' {_DEFERRED}")
        return RuntimeError(f"Parameter '{self.name}' has not been initialized. {_UNINITIALIZED}")

    def _check_and_get(self, arrays: list[Any] | None, ctx: Any) -> Any:
        if arrays is None:
            raise self._missing()
        if ctx is list:
            return arrays
        if ctx is None:
            if len(arrays) == 1:
                return arrays[0]
            ctx = current_context()
        contexts = self._ctx_list
        assert contexts is not None
        for wanted in dict.fromkeys((ctx, ctx.home)):       # pinned and shared memory is memory of the CPU
            for array, place in zip(arrays, contexts, strict=True):
                if place == wanted:
                    return array
        raise RuntimeError(f"Parameter '{self.name}' was not initialized on context {ctx}. "
                           f'It was only initialized on {contexts}.')

    def data(self, ctx: Any = None, *, device: Any = None) -> Any:
        """The array on a context; without one, the only array or that on the current context (GLUON-PARAMS-008)."""
        if ctx is None:
            ctx = device
        arrays = self._data
        if arrays is None:
            if shape_pass.active and shape_is_known(self._shape):
                return nd.zeros(self._shape, dtype=self._dtype, ctx=ctx)
        elif len(arrays) == 1 and self._stype == 'default' and (ctx is None or ctx is self._ctx_list[0]):  # type: ignore
            return arrays[0]
        if self._stype != 'default':
            raise RuntimeError(f"Cannot return a copy of Parameter '{self.name}' on ctx {ctx} via data() because its "
                               f'storage type is {self._stype}. Please use row_sparse_data() instead.')
        return self._check_and_get(self._data, ctx)

    def list_data(self) -> list[Any]:
        """The arrays on all contexts, in the order of initialisation."""
        if self._stype != 'default':
            raise RuntimeError(f"Cannot return copies of Parameter '{self.name}' on all contexts via list_data() "
                               f"because "
                               f'its storage type is {self._stype}. Please use row_sparse_data() instead.')
        return self._check_and_get(self._data, list)

    def _has_gradient(self) -> None:
        if self._data is not None and self._grad is None:
            raise RuntimeError(f"Cannot get gradient array for Parameter '{self.name}' because "
                               f"grad_req='{self.grad_req}'")

    def grad(self, ctx: Any = None, *, device: Any = None) -> Any:
        """The gradient on a context; RuntimeError with grad_req 'null' (rule GLUON-PARAMS-003)."""
        self._has_gradient()
        return self._check_and_get(self._grad, device if ctx is None else ctx)

    def list_grad(self) -> list[Any]:
        """The gradients on all contexts."""
        self._has_gradient()
        return self._check_and_get(self._grad, list)

    def list_ctx(self) -> list[Context]:
        """The contexts that hold, or after deferred initialisation will hold, the parameter."""
        if self._data is None:
            if self._deferred_init:
                return self._deferred_init[1]
            raise RuntimeError(f"Parameter '{self.name}' has not been initialized")
        return self._ctx_list  # type: ignore[return-value]

    list_device = list_ctx

    def zero_grad(self) -> None:
        """Set all gradients to zero; nothing happens where there are none."""
        for gradient in self._grad or ():
            with autograd.pause():
                gradient[:] = 0

    def set_data(self, data: Any) -> None:
        """Write the same values into the arrays of all contexts; settles the shape of a deferred parameter."""
        self.shape = data.shape
        if self._data is None:
            assert self._deferred_init, f"Parameter '{self.name}' has not been initialized"
            self._deferred_init = (*self._deferred_init[:3], data if isinstance(data, nd.NDArray)
                                   else nd.array(data, dtype=self._dtype))
            return
        if self._trainer is not None:
            # A copy that a store updates by itself would undo the new values at the next step (rule TRAINER-STATE).
            trainer = self._trainer
            if trainer._kv_initialized and trainer._update_on_kvstore and self not in trainer._params_to_init:
                trainer._reset_kvstore()
        with autograd.pause():
            for array in self._check_and_get(self._data, list):
                array[:] = data

    def _reduce(self) -> Any:
        """The mean over all contexts, on cpu(0): what is saved (rule PAR-DP-010)."""
        if self._stype != 'default':
            raise MXNetError(f"Parameter '{self.name}' has stype '{self._stype}': sparse storage is not implemented "
                             f"yet")
        arrays = self.list_data()
        if len(arrays) == 1:
            return arrays[0].copyto(cpu())
        with autograd.pause():
            total = arrays[0].copyto(cpu())
            for array in arrays[1:]:
                total += array.as_in_context(cpu())
            total /= len(arrays)
        return total

    def reset_ctx(self, ctx: Any) -> None:
        """Move the parameter to other contexts; several copies become their mean first."""
        contexts = _contexts(ctx)
        if self._data is not None:
            data = self._reduce()
            with autograd.pause():
                self._init_impl(data, contexts)
        elif self._deferred_init:
            init, _, default_init, data = self._deferred_init
            self._deferred_init = (init, contexts, default_init, data)
        else:
            raise ValueError(f"Cannot reset context for Parameter '{self.name}' because it has not been initialized.")

    reset_device = reset_ctx

    def cast(self, dtype: Any) -> None:
        """Change the element type of arrays and gradients; TypeError for an unknown one (rule GLUON-PARAMS-016)."""
        self._dtype = dtype
        if self._data is not None:
            self._cast_arrays(dtype)

    def _cast_arrays(self, dtype: Any) -> None:
        with autograd.pause():
            self._data = [array.astype(dtype) for array in self._data]  # type: ignore[union-attr]
            if self._grad is not None:
                self._grad = [gradient.astype(dtype) for gradient in self._grad]
                autograd.mark_variables(self._data, self._grad, self.grad_req)

    def row_sparse_data(self, row_id: Any) -> Any:
        """The rows ``row_id`` of a row_sparse parameter; RuntimeError for a dense one or without a Trainer."""
        self._needs_row_sparse(f'a copy of Parameter {self.name} via row_sparse_data()')
        return self._get_row_sparse(self._data, row_id.context, row_id)

    def list_row_sparse_data(self, row_id: Any) -> list[Any]:
        """The rows ``row_id`` of a row_sparse parameter on all contexts."""
        self._needs_row_sparse(f"copies of Parameter '{self.name}' on all contexts via list_row_sparse_data()")
        return self._get_row_sparse(self._data, list, row_id)

    def _needs_row_sparse(self, what: str) -> None:
        if self._stype != 'row_sparse':
            raise RuntimeError(f'Cannot return {what} because its storage type is {self._stype}. '
                               f'Please use data() instead.')

    def _get_row_sparse(self, arrays: list[Any] | None, ctx: Any, row_id: Any) -> Any:
        if not isinstance(row_id, nd.NDArray):
            raise TypeError(f'row_id must have NDArray type, but {type(row_id)} is given')
        if not self._trainer:
            raise RuntimeError(f"Cannot get row_sparse data for Parameter '{self.name}' when no Trainer is created "
                               f'with it.')
        results = self._check_and_get(arrays, ctx)
        self._trainer._row_sparse_pull(self, results, row_id)
        return results

    def var(self) -> Any:
        """The symbolic variable that stands for this parameter."""
        if self._var is None:
            try:
                from .. import symbol
            except ImportError:
                raise NotImplementedError('symbols are not implemented yet') from None
            self._var = symbol.var(self.name, shape=self.shape, dtype=self.dtype, lr_mult=self.lr_mult,
                                   wd_mult=self.wd_mult, init=self.init, stype=self._stype)
        return self._var


class Constant(Parameter):
    """A parameter that never gets a gradient and always has the given value.

    >>> c = Constant('mask', [[1, 0]])
    >>> c.initialize()
    >>> c.data().asnumpy().tolist(), c.grad_req
    ([[1.0, 0.0]], 'null')
    """

    _numbers = itertools.count()

    def __init__(self, name: Any, value: Any = None) -> None:
        if value is None and not isinstance(name, str):
            name, value = 'const', name
        if not isinstance(value, nd.NDArray):
            value = nd.array(value)
        self.value = value

        class ConstantValue(initializer.Initializer):
            def _init_weight(self, _: Any, arr: Any) -> None:
                value.copyto(arr)

        key = f'Constant_{name}_{next(self._numbers)}'
        initializer.alias(key)(ConstantValue)
        super().__init__(name, grad_req='null', shape=value.shape, dtype=value.dtype, init=key)

    def __repr__(self) -> str:
        return f'Constant {self.name} (shape={self.shape}, dtype={self.dtype})'

    @property
    def grad_req(self) -> str:
        """Always 'null'; another value is ignored with a warning (rule GLUON-PARAMS-004)."""
        return 'null'

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req != 'null':
            warnings.warn(f'Constant parameter "{self.name}" does not support grad_req other than "null", '
                          f'and new value "{req}" is ignored.', stacklevel=2)


def _contexts(ctx: Any) -> list[Context]:
    """A list of contexts from None (the current one), a context or a list."""
    if ctx is None:
        return [current_context()]
    if isinstance(ctx, Context):
        return [ctx]
    contexts = list(ctx) if isinstance(ctx, list | tuple) else [ctx]
    for item in contexts:
        if not isinstance(item, Context):
            raise AttributeError(f'expected a context or a list of contexts, got {item!r} of type {type(item)}')
    return contexts


def _fits(known: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether a shape only fills in unknown dimensions of a known one."""
    return len(known) == len(shape) and all(a in (0, -1, b) for a, b in zip(known, shape, strict=True))


def __getattr__(name: str) -> Any:
    if name == 'ParameterDict':
        from .parameter_dict import ParameterDict
        return ParameterDict
    if name == 'tensor_types':
        from . import tensor_types
        return tensor_types
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
