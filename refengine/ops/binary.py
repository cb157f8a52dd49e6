"""Operators of two arrays or of an array and a number: one table, a row each.

A row gives ``broadcast_X`` (two arrays that broadcast), ``elemwise_X`` or ``_X`` (two arrays of one shape),
``_X_scalar`` and, where order matters, ``_rX_scalar`` (the number first).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import storage
from ..base import LateError, MXNetError, shape_text
from ..op import Operator, Scalar, add, register

_BOOL = np.dtype('bool')


# ---- bodies: f(xp, x, y), y an array or a number of the right kind ---------------------------------------------

def _plain(name: str) -> Callable[..., Any]:
    def body(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
        return getattr(xp, name)(x, y, out=out)

    body.ufunc = name            # type: ignore[attr-defined]
    return body


def _divide(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    if x.dtype.kind == 'f':
        return xp.true_divide(x, y, out=out)
    # Integers divide toward zero and keep their dtype (rule ND-ARITH-008).
    quotient = xp.floor_divide(x, y)
    remainder = x - quotient * y
    return (quotient + ((remainder != 0) & (quotient < 0))).astype(x.dtype)


_divide.ufunc = 'true_divide'    # type: ignore[attr-defined]


def _modulo(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    # A zero divisor gives 0 (rule ND-ARITH-009), everything else has the sign of the divisor.
    return xp.where(y == 0, x.dtype.type(0), xp.mod(x, y))


def _power(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    if x.dtype.kind == 'f':
        return xp.power(x, y, out=out)
    return xp.power(x.astype(np.float64), y).astype(x.dtype)


_power.ufunc = 'power'           # type: ignore[attr-defined]


def _to_the(F: Any, x: Any, y: Any) -> Any:
    """A power in a gradient: numpy knows no negative powers of integers."""
    if getattr(x.dtype, 'kind', 'f') == 'f':    # an NDArray's dtype has no kind, and its operator knows them
        return x ** y
    return F._power_scalar(x, scalar=y) if isinstance(y, int | float) else F._power(x, y)


def _hypot(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
    return xp.hypot(x, y) if x.dtype.kind == 'f' else xp.hypot(x.astype(np.float64), y).astype(x.dtype)


def _flag(name: str) -> Callable[..., Any]:
    def body(xp: Any, x: Any, y: Any, out: Any = None) -> Any:
        return getattr(xp, name)(x, y).astype(x.dtype)

    return body


# ---- gradients: (for a, for b), each g(F, og, a, b, y), before summing over broadcast axes -----------------------

Partial = Callable[[Any, Any, Any, Any, Any], Any]


def _pass_on(F: Any, og: Any, a: Any, b: Any, y: Any) -> Any:
    return og


def _negated(F: Any, og: Any, a: Any, b: Any, y: Any) -> Any:
    return -og


@dataclass(frozen=True)
class Row:
    """One binary operation."""

    word: str                                # broadcast_WORD
    body: Callable[..., Any]
    doc: str
    gradient: tuple[Partial, Partial] | None         # None: gradient zero everywhere
    pair: str                                # the operator for two arrays of one shape
    pair_aliases: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()            # of broadcast_WORD
    scalar: str = ''                         # the operator with a number on the right
    reflected: str = ''                      # and on the left
    scalar_gradient: Any = None              # g(F, og, x, s, y)
    reflected_gradient: Any = None
    domain: str = 'any'                      # where to sample it


def _ratio(F: Any, og: Any, x: Any, s: Any, y: Any) -> Any:
    return og / s


def _beyond_half(gradient: Partial) -> Partial:
    """A gradient with parts that float16 may not hold: computed in float32 for that type."""
    def made(F: Any, og: Any, a: Any, b: Any, y: Any) -> Any:
        if a.dtype != np.float16:
            return gradient(F, og, a, b, y)
        wide = [part.astype(np.float32) if hasattr(part, 'astype') else part for part in (og, a, b, y)]
        return gradient(F, *wide).astype(np.float16)

    return made


def _of_fractions(gradient: Partial) -> Partial:
    """A gradient that integers have not: there it is zero, as in the releases."""
    def made(F: Any, og: Any, a: Any, b: Any, y: Any) -> Any:
        return gradient(F, og, a, b, y) if np.dtype(a.dtype).kind == 'f' else F.zeros_like(og)

    return made


ROWS = (
    Row('add', _plain('add'), 'The sum.', (_pass_on, _pass_on), 'elemwise_add', ('_add', '_plus', '_Plus'),
        ('broadcast_plus',), '_plus_scalar', '', lambda F, og, x, s, y: og),
    Row('sub', _plain('subtract'), 'The difference.', (_pass_on, _negated), 'elemwise_sub',
        ('_sub', '_minus', '_Minus'), ('broadcast_minus',), '_minus_scalar', '_rminus_scalar',
        lambda F, og, x, s, y: og, lambda F, og, x, s, y: -og),
    Row('mul', _plain('multiply'), 'The product.',
        (lambda F, og, a, b, y: og * b, lambda F, og, a, b, y: og * a), 'elemwise_mul',
        ('_mul', '_Mul'), (), '_mul_scalar', '', lambda F, og, x, s, y: og * s),
    Row('div', _divide, 'The quotient; integers divide toward zero.',
        (lambda F, og, a, b, y: og / b, _beyond_half(lambda F, og, a, b, y: -(og * a) / (b * b))), 'elemwise_div',
        ('_div', '_Div'), (), '_div_scalar', '_rdiv_scalar', _ratio,
        _beyond_half(lambda F, og, x, s, y: -(og * s) / (x * x))),
    Row('mod', _modulo, 'The remainder, with the sign of the divisor; 0 for divisor 0.',
        (_of_fractions(_pass_on), _of_fractions(lambda F, og, a, b, y: -og * F.floor(a / b))), '_mod', ('_Mod',),
        (), '_mod_scalar', '_rmod_scalar', _of_fractions(_pass_on),
        _of_fractions(lambda F, og, x, s, y: -og * F.floor(s / x)), domain='positive'),
    Row('power', _power, 'The first to the power of the second.',
        (_beyond_half(lambda F, og, a, b, y: og * b * _to_the(F, a, b - 1)),
         lambda F, og, a, b, y: og * y * F.log(a)), '_power', ('_Power', 'pow'), (), '_power_scalar', '_rpower_scalar',
        _beyond_half(lambda F, og, x, s, y: F.zeros_like(x) if s == 0 else og * (_to_the(F, x, s - 1) * s)),
        lambda F, og, x, s, y: og * (y * float(np.log(s))), domain='positive'),
    # a tie goes to the first (rule BCAST-GRAD-003)
    Row('maximum', _plain('maximum'), 'The larger of the two; NaN wins.',
        (lambda F, og, a, b, y: og * (a >= b), lambda F, og, a, b, y: og * (a < b)), '_maximum', ('_Maximum',), (),
        '_maximum_scalar', '', lambda F, og, x, s, y: og * (x >= s)),
    Row('minimum', _plain('minimum'), 'The smaller of the two; NaN wins.',
        (lambda F, og, a, b, y: og * (a <= b), lambda F, og, a, b, y: og * (a > b)), '_minimum', ('_Minimum',), (),
        '_minimum_scalar', '', lambda F, og, x, s, y: og * (x <= s)),
    Row('hypot', _hypot, 'The square root of the sum of squares.',
        (lambda F, og, a, b, y: og * (a / y), lambda F, og, a, b, y: og * (b / y)),
        '_hypot', (), (), '_hypot_scalar', '', lambda F, og, x, s, y: og * (x / y)),
    Row('equal', _flag('equal'), '1 where equal, else 0.', None, '_equal', ('_Equal',), (), '_equal_scalar'),
    Row('not_equal', _flag('not_equal'), '1 where different, else 0.', None, '_not_equal', ('_Not_Equal',), (),
        '_not_equal_scalar'),
    Row('greater', _flag('greater'), '1 where the first is greater, else 0.', None, '_greater', ('_Greater',), (),
        '_greater_scalar'),
    Row('greater_equal', _flag('greater_equal'), '1 where the first is not smaller, else 0.', None, '_greater_equal',
        ('_Greater_Equal',), (), '_greater_equal_scalar'),
    Row('lesser', _flag('less'), '1 where the first is smaller, else 0.', None, '_lesser', ('_Lesser',), (),
        '_lesser_scalar'),
    Row('lesser_equal', _flag('less_equal'), '1 where the first is not greater, else 0.', None, '_lesser_equal',
        ('_Lesser_Equal',), (), '_lesser_equal_scalar'),
    Row('logical_and', _flag('logical_and'), '1 where both are non-zero, else 0.', None, '_logical_and',
        ('_Logical_And',), (), '_logical_and_scalar'),
    Row('logical_or', _flag('logical_or'), '1 where one is non-zero, else 0.', None, '_logical_or', ('_Logical_Or',),
        (), '_logical_or_scalar'),
    Row('logical_xor', _flag('logical_xor'), '1 where exactly one is non-zero, else 0.', None, '_logical_xor',
        ('_Logical_Xor',), (), '_logical_xor_scalar'),
)


# ---- shapes ----------------------------------------------------------------------------------------------------

def broadcast_shape(name: str, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape two shapes broadcast to (rule BCAST-RULE-001); MXNetError naming both."""
    if a == b:
        return a
    result = []
    for i in range(1, max(len(a), len(b)) + 1):
        m, n = a[-i] if i <= len(a) else 1, b[-i] if i <= len(b) else 1
        if m != n and m != 1 and n != 1:
            raise MXNetError(f'Operator {name}: operands could not be broadcast together with shapes '
                             f'{shape_text(a)} {shape_text(b)}')
        result.append(n if m == 1 else m)
    return tuple(reversed(result))


