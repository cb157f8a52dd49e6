"""Where the chain from a head back to a variable is cut: told by the graph, the log of calls or the source."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import FrameType
from typing import Any, NamedTuple

from .. import tape, tape_walk
from ..base import MXNetError
from ..dispatch import NDArray
from ..gluon.parameter import Parameter
from . import history, watching
from .naming import path_to
from .source import Place, is_engine

_NUMPY = 'compute with nd functions from the variable to the head'
_ON_PURPOSE = 'leave it out where the gradient is to pass'


class Cut(NamedTuple):
    """Why the chain ends, what to change, and the line, where it is known."""

    text: str
    change: str = ''
    place: Place | None = None


class Asked(NamedTuple):
    """A question: the variable and the head, what they are called, and where it was asked."""

    variable: Any
    head: Any
    name: str
    top: str
    frame: FrameType | None
    line: int


# ---- the head was not recorded -------------------------------------------------------------------------------------

def unrecorded(asked: Asked) -> Cut:
    """Why the head is not the result of a recorded call."""
    log, text = watching.current, f'{asked.top} is not the result of a recorded call'
    event = log.made(asked.head) if log is not None else None
    if log is None or event is None:
        guess = _read_from_source(asked)
        return guess._replace(text=f'{text}\n{guess.text}') if guess is not None else Cut(
            f'{text}: it was computed outside of autograd.record() or under pause(), from arrays without mark, through '
            f'detach(), or through numpy',
            'with autograd.record():\n    ...        # everything from the variables to the head\n'
            '# with mx.diagnose.watch(): around the program, the line is named here')
    found = _in_log(log, asked)
    if found is not None:
        return found._replace(text=f'{text}\n{found.text}')
    name = asked.name if asked.variable is not None else 'w'
    return Cut(f'{text}: nothing that it was computed from is attached',
               f'{name}.attach_grad()        # in front of autograd.record()', event.place)


def _read_from_source(asked: Asked) -> Cut | None:
    """What the lines that made the head tell about it, without a log of the calls."""
    for frame, name, line in history.bound(asked.head, asked.frame, asked.line):
        lines = history.assignments(frame, name, line)
        if not lines:
            continue
        for step in lines:
            for word, change in (('asnumpy()', _NUMPY), ('asscalar()', _NUMPY), ('detach()', _ON_PURPOSE),
                                 ('BlockGrad(', _ON_PURPOSE), ('stop_gradient(', _ON_PURPOSE)):
                if word in step.value:
                    return Cut(f'{word.strip("()")} cuts the chain at line {step.place.line}', change, step.place)
        last = lines[0].place
        if not lines[0].recorded:
            return Cut(f'line {last.line} stands in no block of autograd.record()',
                       f'with autograd.record():\n    {last.text}', last)
        for _, own, _ in _same_frame(history.bound(asked.variable, frame, line), frame):
            uses = history.dependent(lines, own)
            outside = next((step for step in uses if not step.recorded and step.target != own), None)
            if outside is not None:
                return Cut(f'line {outside.place.line} uses {asked.name} and stands in no block of autograd.record(), '
                           f'or under pause()', 'move the line into the block of autograd.record()', outside.place)
            late = history.attachments(frame, own)
            if late and uses and all(uses[0].place.line < place.line for place in late):
                return Cut(f'line {uses[0].place.line} uses {asked.name}, which is attached at line {late[-1].line} '
                           f'only', f'{own}.attach_grad()        # in front of autograd.record()', late[-1])
        if asked.variable is None or asked.variable._node is None:
            return Cut(f'line {last.line} is recorded, but nothing that it depends on was attached before',
                       'attach_grad() in front of autograd.record()', last)
    return None


def _in_log(log: watching.Log, asked: Asked) -> Cut | None:
    for step in log.ancestors(asked.head):
        found = _break_at(log, step, asked.variable)
        if found is not None:
            return found
    return None


def _break_at(log: watching.Log, step: watching.Event, variable: Any) -> Cut | None:
    """Why the chain breaks at a call, or None when it does not break there."""
    if step.kind == watching.LEAVE:
        return Cut(f'{step.function} takes the value out of the engine: what numpy or Python make of it has no history',
                   _NUMPY, step.place)
    arrays = [i for i in step.inputs if isinstance(i, NDArray)]
    needs = [i for i in arrays if i is variable or i._node is not None or _depends(log, i, variable)]
    if step.function in ('detach', 'BlockGrad', 'stop_gradient') and needs:
        return Cut(f'{step.function} cuts the chain on purpose', _ON_PURPOSE, step.place)
    if needs and not step.recording:
        return Cut(f'{step.function} was called while nothing is recorded: outside of record(), or under pause()',
                   'move the line into the block of autograd.record()', step.place)
    late = [i for i in arrays if isinstance(i._node, tape.Leaf)]
    if step.recording and late and all(not isinstance(o, NDArray) or o._node is None for o in step.outputs):
        return Cut(f'{step.function} was recorded before its input was attached',
                   'call attach_grad() in front of autograd.record()', step.place)
    left = [e for e in log.events if e.kind == watching.LEAVE and e.number < step.number]
    if not arrays and left and variable is not None and any(
            i is variable or _depends(log, i, variable) for e in left for i in e.inputs):
        return Cut(f'{step.function} makes an array from values that left the engine at line {left[-1].place.line}',
                   _NUMPY, step.place)
    return None


def _depends(log: watching.Log, array: Any, variable: Any) -> bool:
    return variable is not None and any(any(i is variable for i in e.inputs) for e in log.ancestors(array))


# ---- the head was recorded, the variable is not in its graph -------------------------------------------------------

def missing(asked: Asked) -> Cut:
    """Why the recorded graph of the head does not lead to the variable."""
    text = f'{asked.top} does not depend on {asked.name} in the recorded graph'
    try:
        nodes, leaves, _ = tape_walk.reachable([asked.head._node])
    except MXNetError:
        return Cut(text)
    found = _used_otherwise(asked, nodes) or _at_a_leaf(asked, leaves)
    if found is None and watching.current is not None:
        found = _in_log(watching.current, asked)
    if found is None:
        found = _outside(asked)
    if found is not None:
        return found._replace(text=f'{text}\n{found.text}')
    known = ', '.join(_names(leaves, asked.frame)) or 'other variables'
    # What went into the graph without mark may have been made from the variable; otherwise there is no doubt.
    open_ = any(parent is None for node in nodes for _, parent in zip(node.inputs, node.parents)) \
        and (watching.current is None or watching.current.made(asked.head) is None)
    doubt = f', unless what {asked.name} makes was computed outside of record' if open_ else ''
    return Cut(f'{text}\n{asked.name} is not used: {asked.top} is computed from {known}{doubt}',
               f'use {asked.name} in the computation of {asked.top}, or leave it out of what is trained')


def _used_otherwise(asked: Asked, nodes: list[Any]) -> Cut | None:
    """The variable's values are in the graph, under another mark than it has now, or under none."""
    once = f'{asked.name}.attach_grad()        # once, in front of autograd.record()'
    for node in nodes:
        for data, parent in zip(node.inputs, node.parents):
            if data is not asked.variable._data:
                continue
            log = watching.current
            event = log.attached(asked.variable) if log is not None else None
            place = event.place if event is not None else None
            if not isinstance(asked.variable._node, tape.Leaf):
                return Cut(f'{node.op.name} took {asked.name} as a constant, because it is not attached')
            if isinstance(parent, tape.Leaf):
                return Cut(f'{asked.name} was attached again after {node.op.name} had used it, which makes another '
                           f'variable', once, place)
            if parent is None:
                return Cut(f'{asked.name} was attached after {node.op.name} had used it', once, place)
    return None


