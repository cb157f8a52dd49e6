"""Operators that update one weight: ``sgd_update`` and its like.

The weight comes back changed, in ``out`` if that is given (``out=weight`` updates in place); states are changed in
place. A negative ``clip_gradient`` or ``clip_weights`` means no clipping. Where MXNet 1.x clips weight decay with
the gradient, so do the operators, other than the optimizer classes (rules OPT-*-001).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import MXNetError, dtype_text, shape_text
from ..op import Bool, Field, Float, Int, Operator, add
from . import update_rules as rules

LR = {'lr': Float(doc='learning rate')}
WD = {'wd': Float(0.0, 'weight decay')}
SCALE = {'rescale_grad': Float(1.0, 'factor of the gradient'),
         'clip_gradient': Float(-1.0, 'bound of the rescaled gradient; none if negative')}
PLAIN = {**LR, **WD, **SCALE}
LAZY = {'lazy_update': Bool(True, 'restrict row-sparse gradients to their rows')}
MOMENTUM = {'momentum': Float(0.0, 'decay of the momentum')}
MOMENTS = {'beta1': Float(0.9, 'decay of the running mean of the gradient'),
           'beta2': Float(0.999, 'decay of the running mean of its square')}
WEIGHTS = {'clip_weights': Float(-1.0, 'bound of the new weight; none if negative')}


def bound(value: float) -> float | None:
    """A bound, or None where the number given means none."""
    return value if value >= 0 else None


def common(p: dict[str, Any]) -> tuple[float, float, float, float | None]:
    """The scalars that every rule begins with."""
    return p['lr'], p['wd'], p['rescale_grad'], bound(p['clip_gradient'])


def target(name: str, weight: Any, out: Any) -> Any:
    """The array that the rule may change: ``out`` with the values of the weight, or a copy of it."""
    if out is None:
        return weight.copy()
    if out is not weight:
        if out.shape != weight.shape or out.dtype != weight.dtype:
            raise MXNetError(f'Error in operator {name}: Incompatible attr in node {name} at 0-th output: expected '
                             f'{dtype_text(weight.dtype)} {shape_text(weight.shape)}, got {dtype_text(out.dtype)} '
                             f'{shape_text(out.shape)}')
        out[...] = weight
    return out


def check_master(name: str, arrays: Sequence[Any], wide_from: int) -> None:
    """Shapes are equal; arrays from a position on are float32, the others of the weight's dtype."""
    weight = arrays[0]
    for position, array in enumerate(arrays):
        dtype = np.dtype('float32') if position >= wide_from else weight.dtype
        if array.shape != weight.shape or array.dtype != dtype:     # before anything is written
            raise MXNetError(f'Error in operator {name}: Incompatible attr in node {name} at {position}-th input: '
                             f'expected {dtype_text(dtype)} {shape_text(weight.shape)}, got '
                             f'{dtype_text(array.dtype)} {shape_text(array.shape)}')


def half_step(xp: Any, rule: Callable[..., None], weight: Any, grad: Any, states: Sequence[Any], master: Any,
              scalars: tuple[Any, ...], result: Any) -> Any:
    """A rule on the float32 copy, rounded into the result."""
    rule(xp, master, grad.astype(master.dtype), states, [xp.empty_like(master), xp.empty_like(master)], *scalars)
    result[...] = master
    return result


def _define(name: str, states: Sequence[str], params: dict[str, Field], rule: Callable[..., None],
            scalars: Callable[[dict[str, Any]], tuple[Any, ...]], doc: str, rule_ids: Sequence[str] = (),
            master: bool = False) -> None:
    """Register an operator for a rule, and with ``master`` its ``mp_`` twin for float16 weights."""

    def forward(xp: Any, weight: Any, grad: Any, *rest: Any, out: Any = None, **given: Any) -> Any:
        w = target(name, weight, out)
        rule(xp, w, grad, rest, [xp.empty_like(w), xp.empty_like(w)], *scalars(given))
        return w

    positions = tuple(range(2, 2 + len(states)))
    add(Operator(name, forward, inputs=('weight', 'grad', *states), params=params, same_shape=True, mutates=positions,
                 doc=doc, rules=rule_ids))
    if not master:
        return
    twin = f'mp_{name}'

    def forward_half(xp: Any, weight: Any, grad: Any, *rest: Any, out: Any = None, **given: Any) -> Any:
        return half_step(xp, rule, weight, grad, rest[:-1], rest[-1], scalars(given), target(twin, weight, out))

    add(Operator(twin, forward_half, inputs=('weight', 'grad', *states, 'weight32'), params=params, mixed=True,
                 mutates=(*positions, 2 + len(states)), infer=lambda arrays, p: check_master(twin, arrays, 2),
                 doc=f'{doc} For float16 weights with a float32 copy.', rules=('OPT-COMMON-007',)))


