"""Compiled calls of hybrid blocks: a trace, bound to the parameters, as a function of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dispatch, tape
from ..graph.cached import CachedGraph
from ..graph.program import build
from ..ndarray import NDArray
from . import deferred, tracing
from .parameter import DeferredInitializationError
from .structure import Form, flatten, regroup
from .tracing import Trace
from .utils import shape_is_known

MISMATCH = ('The argument structure of HybridBlock does not match the cached version. Stored format = {}, input format '
            '= {}')


class Compiled:
    """One trace of a block, ready to be called."""

    def __init__(self, block: Any, trace: Trace, flags: dict[str, Any]) -> None:
        self.trace = trace
        parameters = [node for node, _ in trace.parameters]
        constants = [node for node, _ in trace.constants]
        self.program = build(trace.entries, [*trace.inputs, *parameters, *constants])
        offset = len(trace.inputs) + len(parameters)
        if constants:
            for index, (_, data) in enumerate(trace.constants):
                self.program.constants[offset + index] = data
            self.program.inputs = tuple(range(offset))
        self.graph = CachedGraph(self.program, block.name or type(block).__name__, bool(flags.get('static_alloc')),
                                 flags.get('backend'))
        self.parameters = [parameter for _, parameter in trace.parameters]
        self.block = block

    def __call__(self, arrays: Sequence[NDArray]) -> Any:
        ctx = arrays[0]._ctx
        parameters = [parameter.data(ctx) for parameter in self.parameters]
        if self.block._op_hook is None:
            results = self.graph([*arrays, *parameters], len(arrays))
        else:
            from . import op_hooks
            results = op_hooks.run(self.trace, arrays, parameters, *self.block._op_hook)
        return results[0] if self.trace.form == 0 else regroup(results, self.trace.form)

    def symbol(self) -> Any:
        """The trace as a symbol."""
        from ..symbol.symbol import Symbol
        return Symbol(self.trace.entries)


def is_array(value: Any) -> bool:
    """Whether a value is a leaf of the inputs."""
    return isinstance(value, NDArray)


class Cache:
    """The traces of one block: one, unless the code asks for the mode or for shapes."""

    def __init__(self, block: Any) -> None:
        self.block = block
        self.form: Form = None
        self.traces: dict[Any, Compiled] = {}
        self.keyed_by_mode = False
        self.keyed_by_shape = False
        self.eager = False

    def _key(self, arrays: Sequence[NDArray]) -> Any:
        return (tape.state.training if self.keyed_by_mode else None,
                tuple((a._data.shape, a._data.dtype.char) for a in arrays) if self.keyed_by_shape else None)

    def call(self, args: tuple[Any, ...]) -> Any:
        """The result of a compiled call; ValueError when the inputs have another structure than at the first call."""
        first = args[0]
        if len(args) == 1 and isinstance(first, NDArray):
            arrays: list[Any] = [first]
            form: Form = (0,)
        else:
            arrays, form = flatten(args, is_array, 'input')
            contexts = {a._ctx for a in arrays}
            if len(contexts) > 1:
                raise ValueError(f'Find multiple contexts in the input, After hybridized, the HybridBlock only '
                                 f'supports one input context. You can print the ele.ctx in the input arguments to '
                                 f'inspect their contexts. Find all contexts = {contexts}')
        if self.traces and form != self.form:
            raise ValueError(MISMATCH.format(self.form, form))
        if self.eager:
            return self._eagerly(args)
        found = self.traces.get(self._key(arrays))
        if found is None:
            found = self._trace(args, arrays, form)
            if found is None:
                return self._eagerly(args)
        try:
            return found(arrays)
        except DeferredInitializationError:
            self._settle(found, arrays)
            return found(arrays)

    def build(self, args: tuple[Any, ...]) -> None:
        """Trace the block for such inputs, without running it."""
        arrays, form = flatten(args, is_array, 'input')
        if not self.eager and self._key(arrays) not in self.traces:
            self._trace(args, arrays, form)

    def _eagerly(self, args: tuple[Any, ...]) -> Any:
        before, tracing.state.inline = tracing.state.inline, True
        try:
            return self.block._plain(*args)
        finally:
            tracing.state.inline = before

    def _trace(self, args: tuple[Any, ...], arrays: list[Any], form: Form) -> Compiled | None:
        block = self.block
        if block._traced_with_arrays():
            try:
                trace = tracing.with_arrays(block, args, arrays, form)
            except tracing.NotCompiled:
                self.eager = True       # code of the program's own that is no operator: right results come first
                return None
        else:
            trace = tracing.with_symbols(block, form, len(arrays))
        self.form = form
        self.keyed_by_mode |= trace.by_mode
        self.keyed_by_shape |= trace.by_shape
        compiled = self.traces[self._key(arrays)] = Compiled(block, trace, block._flags)
        return compiled

    def _settle(self, found: Compiled, arrays: Sequence[Any]) -> None:
        """Make parameters whose shapes were unknown, from the shapes of the inputs."""
        try:
            if self.block._has_own_infer_shape():
                self.block.infer_shape(*regroup(arrays, self.form))
            else:
                try:
                    infer_parameters(found, arrays)
                except Undecided:
                    # Blocks inside may know better than the graph; a pass without effects asks each of them.
                    deferred.infer(self.block, tuple(regroup(arrays, self.form)))
        except Exception as error:
            raise ValueError(f'Deferred initialization failed because shape cannot be inferred. {error}') from error
        for parameter in found.parameters:
            parameter._finish_deferred_init()


class Undecided(ValueError):
    """The graph does not tell the shape of a parameter."""


def infer_parameters(found: Compiled, arrays: Sequence[Any]) -> None:
    """Fix unknown shapes of parameters by inference on the graph."""
    from ..graph.inference import infer_shapes
    from ..graph.types import infer_types
    trace = found.trace
    symbol = found.symbol()
    nodes = symbol.nodes()
    given = {node.name: a.shape for node, a in zip(trace.inputs, arrays, strict=True)}
    kinds: dict[str, Any] = {node.name: a.dtype for node, a in zip(trace.inputs, arrays, strict=True)}
    for node, parameter in trace.parameters:
        shape = parameter.shape
        if shape is not None:
            given[node.name] = tuple(max(n, 0) for n in shape)
        kinds[node.name] = parameter.dtype
    for node, data in trace.constants:
        given[node.name], kinds[node.name] = data.shape, data.dtype
    filled = {key: [k or dispatch.np.dtype('float32') for k in values]
              for key, values in infer_types(nodes, kinds).items()}
    known = infer_shapes(nodes, given, filled)
    for node, parameter in trace.parameters:
        if not shape_is_known(parameter.shape):
            shape = known.shape((node, 0))
            if not shape_is_known(shape):
                raise Undecided(f"the graph does not tell the shape of Parameter '{parameter.name}': "
                                f'{parameter.shape}')
            parameter.shape = shape
