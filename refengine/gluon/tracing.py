"""Turning the forward pass of a block into a graph: with symbols for the 1.x style, with arrays for that of 2.0."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import autograd, dispatch, name, random, tape
from ..base import MXNetError
from ..graph.node import Node
from ..graph.tape_reader import NotAnOperator, TapeReader
from ..ndarray import NDArray, arithmetic
from .structure import Form, flatten


class _State(threading.local):
    current: Recorder | None = None     # the trace with arrays that is under way in this thread
    inline = False                      # whether compiled blocks run as if they were not


state = _State()


class ValueRead(MXNetError):
    """The traced code looked at a value, so that its trace would hold for this value only."""


def frozen(what: str) -> None:
    """Refuse, or note for a block that may be dynamic, that traced code looks at a value."""
    recorder = state.current
    if recorder is not None:
        recorder.looked_at = what
        raise ValueRead(f'{what} looks at the value of an array while a forward pass is traced into a graph: what '
                        f'follows from it would be frozen at this value. Use F.where or contrib.cond, or a '
                        f'DynamicHybridBlock, or hybridize(active=False).')


class TracedArray(NDArray):
    """An array inside a traced forward pass: it computes, but whoever looks at its value is told."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of all axes; code that asks for them is traced once per shape."""
        if state.current is not None:
            state.current.by_shape = True
        return self._data.shape

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape))

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        frozen('bool()')
        return super().__bool__()

    def __float__(self) -> float:
        frozen('float()')
        return super().__float__()

    def __int__(self) -> int:
        frozen('int()')
        return super().__int__()

    def __index__(self) -> int:
        frozen('an index')
        return super().__index__()

    def asnumpy(self) -> Any:
        """The values; refused while tracing."""
        frozen('asnumpy()')
        return super().asnumpy()

    def asscalar(self) -> Any:
        """The only value; refused while tracing."""
        frozen('asscalar()')
        return super().asscalar()

    def item(self, *args: Any) -> Any:
        """One value; refused while tracing."""
        frozen('item()')
        return super().item(*args)

    def __contains__(self, value: Any) -> bool:
        frozen('in')
        return super().__contains__(value)

    def __repr__(self) -> str:
        return f'\n{np.asarray(self._data)}\n<NDArray {"x".join(map(str, self._data.shape))} @{self._ctx}>'

    __str__ = __repr__


arithmetic.install(TracedArray)


class Recorder:
    """A trace with arrays: what it depends on beside the structure of its inputs."""

    def __init__(self) -> None:
        self.by_shape = False
        self.by_mode = False
        self.looked_at: str | None = None


class Trace:
    """A forward pass as a graph.

    ``inputs`` are the variables of the data, ``parameters`` pairs of variable and Parameter, ``constants`` pairs of
    variable and raw array; ``entries`` are the results, ``form`` is their structure.
    """

    def __init__(self, inputs: list[Node], parameters: list[tuple[Node, Any]], entries: list[tuple[Node, int]],
                 form: Form, constants: Sequence[tuple[Node, Any]] = (), by_shape: bool = False,
                 by_mode: bool = False) -> None:
        self.inputs = inputs
        self.parameters = parameters
        self.entries = entries
        self.form = form
        self.constants = list(constants)
        self.by_shape = by_shape
        self.by_mode = by_mode


class _Mode:
    """Notes whether code asks for the mode, which then belongs to what a trace holds for."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> _Mode:
        self._before = tape.state.here.watch
        tape.state.here.watch = self
        return self

    def __exit__(self, *exc: Any) -> None:
        tape.state.here.watch = self._before


class LayerNames(name.NameManager):
    """Names of the operators of a layer of ``nn``: the one that the layer is about is called ``fwd``."""

    def __init__(self, main: str) -> None:
        super().__init__()
        self._main: str | None = main
        self._names = name.current()

    def get(self, name: str | None, hint: str) -> str:
        """The name that the scope around gives, where ``fwd`` stands for the first operator of the layer's kind."""
        if name is None and hint == self._main:
            self._main, name = None, 'fwd'
        return self._names.get(name, hint)


def data_names(count: int) -> list[str]:
    """The names of the input variables (rule GLUON-EXPORT-004)."""
    return ['data'] if count == 1 else [f'data{i}' for i in range(count)]


