"""How operators, calls and memory are observed: the engine is changed while a profile runs and only then.

An engine that is not profiled pays nothing, not even a test of a flag. While a profile runs, the bodies of all
operators are timed, arithmetic takes its long way, and graphs run step by step instead of as one compiled function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import dispatch, engine
from ..graph import plan as graph_plan
from ..kvstore import reduce
from ..ndarray import arithmetic, creation
from ..ndarray.ndarray import NDArray
from ..op import Operator, registry
from . import memory, names
from .timer import API, Timer, depth, now, timed_call

_undo: list[Callable[[], None]] = []


class _Diverted(list):
    """An empty list of kernels; those that are added while a profile runs go where they belong."""

    def __init__(self, kernels: list[Any]) -> None:
        super().__init__()
        self._kernels = kernels

    def insert(self, index: Any, kernel: Any) -> None:
        self._kernels.insert(index, kernel)

    def clear(self) -> None:
        """Somebody wraps the body, with which the kernels go: afterwards there are none beside it."""
        self._kernels = []

    def install(self, op: Operator) -> None:
        """Stand in the place of the kernels of an operator."""
        op.kernels = self
        _undo.append(lambda: setattr(op, 'kernels', self._kernels))


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


def forget() -> None:
    """The engine as it was, in a process that has just been forked: another thread may have been in any of this."""
    memory.forget()
    remove()


def _change(owner: Any, name: str, value: Any) -> None:
    def present() -> Any:
        return owner.__dict__[name] if isinstance(owner, type) else getattr(owner, name)

    def undo() -> None:
        if present() is value:      # else somebody has wrapped it, mixed precision say, and goes on with it
            setattr(owner, name, before)

    before = present()
    setattr(owner, name, value)
    _undo.append(undo)


# ---- operators ------------------------------------------------------------------------------------------------------

def _time_operators(session: Any) -> None:
    from . import gradients, updates  # not before somebody profiles: they need the optimizers and the executor
    timer = Timer(session)
    _undo.append(timer.stop)
    operators = list({id(op): op for op in registry.values()}.values())
    for op in operators:
        kernels = op.kernels
        if op.name != 'Custom':
            _change(op, 'forward', functools.partial(timer.body, names.forward(op.name), op.forward, kernels))
        _Diverted(kernels).install(op)
    _change(arithmetic, '_SMALL', -1)
    for cls in (NDArray, *NDArray.__subclasses__()):
        for name, (pair, scalar, _, _) in arithmetic._BINARY.items():
            inplace = cls.__dict__.get(f'__i{name}__')
            if inplace is not None:
                _change(cls, f'__i{name}__', _timed_inplace(timer, inplace, pair, scalar))
    _change(NDArray, 'copyto', _timed_copy(timer, NDArray.copyto))
    filled = creation._filled
    _change(creation, '_filled', lambda name, *args: timer.call(name, filled, name, *args))
    for attribute, name in (('add_up', 'KVStoreReduce'), ('write', 'KVStoreCopy')):
        _change(reduce, attribute, functools.partial(timer.call, name, getattr(reduce, attribute)))
    forward, backward = graph_plan.Plan.forward, graph_plan.Plan.backward
    _change(graph_plan.Plan, 'forward', _step_by_step(timer, forward))
    _change(graph_plan.Plan, 'backward', _step_by_step(timer, backward))
    gradients.install(timer, operators, _change)
    updates.install(timer, _change)
    _forget_bodies()
    _undo.append(_forget_bodies)


def _forget_bodies() -> None:
    """Have the raw name space look bodies up again."""
    found = vars(dispatch.raw(dispatch.np))
    for name in [name for name in found if name != '_xp']:
        del found[name]


def _timed_inplace(timer: Timer, inplace: Callable[..., Any], pair: str, scalar: str) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        name = pair if isinstance(other, NDArray) else scalar
        return timer.call(name, inplace, self, other, _operands=(self._data,))

    return method


def _timed_copy(timer: Timer, copyto: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(copyto)
    def method(self: Any, other: Any) -> Any:
        target = getattr(other, '_ctx', other)
        kinds = ['GPU' if getattr(ctx, 'is_gpu', False) else 'CPU' for ctx in (self._ctx, target)]
        return timer.call('Copy{}2{}'.format(*kinds), copyto, self, other)

    return method


def _step_by_step(timer: Timer, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of plans that takes no compiled way, and leaves none behind that is timed."""

    @functools.wraps(method)
    def run(self: Any, *args: Any) -> Any:
        names = ('_plain', '_recorded', '_needed', '_backwards')
        before = {name: getattr(self, name) for name in names}
        self._plain = self._recorded = None
        self._backwards = {}
        self._needed = set()
        depth.graph += 1
        start = now()
        try:
            return method(self, *args)
        finally:
            end = now()
            depth.graph -= 1
            for name, value in before.items():
                setattr(self, name, value)
            if timer.api and not depth.graph and not depth.api:
                timer.session.span(API, 'MXInvokeCachedOpEx', start, end, 'be')

    return run


# ---- waits ----------------------------------------------------------------------------------------------------------

def _time_waits(session: Any) -> None:
    for owner, attribute, name in ((NDArray, 'wait_to_read', 'MXNDArrayWaitToRead'),
                                   (NDArray, 'asnumpy', 'MXNDArraySyncCopyToCPU'),
                                   (engine, 'waitall', 'MXNDArrayWaitAll')):
        original = owner.__dict__[attribute]
        _change(owner, attribute, timed_call(session, original, name))
    from . import gradients
    gradients.install_calls(session, _change)
