"""Reading a graph off the tape: the recorded calls behind results as nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import tape
from ..op import Operator, registry
from .node import Entry, Node

_NOTHING = object()


class NotAnOperator(Exception):
    """A recorded call is code of the program, which a graph cannot hold."""


def call_of(behind: Any) -> Any:
    """The call or the leaf behind an entry of the tape."""
    return behind.node if behind.__class__ is tape.Output else behind


class TapeReader:
    """Makes graph nodes of recorded calls.

    ``leaf(entry, raw array)`` gives the variable for something that no call made: a variable of the tape, or an array
    from outside, for which the entry is None. ``named(record)`` gives the name of a call.
    """

    def __init__(self, leaf: Callable[[Any, Any], Node], named: Callable[[Operator], str]) -> None:
        self._leaf = leaf
        self._named = named
        self._made: dict[int, Entry] = {}
        self._alive: list[Any] = []     # so that identities stay what they are

    def entry(self, behind: Any, data: Any) -> Entry:
        """The graph entry for an entry of the tape and its raw array."""
        if behind is None or isinstance(behind, tape.Leaf):
            return self._leaf(behind, data), 0
        self._walk(behind)
        return self._known(behind)

    def _known(self, behind: Any) -> Entry:
        node, index = self._made[id(call_of(behind))]
        return (node, behind.index) if behind.__class__ is tape.Output else (node, index)

    def _walk(self, start: Any) -> None:
        order: list[Any] = []
        seen: set[int] = set()
        stack = [call_of(start)]
        while stack:
            call = stack.pop()
            if id(call) in seen or isinstance(call, tape.Leaf) or id(call) in self._made:
                continue
            seen.add(id(call))
            order.append(call)
            stack += [call_of(parent) for parent in call.parents if parent is not None]
        for call in sorted(order, key=lambda c: c.sequence):
            self._node(call)

    def _node(self, call: Any) -> None:
        op = call.op
        if not isinstance(op, Operator):
            raise NotAnOperator(getattr(op, 'name', str(op)))
        self._alive.append(call)
        inputs = [self._leaf(parent, data) if parent is None or isinstance(parent, tape.Leaf) else self._known(parent)
                  for parent, data in zip(call.parents, call.inputs, strict=True)]
        entries = [item if isinstance(item, tuple) else (item, 0) for item in inputs]
        params = {k: v for k, v in call.params.items() if k not in ('is_train', 'rng', 'ctx', 'out')}
        if op.name == '_basic_index':
            self._made[id(call)] = self._part(entries[0], params['key'], call.inputs[0].ndim)
            return
        self._made[id(call)] = (self._new(op, entries, params), 0)

    def _new(self, op: Operator, inputs: Sequence[Entry], params: dict[str, Any]) -> Node:
        attrs = {key: str(value) for key, value in params.items() if value != op.defaults.get(key, _NOTHING)}
        if op.variadic:
            attrs['num_args'] = str(len(inputs))
        for key, value in op.defaults.items():
            params.setdefault(key, value)
        return Node(op, self._named(op), attrs, inputs, params)

    def _part(self, source: Entry, key: Any, ndim: int) -> Entry:
        """Basic indexing as operators that hold for other lengths of the axes too, and that files can name."""
        parts = list(key) if isinstance(key, tuple) else [key]
        given = sum(part is not None and part is not Ellipsis for part in parts)
        full: list[Any] = []
        for part in parts:
            full += [slice(None)] * (ndim - given) if part is Ellipsis else [part]
        full += [slice(None)] * (ndim - sum(part is not None for part in full))
        taken = [part for part in full if part is not None]
        begin, end, step = [], [], []
        for part in taken:
            one = not isinstance(part, slice)
            begin.append(int(part) if one else part.start)
            end.append((int(part) + 1 or None) if one else part.stop)
            step.append(None if one else part.step)
        entry = source
        if any(part != slice(None) for part in taken if isinstance(part, slice)) or any(
                not isinstance(part, slice) for part in taken):
            params: dict[str, Any] = {'begin': tuple(begin), 'end': tuple(end)}
            if any(n is not None for n in step):
                params['step'] = tuple(step)
            entry = (self._new(registry['slice'], [entry], params), 0)
        single = tuple(i for i, part in enumerate(taken) if not isinstance(part, slice))
        if single and len(full) - len(single) > 0:
            entry = (self._new(registry['squeeze'], [entry], {'axis': single}), 0)
            full = [part for part in full if part is None or isinstance(part, slice)]
        for position, part in enumerate(full):
            if part is None:
                entry = (self._new(registry['expand_dims'], [entry], {'axis': position}), 0)
        return entry
