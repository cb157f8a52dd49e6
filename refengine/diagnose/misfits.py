"""Shapes that do not fit where no single operator says why: losses, states, assignments, views, gradients of heads."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

from .. import autograd
from ..dispatch import NDArray
from ..gluon.loss import Loss, SoftmaxCrossEntropyLoss
from ..gluon.rnn import RecurrentCell
from ..gluon.rnn.layers import _RNNLayer
from . import operators
from .calls import Call, handed_over
from .naming import labels
from .operators import Reason
from .trials import Trial, like


def reason(call: Call, message: str) -> tuple[Reason, list[Any], list[str]] | None:
    """Why a call failed, with its arrays and their names; None if it is none of these."""
    for look in (_loss, _state, _cell, _assignment, _view, _head_gradient, _in_place):
        found = look(call, message)
        if found is not None:
            return found
    return None


Found = tuple[Reason, list[Any], list[str]]


def _named(call: Call, arrays: list[Any], words: list[str]) -> list[str]:
    """What the program calls arrays, else what they are for."""
    entry = call.inner[0] if call.inner else None
    known = labels(call.frame, call.place, arrays, None, entry)
    if call.symbolic and len(call.within) > 1:      # the line is one inside the block
        known = [''] * len(arrays)
    return [name or word for name, word in zip(known, words)]


# ---- losses and layers ---------------------------------------------------------------------------------------------

def _loss(call: Call, message: str) -> Found | None:
    """A loss whose predictions and labels do not belong together."""
    for frame in call.inner:
        block = frame.f_locals.get('self')
        if not isinstance(block, Loss):
            continue
        given = [a for a in frame.f_locals.get('args', ()) if isinstance(a, NDArray)]
        if len(given) < 2:
            continue
        pred, label = given[:2]
        why = _loss_reason(block, tuple(pred.shape), tuple(label.shape))
        if why is None:
            return None
        names = _named(call, [pred, label], ['pred', 'label'])
        text, templates = why
        trial = Trial([pred, label], names, _loss=partial(_sized, block))
        changes = [t.format(*names) for t in templates if trial.works(f'_loss({{0}}, {t})')]
        return (text.format(*names), changes), [pred, label], names
    return None


def _sized(block: Any, pred: Any, label: Any) -> Any:
    why = _loss_reason(block, tuple(pred.shape), tuple(label.shape))
    if why is not None:
        raise ValueError(why[0])
    return block._plain(pred, label)


def _loss_reason(block: Any, pred: tuple[int, ...], label: tuple[int, ...]) -> Reason | None:
    name = type(block).__name__
    if isinstance(block, SoftmaxCrossEntropyLoss) and block._sparse_label:
        axis = block._axis % len(pred) if pred else 0
        wanted = pred[:axis] + pred[axis + 1:]
        if label in (wanted, pred[:axis] + (1,) + pred[axis + 1:]):
            return None
        text = (f'{name} takes one class number for each prediction: {{0}} {pred} holds {prod(wanted)} predictions, '
                f'shape {wanted}, and {{1}} {label} holds {prod(label)} labels')
        if label == pred:
            return text + '; they look like one-hot rows', [f'{{1}}.argmax(axis={axis})']
        return text, [f'{{1}}.reshape({wanted})'] if prod(label) == prod(wanted) else []
    if '_like' not in type(block).hybrid_forward.__code__.co_names or prod(pred) == prod(label):
        return None
    text = f'{name} compares element by element: {{0}} {pred} has {prod(pred)}, {{1}} {label} has {prod(label)}'
    if pred[:1] != label[:1]:
        text += f'; the batches have {pred[0] if pred else 1} and {label[0] if label else 1}'
    elif len(pred) > 1:
        text += f'; the last layer has {pred[-1]} outputs, a label {prod(label[1:])}'
    return text, []


def _state(call: Call, message: str) -> Found | None:
    """A recurrent layer with the state of another batch."""
    for frame in call.inner:
        layer = frame.f_locals.get('self')
        if isinstance(layer, _RNNLayer) and 'recurrent state' in message and 'size' in frame.f_locals:
            size, data = frame.f_locals['size'], frame.f_locals['x']
            states = [s for s in frame.f_locals['args'][0] if isinstance(s, NDArray)]
            axis = layer._layout.find('N')
            names = _named(call, [data, *states], ['inputs', *(f'state {i}' for i in range(len(states)))])
            text = (f'the layer reads {tuple(data.shape)} as {layer._layout}: a batch of {size} on axis {axis}; the '
                    f'state {tuple(states[0].shape)} is for a batch of {states[0].shape[1]}')
            changes = []
            if all(tuple(s.shape) == tuple(i['shape'][:1]) + (s.shape[1],) + tuple(i['shape'][2:])
                   for s, i in zip(states, layer.state_info(size))):
                changes.append(f'{call.path or "layer"}.begin_state(batch_size={size})')
            return (text, changes), [data, *states], names
    return None


def _cell(call: Call, message: str) -> Found | None:
    """A recurrent cell with states of another batch or another size."""
    for frame in call.inner:
        cell = frame.f_locals.get('self')
        if not isinstance(cell, RecurrentCell):
            continue
        arrays = list(handed_over(frame))
        if len(arrays) < 2:
            continue
        size = arrays[0].shape[0]
        wanted = [tuple(info['shape']) for info in cell.state_info(size)]
        got = [tuple(a.shape) for a in arrays[1:]]
        if len(wanted) != len(got) or wanted == got:
            return None
        names = _named(call, arrays, ['inputs', *(f'state {i}' for i in range(len(got)))])
        right = [shape[:1] + rest[1:] for shape, rest in zip(wanted, got)] == wanted
        text = f'for a batch of {size} the states have the shapes {wanted}, not {got}'
        return (text, [f'{call.path or "cell"}.begin_state(batch_size={size})'] if right else []), arrays, names
    return None


# ---- writes and views ----------------------------------------------------------------------------------------------

def _assignment(call: Call, message: str) -> Found | None:
    """``a[key] = value`` with a value that does not fit the selected part."""
    if not call.inner or call.inner[0].f_code.co_name != 'setitem':
        return None
    values = call.inner[0].f_locals
    target, value = values['self'], values['value']
    if not hasattr(value, 'shape'):
        return None
    try:
        with autograd.pause():
            part = tuple(target[values['key']].shape)
    except Exception:  # noqa: BLE001 - the key itself is wrong, which the error says
        return None
    if operators.common(part, tuple(value.shape)) == part:
        return None
    arrays = [target, value] if isinstance(value, NDArray) else [target, like(value.shape)]
    names = _named(call, [target, value], ['the array', 'the value'])
    selected = call.place.expression if call.place is not None and call.place.expression[-1:] == ']' else 'the part'
    text = f'{selected} has shape {part}; the value {tuple(value.shape)} must broadcast to that'
    changes = []
    if names[1] != 'the value' and selected != 'the part':
        trial = Trial([like(part), arrays[1]], [selected, names[1]], _fits=lambda v: v.broadcast_to(part))
        for why, (expression,) in operators.adapted(part, tuple(value.shape), '{1}', names[1]):
            if trial.works(f'_fits({expression})') and not changes:
                text += f'\n{why}'
                changes += trial.changes(expression)
    return (text, [f'{selected} = {c}' for c in changes]), arrays, names


def _view(call: Call, message: str) -> Found | None:
    """A shape with another number of elements."""
    entry = call.inner[0] if call.inner else None
    if entry is not None and entry.f_code.co_name == 'reshape' and isinstance(entry.f_locals.get('self'), NDArray):
        array, codes = entry.f_locals['self'], entry.f_locals['shape']
        codes = tuple(codes or entry.f_locals['kwargs'].get('shape', ()))
    elif call.op is not None and call.op.name in ('reshape', 'Reshape') and call.arrays and call.params.get('shape'):
        array, codes = call.arrays[0], tuple(call.params['shape'])
    else:
        return None
    if not all(type(n) is int for n in codes) or any(n < -1 or n == 0 for n in codes):
        return None
    shape, size, fixed = tuple(array.shape), prod(array.shape), prod(n for n in codes if n > 0)
    if -1 in codes:
        text = f'{shape} has {size} elements, which {fixed} does not divide'
    else:
        text = f'{shape} has {size} elements, {codes} would have {fixed}'
    names = _named(call, [array], ['data'])
    free = [tuple(-1 if i == at else n for i, n in enumerate(codes)) for at in range(len(codes)) if -1 not in codes]
    call_of = '{0}.reshape(%s)' if not call.hybrid else 'F.reshape({0}, shape=%s)'
    changes = Trial([array], names, call.hybrid).changes(*(call_of % (c,) for c in free))
    return (text, changes), [array], names


def _in_place(call: Call, message: str) -> Found | None:
    """A result that does not fit the array which is to take it."""
    if call.op is None or call.out is None or 'output' not in message:
        return None
    names = [n or w for n, w in zip(call.names, call.op.inputs)]
    target = labels(call.frame, call.place, [call.out])[0]
    called = target or 'out'
    shapes = [tuple(a.shape) for a in call.arrays]
    result = operators.common(*shapes) if operators.family(call.op.name) != 'other' else None
    if result is None or result == tuple(call.out.shape):
        return None
    text = (f'the result has shape {result}, and {called} {tuple(call.out.shape)} keeps its own: nothing grows in '
            f'place')
    trial = Trial(call.arrays, names)
    changes = trial.changes(operators.written(call.op.name, '{0}', '{1}', trial))
    return (text, [f'{target} = {c}' if target else c for c in changes]), call.arrays, names


# ---- backward ------------------------------------------------------------------------------------------------------

def _head_gradient(call: Call, message: str) -> Found | None:
    if 'head gradient has shape' not in message.lower():
        return None
    frame = next((f for f in call.inner if f.f_code.co_name == '_head_gradient'), None)
    if frame is None:
        return None
    head, given = frame.f_locals['head'], frame.f_locals['given']
    given = given if isinstance(given, NDArray) else like(given.shape)
    names = _named(call, [head, given], ['head', 'the head gradient'])
    text = (f'{names[0]} has shape {tuple(head.shape)}: the head gradient needs one number for each of its elements, '
            f'and {names[1]} has shape {tuple(given.shape)}')
    trial = Trial([head, given], names, _fits=lambda v: v.broadcast_to(tuple(head.shape)))
    changes = [f'{names[0]}.backward(nd.ones_like({names[0]}))'] if names[0] != 'head' else []
    for why, (expression,) in operators.adapted(tuple(head.shape), tuple(given.shape), '{1}', names[1]):
        if trial.works(f'_fits({expression})') and names[0] != 'head':
            text += f'\n{why}'
            changes = [f'{names[0]}.backward({c})' for c in trial.changes(expression)]
            break
    return (text, changes), [head, given], names
