"""The functions of the independent evaluation that only move elements, or repeat and join them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.oracle.plain_array import FUNCTIONS, Array, NoOpinion, Plain, Refused


def reshape(x: Plain, shape: Any = None, **options: Any) -> Plain:
    """Only plain shapes: the codes of reshape are rules of their own."""
    if options or not isinstance(shape, tuple) or not shape or not all(type(n) is int and n >= -1 and n for n in shape):
        raise NoOpinion("codes of reshape")
    try:
        return Plain(x.data.reshape(shape), x.dtype)
    except ValueError:
        raise NoOpinion("another number of elements") from None


def _moved(body: Callable[..., Array]) -> Callable[..., Plain]:
    """A function that only moves elements; numpy's refusal is one."""
    def function(x: Any, *args: Any, **options: Any) -> Plain:
        if not isinstance(x, Plain) or not x.size or not all(map(_plain_argument, (*args, *options.values()))):
            raise NoOpinion("such an argument")
        try:
            found = Plain(body(x.data, *args, **options), x.dtype).at_least_one()
            if not found.size:
                raise NoOpinion("nothing is left")
            return found
        except (ValueError, IndexError):
            raise Refused("numpy refuses it, too") from None
        except TypeError:
            raise NoOpinion("such arguments") from None

    return function


def _plain_argument(value: Any) -> bool:
    """A number or None, or a tuple of such: whether other forms are numbers is a rule of its own."""
    return value is None or type(value) in (int, float) or (
        isinstance(value, tuple) and all(map(_plain_argument, value)))


def _slice_axis(x: Array, axis: int, begin: int, end: int | None) -> Array:
    length = x.shape[axis]
    last = length if end is None else end + length if end < 0 else end
    first = begin + length if begin < 0 else begin
    if not 0 <= first < last <= length:
        raise NoOpinion("an empty slice, or one that is out of range")
    return x.take(range(first, last), axis=axis)


def _tiled(x: Array, reps: Any) -> Array:
    if 0 in (reps if isinstance(reps, tuple) else (reps,)):
        raise NoOpinion("no repetition")
    return np.tile(x, reps)


def _flip(x: Array, axis: Any) -> Array:
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not axes or not all(type(a) is int for a in axes) or len({a % x.ndim for a in axes}) < len(axes):
        raise NoOpinion("no axis, or one twice")
    return np.flip(x, axes)


def _transposed(x: Array, axes: Any = None) -> Array:
    return x.transpose(axes) if axes else x.transpose()


FUNCTIONS.update({
    "reshape": reshape, "transpose": _moved(_transposed),
    "expand_dims": _moved(lambda x, axis: np.expand_dims(x, axis)),
    "swapaxes": _moved(lambda x, dim1, dim2: x.swapaxes(dim1, dim2)),
    "flatten": _moved(lambda x: x.reshape(x.shape[0], -1)),
    "BlockGrad": _moved(lambda x: x), "copy": _moved(np.copy),
    "squeeze": _moved(lambda x, axis=None: x.squeeze(axis)), "flip": _moved(_flip),
    "reverse": _moved(_flip),
    "tile": _moved(_tiled), "repeat": _moved(lambda x, repeats, axis=None: x.repeat(repeats, axis)),
    "slice_axis": _moved(_slice_axis),
})


def _joined(body: Callable[..., Array]) -> Callable[..., Plain]:
    def function(*arrays: Any, **options: Any) -> Plain:
        if not arrays or not all(isinstance(array, Plain) and array.size for array in arrays):
            raise NoOpinion("such arguments")
        if len({array.dtype for array in arrays}) > 1:
            raise NoOpinion("several dtypes")
        axis = options.get("dim", options.get("axis", 1 if "dim" in options or body is np.concatenate else 0))
        try:
            return Plain(body([array.data for array in arrays], axis=axis), arrays[0].dtype)
        except (ValueError, IndexError):
            raise Refused("numpy refuses it, too") from None

    return function


FUNCTIONS["concat"], FUNCTIONS["stack"] = _joined(np.concatenate), _joined(np.stack)
