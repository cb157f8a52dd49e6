"""The five layers of the shape diagnosis: shapes, broadcasting, memory, contexts, graph (rules DIAG-L1 to -L5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ..dispatch import NDArray
from ..op import registry
from ..tape import state
from .report import NOTE, OK, PROBLEM, Diagnosis
from .source import Place, labels, of_caller

TITLES = {1: 'shapes', 2: 'broadcasting', 3: 'memory', 4: 'contexts', 5: 'graph'}

_ARITHMETIC = {'add': '+', 'plus': '+', 'sub': '-', 'minus': '-', 'mul': '*', 'div': '/', 'mod': '%', 'power': '**'}


def shapes(*arrays: Any, op: str = 'broadcast_add', names: Sequence[str] | None = None,
           params: dict[str, Any] | None = None) -> Diagnosis:
    """Why arrays fit an operator or do not: five layers, each with what to change.

    ``op`` is the name of an operator, by default one that broadcasts; ``names`` are what to call the arrays, by default
    as the caller does.

    >>> import refengine as mx
    >>> a, b = mx.nd.ones((2, 3)), mx.nd.ones((3, 2))
    >>> mx.diagnose.shapes(a, b, names=['a', 'b']).changes[0]
    'a + b.T'
    """
    frame, place = of_caller()
    if names is None:
        names = labels(frame, place.expression if place else '', arrays)
    return examine(op, list(arrays), list(names), params or {}, place)


def examine(op: str, arrays: list[Any], names: list[str], params: dict[str, Any], place: Place | None,
            error: str = '') -> Diagnosis:
    """The five layers for one call."""
    record = registry.get(op)
    if record is not None and not record.variadic:
        names = [n if n != f'input {i}' else record.inputs[i] if i < len(record.inputs) else n
                 for i, n in enumerate(names)]
    what = ', '.join(f'{n} {tuple(a.shape)}' for n, a in zip(names, arrays))
    result = Diagnosis(f'shapes of {op}: {what}' + (f'\n  {error}' if error else ''), place)
    for array in arrays:
        if not isinstance(array, NDArray):
            raise TypeError(f'diagnose.shapes expects NDArrays, got {type(array)}')
    _layer_shapes(result, op, arrays, names, params)
    _layer_broadcast(result, op, arrays, names)
    _layer_memory(result, arrays, names)
    _layer_contexts(result, arrays, names)
    _layer_graph(result, arrays, names)
    return result


# ---- how shapes fit ------------------------------------------------------------------------------------------------

def common(*shapes_: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that shapes broadcast to, or None."""
    try:
        return tuple(np.broadcast_shapes(*shapes_))
    except ValueError:
        return None


def _family(op: str) -> str:
    if op in ('dot', 'batch_dot', 'FullyConnected', 'Convolution', 'Concat', 'stack'):
        return op
    if op.startswith(('elemwise_', '_plus', '_minus', '_mul', '_div', '_Plus')) or op in (
            'add_n', 'where', '_maximum', '_minimum', '_power', '_hypot', '_mod', '_copyto'):
        return 'equal'
    return 'broadcast' if op.startswith('broadcast_') else 'other'


def _written(op: str, a: str, b: str) -> str:
    """The call as a program would write it."""
    sign = _ARITHMETIC.get(op.rpartition('_')[2])
    return f'{a} {sign} {b}' if sign else f'nd.{op}({a}, {b})'


def inserted(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...] | None:
    """Where to insert axes of length 1 into a shape so that it broadcasts with a longer one; None if it cannot be."""
    missing = len(target) - len(shape)
    if missing <= 0:
        return None
    for axes in combinations(range(len(target)), missing):
        rest = iter(shape)
        padded = tuple(1 if i in axes else next(rest) for i in range(len(target)))
        if axes != tuple(range(missing)) and common(padded, target) is not None:
            return axes
    return None


def adapted(a: tuple[int, ...], b: tuple[int, ...], name: str) -> list[tuple[str, str]]:
    """Expressions for the second array under which two arrays broadcast, each with the reason for it."""
    found = []
    if b == a[::-1] and a != b and len(a) > 1:
        found.append((f'{name}.T', f'{name} is transposed: {b} is {a} backwards'))
    elif len(b) == 2 and common(a, b[::-1]) is not None and common(a, b) is None:
        found.append((f'{name}.T', f'the transpose of {name} has shape {b[::-1]}, which fits'))
    axes = inserted(b, a)
    if axes is not None:
        rest = iter(b)
        shape = tuple(1 if i in axes else next(rest) for i in range(len(a)))
        call = f'{name}.expand_dims({axes[0]})' if len(axes) == 1 else f'{name}.reshape({shape})'
        found.append((call, f'shapes are aligned from the last axis: {b} needs {len(axes)} axis of length 1 to stand '
                            f'under {a} as {shape}'))
    if len(a) == len(b) and sorted(a) == sorted(b) and len(a) > 2 and a != b:
        order = _permutation(b, a)
        found.append((f'{name}.transpose({order})', f'{name} has the lengths of the other array in another order'))
    if a != b and int(np.prod(a)) == int(np.prod(b)) and not found:
        found.append((f'{name}.reshape({a})', f'both have {int(np.prod(a))} elements; right only if their order is '
                                              f'the same'))
    return found


