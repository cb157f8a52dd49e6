"""The only caller of operators: parameters, checks, kernel, tape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from . import device, engine, random, tape_walk
from .base import IN_GRAPH, LateError, MXNetError, dtype_text, shape_text
from .context import Context, as_context
from .op import Operator, check_same, get, registry, shape_error
from .tape import GONE, MANY, Node, Output, recorders, state
from .util import semantics

_new = object.__new__
_ndarray = np.ndarray
_error_state = device.error_state
_ignored = device.ERRORS_IGNORED

_LARGE = 4096
"""From this size on an accelerated kernel may be worth its import."""

NDArray: Any = None
"""The default class of results; the front end sets it."""


# ---- raw name space: operators on raw arrays, without tape -------------------------------------------------------

class Raw:
    """Every registered operator as a function on raw arrays of one array module: ``F`` of first-order gradients."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op = registry.get(name)
        if op is None:
            raise AttributeError(f'no operator named {name!r}')
        function = partial(op.forward, self._xp) if not op.kernels else partial(_with_kernels, op, self._xp)
        if op.source:
            function = partial(function, ctx=Context('cpu', 0))
        setattr(self, name, function)
        return function


def _with_kernels(op: Operator, xp: Any, *arrays: Any, **params: Any) -> Any:
    for kernel in op.kernels:
        result = kernel(xp, *arrays, **params)
        if result is not NotImplemented:
            return result
    return op.forward(xp, *arrays, **params)


@cache
def raw(xp: Any) -> Raw:
    """The raw name space of an array module."""
    return Raw(xp)


# ---- recorded calls ------------------------------------------------------------------------------------------------

def check_contexts(op: Operator, inputs: Sequence[Any]) -> None:
    """All inputs live on one kind of device; different ids of one kind may be mixed (rule CTX-MIX-002)."""
    first = inputs[0]._ctx
    for index, array in enumerate(inputs):
        other = array._ctx
        if other is not first and (other.device_typeid == 2) != (first.device_typeid == 2):
            raise MXNetError(f'Operator {op.name} require all inputs live on the same context. But the first argument '
                             f'is on {first} while the {index + 1}-th argument is on {other}')


def check_sizes(op: Operator, arrays: Sequence[Any]) -> None:
    """Legacy shape semantics know neither zero-dimensional nor zero-size arrays (rule ND-NPSHAPE-004)."""
    for array in arrays:
        if not array.size or not array.ndim:
            if array.ndim:
                shapes: list[Sequence[int]] = [[-1 if n == 0 else n for n in a.shape] for a in arrays]
            else:
                shapes = [a.shape or (-1,) for a in arrays]
            raise shape_error(op.name, shapes)


def wrap(data: Any, ctx: Context, cls: Any = None) -> Any:
    """An array object around raw data."""
    result = _new(cls or NDArray)
    result._data = data
    result._ctx = ctx
    result._node = None
    return result


def in_graph(array: Any) -> bool:
    """Whether a write to the array would change a recorded graph."""
    node = array._node
    return node is not None and node.kind != GONE


def record(op: Any, params: Any, inputs: Sequence[Any], arrays: Sequence[Any], outputs: Sequence[Any],
           results: Sequence[Any], ctx: Context) -> Node | None:
    """Put a call on the tape if one of its inputs is in a graph; ``results`` become its outputs."""
    parents: list[Any] | None = None
    for index, array in enumerate(inputs):
        entry = array._node
        if entry is not None and entry.kind != GONE:
            if parents is None:
                parents = [None] * len(inputs)
            parents[index] = entry
    if parents is None:
        return None
    node = Node(op, params, arrays, outputs, parents, ctx)
    if node.kind != MANY:
        results[0]._node = node
    else:
        for index, result in enumerate(results):
            result._node = Output(node, index)
    return node


_PLAIN_ERRORS = (ArithmeticError, LookupError, TypeError, ValueError)
"""What the array module raises for arrays that it cannot take."""


def _refused(op: Operator, error: Exception) -> MXNetError:
    """The engine's own error for arrays that a body cannot compute on."""
    return MXNetError(f'Error in operator {op.name}: {error}')


