"""Differentiation of recorded calls: head gradients go in, gradients of the variables go to their buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import device, engine, tape_walk
from .base import LateError, MXNetError
from .tape import GONE, LEAF, MANY, NOT_IN_GRAPH, Leaf, Pair, state
from .tape_walk import Given, add, first_gradients, reachable, second_gradients

# Put here by an asynchronous engine, and the first one by SyncBatchNorm of several devices: to queue a backward pass,
# and to have values in the place of pending ones.
queued: Any = None
resolve: Any = None

_enter, _leave = device.error_state.set, device.error_state.reset


# ---- heads -----------------------------------------------------------------------------------------------------

_ones: dict[Any, Any] = {}
_FLOAT32 = np.dtype('float32')


def _ones_for(data: Any) -> Any:
    """Ones of the shape and dtype of an array; those of small arrays are made once."""
    if data.__class__ is np.ndarray and data.size <= 1024:
        dtype = data.dtype
        key = data.shape if dtype is _FLOAT32 else (data.shape, dtype)
        found = _ones.get(key)
        if found is None:
            if len(_ones) > 512:
                _ones.clear()
            found = _ones[key] = np.ones(data.shape, dtype)
            found.flags.writeable = False
        return found
    return device.module_of(data).ones(data.shape, data.dtype)


def checked_head(gradient: Any) -> Any:
    """A head gradient; AttributeError for anything but an array (rule AUTOGRAD-BACK-004)."""
    _ = gradient.handle
    return gradient


def entry_of(array: Any) -> Any:
    """What stands behind an array in the graph; MXNetError when nothing does."""
    entry = array._node
    if entry is None or entry.kind == GONE:
        raise MXNetError(NOT_IN_GRAPH)
    return entry


def _head_gradient(head: Any, given: Any, position: int, create_graph: bool) -> Any:
    """The gradient to start from: what was given, or ones; MXNetError when it does not fit the head."""
    if given is None:
        data = _ones_for(head._data)
        return tape_walk.wrap(data, head._ctx.home) if create_graph else data
    if given.shape != head.shape:
        raise MXNetError(f'The head gradient has shape {given.shape}, expected {head.shape} '
                         f'(shape of the {position}-th head)')
    if given._data.dtype != head._data.dtype:
        raise MXNetError(f'The data type do not match: the head gradient has dtype {given._data.dtype}, '
                         f'expected {head._data.dtype}')
    return given if create_graph else given._data


def _seeds(heads: Sequence[Any], entries: Sequence[Any], head_grads: Sequence[Any] | None,
           create_graph: bool) -> dict[Any, Any]:
    """The gradients at the heads; a head that comes twice counts once (rule AUTOGRAD-BACK-012)."""
    if len(entries) == 1 and entries[0].kind != MANY:
        return {entries[0]: _head_gradient(heads[0], head_grads[0] if head_grads else None, 0, create_graph)}
    grads: dict[Any, Any] = {}
    seen: set[Any] = set()
    for position, (head, entry) in enumerate(zip(heads, entries)):
        place = (entry.node, entry.index) if entry.kind == MANY else entry
        if place not in seen:
            seen.add(place)
            given = None if head_grads is None else head_grads[position]
            add(grads, entry, _head_gradient(head, given, position, create_graph))
    return grads


def _wanted(variables: Sequence[Any], leaves: Sequence[Leaf]) -> list[Leaf]:
    """The leaves behind the variables; MXNetError for one that is none, or that the heads do not depend on."""
    wanted = []
    for index, variable in enumerate(variables):
        node = variable._node
        if node is None or node.kind != LEAF:
            raise MXNetError(f'Cannot differentiate with respect to the {index + 1}-th variable because it does '
                             f'not require gradient.')
        if node not in leaves:
            raise MXNetError(f'Cannot differentiate with respect to the {index + 1}-th variable because it is '
                             f'unreachable from the outputs.')
        wanted.append(node)
    return wanted


def _shown(error: Exception) -> Exception:
    """The error that the caller sees for one of the walk."""
    if isinstance(error, LateError):
        return error.error
    if isinstance(error, ArithmeticError | LookupError | TypeError | ValueError):
        shown = MXNetError(f'Error in a gradient: {error}')
        shown.__cause__ = error
        return shown
    return error


def _failure(nodes: Sequence[Any]) -> engine.Failure | None:
    """The error, not yet raised, of a call that is to be differentiated: the walk came upon what it left behind."""
    return engine.failure_of(array for node in nodes for array in (*node.inputs, *node.outputs))


def _fail(leaves: Sequence[Leaf], failure: engine.Failure, later: bool) -> None:
    """Let gradients fail with the error of what they depend on: where they are waited for, or now."""
    if not later:
        failure.deliver()
    for leaf in leaves:
        if leaf.kind == LEAF:
            leaf.fresh = True
            leaf.grad._data = engine.fail(leaf.grad._data, failure)


def gradients(heads: Sequence[Any], head_grads: Sequence[Any] | None, retain_graph: bool = False,
              create_graph: bool = False, train_mode: bool = True,
              variables: Sequence[Any] | None = None) -> list[Any] | None:
    """Differentiate the sum of the heads.

    Without ``variables`` the gradients go into the buffers of the leaves; with them they come back as raw arrays, or as
    recorded arrays under ``create_graph``.
    """
    if queued is not None and variables is None and not create_graph and queued(heads, head_grads, retain_graph,
                                                                                train_mode):
        return None
    entries = [entry_of(heads[0])] if len(heads) == 1 else [entry_of(head) for head in heads]
    nodes, leaves, chain = reachable(entries)
    if resolve is not None:
        resolve(nodes)
    if variables is not None:
        leaves = _wanted(variables, leaves)
    else:
        for leaf in leaves:
            if leaf.kind == LEAF:
                break
        else:
            raise MXNetError('There are no inputs in computation graph that require gradients.')
    grads = _seeds(heads, entries, head_grads, create_graph)

    here = state.here
    recording, training = here.now, here.training
    if recording is not create_graph:
        state.recording = create_graph
    here.training = train_mode
    failure = None
    token = _enter(device.ERRORS_IGNORED)
    try:
        if create_graph:
            second_gradients(nodes, grads)
        else:
            first_gradients(nodes, grads, chain)
    except Given as given:
        raise given.error from given.error.__cause__
    except Exception as error:
        failure = _failure(nodes)
        if failure is None:
            shown = _shown(error)
            if shown is error:
                raise
            raise shown from shown.__cause__
    finally:
        _leave(token)
        here.training = training
        if recording is not create_graph:
            state.recording = recording

    result = None
    if failure is not None:
        _fail(leaves, failure, variables is None and not create_graph)
    elif variables is None:
        for leaf in leaves:
            if leaf.kind == LEAF:
                leaf.fresh = True
                _store(leaf, grads.get(leaf), create_graph)
    else:
        result = [grads.get(leaf) for leaf in leaves]
    if not retain_graph:
        for node in nodes:
            if node.__class__ is Pair:      # its free(), without a call
                node.kind = GONE
                node.a = node.b = node.y = node.left = node.right = None
            else:
                node.free()
    return result


# ---- buffers ---------------------------------------------------------------------------------------------------

def _bad_buffer(expected: Any, given: Any) -> MXNetError:
    return MXNetError(f'Incompatible attr in node backward at 0-th output: expected {expected}, got {given}: the '
                      f'gradient buffer does not fit the variable')


def _store(leaf: Leaf, gradient: Any, create_graph: bool) -> None:
    """Write or add a gradient into the buffer of a variable."""
    buffer = leaf.grad
    target = buffer._data
    dtype = target.dtype
    if dtype is not leaf.dtype and dtype != leaf.dtype:
        raise _bad_buffer(leaf.dtype, dtype)
    if gradient is None:
        if leaf.req == 'write':
            target[...] = 0
        return
    data = gradient._data if create_graph else gradient
    if data.shape != target.shape:
        raise _bad_buffer(data.shape, target.shape)
    if data.__class__ is np.ndarray and target.__class__ is np.ndarray:
        if leaf.req == 'add':
            if dtype.kind in 'iub' and data.dtype != dtype:      # loses its fraction, as where it is written
                data = data.astype(dtype)
            target += data
        else:
            target[...] = data
    else:       # failed results and device arrays
        buffer._write(target + data if leaf.req == 'add' else data)
    if create_graph:
        buffer._node = gradient._node
    elif buffer._node is not None:
        buffer._node = None
