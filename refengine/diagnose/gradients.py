"""Why a gradient is missing, zero or of no use: five layers from the variable to the values (rules DIAG-AG)."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import Any

import numpy as np

from .. import tape, tape_walk
from ..base import MXNetError
from ..dispatch import NDArray
from ..ops.binary import zero_gradient
from . import watching
from .naming import labels
from .report import NOTE, OK, PROBLEM, Diagnosis
from .source import Assignment, Place, assignment, of_caller

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
        if not isinstance(array, NDArray):
            raise TypeError(f'diagnose.gradient expects NDArrays, got {type(array)}')
    if not given:
        raise TypeError('diagnose.gradient expects a variable, a head or both')
    called = list(names) if names is not None else labels(frame, place, given)
    label = dict(zip([id(a) for a in given], called))
    return examine(variable, head, label, frame, place)


def examine(variable: Any, head: Any, label: dict[int, str], frame: FrameType | None, place: Place | None,
            error: str = '') -> Diagnosis:
    """The five layers; arrays without a label get one from the frame."""
    name = label.get(id(variable), 'the variable')
    top = label.get(id(head), 'the head')
    subject = f'gradient of {top} with respect to {name}' if variable is not None and head is not None else (
        f'gradient of {name}' if head is None else f'gradient of {top}')
    result = Diagnosis(subject + (f'\n  {error}' if error else ''), place)
    if variable is not None:
        _layer_variable(result, variable, name)
    if head is not None:
        recorded = _layer_recording(result, variable, head, name, top, frame)
        if recorded and variable is not None and not _freed_in_part(head):
            _layer_path(result, variable, head, name, top)
        _layer_graph(result, head, top)
    if variable is not None and variable.grad is not None:
        _layer_values(result, variable, name)
    return result


# ---- 1: the variable -----------------------------------------------------------------------------------------------

def _layer_variable(result: Diagnosis, variable: Any, name: str) -> None:
    title, node = TITLES[1], variable._node
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

def _layer_recording(result: Diagnosis, variable: Any, head: Any, name: str, top: str,
                     frame: FrameType | None) -> bool:
    title, node = TITLES[2], head._node
    if node is not None and node.kind == tape.GONE:
        result.add(2, title, OK, f'{top} was recorded')
        return False
    if node is not None:
        result.add(2, title, OK, f'{top} is a variable itself' if isinstance(node, tape.Leaf) else
                   f'{top} is the result of the recorded call {_op(node)}')
        return True
    _explain_unrecorded(result, variable, head, name, top, frame)
    if variable is None and frame is not None:
        attached = [k for k, v in {**frame.f_globals, **frame.f_locals}.items()
                    if isinstance(v, NDArray) and isinstance(v._node, tape.Leaf)]
        known = f'variables here: {", ".join(sorted(attached))}' if attached else \
            'no array here is attached: attach_grad() comes before autograd.record()'
        result.add(2, title, NOTE, known)
    return False


def _explain_unrecorded(result: Diagnosis, variable: Any, head: Any, name: str, top: str,
                        frame: FrameType | None) -> None:
    """Say where the chain from the head back to a variable broke, as far as that is known."""
    title, log = TITLES[2], watching.current
    text = f'{top} is not the result of a recorded call'
    event = log.made(head) if log is not None else None
    if log is None or event is None:
        bound = assignment(frame, top, result.place.line) if frame is not None and result.place else None
        guess = _read_from_source(bound) if bound is not None else None
        if bound is not None and guess is not None:
            result.add(2, title, PROBLEM, f'{text}\n{guess[0]}', guess[1], bound.place)
            return
        result.add(2, title, PROBLEM, f'{text}: it was computed outside of autograd.record() or under pause(), from '
                                      f'arrays without mark, through detach(), or through numpy',
                   'with autograd.record():\n    ...        # everything from the variables to the head\n'
                   '# with mx.diagnose.watch(): around the program, the line is named here')
        return
    for step in log.ancestors(head):
        broken = _break_at(log, step, variable)
        if broken is not None:
            result.add(2, title, PROBLEM, f'{text}\n{broken[0]}', broken[1], step.place)
            return
    result.add(2, title, PROBLEM, f'{text}: nothing that it was computed from is attached',
               f'{name if variable is not None else "w"}.attach_grad()        # in front of autograd.record()',
               event.place)


def _read_from_source(bound: Assignment) -> tuple[str, str] | None:
    """What the line that made the head tells about it, without a log of the calls."""
    for word, change in (('asnumpy()', 'compute with nd functions from the variable to the head'),
                         ('asscalar()', 'compute with nd functions from the variable to the head'),
                         ('detach()', 'leave it out where the gradient is to pass'),
                         ('BlockGrad(', 'leave it out where the gradient is to pass')):
        if word in bound.value:
            return f'{word.strip("()")} cuts the chain at line {bound.place.line}', change
    if not bound.recorded:
        return (f'line {bound.place.line} stands in no block of autograd.record()',
                f'with autograd.record():\n    {bound.place.text}')
    return (f'line {bound.place.line} is recorded, but nothing that it depends on was attached before',
            'attach_grad() in front of autograd.record()')


def _break_at(log: watching.Log, step: watching.Event, variable: Any) -> tuple[str, str] | None:
    """Why the chain breaks at a call, or None when it does not break there."""
    if step.kind == watching.LEAVE:
        return (f'{step.function} takes the value out of the engine: what numpy or Python make of it has no history',
                'compute with nd functions from the variable to the head')
    needs = [i for i in step.inputs if isinstance(i, NDArray) and (
        i is variable or isinstance(i._node, tape.Leaf) or (i._node is not None) or _depends(log, i, variable))]
    if step.function in ('detach', 'BlockGrad', 'stop_gradient') and needs:
        return f'{step.function} cuts the chain on purpose', 'leave it out where the gradient is to pass'
    if needs and not step.recording:
        return (f'{step.function} was called while nothing is recorded: outside of record(), or under pause()',
                'move the line into the block of autograd.record()')
    late = [i for i in step.inputs if isinstance(i, NDArray) and isinstance(i._node, tape.Leaf)]
    if step.recording and late and all(not isinstance(o, NDArray) or o._node is None for o in step.outputs):
        return (f'{step.function} was recorded before its input was attached',
                'call attach_grad() in front of autograd.record()')
    from_numpy = [e for e in log.events if e.kind == watching.LEAVE and e.number < step.number]
    if not any(isinstance(i, NDArray) for i in step.inputs) and from_numpy and variable is not None and any(
            i is variable or _depends(log, i, variable) for e in from_numpy for i in e.inputs):
        return (f'{step.function} makes an array from values that left the engine at line {from_numpy[-1].place.line}',
                'compute with nd functions from the variable to the head')
    return None


def _depends(log: watching.Log, array: Any, variable: Any) -> bool:
    return variable is not None and any(any(i is variable for i in e.inputs) for e in log.ancestors(array))


def _op(node: Any) -> str:
    return str((node.node if isinstance(node, tape.Output) else node).op.name)


# ---- 3: is there a path ----------------------------------------------------------------------------------------

def _layer_path(result: Diagnosis, variable: Any, head: Any, name: str, top: str) -> None:
    title = TITLES[3]
    if variable._node is head._node:
        result.add(3, title, OK, f'{top} is {name}')
        return
    path = _path(head._node, variable._node)
    if path is None:
        made = None
        log = watching.current
        if log is not None:
            made = next((e for e in log.ancestors(head) if _break_at(log, e, variable) is not None), None)
        text, change, place = f'{top} does not depend on {name} in the recorded graph', '', None
        if log is not None and made is not None:
            broken = _break_at(log, made, variable)
            text, change, place = f'{text}\n{broken[0] if broken else ""}', broken[1] if broken else '', made.place
        elif isinstance(variable._node, tape.Leaf):
            text += (f': {name} was attached after the computation (attaching again makes another variable), or what '
                     f'uses {name} was computed outside of record')
            change = f'{name}.attach_grad()        # once, in front of autograd.record()'
        result.add(3, title, PROBLEM, text, change, place)
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