_pending_kernels = True


def load_kernels() -> None:
    """Accelerated kernels are imported when the first large array comes along, not with the package."""
    global _pending_kernels
    _pending_kernels = False
    from . import kernels
    kernels.load()


def compute(op: Operator, xp: Any, arrays: Sequence[Any], params: Mapping[str, Any]) -> tuple[Any, ...]:
    """Run a kernel or the generic body on raw arrays; execution errors mark the results as failed."""
    if _pending_kernels and arrays and arrays[0].size >= _LARGE:
        load_kernels()
    failure = engine.failure_of(arrays)
    if failure is not None:
        arrays = [a.view(np.ndarray) if type(a) is engine.FailedArray else a for a in arrays]
    token = _error_state.set(_ignored)
    try:
        if op.kernels:
            outputs = _with_kernels(op, xp, *arrays, **params)
        else:
            outputs = op.forward(xp, *arrays, **params)
    except LateError as late:
        outputs = late.outputs
        failure = engine.Failure(late.error)
    except _PLAIN_ERRORS as error:
        raise _refused(op, error) from error
    finally:
        _error_state.reset(token)
    if type(outputs) is not tuple:
        outputs = tuple(outputs) if isinstance(outputs, list) else (outputs,)
    if failure is not None:
        outputs = tuple(engine.fail(np.asarray(o), failure) for o in outputs)
    return outputs


def _short(op: Operator, inputs: Sequence[Any], given: Mapping[str, Any]) -> Any:
    """The short way of ``invoke`` for plain operators on healthy host arrays; None when it does not apply."""
    params = op.parse(given) if given or op.needs else op.defaults
    first = inputs[0]
    ctx = first._ctx
    x = first._data
    if len(inputs) == 1:
        if x.__class__ is not _ndarray or not x.size or not x.ndim:
            return None
        arrays = (x,)
    else:
        dtype = x.dtype
        arrays = tuple([a._data for a in inputs])
        for array, item in zip(inputs, arrays):
            if item.__class__ is not _ndarray or not item.size or not item.ndim or array._ctx is not ctx or (
                    item.dtype is not dtype and not op.mixed):
                return None
        if op.same_shape:
            return None
    if _pending_kernels and x.size >= _LARGE:
        load_kernels()
    token = _error_state.set(_ignored)
    try:
        data = _with_kernels(op, np, *arrays, **params) if op.kernels else op.forward(np, *arrays, **params)
    except _PLAIN_ERRORS as error:
        raise _refused(op, error) from error
    finally:
        _error_state.reset(token)
    base = data.base
    if base is not None or data.__class__ is not _ndarray:
        data = _own(data, arrays)
    else:
        for array in arrays:
            if data is array:
                data = data.copy()
    result = _new(first.__class__)
    result._data = data
    result._ctx = ctx = ctx.home
    result._node = None
    if recorders and state.here.now:
        record(op, params, inputs, arrays, (data,), (result,), ctx)
    return result


def _own(output: Any, arrays: Sequence[Any]) -> Any:
    """The output as an array that shares memory with no input."""
    if type(output) is not np.ndarray:
        if isinstance(output, np.ndarray) or not isinstance(output, (np.generic, int, float)):
            return output
        return np.asarray(output)
    base = output.base
    for array in arrays:
        if output is array or (base is not None and (base is array or base is array.base)):
            return output.copy()
    return output