_define('sgd_update', (), {**PLAIN, **LAZY}, rules.sgd, common,
        'Gradient descent: ``w -= lr * (clip(rescale * g) + wd * w)``.', ('OPT-SGD-001',), master=True)
_define('sgd_mom_update', ('mom',), {**LR, **MOMENTUM, **WD, **SCALE, **LAZY}, rules.sgd_momentum,
        lambda p: (*common(p), p['momentum']),
        'Gradient descent with momentum: ``m = momentum * m - lr * g; w += m``.', ('OPT-SGD-002',), master=True)
_define('nag_mom_update', ('mom',), {**LR, **MOMENTUM, **WD, **SCALE}, rules.nag,
        lambda p: (*common(p), p['momentum']),
        'Nesterov momentum: ``m = momentum * m - lr * g; w += momentum * m - lr * g``.', ('OPT-NAG-001',), master=True)
_define('adam_update', ('mean', 'var'), {**LR, **MOMENTS, 'epsilon': Float(1e-8, 'added to the root'), **WD, **SCALE,
                                         **LAZY}, rules.adam,
        lambda p: (*common(p), p['beta1'], p['beta2'], p['epsilon'], True),
        'Adam without bias correction, which belongs into ``lr``.')
_define('ftml_update', ('d', 'v', 'z'),
        {**LR, 'beta1': Float(0.6, 'decay of the sum of gradients', low=0.0, high=1.0),
         'beta2': Float(0.999, 'decay of their square', low=0.0, high=1.0),
         'epsilon': Float(1e-8, 'added to the root'), 't': Int(doc='number of this update, from 1'), **WD,
         'rescale_grad': SCALE['rescale_grad'], 'clip_grad': SCALE['clip_gradient']}, rules.ftml,
        lambda p: (p['lr'], p['wd'], p['rescale_grad'], bound(p['clip_grad']), p['beta1'], p['beta2'], p['epsilon'],
                   p['t'], True),
        'Follow the moving leader.')
_define('ftrl_update', ('z', 'n'), {**LR, 'lamda1': Float(0.01, 'L1 penalty'), 'beta': Float(1.0, 'smoothing'), **WD,
                                    **SCALE}, rules.ftrl, lambda p: (*common(p), p['lamda1'], p['beta']),
        'Follow the regularised leader.', ('OPT-FTRL-001',))
_define('rmsprop_update', ('n',), {**LR, 'gamma1': Float(0.95, 'decay of the running mean of squares'),
                                   'epsilon': Float(1e-8, 'added under the root'), **WD, **SCALE, **WEIGHTS},
        rules.rmsprop,
        lambda p: (*common(p), p['gamma1'], p['epsilon'], bound(p['clip_weights']), True, True),
        'RMSProp: ``n`` the running mean of ``g**2``; ``w -= lr * g / sqrt(n + epsilon)``.')
_define('rmspropalex_update', ('n', 'g', 'delta'),
        {**LR, 'gamma1': Float(0.95, 'decay of the running means'), 'gamma2': Float(0.9, 'decay of the momentum'),
         'epsilon': Float(1e-8, 'added under the root'), **WD, **SCALE, **WEIGHTS}, rules.rmsprop_centered,
        lambda p: (*common(p), p['gamma1'], p['gamma2'], p['epsilon'], bound(p['clip_weights']), True),
        'Centered RMSProp with momentum.')
_define('signsgd_update', (), PLAIN, rules.signsgd, common, 'Descent along the sign of the gradient.',
        ('OPT-SIGNUM-003',))
_define('signum_update', ('mom',), {**LR, **MOMENTUM, **WD, **SCALE, 'wd_lh': Float(0.0, 'decoupled weight decay')},
        rules.signum, lambda p: (*common(p), p['momentum'], p['wd_lh']),
        'Descent along the sign of the running mean of the gradient.', ('OPT-SIGNUM-001', 'OPT-SIGNUM-002'))


# ---- operators of other forms ------------------------------------------------------------------------------------

def group_adagrad_update(xp: Any, weight: Any, grad: Any, history: Any, lr: float, rescale_grad: float,
                         clip_gradient: float, epsilon: float, out: Any = None) -> Any:
    """AdaGrad with one history value per row."""
    w = target('_contrib_group_adagrad_update', weight, out)
    rules.group_adagrad(xp, w, grad, (history,), [xp.empty_like(w), xp.empty_like(w)], lr, rescale_grad,
                        bound(clip_gradient), epsilon, True)
    return w


