"""Arrays whose values are still being worked out, under an asynchronous engine (rules CTX-ASYNC).

A call whose result has a shape that is known beforehand goes to the queue, and the array that it returns holds a
``Pending``. Shapes are learnt: the first call with given shapes, element types and parameters runs at the call, which
also raises all its errors there; the same call later is known to be sound but for the values, and goes to the queue.

Reading the raw value of an array waits for everything, because the reader may be about to write; ``asnumpy``,
``wait_to_read`` and their like wait for their own array only. So code that knows nothing of this is right, if slower.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import device, dispatch, engine, random, tape, tape_backward, tape_walk
from .base import InternalError, LateError, MXNetError
from .context import as_context
from .op import Operator, registry
from .tape import state
from .threaded import Queue, Task
from .util import semantics

VALUE_SHAPED = frozenset({'_contrib_boolean_mask'})
"""Operators whose result has a shape that depends on values; they run at the call."""

_LIMIT = 4096
_known: dict[Any, tuple[tuple[tuple[int, ...], Any], ...]] = {}

_read: Callable[[Any], Any]
_write: Callable[[Any, Any], None]


def _queue() -> Queue:
    assert engine.queue is not None, 'there is a queue under an asynchronous engine only'
    return engine.queue


class Pending:
    """The raw value of an array that a task will work out; shape and dtype are known, ``task`` is its last writer."""

    __slots__ = ('dtype', 'shape', 'task', 'value')

    def __init__(self, task: Task, shape: Any, dtype: Any) -> None:
        self.task = task
        self.shape = shape
        self.dtype = dtype
        self.value: Any = None

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))


def settled(value: Any) -> Any:
    """The raw array behind a value, after waiting for its last writer."""
    if value.__class__ is Pending:
        _queue().wait(value.task)
        return value.value
    return value


def _raw(value: Any) -> Any:
    """The same on the thread of the queue, where everything before is done; ``task`` may be the caller itself."""
    if value.__class__ is Pending:
        return settled(value) if value.value is None else value.value
    return value


def _writes(task: Task, value: Any) -> None:
    """A task will write to a value: who waits for it waits for the task."""
    if value.__class__ is Pending:
        value.task = task


# ---- calls ---------------------------------------------------------------------------------------------------------

def queued(inline: Callable[..., Any]) -> Callable[..., Any]:
    """``dispatch.invoke`` for an asynchronous engine."""
    def invoke(op: Operator, inputs: Sequence[Any], given: Mapping[str, Any], out: Any = None, ctx: Any = None) -> Any:
        queue = _queue()
        if queue.is_worker():
            return inline(op, inputs, given, out, ctx)
        signature = None
        if out is None and op.name not in VALUE_SHAPED and op.backward is None:
            signature, params, where = _signature(op, inputs, given, ctx)
            shapes = _known.get(signature) if signature is not None else None
            if shapes is not None:
                return _submit(op, inputs, params, where, shapes)
        queue.drain()
        result = inline(op, inputs, given, out, ctx)
        if signature is not None:
            _learn(signature, result)
        return result

    invoke.__doc__ = inline.__doc__
    return invoke


def _signature(op: Operator, inputs: Sequence[Any], given: Mapping[str, Any], ctx: Any) -> tuple[Any, Any, Any]:
    """What the shapes of the results depend on (None if that cannot be said), the parameters, and the context."""
    if op.source and 'ctx' in given:
        given = dict(given)
        ctx = given.pop('ctx')
    params = op.parse(given)
    where = inputs[0]._ctx.home if inputs else as_context(ctx)
    if where.is_gpu:
        return None, params, where
    values = [_read(a) for a in inputs]
    # The body is part of it: mixed precision puts others in the place of those that were there.
    signature = (op, op.forward, tuple(params.items()), tuple((v.shape, v.dtype, type(a), a._ctx.is_gpu) for v, a in
                                                  zip(values, inputs)), where, state.training, semantics.shape)
    try:
        hash(signature)
    except TypeError:
        return None, params, where
    return signature, params, where


def _learn(signature: Any, result: Any) -> None:
    values = [_read(a) for a in (result if isinstance(result, (list, tuple)) else (result,))]
    if all(type(v) is np.ndarray for v in values):
        if len(_known) >= _LIMIT:
            _known.clear()
        _known[signature] = tuple((v.shape, v.dtype) for v in values)


def _submit(op: Operator, inputs: Sequence[Any], params: dict[str, Any], ctx: Any, shapes: Any) -> Any:
    """Queue a call and return its results, which are pending."""
    queue = _queue()
    call = dict(params)
    if 'is_train' in op.injected:
        call['is_train'] = state.training
    if 'rng' in op.injected:
        call['rng'] = random.current(ctx)
    if 'ctx' in op.injected:
        call['ctx'] = ctx
    arrays = [_read(a) for a in inputs]
    recording = state.recording

    def body() -> None:
        outputs, failure = _computed(op, arrays, params, call, shapes)
        if failure is not None:
            outputs = [engine.fail(np.asarray(o), failure) for o in outputs]
        for pending, output in zip(pendings, outputs):
            pending.value = output

    task = Task(body)
    count = op.output_count(params)
    known = [*shapes, *[(None, None)] * (count - len(shapes))]      # hidden outputs are seen by the tape alone
    pendings = [Pending(task, shape, dtype) for shape, dtype in known]
    for index in op.mutates:
        _writes(task, arrays[index])
    queue.put(task, engine.hold())      # first of all: who watches arrays being made may ask for their values
    cls = type(inputs[0]) if inputs else dispatch.NDArray
    results = [dispatch.wrap(p, ctx, cls) for p in pendings[:len(shapes)]]
    if recording and inputs:
        dispatch.record(op, call, inputs, arrays, pendings, results, ctx)
    return results[0] if len(results) == 1 else results


def _computed(op: Operator, values: list[Any], params: Any, call: Any, shapes: Any) -> tuple[list[Any], Any]:
    """The outputs, and the failure they carry; whatever goes wrong here belongs to the results."""
    try:
        arrays = [_raw(v) for v in values]
        if op.infer is not None:
            op.infer(arrays, params)
        outputs = [dispatch._own(o, arrays) for o in dispatch.compute(op, np, arrays, call)]
        for output, (shape, dtype) in zip(outputs, shapes):
            if output.shape != shape or output.dtype != dtype:
                raise InternalError(f'Operator {op.name} gave {output.dtype} {output.shape} where {dtype} {shape} was '
                                    f'expected from an earlier call with the same shapes')
        return outputs, None
    except LateError as late:
        return list(late.outputs), engine.Failure(late.error)
    except BaseException as error:  # noqa: BLE001 - the thread must go on; the error is raised by whoever waits
        return [np.zeros(shape, dtype) for shape, dtype in shapes], engine.Failure(_as_error(error))


def _as_error(error: BaseException) -> Exception:
    """What a wait may raise: the end of the program is not decided by the thread of the queue."""
    if isinstance(error, LateError):
        return error.error
    return error if isinstance(error, Exception) else MXNetError(f'{type(error).__name__} in the thread of the engine: '
                                                                 f'{error}')


# ---- backward ------------------------------------------------------------------------------------------------------

def backward(heads: Sequence[Any], head_grads: Sequence[Any] | None, retain_graph: bool, train_mode: bool) -> bool:
    """Queue a backward pass; False for one that must run at the call, because it has an error or runs other code.

    What the caller can see is as after the pass at once: the graph is freed, the gradients are fresh.
    """
    queue = _queue()
    if queue.is_worker():
        return False
    entries = [tape_backward.entry_of(h) for h in heads]
    nodes, leaves, chain = tape_walk.reachable(entries)
    leaves = [leaf for leaf in leaves if leaf.kind == tape.LEAF]
    given = head_grads or [None] * len(heads)
    if not leaves or not _fit(heads, entries, nodes) or any(not _plain(n.op) or n.ctx.is_gpu for n in nodes) or any(
            g is not None and (g.shape != h.shape or g.dtype != h.dtype) for g, h in zip(given, heads)) or any(
            np.dtype(leaf.grad.dtype) != leaf.dtype for leaf in leaves):
        return False
    own = nodes
    entries, nodes = _copied(entries, nodes)        # a later pass may free the graph before this one has run
    if not retain_graph:
        for node in own:
            node.free()

    def body() -> None:
        state.training = train_mode
        token = device.error_state.set(device.ERRORS_IGNORED)
        try:
            for node in nodes:
                _resolve(node)
            _check(nodes)
            grads = tape_backward._seeds(heads, entries, head_grads, False)
            tape_walk.first_gradients(nodes, grads, chain)
            for leaf in leaves:
                tape_backward._store(leaf, grads.get(leaf), False)
        except BaseException as error:  # noqa: BLE001 - as above
            failure = error.args[0] if isinstance(error, _Carried) else engine.Failure(_as_error(error))
            for leaf in leaves:
                leaf.grad._data = engine.fail(leaf.grad._data, failure)
        finally:
            device.error_state.reset(token)
            state.training = False

    task = Task(body)
    for leaf in leaves:
        leaf.fresh = True
        _writes(task, _read(leaf.grad))
    queue.put(task)
    return True


def _fit(heads: Sequence[Any], entries: Sequence[Any], nodes: Sequence[Any]) -> bool:
    """Whether the gradient buffers of all variables have the shapes of the variables."""
    pairs = [*zip(entries, heads), *itertools.chain.from_iterable(zip(node.parents, node.inputs) for node in nodes)]
    return all(leaf.kind != tape.LEAF or leaf.grad.shape == variable.shape for leaf, variable in pairs
               if leaf is not None)


def _plain(op: Any) -> bool:
    """Whether the gradient of an operator is that of the engine: no code of the program, and nobody who listens."""
    return type(op) is Operator and op.backward is None and registry.get(op.name) is op


def _copied(entries: Sequence[Any], nodes: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Copies of the heads' entries and of the nodes."""
    twins: dict[Any, Any] = {}

    def twin(entry: Any) -> Any:
        if isinstance(entry, tape.Output):
            return tape.Output(twins[entry.node], entry.index)
        return twins.get(entry, entry)

    for node in reversed(nodes):        # parents first
        twins[node] = tape.Node(node.op, node.params, node.inputs, node.outputs, [twin(p) for p in node.parents],
                                node.ctx)
    return [twin(e) for e in entries], [twins[n] for n in nodes]


