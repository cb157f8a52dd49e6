"""DynamicHybridBlock: compiled where the data allow it, eager where code looks at values."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

from ... import dispatch, tape
from ...ndarray import NDArray
from .. import deferred, tracing
from ..compiled import Compiled, is_array
from ..hybrid_block import HybridBlock, first_array
from ..structure import flatten
from .containers import HybridSequential

CacheInfo = namedtuple('CacheInfo', ('hits', 'traces', 'fallbacks', 'currsize', 'maxsize'))

_DYNAMIC = object()


class DynamicHybridBlock(HybridSequential):
    """A container whose ``forward`` may branch on data and still be hybridized (rules GLUON-DYNBLOCK-001 to -007).

    One graph is kept for each input signature: structure, shapes, dtypes, device, training mode and the state of mixed
    precision. Where ``forward`` looks at a value, the signature is run eagerly from then on, so that results are those
    of the block that is not hybridized. Python side effects of a compiled signature happen once, when it is traced.

    >>> import refengine as mx
    >>> class Turn(mx.gluon.nn.DynamicHybridBlock):
    ...     def forward(self, x):
    ...         return x if x.sum() > 0 else -x
    >>> net = Turn(); net.hybridize()
    >>> net(mx.nd.array([1, 2])).asnumpy().tolist(), net(mx.nd.array([-1, -2])).asnumpy().tolist()
    ([1.0, 2.0], [1.0, 2.0])
    >>> net.cache_info()
    CacheInfo(hits=0, traces=0, fallbacks=2, currsize=1, maxsize=8)
    """

    _container = False

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._max_cached = 8
        self._graphs: OrderedDict[Any, Any] = OrderedDict()
        self._counts = {'hits': 0, 'traces': 0, 'fallbacks': 0}

    def _clear_cached_op(self) -> None:
        super()._clear_cached_op()
        self.__dict__.setdefault('_graphs', OrderedDict()).clear()

    def hybridize(self, active: bool = True, *args: Any, max_cached_graphs: int = 8, **kwargs: Any) -> None:
        """Switch compiled execution on or off; ``max_cached_graphs`` signatures are kept, ValueError below 1."""
        if max_cached_graphs < 1:
            raise ValueError(f'max_cached_graphs must be at least 1, got {max_cached_graphs}')
        self._max_cached = max_cached_graphs
        super().hybridize(active, *args, **kwargs)

    def cache_info(self) -> CacheInfo:
        """How often a graph was found, traced or given up, and how many signatures are kept of how many possible."""
        return CacheInfo(**self._counts, currsize=len(self._graphs), maxsize=self._max_cached)

    def __call__(self, *args: Any) -> Any:
        if not self._active or deferred.state.active or tracing.state.inline or first_array(args) is None:
            return HybridBlock.__call__(self, *args) if not self._plain_forward else self._eager(args)
        return self._with_hooks(args)

    def _eager(self, args: tuple[Any, ...]) -> Any:
        from ..block import Block
        return Block.__call__(self, *args)

    def forward(self, x: Any, *args: Any) -> Any:
        """The result of the last child; the input itself without children. Subclasses write their own."""
        for block in self._children.values():
            x = block(x, *args)
            args = ()
        return x

    def _traced_with_arrays(self) -> bool:
        return True

    def _call_cached(self, args: tuple[Any, ...]) -> Any:
        arrays, form = flatten(args, is_array, 'input')
        key = (form, tape.state.training, dispatch.raw(dispatch.np),
               tuple((a._data.shape, a._data.dtype.char, a._ctx) for a in arrays))
        found = self._graphs.get(key)
        if found is None:
            self._settle_shapes(args)
            found = self._trace(args, arrays, form)
            self._graphs[key] = found
            while len(self._graphs) > self._max_cached:
                self._graphs.popitem(last=False)
            if found is not _DYNAMIC:
                self._counts['traces'] += 1
        else:
            self._graphs.move_to_end(key)
            if found is not _DYNAMIC:
                self._counts['hits'] += 1
        if found is _DYNAMIC:
            self._counts['fallbacks'] += 1
            before, tracing.state.inline = tracing.state.inline, True
            try:
                return self.forward(*args)
            finally:
                tracing.state.inline = before
        return found(arrays)

    def _settle_shapes(self, args: tuple[Any, ...]) -> None:
        if any(p._deferred_init for p in self.collect_params().values()):
            self.infer_shape(*args)
            for parameter in self.collect_params().values():
                parameter._finish_deferred_init()

    def _trace(self, args: tuple[Any, ...], arrays: list[NDArray], form: Any) -> Any:
        try:
            return Compiled(self, tracing.with_arrays(self, args, arrays, form), self._flags)
        except (tracing.ValueRead, tracing.NotCompiled):
            return _DYNAMIC

    def export(self, path: str | None, epoch: int = 0, remove_amp_cast: bool = True) -> Any:
        """Write the graph of the only signature; RuntimeError when there is another, or one that depends on data."""
        from ..compiled import Cache
        from ..exporting import NOT_READY, export
        if not self._graphs:
            raise RuntimeError(NOT_READY)
        found = list(self._graphs.values())
        if len(found) != 1 or found[0] is _DYNAMIC or self._counts['fallbacks']:
            raise RuntimeError(f'{self.name} is dynamic: it can be exported when exactly one signature was called and '
                               f'its forward pass looks at no value; there are {len(found)} signatures and '
                               f'{self._counts["fallbacks"]} calls that looked at values')
        self._cache = Cache(self)
        self._cache.traces[None] = found[0]
        return export(self, path, epoch, remove_amp_cast)
