"""Gradients of symbols against finite differences (rule DIAG-NUMGRAD-001)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import ndarray as nd
from .symbol import Symbol


def check_numeric_gradient(sym: Symbol, location: Any, aux_states: Any = None, numeric_eps: float | None = None,
                           rtol: float | None = None, atol: float | None = None, grad_nodes: Any = None,
                           use_forward_train: bool = True, ctx: Any = None, grad_stype_dict: Any = None,
                           dtype: Any = np.float64) -> None:
    """AssertionError unless the gradients of the sum of an output, weighted at random, equal finite differences.

    ``location`` gives the arguments, as a list or by name; ``grad_nodes`` names those that are checked. The work is
    done in float64, whatever the dtype of the arguments, so that differences are good to about eight digits.
    """
    from ..context import current_context
    ctx = ctx or current_context()
    names = sym.list_arguments()
    values = dict(location) if isinstance(location, Mapping) else dict(zip(names, location, strict=True))
    unknown = set(values) ^ set(names)
    if unknown:
        raise ValueError(f'location has the arguments {sorted(values)}, the symbol {names}')
    states = sym.list_auxiliary_states()
    aux = dict(aux_states) if isinstance(aux_states, Mapping) else dict(zip(states, aux_states or (), strict=True))
    chosen = list(grad_nodes) if grad_nodes is not None else names
    raw = {name: np.array(_numpy(value), dtype=np.float64) for name, value in values.items()}
    held = {name: np.array(_numpy(value), dtype=np.float64) for name, value in aux.items()}
    args = {name: nd.array(value, ctx=ctx, dtype='float64') for name, value in raw.items()}
    grads = {name: nd.zeros(value.shape, ctx=ctx, dtype='float64') for name, value in raw.items()}
    executor = sym.bind(ctx, args, grads, dict.fromkeys(chosen, 'write'),
                        {name: nd.array(value, ctx=ctx, dtype='float64') for name, value in held.items()})

    def run(train: bool) -> Any:
        for name, value in held.items():
            executor.aux_dict[name][:] = value
        return executor.forward(is_train=train)[0]

    first = run(True)
    weights = np.random.RandomState(0).uniform(0.5, 1.5, first.shape)
    executor.backward([nd.array(weights, ctx=ctx, dtype='float64'), *[nd.zeros(o.shape, dtype=o.dtype)
                                                                      for o in executor.outputs[1:]]])
    found = {name: grads[name].asnumpy().copy() for name in chosen}
    eps = numeric_eps or 1e-5
    for name in chosen:
        expected = np.zeros_like(raw[name])
        for place in np.ndindex(raw[name].shape):
            ends = []
            for shift in (eps, -eps):
                moved = raw[name].copy()
                moved[place] += shift
                args[name][:] = moved
                ends.append(float((run(use_forward_train).asnumpy() * weights).sum()))
            expected[place] = (ends[0] - ends[1]) / (2 * eps)
        args[name][:] = raw[name]
        difference = np.abs(found[name] - expected)
        bound = (1e-4 if atol is None else atol) + (1e-3 if rtol is None else rtol) * np.abs(expected)
        if not (difference <= bound).all():
            place = np.unravel_index(int((difference - bound).argmax()), difference.shape)
            raise AssertionError(f'the gradient of {name} at {tuple(map(int, place))} is {found[name][place]}, finite '
                                 f'differences give {expected[place]}')


def _numpy(value: Any) -> Any:
    return value.asnumpy() if isinstance(value, nd.NDArray) else np.asarray(value)
