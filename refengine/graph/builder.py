"""Adding steps to a program by calling operators: the name space ``F`` in which gradients are put into a graph.

A value knows its shape and dtype, which gradients look at. With data the operators compute while they are put down, so
that the first run and the building are one; without data shapes are inferred.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from .. import device
from ..base import LateError, MXNetError
from ..context import Context
from ..op import registry
from . import inference, primitives
from .primitives import Primitive
from .program import Step


class Value:
    """The content of a slot while a program is built."""

    __slots__ = ('builder', 'data', 'dtype', 'shape', 'slot')
    __array_ufunc__ = None

    def __init__(self, builder: Builder, slot: int, shape: tuple[int, ...], dtype: Any, data: Any = None) -> None:
        self.builder = builder
        self.slot = slot
        self.shape = shape
        self.dtype = dtype
        self.data = data

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for n in self.shape:
            size *= n
        return size

    def reshape(self, *shape: Any) -> Any:
        """The value in another shape."""
        return self.builder.reshape(self, shape=shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape)

    def __bool__(self) -> bool:
        raise MXNetError('a gradient must not branch on data: it is put into a graph')


class Builder:
    """Collects steps; its attributes are the registered operators as functions of values.

    ``noted`` is called with every step, the arrays it took and the values it made. The builder keeps no values then:
    their data goes when whoever builds lets go of it, and a first run takes no more memory than it needs.
    """

    def __init__(self, slots: int, xp: Any = np, ctx: Any = None, concrete: bool = True,
                 noted: Callable[[Step, list[Any], list[Value]], None] | None = None) -> None:
        self._slots = slots
        self._xp = xp
        self._ctx = ctx or Context('cpu', 0)
        self.concrete = concrete
        self._steps: list[Step] = []
        self._noted = noted
        self.made: list[Value] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op = registry.get(name)
        if op is None:
            raise AttributeError(f'no operator named {name!r}')

        def function(*args: Any, **params: Any) -> Any:
            return self.emit(op, args, params)

        setattr(self, name, function)
        return function

    def value(self, slot: int, shape: tuple[int, ...], dtype: Any, data: Any = None) -> Value:
        """A value for a slot that something else fills."""
        return Value(self, slot, shape, np.dtype(dtype), data)

    def new_input(self, shape: tuple[int, ...], dtype: Any, data: Any = None) -> Value:
        """A value that every run gets from outside."""
        slot = self._slots
        self._slots += 1
        return self.value(slot, shape, dtype, data)

    def emit(self, op: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Add a step and give its results: one value, or a tuple of them."""
        inputs: list[Any] = list(args)
        while inputs and inputs[-1] is None:
            inputs.pop()
        for item in inputs:
            if item is not None and not isinstance(item, Value):
                raise MXNetError(f'{op.name} in a graph takes values of the graph, not {type(item).__name__}')
        if getattr(op, 'source', False):
            params = {**params, 'ctx': self._ctx}
        if self.concrete:
            found, single = self._compute(op, inputs, params)
        else:
            found, single = self._describe(op, inputs, params)
        values = []
        for shape, dtype, data in found:
            values.append(Value(self, self._slots, shape, dtype, data))
            self._slots += 1
        step = Step(op, op.name, params, [None if i is None else i.slot for i in inputs], [v.slot for v in values])
        self._steps.append(step)
        if self._noted is None:
            self.made += values
        else:
            self._noted(step, [None if i is None else i.data for i in inputs], values)
        return values[0] if single else tuple(values)

    def _compute(self, op: Any, inputs: list[Any], params: dict[str, Any]) -> tuple[list[Any], bool]:
        arrays = [None if i is None else i.data for i in inputs]
        token = device.error_state.set(device.ERRORS_IGNORED)
        try:
            result: Any = NotImplemented
            for kernel in op.kernels:
                result = kernel(self._xp, *arrays, **params)
                if result is not NotImplemented:
                    break
            if result is NotImplemented:
                result = op.forward(self._xp, *arrays, **params)
        except LateError as late:       # there is no array to mark yet: the program is not built
            raise late.error from None
        finally:
            device.error_state.reset(token)
        several = isinstance(result, tuple | list)
        # A result may share memory with an operand; nothing writes into either while the program is built.
        results = [r if isinstance(r, np.ndarray) or not isinstance(r, np.generic | float | int) else np.asarray(r)
                   for r in (result if several else (result,))]
        return [(r.shape, r.dtype, r) for r in results], not several

    def _describe(self, op: Any, inputs: list[Any], params: dict[str, Any]) -> tuple[list[Any], bool]:
        if isinstance(op, Primitive):
            arrays = [np.zeros((1,) * max(i.ndim, 1), i.dtype) for i in inputs]
            with np.errstate(all='ignore'):     # zeros tell the dtype, and nothing else
                dtype = op.forward(np, *arrays, **params).dtype
            return [(np.broadcast_shapes(*(i.shape for i in inputs)), dtype, None)], True
        extra = {key: value for key, value in params.items() if key not in op.params}
        full = {**op.parse({key: value for key, value in params.items() if key in op.params}), **extra}
        found = inference.outputs(op, full, [i.shape for i in inputs], [i.dtype for i in inputs])
        return [(shape, dtype, None) for shape, dtype in found], len(found) == 1 and op.num_outputs == 1


def _emit(primitive: Primitive, operands: Sequence[Value], params: dict[str, Any]) -> Value:
    return operands[0].builder.emit(primitive, operands, params)


primitives.install(Value, _emit)


def walk_back(F: Any, steps: Sequence[Step], values: Callable[[int], Any], grads: dict[int, Any],
              in_graph: set[int], add: Callable[[Any, Any], Any], zeros_like: Callable[[Any], Any],
              special: Callable[..., Any] | None = None) -> dict[int, Any]:
    """Gradients of slots from those in ``grads``, by the operators' own rules in the name space ``F``.

    ``values`` gives the value of a slot, ``in_graph`` are the slots whose gradients matter. The steps are walked in
    reverse, so that sums are taken in the order of the tape.
    """
    for step in reversed(steps):
        ograds = [grads.pop(slot, None) for slot in step.outputs]
        op = step.op
        if all(g is None for g in ograds) or not any(slot in in_graph for slot in step.inputs if slot is not None):
            continue
        if op.backward is not None:
            assert special is not None
            result = special(step, ograds)
        elif op.grad is None:
            continue
        else:
            outputs = [values(slot) for slot in step.outputs]
            if len(outputs) > 1:
                for index in range(op.visible_count(step.params)):
                    if ograds[index] is None:
                        ograds[index] = zeros_like(outputs[index])
            result = op.grad(F, ograds, [values(slot) for slot in step.inputs], outputs, step.params)
        hand_on(step, result, grads, in_graph, add)
    return grads


def hand_on(step: Step, result: Sequence[Any], grads: dict[int, Any], in_graph: set[int],
            add: Callable[[Any, Any], Any]) -> None:
    """Add the gradients of a step's inputs to what their slots have got so far.

    A gradient may be a function of no arguments, which is called only when somebody needs its result.
    """
    for slot, gradient in zip(step.inputs, result, strict=False):
        if slot is None or slot not in in_graph or gradient is None:
            continue
        if gradient.__class__ is FunctionType:
            gradient = gradient()
            if gradient is None:
                continue
        grads[slot] = add(grads[slot], gradient) if slot in grads else gradient


def reachable(steps: Sequence[Step], wanted: Sequence[int]) -> set[int]:
    """The slots that depend on the wanted ones."""
    found = set(wanted)
    for step in steps:
        if any(slot in found for slot in step.inputs):
            found.update(step.outputs)
    return found
