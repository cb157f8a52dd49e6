"""Operators that are methods of NDArray as well; a method has the same result as the function (rule ND-REDUCE-009)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..op import registry
from . import functions

METHODS = (
    'abs', 'arccos', 'arccosh', 'arcsin', 'arcsinh', 'arctan', 'arctanh', 'argmax', 'argmax_channel', 'argmin',
    'argsort', 'broadcast_axes', 'cbrt', 'ceil', 'clip', 'cos', 'cosh', 'degrees', 'depth_to_space', 'exp',
    'expm1', 'fix', 'flip', 'floor', 'log', 'log10', 'log1p', 'log2', 'log_softmax', 'max', 'mean', 'min', 'nanprod',
    'nansum', 'norm', 'one_hot', 'ones_like', 'pad', 'pick', 'prod', 'radians', 'rcbrt', 'reciprocal', 'relu', 'repeat',
    'reshape_like', 'rint', 'round', 'rsqrt', 'shape_array', 'sigmoid', 'sign', 'sin', 'sinh', 'size_array', 'slice',
    'slice_axis', 'slice_like', 'softmax', 'softmin', 'sort', 'space_to_depth', 'split', 'sqrt', 'square', 'sum',
    'swapaxes', 'take', 'tan', 'tanh', 'tile', 'topk', 'transpose', 'trunc', 'zeros_like',
)


def _method(name: str) -> Callable[..., Any]:
    function: Any = None

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal function
        if function is None:
            function = functions.make(registry[name], name)
        return function(self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f'The same as ``nd.{name}`` with this array first.'
    return method


def _transpose(self: Any, *axes: Any, **kwargs: Any) -> Any:
    """The array with permuted axes, as a copy; without axes they are reversed."""
    from .. import dispatch
    if len(axes) == 1 and isinstance(axes[0], (list, tuple)):
        axes = tuple(axes[0])
    elif len(axes) == 1 and axes[0] is None:
        axes = ()
    if axes:
        kwargs['axes'] = axes
    elif 'axes' in kwargs and kwargs['axes'] is None:
        kwargs.pop('axes')
    return dispatch.invoke(registry['transpose'], (self,), kwargs)


def _diag(self: Any, k: int = 0, **kwargs: Any) -> Any:
    """The k-th diagonal, or a matrix with the vector on its k-th diagonal."""
    from .. import dispatch
    return dispatch.invoke(registry['diag'], (self,), {'k': k, **kwargs})


def _split_v2(self: Any, *args: Any, **kwargs: Any) -> Any:
    """The same as ``nd.split_v2`` with this array first."""
    from . import extra
    return extra.split_v2(self, *args, **kwargs)


def install(cls: type) -> None:
    """Give a class of arrays the methods; what it defines itself stays."""
    for name in METHODS:
        if name not in vars(cls):
            setattr(cls, name, _method(name))
    cls.transpose = _transpose        # type: ignore[attr-defined]
    cls.diag = _diag                  # type: ignore[attr-defined]
    cls.split_v2 = _split_v2          # type: ignore[attr-defined]
