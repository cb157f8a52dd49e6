"""SymbolBlock: a graph with parameters as a block."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dispatch
from .. import ndarray as nd
from ..context import Context, cpu
from ..ndarray import NDArray
from . import deferred, flags, tracing
from .compiled import Compiled, infer_parameters
from .hybrid_block import HybridBlock, first_array
from .parameter import DeferredInitializationError
from .parameter_dict import ParameterDict, strip_kind
from .structure import flatten
from .tracing import Trace


class SymbolBlock(HybridBlock):
    """A symbol as a block: its variables are the inputs, or parameters of the same name.

    >>> import refengine as mx
    >>> x = mx.sym.var('x')
    >>> block = SymbolBlock(mx.sym.FullyConnected(x, num_hidden=2, name='fc'), x)
    >>> block.initialize()
    >>> block(mx.nd.ones((1, 3))).shape
    (1, 2)
    """

    @staticmethod
    def imports(symbol_file: str, input_names: Any, param_file: str | None = None, ctx: Any = None,
                allow_missing: bool = False, ignore_extra: bool = False, *, device: Any = None) -> SymbolBlock:
        """The block of an exported graph (rules GLUON-EXPORT-005 to -009).

        AssertionError for parameters that are missing, extra, or of a wrong shape; MXNetError for missing files.
        """
        from .. import symbol
        ctx = device if ctx is None else ctx
        graph = symbol.load(symbol_file)
        names = [input_names] if isinstance(input_names, str) else list(input_names)
        block = SymbolBlock(graph, [symbol.var(name) for name in names])
        if param_file is None:
            return block
        arrays = nd.load(param_file)
        block._check_shapes(strip_kind(dict(arrays or {})))
        parameters = block.collect_params()
        parameters.load_dict(dict(arrays or {}), ctx or cpu(), allow_missing, ignore_extra, filename=param_file,
                             cast_dtype=True, dtype_source='saved')
        return block

    def __init__(self, outputs: Any, inputs: Any, params: Any = None) -> None:
        from .. import symbol
        from ..symbol.symbol import Symbol
        super().__init__()
        self._prefix, self._empty_prefix, self._params = '', True, ParameterDict('', params)
        if isinstance(inputs, Symbol) and len(inputs._entries) == 1:
            inputs = [inputs]
        inputs, _ = flatten(inputs, lambda x: isinstance(x, Symbol), 'input')
        heads, form = flatten(outputs, lambda x: isinstance(x, Symbol), 'output')
        entries = [entry for head in heads for entry in head._entries]
        names = []
        for item in inputs:
            node = item._entries[0][0]
            variable = len(item._entries) == 1 and node.op is None
            assert variable, f'Input symbols must be variable, but {item} is an output of operators'
            names.append(item.name)
        graph = Symbol(entries)
        nodes = [node for node in graph.nodes() if node.op is None]
        states = set(graph.list_auxiliary_states())
        by_name = {node.name: node for node in nodes}
        self._inputs = [by_name.get(name) or symbol.var(name)._entries[0][0] for name in names]
        self._declared = []
        for node in nodes:
            if node.name in names:
                continue
            options: dict[str, Any] = {'allow_deferred_init': True, **_attributes(node)}
            if node.name in states:
                options['grad_req'] = 'null'
            parameter = self.params.get(node.name, **options)
            self._declared.append((node, parameter))
        # As in 1.9.1 the files of a block that holds this one name parameters without what all names begin with.
        common = len(os.path.commonprefix([node.name for node, _ in self._declared]))  # noqa: RUF071 - by letters
        self._reg_params.update((node.name[common:], parameter) for node, parameter in self._declared)
        self._graph = Compiled(self, Trace(self._inputs, self._declared, entries, form), {})

    def __repr__(self) -> str:
        graph = self._graph.symbol()
        return f'{type(self).__name__}(\n{graph} : {len(self._inputs)} -> {len(graph)}\n)'

    def _check_shapes(self, arrays: dict[str, Any]) -> None:
        """AssertionError when the arrays of a file contradict each other in this graph (rule GLUON-EXPORT-007)."""
        from ..base import MXNetError
        from ..symbol.symbol import Symbol
        given = {node.name: arrays[node.name].shape for node, _ in self._declared if node.name in arrays}
        try:
            Symbol(self._graph.trace.entries).infer_shape_partial(**given)
            self._check_declared(arrays)
        except MXNetError as error:
            raise AssertionError(f'Failed loading parameters of the graph: {error}') from error

    def _check_declared(self, arrays: dict[str, Any]) -> None:
        for node in self._graph.symbol().nodes():
            if node.op is None or node.op.name not in _FIRST_SIZE:
                continue
            size = node.params[_FIRST_SIZE[node.op.name]]
            for position in (1, 2):
                if position < len(node.inputs):
                    name = node.inputs[position][0].name
                    if name in arrays and arrays[name].shape[0] != size:
                        raise AssertionError(
                            f"Failed loading Parameter '{name}' from saved params: shape incompatible expected {size} "
                            f'rows, as {node.name} says, vs saved {arrays[name].shape}')

    def infer_shape(self, *args: Any) -> None:
        """Fix unknown shapes of parameters from inputs, by inference on the graph."""
        arrays, _ = flatten(args, lambda x: isinstance(x, NDArray), 'input')
        infer_parameters(self._graph, arrays)

    def forward(self, x: Any, *args: Any) -> Any:
        """Run the graph on arrays, or put it into a graph of symbols."""
        first = first_array((x, *args))
        if first is None:
            return self._forward_symbol(x, args)
        arrays, _ = flatten((x, *args), lambda v: isinstance(v, NDArray), 'input')
        if len(arrays) != len(self._inputs):
            raise ValueError(f'{self.name or "SymbolBlock"} has {len(self._inputs)} inputs, got {len(arrays)}')
        if deferred.state.active:
            infer_parameters(self._graph, arrays)
        if tracing.state.current is not None or deferred.state.active:
            return self._step_by_step(first._ctx, arrays)
        try:
            return self._graph(arrays)
        except DeferredInitializationError:
            self.infer_shape(*arrays)
            for parameter in self._graph.parameters:
                parameter._finish_deferred_init()
            return self._graph(arrays)

    def _step_by_step(self, ctx: Context, arrays: Sequence[Any]) -> Any:
        """The graph as single calls, for an outer trace that records them."""
        from .structure import regroup
        program = self._graph.program
        values = dict(zip(program.inputs, [*arrays, *[p.data(ctx) for p in self._graph.parameters]], strict=True))
        for step in program.steps:
            result = dispatch.invoke(step.op, [values[s] for s in step.inputs], _given(step))
            results = result if isinstance(result, list) else [result]
            values.update(zip(step.outputs, results, strict=False))
        heads = [values[s] for s in program.heads]
        return heads[0] if self._graph.trace.form == 0 else regroup(heads, self._graph.trace.form)

    def _forward_symbol(self, x: Any, args: tuple[Any, ...]) -> Any:
        from ..symbol.compose import copied
        from ..symbol.symbol import Symbol
        from .structure import regroup
        symbols, _ = flatten((x, *args), lambda v: isinstance(v, Symbol), 'input')
        replaced = {id(node): symbol._entries[0] for node, symbol in zip(self._inputs, symbols, strict=True)}
        for node, parameter in self._declared:
            replaced[id(node)] = parameter.var()._entries[0]
        entries = copied(self._graph.trace.entries, replaced)
        traced = any(symbol._traced for symbol in symbols)
        heads = [Symbol([entry], traced) for entry in entries]
        return heads[0] if self._graph.trace.form == 0 else regroup(heads, self._graph.trace.form)

    def _call_cached(self, args: tuple[Any, ...]) -> Any:
        return self.forward(*args)

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Nothing changes: the graph is compiled anyway. TypeError for an option that no release has."""
        flags.refuse_unknown({name: value for name, value in kwargs.items() if name not in flags.NAMED},
                             kwargs.get('backend'))
        self._active = active

    def export(self, path: str | None, epoch: int = 0, remove_amp_cast: bool = True) -> Any:
        """Write the graph and the parameters."""
        from .compiled import Cache
        from .exporting import export
        self._cache = Cache(self)
        self._cache.traces[None] = self._graph
        return export(self, path, epoch, remove_amp_cast)

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """A graph has no forward pass in Python."""
        raise NotImplementedError

    def cast(self, dtype: Any) -> None:
        """Change the element type of all parameters."""
        HybridBlock.cast(self, dtype)
        for node, parameter in self._declared:
            from ..symbol.compose import DTYPE_NUMBERS
            node.attrs['__dtype__'] = str(DTYPE_NUMBERS[np.dtype(parameter.dtype).name])


SymbolBlock._plain_forward = False

_FIRST_SIZE = {'FullyConnected': 'num_hidden', 'Convolution': 'num_filter'}


def _given(step: Any) -> dict[str, Any]:
    return {key: value for key, value in step.params.items() if key in step.op.params}


def _attributes(node: Any) -> dict[str, Any]:
    """What the attributes of a variable say about a parameter."""
    from ast import literal_eval

    from ..graph.types import declared
    found: dict[str, Any] = {}
    shape = node.attrs.get('__shape__')
    if shape is not None:
        value = literal_eval(shape)
        if value:
            found['shape'] = tuple(max(int(n), 0) for n in value)
    dtype = declared(node)
    if dtype is not None:
        found['dtype'] = dtype.type
    for key, name in (('__lr_mult__', 'lr_mult'), ('__wd_mult__', 'wd_mult')):
        if key in node.attrs:
            found[name] = float(node.attrs[key])
    init = node.attrs.get('__init__')
    if init is not None and init.startswith('['):
        found['init'] = init
    return found


