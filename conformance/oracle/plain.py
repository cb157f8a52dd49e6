"""An independent evaluation in numpy: what a program must give by the rules, as far as those rules are plain.

It has no opinion about most of the model, and says so (:class:`NoOpinion`). Floats are computed in float64 and only
compared in their own precision; whole numbers only where arithmetic is exact. Nothing here knows any engine.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.oracle.program import Program, assigned

Array = np.ndarray[Any, Any]


class NoOpinion(Exception):
    """The evaluation does not cover this."""


class Refused(Exception):
    """The rules demand an error here."""


class Plain:
    """An array: its elements (floats as float64), and the dtype it has in the program."""

    __array_priority__ = 1000.0
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: Array, dtype: str) -> None:
        self.data, self.dtype = data, dtype
        self.grad: Array | None = None
        self.wants: str | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.data.shape)

    @property
    def size(self) -> int:
        return int(self.data.size)

    @property
    def ndim(self) -> int:
        return int(self.data.ndim)

    @property
    def T(self) -> Plain:
        return Plain(self.data.T, self.dtype)

    @property
    def floating(self) -> bool:
        return self.dtype.startswith("float")

    def attach_grad(self, grad_req: str = "write") -> None:
        self.wants = grad_req

    def astype(self, dtype: str) -> Plain:
        if not self.floating or not dtype.startswith("float"):
            raise NoOpinion("a cast to or from whole numbers")
        return Plain(rounded(self.data, dtype), dtype)

    def reshape(self, *shape: Any, **options: Any) -> Plain:
        return reshape(self, shape=shape[0] if len(shape) == 1 else shape, **options)

    def __neg__(self) -> Any:
        return FUNCTIONS["negative"](self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        function = FUNCTIONS.get(name)
        if function is None:
            raise NoOpinion(name)
        return lambda *args, **kwargs: function(self, *args, **kwargs)

    def __getitem__(self, key: Any) -> Plain:
        _simple_key(key, self)
        return Plain(np.array(self.data[key]), self.dtype).at_least_one()

    def __setitem__(self, key: Any, value: Any) -> None:
        _simple_key(key, self)
        if not isinstance(value, int | float) or isinstance(value, bool) or not self.floating:
            raise NoOpinion("what is written")
        self.data = self.data.copy()
        self.data[key] = rounded(np.array(float(value)), self.dtype)

    def at_least_one(self) -> Plain:
        """Results of the ``nd`` functions have a dimension at least."""
        return self if self.data.ndim else Plain(self.data.reshape(1), self.dtype)


def _simple_key(key: Any, array: Plain) -> None:
    """Numbers in range, and slices that select something; everything else is left to the rules of indexing."""
    parts = key if isinstance(key, tuple) else (key,)
    if len(parts) > array.ndim or not array.size:
        raise NoOpinion("a key with more parts than dimensions")
    for part, length in zip(parts, array.shape):
        if type(part) is int:
            if not -length <= part < length:
                raise NoOpinion("an index out of range")
        elif isinstance(part, slice):
            if (part.step or 1) < 1 or not len(range(*part.indices(length))):
                raise NoOpinion("an empty or backward slice")
        else:
            raise NoOpinion("such a key")


def rounded(data: Array, dtype: str) -> Array:
    """As a dtype holds it, and floats back in float64."""
    with np.errstate(all="ignore"):
        held: Array = np.asarray(data, np.dtype(dtype))
        if dtype.startswith("float"):
            held = np.asarray(held, np.dtype("float64"))
    return held


# ---- functions -------------------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, Callable[..., Any]] = {}


def _unary(body: Callable[[Array], Array]) -> Callable[..., Plain]:
    def function(x: Any, **options: Any) -> Plain:
        if options or not isinstance(x, Plain) or not x.floating or not x.size:
            raise NoOpinion("such an argument")
        with np.errstate(all="ignore"):
            return Plain(np.asarray(body(x.data), dtype=np.float64), x.dtype)

    return function


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
    "gammaln": _each(math.lgamma), "logical_not": lambda x: (x == 0) * 1.0,
}
FUNCTIONS.update({name: _unary(body) for name, body in _UNARY.items()})

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "power": np.power,
    "maximum": np.maximum, "minimum": np.minimum, "hypot": np.hypot,
}
_COMPARISON: dict[str, Callable[[Any, Any], Any]] = {
    "equal": np.equal, "not_equal": np.not_equal, "greater": np.greater, "greater_equal": np.greater_equal,
    "lesser": np.less, "lesser_equal": np.less_equal,
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
                      ("maximum", "maximum"), ("minimum", "minimum"), *((n, n) for n in _COMPARISON)):
    FUNCTIONS[_name] = _binary(_plain)
for _symbol, _plain in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div"), ("pow", "power"),
                        ("eq", "equal"), ("ne", "not_equal"), ("gt", "greater"), ("ge", "greater_equal"),
                        ("lt", "lesser"), ("le", "lesser_equal")):
    setattr(Plain, f"__{_symbol}__", lambda self, other, _n=_plain: combine(_n, self, other))
    if _symbol in ("add", "sub", "mul", "truediv", "pow"):
        setattr(Plain, f"__r{_symbol}__", lambda self, other, _n=_plain: combine(_n, other, self))


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


for _name, _body, _whole in (("sum", np.sum, True), ("mean", np.mean, False), ("prod", np.prod, True),
                             ("max", np.max, True), ("min", np.min, True), ("nansum", np.nansum, False)):
    FUNCTIONS[_name] = _reduction(_body, _whole)


def _softmax(x: Any, axis: Any = -1, **options: Any) -> Plain:
    if options or not isinstance(x, Plain) or not x.floating or type(axis) is not int or not np.isfinite(x.data).all():
        raise NoOpinion("such arguments")
    if not -x.ndim <= axis < x.ndim:
        raise Refused("an axis out of range")
    raised = np.exp(x.data - x.data.max(axis=axis, keepdims=True))
    return Plain(raised / raised.sum(axis=axis, keepdims=True), x.dtype)


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
        if not isinstance(x, Plain) or not x.size or any(isinstance(arg, bool) for arg in args):
            raise NoOpinion("such an argument")
        try:
            return Plain(body(x.data, *args, **options), x.dtype)
        except (ValueError, IndexError):
            raise Refused("numpy refuses it, too") from None
        except TypeError:
            raise NoOpinion("such arguments") from None

    return function


def _transposed(x: Array, axes: Any = None) -> Array:
    return x.transpose(axes) if axes else x.transpose()


FUNCTIONS.update({
    "softmax": _softmax, "reshape": reshape, "transpose": _moved(_transposed),
    "expand_dims": _moved(lambda x, axis: np.expand_dims(x, axis)),
    "swapaxes": _moved(lambda x, dim1, dim2: x.swapaxes(dim1, dim2)),
    "flatten": _moved(lambda x: x.reshape(x.shape[0], -1)),
    "clip": _moved(lambda x, a_min, a_max: np.clip(x, a_min, a_max)),
    "BlockGrad": _moved(lambda x: x),
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


def _array(source: Any, dtype: str | None = None, **options: Any) -> Plain:
    if dtype is None or options or isinstance(source, Plain):
        raise NoOpinion("how it is made")
    return Plain(rounded(np.array(source), dtype), dtype)


def _zeros(shape: Any, dtype: str = "float32", **options: Any) -> Plain:
    return Plain(rounded(np.zeros(shape), dtype), dtype)


class _Functions:
    array, zeros = staticmethod(_array), staticmethod(_zeros)
    NDArray = Plain

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in FUNCTIONS:
            raise NoOpinion(name)
        return FUNCTIONS[name]


class _Autograd:
    @staticmethod
    def record() -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()


class Module:
    """What programs call ``mx``."""

    nd = _Functions()
    autograd = _Autograd()


# ---- programs --------------------------------------------------------------------------------------------------------

Scope = dict[str, Any]


def scope_at(program: Program, index: int, moved: tuple[str, Array] | None = None) -> Scope:
    """The variables after a statement; ``moved`` adds to the elements of an array where it is made.

    Raises NoOpinion, or Refused if the last statement must fail.
    """
    scope: Scope = {"mx": Module, "np": np, "nan": math.nan, "inf": math.inf}
    for number, line in enumerate(program.lines[: index + 1]):
        try:
            exec(line, scope)
        except Refused:
            if number == index:
                raise
            raise NoOpinion("an error before") from None
        except NoOpinion:
            raise
        except Exception as error:  # noqa: BLE001 - numpy or Python refuses it: what the rules say is another matter
            raise NoOpinion(f"{type(error).__name__}: {error}") from None
        if moved is not None and assigned(line) == moved[0]:
            scope[moved[0]].data = scope[moved[0]].data + moved[1]
    return scope


def gradients(program: Program, index: int) -> dict[str, Array]:
    """The gradient of every array that wants one, after the backward in this statement, by central differences."""
    line = program.lines[index]
    head, dot, rest = line.partition(".backward(")
    if not dot or not head.isidentifier():
        raise NoOpinion("such a backward")
    if any("BlockGrad" in other or re.match(r"\w+\[.*\] = ", other) for other in program.lines[:index]):
        raise NoOpinion("a graph that is cut")
    if sum("backward" in other for other in program.lines[: index + 1]) > 1:
        raise NoOpinion("several passes")
    scope = scope_at(program, index - 1)
    result = scope.get(head)
    if not isinstance(result, Plain) or not result.floating:
        raise NoOpinion("what is differentiated")
    weight = np.ones(result.shape)
    if rest.rstrip(")"):
        given = eval(rest[:-1], scope)
        if not isinstance(given, Plain):
            raise NoOpinion("such a head gradient")
        weight = given.data
    found = {}
    for name, value in scope.items():
        if isinstance(value, Plain) and value.wants == "write":
            found[name] = _numeric(program, index - 1, head, name, value, weight)
    return found


def _numeric(program: Program, index: int, head: str, name: str, value: Plain, weight: Array) -> Array:
    if not np.isfinite(value.data).all():
        raise NoOpinion("special values")

    def total(place: int, step: float) -> float:
        moved = np.zeros(value.size)
        moved[place] = step
        with np.errstate(all="ignore"):
            return float((scope_at(program, index, (name, moved.reshape(value.shape)))[head].data * weight).sum())

    gradient = np.zeros(value.size)
    for place in range(value.size):
        step = 1e-5 * max(1.0, abs(float(value.data.reshape(-1)[place])))
        middle, up, down = total(place, 0.0), total(place, step), total(place, -step)
        right, left = (up - middle) / step, (middle - down) / step
        if not math.isfinite(right + left) or abs(right - left) > 1e-2 * (1 + abs(right)):
            raise NoOpinion("a kink or a pole")
        gradient[place] = (right + left) / 2
    return gradient.reshape(value.shape)
