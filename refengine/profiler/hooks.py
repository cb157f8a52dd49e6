"""How operators, calls and memory are observed: the engine is changed while a profile runs and only then.

An engine that is not profiled pays nothing, not even a test of a flag. While a profile runs, the bodies of all
operators are timed, arithmetic takes its long way, and graphs run step by step instead of as one compiled function.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any

from .. import dispatch, engine
from ..graph import plan as graph_plan
from ..kvstore import reduce
from ..ndarray import arithmetic, creation
from ..ndarray.ndarray import NDArray
from ..op import registry
from . import memory

_now = time.perf_counter_ns

_undo: list[Callable[[], None]] = []


class _Depth(threading.local):
    """How deep the thread is in timed code: bodies call each other, the outermost one counts."""

    operator = 0
    api = 0
    graph = 0


_depth = _Depth()


class _Diverted(list):
    """An empty list of kernels; those that are added while a profile runs go where they belong."""

    def __init__(self, kernels: list[Any]) -> None:
        super().__init__()
        self._kernels = kernels

    def insert(self, index: Any, kernel: Any) -> None:
        self._kernels.insert(index, kernel)


def install(session: Any) -> None:
    """Observe what the settings of the session ask for."""
    remove()
    if session.wants('imperative') or session.wants('symbolic') or session.wants('api'):
        _time_operators(session)
    if session.wants('api'):
        _time_waits(session)
    if session.wants('memory'):
        memory.install(session, _undo)


def remove() -> None:
    """The engine as it was."""
    while _undo:
        _undo.pop()()


def _change(owner: Any, name: str, value: Any) -> None:
    before = getattr(owner, name) if not isinstance(owner, type) else owner.__dict__[name]
    setattr(owner, name, value)
    _undo.append(lambda: setattr(owner, name, before))


# ---- operators ------------------------------------------------------------------------------------------------------

def _time_operators(session: Any) -> None:
    timer = _Timer(session)
    for op in {id(op): op for op in registry.values()}.values():
        kernels = op.kernels
        _change(op, 'forward', functools.partial(timer.body, op.name, op.forward, kernels))
        _change(op, 'kernels', _Diverted(kernels))
    _change(arithmetic, '_SMALL', -1)
    for cls in (NDArray, *NDArray.__subclasses__()):
        for name, (pair, scalar, _, _) in arithmetic._BINARY.items():
            inplace = cls.__dict__.get(f'__i{name}__')
            if inplace is not None:
                _change(cls, f'__i{name}__', _timed_inplace(timer, inplace, pair, scalar))
    filled = creation._filled
    _change(creation, '_filled', lambda name, *args: timer.call(name, filled, name, *args))
    for attribute, name in (('add_up', 'KVStoreReduce'), ('write', 'KVStoreCopy')):
        _change(reduce, attribute, functools.partial(timer.call, name, getattr(reduce, attribute)))
    forward, backward = graph_plan.Plan.forward, graph_plan.Plan.backward
    _change(graph_plan.Plan, 'forward', _step_by_step(timer, forward))
    _change(graph_plan.Plan, 'backward', _step_by_step(timer, backward))
    _forget_bodies()
    _undo.append(_forget_bodies)


def _forget_bodies() -> None:
    """Have the raw name space look bodies up again."""
    found = vars(dispatch.raw(dispatch.np))
    for name in [name for name in found if name != '_xp']:
        del found[name]


class _Timer:
    """Times the outermost operator of a thread and reports it to the session."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.imperative = session.wants('imperative')
        self.symbolic = session.wants('symbolic')
        self.api = session.wants('api')

    def body(self, name: str, forward: Callable[..., Any], kernels: list[Any], xp: Any, *arrays: Any,
             **params: Any) -> Any:
        """In place of an operator's body."""
        for kernel in kernels:
            if _depth.operator:
                result = kernel(xp, *arrays, **params)
            else:
                result = self.attempt(name, arrays, kernel, xp, *arrays, **params)
            if result is not NotImplemented:
                return result
        if _depth.operator:
            return forward(xp, *arrays, **params)
        return self.call(name, forward, xp, *arrays, _operands=arrays, **params)

    def attempt(self, name: str, arrays: Any, kernel: Callable[..., Any], *args: Any, **params: Any) -> Any:
        """A kernel that may decline: only one that takes the call counts."""
        _depth.operator = 1
        start = _now()
        try:
            result = kernel(*args, **params)
        finally:
            _depth.operator = 0
        if result is not NotImplemented:
            self.report(name, start, _now(), arrays, result)
        return result

    def call(self, name: str, function: Callable[..., Any], *args: Any, _operands: Any = (), **params: Any) -> Any:
        """Call a function and report it as an operator."""
        _depth.operator += 1
        start = _now()
        try:
            result = function(*args, **params)
        finally:
            _depth.operator -= 1
        if not _depth.operator:
            self.report(name, start, _now(), _operands, result)
        return result

    def report(self, name: str, start: int, end: int, operands: Any, result: Any) -> None:
        session = self.session
        device = memory.device_of(operands, result)
        memory.observe(result, device)
        graph = _depth.graph
        if self.api and not graph and not _depth.api:
            session.span('MXNET_C_API', 'MXImperativeInvokeEx', start, end, 'be')
        if self.symbolic if graph else self.imperative:
            from .session import device_number
            session.span('operator', name, start, end, 'BE', device_number(device), device)


def _timed_inplace(timer: _Timer, inplace: Callable[..., Any], pair: str, scalar: str) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        name = pair if isinstance(other, NDArray) else scalar
        return timer.call(name, inplace, self, other, _operands=(self._data,))

    return method


def _step_by_step(timer: _Timer, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of plans that takes no compiled way, and leaves none behind that is timed."""

    @functools.wraps(method)
    def run(self: Any, *args: Any) -> Any:
        names = ('_plain', '_recorded', '_needed', '_backwards')
        before = {name: getattr(self, name) for name in names}
        self._plain = self._recorded = None
        self._backwards = {}
        self._needed = set()
        _depth.graph += 1
        start = _now()
        try:
            return method(self, *args)
        finally:
            end = _now()
            _depth.graph -= 1
            for name, value in before.items():
                setattr(self, name, value)
            if timer.api and not _depth.graph and not _depth.api:
                timer.session.span('MXNET_C_API', 'MXInvokeCachedOpEx', start, end, 'be')

    return run


# ---- waits ----------------------------------------------------------------------------------------------------------

def _time_waits(session: Any) -> None:
    for owner, attribute, name in ((NDArray, 'wait_to_read', 'MXNDArrayWaitToRead'),
                                   (NDArray, 'asnumpy', 'MXNDArraySyncCopyToCPU'),
                                   (engine, 'waitall', 'MXNDArrayWaitAll')):
        original = owner.__dict__[attribute]
        _change(owner, attribute, _timed_call(session, original, name))


def _timed_call(session: Any, function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        _depth.api += 1
        start = _now()
        try:
            return function(*args, **kwargs)
        finally:
            _depth.api -= 1
            if not _depth.api:
                session.span('MXNET_C_API', name, start, _now(), 'be')

    return call