def _check_rows(arrays: Sequence[Any], params: dict[str, Any]) -> None:
    weight, grad, history = arrays
    if grad.shape != weight.shape or history.shape != (weight.shape[0],) + (1,) * (weight.ndim - 1):
        raise MXNetError(f'_contrib_group_adagrad_update expects a history of shape '
                         f'{shape_text((weight.shape[0],) + (1,) * (weight.ndim - 1))} and a gradient of shape '
                         f'{shape_text(weight.shape)}, got {shape_text(history.shape)} and {shape_text(grad.shape)}')


add(Operator('_contrib_group_adagrad_update', group_adagrad_update, inputs=('weight', 'grad', 'history'),
             params={**LR, **SCALE, 'epsilon': Float(1e-5, 'added under the root')}, mutates=(2,), infer=_check_rows,
             rules=('OPT-GROUPADAGRAD-001',)))

LAMB_1 = {**MOMENTS, 'epsilon': Float(1e-6, 'added to the root'), 't': Int(doc='number of this update, from 1'),
          'bias_correction': Bool(True, 'correct the running means for their start at zero'),
          'wd': Float(doc='weight decay'), **SCALE}
LAMB_2 = {**LR, 'lower_bound': Float(-1.0, 'least norm of the weight; none if negative'),
          'upper_bound': Float(-1.0, 'largest norm of the weight; none if negative')}


def corrections(p: dict[str, Any], t: int) -> tuple[float, float]:
    """Factors that undo the start at zero of the running means; infinite before the first update."""
    if not p['bias_correction']:
        return 1.0, 1.0
    return rules.inverse(1.0 - p['beta1'] ** t), rules.inverse(1.0 - p['beta2'] ** t)


def lamb_update_phase1(xp: Any, weight: Any, grad: Any, mean: Any, var: Any, **p: Any) -> Any:
    """The direction of a LAMB step, before it is scaled to the weight."""
    return rules.lamb_direction(xp, weight, grad, (mean, var), [xp.empty_like(weight), xp.empty_like(weight)], p['wd'],
                                p['rescale_grad'], bound(p['clip_gradient']), p['beta1'], p['beta2'], p['epsilon'],
                                *corrections(p, p['t']))


def check_step(name: str) -> Callable[..., None]:
    """The second phase of LAMB: a direction (and a float32 copy) of the weight's shape, norms of one number."""
    def infer(arrays: Sequence[Any], params: dict[str, Any]) -> None:
        weight, g, *norms = arrays
        for label, array in (('g', g), *(('weight32', array) for array in norms[2:])):
            if array.shape != weight.shape:
                raise MXNetError(f'Error in operator {name}: Shape inconsistent: weight and {label} must have the same '
                                 f'shape, got {shape_text(weight.shape)} and {shape_text(array.shape)}')
        for label, norm in zip(('r1', 'r2'), norms):
            if norm.shape[:1] not in ((), (1,)):
                raise MXNetError(f'Error in operator {name}: {label} shape incorrect: expected [1], got '
                                 f'{shape_text(norm.shape)}')

    return infer


def lamb_update_phase2(xp: Any, weight: Any, g: Any, r1: Any, r2: Any, lr: float, lower_bound: float,
                       upper_bound: float, out: Any = None) -> Any:
    """The LAMB step along ``g``; ``r1`` and ``r2`` are the norms of the weight and of ``g``, of shape (1,)."""
    w = target('lamb_update_phase2', weight, out)
    ratio = rules.trust_ratio(float(r1.flat[0]), float(r2.flat[0]), lower_bound if lower_bound >= 0 else None,
                              upper_bound if upper_bound >= 0 else None)
    xp.subtract(w, g * (lr * ratio), w)
    return w


def mp_lamb_update_phase1(xp: Any, weight: Any, grad: Any, mean: Any, var: Any, weight32: Any, **p: Any) -> Any:
    """The direction of a LAMB step for a float16 weight, in float32."""
    return lamb_update_phase1(xp, weight32, grad.astype(weight32.dtype), mean, var, **p)


def mp_lamb_update_phase2(xp: Any, weight: Any, g: Any, r1: Any, r2: Any, weight32: Any, lr: float,
                          lower_bound: float, upper_bound: float, out: Any = None) -> Any:
    """The LAMB step of a float16 weight through its float32 copy."""
    w = target('mp_lamb_update_phase2', weight, out)
    lamb_update_phase2(xp, weight32, g, r1, r2, lr, lower_bound, upper_bound, out=weight32)
    w[...] = weight32
    return w


add(Operator('lamb_update_phase1', lamb_update_phase1, inputs=('weight', 'grad', 'mean', 'var'), params=LAMB_1,
             same_shape=True, mutates=(2, 3), like=lambda p: (0,), rules=('OPT-LAMB-001', 'OPT-LAMB-002')))
