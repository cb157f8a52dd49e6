"""Programs: a graph as a list of steps over numbered slots, in an order in which they can run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..op import Operator
from .node import Entry, Node, topological

float32 = np.dtype('float32')

_VOLATILE = frozenset({'Custom', '_contrib_boolean_mask', '_foreach', '_while_loop', '_cond'})


class Step:
    """One call: an operator, its parameters, the slots that it reads and those that it writes."""

    __slots__ = ('forward', 'inputs', 'name', 'op', 'outputs', 'params')

    def __init__(self, op: Any, name: str, params: dict[str, Any], inputs: Sequence[int | None],
                 outputs: Sequence[int]) -> None:
        self.op = op
        self.name = name
        self.params = params
        self.inputs = tuple(inputs)      # None where the caller gave no array for an optional input
        self.outputs = tuple(outputs)

    def __repr__(self) -> str:
        return f'<Step {self.name}: {self.op.name} {self.inputs} -> {self.outputs}>'


class Program:
    """A graph ready to run: ``inputs`` are the slots of the variables, ``heads`` those of the results.

    ``constants`` are arrays that belong to the program itself.
    """

    def __init__(self, names: Sequence[str], slots: int, inputs: Sequence[int], steps: Sequence[Step],
                 heads: Sequence[int], constants: dict[int, Any] | None = None) -> None:
        self.names = list(names)
        self.slots = slots
        self.inputs = tuple(inputs)
        self.steps = list(steps)
        self.heads = tuple(heads)
        self.constants = constants or {}
        self.nodes: list[Node] = []         # of the steps, when the program comes from a graph
        self.variables: list[Node] = []

    def with_steps(self, steps: Sequence[Step]) -> Program:
        """A program with the same slots, inputs and heads that takes other steps to the results."""
        return Program(self.names, self.slots, self.inputs, steps, self.heads, self.constants)

    @property
    def open(self) -> bool:
        """Whether some source has dimensions that follow from the shapes of the inputs."""
        return any(getattr(s.op, 'source', False) and not all(n > 0 for n in s.params.get('shape') or (1,))
                   for s in self.steps)

    def closed(self, shapes: Sequence[Any], dtypes: Sequence[Any]) -> Program:
        """The program for inputs of these shapes and dtypes, with every dimension known."""
        from .inference import infer_shapes
        from .types import infer_types
        every = [*self.variables, *self.nodes]
        kinds = infer_types(every, {n.name: d for n, d in zip(self.variables, dtypes, strict=True)})
        filled = {key: [k or float32 for k in values] for key, values in kinds.items()}
        known = infer_shapes(every, {n.name: s for n, s in zip(self.variables, shapes, strict=True)}, filled)
        steps = []
        for step, node in zip(self.steps, self.nodes, strict=True):
            shape = step.params.get('shape')
            if getattr(step.op, 'source', False) and shape is not None and 0 in shape:
                step = Step(step.op, step.name, {**step.params, 'shape': known.shape((node, 0))}, step.inputs,
                            step.outputs)
            steps.append(step)
        return Program(self.names, self.slots, self.inputs, steps, self.heads, self.constants)

    @property
    def volatile(self) -> bool:
        """Whether shapes or calls depend on data, so that no run tells about the next."""
        return any(step.op.name in _VOLATILE or getattr(step.op, 'backward', None) is not None for step in self.steps)

    def written(self) -> set[int]:
        """The slots of variables that some step writes into."""
        found = set()
        for step in self.steps:
            for position in getattr(step.op, 'mutates', ()):
                if position < len(step.inputs) and step.inputs[position] is not None:
                    found.add(step.inputs[position])
        return found  # type: ignore[return-value]

    def last_reads(self) -> dict[int, int]:
        """For each slot the number of the last step that reads it."""
        last: dict[int, int] = {}
        for number, step in enumerate(self.steps):
            for slot in step.inputs:
                if slot is not None:
                    last[slot] = number
        return last


def build(heads: Sequence[Entry], variables: Sequence[Node] | None = None) -> Program:
    """The program of a graph; nodes that no head needs are not part of it.

    ``variables`` fixes the order of the inputs; without it they come depth first. Steps run in the order in which
    their nodes were made, as they would have run one by one, so that sums and random draws are the same.
    """
    nodes = topological(heads)
    if variables is None:
        variables = [node for node in nodes if node.op is None]
    slot: dict[Entry, int] = {}
    count = 0
    for node in variables:
        slot[(node, 0)] = count
        count += 1
    steps = []
    calls = sorted((node for node in nodes if node.op is not None), key=lambda n: n.sequence)
    for node in calls:
        outputs = range(count, count + node.total)
        count += node.total
        for index, number in enumerate(outputs):
            slot[(node, index)] = number
        assert node.op is not None
        steps.append(Step(node.op, node.name, node.params, [slot[entry] for entry in node.inputs], outputs))
    program = Program([node.name for node in variables], count, range(len(variables)), steps,
                      [slot[entry] for entry in heads])
    program.nodes, program.variables = calls, list(variables)
    return program


def injected(op: Operator, params: dict[str, Any], is_train: bool, ctx: Any,
             rng: Callable[[], Any]) -> dict[str, Any]:
    """The parameters of a call with what the engine adds to them."""
    extra = op.injected
    if not extra or extra == {'out'}:
        return params
    call = dict(params)
    if 'is_train' in extra:
        call['is_train'] = is_train
    if 'rng' in extra:
        call['rng'] = rng()
    if 'ctx' in extra:
        call['ctx'] = ctx
    return call
