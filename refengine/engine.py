"""Execution: when operators run, and when the errors that they find surface.

Without MXNET_ENGINE_TYPE operators run inline, at the call, and errors found while running surface at the next wait, as
in MXNet. NaiveEngine raises them at the call. ThreadedEngine and ThreadedEnginePerDevice hand the work to a thread:
calls return at once, and whoever reads an array waits for it (``refengine.lazy``).

A result whose computation failed is a ``FailedArray``: an ordinary numpy array without meaningful content that carries
the error along. Whatever is computed from it fails with it (rule CTX-ASYNC-006); the first wait raises the error, later
waits do not (CTX-ASYNC-004). Arrays that did not fail pay nothing for this.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from . import device, env
from .base import MXNetError
from .threaded import Queue

ENGINES = ('NaiveEngine', 'ThreadedEngine', 'ThreadedEnginePerDevice')

INLINE = ''
"""The engine without a name: what runs when MXNET_ENGINE_TYPE is not set."""


class Failure:
    """One error that waits to be raised.

    It is forgotten when it was raised: its traceback holds arrays, among them those that carry the failure, and memory
    must not wait for the collector of cycles.
    """

    __slots__ = ('_identity', 'delivered', 'error')

    def __init__(self, error: Exception) -> None:
        self.error: Exception | None = error
        self._identity = id(error)
        self.delivered = False
        if _naive:
            raise error
        _pending.append(self)

    def is_behind(self, error: BaseException) -> bool:
        """Whether this living error is, or was, that of the failure."""
        return self._identity == id(error)

    def take(self) -> Exception | None:
        """The error for who will raise it; None when somebody has taken it before."""
        error, self.error = self.error, None
        self.delivered = True
        return error

    def deliver(self) -> None:
        """Raise the error, once."""
        if not self.delivered:
            with suppress(ValueError):      # another thread was faster
                _pending.remove(self)
            error = self.take()
            if error is not None:
                try:
                    raise error
                finally:
                    del error


_pending: list[Failure] = []


def kind() -> str:
    """The engine named by MXNET_ENGINE_TYPE, or INLINE; MXNetError for one that does not exist."""
    name: str = env.get('MXNET_ENGINE_TYPE')
    if name != INLINE and name not in ENGINES:
        raise MXNetError(f'Cannot find Engine {name} in registry; known are {", ".join(ENGINES)}')
    return name


# Read when the package is imported (rule CTX-ASYNC-008).
_name = kind()
_naive = _name == 'NaiveEngine'

queue: Queue | None = Queue() if _name.startswith('Threaded') else None
"""The work that is not done yet, under an asynchronous engine; else None."""


def drain() -> None:
    """Wait until all work is done, without raising its errors."""
    if queue is not None:
        queue.drain()


class FailedArray(np.ndarray):
    """The raw result of a failed computation; ``failure`` is its error."""

    failure: Failure | None = None

    def __array_finalize__(self, source: Any) -> None:
        if isinstance(source, FailedArray):
            self.failure = source.failure

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        failure = next(x.failure for x in inputs if isinstance(x, FailedArray)) if any(
            isinstance(x, FailedArray) for x in inputs) else self.failure
        plain = [x.view(np.ndarray) if isinstance(x, FailedArray) else x for x in inputs]
        if 'out' in kwargs:
            kwargs['out'] = tuple(x.view(np.ndarray) if isinstance(x, FailedArray) else x for x in kwargs['out'])
        result = getattr(ufunc, method)(*plain, **kwargs)
        return fail(np.asarray(result), failure)


def fail(data: np.ndarray, failure: Failure | None) -> np.ndarray:
    """The array marked as failed."""
    if failure is None or failure.delivered:
        return data
    marked = data.view(FailedArray)
    marked.failure = failure
    return marked


def failure_of(arrays: Any) -> Failure | None:
    """The first error that one of the raw arrays carries and that was not raised yet."""
    for array in arrays:
        if type(array) is FailedArray and array.failure is not None and not array.failure.delivered:
            return array.failure
    return None


def wait(data: Any) -> None:
    """Raise the error of a raw array, if it has one that was not raised yet; its value is there already."""
    if type(data) is FailedArray and data.failure is not None:
        data.failure.deliver()


def waitall() -> None:
    """Wait for everything; raises one pending error and drops the others (rule CTX-ASYNC-005)."""
    drain()
    device.synchronize()
    if _pending:
        failures = _pending[:]
        _pending.clear()
        errors = [failure.take() for failure in failures]
        for error in errors:
            if error is not None:
                try:
                    raise error
                finally:
                    del error, errors


_bulk_size: int = env.get('MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN')
_held = 0


def set_bulk_size(size: int) -> int:
    """Set how many operators are run in one go and return the previous number; results never change."""
    global _bulk_size
    previous, _bulk_size = _bulk_size, int(size)
    return previous


def hold() -> int:
    """How many tasks may be gathered before they are handed to the thread: the bulk size inside ``bulk``, else none."""
    return _bulk_size if _held else 0


@contextmanager
def bulk(size: int) -> Iterator[None]:
    """A block in which up to ``size`` operators may be run in one go (rule CTX-ASYNC-009).

    Under an asynchronous engine they are gathered and handed over together, which spares the thread wake-ups; whoever
    waits for a result does not wait for the rest of the bulk.
    """
    global _held
    previous = set_bulk_size(size)
    _held += 1
    try:
        yield
    finally:
        _held -= 1
        set_bulk_size(previous)
        if queue is not None:
            queue.flush()