def _resolve(node: Any) -> None:
    """Put the raw arrays of a node in the place of pending ones."""
    if isinstance(node, tape.Node):
        node.inputs = tuple(_raw(v) for v in node.inputs)
        node.outputs = tuple(_raw(v) for v in node.outputs)


def _check(nodes: Sequence[Any]) -> None:
    """Nothing flows back through a call that failed: what depends on it fails with the same error."""
    failure = engine.failure_of([*itertools.chain.from_iterable((*node.inputs, *node.outputs) for node in nodes)])
    if failure is not None:
        raise _Carried(failure)
    if any(output is None for node in nodes for output in node.outputs):
        raise MXNetError('The forward pass failed, and its error was raised before: there is nothing to differentiate.')


class _Carried(Exception):
    """A failure that stands behind what was to be computed."""


def resolve(nodes: Sequence[Any]) -> None:
    """The same at the call, after waiting for everything."""
    _queue().drain()
    for node in nodes:
        _resolve(node)


# ---- the array class -----------------------------------------------------------------------------------------------

def install(cls: Any) -> None:
    """Make a class of arrays wait where it must, and only there."""
    global _read, _write
    slot = cls.__dict__['_data']
    _read, _write = slot.__get__, slot.__set__

    def raw(self: Any) -> Any:
        queue = _queue()
        if queue.busy and not queue.is_worker():
            queue.drain()
        value = _read(self)         # not before: a task may put a failed array in the place of the value
        if value.__class__ is Pending:
            value = _raw(value)
            _write(self, value)
        return value

    def awaited(self: Any) -> Any:
        """The raw value for reading: waits for the array alone when that is enough.

        It is enough as long as the value is not there. Later it may have been handed out, so that a task may be about
        to write to it without the pending value knowing.
        """
        value = _read(self)
        return settled(value) if value.__class__ is Pending and not value.task.done else self._data

    def shape(self: Any) -> tuple[int, ...]:
        """The lengths of all axes; known before the value."""
        return tuple(_read(self).shape)

    def asnumpy(self: Any) -> np.ndarray:
        data = awaited(self)
        engine.wait(data)
        return np.array(device.to_host(data), order='C', subok=False)

    def wait_to_read(self: Any) -> None:
        engine.wait(awaited(self))
        if self._ctx.is_gpu:
            device.synchronize(self._ctx)

    def asscalar(self: Any) -> Any:
        if self.size != 1:
            raise ValueError('The current array is not a scalar')
        return self.asnumpy().reshape(-1)[0]

    def detach(self: Any) -> Any:
        return dispatch.wrap(_read(self), self._ctx, type(self))

    def stride(self: Any) -> tuple[int, ...]:
        value = _read(self)
        if value.__class__ is Pending:
            return tuple(int(n) for n in np.cumprod((1, *value.shape[:0:-1]))[::-1]) if value.shape else ()
        return tuple(n // value.itemsize for n in value.strides)

    for function in (asnumpy, wait_to_read, asscalar, detach):
        function.__doc__ = cls.__dict__[function.__name__].__doc__
        setattr(cls, function.__name__, function)
    cls._data = property(raw, _write)
    for name, getter in (('shape', shape), ('dtype', lambda self: _read(self).dtype.type), ('stride', stride),
                         ('size', lambda self: _read(self).size), ('ndim', lambda self: _read(self).ndim)):
        made = property(getter, doc=cls.__dict__[name].__doc__)
        made.__set_name__(cls, name)        # for the message of who tries to set it
        setattr(cls, name, made)
    cls.__len__ = lambda self: _read(self).shape[0]
    tape_backward.queued, tape_backward.resolve = backward, resolve


