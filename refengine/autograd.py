"""Recording, training mode and gradients.

>>> import refengine as mx
>>> x = mx.nd.array([1., 2.]); x.attach_grad()
>>> with mx.autograd.record():
...     y = (x * x).sum()
>>> y.backward()
>>> x.grad.asnumpy().tolist()
[2.0, 4.0]
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import tape, tape_backward, tape_walk
from .base import MXNetError
from .dispatch import call, in_graph, wrap
from .tape import recorders, state

__all__ = ['Function', 'backward', 'get_symbol', 'grad', 'is_recording', 'is_training', 'mark_variables', 'pause',
           'predict_mode', 'record', 'set_recording', 'set_training', 'train_mode']


def set_recording(is_recording: bool) -> bool:
    """Switch recording in this thread and return the previous state."""
    previous, state.recording = state.recording, bool(is_recording)
    return previous


def set_training(train_mode: bool) -> bool:
    """Switch training mode in this thread and return the previous state."""
    previous, state.training = state.training, bool(train_mode)
    return previous


def is_recording() -> bool:
    """Whether this thread records."""
    return state.recording


def is_training() -> bool:
    """Whether this thread is in training mode; code that is being traced and asks is traced once per mode."""
    here = state.here
    if here.watch is not None:
        here.watch.asked = True
    return here.training


class _Scope:
    """Sets recording and training for a block; the same object may be nested in itself (AUTOGRAD-SCOPE-006).

    What the block found is kept by the thread, so that one object serves all blocks and threads.
    """

    __slots__ = ('_recording', '_training')

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._recording = recording
        self._training = training

    def __enter__(self) -> None:
        here = state.here
        before = here.now
        here.scopes.append((before, here.training))
        recording = self._recording
        if recording is not None and recording is not before:
            here.now = recording
            (recorders.add if recording else recorders.discard)(here.thread)
        if self._training is not None:
            here.training = self._training

    def __exit__(self, *exc: Any) -> None:
        here = state.here
        before, here.training = here.scopes.pop()
        if before is not here.now:
            here.now = before
            (recorders.add if before else recorders.discard)(here.thread)


_record_and_train = _Scope(True, True)


def record(train_mode: bool | None = True) -> _Scope:
    """A block whose operators are recorded, in training mode unless told otherwise."""
    return _record_and_train if train_mode is True else _Scope(True, train_mode)


def pause(train_mode: bool | None = False) -> _Scope:
    """A block that is not recorded."""
    return _Scope(False, train_mode)


def train_mode() -> _Scope:
    """A block in training mode; recording stays as it is."""
    return _Scope(None, True)


def predict_mode() -> _Scope:
    """A block in prediction mode; recording stays as it is."""
    return _Scope(None, False)


GRAD_REQS = ('null', 'write', 'add')


def _check_req(req: Any) -> str:
    if req not in GRAD_REQS:
        raise KeyError(req)
    return str(req)


def mark_variables(variables: Any, gradients: Any, grad_reqs: Any = 'write') -> None:
    """Make arrays variables whose gradients go into the given buffers (AUTOGRAD-MARK-001).

    ``grad_reqs`` is one of null, write and add, or a list of them. Another word raises KeyError.
    """
    if not isinstance(variables, (list, tuple)):
        assert not isinstance(gradients, (list, tuple)), 'one variable needs one gradient, not a list'
        variables, gradients = [variables], [gradients]
    reqs = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else list(grad_reqs)
    if len(variables) != len(gradients) or len(reqs) != len(variables):
        raise MXNetError(f'mark_variables expects lists of equal length, got {len(variables)} variables, '
                         f'{len(gradients)} gradients and {len(reqs)} requests')
    for variable, gradient, req in zip(variables, gradients, reqs):
        variable._node = tape.Leaf(gradient, _check_req(req), variable._data.dtype)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _parse_heads(heads: Any, head_grads: Any) -> tuple[list[Any], list[Any] | None]:
    heads = _as_list(heads)
    if head_grads is None:
        return heads, None
    head_grads = _as_list(head_grads)
    if len(heads) != len(head_grads):
        raise AssertionError(f'heads and head_grads must be lists of the same length: {len(heads)} vs. '
                             f'{len(head_grads)}')
    return heads, [None if g is None else tape_backward.checked_head(g) for g in head_grads]


def backward(heads: Any, head_grads: Any = None, retain_graph: bool = False, train_mode: bool = True) -> None:
    """Write the gradients of the sum of the heads into the buffers of the variables they depend on.

    Raises MXNetError when a head is in no graph, or was differentiated before without ``retain_graph``.
    """
    heads, head_grads = _parse_heads(heads, head_grads)
    tape_backward.gradients(heads, head_grads, retain_graph=retain_graph, create_graph=False, train_mode=train_mode)


bare_gradients = True
"""Whether one bare variable has one bare gradient (rule AUTOGRAD-GRADFN-002). False where programs written for a
release run under its name: ``grad(y, x)[0]``, which its documentation teaches, would take a part of the gradient."""


def grad(heads: Any, variables: Any, head_grads: Any = None, retain_graph: bool | None = None,
         create_graph: bool = False, train_mode: bool = True) -> Any:
    """The gradients of the sum of the heads as new arrays; the buffers of the variables stay as they are.

    A list for a list of variables, one array for an array; as ``mxnet`` a list for both, as in the releases. With
    ``create_graph`` the gradients are recorded and can be differentiated again (AUTOGRAD-SECOND-001).

    >>> from refengine import autograd, nd
    >>> x = nd.array([3.0]); x.attach_grad()
    >>> with autograd.record():
    ...     y = x * x
    >>> autograd.grad(y, [x])[0].asscalar()
    6.0
    """
    heads, head_grads = _parse_heads(heads, head_grads)
    single = bare_gradients and not isinstance(variables, (list, tuple))
    chosen = _as_list(variables)
    if not chosen:
        raise AssertionError('variables cannot be an empty list.')
    results = tape_backward.gradients(heads, head_grads, create_graph if retain_graph is None else retain_graph,
                                      create_graph, train_mode, chosen)
    assert results is not None
    arrays = []
    for variable, result in zip(chosen, results):
        if result is None:
            result = wrap(np.zeros_like(variable._data), variable._ctx, type(variable))
        elif not create_graph:
            data = result if result.dtype == variable._data.dtype else result.astype(variable._data.dtype)
            result = wrap(data.copy(), variable._ctx, type(variable))
        arrays.append(result)
    return arrays[0] if single else arrays


def through(function: Callable[[list[Any]], Sequence[Any]], inputs: Sequence[Any],
            output_grads: Sequence[Any]) -> list[Any]:
    """The gradients of a function of arrays that are in a graph, as part of that graph.

    ``function`` runs once, recorded; ``output_grads`` has an array or None per result. Unlike ``grad`` the walk back
    ends at the inputs, which may be results of other calls; gradients are None for inputs that nothing flows back to.
    """
    own = [call('identity', array) if in_graph(array) else array for array in inputs]     # no two are one
    start = tape.next_number()
    pairs = [(result._node, gradient) for result, gradient in zip(function(own), output_grads)
             if gradient is not None and in_graph(result)]
    grads: dict[Any, Any] = {}
    for entry, gradient in pairs:
        tape_walk.add(grads, entry, gradient)
    nodes = tape_walk.since(start, [entry for entry, _ in pairs])
    if tape_backward.resolve is not None:
        tape_backward.resolve(nodes)
    tape_walk.second_gradients(nodes, grads)
    return [grads.get(array._node) if array._node is not None else None for array in own]


def get_symbol(x: Any) -> Any:
    """The recorded graph of an array as a Symbol; MXNetError as long as the engine has no symbol front end."""
    from .dispatch import NDArray
    assert isinstance(x, NDArray), f'get_symbol: Invalid argument type, expecting NDArray, got {type(x)}'
    try:
        from . import symbol
    except ImportError:
        raise MXNetError('this engine has no symbol front end yet (capability "symbol")') from None
    return symbol.from_tape(x)


class Function:
    """A differentiable function written in Python: define ``forward`` and ``backward`` on NDArrays.

    Calling an instance while recording puts it on the tape as one operator (AUTOGRAD-FUNC-001); an instance can be
    called once. With ``create_graph`` the calls of ``backward`` are recorded, so that it is differentiated again.
    """

    def __init__(self) -> None:
        self._used = False
        self.saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *args: Any) -> None:
        """Keep arrays for ``backward``; they are in ``saved_tensors``."""
        self.saved_tensors = args

    def forward(self, *inputs: Any) -> Any:
        """Compute the outputs from the inputs."""
        raise NotImplementedError

    def backward(self, *output_grads: Any) -> Any:
        """Compute one gradient per input from the gradients of the outputs."""
        raise NotImplementedError

    def __call__(self, *inputs: Any) -> Any:
        assert not self._used, 'Each Function instance can only be called once. Please create another instance.'
        self._used = True
        recording = set_recording(False)
        try:
            outputs = self.forward(*inputs)
        finally:
            set_recording(recording)
        if not recording:
            return outputs
        return _record_function(self, inputs, outputs)


class _FunctionRecord:
    """Stands for an operator on a tape node of a ``Function``."""

    grad = partials = None

    def __init__(self, name: str, outputs: int) -> None:
        self.name, self.outputs = name, outputs

    def visible_count(self, params: Any) -> int:
        return self.outputs

    def backward(self, node: tape.Node, ograds: Any) -> list[Any]:
        """The gradients of the inputs; what computes them is forgotten with the parameters of the node."""
        result: list[Any] = node.params['backward'](ograds)
        return result


def _record_function(function: Function, inputs: Sequence[Any], outputs: Any) -> Any:
    from .base import IN_GRAPH
    from .dispatch import NDArray
    from .dispatch import record as put
    results = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    for array in inputs:
        if not isinstance(array, NDArray):
            raise AssertionError(f'all arguments of a Function must be NDArrays while recording, got {type(array)}')
    for result in results:
        if in_graph(result):
            raise MXNetError(IN_GRAPH)
    way_back = _function_backward(function, [(r.shape, r._data.dtype, r._ctx) for r in results],
                                  [a.shape for a in inputs])
    put(_FunctionRecord(type(function).__name__, len(results)), {'backward': way_back}, inputs,
        [a._data for a in inputs], [r._data for r in results], results, results[0]._ctx)
    return outputs


def _function_backward(function: Function, described: list[Any], shapes: list[Any]) -> Callable[..., Any]:
    count = len(shapes)

    def run(ograds: list[Any]) -> list[Any]:
        recorded = any(g is not None and hasattr(g, '_node') for g in ograds)
        wrapped = []
        for gradient, (shape, dtype, ctx) in zip(ograds, described):
            raw = np.zeros(shape, dtype) if gradient is None else getattr(gradient, '_data', gradient)
            array = wrap(raw.view(), ctx)
            array._data.flags.writeable = False
            if recorded and gradient is not None:
                array._node = gradient._node
            wrapped.append(array)
        previous = set_recording(recorded)      # under create_graph what backward does is differentiated again
        try:
            result = function.backward(*wrapped)
            result = list(result) if isinstance(result, (list, tuple)) else [result]
            if len(result) != count:
                raise ValueError(f'{type(function).__name__}.backward must return exactly the same number of '
                                 f'NDArrays as the number of inputs: expected {count}, got {len(result)}')
            for gradient in result:
                if not hasattr(gradient, '_data'):
                    raise TypeError(f'{type(function).__name__}.backward must return NDArrays, got {type(gradient)}')
            result = [g if g.shape == shape else g.broadcast_to(shape) for g, shape in zip(result, shapes)]
        except Exception as error:
            sys.stdout.write(f'Error in Function.backward: {traceback.format_exc()}\n')
            raise MXNetError(f'Error in Function.backward of {type(function).__name__}: {error!r}') from error
        finally:
            set_recording(previous)
        return result if recorded else [g._data for g in result]

    return run