def with_symbols(block: Any, form: Form, count: int) -> Trace:
    """Call ``hybrid_forward`` with symbols; MXNetError when it does what symbols cannot do."""
    from .. import symbol
    from ..symbol.symbol import Symbol
    from .structure import regroup
    variables = [symbol.var(label) for label in data_names(count)]
    for variable in variables:
        variable._traced = True
    args = regroup(variables, form)
    with _Mode() as mode:
        result = block._forward_symbol(args[0], tuple(args[1:]))
    heads, out_form = flatten(result, lambda x: isinstance(x, Symbol), 'output')
    entries = [entry for head in heads for entry in head._entries]
    known = {id(v._entries[0][0]) for v in variables}
    by_name = {p.name: p for p in block.collect_params().values()}
    parameters = []
    for node in Symbol(entries).nodes() if entries else []:
        if node.op is None and id(node) not in known:
            if node.name not in by_name:
                raise MXNetError(f"the graph of {block.name} uses a variable '{node.name}' that is no parameter of the "
                                 f'block; parameters are {", ".join(by_name)}')
            parameters.append((node, by_name[node.name]))
    return Trace([v._entries[0][0] for v in variables], parameters, entries, out_form, by_mode=mode.asked)


def with_arrays(block: Any, args: Sequence[Any], arrays: Sequence[NDArray], form: Form) -> Trace:
    """Run the forward pass on arrays and read the graph off the tape.

    MXNetError (``ValueRead``) when the code looks at values, MXNetError for an output that no input leads to.
    """
    from .structure import regroup
    ctx = arrays[0]._ctx
    recorder = Recorder()
    leaves: dict[int, Node] = {}
    inputs = []
    traced = []
    for label, array in zip(data_names(len(arrays)), arrays, strict=True):
        stand_in = _traced(array)
        node = Node(None, label)
        inputs.append(node)
        leaves[id(stand_in._node)] = node
        traced.append(stand_in)
    generator = random.generator(ctx)
    before = generator.bit_generator.state
    parameters = list(block.collect_params().values())
    saved = [(p, p._data) for p in parameters if p._data is not None]
    for parameter, data in saved:
        parameter._data = [_traced(a) for a in data]
    outer, state.current = state.current, recorder
    inline, state.inline = state.inline, True
    try:
        with _Mode() as mode, autograd.record(train_mode=tape.state.training):
            result = block._plain(*regroup(traced, form))
        marks = [(p, a) for p in parameters for a in (p._data or ())]
    finally:
        state.current, state.inline = outer, inline
        for parameter, data in saved:
            parameter._data = data
        generator.bit_generator.state = before
    heads, out_form = flatten(result, lambda x: isinstance(x, NDArray), 'output')
    variables = _Leaves(leaves, marks)
    count = itertools.count()
    reader = TapeReader(variables, lambda op: f'{op.name.lower().strip("_")}{next(count)}')
    entries = [_result(reader, variables, head) for head in heads]
    return Trace(inputs, variables.parameters, entries, out_form, variables.constants, recorder.by_shape,
                 mode.asked)


def _traced(array: NDArray) -> TracedArray:
    result: TracedArray = dispatch.wrap(array._data, array._ctx, TracedArray)
    result._node = tape.Leaf(None, 'write', array._data.dtype)
    return result


NotCompiled = NotAnOperator


class _Leaves:
    """The variables of a trace: its inputs, parameters, and arrays from outside."""

    def __init__(self, leaves: dict[int, Node], marks: Sequence[tuple[Any, Any]]) -> None:
        self.leaves = dict(leaves)
        self.marks = {id(a._node): p for p, a in marks if a._node is not None}
        self.by_data = {id(a._data): p for p, a in marks}
        self.parameters: list[tuple[Node, Any]] = []
        self.constants: list[tuple[Node, Any]] = []

    def __call__(self, behind: Any, data: Any) -> Node:
        if behind is not None and id(behind) in self.leaves:
            return self.leaves[id(behind)]
        parameter = self.marks.get(id(behind)) or self.by_data.get(id(data))
        if parameter is not None:
            return self._parameter(parameter)
        for node, known in self.constants:
            if known is data:
                return node
        node = Node(None, f'constant{len(self.constants)}')
        self.constants.append((node, data))
        return node

    def _parameter(self, parameter: Any) -> Node:
        for node, known in self.parameters:
            if known is parameter:
                return node
        node = parameter.var()._entries[0][0]
        self.parameters.append((node, parameter))
        return node


def _result(reader: TapeReader, leaves: _Leaves, head: Any) -> tuple[Node, int]:
    """The graph entry of a result; MXNetError for one that neither operators made nor a parameter is."""
    if head._node is None and id(head._data) not in leaves.by_data:
        raise MXNetError('output_arrays for GetDeferredComputeSymbol must have a deferred compute history: a result of '
                         'the traced forward pass does not come from its inputs by operators')
    return reader.entry(head._node, head._data)
