"""Why an operator does not take shapes, operator by operator: the reason in words, and the changes that were tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from ..op import Operator
from ..ops.shapes import completions
from .trials import Trial, takes, tuned

Shape = tuple[int, ...]
Reason = tuple[str, list[str]]
"""What is wrong, and what to write instead, the best first."""

SIGNS = {'add': '+', 'plus': '+', 'sub': '-', 'minus': '-', 'mul': '*', 'div': '/', 'mod': '%', 'power': '**',
         'greater': '>', 'lesser': '<', 'equal': '=='}


class Inputs:
    """The arrays of a call under the names that they are spoken of."""

    def __init__(self, op: Operator, arrays: Sequence[Any], names: Sequence[str], params: dict[str, Any],
                 symbolic: bool = False, layer: Any = None) -> None:
        self.op = op
        self.arrays = list(arrays)
        self.names = list(names)
        self.shapes: list[Shape] = [tuple(a.shape) for a in arrays]
        self.params = params
        self.layer = layer
        self.trial = Trial(arrays, names, symbolic)

    def takes(self, *shapes: Shape, **params: Any) -> bool:
        """Whether the operator would take other shapes for its first inputs, or other parameters."""
        every = [*shapes, *self.shapes[len(shapes):]]
        return takes(self.op, {**self.params, **params}, every, [self.arrays[0].dtype] * len(every))

    def tuned(self) -> list[str]:
        """Parameters with other values that fit."""
        return list(tuned(self.op, self.params, self.arrays))


def reason(inputs: Inputs) -> Reason | None:
    """Why the operator does not take these inputs; None where it does, or where nothing is known."""
    name = inputs.op.name
    found = None
    special = _REASONS.get(name)
    if special is not None and len(inputs.arrays) > 1:
        found = special(inputs)
    if found is None and family(name) in ('broadcast', 'equal') and name != 'where' and len(inputs.arrays) == 2:
        found = _pair(inputs)
    return found or _count(inputs) or (_completed(inputs) if name in completions and family(name) == 'other' else None)


def family(op: str) -> str:
    """How an operator joins shapes: 'broadcast', 'equal' for one shape only, else 'other'."""
    if op.startswith(('elemwise_', '_plus', '_minus', '_mul', '_div', '_Plus')) or op in (
            'add_n', 'where', '_maximum', '_minimum', '_power', '_hypot', '_mod', '_copyto'):
        return 'equal'
    return 'broadcast' if op.startswith('broadcast_') else 'other'


# ---- elementwise ---------------------------------------------------------------------------------------------------

def common(*shapes: Shape) -> Shape | None:
    """The shape that shapes broadcast to, or None.

    >>> common((2, 1), (3,)), common((2,), (3,))
    ((2, 3), None)
    """
    try:
        return tuple(np.broadcast_shapes(*shapes))
    except ValueError:
        return None


def written(op: str, a: str, b: str, trial: Trial) -> str:
    """A call that broadcasts, as a program would write it: with its sign, or in a graph, where signs do not broadcast,
    with the operator."""
    word = op.rpartition('_')[2]
    sign = SIGNS.get(word)
    if sign and trial.space == 'nd':
        return f'{a} {sign} {b}'
    word = {'plus': 'add', 'minus': 'sub'}.get(word, word)
    return f'{trial.space}.broadcast_{word}({a}, {b})' if sign else f'{trial.space}.{op}({a}, {b})'


def _inserted(shape: Shape, target: Shape) -> Shape | None:
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


def adapted(a: Shape, b: Shape, slot: str, name: str) -> Iterator[Reason]:
    """Expressions for the second of two arrays under which they may broadcast, each with the reason for it."""
    if len(b) == 2 and b == a[::-1] and a != b:
        yield f'{name} is transposed: {b} is {a} backwards', [f'{slot}.T']
    elif len(b) == 2 and common(a, b[::-1]) is not None:
        yield f'the transpose of {name} has shape {b[::-1]}, which fits', [f'{slot}.T']
    axes = _inserted(b, a)
    if axes is not None:
        rest = iter(b)
        shape = tuple(1 if i in axes else next(rest) for i in range(len(a)))
        count = 'an axis' if len(axes) == 1 else f'{len(axes)} axes'
        yield (f'shapes are aligned from the last axis: {b} needs {count} of length 1 to stand under {a} as {shape}',
               [f'{slot}.expand_dims({axes[0]})' if len(axes) == 1 else f'{slot}.reshape({shape})'])
    if len(a) == len(b) and sorted(a) == sorted(b) and len(a) > 2 and a != b:
        yield f'{name} has the lengths of the other array in another order', [f'{slot}.transpose({_order(b, a)})']
    if len(b) > 1 and b.count(1) == len(b) - 1 and a and prod(b) == a[-1]:
        yield f'shapes are aligned from the last axis, and {name} has its {prod(b)} in another', [f'{slot}.reshape(-1)']
    if a != b and prod(a) == prod(b):
        yield f'both have {prod(a)} elements; right only if their order is the same', [f'{slot}.reshape({a})']


def _order(source: Shape, target: Shape) -> Shape:
    free = list(range(len(source)))
    order = []
    for length in target:
        axis = next(i for i in free if source[i] == length)
        free.remove(axis)
        order.append(axis)
    return tuple(order)


def _pair(inputs: Inputs) -> Reason | None:
    (a, b), (first, second), op, trial = inputs.shapes, inputs.names, inputs.op.name, inputs.trial
    if a == b or common(a, b) is not None:      # for an operator of one shape the second layer has the word
        return None
    for changed in (0, 1) if len(a) < len(b) else (1, 0):      # what has fewer axes is likelier to lack one
        found = list(adapted(b, a, '{0}', first) if changed == 0 else adapted(a, b, '{1}', second))
        text, changes = '', []
        for why, (expression,) in found:
            if changes and '.reshape((' in expression:
                continue        # the last resort
            for form in (expression, expression.replace('.T', '.transpose()')):
                call = written(op, form, '{1}', trial) if changed == 0 else written(op, '{0}', form, trial)
                done = trial.changes(call)
                if done:
                    text, changes = text or why, [*changes, *done]
                    break
        if changes:
            return text, changes
    if len(a) == len(b) == 2 and a[1] == b[0] and SIGNS.get(op.rpartition('_')[2]) == '*':
        return f'{a} and {b} fit as a matrix product', trial.changes(f'{trial.space}.dot({{0}}, {{1}})')
    return f'{a} and {b} have neither the same lengths nor the same number of elements', []


def _where(inputs: Inputs) -> Reason | None:
    if len(inputs.shapes) != 3:
        return None
    condition, x, y = inputs.shapes
    if x != y or condition == x or (len(condition) == 1 and x and condition[0] == x[0]):
        return None
    text = (f'the condition has shape {condition}; it takes that of {inputs.names[1]}, {x}, one choice per element, or '
            f'{x[:1]}, one per entry of the first axis')
    f = inputs.trial.space
    return text, inputs.trial.changes(f'{f}.where({f}.broadcast_to({{0}}, shape={x}), {{1}}, {{2}})',
                                      f'{f}.where({{0}}.reshape(-1), {{1}}, {{2}})')[:1]


# ---- products ------------------------------------------------------------------------------------------------------

def _dot(inputs: Inputs) -> Reason | None:
    (a, b), (first, second), params, trial = inputs.shapes[:2], inputs.names[:2], inputs.params, inputs.trial
    if not a or not b or inputs.takes():
        return None
    left = a[::-1] if params.get('transpose_a') else a
    right = b[::-1] if params.get('transpose_b') else b
    flags = ' transposed' if params.get('transpose_a') else '', ' transposed' if params.get('transpose_b') else ''
    text = (f'the last axis of {first}{flags[0]} has length {left[-1]}, the first axis of {second}{flags[1]} has '
            f'length {right[0]}')
    f = trial.space
    now = (bool(params.get('transpose_a')), bool(params.get('transpose_b')))
    calls = []
    for choice in sorted([(False, False), (False, True), (True, False), (True, True)],
                         key=lambda c: sum(x != y for x, y in zip(c, now)))[1:3]:
        words = [word for word, on in zip(('transpose_a=True', 'transpose_b=True'), choice) if on]
        calls.append(f'{f}.dot({", ".join(["{0}", "{1}", *words])})')
    calls.append(f'{f}.dot({{1}}, {{0}})')
    if f == 'nd':
        calls.append('{0} * {1}        # element by element')
    order = sorted(trial.changes(*calls), key=lambda c: 'transpose_b' not in c)
    return text, order


def _batch_dot(inputs: Inputs) -> Reason | None:
    (a, b), (first, second), params, trial = inputs.shapes[:2], inputs.names[:2], inputs.params, inputs.trial
    f = trial.space
    if len(a) < 3 or len(b) < 3:
        which, slot = (first, '{0}') if len(a) < 3 else (second, '{1}')
        call = f'{f}.batch_dot({{0}}, {{1}})'.replace(slot, slot + '.expand_dims(0)')
        return (f'batch_dot takes stacks of matrices; {which} has {min(len(a), len(b))} axes',
                trial.changes(f'{f}.dot({{0}}, {{1}})', call)[:1])
    if a[:-2] != b[:-2]:
        return f'the stacks have lengths {a[:-2]} and {b[:-2]}', []
    left = a[-2] if params.get('transpose_a') else a[-1]
    right = b[-1] if params.get('transpose_b') else b[-2]
    if left == right:
        return None
    return (f'the inner lengths are {left} and {right}',
            trial.changes(*(f'{f}.batch_dot({{0}}, {{1}}, {flag}=True)' for flag in ('transpose_b', 'transpose_a'))))


# ---- layers --------------------------------------------------------------------------------------------------------

def _dense(inputs: Inputs) -> Reason | None:
    data, weight = inputs.shapes[:2]
    if not data or len(weight) != 2:
        return None
    flat = inputs.params.get('flatten', True)
    features = prod(data[1:]) if flat else data[-1]
    if weight[1] == features:
        return None
    text = f'the weight {weight} is for {weight[1]} features, the data {data} has {features}'
    for change in inputs.tuned():
        if change == 'flatten=False':
            return text + ' because all axes but the first are flattened', [change]
        if change == 'flatten=True':
            return (text + ' in its last axis', [change + '        # the default: all axes but the first are features'])
    changes = []
    if len(data) == 2 and inputs.takes(data[::-1]):
        changes.append(f'{inputs.names[0]}.T')
    if len(data) == 1 and flat and weight[1] == data[0]:
        return (f'the data {data} has no axis for the batch', inputs.trial.changes('{0}.reshape((1, -1))'))
    if inputs.layer is not None:
        changes.append(f'nn.Dense({weight[0]}, in_units={features})        # or give no in_units and let it be found')
    return text, changes


def _convolution(inputs: Inputs) -> Reason | None:
    data, weight = inputs.shapes[:2]
    if len(data) != len(weight):
        fits = len(data) == len(weight) - 1 and inputs.takes((1, *data))
        return (f'the data {data} has {len(data)} axes, a kernel of {len(weight) - 2} dimensions takes {len(weight)}: '
                f'batch, channels and the dimensions', [f'{inputs.names[0]}.expand_dims(0)'] if fits else [])
    if inputs.op.name != 'Convolution' or (inputs.params.get('layout') or 'NC')[:2] != 'NC':
        return None
    channels = weight[1] * int(inputs.params.get('num_group', 1) or 1)
    if data[1] == channels:
        return None
    text = f'the weight {weight} is for {channels} channels, the data {data} has {data[1]}'
    axes = (0, len(data) - 1, *range(1, len(data) - 1))
    if data[-1] == channels and inputs.takes(tuple(data[i] for i in axes)):
        return f'{text}; it looks like channels last', [f'{inputs.names[0]}.transpose({axes})']
    return text, [f'in_channels={data[1]}'] if inputs.layer is not None else []


def _concat(inputs: Inputs) -> Reason | None:
    dim, every, names = int(inputs.params.get('dim', 1)), inputs.shapes, inputs.names
    if len({len(s) for s in every}) > 1:
        return f'arrays to join need the same number of axes, got {[len(s) for s in every]}', []
    if not -len(every[0]) <= dim < len(every[0]):
        return f'arrays of {len(every[0])} axes have no axis {dim}', inputs.tuned()
    axis = dim % len(every[0])
    for name, shape in zip(names, every):
        for i, (m, n) in enumerate(zip(every[0], shape)):
            if i != axis and m != n:
                return (f'along dim={dim} all other axes must agree; axis {i} is {m} in {names[0]} and {n} in {name}',
                        inputs.tuned())
    return None


def _stack(inputs: Inputs) -> Reason | None:
    first = inputs.shapes[0]
    other = next((i for i, shape in enumerate(inputs.shapes) if shape != first), None)
    if other is None:
        return None
    joined = ', '.join(f'{{{i}}}' for i in range(len(inputs.shapes)))
    calls = [f'{inputs.trial.space}.concat({joined}, dim={d})' for d in range(len(first))]
    changes = inputs.trial.changes(*(c + '        # joins along an axis that exists' for c in calls))
    return (f'arrays to stack need one shape; {inputs.names[0]} has {first}, {inputs.names[other]} '
            f'{inputs.shapes[other]}', changes[:1] if all(_spoken(n) for n in inputs.names) else [])


def _spoken(name: str) -> bool:
    return not name.startswith('input ')


def _count(inputs: Inputs) -> Reason | None:
    """Too few or too many arrays."""
    op = inputs.op
    try:
        expected = op.input_count(op.parse({k: v for k, v in inputs.params.items() if k in op.params}))
    except Exception:  # noqa: BLE001 - parameters that the operator refuses are another matter
        return None
    if expected in (-1, len(inputs.arrays)):
        return None
    return (f'{op.name} takes {expected} arrays here ({", ".join(op.inputs[:expected])}), and got {len(inputs.arrays)}',
            inputs.tuned())


def _recurrent(inputs: Inputs) -> Reason | None:
    data, layer = inputs.shapes[0], inputs.layer
    size = getattr(layer, '_input_size', None)
    if len(data) != 3 or not size or data[-1] == size:
        return None
    name = type(layer).__name__
    return (f'the layer was made for {size} features, the data {data} has {data[-1]} in its last axis',
            [f'rnn.{name}({layer._hidden_size}, input_size={data[-1]})        # or give no input_size'])


def _completed(inputs: Inputs) -> Reason | None:
    """Inputs whose shapes follow from that of the data, as those of weights do."""
    op, shapes = inputs.op, inputs.shapes
    try:
        params = op.parse({k: v for k, v in inputs.params.items() if k in op.params})
        expected = completions[op.name]([shapes[0], *[None] * (len(shapes) - 1)], params)
    except Exception:  # noqa: BLE001 - the rule needs more than the data
        return None
    wrong = [(name, shape, right) for name, shape, right in zip(inputs.names, shapes, expected)
             if right is not None and shape != tuple(right) and all(n > 0 for n in right)]
    if not wrong:
        return None
    alike: dict[Any, list[str]] = {}
    for name, shape, right in wrong:
        alike.setdefault((shape, tuple(right)), []).append(name)
    text = '\n'.join(f'{" and ".join(dict.fromkeys(named))}: {inputs.names[0]} {shapes[0]} and the parameters ask for '
                     f'shape {right}, not {shape}' for (shape, right), named in alike.items())
    changes = inputs.tuned()
    channels = {shape[0] for _, shape, right in wrong if len(shape) == len(right) == 1}
    if not changes and len(channels) == 1 and hasattr(inputs.layer, 'gamma'):
        changes = [f'nn.{type(inputs.layer).__name__}(in_channels={wrong[0][2][0]})        # or give no in_channels']
    return text, changes


_REASONS: dict[str, Callable[[Inputs], Reason | None]] = {
    'dot': _dot, 'batch_dot': _batch_dot, 'FullyConnected': _dense, 'Convolution': _convolution,
    'Deconvolution': _convolution, 'Concat': _concat, 'stack': _stack, 'where': _where, 'RNN': _recurrent,
}