def invoke(op: Operator, inputs: Sequence[Any], given: Mapping[str, Any], out: Any = None,
           ctx: Context | None = None) -> Any:
    """Call an operator on NDArrays: the one way from a front end to a result.

    ``out`` is an array (or a list of them) that receives the result in place. Errors are MXNetError, raised before
    anything is written.
    """
    if op.plain and out is None and inputs and len(inputs) == len(op.inputs):
        try:
            result = _short(op, inputs, given)
        except LateError:
            result = None       # the long way marks the result as failed
        if result is not None:
            return result
    outs = () if out is None else tuple(out) if isinstance(out, (list, tuple)) else (out,)
    for target in outs:
        if not isinstance(target, NDArray):
            raise TypeError(f'Operator {op.name}: out must be an NDArray or a list of them, got '
                            f'{type(target).__name__}: {target!r:.60}')
    if op.source and 'ctx' in given:
        given = dict(given)
        ctx = as_context(given.pop('ctx'))
    params = op.parse(given)
    expected = op.input_count(params)
    if expected >= 0 and len(inputs) != expected:
        raise MXNetError(f'Operator {op.name} expects {expected} inputs, but got {len(inputs)} instead.')
    if expected < 0 and not inputs:
        raise MXNetError(f'Required parameter num_args of int is not presented, in operator {op.name}(name="")')
    visible = op.visible_count(params)
    if out is not None and len(outs) not in (visible, op.output_count(params)):
        raise MXNetError(f'Operator {op.name} expects {visible} outputs, but out has {len(outs)} arrays')

    arrays = [a._data for a in inputs]
    if inputs:
        ctx = inputs[0]._ctx.home
        if len(inputs) > 1:
            check_contexts(op, inputs)
            if not op.mixed:
                check_same(op.name, arrays, shapes=op.same_shape)
        if not op.any_shape and not semantics.shape:
            check_sizes(op, arrays)
        cls = type(inputs[0])
    else:
        ctx = as_context(ctx)
        cls = NDArray
    late = None
    if op.infer is not None:
        try:
            op.infer(arrays, params)
        except LateError as error:
            late = error
        except _PLAIN_ERRORS as error:
            raise _refused(op, error) from error

    recording = state.recording
    if recording:
        for target in outs:
            if in_graph(target):
                raise MXNetError(IN_GRAPH)

    call = params
    injected = op.injected
    if injected:
        call = dict(params)
        if 'is_train' in injected:
            call['is_train'] = state.training
        if 'rng' in injected:
            call['rng'] = random.generator(ctx)
        if 'ctx' in injected:
            call['ctx'] = ctx
        if 'out' in injected and len(outs) == 1:
            call['out'] = outs[0]._data
    if outs and op.like is not None:
        for index, (place, target) in enumerate(zip(op.like(params), outs)):
            _check_target(op, arrays[place], target._data, index)
    xp = device.module(ctx) if ctx.device_typeid == 2 else np
    if late is None:
        outputs = compute(op, xp, arrays, call)
    else:
        failure = engine.Failure(late.error)
        outputs = tuple(engine.fail(o, failure) for o in late.outputs)
    if 'out' in injected:
        call.pop('out', None)

    if outs:
        for index, target in enumerate(outs[:visible]):
            if target._data is not outputs[index]:
                _check_target(op, outputs[index], target._data, index)
        outputs = list(outputs)
        for index, target in enumerate(outs[:visible]):
            target._write(outputs[index])
            outputs[index] = target._data
        results = outs[:visible]
    else:
        outputs = [_own(o, arrays) for o in outputs]
        results = [wrap(o, ctx, cls) for o in outputs[:visible]]

    if recording and inputs:
        record(op, call, inputs, arrays, outputs, results, ctx)
    if out is not None:
        return out
    return results[0] if visible == 1 else list(results)


def _check_target(op: Operator, output: Any, target: Any, index: int) -> None:
    if output.shape != target.shape:
        raise MXNetError(f'Error in operator {op.name}: Shape inconsistent, Provided = {shape_text(target.shape)}, '
                         f'inferred shape={shape_text(output.shape)}; Incompatible attr in node {op.name} at '
                         f'{index}-th output: expected {shape_text(output.shape)}, got {shape_text(target.shape)}')
    if output.dtype != target.dtype:
        raise MXNetError(f'Error in operator {op.name}: Incompatible attr in node {op.name} at {index}-th output: '
                         f'expected {dtype_text(output.dtype)}, got {dtype_text(target.dtype)}')


def call(name: str, *inputs: Any, **params: Any) -> Any:
    """Call an operator by name on NDArrays."""
    return invoke(get(name), inputs, params)


tape_walk.raw = raw
tape_walk.wrap = wrap

if engine.queue is not None:
    from . import lazy
    invoke = lazy.queued(invoke)
