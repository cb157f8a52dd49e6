"""Loops and branches inside graphs: ``mx.sym.contrib.foreach``, ``while_loop`` and ``cond`` (rule GRAPH-STATIC-005).

The body of a loop becomes a graph of its own. What it uses of the graph around it, parameters too, becomes inputs of
the one node that stands for the loop. The node runs its graphs call by call, as often as the data ask for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from .. import attribute
from ..base import MXNetError
from ..graph.node import Entry, Node, topological
from ..name import current as names
from ..ndarray.control_flow import below, iterations, pair, refuse, require_function, shown
from ..op import registry
from .compose import var
from .loops import Subgraph, make_node
from .symbol import Symbol

# ---- nested lists of symbols -----------------------------------------------------------------------------------

def _flatten(loop: str, what: str, value: Any) -> tuple[list[Symbol], Any]:
    if isinstance(value, Symbol):
        if value.num_outputs == 1:
            return [value], 0
        return [Symbol([entry], value._traced) for entry in value._entries], value.num_outputs
    if not isinstance(value, list | tuple):
        raise refuse(loop, what, 'Symbol', value)
    flat: list[Symbol] = []
    forms = []
    for item in value:
        found, form = _flatten(loop, what, item)
        flat += found
        forms.append(form)
    return flat, tuple(forms)


def _take(rest: list[Any], form: Any) -> Any:
    if form == 0 and not isinstance(form, tuple):
        return rest.pop(0)
    if isinstance(form, int):
        return [rest.pop(0) for _ in range(form)]
    return [_take(rest, part) for part in form]


def _told(form: Any) -> str:
    """A form for a message."""
    if isinstance(form, tuple):
        return f'[{", ".join(_told(part) for part in form)}]'
    return f'a group of {form}' if form else 'Symbol'


def _regroup(flat: Sequence[Any], form: Any) -> Any:
    return _take(list(flat), form)


# ---- a part of a graph as a graph of its own -------------------------------------------------------------------

SCOPE = '__subgraph_name__'
_scopes: Counter[str] = Counter()


def _scope(word: str) -> attribute.AttrScope:
    """The scope of a body: its nodes say which loop they belong to, as in the files of the releases."""
    outer = attribute.current().get(None).get(SCOPE)
    word = f'{outer}${word}' if outer else word
    _scopes[word] += 1
    return attribute.AttrScope(**{SCOPE: f'{word}{_scopes[word] - 1}'})


def _stand_ins(symbols: Sequence[Symbol]) -> list[Symbol]:
    """Variables in the place of the values of a loop, under the names that the releases give them."""
    made: list[Symbol] = []
    used: Counter[str] = Counter()
    for symbol in symbols:
        source, index = symbol._entries[0]
        name = f'{source.name}-{index}'
        used[name] += 1
        variable = var(name if used[name] == 1 else f'{name}-{used[name] - 1}')
        variable._traced = symbol._traced
        made.append(variable)
    return made


def _now() -> int:
    """A number between the nodes that are there and those that will be made."""
    return Node(None, 'mark').sequence


def _results(symbols: Sequence[Symbol], before: int) -> list[Entry]:
    """Results of a body. What the body did not compute is copied, and a second result of one call.

    The releases want it so: a graph that computes nothing has no outputs.
    """
    found: list[Entry] = []
    for symbol in symbols:
        entry = symbol._entries[0]
        node = entry[0]
        if node.op is None or node.sequence < before or any(node is other for other, _ in found):
            entry = (Node(registry['_copy'], names().get(None, 'identity'), attribute.current().get(None), [entry]), 0)
        found.append(entry)
    return found


class _Part:
    """The graph that a body made. ``feeds`` are the entries outside behind its variables; None for its own.

    Calls that were there before the body ran stay outside: they are computed once.
    """

    def __init__(self, heads: Sequence[Entry], own: Sequence[Symbol], before: int) -> None:
        inside = {id(symbol._entries[0][0]) for symbol in own}
        made: dict[int, Node] = {}
        variables: dict[Entry, Node] = {}
        outside: dict[int, Entry] = {}
        scope = attribute.current().get(None)[SCOPE]

        def entry(old: Entry) -> Entry:
            node, index = old
            if id(node) in inside:
                return node, index
            if node.op is None or node.sequence < before:
                if old not in variables:
                    name = node.name if node.op is None else node.output_names()[index]
                    plain = node.op is not None or node.attrs.get(SCOPE, scope) != scope
                    variables[old] = Node(None, name, {} if plain else dict(node.attrs))
                    outside[id(variables[old])] = old
                return variables[old], 0
            return made[id(node)], index

        needed: list[Node] = []
        for node in topological(heads):
            if node.op is not None and node.sequence >= before:
                needed.append(node)
        for node in sorted(needed, key=lambda n: n.sequence):
            made[id(node)] = node.clone([entry(e) for e in node.inputs])
        self.graph = Subgraph([entry(head) for head in heads])
        self.feeds = [outside.get(id(node)) for node in self.graph.inputs]
        self.places = {id(node): place for place, node in enumerate(self.graph.inputs)}

    def place(self, symbol: Symbol) -> int | None:
        """Which of its variables a stand-in is, None when nothing reads it."""
        return self.places.get(id(symbol._entries[0][0]))


def _add_node(kind: str, attrs: dict[str, Any], inputs: Sequence[Entry], graphs: Sequence[Subgraph],
              traced: bool) -> list[Symbol]:
    outer = attribute.current().get(None)
    texts = {key: str(value) for key, value in attrs.items()}
    node = make_node(kind, names().get(None, kind), {**outer, **texts, 'num_args': str(len(inputs) + len(graphs))},
                     inputs, graphs)
    return [Symbol([(node, i)], traced) for i in range(node.visible)]


def foreach(body: Callable[..., Any], data: Any, init_states: Any, name: str = 'foreach') -> tuple[Any, Any]:
    """``body(slice, states)`` for every entry of the first axis; stacked outputs and the last states.

    AssertionError for data, states or outputs that are no symbols, when the body gives states in another form than it
    got them, and when it does not use the data or a state: the format of files has no place for that.

    >>> import refengine as mx
    >>> x, s = mx.sym.var('x'), mx.sym.var('s')
    >>> outs, last = foreach(lambda item, state: (item + state, item + state), x, s)
    >>> found = mx.sym.Group([outs, last]).eval(x=mx.nd.array([[1.], [2.], [3.]]), s=mx.nd.zeros(1))
    >>> found[0].asnumpy().ravel().tolist(), found[1].asnumpy().tolist()
    ([1.0, 3.0, 6.0], [6.0])
    """
    require_function('foreach', 'body', body)
    flat, data_form = _flatten('foreach', 'input', data)
    states, state_form = _flatten('foreach', 'states', init_states)
    if not flat:
        raise ValueError('foreach: data must have at least one Symbol to go through, got none')
    before = _now()
    with _scope(name):
        slices, held = _stand_ins(flat), _stand_ins(states)
        outputs, after = pair('foreach', 'body', body(_regroup(slices, data_form), _regroup(held, state_form)))
        heads, out_form = _flatten('foreach', 'output', outputs)
        new_states, new_form = _flatten('foreach', 'loop_vars', after)
        if new_form != state_form:
            raise AssertionError(f'foreach: The input and output loop_vars have different format: body gave '
                                 f'{_told(new_form)}, expected {_told(state_form)} as it was given')
        part = _Part(_results([*heads, *new_states], before), [*slices, *held], before)
    places = [[part.place(symbol) for symbol in own] for own in (slices, held)]
    for what, found in zip(('data', 'state'), places, strict=True):
        if None in found:
            raise AssertionError(f'foreach: the {what} arrays have to be used in the loop body, {what} '
                                 f'{found.index(None)} is not')
    rest = [place for place, feed in enumerate(part.feeds) if feed is not None]
    inputs = [s._entries[0] for s in (*flat, *states)] + [feed for feed in part.feeds if feed is not None]
    results = _add_node('_foreach', {'num_outputs': len(heads) + len(states), 'num_out_data': len(heads),
                                     'in_data_locs': places[0], 'in_state_locs': places[1], 'remain_locs': rest},
                        inputs, [part.graph], any(s._traced for s in (*flat, *states)))
    return _regroup(results[:len(heads)], out_form), _regroup(results[len(heads):], new_form)


def while_loop(cond: Callable[..., Any], func: Callable[..., Any], loop_vars: Any, max_iterations: int | None = None,
               name: str = 'while_loop') -> tuple[Any, Any]:
    """``func(*loop_vars)`` while ``cond(*loop_vars)`` holds, at most max_iterations times.

    Outputs are stacked and padded with zeros to max_iterations. ValueError without the number of steps or variables,
    and for a variable that func does not use.
    """
    require_function('while_loop', 'cond', cond)
    require_function('while_loop', 'func', func)
    limit = iterations(max_iterations)
    variables, form = _flatten('while', 'loop_vars', loop_vars)
    if not variables:
        raise ValueError('while_loop: loop_vars should contain at least one element, got none')
    if limit < 1:
        raise below(limit, 1)
    before = _now()
    with _scope(f'{name}_cond'):
        tested = _stand_ins(variables)
        test = cond(*_arguments(tested, form))
        if not isinstance(test, Symbol) or test.num_outputs != 1:
            raise ValueError(f'while_loop: Return of cond must be a Symbol with one output, got {shown(test)}')
        condition = _Part(_results([test], before), tested, before)
    with _scope(f'{name}_func'):
        inner = _stand_ins(variables)
        outputs, after = pair('while_loop', 'func', func(*_arguments(inner, form)))
        heads, out_form = _flatten('while', 'output', [] if outputs is None else outputs)
        new, _ = _flatten('while', 'loop_vars', [] if after is None else after)
        if len(new) != len(variables):
            raise ValueError(f'while_loop: func gave {len(new)} loop variables, expected {len(variables)}: The number '
                             f'of loop_vars should be consistent during the loop')
        part = _Part(_results([*heads, *new], before), inner, before)
    at = [part.place(symbol) for symbol in inner]
    if None in at:
        raise ValueError(f"while_loop: The {at.index(None)}-th loop_var doesn't involve into the computation of func")
    inputs: list[Entry] = []
    of_variable: dict[int, int] = {}
    where = []
    for piece, own in ((condition, tested), (part, inner)):
        number_of = {piece.place(symbol): number for number, symbol in enumerate(own)}
        found = []
        for place, feed in enumerate(piece.feeds):
            number = number_of[place] if feed is None else None
            if number is None or number not in of_variable:
                if number is not None:
                    of_variable[number] = len(inputs)
                inputs.append(feed if feed is not None else variables[number_of[place]]._entries[0])
                found.append(len(inputs) - 1)
            else:
                found.append(of_variable[number])
        where.append(found)
    results = _add_node('_while_loop', {'num_outputs': len(heads) + len(new), 'num_out_data': len(heads),
                                        'max_iterations': limit, 'cond_input_locs': where[0],
                                        'func_input_locs': where[1], 'func_var_locs': at},
                        inputs, [condition.graph, part.graph], any(s._traced for s in variables))
    return _regroup(results[:len(heads)], out_form), _regroup(results[len(heads):], form)


def _arguments(symbols: Sequence[Symbol], form: Any) -> list[Any]:
    grouped = _regroup(symbols, form)
    return grouped if isinstance(grouped, list) else [grouped]


def cond(pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any], name: str = 'cond') -> Any:
    """The result of one of two functions without arguments, by the truth of a one-element symbol.

    AssertionError for a ``pred`` or results that are no symbols, MXNetError for a group as pred, ValueError when the
    two have results of different number or form.
    """
    if not isinstance(pred, Symbol):
        raise refuse('cond', 'pred', 'Symbol', pred)
    if pred.num_outputs != 1:
        raise MXNetError(f'cond: pred must be one Symbol, got a group of {pred.num_outputs}: single value is required')
    before = _now()
    with _scope(f'{name}_pred'):
        parts = [_Part(_results([pred], before), [], before)]
    forms, counts = [], []
    for word, function in (('then', then_func), ('else', else_func)):
        require_function('cond', f'{word}_func', function)
        with _scope(f'{name}_{word}'):
            found, form = _flatten('cond', f'outputs of {word}_func', function())
            parts.append(_Part(_results(found, before), [], before))
        forms.append(form)
        counts.append(len(found))
    if counts[0] != counts[1]:
        raise ValueError(f'cond: Number of outputs differs between then-branch and else-branch: {counts[0]} and '
                         f'{counts[1]}')
    if forms[0] != forms[1]:
        raise ValueError(f'cond: then_func and else_func must give results of one structure, got {_told(forms[0])} and '
                         f'{_told(forms[1])}')
    if not counts[0]:
        raise TypeError('cond: then_func and else_func must give at least one Symbol, got none')
    inputs: list[Entry] = []
    places: dict[Entry, int] = {}
    where = []
    for part in parts:
        for feed in part.feeds:
            assert feed is not None
            if feed not in places:
                places[feed] = len(inputs)
                inputs.append(feed)
        where.append([places[feed] for feed in part.feeds if feed is not None])
    if not inputs:
        raise MXNetError(f'{name}: a branch needs inputs')
    return _regroup(_add_node('_cond', {'num_outputs': counts[0], 'cond_input_locs': where[0],
                                        'then_input_locs': where[1], 'else_input_locs': where[2]},
                              inputs, [part.graph for part in parts], pred._traced), forms[0])
