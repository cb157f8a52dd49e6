"""Mathematics of one array, element by element: one table, a row each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from .. import storage
from ..base import LateError, MXNetError
from ..op import Int, Operator, Scalar, add, register
from . import _special as special
from .binary import zero_gradient


def _ufunc(name: str) -> Callable[..., Any]:
    def body(xp: Any, x: Any, out: Any = None) -> Any:
        return getattr(xp, name)(x, out=out)

    body.accepts_out = True      # type: ignore[attr-defined]
    body.ufunc = name            # type: ignore[attr-defined]
    return body


def _round_away(xp: Any, x: Any, out: Any = None) -> Any:
    return xp.copysign(xp.floor(xp.abs(x) + 0.5), x)       # halves away from zero (rule ND-ROUND-001)


def _rint(xp: Any, x: Any, out: Any = None) -> Any:
    low, high = xp.floor(x), xp.ceil(x)
    return xp.where(x - low <= high - x, low, high)        # halves toward minus infinity


def _sign(xp: Any, x: Any, out: Any = None) -> Any:
    return xp.subtract(x > 0, x < 0, dtype=x.dtype)        # 0 for NaN, as in the releases


def _sigmoid(xp: Any, x: Any, out: Any = None) -> Any:
    # Not by tanh, which loses the digits of results close to 0. An exponential that overflows gives 0, as it is to.
    half = x.dtype == np.float16
    result = xp.negative(x, dtype=np.float32) if half else xp.negative(x, out=out)
    if not x.ndim:
        result = xp.asarray(result)     # numpy gives a number, which cannot be written into
    xp.exp(result, out=result)
    result += 1
    xp.reciprocal(result, out=result)
    if half:
        result = result.astype(x.dtype)
        if out is not None:
            out[...] = result
            return out
    return result


def _softrelu(xp: Any, x: Any, out: Any = None) -> Any:
    return xp.logaddexp(x, 0.0).astype(x.dtype, copy=False)


_RUN = 1 << 15


@cache
def zeros(dtype: Any) -> np.ndarray:
    """A run of zeros that nobody writes into."""
    result = np.zeros(_RUN, dtype)
    result.flags.writeable = False
    return result


def _relu(xp: Any, x: Any, out: Any = None) -> Any:
    if xp is np and out is not None and x.size >= 1024:
        # With an array of zeros numpy takes a third of the time that it takes with the number.
        source, target = storage.run(x), storage.run(out)
        if source is not None and target is not None and storage.memory_order(x) == storage.memory_order(out):
            nothing = zeros(x.dtype)
            for start in range(0, source.size, _RUN):
                part = source[start:start + _RUN]
                np.maximum(part, nothing[:part.size], out=target[start:start + _RUN])
            return out
    return xp.maximum(x, x.dtype.type(0), out=out)         # passes NaN on (rule ND-ACT-001)


_relu.accepts_out = True         # type: ignore[attr-defined]


@dataclass(frozen=True)
class Row:
    """One elementwise function: name, body, derivative d(F, og, x, y) or None for zero, and where to sample it."""

    name: str
    body: Callable[..., Any]
    derivative: Any
    doc: str
    aliases: tuple[str, ...] = ()
    domain: str = 'any'              # any, positive, unit (-1, 1), above_one
    exact: bool = False              # integers stay integers without a detour through floats


_2_SQRTPI = 2 / math.sqrt(math.pi)

ROWS = (
    Row('relu', _relu, lambda F, og, x, y: og * (x > 0), 'max(x, 0).', exact=True),
    Row('sigmoid', _sigmoid, lambda F, og, x, y: og * (y * (1 - y)), '1 / (1 + exp(-x)).'),
    Row('softsign', lambda xp, x, out=None: x / (1 + xp.abs(x)), lambda F, og, x, y: og / F.square(1 + F.abs(x)),
        'x / (1 + |x|).'),
    Row('_softrelu', _softrelu, lambda F, og, x, y: og * F.sigmoid(x), 'log(1 + exp(x)).'),
    Row('negative', _ufunc('negative'), lambda F, og, x, y: -og, '-x.', ('_np_negative',), exact=True),
    Row('reciprocal', lambda xp, x, out=None: 1 / x, lambda F, og, x, y: -og / (x * x), '1 / x.', (), 'positive'),
    Row('abs', _ufunc('abs'), lambda F, og, x, y: og * F.sign(x), '|x|.', exact=True),
    Row('sign', _sign, None, '-1, 0 or 1.', exact=True),
    Row('round', _round_away, None, 'The nearest integer, halves away from zero.'),
    Row('rint', _rint, None, 'The nearest integer, halves toward minus infinity.'),
    Row('ceil', _ufunc('ceil'), None, 'The next integer above.'),
    Row('floor', _ufunc('floor'), None, 'The next integer below.'),
    Row('trunc', _ufunc('trunc'), None, 'The integer part.'),
    Row('fix', _ufunc('trunc'), None, 'The integer part.'),
    Row('square', _ufunc('square'), lambda F, og, x, y: og * (2 * x), 'x squared.', exact=True),
    Row('sqrt', _ufunc('sqrt'), lambda F, og, x, y: og * 0.5 / y, 'The square root.', (), 'positive'),
    Row('rsqrt', lambda xp, x, out=None: 1 / xp.sqrt(x), lambda F, og, x, y: og * (-0.5 * y / x), '1 / sqrt(x).', (),
        'positive'),
    Row('cbrt', _ufunc('cbrt'), lambda F, og, x, y: og / (3 * F.square(y)), 'The cube root.', (), 'positive'),
    Row('rcbrt', lambda xp, x, out=None: 1 / xp.cbrt(x), lambda F, og, x, y: -(og * (y / (3 * x))), '1 / cbrt(x).', (),
        'positive'),
    Row('exp', _ufunc('exp'), lambda F, og, x, y: og * y, 'e to the x.'),
    Row('expm1', _ufunc('expm1'), lambda F, og, x, y: og * F.exp(x), 'exp(x) - 1.'),
    Row('log', _ufunc('log'), lambda F, og, x, y: og / x, 'The natural logarithm.', (), 'positive'),
    Row('log10', _ufunc('log10'), lambda F, og, x, y: og / (x * math.log(10)), 'The logarithm to base 10.', (),
        'positive'),
    Row('log2', _ufunc('log2'), lambda F, og, x, y: og / (x * math.log(2)), 'The logarithm to base 2.', (), 'positive'),
    Row('log1p', _ufunc('log1p'), lambda F, og, x, y: og / (1 + x), 'log(1 + x).', (), 'positive'),
    Row('sin', _ufunc('sin'), lambda F, og, x, y: og * F.cos(x), 'The sine.'),
    Row('cos', _ufunc('cos'), lambda F, og, x, y: -og * F.sin(x), 'The cosine.'),
    Row('tan', _ufunc('tan'), lambda F, og, x, y: og * (1 + y * y), 'The tangent.', (), 'unit'),
    Row('arcsin', _ufunc('arcsin'), lambda F, og, x, y: og / F.sqrt(1 - x * x), 'The inverse sine.', (), 'unit'),
    Row('arccos', _ufunc('arccos'), lambda F, og, x, y: -og / F.sqrt(1 - x * x), 'The inverse cosine.', (), 'unit'),
    Row('arctan', _ufunc('arctan'), lambda F, og, x, y: og / (1 + x * x), 'The inverse tangent.'),
    Row('sinh', _ufunc('sinh'), lambda F, og, x, y: og * F.cosh(x), 'The hyperbolic sine.'),
    Row('cosh', _ufunc('cosh'), lambda F, og, x, y: og * F.sinh(x), 'The hyperbolic cosine.'),
    Row('tanh', _ufunc('tanh'), lambda F, og, x, y: og * (1 - y * y), 'The hyperbolic tangent.'),
    Row('arcsinh', _ufunc('arcsinh'), lambda F, og, x, y: og * F.rsqrt(x * x + 1), 'The inverse hyperbolic sine.'),
    Row('arccosh', _ufunc('arccosh'), lambda F, og, x, y: og * F.rsqrt(x * x - 1), 'The inverse hyperbolic cosine.', (),
        'above_one'),
    Row('arctanh', _ufunc('arctanh'), lambda F, og, x, y: og / (1 - x * x), 'The inverse hyperbolic tangent.', (),
        'unit'),
    Row('degrees', _ufunc('degrees'), lambda F, og, x, y: og * (180 / math.pi), 'Radians to degrees.'),
    Row('radians', _ufunc('radians'), lambda F, og, x, y: og * (math.pi / 180), 'Degrees to radians.'),
    Row('erf', special.erf, lambda F, og, x, y: og * (_2_SQRTPI * F.exp(-(x * x))), 'The error function.'),
    Row('erfinv', special.erfinv, lambda F, og, x, y: og * (F.exp(y * y) / _2_SQRTPI), 'The inverse error function.',
        (), 'unit'),
    Row('gamma', special.gamma, lambda F, og, x, y: og * (y * F._digamma(x)), 'The gamma function.', (), 'positive'),
    Row('gammaln', special.gammaln, lambda F, og, x, y: og * F._digamma(x), 'log |gamma(x)|.', (), 'positive'),
    Row('_digamma', special.digamma, lambda F, og, x, y: og * F._polygamma(x, n=1), 'The derivative of gammaln.',
        ('digamma',), 'positive'),
    Row('logical_not', lambda xp, x, out=None: xp.logical_not(x).astype(x.dtype), None, '1 where zero, else 0.',
        exact=True),
    Row('_contrib_isfinite', lambda xp, x, out=None: xp.isfinite(x).astype(x.dtype), None, '1 where finite, else 0.',
        ('isfinite',), exact=True),
    Row('_contrib_isnan', lambda xp, x, out=None: xp.isnan(x).astype(x.dtype), None, '1 where NaN, else 0.',
        ('isnan',), exact=True),
    Row('_contrib_isinf', lambda xp, x, out=None: xp.isinf(x).astype(x.dtype), None, '1 where infinite, else 0.',
        ('isinf',), exact=True),
)


def _forward(row: Row) -> Callable[..., Any]:
    body, exact = row.body, row.exact
    accepts = getattr(body, 'accepts_out', False)

    def forward(xp: Any, data: Any, out: Any = None) -> Any:
        dtype = data.dtype
        if dtype.kind != 'f':
            if dtype.kind == 'b':
                raise LateError(MXNetError('this operator does not support boolean type'), (data.copy(),))
            if exact:
                return body(xp, data)
            # Integers keep their dtype and lose the fraction (rule ND-ARITH-013).
            return body(xp, data.astype(np.float64)).astype(dtype)
        if out is not None and (out.shape != data.shape or out.dtype != dtype):
            out = None
        if out is None and xp is np and data.nbytes >= storage.LARGE:
            out = storage.empty_in_order(data.shape, dtype, data)
        if accepts or out is not None:
            return body(xp, data, out)
        return body(xp, data)

    forward.ufunc = getattr(body, 'ufunc', None)         # type: ignore[attr-defined]
    return forward


def _gradient(derivative: Any) -> Callable[..., Any]:
    def grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
        x = inputs[0]
        gradient = derivative(F, ograds[0], x, outputs[0])
        if x.__class__ is np.ndarray and x.dtype.kind in 'iu' and gradient.dtype != x.dtype:
            gradient = gradient.astype(x.dtype)     # what numpy divides is a float; fractions are lost one by one
        return (gradient,)

    return grad


for _row in ROWS:
    add(Operator(_row.name, _forward(_row), aliases=_row.aliases, doc=_row.doc, rules=('ND-ARITH-013',),
                 grad=_gradient(_row.derivative) if _row.derivative else zero_gradient,
                 samples=((((2, 3),), {}, _row.domain),) if _row.derivative else ()))


def _meeting_point(s2: float) -> float:
    return 1 / s2 if s2 else math.inf


def _smooth_l1_grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
    x, scalar = inputs[0], params['scalar']
    inside = F.abs(x) < _meeting_point(scalar ** 2)
    return (ograds[0] * F.where(inside, x * scalar * scalar, F.sign(x)),)


@register('smooth_l1', params={'scalar': Scalar(1.0, 'where the two branches meet is 1 / scalar²')},
          grad=_smooth_l1_grad, samples=((((2, 3),), {'scalar': 1.0}), (((2, 3),), {'scalar': 2.0})),
          rules=('ND-ACT-001',))
def _smooth_l1(xp: Any, data: Any, scalar: Any = 1.0) -> Any:
    """0.5 (sx)² where |x| < 1/s², else |x| - 0.5/s²."""
    scalar, size = float(scalar), xp.abs(data)
    place, scaled = _meeting_point(scalar ** 2), data * scalar      # the square alone may be too large for float16
    return xp.where(size < place, 0.5 * scaled * scaled, size - 0.5 * place).astype(data.dtype, copy=False)


@register('_polygamma', params={'n': Int(1, 'how many derivatives of digamma, at least one', low=1)},
          samples=((((2, 3),), {'n': 1}, 'positive'), (((2, 3),), {'n': 2}, 'positive')),
          grad=lambda F, ograds, inputs, outputs, params: (ograds[0] * F._polygamma(inputs[0], n=params['n'] + 1),))
def _polygamma(xp: Any, data: Any, n: int = 1) -> Any:
    """The n-th derivative of digamma."""
    return special.polygamma(xp, data, n)
