"""The first interface of autograd: sections that record and train at once, and gradients of functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import autograd
from ..ndarray import NDArray, zeros_like

__all__ = ['TrainingStateScope', 'backward', 'compute_gradient', 'grad', 'grad_and_loss', 'mark_variables',
           'set_is_training', 'test_section', 'train_section']

mark_variables = autograd.mark_variables


def set_is_training(is_train: bool) -> bool:
    """Switch recording and training mode together; the mode before."""
    before = autograd.set_training(is_train)
    autograd.set_recording(is_train)
    return before


class TrainingStateScope:
    """A block with both on or off.

    >>> with train_section():
    ...     autograd.is_recording(), autograd.is_training()
    (True, True)
    """

    def __init__(self, enter_state: bool) -> None:
        self._enter_state = enter_state
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(set_is_training(self._enter_state))

    def __exit__(self, *exc: Any) -> None:
        set_is_training(self._before.pop())


def train_section() -> TrainingStateScope:
    """A block whose operations are recorded, in training mode."""
    return TrainingStateScope(True)


def test_section() -> TrainingStateScope:
    """A block whose operations are not recorded, in the mode for predictions."""
    return TrainingStateScope(False)


def backward(outputs: Sequence[Any], out_grads: Any = None, retain_graph: bool = False) -> None:
    """Gradients of outputs into the arrays that were marked; AssertionError for anything but a list."""
    assert isinstance(outputs, list | tuple), 'outputs must be a list or tuple of NDArrays'
    autograd.backward(list(outputs), out_grads, retain_graph)


def compute_gradient(outputs: Sequence[Any]) -> None:
    """Gradients of outputs, each weighed with one."""
    backward(outputs)


def grad_and_loss(func: Callable[..., Any], argnum: Any = None) -> Callable[..., Any]:
    """A function that gives the gradients, for all arguments or those of the given numbers, and the result.

    >>> import refengine as mx
    >>> gradients, loss = grad_and_loss(lambda x: x * x)(mx.nd.array([3.0]))
    >>> gradients[0].asscalar(), loss.asscalar()
    (np.float32(6.0), np.float32(9.0))
    """
    @functools.wraps(func)
    def wrapped(*args: Any) -> tuple[list[Any], Any]:
        chosen = range(len(args)) if argnum is None else [argnum] if isinstance(argnum, int) else argnum
        variables = [args[number] for number in chosen]
        for variable in variables:
            assert isinstance(variable, NDArray), 'type of autograd input should NDArray.'
        gradients = [zeros_like(variable) for variable in variables]
        mark_variables(variables, gradients)
        with train_section():
            outputs = func(*args)
        backward([outputs] if isinstance(outputs, NDArray) else outputs)
        return gradients, outputs

    return wrapped


def grad(func: Callable[..., Any], argnum: Any = None) -> Callable[..., Any]:
    """A function that gives the gradients alone.

    >>> import refengine as mx
    >>> grad(lambda x, y: x * y, argnum=0)(mx.nd.array([3.0]), mx.nd.array([5.0]))[0].asscalar()
    np.float32(5.0)
    """
    with_loss = grad_and_loss(func, argnum)

    @functools.wraps(with_loss)
    def wrapped(*args: Any) -> Any:
        return with_loss(*args)[0]

    return wrapped
