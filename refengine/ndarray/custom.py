"""``nd.Custom``: calling an operator that the program defines, and its way back (rules CUSTOMOP)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import device, dispatch, engine, op, tape
from ..base import MXNetError
from ..ops.custom import Call, make_prop, run
from .ndarray import NDArray


def Custom(*args: Any, op_type: str | None = None, out: Any = None, name: Any = None, **kwargs: Any) -> Any:
    """Run the operator that ``mx.operator.register`` knows as ``op_type`` on arrays.

    Arrays come by position, or by the argument names of the registered CustomOpProp (CUSTOMOP-REG-006), auxiliary
    states after the inputs. All other keywords reach the constructor of the CustomOpProp as strings. The result is one
    array, or a list for an operator with several outputs.

    Raises MXNetError at the call for an unknown ``op_type``, a wrong number of arrays, and whatever goes wrong while
    the operator is described (shapes, dtypes, construction); an exception in ``forward`` or ``backward`` becomes an
    MXNetError at the next wait for the result (CUSTOMOP-RUN-004).
    """
    for value in args:
        if not isinstance(value, NDArray):
            raise AssertionError(f'Positional arguments must have NDArray type, but got {value}')
    arrays = list(args)
    given = dict(kwargs)
    named = {key: value for key, value in kwargs.items() if isinstance(value, NDArray)}
    if named:
        if op_type is None:
            raise MXNetError('Required argument `op_type` is missing.')
        given = {key: value for key, value in kwargs.items() if key not in named}
        given['_prop'] = prop = make_prop(op_type, given)
        for key in [*prop.list_arguments(), *prop.list_auxiliary_states()][len(arrays):]:
            if key in named:
                arrays.append(named.pop(key))
        if named:
            raise MXNetError(f'Custom operator {op_type}: expected arrays named '
                             f'{", ".join([*prop.list_arguments(), *prop.list_auxiliary_states()])}; '
                             f'{", ".join(named)} came besides or twice')
    if op_type is not None:
        given['op_type'] = op_type
    if arrays:
        given['_ctx'] = arrays[0]._ctx.home
    return dispatch.invoke(op.get('Custom'), arrays, given, out)


def _requests(node: tape.Node, count: int) -> tuple[list[str], list[Any]]:
    """What is wanted for each input, and the present gradient buffer where there is one."""
    words, buffers = [], []
    for parent in node.parents[:count]:
        leaf = parent if isinstance(parent, tape.Leaf) else None
        words.append('null' if parent is None else leaf.req if leaf is not None else 'write')
        buffers.append(leaf.grad._data if leaf is not None and words[-1] == 'write' else None)
    return words, buffers


def _backward(node: tape.Node, ograds: list[Any]) -> list[Any]:
    """The gradients of the inputs, by the program's ``backward``."""
    call: Call = node.params['call']
    recorded = any(isinstance(g, NDArray) for g in ograds)
    grads = [np.zeros_like(o) if g is None else getattr(g, '_data', g) for g, o in zip(ograds, node.outputs)]
    count = len(call.arguments)
    inputs = node.inputs[:count]
    words, buffers = _requests(node, count)
    results = []
    for data, buffer in zip(inputs, buffers):
        # What backward leaves alone keeps its old content (CUSTOMOP-RUN-005). Under `add` it starts from zero: the sum
        # with the buffer is taken when the gradient arrives there.
        fits = buffer is not None and buffer.shape == data.shape and buffer.dtype == data.dtype
        results.append(buffer.copy() if fits else device.module_of(data).zeros(data.shape, data.dtype))
    failed = run(call.ctx, 'CustomOp.backward', lambda wrapped: call.operator.backward(
        req=words, in_grad=wrapped(results, True), aux=wrapped(node.inputs[count:], True),
        **_dependencies(call, wrapped, grads, inputs, node.outputs)))
    if failed is not None:
        failure = engine.Failure(failed)
        results = [engine.fail(r, failure) for r in results]
    gradients: list[Any] = [None if word == 'null' else r for word, r in zip(words, results)]
    gradients += [None] * len(call.aux)
    return _refusing(node, gradients) if recorded else gradients


def _dependencies(call: Call, wrapped: Any, grads: Sequence[Any], inputs: Sequence[Any],
                  outputs: Sequence[Any]) -> dict[str, list[Any]]:
    """The arrays that backward declared to need; the others come without content, with shape ()."""
    arrays = [*grads, *inputs, *outputs]
    first, second = len(grads), len(grads) + len(inputs)
    numbers = list(range(len(arrays)))
    needed = set(call.prop.declare_backward_dependency(numbers[:first], numbers[first:second], numbers[second:]))
    shown = wrapped([a if i in needed else np.zeros((), a.dtype) for i, a in enumerate(arrays)], False)
    return {'out_grad': shown[:first], 'in_data': shown[first:second], 'out_data': shown[second:]}


op.get('Custom').backward = _backward


class _NotTwice:
    """Stands on the tape for a gradient that cannot be differentiated again (CUSTOMOP-RUN-010)."""

    name = '_backward_Custom'
    partials = backward = None

    def visible_count(self, params: Any) -> int:
        return int(params['count'])

    def grad(self, *args: Any) -> Any:
        raise MXNetError(f"Operator {self.name} is non-differentiable because it didn't register FGradient attribute.")


def _refusing(node: tape.Node, gradients: list[Any]) -> list[Any]:
    """The gradients as recorded arrays that raise MXNetError when they are differentiated."""
    arrays = [None if g is None else dispatch.wrap(g, node.ctx) for g in gradients]
    there = [a for a in arrays if a is not None]
    parents = [p for p in node.parents if p is not None]
    entry = tape.Node(_NotTwice(), {'count': len(there)}, (), [a._data for a in there], parents, node.ctx)
    for index, array in enumerate(there):
        array._node = tape.Output(entry, index) if entry.kind == tape.MANY else entry
    return arrays