def _refuse_bool(name: str, shape: tuple[int, ...]) -> None:
    raise LateError(MXNetError(f'Operator {name} does not support boolean type'), (np.zeros(shape, bool),))


def _pair_body(name: str, row: Row) -> Callable[..., Any]:
    body = row.body

    def forward(xp: Any, lhs: Any, rhs: Any, out: Any = None) -> Any:
        shape = broadcast_shape(name, lhs.shape, rhs.shape)
        if lhs.dtype is _BOOL:
            _refuse_bool(name, shape)
        if out is not None and (out.shape != shape or out.dtype != lhs.dtype):
            out = None
        if out is None and lhs.dtype.itemsize * lhs.size >= storage.LARGE and xp is np:
            out = storage.empty_in_order(shape, lhs.dtype, lhs) if lhs.shape == shape else storage.empty(shape,
                                                                                                         lhs.dtype)
        return body(xp, lhs, rhs, out)

    forward.ufunc = getattr(body, 'ufunc', None)         # type: ignore[attr-defined]
    return forward


def number(dtype: np.dtype[Any], scalar: Any) -> Any:
    """The number cast to an element type, so that it never changes the dtype of a result (rule ND-ARITH-007).

    What an integer cannot hold becomes what a cast in C makes of it.

    >>> number(np.dtype('uint8'), -2.5), number(np.dtype('int32'), 1e30)
    (np.uint8(254), np.int32(-2147483648))
    """
    if dtype.kind == 'f':
        return float(scalar)
    if isinstance(scalar, int) and abs(scalar) < 2 ** (63 if dtype.itemsize == 8 else 31):
        return np.asarray(scalar).astype(dtype)[()]
    with np.errstate(invalid='ignore'):
        return np.asarray(float(scalar)).astype(dtype)[()]