add(Operator('lamb_update_phase2', lamb_update_phase2, inputs=('weight', 'g', 'r1', 'r2'), params=LAMB_2, mixed=True,
             infer=check_step('lamb_update_phase2'), rules=('OPT-LAMB-003', 'OPT-LAMB-004', 'OPT-LAMB-006')))
add(Operator('mp_lamb_update_phase1', mp_lamb_update_phase1, inputs=('weight', 'grad', 'mean', 'var', 'weight32'),
             params=LAMB_1, mixed=True, mutates=(2, 3), like=lambda p: (4,),
             infer=lambda arrays, p: check_master('mp_lamb_update_phase1', arrays, 2)))
add(Operator('mp_lamb_update_phase2', mp_lamb_update_phase2, inputs=('weight', 'g', 'r1', 'r2', 'weight32'),
             params=LAMB_2, mixed=True, mutates=(4,), infer=check_step('mp_lamb_update_phase2')))


ADAMW = {**LR, **MOMENTS, 'epsilon': Float(1e-8, 'added to the root'), **WD, 'eta': Float(doc='factor of the step'),
         'clip_gradient': SCALE['clip_gradient']}


def adamw_step(xp: Any, w: Any, grad: Any, states: Sequence[Any], scale: float, lr: float, wd: float, eta: float,
               clip: float | None, beta1: float, beta2: float, epsilon: float) -> None:
    """``w -= eta * (lr * m / (sqrt(v) + epsilon) + wd * w)``, skipped while the scale is zero or not finite."""
    if not np.isfinite(scale) or scale == 0:
        return
    decay = wd / lr if lr else 0.0
    rules.adamw(xp, w, grad, states, [xp.empty_like(w), xp.empty_like(w)], lr * eta, decay, scale, clip, beta1, beta2,
                epsilon)
    if not lr:
        xp.multiply(w, 1.0 - eta * wd, w)


def check_adamw(name: str, wide_from: int) -> Callable[..., None]:
    """As :func:`check_master` for all arrays but the last, which is the factor of the gradients in float32."""
    def infer(arrays: Sequence[Any], params: dict[str, Any]) -> None:
        check_master(name, arrays[:-1], wide_from)
        check_scale(name, arrays[-1])

    return infer


def check_scale(name: str, scale: Any) -> None:
    """The array with the factor of the gradients: float32, its first element counts."""
    if scale.dtype != np.float32 or not scale.size:
        raise MXNetError(f'Operator {name}: rescale_grad must be a float32 array of one element; Type inconsistent, '
                         f'Provided = {dtype_text(scale.dtype)} {shape_text(scale.shape)}, inferred type = float32')


def adamw_update(xp: Any, weight: Any, grad: Any, mean: Any, var: Any, rescale_grad: Any, lr: float, beta1: float,
                 beta2: float, epsilon: float, wd: float, eta: float, clip_gradient: float, out: Any = None) -> Any:
    """Adam with decoupled weight decay; no update is made while the array ``rescale_grad`` is 0 or not finite."""
    w = target('_adamw_update', weight, out)
    adamw_step(xp, w, grad, (mean, var), float(rescale_grad.reshape(-1)[0]), lr, wd, eta, bound(clip_gradient), beta1,
               beta2, epsilon)
    return w


def mp_adamw_update(xp: Any, weight: Any, grad: Any, mean: Any, var: Any, weight32: Any, rescale_grad: Any, lr: float,
                    beta1: float, beta2: float, epsilon: float, wd: float, eta: float, clip_gradient: float,
                    out: Any = None) -> Any:
    """AdamW for float16 weights through a float32 copy."""
    w = target('_mp_adamw_update', weight, out)
    adamw_step(xp, weight32, grad.astype(weight32.dtype), (mean, var), float(rescale_grad.reshape(-1)[0]), lr, wd, eta,
               bound(clip_gradient), beta1, beta2, epsilon)
    w[...] = weight32
    return w


add(Operator('_adamw_update', adamw_update, aliases=('_contrib_adamw_update',),
             inputs=('weight', 'grad', 'mean', 'var', 'rescale_grad'), params=ADAMW, mixed=True, mutates=(2, 3),
             infer=check_adamw('_adamw_update', 4)))
add(Operator('_mp_adamw_update', mp_adamw_update, aliases=('_contrib_mp_adamw_update',),
             inputs=('weight', 'grad', 'mean', 'var', 'weight32', 'rescale_grad'), params=ADAMW, mixed=True,
             mutates=(2, 3, 4), infer=check_adamw('_mp_adamw_update', 2)))
