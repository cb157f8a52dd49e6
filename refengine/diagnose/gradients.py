"""Why a gradient is missing, zero or of no use: five layers from the variable to the values (rules DIAG-AG)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

import numpy as np

from .. import tape, tape_walk
from ..base import MXNetError
from ..dispatch import NDArray
from ..gluon.parameter import Parameter
from ..ops.binary import zero_gradient
from . import cuts, watching
from .cuts import Asked
from .naming import labels, path_to
from .report import NOTE, OK, PROBLEM, Diagnosis
from .source import Place, of_caller

TITLES = {1: 'variable', 2: 'recording', 3: 'path', 4: 'graph', 5: 'values'}


def gradient(variable: Any = None, head: Any = None, names: Sequence[str] | None = None) -> Diagnosis:
    """Why ``head.backward()`` gives ``variable`` no useful gradient: five layers, each with what to change.

    Either may be left out. Within or after ``diagnose.watch()`` the lines that broke the chain are named. Ask before
    ``backward`` or call that with ``retain_graph=True``: afterwards the graph is freed, and the path cannot be seen.

    >>> import refengine as mx
    >>> w = mx.nd.ones((2,)); w.attach_grad()
    >>> y = w * 2
    >>> problem = mx.diagnose.gradient(w, y, names=['w', 'y']).problems[0]
    >>> problem.layer, problem.text.partition(':')[0]
    (2, 'y is not the result of a recorded call')
    """
    frame, place = of_caller()
    given = [a for a in (variable, head) if a is not None]
    for array in given:
        if not isinstance(array, (NDArray, Parameter)):
            raise TypeError(f'diagnose.gradient expects NDArrays, got {type(array)}' + (
                ': a number has no graph, ask for the array that it was taken from'
                if isinstance(array, (int, float, np.generic, np.ndarray)) else ''))
    if not given:
        raise TypeError('diagnose.gradient expects a variable, a head or both')
    called = list(names) if names is not None else labels(frame, place, given, None, sys._getframe())
    label = {id(array): name for array, name in zip(given, called) if name}
    if isinstance(variable, Parameter):
        return _of_parameter(variable, head, label, frame, place)
    return examine(variable, head, label, frame, place)


def _of_parameter(parameter: Any, head: Any, label: dict[int, str], frame: FrameType | None,
                  place: Place | None) -> Diagnosis:
    """The diagnosis for the array of a parameter, on the context of the head if there is one."""
    name = label.get(id(parameter)) or path_to(parameter, frame) or parameter.name
    arrays = parameter._data or ()
    if not arrays:
        result = Diagnosis(f'gradient of {name}', place)
        block = path_to(parameter, frame).partition('.')[0].partition('[')[0] or 'net'
        waits = bool(parameter._deferred_init)
        result.add(1, TITLES[1], PROBLEM, f'{name} has no array yet: ' + (
            'its shape is settled when the block is called first' if waits else 'it is not initialized'),
            f'{block}(x)        # one batch, in front of autograd.record()' if waits else f'{block}.initialize()')
        return result
    array = next((a for a in arrays if head is not None and a.context == head.context), arrays[0])
    return examine(array, head, {**label, id(array): name}, frame, place)


def examine(variable: Any, head: Any, label: dict[int, str], frame: FrameType | None, place: Place | None,
            error: str = '') -> Diagnosis:
    """The five layers; arrays without a label get one from the frame."""
    name = label.get(id(variable), 'the variable')
    top = label.get(id(head), 'the head')
    subject = f'gradient of {top} with respect to {name}' if variable is not None and head is not None else (
        f'gradient of {name}' if head is None else f'gradient of {top}')
    result = Diagnosis(subject + (f'\n  {error}' if error else ''), place)
    asked = Asked(variable, head, name, top, frame, place.line if place is not None else 0)
    if variable is not None:
        _layer_variable(result, variable, name, frame)
    if head is not None:
        recorded = _layer_recording(result, asked)
        if recorded and variable is not None and not _freed_in_part(head):
            _layer_path(result, asked)
        _layer_graph(result, head, top)
    if variable is not None and variable.grad is not None:
        _layer_values(result, variable, name)
    return result


# ---- 1: the variable -----------------------------------------------------------------------------------------------

def _layer_variable(result: Diagnosis, variable: Any, name: str, frame: FrameType | None) -> None:
    title, node = TITLES[1], variable._node
    owner = cuts.parameter_of(variable) if node is None or node.kind == tape.IDLE else None
    if owner is not None and owner.grad_req == 'null':
        path = path_to(owner, frame)
        result.add(1, title, PROBLEM, f"{name} is parameter {owner.name}, whose grad_req 'null' asks for no gradient",
                   f"{path or f'net.collect_params()[{owner.name!r}]'}.grad_req = 'write'")
        return
    if isinstance(node, tape.Leaf):
        if node.req == 'null':
            result.add(1, title, PROBLEM, f"{name} is attached with grad_req 'null', which asks for no gradient",
                       f"{name}.attach_grad('write')")
        elif np.dtype(variable.dtype).kind != 'f':
            result.add(1, title, NOTE, f'{name} is attached, but holds {np.dtype(variable.dtype).name}: its gradient '
                                       f'is rounded to that', f"{name} = {name}.astype('float32')")
        else:
            result.add(1, title, OK, f"{name} is attached, grad_req '{node.req}'")
        return
    made = watching.current.made(variable) if watching.current is not None else None
    if node is not None and node.kind != tape.GONE:
        result.add(1, title, PROBLEM, f'{name} is the result of a recorded call; it passes gradients on and keeps none',
                   f'{name}.attach_grad()        # in front of backward; what lies behind gets nothing then', _of(made))
    elif made is not None and made.inputs:
        result.add(1, title, PROBLEM, f'{name} is a new array without mark, made by {made.function}: a name that is '
                                      f'bound to a result is another array than before',
                   f'{name}[:] = ...        # outside of record: keeps array, buffer and mark\n'
                   f'{name}.attach_grad()   # in front of record, if it is to be a variable', made.place)
    else:
        result.add(1, title, PROBLEM, f'{name} is not attached: it has no gradient buffer',
                   f'{name}.attach_grad()        # in front of autograd.record()', _of(made))


def _of(event: watching.Event | None) -> Place | None:
    return event.place if event is not None else None


# ---- 2: was it recorded --------------------------------------------------------------------------------------------

def _layer_recording(result: Diagnosis, asked: Asked) -> bool:
    title, node, top, frame = TITLES[2], asked.head._node, asked.top, asked.frame
    if node is not None and node.kind == tape.GONE:
        result.add(2, title, OK, f'{top} was recorded')
        return False
    if node is not None:
        result.add(2, title, OK, f'{top} is a variable itself' if isinstance(node, tape.Leaf) else
                   f'{top} is the result of the recorded call {_op(node)}')
        return True
    cut = cuts.unrecorded(asked)
    result.add(2, title, PROBLEM, cut.text, cut.change, cut.place)
    if asked.variable is None and frame is not None:
        attached = [k for k, v in {**frame.f_globals, **frame.f_locals}.items()
                    if isinstance(v, NDArray) and isinstance(v._node, tape.Leaf)]
        known = f'variables here: {", ".join(sorted(attached))}' if attached else \
            'no array here is attached: attach_grad() comes before autograd.record()'
        result.add(2, title, NOTE, known)
    return False


def _op(node: Any) -> str:
    return str((node.node if isinstance(node, tape.Output) else node).op.name)


# ---- 3: is there a path ----------------------------------------------------------------------------------------

def _layer_path(result: Diagnosis, asked: Asked) -> None:
    title, name, top = TITLES[3], asked.name, asked.top
    variable, head = asked.variable, asked.head
    if variable._node is head._node:
        result.add(3, title, OK, f'{top} is {name}')
        return
    path = _path(head._node, variable._node)
    if path is None:
        cut = cuts.missing(asked)
        # Of what is no variable the first layer has told already.
        status = PROBLEM if isinstance(variable._node, tape.Leaf) or not result.problems else NOTE
        result.add(3, title, status, cut.text, cut.change, cut.place)
        return
    blocked = [n for n in path if _stops(n)]
    text = ' <- '.join([top, *(_op(n) for n in path), name])
    if any(_op(n) == 'BlockGrad' for n in blocked):
        result.add(3, title, PROBLEM, f'{text}\nBlockGrad cuts the chain on purpose',
                   'leave it out where the gradient is to pass')
    elif blocked:
        stopping = ', '.join(_op(n) for n in blocked)
        result.add(3, title, PROBLEM, f'{text}\n{stopping}: gradient zero everywhere, or none',
                   'the choice of an element has no gradient; nd.where(condition, a, b) passes those of a and b')
    else:
        result.add(3, title, OK, text)


def _stops(node: Any) -> bool:
    op = node.op
    return op.backward is None and (op.grad is None or op.grad is zero_gradient or op.name == 'BlockGrad')


def _path(start: Any, end: Any) -> list[Any] | None:
    """The nodes from a head to a variable, along a way on which the gradient is not stopped if there is one."""
    for passing in (True, False):
        before: dict[Any, Any] = {}
        pending = [start.node if isinstance(start, tape.Output) else start]
        while pending:
            node = pending.pop()
            if isinstance(node, tape.Leaf) or (passing and _stops(node)):
                continue
            for parent in node.parents:
                above = parent.node if isinstance(parent, tape.Output) else parent
                if above is None or above in before:
                    continue
                before[above] = node
                if above is end:
                    return _unrolled(before, end)
                pending.append(above)
    return None


def _unrolled(before: dict[Any, Any], end: Any) -> list[Any]:
    path, node = [], end
    while node in before and before[node] not in path:
        node = before[node]
        path.append(node)
    return path[::-1]


# ---- 4 and 5 ---------------------------------------------------------------------------------------------------

def _layer_graph(result: Diagnosis, head: Any, top: str) -> None:
    title, node = TITLES[4], head._node
    if node is None or isinstance(node, tape.Leaf):
        return
    if node.kind == tape.GONE:
        result.add(4, title, PROBLEM, f'the graph of {top} was freed: backward went through it before',
                   f'{top}.backward(retain_graph=True)        # the first time; or record again')
        return
    if _freed_in_part(head):
        result.add(4, title, PROBLEM, f'a part of the graph of {top} was freed by backward of another result',
                   'backward(retain_graph=True) there, or autograd.backward([first, second]) for both at once')
        return
    nodes, leaves, _ = tape_walk.reachable([node])
    wanting = [leaf for leaf in leaves if leaf.kind == tape.LEAF]
    if not wanting:
        result.add(4, title, PROBLEM, f'no variable that {top} depends on asks for a gradient (grad_req null)',
                   "attach_grad('write')")
    else:
        result.add(4, title, OK, f'{len(nodes)} recorded calls, {len(wanting)} variables that ask for a gradient')


def _freed_in_part(head: Any) -> bool:
    try:
        tape_walk.reachable([head._node])
    except MXNetError:
        return True
    return False


def _layer_values(result: Diagnosis, variable: Any, name: str) -> None:
    title = TITLES[5]
    values = variable.grad.asnumpy()
    if not variable._fresh_grad:
        result.add(5, title, NOTE, f'no backward has written {name}.grad since it was made or used: it is not of this '
                                   f'iteration', 'call backward() before step() or reading the gradient')
        if not values.any():
            return
    wrong = np.size(values) - int(np.isfinite(values).sum())
    if wrong:
        result.add(5, title, PROBLEM, f'{wrong} of {values.size} elements of {name}.grad are inf or NaN',
                   'look for 0/0, log(0) and sqrt(0) on the path; with float16 use amp.LossScaler')
    elif not values.any():
        result.add(5, title, NOTE, f'{name}.grad is zero everywhere', '')
    else:
        result.add(5, title, OK, f'{name}.grad: 2-norm {float(np.linalg.norm(values.astype(np.float64))):.4g}, largest '
                                 f'{float(np.abs(values.astype(np.float64)).max()):.4g}')
