"""Operators that update or examine many weights in one call: ``multi_sgd_update`` and its like.

The arrays of all weights come one weight after another; the new weights come back as a list, states are changed in
place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import MXNetError, dtype_text, shape_text
from ..op import Bool, Field, Float, Floats, Int, Operator, Shape, add
from . import update_rules as rules
from .optimizer_update import MOMENTS, MOMENTUM, SCALE, adamw_step, bound, check_scale, corrections, half_step

WEIGHTS = {'num_weights': Int(1, 'number of weights')}
RATES = {'lrs': Floats(doc='learning rates'), 'wds': Floats(doc='weight decays')}


def _pieces(name: str, arrays: Sequence[Any], count: int, size: int, extra: int = 0,
            wide_from: int | None = None) -> list[Sequence[Any]]:
    """The arrays of each weight; MXNetError when there are more or fewer, or where shapes or dtypes do not fit.

    With ``wide_from`` the arrays of a weight from that position on are float32, as are the extra ones; those before
    have the dtype of the first weight.
    """
    if len(arrays) != count * size + extra:
        raise MXNetError(f'Operator {name} with num_weights={count} expects {count * size + extra} arrays, '
                         f'got {len(arrays)}')
    pieces = [arrays[k * size:(k + 1) * size] for k in range(count)]
    for piece in pieces:    # before anything is written
        for array in piece[1:]:
            if array.shape != piece[0].shape:
                raise MXNetError(f'Operator {name}: Shape inconsistent, Provided = {shape_text(array.shape)}, inferred '
                                 f'shape={shape_text(piece[0].shape)}')
    if wide_from is not None:
        narrow, wide = arrays[0].dtype, np.dtype('float32')
        wanted = ([narrow] * wide_from + [wide] * (size - wide_from)) * count + [wide] * extra
        for position, (array, dtype) in enumerate(zip(arrays, wanted)):
            if array.dtype != dtype:
                raise MXNetError(f'Operator {name}: Incompatible attr in node {name} at {position}-th input: expected '
                                 f'{dtype_text(dtype)}, got {dtype_text(array.dtype)}')
    return pieces


def _weights(count: str, size: int) -> Callable[[dict[str, Any]], Sequence[int]]:
    """Where the weights stand, by the name of the parameter that counts them."""
    return lambda params: range(0, params[count] * size, size)


def _check_rates(name: str, count: int, *lists: Sequence[float]) -> None:
    for values in lists:
        if len(values) != count:
            raise MXNetError(f'Operator {name} with num_weights={count} expects as many learning rates and weight '
                             f'decays, got {len(values)}')


def _rates(p: dict[str, Any], name: str) -> tuple[Sequence[float], Sequence[float]]:
    _check_rates(name, p['num_weights'], p['lrs'], p['wds'])
    return p['lrs'], p['wds']


def _sgd(name: str, momentum: bool, half: bool, preloaded: bool) -> None:
    """Register one of the eight operators of this family."""
    size = 2 + momentum + half
    rule = rules.sgd_momentum if momentum else rules.sgd

    def forward(xp: Any, *arrays: Any, **p: Any) -> Any:
        count = p['num_weights']
        pieces = _pieces(name, arrays, count, size, 2 if preloaded else 0, 2 if half else size)
        lrs, wds = ([float(x) for x in a.reshape(-1)] for a in arrays[-2:]) if preloaded else _rates(p, name)
        _check_rates(name, count, lrs, wds)
        results = []
        for (weight, grad, *states), lr, wd in zip(pieces, lrs, wds):
            scalars = (lr, wd, p['rescale_grad'], bound(p['clip_gradient']))
            if momentum:
                scalars = (*scalars, p['momentum'])
            if half:
                results.append(half_step(xp, rule, weight, grad, states[:-1], states[-1], scalars,
                                         xp.empty_like(weight)))
            else:
                w = weight.copy()
                rule(xp, w, grad, states, [xp.empty_like(w), xp.empty_like(w)], *scalars)
                results.append(w)
        return tuple(results)

    params: dict[str, Field] = {} if preloaded else dict(RATES)
    params.update({**(MOMENTUM if momentum else {}), **SCALE, **WEIGHTS})
    kind = 'gradient descent with momentum' if momentum else 'gradient descent'
    add(Operator(name, forward, inputs=('data',), variadic=True, params=params, mixed=True,
                 num_outputs=lambda p: p['num_weights'], like=_weights('num_weights', size),
                 doc=f'Many weights by {kind}: arrays weight, grad{", mom" if momentum else ""}'
                     f'{", weight32" if half else ""} of each{"; then lrs and wds as arrays" if preloaded else ""}.',
                 rules=('OPT-COMMON-016',)))


for _preloaded in ('', 'preloaded_'):
    for _half in ('', 'mp_'):
        for _momentum in ('', '_mom'):
            _sgd(f'{_preloaded}multi_{_half}sgd{_momentum}_update', bool(_momentum), bool(_half), bool(_preloaded))


LAMB = {'learning_rates': Floats(doc='learning rates'), **MOMENTS, 'epsilon': Float(1e-6, 'added to the root'),
        'wds': Floats(doc='weight decays'), 'rescale_grad': SCALE['rescale_grad'],
        'lower_bound': Float(-1.0, 'least norm of a weight; none if negative'),
        'upper_bound': Float(-1.0, 'largest norm of a weight; none if negative'),
        'clip_gradient': SCALE['clip_gradient'], 'bias_correction': Bool(True, 'correct the running means'),
        'step_count': Shape(doc='number of this update of each weight'), 'num_tensors': Int(1, 'number of weights')}


def _lamb(name: str, half: bool) -> None:
    size = 5 if half else 4

    def forward(xp: Any, *arrays: Any, **p: Any) -> Any:
        pieces = _pieces(name, arrays, p['num_tensors'], size, wide_from=2 if half else size)
        _check_rates(name, p['num_tensors'], p['learning_rates'], p['wds'], p['step_count'])
        results = []
        for (weight, grad, mean, var, *master), lr, wd, t in zip(pieces, p['learning_rates'], p['wds'],
                                                                 p['step_count']):
            scalars = (lr, wd, p['rescale_grad'], bound(p['clip_gradient']), p['beta1'], p['beta2'], p['epsilon'],
                       *corrections(p, t), p['lower_bound'] if p['lower_bound'] >= 0 else None,
                       p['upper_bound'] if p['upper_bound'] >= 0 else None)
            if half:
                results.append(half_step(xp, rules.lamb, weight, grad, (mean, var), master[0], scalars,
                                         xp.empty_like(weight)))
            else:
                w = weight.copy()
                rules.lamb(xp, w, grad, (mean, var), [xp.empty_like(w), xp.empty_like(w)], *scalars)
                results.append(w)
        return tuple(results)

    add(Operator(name, forward, inputs=('data',), variadic=True, params=LAMB, mixed=True,
                 num_outputs=lambda p: p['num_tensors'], like=_weights('num_tensors', size),
                 doc=f'Many weights by LAMB: arrays weight, grad, mean, var{", weight32" if half else ""} of each.',
                 rules=('OPT-LAMB-001',)))


_lamb('_multi_lamb_update', False)
_lamb('_multi_mp_lamb_update', True)

ADAMW = {'lrs': RATES['lrs'], **MOMENTS, 'epsilon': Float(1e-8, 'added to the root'), 'wds': RATES['wds'],
         'etas': Floats(doc='factors of the steps'), 'clip_gradient': SCALE['clip_gradient'], **WEIGHTS}


def _adamw(name: str, half: bool) -> None:
    size = 5 if half else 4

    def forward(xp: Any, *arrays: Any, **p: Any) -> Any:
        pieces = _pieces(name, arrays, p['num_weights'], size, 1, 2 if half else size)
        check_scale(name, arrays[-1])
        scale = float(arrays[-1].reshape(-1)[0])
        lrs, wds = _rates(p, name)
        _check_rates(name, p['num_weights'], p['etas'])
        results = []
        for (weight, grad, mean, var, *master), lr, wd, eta in zip(pieces, lrs, wds, p['etas']):
            w = master[0] if half else weight.copy()
            adamw_step(xp, w, grad.astype(w.dtype, copy=False), (mean, var), scale, lr, wd, eta,
                       bound(p['clip_gradient']), p['beta1'], p['beta2'], p['epsilon'])
            results.append(w.astype(weight.dtype) if half else w)
        return tuple(results)

    add(Operator(name, forward, inputs=('data',), variadic=True, params=ADAMW, mixed=True,
                 num_outputs=lambda p: p['num_weights'], like=_weights('num_weights', size),
                 doc=f'Many weights by AdamW: arrays weight, grad, mean, var{", weight32" if half else ""} of each, '
                     f'then the factor of the gradients.'))


_adamw('_multi_adamw_update', False)
_adamw('_multi_mp_adamw_update', True)


# ---- examining many arrays ---------------------------------------------------------------------------------------

def multi_sum_sq(xp: Any, *arrays: Any, num_arrays: int) -> Any:
    """The sum of the squares of each array, as one float32 array."""
    _pieces('multi_sum_sq', arrays, num_arrays, 1)
    out = xp.empty(num_arrays, 'float32')
    for index, array in enumerate(arrays):
        wide = array.astype('float32', copy=False)
        out[index] = xp.multiply(wide, wide).sum()
    return out


def multi_lars(xp: Any, lrs: Any, weights_sum_sq: Any, grads_sum_sq: Any, wds: Any, eta: float, eps: float,
               rescale_grad: float) -> Any:
    """Learning rates scaled by the LARS ratio of each weight; unchanged where a norm is zero (rule OPT-LARS-001)."""
    weight, grad = xp.sqrt(weights_sum_sq), xp.sqrt(grads_sum_sq) * rescale_grad
    ratio = eta * weight / (grad + wds * weight + eps)
    return xp.where((weight > 0) & (grad > 0), lrs * ratio, lrs).astype(lrs.dtype)


def reset_arrays(xp: Any, *arrays: Any, num_arrays: int) -> Any:
    """Fill arrays with zeros, in place."""
    _pieces('reset_arrays', arrays, num_arrays, 1)
    for array in arrays:
        array[...] = 0
    return ()


COUNT = {'num_arrays': Int(doc='number of arrays')}

add(Operator('multi_sum_sq', multi_sum_sq, inputs=('data',), variadic=True, params=COUNT))
add(Operator('multi_lars', multi_lars, inputs=('lrs', 'weights_sum_sq', 'grads_sum_sq', 'wds'), same_shape=True,
             params={'eta': Float(doc='factor of the ratio'), 'eps': Float(doc='added to the divisor'),
                     'rescale_grad': SCALE['rescale_grad']}, rules=('OPT-LARS-001',)))
add(Operator('reset_arrays', reset_arrays, inputs=('data',), variadic=True, mixed=True, params=COUNT, num_outputs=0))