def _permutation(source: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    free = list(range(len(source)))
    order = []
    for length in target:
        axis = next(i for i in free if source[i] == length)
        free.remove(axis)
        order.append(axis)
    return tuple(order)


# ---- layer 1 ---------------------------------------------------------------------------------------------------

def _layer_shapes(result: Diagnosis, op: str, arrays: list[Any], names: list[str], params: dict[str, Any]) -> None:
    title = TITLES[1]
    text = '; '.join(f'{n} {tuple(a.shape)} {np.dtype(a.dtype).name}' for n, a in zip(names, arrays))
    family = _family(op)
    special = {'dot': _dot, 'FullyConnected': _dense, 'Convolution': _convolution, 'Concat': _concat,
               'batch_dot': _batch_dot, 'stack': _stack}.get(family)
    problem = special(arrays, names, params) if special is not None and len(arrays) > 1 else None
    if problem is None and family in ('broadcast', 'equal') and len(arrays) == 2:
        problem = _pair(op, family, arrays, names)
    if problem is None:
        result.add(1, title, OK, text)
    else:
        result.add(1, title, PROBLEM, f'{text}\n{problem[0]}', problem[1])
    types = {np.dtype(a.dtype).name for a in arrays}
    if len(types) > 1 and family != 'other':
        other = next(i for i, a in enumerate(arrays) if np.dtype(a.dtype) != np.dtype(arrays[0].dtype))
        first = np.dtype(arrays[0].dtype).name
        result.add(1, title, PROBLEM, f'element types differ ({", ".join(sorted(types))}); operators never convert',
                   f"{names[other]}.astype('{first}')")


def _pair(op: str, family: str, arrays: list[Any], names: list[str]) -> tuple[str, str] | None:
    (a, b), (first, second) = [tuple(x.shape) for x in arrays], names
    if a == b or (family == 'broadcast' and common(a, b) is not None):
        return None
    if family == 'equal' and common(a, b) is not None:
        return None         # the second layer has the word
    for changed in (0, 1) if len(a) < len(b) else (1, 0):      # what has fewer axes is likelier to lack one
        proposals = adapted(b, a, first) if changed == 0 else adapted(a, b, second)
        if proposals:
            return proposals[0][1], '\n'.join(
                _written(op, p, second) if changed == 0 else _written(op, first, p) for p, _ in proposals)
    if len(a) == len(b) == 2 and a[1] == b[0]:
        return f'{a} and {b} fit as a matrix product', f'nd.dot({first}, {second})'
    return f'{a} and {b} have neither the same lengths nor the same number of elements', ''


def _dot(arrays: list[Any], names: list[str], params: dict[str, Any]) -> tuple[str, str] | None:
    (a, b), (first, second) = [tuple(x.shape) for x in arrays[:2]], names[:2]
    if not a or not b:
        return None
    left = a[::-1] if params.get('transpose_a') else a
    right = b[::-1] if params.get('transpose_b') else b
    if left[-1] == right[0]:
        return None
    text = f'the last axis of {first} has length {left[-1]}, the first axis of {second} has length {right[0]}'
    changes = []
    if left[-1] == right[-1] and len(b) > 1:
        changes.append(f'nd.dot({first}, {second}, transpose_b=True)')
    if left[0] == right[0] and len(a) > 1:
        changes.append(f'nd.dot({first}, {second}, transpose_a=True)')
    if right[-1] == left[0]:
        changes.append(f'nd.dot({second}, {first})')
    if common(a, b) is not None:
        changes.append(f'{first} * {second}        # element by element')
    return text, '\n'.join(changes)


def _batch_dot(arrays: list[Any], names: list[str], params: dict[str, Any]) -> tuple[str, str] | None:
    (a, b), (first, second) = [tuple(x.shape) for x in arrays[:2]], names[:2]
    if len(a) < 3 or len(b) < 3:
        which = first if len(a) < 3 else second
        return f'batch_dot takes stacks of matrices; {which} has {min(len(a), len(b))} axes', \
            f'nd.dot({first}, {second})' if len(a) == len(b) == 2 else f'{which}.expand_dims(0)'
    if a[:-2] != b[:-2]:
        return f'the stacks have lengths {a[:-2]} and {b[:-2]}', ''
    left = a[-2] if params.get('transpose_a') else a[-1]
    right = b[-1] if params.get('transpose_b') else b[-2]
    if left == right:
        return None
    flag = 'transpose_b' if a[-1] == b[-1] else 'transpose_a' if a[-2] == b[-2] else ''
    return (f'the inner lengths are {left} and {right}',
            f'nd.batch_dot({first}, {second}, {flag}=True)' if flag else '')


def _dense(arrays: list[Any], names: list[str], params: dict[str, Any]) -> tuple[str, str] | None:
    data, weight = tuple(arrays[0].shape), tuple(arrays[1].shape)
    features = int(np.prod(data[1:])) if params.get('flatten', True) else data[-1]
    if len(weight) != 2 or weight[1] == features:
        return None
    text = f'the weight {weight} is for {weight[1]} features, the data {data} has {features}'
    if params.get('flatten', True) and data[-1] == weight[1]:
        return text + ' because all axes but the first are flattened', 'flatten=False'
    if data[0] == weight[1] and len(data) == 2:
        return text, f'{names[0]}.T'
    return text, f'nn.Dense({weight[0]}, in_units={features})        # or give no in_units and let it be found'


def _convolution(arrays: list[Any], names: list[str], params: dict[str, Any]) -> tuple[str, str] | None:
    data, weight = tuple(arrays[0].shape), tuple(arrays[1].shape)
    if len(data) != len(weight):
        return (f'the data has {len(data)} axes, a kernel of {len(weight) - 2} dimensions takes {len(weight)}: batch, '
                f'channels and the dimensions', f'{names[0]}.expand_dims(0)' if len(data) == len(weight) - 1 else '')
    channels = weight[1] * int(params.get('num_group', 1) or 1)
    if data[1] == channels:
        return None
    text = f'the weight {weight} is for {channels} channels, the data {data} has {data[1]}'
    if data[-1] == channels:
        axes = (0, len(data) - 1, *range(1, len(data) - 1))
        return f'{text}; it looks like channels last', f'{names[0]}.transpose({axes})'
    return text, f'in_channels={data[1]}'


def _concat(arrays: list[Any], names: list[str], params: dict[str, Any]) -> tuple[str, str] | None:
    dim = int(params.get('dim', 1))
    every = [tuple(a.shape) for a in arrays]
    if len({len(s) for s in every}) > 1:
        return f'arrays to join need the same number of axes, got {[len(s) for s in every]}', ''
    axis = dim % len(every[0])
    for name, shape in zip(names, every):
        for i, (m, n) in enumerate(zip(every[0], shape)):
            if i != axis and m != n:
                fits = [d for d in range(len(shape))
                        if all(s[:d] + s[d + 1:] == shape[:d] + shape[d + 1:] for s in every)]
                change = f'dim={fits[0]}' if fits else ''
                return f'along dim={dim} all other axes must agree; axis {i} is {m} in {names[0]} and {n} in {name}', \
                    change
    return None


def _stack(arrays: list[Any], names: list[str], params: dict[str, Any]) -> tuple[str, str] | None:
    first = tuple(arrays[0].shape)
    other = next((i for i, a in enumerate(arrays) if tuple(a.shape) != first), None)
    if other is None:
        return None
    return (f'arrays to stack need one shape; {names[0]} has {first}, {names[other]} {tuple(arrays[other].shape)}',
            'nd.concat(...)        # joins along an axis that exists')


# ---- layers 2 to 5 ---------------------------------------------------------------------------------------------

def _layer_broadcast(result: Diagnosis, op: str, arrays: list[Any], names: list[str]) -> None:
    title, family = TITLES[2], _family(op)
    every = [tuple(a.shape) for a in arrays]
    if family not in ('broadcast', 'equal') or len(arrays) < 2:
        result.add(2, title, OK, f'{op} does not broadcast')
        return
    shape = common(*every)
    if family == 'equal' and len(set(every)) > 1:
        change = ''
        if shape is not None and len(arrays) == 2:
            sign = _ARITHMETIC.get(op.rpartition('_')[2])
            change = f'{names[0]} {sign} {names[1]}' if sign else f'{names[1]}.broadcast_like({names[0]})'
        fits = f'they would broadcast to {shape}, but' if shape is not None else 'they do not broadcast, and'
        result.add(2, title, PROBLEM, f'{fits} {op} takes arrays of one shape only', change)
        return
    if shape is None:
        result.add(2, title, PROBLEM, '\n'.join(_axes(every, names)))
        return
    if shape not in every and all(1 in s or len(s) < len(shape) for s in every):
        pair = every[0], every[1]
        if len(shape) == 2 and {len(s) for s in pair} == {1, 2}:
            column = 0 if len(pair[0]) == 2 else 1
            result.add(2, title, NOTE, f'a column and a vector make a matrix {shape}: is that meant?',
                       _written(op, *(n if i != column else f'{n}.reshape(-1)' for i, n in enumerate(names[:2]))))
            return
    result.add(2, title, OK, f'they broadcast to {shape}')


def _axes(every: list[tuple[int, ...]], names: list[str]) -> list[str]:
    """The axes that do not fit, counted from the last as broadcasting does."""
    lines = []
    for i in range(1, max(map(len, every)) + 1):
        lengths = [s[-i] if i <= len(s) else 1 for s in every]
        if len({n for n in lengths if n != 1}) > 1:
            lines.append(f'axis -{i}: ' + ', '.join(f'{n} has {m}' for n, m in zip(names, lengths))
                         + '; lengths must be equal or 1')
    return lines


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
