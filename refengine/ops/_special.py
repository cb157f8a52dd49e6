"""Special functions on array modules that lack them: error function, gamma function and their kin."""

from __future__ import annotations

import math
from typing import Any

# Rational approximations of the error function by W. J. Cody (1969), accurate to double precision.
_ERF_P = (3.16112374387056560, 1.13864154151050156e2, 3.77485237685302021e2, 3.20937758913846947e3,
          1.85777706184603153e-1)
_ERF_Q = (2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3)
_ERFC_P = (5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1, 2.98635138197400131e2,
           8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3,
           2.15311535474403846e-8)
_ERFC_Q = (1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
           3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3)
_TAIL_P = (3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1, 1.60837851487422766e-2,
           6.58749161529837803e-4, 1.63153871373020978e-2)
_TAIL_Q = (2.56852019228982242, 1.87295284992346725, 5.27905102951428412e-1, 6.05183413124413191e-2,
           2.33520497626869185e-3)


def erf(xp: Any, x: Any, out: Any = None) -> Any:
    """The error function."""
    value = x.astype('float64', copy=False)
    size = xp.abs(value)
    square = value * value
    small = xp.minimum(square, 0.25)
    top, bottom = _ERF_P[4] * small, small
    for p, q in zip(_ERF_P[:3], _ERF_Q[:3]):
        top, bottom = (top + p) * small, (bottom + q) * small
    inner = value * (top + _ERF_P[3]) / (bottom + _ERF_Q[3])

    middle = xp.clip(size, 0.46875, 4.0)
    top, bottom = _ERFC_P[8] * middle, middle
    for p, q in zip(_ERFC_P[:7], _ERFC_Q[:7]):
        top, bottom = (top + p) * middle, (bottom + q) * middle
    tail_middle = xp.exp(-square) * (top + _ERFC_P[7]) / (bottom + _ERFC_Q[7])

    far = xp.maximum(size, 4.0)
    inverse = 1 / (far * far)
    top, bottom = _TAIL_P[5] * inverse, inverse
    for p, q in zip(_TAIL_P[:4], _TAIL_Q[:4]):
        top, bottom = (top + p) * inverse, (bottom + q) * inverse
    ratio = inverse * (top + _TAIL_P[4]) / (bottom + _TAIL_Q[4])
    tail_far = xp.exp(-square) * (1 / math.sqrt(math.pi) - ratio) / far

    outer = xp.copysign(1 - xp.where(size <= 4, tail_middle, tail_far), value)
    return xp.where(size <= 0.46875, inner, outer).astype(x.dtype, copy=False)


def erfinv(xp: Any, x: Any, out: Any = None) -> Any:
    """The inverse error function: a first guess by S. Winitzki, then Newton's method."""
    value = x.astype('float64', copy=False)
    inside = xp.clip(value, -1 + 1e-16, 1 - 1e-16)
    log = xp.log1p(-inside * inside)
    a = 0.147
    half = 2 / (math.pi * a) + log / 2
    guess = xp.copysign(xp.sqrt(xp.sqrt(half * half - log / a) - half), inside)
    for _ in range(4):
        guess = guess - (erf(xp, guess) - inside) * (math.sqrt(math.pi) / 2) * xp.exp(guess * guess)
    result = xp.where(xp.abs(value) == 1, xp.copysign(xp.inf, value), xp.where(xp.abs(value) > 1, xp.nan, guess))
    return result.astype(x.dtype, copy=False)


# Lanczos approximation with g = 7 and nine terms.
_LANCZOS = (0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
            12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7)


def _log_gamma_positive(xp: Any, x: Any) -> Any:
    shifted = x - 1
    total = _LANCZOS[0]
    for index, coefficient in enumerate(_LANCZOS[1:], 1):
        total = total + coefficient / (shifted + index)
    t = shifted + 7.5
    return 0.5 * math.log(2 * math.pi) + (shifted + 0.5) * xp.log(t) - t + xp.log(total)


def gammaln(xp: Any, x: Any, out: Any = None) -> Any:
    """log |gamma(x)|."""
    value = x.astype('float64', copy=False)
    reflected = value < 0.5
    direct = _log_gamma_positive(xp, xp.where(reflected, 1 - value, value))
    mirror = math.log(math.pi) - xp.log(xp.abs(xp.sin(math.pi * value))) - direct
    result = xp.where(reflected, mirror, direct)
    result = xp.where((value == 1) | (value == 2), 0.0, result)
    result = xp.where(_pole(xp, value) | xp.isinf(value), xp.inf, result)
    return result.astype(x.dtype, copy=False)


def _pole(xp: Any, value: Any) -> Any:
    return (value <= 0) & (value == xp.floor(value))


def gamma(xp: Any, x: Any, out: Any = None) -> Any:
    """The gamma function."""
    value = x.astype('float64', copy=False)
    reflected = value < 0.5
    direct = xp.exp(_log_gamma_positive(xp, xp.where(reflected, 1 - value, value)))
    mirror = math.pi / (xp.sin(math.pi * value) * direct)
    result = xp.where(reflected, mirror, direct)
    result = xp.where((value == xp.floor(value)) & (value < 20), xp.rint(result), result)     # factorials are whole
    result = xp.where(_pole(xp, value), xp.where(value == 0, xp.copysign(xp.inf, value), xp.nan), result)
    return xp.where(value == xp.inf, xp.inf, result).astype(x.dtype, copy=False)


def digamma(xp: Any, x: Any, out: Any = None) -> Any:
    """The derivative of gammaln: recurrence up to 6, then the asymptotic series."""
    value = x.astype('float64', copy=False)
    reflected = value < 0.5
    z = xp.where(reflected, 1 - value, value)
    total = xp.zeros_like(z)
    for _ in range(6):
        low = z < 6
        total = total - xp.where(low, 1 / z, 0)
        z = xp.where(low, z + 1, z)
    square = 1 / (z * z)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square * (
        1 / 132 - square * 691 / 32760)))))
    direct = total + xp.log(z) - 0.5 / z - series
    mirror = direct - math.pi / xp.tan(math.pi * value)
    result = xp.where(reflected, mirror, direct)
    return xp.where(_pole(xp, value), xp.inf, result).astype(x.dtype, copy=False)


# B(2k) / (2k)! of the Euler-Maclaurin series, k = 1, 2, ...
_EULER_MACLAURIN = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000)


def polygamma(xp: Any, x: Any, n: int) -> Any:
    """The n-th derivative of digamma, n >= 1: n! times the sum of 1 / (x + k) ** (n + 1), with alternating sign."""
    z = x.astype('float64', copy=False)
    power = n + 1
    total = xp.zeros_like(z)
    while bool((z < 8).any()):
        low = z < 8
        total = total + xp.where(low, z ** -power, 0)
        z = xp.where(low, z + 1, z)
    total = total + z ** (1 - power) / (power - 1) + 0.5 * z ** -power
    rising = float(power)
    for k, coefficient in enumerate(_EULER_MACLAURIN, 1):
        total = total + coefficient * rising * z ** -(power + 2 * k - 1)
        rising *= (power + 2 * k - 1) * (power + 2 * k)
    return ((-1) ** (n + 1) * math.factorial(n) * total).astype(x.dtype, copy=False)
