"""Loops and branches inside graphs: ``mx.sym.contrib.foreach``, ``while_loop`` and ``cond`` (rule GRAPH-STATIC-005).

The body of a loop becomes a graph of its own. What it uses of the graph around it, parameters too, becomes inputs of
the one node that stands for the loop. The node runs its graphs call by call, as often as the data ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import autograd, dispatch, tape
from .. import ndarray as nd
from ..base import MXNetError
from ..graph.node import Entry, Node, topological
from ..graph.program import build
from ..name import current as names
from ..op import Operator
from .compose import var
from .symbol import Symbol

Runner = Callable[[list[Any]], list[Any]]


# ---- nested lists of symbols -----------------------------------------------------------------------------------

def _flatten(value: Any, what: str) -> tuple[list[Symbol], Any]:
    if isinstance(value, Symbol):
        if value.num_outputs == 1:
            return [value], 0
        return [Symbol([entry], value._traced) for entry in value._entries], value.num_outputs
    if value is None:
        return [], ()
    if not isinstance(value, list | tuple):
        raise ValueError(f'{what} must be a Symbol or a (nested) list of Symbols, got {value!r}')
    flat: list[Symbol] = []
    forms = []
    for item in value:
        found, form = _flatten(item, what)
        flat += found
        forms.append(form)
    return flat, tuple(forms)


def _take(rest: list[Any], form: Any) -> Any:
    if form == 0 and not isinstance(form, tuple):
        return rest.pop(0)
    if isinstance(form, int):
        return [rest.pop(0) for _ in range(form)]
    return [_take(rest, part) for part in form]


def _regroup(flat: Sequence[Any], form: Any) -> Any:
    return _take(list(flat), form)


# ---- a part of a graph as a function of arrays -----------------------------------------------------------------

class _Part:
    """The graph that a body made: a function of its own inputs and of what it took from outside.

    ``outside`` are the entries that were there before the body ran, and variables.
    """

    def __init__(self, heads: Sequence[Symbol], own: Sequence[Symbol], before: int) -> None:
        entries = [head._entries[0] for head in heads]
        inner = [symbol._entries[0][0] for symbol in own]
        inside = {id(node) for node in inner}
        self.outside: list[Entry] = []
        made: dict[int, Node] = {id(node): node for node in inner}
        stand_ins: list[Node] = []
        places: dict[tuple[int, int], Node] = {}

        def is_outside(node: Node) -> bool:
            return id(node) not in inside and (node.op is None or node.sequence < before)

        def entry(old: Entry) -> Entry:
            node, index = old
            if not is_outside(node):
                return made[id(node)], index
            key = (id(node), index)
            if key not in places:
                places[key] = Node(None, f'outside{len(places)}')
                stand_ins.append(places[key])
                self.outside.append(old)
            return places[key], 0

        for node in sorted(topological(entries), key=lambda n: n.sequence):
            if node.op is not None and not is_outside(node):
                made[id(node)] = node.clone([entry(e) for e in node.inputs])
        self._program = build([entry(e) for e in entries], [*inner, *stand_ins])

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        program = self._program
        values = dict(zip(program.inputs, arrays, strict=True))
        for step in program.steps:
            given = {key: value for key, value in step.params.items() if key in step.op.params}
            if isinstance(step.op, _Loop):
                results = step.op.run(step.params, [values[s] for s in step.inputs])
            else:
                result = dispatch.invoke(step.op, [values[s] for s in step.inputs], given)
                results = result if isinstance(result, list) else [result]
            values.update(zip(step.outputs, results, strict=False))
        return [values[slot] for slot in program.heads]


# ---- the node --------------------------------------------------------------------------------------------------

class _Loop(Operator):
    """The record of a loop or a branch: what it does is among its parameters, as ``runner``."""

    __slots__ = ()

    def run(self, params: dict[str, Any], arrays: list[Any]) -> list[Any]:
        """The results for recorded arrays."""
        runner: Runner = params['runner']
        return runner(arrays)


def _forward(xp: Any, *arrays: Any, runner: Runner, count: int, ctx: Any, is_train: bool) -> tuple[Any, ...]:
    with autograd.pause(train_mode=is_train):
        results = runner([dispatch.wrap(a, ctx) for a in arrays])
    if len(results) != count:
        raise MXNetError(f'a loop of a graph gave {len(results)} results, expected {count}: without a single step the '
                         f'shapes of its outputs are unknown')
    return tuple(r._data for r in results)


def _backward(node: Any, ograds: Sequence[Any]) -> list[Any]:
    arrays = [dispatch.wrap(data, node.ctx) for data in node.inputs]
    for array in arrays:
        array._node = tape.Leaf(None, 'write', array._data.dtype)
    training, recording = tape.state.training, tape.state.recording
    with autograd.record(train_mode=training):
        results = node.params['runner'](arrays)
    tape.state.recording = recording
    pairs = [(r, g) for r, g in zip(results, ograds, strict=False) if g is not None and r._node is not None]
    gradients: list[Any] = [None] * len(arrays)
    if not pairs:
        return gradients
    heads = [r for r, _ in pairs]
    given = [g if isinstance(g, nd.NDArray) else dispatch.wrap(g, node.ctx) for _, g in pairs]
    for index, array in enumerate(arrays):
        if array._data.dtype.kind != 'f':
            continue
        try:
            gradients[index] = autograd.grad(heads, [array], given, retain_graph=True)[0]._data
        except MXNetError:
            gradients[index] = None         # no result depends on this input
    return gradients


def _record(name: str) -> _Loop:
    op = _Loop(name, _forward, variadic=True, num_outputs=lambda p: p['count'], mixed=True)
    op.backward = _backward
    return op


_FOREACH, _WHILE, _COND = _record('_foreach'), _record('_while_loop'), _record('_cond')


def _node(op: _Loop, name: str, inputs: Sequence[Entry], runner: Runner, count: int, traced: bool) -> list[Symbol]:
    node = Node(op, names().get(None, name), {}, inputs, {'runner': runner, 'count': count})
    return [Symbol([(node, i)], traced) for i in range(count)]


def _stand_ins(symbols: Sequence[Symbol], what: str) -> list[Symbol]:
    made = []
    for number, symbol in enumerate(symbols):
        variable = var(f'{what}{number}')
        variable._traced = symbol._traced
        made.append(variable)
    return made


def _now() -> int:
    """A number between the nodes that are there and those that will be made."""
    return Node(None, 'mark').sequence


def foreach(body: Callable[..., Any], data: Any, init_states: Any, name: str = 'foreach') -> tuple[Any, Any]:
    """``body(slice, states)`` for every entry of the first axis; stacked outputs and the last states.

    >>> import refengine as mx
    >>> x, s = mx.sym.var('x'), mx.sym.var('s')
    >>> outs, last = foreach(lambda item, state: (item + state, item + state), x, s)
    >>> found = mx.sym.Group([outs, last]).eval(x=mx.nd.array([[1.], [2.], [3.]]), s=mx.nd.zeros(1))
    >>> found[0].asnumpy().ravel().tolist(), found[1].asnumpy().tolist()
    ([1.0, 3.0, 6.0], [6.0])
    """
    flat, data_form = _flatten(data, 'data')
    states, state_form = _flatten(init_states, 'init_states')
    slices, before_states = _stand_ins(flat, 'slice'), _stand_ins(states, 'state')
    before = _now()
    outputs, after = body(_regroup(slices, data_form), _regroup(before_states, state_form))
    heads, out_form = _flatten(outputs, 'the outputs of the body')
    new_states, new_form = _flatten(after, 'the states of the body')
    if len(new_states) != len(states):
        raise ValueError(f'the body of foreach gave {len(new_states)} states, expected {len(states)}')
    part = _Part([*heads, *new_states], [*slices, *before_states], before)
    count, first, second = len(heads), len(flat), len(flat) + len(states)

    def run(arrays: list[Any]) -> list[Any]:
        outer = arrays[second:]

        def step(items: Any, held: Any) -> tuple[list[Any], list[Any]]:
            found = part([*items, *held, *outer])
            return found[:count], found[count:]

        stacked, last = nd.contrib.foreach(step, arrays[:first], arrays[first:second])
        return [*stacked, *last]

    inputs = [s._entries[0] for s in (*flat, *states)] + part.outside
    results = _node(_FOREACH, name, inputs, run, count + len(states), any(s._traced for s in (*flat, *states)))
    return _regroup(results[:count], out_form), _regroup(results[count:], new_form)


def while_loop(cond: Callable[..., Any], func: Callable[..., Any], loop_vars: Any, max_iterations: int | None = None,
               name: str = 'while_loop') -> tuple[Any, Any]:
    """``func(*loop_vars)`` while ``cond(*loop_vars)`` holds, at most max_iterations times.

    Outputs are stacked and padded with zeros to max_iterations. ValueError without the number of steps or variables.
    """
    if max_iterations is None:
        raise ValueError('max_iterations should be specified')
    variables, form = _flatten(loop_vars, 'loop_vars')
    if not variables:
        raise ValueError('loop_vars should contain at least one element')
    inner = _stand_ins(variables, 'variable')
    before = _now()
    grouped = _regroup(inner, form)
    args = grouped if isinstance(grouped, list) else [grouped]
    test, _ = _flatten(cond(*args), 'the condition')
    outputs, after = func(*args)
    heads, out_form = _flatten(outputs, 'the outputs of func')
    new, new_form = _flatten(after, 'the variables of func')
    if len(new) != len(variables):
        raise ValueError(f'func gave {len(new)} loop variables, expected {len(variables)}')
    condition, part = _Part(test, inner, before), _Part([*heads, *new], inner, before)
    size, count, cut = len(variables), len(heads), len(variables) + len(condition.outside)
    limit = int(max_iterations)

    def run(arrays: list[Any]) -> list[Any]:
        def holds(*held: Any) -> Any:
            return condition([*held, *arrays[size:cut]])[0]

        def step(*held: Any) -> tuple[list[Any], list[Any]]:
            found = part([*held, *arrays[cut:]])
            return found[:count], found[count:]

        stacked, last = nd.contrib.while_loop(holds, step, arrays[:size], limit)
        return [*stacked, *last]

    inputs = [s._entries[0] for s in variables] + condition.outside + part.outside
    results = _node(_WHILE, name, inputs, run, count + size, any(s._traced for s in variables))
    return _regroup(results[:count], out_form), _regroup(results[count:], new_form)


def cond(pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any], name: str = 'cond') -> Any:
    """The result of one of two functions without arguments, by the truth of a one-element symbol."""
    before = _now()
    yes, form = _flatten(then_func(), 'the result of then_func')
    no, other = _flatten(else_func(), 'the result of else_func')
    if form != other:
        raise ValueError('then_func and else_func must give results of one structure')
    first, second = _Part(yes, [], before), _Part(no, [], before)
    cut = 1 + len(first.outside)

    def run(arrays: list[Any]) -> list[Any]:
        found = first(arrays[1:cut]) if bool(arrays[0]) else second(arrays[cut:])
        return [item + 0 if any(item is array for array in arrays) else item for item in found]

    inputs = [pred._entries[0], *first.outside, *second.outside]
    return _regroup(_node(_COND, name, inputs, run, len(yes), pred._traced), form)
