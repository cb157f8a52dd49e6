"""CachedOp: a symbol as a function of arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..base import MXNetError
from ..graph.cached import CachedGraph
from ..graph.program import build
from .ndarray import NDArray

_FLAGS = frozenset(('static_alloc', 'static_shape', 'inline_limit', 'forward_bulk_size', 'backward_bulk_size',
                    'data_indices', 'param_indices', 'subgraph', 'is_dynamic'))


class CachedOp:
    """A symbol that is called with arrays, in the order of ``sym.list_inputs()``; ``flags`` are pairs.

    The result is one array, or a list for a symbol of several outputs. A recorded call is one node of the graph.

    >>> import refengine as mx
    >>> x, y = mx.sym.var('x'), mx.sym.var('y')
    >>> op = CachedOp(x * 2 + y, [('static_alloc', True)])
    >>> op(mx.nd.array([1, 2]), mx.nd.array([3, 4])).asnumpy().tolist()
    [5.0, 8.0]
    """

    def __init__(self, sym: Any, flags: Iterable[tuple[str, Any]] = ()) -> None:
        given = dict(flags)
        for name in given:
            if name not in _FLAGS:
                raise MXNetError(f"Cannot find argument '{name}', Possible Arguments: {', '.join(sorted(_FLAGS))}")
        static = str(given.get('static_alloc', False)).lower() in ('true', '1')
        variables = [node for node in sym.nodes() if node.op is None]
        if not variables:
            raise MXNetError('There are no inputs in computation graph that require gradients.')
        self._names = [node.name for node in variables]
        self._graph = CachedGraph(build(sym._entries, variables), static_alloc=static)

    def __call__(self, *args: NDArray, out: Any = None, **kwargs: Any) -> Any:
        """The result for arrays, also written to ``out``; MXNetError for another number of them or several contexts."""
        if kwargs:
            raise TypeError(f'CachedOp.__call__ got unexpected keyword argument(s): {", ".join(kwargs)}')
        if len(args) != len(self._names):
            raise MXNetError(f'Check failed: inputs.size() == num_inputs() ({len(args)} vs. {len(self._names)}) : ')
        for name, array in zip(self._names, args, strict=True):
            if not isinstance(array, NDArray):
                raise AttributeError(f'{type(array).__name__!r} object has no attribute \'handle\': CachedOp takes '
                                     f'arrays, and {name} is {array!r}')
            if array.context != args[0].context:
                raise MXNetError(f'CachedOp requires all inputs to live on the same context. But {self._names[0]} is '
                                 f'on {args[0].context} while {name} is on {array.context}')
        results = self._graph(args)
        if out is not None:
            targets = [out] if isinstance(out, NDArray) else out
            for target, result in zip(targets, results, strict=True):
                target[:] = result
            return out
        return results[0] if len(results) == 1 else results
