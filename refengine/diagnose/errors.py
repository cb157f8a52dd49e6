"""From an error to its diagnosis: the call that failed, its arrays, the layers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from ..base import IN_GRAPH, MXNetError
from ..dispatch import NDArray
from ..engine import FailedArray
from ..ndarray.arithmetic import INPLACE_RECORDED
from ..tape import FREED, NOT_IN_GRAPH
from . import calls, gradients, layers, watching
from .naming import labels
from .report import OK, PROBLEM, Diagnosis
from .source import Place, frames_of, is_engine

_SHAPE_WORDS = ('broadcast', 'Incompatible attr', 'inferring shapes failed', 'shape error', 'Shape inconsistent',
                'Cannot reshape', 'same context', 'same dimensions', 'expected', 'shape', 'inputs, but got')


def error(raised: BaseException | None = None) -> Diagnosis:
    """What an error of the engine means, with the line that caused it and what to change.

    Without argument it is the one that is being handled, or the last one that ended in the interactive interpreter.

    >>> import refengine as mx
    >>> q, k = mx.nd.ones((32, 64)), mx.nd.ones((32, 64))
    >>> try:
    ...     mx.nd.dot(q, k)
    ... except mx.MXNetError as raised:
    ...     print(mx.diagnose.error(raised).problems[0].change.splitlines()[0])
    nd.dot(q, k, transpose_b=True)
    """
    raised = raised or sys.exc_info()[1] or getattr(sys, 'last_value', None)
    if raised is None:
        raise TypeError('diagnose.error expects an exception: none is being handled')
    call = calls.of_error(raised)
    frame, place, inner = call.frame, call.place, call.inner
    text = _first_line(raised)
    origin = _origin(raised)
    if origin is not None:
        result = Diagnosis(f'{type(raised).__name__}: {text}', place)
        result.add(1, 'origin', PROBLEM, f'the error came up while {origin.function} ran, and surfaced at a later wait',
                   'MXNET_ENGINE_TYPE=NaiveEngine raises such errors at the call', origin.place)
        return result
    message = str(raised)
    if NOT_IN_GRAPH[:40] in message or FREED[:40] in message or 'Cannot differentiate' in message:
        return _of_graph(frame, place, inner, text)
    if IN_GRAPH[:40] in message or INPLACE_RECORDED[:40] in message:
        return _of_write(call, text)
    if call.arrays and any(word in message for word in _SHAPE_WORDS):
        return layers.examine(call, text, message)
    result = Diagnosis(f'{type(raised).__name__}: {text}', place)
    result.within = call.within
    for index, (name, array) in enumerate(zip(call.names, call.arrays)):
        inputs = call.op.inputs if call.op is not None and not call.op.variadic else ()
        label = name or (inputs[index] if index < len(inputs) else f'input {index}')
        result.add(1, 'arrays', OK, f'{label}: shape {array.shape}, {array.dtype.__name__}, on {array.context}')
    return result


def _first_line(raised: BaseException) -> str:
    lines = [line.strip() for line in str(raised).splitlines() if line.strip()]
    text = lines[0] if lines else type(raised).__name__
    return text if len(text) <= 160 else text[:text.rfind(' ', 0, 160)] + ' ...'


def _origin(raised: BaseException) -> watching.Event | None:
    """The call whose late error this is, if calls were watched."""
    if watching.current is None:
        return None
    for event in watching.current.events:
        for output in event.outputs:
            data = getattr(output, '_data', None)
            if isinstance(data, FailedArray) and data.failure is not None and data.failure.is_behind(raised):
                return event
    return None


def _of_graph(frame: FrameType | None, place: Place | None, inner: Sequence[FrameType], text: str) -> Diagnosis:
    heads: list[Any] = []
    variables: list[Any] = []
    for layer in inner:
        if layer.f_code.co_name in ('gradients', 'backward', 'grad'):
            given = layer.f_locals.get('heads', layer.f_locals.get('self'))
            heads = [given] if isinstance(given, NDArray) else list(given or ())
            wanted = layer.f_locals.get('variables')
            variables = [wanted] if isinstance(wanted, NDArray) else list(wanted or ())
    head = next((h for h in heads if h._node is None or not h._node.alive), heads[0] if heads else None)
    variable = variables[0] if variables else None
    arrays = [a for a in (variable, head) if a is not None]
    names = labels(frame, place, arrays, None, inner[0] if inner else None)
    label = {id(a): name for a, name in zip(arrays, names) if name}
    return gradients.examine(variable, head, label, frame, place, text)


def _of_write(call: calls.Call, text: str) -> Diagnosis:
    result = Diagnosis(f'write to an array of the recorded graph\n  {text}', call.place)
    target = call.names[0] if call.names and call.names[0] else 'the array'
    result.add(5, layers.TITLES[5], PROBLEM,
               f'{target} is in the graph that is being recorded; a write would falsify gradients that need its value',
               f'{target} = ...        # makes a new array, recorded like any other\n'
               f'with autograd.pause(): ...        # or write behind the block of autograd.record()')
    return result


# ---- without asking ------------------------------------------------------------------------------------------------

def _is_of_engine(raised: BaseException) -> bool:
    """Whether the engine raised an error, of its own class or of one of Python's."""
    if isinstance(raised, MXNetError):
        return True
    frames = [frame for frame, _, _ in frames_of(raised.__traceback__)]
    return isinstance(raised, Exception) and bool(frames) and is_engine(frames[-1].f_code)


def _explained(raised: BaseException) -> str:
    """The diagnosis as text; whatever goes wrong here must not stand in the way of the error itself."""
    try:
        return f'diagnosis: {error(raised)}'
    except Exception as failure:  # noqa: BLE001
        return f'diagnosis: none, it failed with {failure!r}'


@contextmanager
def explain() -> Iterator[None]:
    """A block whose errors carry their diagnosis: it is shown below the traceback.

    Also a decorator. Only errors that the engine raises are explained; they are raised as they are.
    """
    try:
        yield
    except Exception as raised:
        if _is_of_engine(raised) and not any(
                note.startswith('diagnosis:') for note in getattr(raised, '__notes__', ())):
            raised.add_note(_explained(raised))
        raise


def install() -> None:
    """Explain every uncaught error of the engine from now on, as REFENGINE_DIAGNOSE=1 does from the start."""
    previous = sys.excepthook

    def hook(kind: type[BaseException], raised: BaseException, traceback: TracebackType | None) -> None:
        previous(kind, raised, traceback)
        if _is_of_engine(raised) and not getattr(raised, '__notes__', ()):
            sys.stderr.write(f'\n{_explained(raised)}\n')

    sys.excepthook = hook
