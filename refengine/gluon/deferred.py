"""Working out unknown shapes of parameters by following a forward pass with stand-ins for the parameters."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import autograd
from .. import ndarray as nd
from ..op import registry
from ..ops.shapes import completions
from .parameter import shape_pass as state
from .utils import shape_is_known


class _Settled(BaseException):
    """Everything that was asked for is known; no reason to compute on."""


class Pending:
    """Stands for a parameter of unknown shape; an operator that can tell the shape replaces it."""

    __array_priority__ = 2000.0  # arithmetic with an array is decided here

    def __init__(self, parameter: Any, tracker: Tracker) -> None:
        self._parameter = parameter
        self._tracker = tracker

    def _same(self, other: Any) -> tuple[Any, Any]:
        return self._tracker.complete('elemwise_add', (self, other), {})  # type: ignore[return-value]

    def __add__(self, other: Any) -> Any:
        a, b = self._same(other)
        return a + b

    def __sub__(self, other: Any) -> Any:
        a, b = self._same(other)
        return a - b

    def __mul__(self, other: Any) -> Any:
        a, b = self._same(other)
        return a * b

    def __truediv__(self, other: Any) -> Any:
        a, b = self._same(other)
        return a / b

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Any) -> Any:
        a, b = self._same(other)
        return b - a

    def __rtruediv__(self, other: Any) -> Any:
        a, b = self._same(other)
        return b / a


class Tracker:
    """The parameters of one block during the pass: which shapes are still open, and what stands for each."""

    def __init__(self, ctx: Any, stop: bool) -> None:
        self.ctx = ctx
        self.stop = stop
        self.open = 0
        self._known: dict[int, Any] = {}

    def stand_in(self, parameter: Any) -> Any:
        """Zeros of the shape of the parameter, or a Pending."""
        if shape_is_known(parameter.shape):
            return self._zeros(parameter)
        self.open += 1
        return Pending(parameter, self)

    def _zeros(self, parameter: Any) -> Any:
        found = self._known.get(id(parameter))
        if found is None:
            dtype = np.dtype(parameter.dtype or 'float32')
            found = self._known[id(parameter)] = nd.zeros(parameter.shape, dtype=dtype, ctx=self.ctx)
        return found

    def replace(self, value: Any) -> Any:
        """A Pending whose shape has become known, as zeros."""
        if isinstance(value, Pending) and shape_is_known(value._parameter.shape):
            return self._zeros(value._parameter)
        return value

    def complete(self, name: str, inputs: tuple[Any, ...], params: dict[str, Any]) -> tuple[Any, ...]:
        """The inputs of an operator without any Pending; ValueError where the operator cannot tell the shape."""
        inputs = tuple(map(self.replace, inputs))
        pending = [value for value in inputs if isinstance(value, Pending)]
        if not pending:
            return inputs
        rule = completions.get(name)
        if rule is not None:
            shapes = [value._parameter.shape if isinstance(value, Pending) else getattr(value, 'shape', None)
                      for value in inputs]
            completed = rule(shapes, params)
            for value, shape in zip(inputs, completed, strict=False):
                if isinstance(value, Pending) and shape is not None:
                    value._parameter.shape = shape
        for value in pending:
            if not shape_is_known(value._parameter.shape):
                raise ValueError('Cannot decide shape for the following arguments (0s in shape means unknown '
                                 f'dimensions). Consider providing them as input:\n\t{value._parameter.name}: '
                                 f'{value._parameter.shape} (operator {name})')
            self.open -= 1
        if self.stop and self.open <= 0:
            raise _Settled
        return tuple(map(self.replace, inputs))


class Namespace:
    """``mx.nd`` whose operators settle the shapes of pending parameters before they compute."""

    def __init__(self, module: Any, tracker: Tracker, prefix: str = '') -> None:
        self.__name__ = module.__name__
        self._module = module
        self._tracker = tracker
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if isinstance(value, types.ModuleType):
            return Namespace(value, self._tracker, f'_{name}_')
        if not callable(value) or isinstance(value, type):
            return value
        op = registry.get(self._prefix + name) or registry.get(name)
        if op is None:
            return value
        tracker = self._tracker

        def call(*args: Any, **kwargs: Any) -> Any:
            names = op.inputs
            arrays = [kwargs.pop(key) for key in names[len(args):] if key in kwargs]
            arrays = tracker.complete(op.name, (*args, *arrays), op.parse(
                {key: kwargs[key] for key in kwargs if key in op.params}))
            return value(*arrays, **kwargs)

        return call


def _run(block: Any, ctx: Any, x: Any, args: tuple[Any, ...], *, stop: bool) -> Any:
    tracker = Tracker(ctx, stop)
    params = {name: tracker.stand_in(parameter) for name, parameter in block._reg_params.items()}
    return block.hybrid_forward(Namespace(nd, tracker), x, *args, **params)


def _quietly(function: Callable[[], Any]) -> Any:
    # No recording, no dropout, no statistics: only shapes matter.
    with autograd.pause(train_mode=False):
        return function()


def settle(block: Any, args: tuple[Any, ...]) -> None:
    """Fix the shapes of the parameters of the block itself; its children are called as usual on the way."""
    from .hybrid_block import first_array
    first = first_array(args)
    assert first is not None, 'settle needs an array'

    def run() -> None:
        try:
            _run(block, first.context, args[0], tuple(args[1:]), stop=True)
        except _Settled:
            return
        for parameter in block._reg_params.values():
            if parameter._deferred_init and not shape_is_known(parameter.shape):
                raise ValueError(f"no operator of the forward pass tells the shape of Parameter '{parameter.name}': "
                                 f'{parameter.shape}')

    _quietly(run)


def infer(block: Any, args: tuple[Any, ...]) -> None:
    """Fix the shapes of all parameters below a block, initialised or not, by a pass that computes on stand-ins only."""
    before = state.active
    state.active = True
    try:
        _quietly(lambda: block(*args))
    finally:
        state.active = before


def forward(block: Any, first: Any, x: Any, args: tuple[Any, ...]) -> Any:
    """What a HybridBlock does inside ``infer``: compute with stand-ins for its parameters."""
    return _run(block, first.context, x, args, stop=False)
