"""HybridBlock: a block whose forward can also be traced into a graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..base import MXNetError
from ..ndarray import NDArray
from . import deferred, flags, tracing
from .block import Block, require_callable
from .parameter import DeferredInitializationError
from .utils import shape_is_known


class HybridBlock(Block):
    """A block that is written against a name space ``F`` or, as in 2.0, as a plain ``forward``.

    ``hybrid_forward(self, F, x, *args, **params)`` gets its own parameters as keyword arguments by attribute name.
    Shapes of parameters that are still unknown are worked out at the first call.

    >>> import refengine as mx
    >>> class Scale(mx.gluon.HybridBlock):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         self.factor = self.params.get('factor', shape=(2,), init='ones')
    ...     def hybrid_forward(self, F, x, factor):
    ...         return F.broadcast_mul(x, factor)
    >>> net = Scale(); net.initialize()
    >>> net(mx.nd.ones((1, 2))).asnumpy().tolist()
    [[1.0, 1.0]]
    """

    _main_operator: str | None = None   # the kind of operator that a layer calls ``fwd`` in a graph
    _plain_forward = False  # whether the class is written in the style of 2.0: forward without hybrid_forward

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._plain_forward = (cls.forward is not HybridBlock.forward
                              and cls.hybrid_forward is HybridBlock.hybrid_forward
                              and not cls.__dict__.get('_container', False))

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._active = False
        self._flags: dict[str, Any] = {}
        self._op_hook: tuple[Callable[..., Any], bool] | None = None
        self._cache: Any = None

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Add a child, which must be a HybridBlock: ValueError otherwise (rule GLUON-HYBRID-012)."""
        if not isinstance(block, HybridBlock):
            raise ValueError(f'Children of HybridBlock must also be HybridBlock, but {block} has type {type(block)}. '
                             f'If you are using Sequential, please try HybridSequential instead.')
        super().register_child(block, name)
        self._clear_cached_op()

    def _clear_cached_op(self) -> None:
        """Forget every trace (rule GLUON-HYBRID-006)."""
        self._cache = None

    def cast(self, dtype: Any) -> None:
        """Change the element type of all parameters and forget every trace."""
        self._clear_cached_op()
        super().cast(dtype)

    def hybridize(self, active: bool = True, backend: str | None = None, clear: bool = True, static_alloc: bool = False,
                  static_shape: bool = False, inline_limit: int = 2, forward_bulk_size: int | None = None,
                  backward_bulk_size: int | None = None, **kwargs: Any) -> None:
        """Switch compiled execution on or off; TypeError for an unknown option (rules GLUON-HYBRID-003 to -008).

        ``backend`` is MKLDNN or ONEDNN: in inference BatchNorm is folded into the weights before it, again whenever a
        parameter changes, and results differ from eager ones in the last digits. MXNetError for any other name, and
        for flags that are neither true nor false. ``partition_if_dynamic`` of 2.x and other options of the releases
        are taken and change nothing, see ``flags``; beside a back end any keyword is one of its options.
        """
        options = flags.parsed(static_alloc, static_shape, inline_limit, forward_bulk_size, backward_bulk_size)
        flags.refuse_unknown(kwargs, backend)
        if backend is not None:
            from ..graph import backends
            backends.require(backend)
        self._active = active
        self._clear_cached_op()
        self._flags = options if backend is None else {**options, 'backend': backend}
        if active and (self._forward_hooks or self._forward_pre_hooks):
            warnings.warn(f'"{self}" is being hybridized while still having forward hook/pre-hook. If "{self}" is a '
                          f'child of HybridBlock, the hooks will not take effect.', stacklevel=2)
        super().hybridize(active, **options)

    def register_op_hook(self, callback: Callable[..., Any], monitor_all: bool = False) -> None:
        """Have ``callback(name, operator, array)`` called for every output of an operator of the compiled block.

        With ``monitor_all`` for every input too. Gradients that operators pass back are reported as well, under the
        name of the node and ``_backward_0``, ``_backward_1``, … A later callback replaces an earlier one; eager calls
        report nothing (rule GLUON-HOOK-006).
        """
        require_callable(callback)
        self._op_hook = (callback, monitor_all)

    # ---- calls -------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any) -> Any:
        if self._plain_forward:
            self._settle_plain(args)
            if self._active and not deferred.state.active and not tracing.state.inline \
                    and first_array(args) is not None:
                return self._with_hooks(args)
        return super().__call__(*args)

    def _with_hooks(self, args: tuple[Any, ...]) -> Any:
        for pre_hook in list(self._forward_pre_hooks.values()):
            pre_hook(self, args)
        out = self._call_cached(args)
        for hook in list(self._forward_hooks.values()):
            hook(self, args, out)
        return out

    def _call_cached(self, args: tuple[Any, ...]) -> Any:
        """A call of the compiled graph, which is traced first if need be."""
        return self._made_cache().call(args)

    def _made_cache(self) -> Any:
        """The traces of this block."""
        cache = self._cache
        if cache is None:
            if self._flags.get('static_shape') and not self._flags.get('static_alloc'):
                raise MXNetError('static_alloc must be True when static_shape is True')
            from .compiled import Cache
            cache = self._cache = Cache(self)
        return cache

    def forward(self, x: Any, *args: Any) -> Any:
        """Call ``hybrid_forward`` with the parameters of the context of the input, or the graph made of it.

        ValueError if no input is an array (rule GLUON-HYBRID-013).
        """
        first = x if isinstance(x, NDArray) else first_array((x, *args))
        if first is None:
            return self._forward_symbol(x, args)
        if deferred.state.active:
            return deferred.forward(self, first, x, args)
        if self._active and not tracing.state.inline:
            return self._call_cached((x, *args))
        ctx = first._ctx
        try:
            params = {name: parameter.data(ctx) for name, parameter in self._reg_params.items()}
        except DeferredInitializationError:
            self._deferred_infer_shape(x, *args)
            for parameter in self._reg_params.values():
                parameter._finish_deferred_init()
            params = {name: parameter.data(ctx) for name, parameter in self._reg_params.items()}
        return self.hybrid_forward(nd, x, *args, **params)

    def _plain(self, *args: Any) -> Any:
        """The forward pass as it is written, on arrays."""
        return self.forward(*args)

    def _traced_with_arrays(self) -> bool:
        """Whether this block or one inside is written in the style of 2.0, which arrays trace and symbols cannot."""
        return self._plain_forward or any(
            child._traced_with_arrays() for child in self._children.values() if isinstance(child, HybridBlock))

    def _has_own_infer_shape(self) -> bool:
        return type(self).infer_shape is not HybridBlock.infer_shape

    def _forward_symbol(self, x: Any, args: tuple[Any, ...]) -> Any:
        """Put the block into a graph of symbols (rule GLUON-HYBRID-028)."""
        if not has_symbol((x, *args)):
            raise ValueError('In HybridBlock, there must be one NDArray or one Symbol in the input. '
                             'Please check the type of the args.\n')
        from .. import symbol
        if self._plain_forward:
            return self.forward(x, *args)
        params = {key: parameter.var() for key, parameter in self._reg_params.items()}
        with self._scope, tracing.LayerNames(self._main_operator) if self._main_operator else nullcontext():
            return self.hybrid_forward(symbol, x, *args, **params)

    def export(self, path: str | None, epoch: int = 0, remove_amp_cast: bool = True) -> Any:
        """Write the traced graph and the parameters, ``path-symbol.json`` and ``path-0000.params``.

        Returns the names of the two files; without a path the symbol and the arrays instead. RuntimeError before the
        block was hybridized and called (rules GLUON-EXPORT-001 to -004).
        """
        from .exporting import export
        return export(self, path, epoch, remove_amp_cast)

    def optimize_for(self, x: Any, *args: Any, backend: str | None = None, clear: bool = False,
                     static_alloc: bool = False, static_shape: bool = False, inline_limit: int = 2,
                     forward_bulk_size: int | None = None, backward_bulk_size: int | None = None,
                     **kwargs: Any) -> None:
        """Compile for a back end, see ``hybridize``, with its other options as keywords.

        ValueError without a name, MXNetError for one that is not there (rule GRAPH-FUSE-002), TypeError for options
        that the block itself says to the graph.
        """
        if not backend:
            raise ValueError('Must specify "backend" to optimize_for')
        for name in ('args', 'aux', 'ctx'):
            if name in kwargs:
                raise TypeError(f"optimize_for() got multiple values for argument '{name}': the block gives it to the "
                                f"back end itself")
        self.hybridize(True, backend, clear, static_alloc, static_shape, inline_limit, forward_bulk_size,
                       backward_bulk_size, **kwargs)
        if first_array((x, *args)) is not None:
            self._made_cache().build((x, *args))

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The computation, written against a name space of operators; every hybrid block says its own."""
        raise NotImplementedError

    # ---- deferred initialisation -------------------------------------------------------------------------------

    def _deferred_infer_shape(self, *args: Any) -> None:
        try:
            if type(self).infer_shape is HybridBlock.infer_shape:
                deferred.settle(self, args)
            else:
                self.infer_shape(*args)
        except Exception as error:
            raise ValueError(f'Deferred initialization failed because shape cannot be inferred. {error}') from error

    def _settle_plain(self, args: tuple[Any, ...]) -> None:
        """Make deferred parameters of a forward-style block, whose class must say their shapes (GLUON-DEFER-004)."""
        waiting = [parameter for parameter in self._reg_params.values()
                   if parameter._data is None and not shape_is_known(parameter.shape)]
        if not waiting or not (deferred.state.active or any(parameter._deferred_init for parameter in waiting)):
            return
        name = type(self).__name__
        if type(self).infer_shape is HybridBlock.infer_shape:
            raise RuntimeError(f'{name} has parameters with unknown shape. You need to either specify the shape in '
                               f'__init__ or implement {name}.infer_shape to set the parameter shapes based on the '
                               f'first input.')
        self.infer_shape(*args)
        if not deferred.state.active:
            for parameter in waiting:
                parameter._finish_deferred_init()

    def infer_shape(self, *args: Any) -> None:
        """Fix unknown shapes of parameters, own and those of children, from inputs, without changing anything else."""
        deferred.infer(self, args)

    def infer_type(self, *args: Any) -> None:
        """Give all parameters the element type of the first input, statistics of float16 data excepted."""
        first = first_array(args)
        if first is None:
            raise ValueError('infer_type needs at least one array')
        for parameter in self.collect_params().values():
            if np.dtype(first.dtype).kind == 'f' and parameter._data is None:
                parameter._dtype = first.dtype


def first_array(args: Any) -> NDArray | None:
    """The first array in nested lists and tuples."""
    for item in args:
        if isinstance(item, NDArray):
            return item
        if isinstance(item, list | tuple):
            found = first_array(item)
            if found is not None:
                return found
    return None


def has_symbol(args: Any) -> bool:
    """Whether nested lists and tuples hold a symbol."""
    for item in args:
        if isinstance(item, list | tuple):
            if has_symbol(item):
                return True
        elif type(item).__name__ == 'Symbol' and hasattr(item, 'list_arguments'):
            return True
    return False
