"""The functions of the independent evaluation: those whose meaning is that of a plain function in numpy.

A function that is not here, or that is called in a way that the rules of another operator decide, has no opinion.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.oracle.plain_array import FUNCTIONS, Array, NoOpinion, Plain, Refused, rounded

# ---- element by element ----------------------------------------------------------------------------------------------

def _unary(body: Callable[[Array], Array], exact: bool = False) -> Callable[..., Plain]:
    """exact: of whole numbers it makes whole numbers."""

    def function(x: Any, **options: Any) -> Plain:
        if options or not isinstance(x, Plain) or not x.size or not (x.floating or (exact and x.dtype != "bool")):
            raise NoOpinion("such an argument")
        with np.errstate(all="ignore"):
            if x.floating:
                return Plain(np.asarray(body(x.data), dtype=np.float64), x.dtype)
            return _whole(body(x.data.astype(np.int64)), x.dtype)

    return function


def _whole(data: Array, dtype: str) -> Plain:
    """Whole numbers in a dtype that holds them all; what wraps around is left to the rules of casts."""
    limits = np.iinfo(dtype)
    if data.min() < limits.min or data.max() > limits.max:
        raise NoOpinion("an overflow")
    return Plain(data.astype(dtype), dtype)


def _sign(x: Array) -> Array:
    if np.isnan(x).any():
        raise NoOpinion("the sign of NaN")
    return np.sign(x)


def _each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    def body(x: Array) -> Array:
        if not np.isfinite(x).all():
            raise NoOpinion("special values")
        try:
            found: Array = np.vectorize(function, otypes=[float])(x)
        except (ValueError, OverflowError) as error:
            raise NoOpinion(str(error)) from None
        return found

    return body


_UNARY: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.where(np.isnan(x), x, np.maximum(x, 0)), "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softsign": lambda x: x / (1 + np.abs(x)), "negative": np.negative, "reciprocal": lambda x: 1 / x, "abs": np.abs,
    "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "fix": np.trunc, "square": np.square, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt, "rcbrt": lambda x: 1 / np.cbrt(x), "exp": np.exp,
    "expm1": np.expm1, "log": np.log, "log10": np.log10, "log2": np.log2, "log1p": np.log1p, "sin": np.sin,
    "cos": np.cos, "tan": np.tan, "arcsin": np.arcsin, "arccos": np.arccos, "arctan": np.arctan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "arcsinh": np.arcsinh, "arccosh": np.arccosh, "arctanh": np.arctanh,
    "degrees": np.degrees, "radians": np.radians, "erf": _each(math.erf), "gamma": _each(math.gamma),
    "gammaln": _each(math.lgamma), "logical_not": lambda x: (x == 0) * 1.0, "sign": _sign,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), "zeros_like": np.zeros_like,
    "ones_like": np.ones_like,
}
#: Those that make whole numbers of whole numbers.
_UNARY_EXACT = {"relu", "negative", "abs", "ceil", "floor", "trunc", "fix", "square", "sign", "zeros_like", "ones_like"}
FUNCTIONS.update({name: _unary(body, name in _UNARY_EXACT) for name, body in _UNARY.items()})


def _remainder(x: Any, y: Any) -> Any:
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y)) and np.all(y)):
        raise NoOpinion("the remainder of a division by 0, or of inf")
    return np.mod(x, y)


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "power": np.power,
    "maximum": np.maximum, "minimum": np.minimum, "hypot": np.hypot, "mod": _remainder,
}
_COMPARISON: dict[str, Callable[[Any, Any], Any]] = {
    "equal": np.equal, "not_equal": np.not_equal, "greater": np.greater, "greater_equal": np.greater_equal,
    "lesser": np.less, "lesser_equal": np.less_equal, "logical_and": np.logical_and, "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}
_EXACT = {"add", "sub", "mul", "maximum", "minimum", *_COMPARISON}


def combine(name: str, x: Any, y: Any) -> Plain:
    """Two arrays that broadcast, or an array and a number."""
    body = _ARITHMETIC.get(name) or _COMPARISON[name]
    arrays = [side for side in (x, y) if isinstance(side, Plain)]
    if not arrays or any(type(side) not in (Plain, int, float) for side in (x, y)):
        raise NoOpinion("such an operand")
    if not all(array.size for array in arrays):
        raise NoOpinion("no elements")
    if len({array.dtype for array in arrays}) > 1:
        raise Refused("two arrays of different dtypes")
    first = arrays[0]
    if not first.floating and (name not in _EXACT or len(arrays) < 2 or first.dtype == "bool"):
        raise NoOpinion("whole numbers")
    left, right = (side.data if isinstance(side, Plain) else float(rounded(np.array(float(side)), first.dtype))
                   for side in (x, y))
    with np.errstate(all="ignore"):
        try:
            result = np.asarray(body(left, right))
        except ValueError:
            raise Refused("shapes that do not broadcast") from None
    return Plain(result.astype(np.float64 if first.floating else first.dtype), first.dtype)


def _binary(name: str) -> Callable[..., Plain]:
    def function(lhs: Any, rhs: Any, **options: Any) -> Plain:
        if options:
            raise NoOpinion("options")
        return combine(name, lhs, rhs)

    return function


for _name in (*_ARITHMETIC, *_COMPARISON):
    FUNCTIONS[f"broadcast_{_name}"] = _binary(_name)
for _name, _plain in (("add", "add"), ("subtract", "sub"), ("multiply", "mul"), ("divide", "div"), ("power", "power"),
                      ("modulo", "mod"),
                      ("maximum", "maximum"), ("minimum", "minimum"), *((n, n) for n in _COMPARISON)):
    FUNCTIONS[_name] = _binary(_plain)
for _symbol, _plain in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div"), ("pow", "power"),
                        ("mod", "mod"), ("eq", "equal"), ("ne", "not_equal"), ("gt", "greater"),
                        ("ge", "greater_equal"), ("lt", "lesser"), ("le", "lesser_equal")):
    setattr(Plain, f"__{_symbol}__", lambda self, other, _n=_plain: combine(_n, self, other))
    if _symbol in ("add", "sub", "mul", "truediv", "pow", "mod"):
        setattr(Plain, f"__r{_symbol}__", lambda self, other, _n=_plain: combine(_n, other, self))


def _alike(name: str) -> Callable[..., Plain]:
    """A function of two arrays that do not broadcast."""

    def function(lhs: Any, rhs: Any, **options: Any) -> Plain:
        if options or not isinstance(lhs, Plain) or not isinstance(rhs, Plain):
            raise NoOpinion("such an operand")
        if lhs.shape != rhs.shape:
            raise Refused("shapes that are not alike")
        return combine(name, lhs, rhs)

    return function


def _total(*arrays: Any) -> Plain:
    if not arrays or not all(isinstance(array, Plain) for array in arrays):
        raise NoOpinion("such an operand")
    found: Plain = functools.reduce(_alike("add"), arrays)
    return found


for _name in ("add", "sub", "mul", "div"):
    FUNCTIONS[f"elemwise_{_name}"] = _alike(_name)
FUNCTIONS["add_n"] = FUNCTIONS["ElementWiseSum"] = _total


# ---- along axes ------------------------------------------------------------------------------------------------------


def _axes(x: Plain, axis: Any) -> tuple[int, ...]:
    if axis is None or axis == ():
        return tuple(range(x.ndim))
    given = (axis,) if isinstance(axis, int) else axis
    if not isinstance(given, tuple) or not all(type(a) is int for a in given):
        raise NoOpinion("such an axis")
    if any(not -x.ndim <= a < x.ndim for a in given):
        raise Refused("an axis out of range")
    if len({a % x.ndim for a in given}) != len(given):
        raise Refused("an axis twice")
    return tuple(a % x.ndim for a in given)


def _reduction(body: Callable[..., Any], exact: bool) -> Callable[..., Plain]:
    def function(x: Any, axis: Any = None, keepdims: Any = False, exclude: Any = False, **options: Any) -> Plain:
        if options or not isinstance(x, Plain) or not x.size or type(keepdims) is not bool or not isinstance(
                exclude, bool) or (exclude and axis in (None, ())):
            raise NoOpinion("such arguments")
        if not x.floating and (not exact or x.dtype == "bool"):
            raise NoOpinion("whole numbers")
        chosen = _axes(x, axis)
        if exclude:
            chosen = tuple(a for a in range(x.ndim) if a not in chosen)
        if not chosen:
            raise NoOpinion("nothing to reduce")
        with np.errstate(all="ignore"):
            result = np.asarray(body(x.data, axis=chosen, keepdims=keepdims))
        return Plain(result.astype(np.float64 if x.floating else x.dtype), x.dtype).at_least_one()

    return function


for _name, _body, _exact in (("sum", np.sum, True), ("mean", np.mean, False), ("prod", np.prod, True),
                             ("max", np.max, True), ("min", np.min, True), ("nansum", np.nansum, False),
                             ("nanprod", np.nanprod, False)):
    FUNCTIONS[_name] = _reduction(_body, _exact)


def _softmax(x: Any, axis: Any = -1, **options: Any) -> Plain:
    if options or not isinstance(x, Plain) or not x.floating or type(axis) is not int or not np.isfinite(x.data).all():
        raise NoOpinion("such arguments")
    if not -x.ndim <= axis < x.ndim:
        raise Refused("an axis out of range")
    raised = np.exp(x.data - x.data.max(axis=axis, keepdims=True))
    return Plain(raised / raised.sum(axis=axis, keepdims=True), x.dtype)


def _log_softmax(x: Any, **options: Any) -> Plain:
    found = _softmax(x, **options)
    with np.errstate(all="ignore"):
        return Plain(np.log(found.data), found.dtype)


def _ordered(x: Any, axis: Any, exact: bool = True) -> tuple[Array, int]:
    """The elements and the axis along which they are put in order, or summed; all in a row where that is None."""
    if not isinstance(x, Plain) or not x.size or x.dtype == "bool" or not (axis is None or type(axis) is int):
        raise NoOpinion("such arguments")
    if not x.floating and not exact:
        raise NoOpinion("whole numbers")
    if axis is None:
        return x.data.reshape(-1), 0
    if not -x.ndim <= axis < x.ndim:
        raise Refused("an axis out of range")
    return x.data, axis


def _comparable(data: Array) -> Array:
    if np.isnan(data).any():
        raise NoOpinion("the order of NaN")
    return data


def _sort(x: Any, axis: Any = -1, is_ascend: Any = True) -> Plain:
    data, along = _ordered(x, axis)
    if type(is_ascend) is not bool:
        raise NoOpinion("such arguments")
    found = np.sort(_comparable(data), axis=along)
    return Plain(found if is_ascend else np.flip(found, axis=along), x.dtype)


def _argsort(x: Any, axis: Any = -1, is_ascend: Any = True, dtype: Any = "float32") -> Plain:
    data, along = _ordered(x, axis)
    if type(is_ascend) is not bool or dtype not in ("float32", "float64", "int32", "int64"):
        raise NoOpinion("such arguments")
    found = np.sort(_comparable(data), axis=along)
    if (np.diff(found, axis=along) == 0).any():
        raise NoOpinion("the order of equal elements")
    places = np.argsort(data, axis=along)
    return Plain(rounded(places if is_ascend else np.flip(places, axis=along), dtype), dtype)


def _cumsum(x: Any, axis: Any = None, dtype: Any = None) -> Plain:
    data, along = _ordered(x, axis)
    kind = x.dtype if dtype is None else dtype
    if kind not in ("float16", "float32", "float64", "int32", "int64") or kind.startswith("float") != x.floating:
        raise NoOpinion("a cast to or from whole numbers")
    with np.errstate(all="ignore"):
        found = np.cumsum(data if x.floating else data.astype(np.int64), axis=along)
    return Plain(found, kind) if x.floating else _whole(found, kind)


def _norm(x: Any, ord: Any = 2, axis: Any = None, keepdims: Any = False, **options: Any) -> Plain:
    if options or type(ord) is not int or ord not in (1, 2) or not isinstance(x, Plain) or not x.floating:
        raise NoOpinion("such arguments")
    if ord == 1:
        return _reduction(np.sum, False)(FUNCTIONS["abs"](x), axis=axis, keepdims=keepdims)
    squares = _reduction(np.sum, False)(FUNCTIONS["square"](x), axis=axis, keepdims=keepdims)
    return Plain(np.sqrt(squares.data), x.dtype)


def _clip(x: Any, a_min: Any, a_max: Any) -> Plain:
    if not isinstance(x, Plain) or not x.floating or not all(type(bound) in (int, float) for bound in (a_min, a_max)):
        raise NoOpinion("such arguments")
    return Plain(np.clip(x.data, a_min, a_max), x.dtype)


FUNCTIONS.update({"softmax": _softmax, "clip": _clip})
FUNCTIONS.update({"log_softmax": _log_softmax, "sort": _sort, "argsort": _argsort, "cumsum": _cumsum, "norm": _norm})


# ---- products of matrices --------------------------------------------------------------------------------------------

def _product(dimensions: tuple[int, ...]) -> Callable[..., Plain]:
    """A product of two arrays that both have one of these numbers of dimensions."""

    def function(lhs: Any, rhs: Any, transpose_a: Any = False, transpose_b: Any = False, **options: Any) -> Plain:
        if options or not isinstance(lhs, Plain) or not isinstance(rhs, Plain):
            raise NoOpinion("such operands")
        if lhs.ndim not in dimensions or lhs.ndim != rhs.ndim or not (lhs.size and rhs.size):
            raise NoOpinion("such shapes")
        if lhs.dtype != rhs.dtype or lhs.dtype not in ("float32", "float64"):
            raise NoOpinion("such dtypes")
        if type(transpose_a) is not bool or type(transpose_b) is not bool or (
                lhs.ndim == 1 and (transpose_a or transpose_b)):
            raise NoOpinion("such arguments")
        left = lhs.data.swapaxes(-1, -2) if transpose_a else lhs.data
        right = rhs.data.swapaxes(-1, -2) if transpose_b else rhs.data
        if left.shape[-1] != right.shape[-2 if left.ndim > 1 else 0] or left.shape[:-2] != right.shape[:-2]:
            raise Refused("shapes that do not fit")
        with np.errstate(all="ignore"):
            return Plain(np.asarray(left @ right), lhs.dtype).at_least_one()

    return function


FUNCTIONS["dot"], FUNCTIONS["batch_dot"] = _product((1, 2)), _product((3,))
