"""Batch normalisation with statistics over the batches of several devices: ``nd.contrib.SyncBatchNorm``.

The devices of one step meet under the key of the layer. Who comes before the last gets an array whose value is not
there yet; it is there when the last device has come. Operators run at the call, so a device cannot go on with such an
array before: either only the results of this layer are taken, one device after the other, or every device has a
thread of its own (``gluon.contrib.nn.run_on_devices``). Somebody who waits for a device that cannot come gets an error;
nobody waits for ever.

All devices of a step are one call on the tape, whose gradient takes the sums over all of them. A backward pass that
comes from one device only is put off until those of the others have come; its gradients are not there before.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import device, dispatch, engine, tape, tape_backward
from ..autograd import through
from ..base import MXNetError, _Null
from ..op import Operator, registry
from ..ops._nn import channel_shape
from . import awaited
from .ndarray import NDArray

_meetings: dict[str, _Meeting] = {}


class _Guest:
    """One device: its arrays, what stands behind them on the tape, and the arrays that it was given."""

    def __init__(self, meeting: _Meeting, inputs: Sequence[NDArray]) -> None:
        self.arrays = [a._data for a in inputs]
        self.behind = [a._node for a in inputs] if tape.state.recording else [None] * len(inputs)
        self.ctx = inputs[0]._ctx
        vector = (self.arrays[1].shape, self.arrays[1].dtype)
        self.given = [awaited.promised(meeting, shape, dtype, self.ctx)
                      for shape, dtype in ((self.arrays[0].shape, self.arrays[0].dtype), vector, vector)]


class _Meeting(awaited.Waiting):
    """The devices that have come for one step of one layer."""

    def __init__(self, key: str, count: int, params: dict[str, Any]) -> None:
        super().__init__()
        self.key = key
        self.count = count
        self.params = params
        self.guests: dict[str, _Guest] = {}

    def complaint(self, why: str) -> MXNetError:
        """What is wrong for somebody who needs a value now."""
        came = ', '.join(sorted(self.guests))
        return MXNetError(
            f"SyncBatchNorm '{self.key}' expects the batches of {self.count} devices, got {len(self.guests)} ({came}): "
            f'{why}. Operators run at the call, so its result must not be used before the last device has come; for '
            f'networks give every device a thread, with gluon.contrib.nn.run_on_devices(net, batches).')

    def give_up(self, why: str) -> None:
        """Let all who wait go with an error; the next step begins afresh."""
        if _meetings.get(self.key) is self:
            del _meetings[self.key]
        super().give_up(why)


# ---- the step --------------------------------------------------------------------------------------------------

def _axes(data: Any) -> tuple[int, ...]:
    return tuple(axis for axis in range(data.ndim) if axis != 1)


def _wide(data: Any) -> Any:
    return data.astype(np.float32) if data.dtype == np.float16 else data


def _mean_of(vectors: Sequence[Any]) -> np.ndarray:
    """The mean over devices, each of which has the same weight."""
    hosts = [device.to_host(v) for v in vectors]
    return sum(hosts[1:], hosts[0]) / hosts[0].dtype.type(len(hosts))


def _finish(meeting: _Meeting) -> None:
    """Compute the results of all devices and put their call on the tape."""
    params = meeting.params
    guests = [meeting.guests[name] for name in sorted(meeting.guests)]
    wide = [_wide(guest.arrays[0]) for guest in guests]
    mean = _mean_of([x.mean(axis=_axes(x)) for x in wide])
    # Not as a difference of squares, and for a mean that was rounded: see ops._moments.
    centres = [x - device.module_of(x).asarray(mean).reshape(channel_shape(x.ndim, 1, x.shape[1])) for x in wide]
    rest = _mean_of([c.mean(axis=_axes(c)) for c in centres])
    variance = np.maximum(_mean_of([(c * c).mean(axis=_axes(c)) for c in centres]) - rest * rest, 0)
    outputs = []
    for guest, centre in zip(guests, centres, strict=True):
        data, gamma, beta = guest.arrays[:3]
        xp = device.module_of(data)
        if params['fix_gamma']:
            gamma[...] = 1
        shape = channel_shape(data.ndim, 1, data.shape[1])
        spread = xp.asarray(variance)
        factor = gamma / xp.sqrt(spread + spread.dtype.type(params['eps']))
        centre *= factor.reshape(shape).astype(centre.dtype, copy=False)
        centre += (beta - xp.asarray(rest) * factor).reshape(shape).astype(centre.dtype, copy=False)
        outputs += [centre.astype(data.dtype, copy=False), xp.asarray(mean).astype(gamma.dtype),
                    spread.astype(gamma.dtype)]
    parents = [entry if entry is not None and entry.kind != tape.GONE else None for g in guests for entry in g.behind]
    node = None
    if any(entry is not None for entry in parents):
        node = _Step(_TOGETHER, {**params, 'mean': mean, 'rest': rest, 'variance': variance},
                         tuple(a for guest in guests for a in guest.arrays), tuple(outputs), parents, guests[0].ctx)
        _together.add(node)
        tape_backward.queued = _put_off
    for number, guest in enumerate(guests):
        for index, array in enumerate(guest.given):
            place = 3 * number + index
            array.__class__ = NDArray
            array._data = outputs[place]
            if node is not None and index == 0:
                array._node = tape.Output(node, place)


def _back(node: Any, ograds: Sequence[Any]) -> list[Any]:
    """Gradients by the data, gamma and beta of every device; running statistics move here, as those of BatchNorm."""
    if any(isinstance(g, NDArray) for g in ograds):
        return _back_recorded(node, ograds)
    params, count = node.params, len(node.inputs) // 5
    mean, rest, variance = params['mean'], params['rest'], params['variance']
    scale = 1 / np.sqrt(variance + variance.dtype.type(params['eps']))
    found = []
    for number in range(count):
        data = node.inputs[5 * number]
        ograd = ograds[3 * number]
        xp, shape = device.module_of(data), channel_shape(data.ndim, 1, data.shape[1])
        x = _wide(data)
        normal = x - xp.asarray(mean).reshape(shape)
        normal -= xp.asarray(rest).reshape(shape)
        normal *= xp.asarray(scale).reshape(shape)
        og = xp.zeros_like(x) if ograd is None else _wide(ograd)
        found.append((og, normal, og.sum(axis=_axes(x)), (og * normal).sum(axis=_axes(x)), x.size // x.shape[1]))
    of_mean, of_scale = _mean_of([item[2] for item in found]), _mean_of([item[3] for item in found])
    gradients: list[Any] = []
    for number, (og, normal, plain, along, size) in enumerate(found):
        data, gamma, _, running_mean, running_variance = node.inputs[5 * number:5 * number + 5]
        xp, shape = device.module_of(data), channel_shape(data.ndim, 1, data.shape[1])
        factor = gamma * xp.asarray(scale)
        part = plain.dtype.type(size)       # every device has the same weight, however large its part
        inner = og - xp.asarray(of_mean / part).reshape(shape) - normal * xp.asarray(of_scale / part).reshape(shape)
        gradients += [(inner * factor.reshape(shape)).astype(data.dtype, copy=False),
                      xp.zeros_like(gamma) if params['fix_gamma'] else along, plain, None, None]
        _move(params, running_mean, running_variance)
    return gradients


def _move(params: dict[str, Any], running_mean: Any, running_variance: Any) -> None:
    momentum = params['momentum']
    for running, batch in ((running_mean, params['mean']), (running_variance, params['variance'])):
        running *= running.dtype.type(momentum)
        running += device.module_of(running).asarray(batch * (1 - momentum)).astype(running.dtype, copy=False)


def _back_recorded(node: Any, ograds: Sequence[Any]) -> list[Any]:
    """The same gradients as part of the graph, so that they can be differentiated again."""
    if node.ctx.is_gpu:
        raise MXNetError('SyncBatchNorm over several GPUs cannot be differentiated more than once')
    inputs = []
    for data, entry in zip(node.inputs, node.parents, strict=True):
        array = dispatch.wrap(data, node.ctx, NDArray)      # all CPU contexts are one memory
        array._node = entry
        inputs.append(array)
    gradients = through(lambda arrays: _composed(arrays, node.params), inputs, ograds)
    for place in range(0, len(inputs), 5):
        _move(node.params, *node.inputs[place + 3:place + 5])
    return gradients


def _composed(arrays: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """The results of all devices by recorded calls; nobody asks for gradients of means and variances."""
    call, parts = dispatch.call, [arrays[place:place + 3] for place in range(0, len(arrays), 5)]
    wide = [call('cast', x, dtype='float32') if x.dtype == np.float16 else x for x, _, _ in parts]
    axes = _axes(wide[0])
    mean = sum(call('mean', x, axis=axes) for x in wide) / len(wide)
    centre = [x - mean.reshape(channel_shape(x.ndim, 1, x.shape[1])) for x in wide]
    variance = sum(call('mean', x * x, axis=axes) for x in centre) / len(wide)
    results: list[Any] = []
    for x, (data, gamma, beta) in zip(centre, parts, strict=True):
        shape = channel_shape(data.ndim, 1, data.shape[1])
        factor = 1 / call('sqrt', variance + params['eps'])
        if not params['fix_gamma']:
            factor = factor * gamma
        out = x * factor.reshape(shape) + beta.reshape(shape)
        results += [call('cast', out, dtype=np.dtype(data.dtype).name), None, None]
    return results


def _no_forward(xp: Any, *arrays: Any, **params: Any) -> Any:
    raise MXNetError('the devices of a SyncBatchNorm come one by one')


_TOGETHER = Operator('_contrib_SyncBatchNorm', _no_forward, variadic=True,
                     num_outputs=lambda params: 3 * len(params), mixed=True)
_TOGETHER.backward = _back


# ---- backward passes that come one by one ------------------------------------------------------------------------

class _Step(tape.Node):
    """The call of all devices on the tape."""

    __slots__ = ('__weakref__',)


_together: weakref.WeakSet[Any] = weakref.WeakSet()
"""The steps whose gradients were not computed yet."""


class _Pass(awaited.Waiting):
    """Backward passes that wait for those of other devices: their heads, and the gradients that they will fill."""

    def __init__(self) -> None:
        super().__init__()
        self.heads: list[Any] = []
        self.grads: list[Any] = []
        self.retain_graph = False
        self.targets: list[Any] = []
        self.steps: dict[Any, set[int]] = {}

    def complaint(self, why: str) -> MXNetError:
        return MXNetError(f'a gradient that passes a SyncBatchNorm over several devices needs the backward passes of '
                          f'all of them: {why}. Call backward for the losses of all devices, or once with '
                          f'autograd.backward(losses).')

    def give_up(self, why: str) -> None:
        """Only who asked gets an error: the other passes may still come."""

    def keys(self) -> set[str]:
        """The keys of the layers that it waits for."""
        return {step.params['key'] for step in self.steps if step.alive}

    def add(self, heads: Sequence[Any], grads: Sequence[Any] | None, steps: dict[Any, set[int]]) -> bool:
        """One more pass; whether all have come."""
        self.heads += heads
        self.grads += grads if grads is not None else [None] * len(heads)
        for step, found in steps.items():
            self.steps.setdefault(step, set()).update(found)
        return not any(len(found) < len(step.inputs) // 5 for step, found in self.steps.items())

    def promise(self, leaves: Sequence[Any]) -> None:
        """Make the gradients of variables wait."""
        for leaf in leaves:
            array = leaf.grad
            if leaf.kind == tape.LEAF and array.__class__ is NDArray:
                raw = array._data
                array.__class__ = awaited.Awaited
                awaited.write_slot(array, awaited.Promise(self, raw.shape, raw.dtype, raw))
                self.targets.append(array)

    def restore(self) -> None:
        """Give the variables their gradients back as they were."""
        _passes.remove(self)
        for array in self.targets:
            raw = awaited.read_slot(array).kept
            array.__class__ = NDArray
            array._data = raw


_passes: list[_Pass] = []


def _reached(heads: Sequence[Any]) -> tuple[dict[Any, set[int]], list[Any]]:
    """Which outputs of which steps the heads depend on, and the variables."""
    steps: dict[Any, set[int]] = {}
    leaves: list[Any] = []
    seen: set[int] = set()
    stack = [head._node for head in heads]
    while stack:
        entry = stack.pop()
        if entry is None:
            continue
        node = entry.node if entry.__class__ is tape.Output else entry
        if isinstance(node, _Step):
            steps.setdefault(node, set()).add(entry.index)
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, tape.Leaf):
            leaves.append(node)
        elif node.alive:
            stack += node.parents
    return steps, leaves


def _put_off(heads: Sequence[Any], head_grads: Sequence[Any] | None, retain_graph: bool, train_mode: bool) -> bool:
    """Whether a backward pass waits for those of other devices; the last of them runs all."""
    if not any(step.alive for step in _together):
        return False
    with awaited.changed:
        steps, leaves = _reached(heads)
        mine = next((p for p in _passes if p.steps.keys() & steps.keys()), None)
        if mine is None:
            mine = _Pass()
            if mine.add(heads, head_grads, steps):
                return False
            for other in [p for p in _passes if p.keys() & mine.keys()]:
                other.restore()             # of a step that was given up
            _passes.append(mine)
            complete = False
        else:
            complete = mine.add(heads, head_grads, steps)
        mine.retain_graph |= retain_graph
        if not complete:
            mine.promise(leaves)
            return True
        mine.restore()
        try:
            tape_backward.gradients(mine.heads, mine.grads, mine.retain_graph, False, train_mode)
        finally:
            mine.finish()
    return True


def sync_batch_norm(data: NDArray, gamma: NDArray, beta: NDArray, moving_mean: NDArray, moving_var: NDArray,
                    eps: float = 1e-3, momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False,
                    output_mean_var: bool = False, ndev: int = 1, key: Any = _Null, out: Any = None,
                    name: str | None = None, **kwargs: Any) -> Any:
    """BatchNorm of axis 1 whose statistics are the means of those of ``ndev`` devices that share ``key``.

    In training the result is there when all devices have come (MXNetError for who needs it before and waits in vain);
    differentiate all of them in one pass, ``autograd.backward(losses)``. Otherwise, and for one device, this is
    BatchNorm.

    >>> import refengine as mx
    >>> shards = [mx.nd.array([[1.0]], ctx=mx.cpu(0)), mx.nd.array([[3.0]], ctx=mx.cpu(1))]
    >>> def layer(x):
    ...     ones, zeros = mx.nd.ones(1, ctx=x.context), mx.nd.zeros(1, ctx=x.context)
    ...     return mx.nd.contrib.SyncBatchNorm(x, ones, zeros, zeros.copy(), ones.copy(), ndev=2, key='doc', eps=0)
    >>> with mx.autograd.train_mode():
    ...     results = [layer(x) for x in shards]
    >>> [result.asscalar().item() for result in results]
    [-1.0, 1.0]
    """
    inputs = [data, gamma, beta, moving_mean, moving_var]
    for name, value in zip(('data', 'gamma', 'beta', 'moving_mean', 'moving_var'), inputs):
        if not isinstance(value, dispatch.NDArray):
            raise AssertionError(f'Argument {name} must have NDArray type, but got {value}')
    op = registry['_contrib_SyncBatchNorm']
    given = {'eps': eps, 'momentum': momentum, 'fix_gamma': fix_gamma, 'use_global_stats': use_global_stats,
             'output_mean_var': output_mean_var, 'ndev': ndev, 'key': key}
    params = op.parse(given)
    if params['ndev'] <= 1 or params['use_global_stats'] or not tape.state.training:
        return dispatch.invoke(op, inputs, given, out)
    if out is not None:
        raise MXNetError('SyncBatchNorm over several devices takes no out: its result comes with the last device')
    if engine.queue is not None:
        raise MXNetError('SyncBatchNorm over several devices runs under the engine without a queue only')
    arrays = [a._data for a in inputs]      # before the lock: they may themselves be waited for
    dispatch.check_contexts(op, inputs)
    if op.infer is not None:
        op.infer(arrays, params)
    where = str(data._ctx)
    with awaited.changed:
        meeting = _meetings.get(params['key'])
        if meeting is not None and (where in meeting.guests or meeting.count != params['ndev']):
            meeting.give_up(f'{where} came again before the others')
            meeting = None
        if meeting is None:
            meeting = _meetings[params['key']] = _Meeting(params['key'], params['ndev'], params)
        guest = meeting.guests[where] = _Guest(meeting, inputs)
        if len(meeting.guests) == meeting.count:
            del _meetings[meeting.key]
            _finish(meeting)
            meeting.finish()
    return list(guest.given) if params['output_mean_var'] else guest.given[0]


sync_batch_norm.__name__ = sync_batch_norm.__qualname__ = 'SyncBatchNorm'
