"""Casts around operators: their records are changed once, so that every front end meets them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dispatch, engine, ops  # noqa: F401 - ops registers the operators
from ..base import MXNetError
from ..op import Operator, get, registry
from . import lists

_FLOATS = (np.dtype('float16'), np.dtype('float32'))

Chooser = Callable[[Sequence[Any], Any], Any]
"""From the arrays and parameters of a call, the dtype that its float inputs get, or None for no cast."""


def install(target: str, low: Any = None, conditional: Any = None, float32: Any = None) -> None:
    """Make operators cast their inputs; None stands for the default list (rules AMP-INIT-001, -007, -008).

    Everything is checked before anything is changed.
    """
    if target == 'bfloat16':
        raise MXNetError('amp.init: this engine has no bfloat16, because numpy has none; use target_dtype="float16"')
    changes: dict[str, tuple[Operator, Chooser]] = {}

    def plan(names: Sequence[str] | None, default: Sequence[str], what: str, choose: Chooser) -> None:
        chosen = default if names is None else names
        assert isinstance(chosen, (list, tuple)), f'{what} should be a list of names, got {type(chosen)}'
        for name in chosen:
            if names is None and name not in registry:
                continue
            op = get(name)
            changes.setdefault(op.name, (op, choose))

    dtype = np.dtype(target)
    plan(low, lists.LOW_PRECISION, 'target_precision_ops', lambda arrays, params: dtype)
    plan(float32, lists.FLOAT32, 'fp32_ops', lambda arrays, params: _FLOATS[1])
    for name, parameter, values in lists.CONDITIONAL_FLOAT32 if conditional is None else conditional:
        plan(None if conditional is None else [name], [name], 'conditional_fp32_ops',
             lambda arrays, params, p=parameter, v=tuple(values): _FLOATS[1] if str(params.get(p)) in v else None)
    plan(None, lists.WIDEST, 'widest', _widest)

    engine.drain()              # what was called before is not cast
    dispatch.load_kernels()     # those that come later would be put before the casts
    for op, choose in changes.values():
        _wrap(op, choose)
    dispatch.raw.cache_clear()


def _widest(arrays: Sequence[Any], params: Any) -> Any:
    dtypes = {np.dtype(a.dtype) for a in arrays}
    return _FLOATS[1] if dtypes == set(_FLOATS) else None


def _differs(array: Any, target: Any) -> bool:
    dtype = np.dtype(array.dtype)
    return dtype in _FLOATS and dtype != target


def _wrap(op: Operator, choose: Chooser) -> None:
    forward, grad, infer, kernels = op.forward, op.grad, op.infer, tuple(op.kernels)
    op.kernels.clear()

    def cast_forward(xp: Any, *arrays: Any, **params: Any) -> Any:
        target = choose(arrays, params)
        if target is not None:
            arrays = tuple(a.astype(target) if _differs(a, target) else a for a in arrays)
        for kernel in kernels:
            result = kernel(xp, *arrays, **params)
            if result is not NotImplemented:
                return result
        return forward(xp, *arrays, **params)

    def cast_infer(arrays: Any, params: Any) -> Any:
        assert infer is not None
        target = choose(arrays, params)
        if target is not None:      # shapes and dtypes are all that is looked at: no need for a real cast
            arrays = [np.broadcast_to(np.zeros((), target), a.shape) if _differs(a, target) else a for a in arrays]
        return infer(arrays, params)

    def cast_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> Any:
        assert grad is not None
        target = choose(inputs, params)
        if target is None:
            return grad(F, ograds, inputs, outputs, params)
        own = [np.dtype(x.dtype) for x in inputs]
        arrays = [F.cast(x, dtype=target.name) if _differs(x, target) else x for x in inputs]
        if target == np.float16:    # the numbers are those of float16; sums of their products are taken in float32
            ograds, arrays, outputs = ([F.cast(x, dtype='float32') if x is not None and np.dtype(x.dtype) == target
                                        else x for x in group] for group in (ograds, arrays, outputs))
        result = grad(F, ograds, arrays, outputs, params)
        return tuple(g if g is None or d not in _FLOATS else _back(F, g, d) for g, d in zip(result, own))

    op.forward = cast_forward
    op.grad = None if grad is None else cast_grad
    op.infer = None if infer is None else cast_infer
    op.injected = op.injected - {'out'}         # a buffer of the result's type is of no use to a body in another one
    op.mixed = True


def _back(F: Any, gradient: Any, dtype: Any) -> Any:
    """The gradient in the dtype of the input; it may be a function that is called when somebody needs its result."""
    def made() -> Any:
        value = gradient() if callable(gradient) else gradient
        return value if value is None or np.dtype(value.dtype) == dtype else F.cast(value, dtype=dtype.name)

    return made