def element(dtype: np.dtype[Any], scalar: Any) -> Any:
    """The number as an element of an array of that type, also where :func:`number` leaves a float."""
    return dtype.type(number(dtype, scalar))


def _scalar_body(row: Row, swapped: bool) -> Callable[..., Any]:
    body = row.body

    def forward(xp: Any, data: Any, scalar: Any, out: Any = None) -> Any:
        dtype = data.dtype
        if dtype is _BOOL:
            data = data.astype(np.int64)
            dtype = data.dtype
        value = number(dtype, scalar)
        if out is not None and (out.shape != data.shape or out.dtype != dtype):
            out = None
        if out is None and data.nbytes >= storage.LARGE and xp is np:
            out = storage.empty_in_order(data.shape, dtype, data)
        if swapped:
            if (dtype.kind == 'f' and body in (_divide, _power)) or not hasattr(value, 'dtype'):
                value = dtype.type(value)
            result = body(xp, xp.asarray(value), data, out)
        else:
            result = body(xp, data, value, out)
        return result

    forward.ufunc = None if swapped else getattr(body, 'ufunc', None)         # type: ignore[attr-defined]
    return forward


def _of_pair(partials: tuple[Partial, Partial]) -> Callable[..., Any]:
    """The gradient of a pair from its two parts; each is worked out when somebody needs it."""
    def grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, Any]:
        (a, b), og, y = inputs, ograds[0], outputs[0]

        def part(which: int) -> Callable[[], Any]:
            def made() -> Any:
                result, like = partials[which](F, og, a, b, y), inputs[which]
                return result if a.shape == b.shape else F._sum_like(result, like)

            return made

        return part(0), part(1)

    grad.partials = partials      # type: ignore[attr-defined]
    return grad


