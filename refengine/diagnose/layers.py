"""The five layers of the shape diagnosis: shapes, broadcasting, memory, contexts, graph (rules DIAG-L1 to -L5)."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import combinations
from typing import Any

import numpy as np

from ..base import MXNetError
from ..dispatch import NDArray
from ..op import Operator, registry
from ..tape import state
from . import misfits, operators
from .calls import Call
from .naming import labels
from .operators import Inputs, common, family, written
from .report import NOTE, OK, PROBLEM, Diagnosis
from .source import of_caller
from .trials import Trial, like

TITLES = {1: 'shapes', 2: 'broadcasting', 3: 'memory', 4: 'contexts', 5: 'graph'}


def shapes(*arrays: Any, op: str = 'broadcast_add', names: Sequence[str] | None = None,
           params: dict[str, Any] | None = None) -> Diagnosis:
    """Why arrays fit an operator or do not: five layers, each with what to change.

    Shapes may stand for arrays. ``op`` is the name of an operator, by default one that broadcasts, MXNetError for
    another word; ``names`` are what to call the arrays, by default as the caller does.

    >>> import refengine as mx
    >>> a, b = mx.nd.ones((2, 3)), mx.nd.ones((3, 2))
    >>> mx.diagnose.shapes(a, b, names=['a', 'b']).changes[0]
    'a + b.T'
    """
    frame, place = of_caller()
    call = Call(op, _operator(op), [_array(a) for a in arrays], params=dict(params or {}), frame=frame, place=place)
    if not arrays:
        raise TypeError('diagnose.shapes expects NDArrays or shapes, got none')
    call.names = list(names) if names is not None else labels(frame, place, arrays)
    return examine(call)


def _operator(name: Any) -> Operator:
    if not isinstance(name, str):
        raise TypeError(f'diagnose.shapes expects the name of an operator, got {type(name)}')
    if name not in registry:
        near = get_close_matches(name, registry, 1)
        raise MXNetError(f'Operator {name} is not registered' + (f'; is {near[0]} meant?' if near else ''))
    return registry[name]


def _array(given: Any) -> Any:
    if isinstance(given, NDArray):
        return given
    if isinstance(given, (tuple, list)) and all(isinstance(n, int) and n >= 0 for n in given):
        return like(given)
    raise TypeError(f'diagnose.shapes expects NDArrays or shapes, got {type(given)}')


def examine(call: Call, error: str = '', message: str = '') -> Diagnosis:
    """The five layers for one call; ``error`` is what it raised in one line, ``message`` in full."""
    found = misfits.reason(call, message) if message else None
    op = call.op
    if found is not None:
        reason, arrays, names = found
    else:
        arrays, names, reason = call.arrays, _spoken(call), None
        if op is not None:
            reason = operators.reason(Inputs(op, arrays, names, call.params, call.hybrid, call.layer))
    what = ', '.join(f'{n} {tuple(a.shape)}' for n, a in zip(names, arrays))
    function = call.function
    if call.layer is not None and (function in ('__call__', 'forward') or len(arrays) != len(call.arrays)):
        function = type(call.layer).__name__
    result = Diagnosis(f'shapes of {function}: {what}' + (f'\n  {error}' if error else ''), call.place)
    result.within = list(call.within)
    if call.layer is not None:
        result.within.append(f'  in layer {call.path or call.layer.name}, {type(call.layer).__name__}')
    text = '; '.join(f'{n} {tuple(a.shape)} {np.dtype(a.dtype).name}' for n, a in zip(names, arrays))
    _layer_shapes(result, op, arrays, names, text, reason)
    _layer_broadcast(result, call, function, arrays, names)
    _layer_memory(result, arrays, names)
    _layer_contexts(result, arrays, names)
    _layer_graph(result, arrays, names)
    if error and not result.problems:       # what no layer knows, the error itself says
        result.findings[0] = type(result.findings[0])(1, TITLES[1], PROBLEM, f'{text}\n{error}'.strip())
    return result


def _spoken(call: Call) -> list[str]:
    """What to call the arrays: as the program does, else as the operator does."""
    op = call.op
    known = op.inputs if op is not None and not op.variadic else ()
    return [name or (known[i] if i < len(known) else f'input {i}')
            for i, name in enumerate(call.names or [''] * len(call.arrays))]


# ---- layers 1 and 2 ------------------------------------------------------------------------------------------------

def _layer_shapes(result: Diagnosis, op: Operator | None, arrays: list[Any], names: list[str], text: str,
                  reason: operators.Reason | None) -> None:
    title = TITLES[1]
    if reason is None:
        result.add(1, title, OK, text)
    else:
        result.add(1, title, PROBLEM, f'{text}\n{reason[0]}', '\n'.join(reason[1]))
    types = {np.dtype(a.dtype).name for a in arrays}
    if len(types) > 1 and op is not None and not op.mixed:
        other = next(i for i, a in enumerate(arrays) if np.dtype(a.dtype) != np.dtype(arrays[0].dtype))
        first = np.dtype(arrays[0].dtype).name
        change = Trial([arrays[other]], [names[other]]).changes(f"{{0}}.astype('{first}')")
        result.add(1, title, PROBLEM, f'element types differ ({", ".join(sorted(types))}); operators never convert',
                   '\n'.join(change))


def _layer_broadcast(result: Diagnosis, call: Call, function: str, arrays: list[Any], names: list[str]) -> None:
    title, op = TITLES[2], call.op.name if call.op is not None and len(arrays) == len(call.arrays) else ''
    kind = family(op) if op else 'other'
    every = [tuple(a.shape) for a in arrays]
    if kind == 'other' or len(arrays) < 2:
        text = f'{function} joins its arrays by rules of its own' if call.op is not None else 'no operator was reached'
        if call.function == 'setitem':
            text = 'the value broadcasts to the selected part, never the part to the value'
        result.add(2, title, OK, 'there is one array' if len(arrays) < 2 else text)
        return
    shape = common(*every)
    if op == 'where':
        x, y = every[1:] if len(every) == 3 else (every[0], every[0])
        fits = x == y
        result.add(2, title, OK if fits else PROBLEM, 'the two choices have one shape' if fits else
                   f'where takes two choices of one shape, and {names[1]} has {x}, {names[2]} {y}',
                   '' if fits else '\n'.join(_alike(arrays, names, call.hybrid)))
        return
    trial = Trial(arrays, names, call.hybrid)
    if kind == 'equal' and len(set(every)) > 1:
        changes = []
        if shape is not None and len(arrays) == 2:
            sign = operators.SIGNS.get(op.rpartition('_')[2])
            changes = trial.changes(written(op, '{0}', '{1}', trial) if sign else '{1}.broadcast_like({0})')
        fits_to = f'they would broadcast to {shape}, but' if shape is not None else 'they do not broadcast, and'
        signs = ', as signs do in a graph' if call.symbolic else ''
        result.add(2, title, PROBLEM, f'{fits_to} {op} takes arrays of one shape only{signs}', '\n'.join(changes))
        return
    if shape is None:
        result.add(2, title, PROBLEM, '\n'.join(_axes(every, names)))
        return
    if len(arrays) == 2 and len(shape) == 2 and shape not in every and {len(s) for s in every} == {1, 2}:
        parts = ['{0}.reshape(-1)', '{1}'] if len(every[0]) == 2 else ['{0}', '{1}.reshape(-1)']
        result.add(2, title, NOTE, f'a column and a vector make a matrix {shape}: is that meant?',
                   '\n'.join(trial.changes(written(op, *parts, trial))))
        return
    result.add(2, title, OK, f'they broadcast to {shape}')


def _alike(arrays: list[Any], names: list[str], symbolic: bool) -> list[str]:
    trial = Trial(arrays, names, symbolic)
    return trial.changes(f'{trial.space}.where({{0}}, {{1}}, {{2}}.broadcast_like({{1}}))',
                         f'{trial.space}.where({{0}}, {{1}}.broadcast_like({{2}}), {{2}})')[:1]


def _axes(every: list[tuple[int, ...]], names: list[str]) -> list[str]:
    """The axes that do not fit, counted from the last as broadcasting does."""
    lines = []
    for i in range(1, max(map(len, every)) + 1):
        lengths = [s[-i] if i <= len(s) else 1 for s in every]
        if len({n for n in lengths if n != 1}) > 1:
            lines.append(f'axis -{i}: ' + ', '.join(f'{n} has {m}' for n, m in zip(names, lengths))
                         + '; lengths must be equal or 1')
    return lines


# ---- layers 3 to 5 -------------------------------------------------------------------------------------------------

def _layer_memory(result: Diagnosis, arrays: list[Any], names: list[str]) -> None:
    """No array is refused for its strides; what matters is whether it is the view or the copy that one thinks."""
    shared = []
    raw = [a._data for a in arrays]
    for (i, x), (j, y) in combinations(enumerate(raw), 2):
        if x is not y and isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and np.may_share_memory(x, y):
            shared.append(f'{names[i]} and {names[j]} share memory: writing to one changes the other')
    change = f'{names[1]}.copy()' if shared and len(names) > 1 else ''
    result.add(3, TITLES[3], NOTE if shared else OK,
               '\n'.join(shared) if shared else 'strides are never a reason for an error', change)


def _layer_contexts(result: Diagnosis, arrays: list[Any], names: list[str]) -> None:
    places = [a.context for a in arrays]
    if len({str(p) for p in places}) < 2:
        result.add(4, TITLES[4], OK, f'all on {places[0]}' if places else 'no arrays')
        return
    text = ', '.join(f'{n} on {p}' for n, p in zip(names, places))
    other = next(i for i, p in enumerate(places) if p != places[0])
    status = PROBLEM if len({p.is_gpu for p in places}) > 1 else NOTE
    result.add(4, TITLES[4], status, text if status == PROBLEM else text + '; the result is on ' + str(places[0]),
               f'{names[other]}.as_in_context({names[0]}.context)')


def _layer_graph(result: Diagnosis, arrays: list[Any], names: list[str]) -> None:
    title = TITLES[5]
    within = [n for n, a in zip(names, arrays) if a._node is not None and a._node.alive]
    if not within:
        result.add(5, title, OK, 'none of them is in a recorded graph')
    elif state.recording:
        result.add(5, title, NOTE, f'{", ".join(within)}: in the recorded graph; +=, [:]= and out= on them raise while '
                                   f'recording', f'{within[0]} = {within[0]} + ...        # makes a new array')
    else:
        result.add(5, title, OK, f'{", ".join(within)}: in a graph, which only matters for writes while recording')
