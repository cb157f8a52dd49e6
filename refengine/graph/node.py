"""The nodes of a symbolic graph: variables and operator calls, and walks over them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from ..op import Operator

_sequence = itertools.count()

Entry = tuple['Node', int]
"""One output of a node."""

HIDDEN_KEYS = ('ctx_group', 'lr_mult', 'wd_mult', 'force_mirroring', 'mirror_stage', 'profiler_scope')
"""Attributes of nodes that are stored with underscores around them, and found under either name."""

_STATES = {'BatchNorm': (3, 4), '_contrib_BatchNormWithReLU': (3, 4), '_contrib_SyncBatchNorm': (3, 4)}
# The scale that fix_gamma writes is an argument all the same.


class Node:
    """A variable (``op`` is None) or a call of an operator on outputs of other nodes.

    ``attrs`` holds strings: the parameters of the operator as the caller gave them, and attributes that say nothing
    to the operator. ``sequence`` numbers nodes in the order in which they were made, which is an order of execution.
    """

    def __init__(self, op: Operator | None, name: str, attrs: dict[str, str] | None = None,
                 inputs: Sequence[Entry] = (), params: dict[str, Any] | None = None) -> None:
        self.op = op
        self.name = name
        self.attrs = attrs or {}
        self.inputs = list(inputs)
        self.sequence = next(_sequence)
        if params is not None:
            self.params = params

    def __repr__(self) -> str:
        return f'<Node {self.name} of {self.op.name if self.op else "null"}>'

    @cached_property
    def params(self) -> dict[str, Any]:
        """The typed parameters of the operator."""
        return {} if self.op is None else self.op.parse(operator_attrs(self.op, self.attrs))

    @cached_property
    def total(self) -> int:
        """How many outputs there are, hidden ones included."""
        return 1 if self.op is None else self.op.output_count(self.params)

    @cached_property
    def visible(self) -> int:
        """How many outputs the caller sees."""
        return 1 if self.op is None else self.op.visible_count(self.params)

    def states(self) -> tuple[int, ...]:
        """The positions of inputs that are auxiliary states: written by the operator, without gradient."""
        op = self.op
        if op is None:
            return ()
        if op.name == 'Custom':
            call = self.params['call']
            return tuple(range(len(call.arguments), call.count))
        return _STATES.get(op.name, op.mutates)

    def clone(self, inputs: Sequence[Entry]) -> Node:
        """A node like this one with other inputs."""
        return Node(self.op, self.name, dict(self.attrs), inputs, self.__dict__.get('params'))

    def output_names(self) -> list[str]:
        """The names of the visible outputs, as in the releases."""
        if self.op is None:
            return [self.name]
        named = output_words(self.op, self.params, self.visible)
        return [f'{self.name}_{word}' for word in named]


_WORDS = {'_contrib_MultiBoxTarget': ('loc_target', 'loc_mask', 'cls_target'),
          'RNN': ('output', 'state_output', 'statecell_output')}
_NUMBERED = frozenset({'sort', 'CTCLoss', '_contrib_box_nms', '_histogram', 'ROIPooling'})


def output_words(op: Operator, params: dict[str, Any], count: int) -> Sequence[str]:
    """What distinguishes the outputs of an operator: ``output``, or ``output0``, ``output1``, … for several."""
    if op.name in _WORDS:
        return _WORDS[op.name][:count]
    if op.name == 'Custom':
        return list(params['call'].outputs)
    if count == 1 and op.name not in _NUMBERED:
        return ('output',)
    return [f'output{i}' for i in range(count)]


def operator_attrs(op: Operator, attrs: dict[str, str]) -> dict[str, str]:
    """Those attributes of a node that are parameters of its operator."""
    if op.parameterless:
        return {}
    found = {key: value for key, value in attrs.items() if not (key.startswith('__') and key.endswith('__'))}
    if 'num_args' in found and op.variadic and 'num_args' not in op.params:
        del found['num_args']
    return found


def topological(heads: Iterable[Entry]) -> list[Node]:
    """All nodes that the heads need, inputs before their readers, depth first."""
    order: list[Node] = []
    seen: set[int] = set()
    for head, _ in heads:
        if id(head) in seen:
            continue
        seen.add(id(head))
        stack = [(head, iter(head.inputs))]
        while stack:
            node, rest = stack[-1]
            for child, _ in rest:
                if id(child) not in seen:
                    seen.add(id(child))
                    stack.append((child, iter(child.inputs)))
                    break
            else:
                order.append(node)
                stack.pop()
    return order


def state_nodes(nodes: Iterable[Node]) -> set[int]:
    """The identities of the variables that some operator uses as auxiliary state."""
    found = set()
    for node in nodes:
        if node.op is not None:
            for position in node.states():
                if position < len(node.inputs) and node.inputs[position][0].op is None:
                    found.add(id(node.inputs[position][0]))
    return found