def _with_scalar(gradient: Any) -> Callable[..., Any]:
    def grad(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any]:
        return (gradient(F, ograds[0], inputs[0], params['scalar'], outputs[0]),)

    return grad


def zero_gradient(F: Any, ograds: Any, inputs: Any, outputs: Any, params: Any) -> tuple[Any, ...]:
    """The gradient of a piecewise constant operator: zeros, without an error."""
    return tuple(F.zeros_like(x) for x in inputs)


_PAIRS = (((2, 3), (2, 3)), ((2, 3), (1, 3)), ((2, 1), (3,)))
_RIGHT = Scalar(0.0, 'the number')
_RULES = ('ND-ARITH-006', 'BCAST-RULE-004')


def _register(row: Row) -> None:
    gradient = row.gradient
    grad = _of_pair(gradient) if gradient else zero_gradient
    add(Operator('broadcast_' + row.word, _pair_body('broadcast_' + row.word, row), aliases=row.aliases,
                 inputs=('lhs', 'rhs'), grad=grad,
                 doc=row.doc + ' The arrays broadcast.', rules=_RULES,
                 samples=tuple((p, {}, row.domain) for p in _PAIRS) if gradient else ()))
    add(Operator(row.pair, _pair_body(row.pair, row), aliases=row.pair_aliases, inputs=('lhs', 'rhs'), same_shape=True,
                 grad=grad, doc=row.doc + ' The arrays have one shape.',
                 rules=('BCAST-ELEM-001',), samples=((_PAIRS[0], {}, row.domain),) if gradient else ()))
    if not row.scalar:
        return
    samples = tuple((((2, 3),), {'scalar': s}, row.domain) for s in (1.73, 3)) if row.scalar_gradient else ()
    add(Operator(row.scalar, _scalar_body(row, False), params={'scalar': _RIGHT},
                 grad=_with_scalar(row.scalar_gradient) if row.scalar_gradient else zero_gradient,
                 doc=row.doc + ' The second is a number.', rules=('ND-ARITH-007',), samples=samples))
    if row.reflected:
        add(Operator(row.reflected, _scalar_body(row, True), params={'scalar': _RIGHT},
                     grad=_with_scalar(row.reflected_gradient), doc=row.doc + ' The first is a number.',
                     rules=('ND-ARITH-007',), samples=samples))


for _row in ROWS:
    _register(_row)


@register('_sum_like', inputs=('data', 'like'), mixed=True, samples=((((2, 3), (1, 3)), {}), (((4, 2, 3), (3,)), {})),
          grad=lambda F, ograds, inputs, outputs, params: (F._expand_like(ograds[0], inputs[0]), None))
def _sum_like(xp: Any, data: Any, like: Any) -> Any:
    """The sum over the axes that broadcasting repeated: from the shape of a result back to that of an operand."""
    shape = like.shape
    if data.shape == shape:
        return data
    extra = data.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(shape) if n == 1 and data.shape[i + extra] != 1)
    return data.sum(axis=axes, keepdims=True, dtype=data.dtype).reshape(shape)


@register('_expand_like', inputs=('data', 'like'), mixed=True,
          samples=((((1, 3), (2, 3)), {}), (((3,), (4, 2, 3)), {})),
          grad=lambda F, ograds, inputs, outputs, params: (F._sum_like(ograds[0], inputs[0]), None))
def _expand_like(xp: Any, data: Any, like: Any) -> Any:
    """The array repeated to the shape of another, with leading axes added."""
    return xp.broadcast_to(data, like.shape).copy()