def _at_a_leaf(asked: Asked, leaves: list[Any]) -> Cut | None:
    """A result on the way was attached and became a variable of its own, where the chain ends."""
    log = watching.current
    for array, name, frame, line in _arrays_of(leaves, asked.frame, asked.line):
        text = (f'attach_grad makes a new variable of {name} and drops how it was computed: the gradient ends there, '
                f'and {asked.name} lies behind')
        change = f'leave out {name}.attach_grad(): what is computed passes gradients on without it'
        if log is not None and _depends(log, array, asked.variable):
            event = log.attached(array)
            return Cut(text, change, event.place if event is not None else None)
        for _, own, _ in _same_frame(history.bound(asked.variable, frame, line), frame):
            lines = history.assignments(frame, name, line)
            places = [p for p in history.attachments(frame, name) if lines and p.line >= lines[0].place.line]
            if places and history.dependent(lines, own):
                return Cut(text, change, places[-1])
    return None


def _outside(asked: Asked) -> Cut | None:
    """A line of the source that uses the variable and stands outside of record."""
    for frame, name, line in history.bound(asked.head, asked.frame, asked.line):
        for _, own, _ in _same_frame(history.bound(asked.variable, frame, line), frame):
            for step in history.dependent(history.assignments(frame, name, line), own):
                if not step.recorded and step.target != own:
                    return Cut(f'line {step.place.line} uses {asked.name} and stands in no block of autograd.record()',
                               f'with autograd.record():\n    {step.place.text}', step.place)
    return None


def _same_frame(found: Iterator[tuple[FrameType, str, int]], frame: FrameType) -> Iterator[tuple[FrameType, str, int]]:
    return (item for item in found if item[0] is frame)


# ---- what variables are called -------------------------------------------------------------------------------------

def _arrays_of(leaves: list[Any], frame: FrameType | None, line: int) -> Iterator[tuple[Any, str, FrameType, int]]:
    """The variables of the program that stand before leaves, with name, frame and line."""
    wanted = set(map(id, leaves))
    while frame is not None:
        if not is_engine(frame.f_code):
            for name, value in list(frame.f_locals.items()):
                if isinstance(value, NDArray) and id(value._node) in wanted:
                    yield value, name, frame, line
        frame = frame.f_back
        line = (frame.f_lineno or 0) + 1 if frame is not None else 0


def _names(leaves: list[Any], frame: FrameType | None) -> list[str]:
    """What to call variables: as the program does, parameters by their path."""
    found = {id(array._node): name for array, name, _, _ in _arrays_of(leaves, frame, 0)}
    if len(found) < len(leaves):
        for parameter in parameters():
            for array in parameter._data or ():
                if array._node is not None:
                    found.setdefault(id(array._node), path_to(parameter, frame) or parameter.name)
    named = list(dict.fromkeys(found[id(leaf)] for leaf in leaves if id(leaf) in found))
    others = len(leaves) - len(named)
    if len(named) > 4:
        named, others = named[:3], len(leaves) - 3
    return named + ([f'{others} others' if others > 1 else 'another'] if others and named else [])


def parameters() -> list[Any]:
    """Every living Parameter."""
    return [o for o in gc.get_objects() if isinstance(o, Parameter)]


def parameter_of(array: Any) -> Any:
    """The Parameter whose array this is, or None."""
    return next((p for p in parameters() if any(a is array for a in p._data or ())), None)
